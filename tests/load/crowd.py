"""Thousands of connections of one address that take long on purpose, and what others wait for meanwhile."""

import http.client
import multiprocessing
import socket
import statistics
import sys
import time

import mixed
import scale_data
import scale_export
import scale_store
from client import percentile

CUSTOMERS, USERS, ROUNDS = 1000, 20, 5
CROWD, CONNECTIONS, RATE = 4000, 8, 200
# Connections that come in a second, and the time to the first measurement behind the last of them.
CROWD_EACH, SETTLES, TRIES = 500, 3, 1000
# Another address than that of the others: the limits of an address are of this one.
ADDRESS = "127.0.0.2"
# A little more than a client must read and send in a second, or its connection is closed.
SLOW = 1100
BODY = 60_000
KINDS = {
    "silent": b"",
    "slow bodies": f"POST /customers HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
    f"content-length: {BODY}\r\n\r\n".encode(),
    "slow readers": b"GET /customers HTTP/1.1\r\nhost: localhost\r\naccept: application/x-ndjson\r\n\r\n",
}


class Held:
    """One of the connections; it is made anew when it is closed."""

    def __init__(self, port, kind):
        self.port, self.kind, self.socket = port, kind, None
        self.open()

    def open(self):
        if self.socket:
            self.socket.close()
        self.socket, self.begun, self.read = socket.socket(), False, 0
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.socket.bind((ADDRESS, 0))
        self.socket.setblocking(False)
        self.socket.connect_ex(("127.0.0.1", self.port))

    def step(self):
        """What it does in a second. Bytes that were read."""
        try:
            if not self.begun and KINDS[self.kind]:
                self.socket.send(KINDS[self.kind])
            self.begun = True
            if self.kind == "slow bodies":
                self.socket.send(b" " * SLOW)
            seen = self.socket.recv(SLOW)
            if not seen:
                self.open()
            return len(seen)
        except BlockingIOError:
            return 0
        except OSError:
            self.open()
            return 0


def hold(port, kind, ready, ended):
    """Holds all of them, and goes through them once a second, a few at a time."""
    all_held, slices = [], 100
    while not ended.is_set():
        # So many more each second: four thousand at the same moment are more than a machine of one office sends.
        all_held += [Held(port, kind) for _ in range(min(CROWD_EACH, CROWD - len(all_held)))]
        for at in range(slices):
            begun = time.monotonic()
            for held in all_held[at::slices]:
                held.step()
            time.sleep(max(0, 1 / slices - (time.monotonic() - begun)))
        if len(all_held) == CROWD:
            ready.set()


def connections(port):
    """Connections that the daemon serves."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", "/metrics")
    text = connection.getresponse().read().decode()
    connection.close()
    line = next(line for line in text.splitlines() if line.startswith("mfa_http_connections "))
    return int(float(line.split()[1])) - 1


def settled(port):
    """Waits until lists are answered again: so many at once may be refused at first."""
    answered = 0
    for _ in range(TRIES):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        connection.request("GET", "/ledger/journal?size=20")
        answered = answered + 1 if connection.getresponse().status == 200 else 0
        connection.close()
        if answered == 10:
            return
        time.sleep(0.2)
    sys.exit("lists are refused all the time")


class Crowd:
    def __init__(self, port, kind):
        self.port = port
        self.ready, self.ended = multiprocessing.Event(), multiprocessing.Event()
        self.process = multiprocessing.Process(target=hold, args=(port, kind, self.ready, self.ended), daemon=True)

    def __enter__(self):
        self.process.start()
        self.ready.wait()
        time.sleep(SETTLES)
        settled(self.port)

    def __exit__(self, *_):
        self.ended.set()
        self.process.join()
        time.sleep(1)


def main():
    folder, seconds = sys.argv[1], int(sys.argv[2])
    store, took, wrong, number = scale_store.Store("embedded", folder, None, 0.5), {}, [], 0
    held, memory = {}, {}
    try:
        scale_store.begin(store)
        store.data.people(store.port, scale_store.FEW_USERS, USERS)
        store.data.load(store.port, CUSTOMERS)
        for _ in range(ROUNDS):
            for kind in ["alone", *KINDS]:
                number += 1
                if kind == "alone":
                    answers = mixed.send(store, number, CONNECTIONS, seconds, RATE)
                else:
                    with Crowd(store.port, kind):
                        answers = mixed.send(store, number, CONNECTIONS, seconds, RATE)
                        held[kind] = connections(store.port)
                memory[kind] = max(memory.get(kind, 0), scale_export.resident(store.process.pid))
                wrong += [f"{kind}: {one.status}" for one in answers if not 200 <= one.status < 300]
                took.setdefault(kind, []).append(percentile([one.due for one in answers], 99))
    finally:
        store.stop()
    idle = statistics.median(took["alone"])
    print(f"alone: p99 {idle:.2f} ms of {RATE} requests a second, memory {memory['alone']:.0f} MiB")
    for kind in KINDS:
        p99 = statistics.median(took[kind])
        print(f"O5  p99 beside {CROWD} connections of one address, {kind}, {held[kind]} of them served: {p99:.2f} ms, "
              f"of that alone: {p99 / idle:.1f} (goal at most 5); memory {memory[kind]:.0f} MiB")
    print(f"not answered with success: {sorted(set(wrong)) or 'none'}")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
