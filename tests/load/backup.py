"""Creates alone and beside backups, and the memory of the daemon."""

import os
import statistics
import subprocess
import sys
import threading

import scale_export
import scale_store
import scale_writes
from client import Client, percentile

ROUNDS, WRITES, USERS, DEPOSITS = 5, 1000, 20, 0.5


class Backups(threading.Thread):
    """Makes one backup after the other, until it is ended."""

    def __init__(self, command, file, environment=None):
        super().__init__(daemon=True)
        self.command, self.file, self.environment = command, file, environment
        self.made, self.bytes, self.ended = 0, 0, threading.Event()

    def run(self):
        while not self.ended.is_set():
            done = subprocess.run(self.command, env=self.environment, stdout=subprocess.DEVNULL, check=False)
            if done.returncode:
                print(f"{self.command[0]} ended with {done.returncode}", flush=True)
                os._exit(1)
            self.bytes = os.path.getsize(self.file)
            os.remove(self.file)
            self.made += 1

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.join()


def main():
    folder, customers = sys.argv[1], int(sys.argv[2])
    store = scale_store.Store("embedded", folder, None, DEPOSITS)
    file = f"{folder}/backup.mfab"
    try:
        scale_store.begin(store)
        store.data.people(store.port, scale_store.FEW_USERS, USERS)
        store.data.load(store.port, customers)
        address, client = f"http://127.0.0.1:{store.port}", Client(store.port)
        sent = ["curl", "-sf", "-o", file, f"{address}/admin/backup"]
        made = [os.environ["MFA_BIN"], "backup", "create", "--out", file, "-q"]
        environment = {"HOME": folder, "PATH": os.environ["PATH"], "MFA_URL": address}
        ways = {"as the daemon sends them": (sent, None), "made and verified by mfa": (made, environment)}
        scale_writes.creates(client, WRITES)
        resident = scale_export.resident(store.process.pid)
        alone, beside, memory = [], {way: [] for way in ways}, scale_export.Memory(store.process.pid)
        memory.start()
        for _ in range(ROUNDS):
            alone.append(percentile(scale_writes.creates(client, WRITES), 99))
            for way, (command, variables) in ways.items():
                with Backups(command, file, variables) as backups:
                    beside[way].append(percentile(scale_writes.creates(client, WRITES), 99))
        peak = max(memory.end())
    finally:
        store.stop()
    idle = statistics.median(alone)
    print(f"{customers:,} customers, a backup of {backups.bytes / 2**20:.1f} MiB; p99 of creates alone: {idle:.2f} ms")
    for way, took in beside.items():
        p99 = statistics.median(took)
        print(f"B1  p99 of creates beside backups, {way}: {p99:.2f} ms, of that alone: {p99 / idle:.2f} (goal at most 2)")
    print(f"B2  memory, MiB: {resident:.0f} before, {peak:.0f} at most during, {peak - resident:.0f} more (goal at most 64)")


main()
