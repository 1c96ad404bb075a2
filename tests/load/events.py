"""Listeners of events at two daemons, round by round without and with others that never read."""

import http.client
import json
import os
import socket
import statistics
import subprocess
import sys
import threading
import time

import daemon

WRITERS = 4  # connections that write, at each daemon
STALLED = 20  # listeners that never read, in every second round
# A listener that does not read is closed after 30 seconds; this long after the start of a round it must be.
CLOSED_AFTER = 45


def stall(port):
    """A listener from the first event on that never reads; little fits into its socket."""
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    sock.connect(("127.0.0.1", port))
    sock.sendall(b"GET /events?after=0 HTTP/1.1\r\nhost: localhost\r\naccept: text/event-stream\r\n\r\n")
    return sock


def is_closed(sock):
    """Whether the daemon has ended it: what is left can be read, and then nothing comes."""
    sock.settimeout(2)
    try:
        while sock.recv(1 << 20):
            pass
        return True
    except ConnectionResetError:
        return True
    except TimeoutError:
        return False


def write(port, names):
    """Creates customers, one after the other."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    for name in names:
        body = json.dumps({"identifier": name, "surname": "Mensah"})
        connection.request("POST", "/customers", body, {"content-type": "application/json"})
        answer = connection.getresponse()
        seen = answer.read()
        if answer.status != 202:
            sys.exit(f"{name}: {answer.status} {seen.decode()}")
    connection.close()


def write_all(ports, prefix, events):
    """Creates so many customers at all daemons at once; the seconds that it took."""
    begun, threads = time.perf_counter(), len(ports) * WRITERS
    running = [threading.Thread(target=write, args=(ports[number % len(ports)],
                                                    [f"{prefix}-{at}" for at in range(number, events, threads)]))
               for number in range(threads)]
    for one in running:
        one.start()
    for one in running:
        one.join()
    return time.perf_counter() - begun


def trail(port, after):
    """The numbers of all changes of customers, and the customers in the same order, as the trail has them."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
    connection.request("GET", f"/audit?sortDirection=ASC&resource=customer/*&after={after}", None,
                       {"accept": "application/x-ndjson"})
    records = [json.loads(line) for line in connection.getresponse().read().splitlines()]
    return [record["sequence"] for record in records], [record["resource"] for record in records]


def last(port):
    status, head = daemon.ask(port, "GET", "/audit/head")
    return head["sequence"] if status == 200 else 0


class Rounds:
    def __init__(self, folder, ports, listeners, events):
        self.folder, self.ports, self.listeners, self.events = folder, ports, listeners, events
        self.right, self.open = True, 0

    def round(self, number, stalled):
        """One round; seconds from the first change until everybody had heard all."""
        after, file = last(self.ports[0]), f"{self.folder}/heard"
        command = [os.environ["LISTEN_BIN"], str(self.listeners), str(after), str(self.events), file]
        command += [f"127.0.0.1:{port}" for port in self.ports]
        listening = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        if listening.stdout.readline() != "connected\n":
            sys.exit("the listeners are not connected")
        begun = time.perf_counter()
        socks = [stall(self.ports[at % len(self.ports)]) for at in range(stalled)]
        wrote = write_all(self.ports, f"r{number}", self.events)
        said = dict(line.split(" ", 1) for line in listening.communicate()[0].splitlines())
        seconds = time.perf_counter() - begun
        if listening.returncode != 0:
            self.right = False
            return seconds
        self.compare(after, number, file)
        if socks:
            time.sleep(max(0, CLOSED_AFTER - seconds))
            self.open += sum(not is_closed(sock) for sock in socks)
        median, high, most = said["late"].split()
        print(f"round {number}, {stalled} stalled: {self.events} events written in {wrote:.1f} s, heard by all "
              f"{self.listeners} after {seconds:.1f} s; {said['connections'].strip()} connections; late by ms: "
              f"median {median}, p99 {high}, most {most}", flush=True)
        return seconds

    def compare(self, after, number, file):
        with open(file) as lines:
            heard = [int(line) for line in lines]
        numbers, customers = trail(self.ports[1], after)
        written = {f"customer/r{number}-{at}" for at in range(self.events)}
        if heard != numbers or set(customers) != written or len(customers) != len(written):
            print("what was heard is not what the trail has")
            self.right = False


def main():
    folder, url = sys.argv[1:3]
    listeners, events, rounds = (int(number) for number in sys.argv[3:])
    settings = {"MFA_STORE": url, "MFA_SECRET_KEY_FILE": f"{folder}/key"}
    started = []
    try:
        started += [daemon.start(f"{folder}/0", "off", settings)]
        started += [daemon.start(f"{folder}/1", "off", settings)]
        run = Rounds(folder, [port for _, port in started], listeners, events)
        # Enough in the trail that a listener from its beginning, who does not read, really stalls.
        run.round(0, 0)
        plain, beside = [], []
        for number in range(rounds):
            plain.append(run.round(2 * number + 1, 0))
            beside.append(run.round(2 * number + 2, STALLED))
    finally:
        for process, _ in started:
            process.terminate()
            process.wait()
    print(f"E1  {listeners} listeners heard {events} events of two daemons, each once and in order: "
          f"{'yes' if run.right else 'no'} (goal yes)")
    print(f"E2  time until all had heard all, with {STALLED} stalled listeners beside without: "
          f"{statistics.median(beside) / statistics.median(plain):.2f} (goal at most 1.1)")
    print(f"E3  stalled listeners that were not closed: {run.open} (goal 0)")
    sys.exit(not run.right or run.open > 0)


main()
