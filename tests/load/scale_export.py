"""C6: a full NDJSON export: memory of the daemon, and what those who write meanwhile wait for."""

import subprocess
import threading
import time

import scale_writes
from client import Client, percentile

WRITES = 400


class Memory(threading.Thread):
    """Looks at the resident memory of a process, ten times a second, in MiB."""

    def __init__(self, pid, every=0.1):
        super().__init__(daemon=True)
        self.pid, self.every, self.seen, self.ended = pid, every, [], threading.Event()

    def run(self):
        while not self.ended.wait(self.every):
            self.seen.append(resident(self.pid))

    def end(self):
        self.ended.set()
        self.join()
        return self.seen or [resident(self.pid)]


def resident(pid):
    with open(f"/proc/{pid}/status") as file:
        return int(next(line for line in file if line.startswith("VmRSS")).split()[1]) / 1024


def measure(store):
    client = Client(store.port)
    idle = percentile(scale_writes.creates(client, WRITES), 99)
    before, memory = resident(store.process.pid), Memory(store.process.pid)
    command = [
        "curl",
        "-sf",
        "-o",
        "/dev/null",
        "-H",
        "accept: application/x-ndjson",
        f"http://127.0.0.1:{store.port}/customers",
    ]
    ended, exports, took = threading.Event(), [], []

    def export():
        # A small store is exported again and again, until all writes were beside an export.
        while not ended.is_set():
            begun = time.perf_counter()
            exports.append((subprocess.run(command).returncode, time.perf_counter() - begun))

    exporter = threading.Thread(target=export)
    memory.start()
    exporter.start()
    took = scale_writes.creates(client, WRITES)
    ended.set()
    exporter.join()
    peak = max(memory.end())
    if any(code for code, _ in exports):
        raise SystemExit(f"the export of all customers failed: curl ended with {exports}")
    during = percentile(took, 99)
    store.say(
        f"{len(exports)} exports of all customers, {exports[0][1]:.1f} s each; memory {before:.0f} MiB "
        f"before, {peak:.0f} at most during; p99 of creates {idle:.2f} ms idle, {during:.2f} during"
    )
    return {"before": before, "peak": peak, "idle": idle, "during": during}
