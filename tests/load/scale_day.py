"""C3 and S5: a mixed day. 80 % reads by id, 10 % lists and searches, 10 % writes.

First the idle latency is measured with one connection, then the most that 64 connections reach. Then requests come
at half of that rate, at moments set beforehand, whether those before are answered or not. A time runs from the moment
at which a request was due to the last byte of its answer."""

import array
import collections
import json
import multiprocessing
import random
import select
import socket
import sys
import time

import counter
import scale_data
from client import Client, percentile
from scale_export import Memory

PROCESSES, CONNECTIONS = 2, 64
MEASURED, KINDS = 5, ("read", "list", "write")
# Numbers of the customers that a process of a day creates.
OWN, OWN_EACH = 60_000_000, 5_000_000


def head(method, path, body=None):
    text = json.dumps(body) if body is not None else ""
    kind = f"content-type: application/json\r\ncontent-length: {len(text)}\r\n" if method != "GET" else ""
    return f"{method} {path} HTTP/1.1\r\nhost: localhost\r\n{kind}\r\n{text}".encode()


class Mix:
    """The requests of one process, by chance."""

    def __init__(self, number, customers, entries):
        self.chance, self.customers, self.entries = random.Random(number), customers, entries
        self.next, self.waiting = (
            OWN + OWN_EACH * number + int(time.time()) % 1000 * 4000,
            collections.deque(),
        )

    def one(self):
        """A request and its kind; the answer to a created transaction goes to `created`."""
        dice, number = self.chance.random(), self.chance.randrange(self.customers)
        if dice < 0.8:
            return 0, head("GET", self.by_id(dice, scale_data.customer(number)))
        if dice < 0.9:
            return 1, head("GET", self.listed(number))
        return 2, self.write(dice, number)

    def by_id(self, dice, name):
        if dice < 0.4:
            return f"/customers/{name}"
        if dice < 0.65:
            return f"/instances/{counter.account(name)}"
        if dice < 0.7:
            return f"/ledger/accounts/{counter.account(name)}"
        return f"/ledger/journal/{self.chance.choice(self.entries)}"

    def listed(self, number):
        name, page = scale_data.customer(number), number // 20
        return self.chance.choice(
            [
                f"/customers?pageIndex={page}",
                f"/customers?sortColumn=surname&pageIndex={page}",
                f"/customers?term={scale_data.surname(number)[-6:]}",
                f"/search?text={scale_data.surname(number)}",
                f"/instances?customer={name}",
                f"/instances/{counter.account(name)}/entries",
                f"/ledger/accounts?pageIndex={page}",
                "/ledger/journal?account=drawer-T1&sortDirection=DESC",
                "/ledger/journal?type=CDPT&sortDirection=DESC",
                f"/audit?resource=customer/{name}",
            ]
        )

    def write(self, dice, number):
        if dice < 0.93:
            self.next += 1
            return head("POST", "/customers", scale_data.customer_body(self.next))
        if dice < 0.96:
            body = scale_data.customer_body(number)
            return head("PUT", f"/customers/{scale_data.customer(number)}", body)
        if self.waiting:
            return head("POST", self.waiting.popleft())
        teller = f"T{number % scale_data.TELLERS}"
        quote = counter.quote("CDPT", scale_data.customer(number), 5 + number % scale_data.TELLERS / 100)
        return head("POST", f"/teller/{teller}/transactions", quote)

    def created(self, body):
        """Remembers a transaction that was created, to confirm it later; its cents say whose it is."""
        if b'"tellerTransactionIdentifier"' in body:
            quote = json.loads(body)
            teller = f"T{round(quote['totalAmount'] * 100) % 100}"
            path = f"/teller/{teller}/transactions/{quote['tellerTransactionIdentifier']}"
            self.waiting.append(f"{path}?command=CONFIRM")


class Connection:
    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.seen, self.kind, self.due = bytearray(), 0, 0.0

    def fileno(self):
        return self.socket.fileno()

    def send(self, due, kind, request):
        self.kind, self.due = kind, due
        self.socket.sendall(request)

    def answer(self):
        """Status and body of an answer that is there to its last byte."""
        arrived = self.socket.recv(262_144)
        if not arrived:
            raise ConnectionError("the daemon closed a connection")
        self.seen += arrived
        top, found, rest = bytes(self.seen).partition(b"\r\n\r\n")
        length = top.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
        if not found or len(rest) < int(length or 0):
            return None
        self.seen.clear()
        return int(top[9:12]), rest


def drive(port, mix, connections, seconds, rate=None):
    """Times in milliseconds by kind: as fast as answers come, or so many requests a second."""
    # All of them take turns: one that is left alone for long is closed by the daemon.
    idle = collections.deque(Connection(port) for _ in range(connections))
    took = [array.array("f") for _ in KINDS]
    busy, begun = set(), time.perf_counter()
    due, until = begun, begun + seconds
    while True:
        now = time.perf_counter()
        if now > until:
            break
        while idle and (rate is None or due <= now):
            connection = idle.popleft()
            connection.send(now if rate is None else due, *mix.one())
            busy.add(connection)
            due += 1 / rate if rate else 0
        wait = 1 if rate is None or not idle else min(1, max(0, due - time.perf_counter()))
        for connection in select.select(busy, [], [], wait)[0]:
            answered = connection.answer()
            if answered is None:
                continue
            status, body = answered
            if status > 299:
                raise ConnectionError(
                    f"a {KINDS[connection.kind]} was answered with {status}: {body[:300]!r}"
                )
            took[connection.kind].append((time.perf_counter() - connection.due) * 1000)
            if connection.kind == 2:
                mix.created(body)
            busy.discard(connection)
            idle.append(connection)
    return took


def in_process(results, port, number, customers, entries, connections, seconds, rate):
    try:
        results.put(drive(port, Mix(number, customers, entries), connections, seconds, rate))
    except (OSError, ValueError) as error:
        results.put(str(error))


def load(store, entries, seconds, rate=None):
    """Drives all processes; the times by kind."""
    results, running = multiprocessing.Queue(), []
    for number in range(PROCESSES):
        share = rate / PROCESSES if rate else None
        arguments = (
            results,
            store.port,
            number + (PROCESSES if rate else 0),
            store.data.customers,
            entries,
            CONNECTIONS // PROCESSES,
            seconds,
            share,
        )
        running.append(multiprocessing.Process(target=in_process, args=arguments))
        running[-1].start()
    took = [results.get() for _ in running]
    for process in running:
        process.join()
    failed = next((one for one in took if isinstance(one, str)), None)
    if failed:
        sys.exit(f"the mixed day broke off: {failed}")
    return [sum((list(one[kind]) for one in took), []) for kind in range(len(KINDS))]


def measure(store, seconds):
    client, chance = Client(store.port), random.Random(1)
    pages = max(1, client.read("/ledger/journal?size=20")["totalPages"] - 1)
    entries = [
        entry["identifier"]
        for _ in range(50)
        for entry in client.read(f"/ledger/journal?pageIndex={chance.randrange(pages)}")["entries"]
    ]
    try:
        idle = drive(store.port, Mix(9, store.data.customers, entries), 1, MEASURED)
    except OSError as error:
        sys.exit(f"the mixed day did not begin: {error}")
    most = sum(map(len, load(store, entries, MEASURED))) / MEASURED
    rate, memory = most / 2, Memory(store.process.pid, 1)
    memory.start()
    day = load(store, entries, seconds, rate)
    seen = memory.end()
    p50, together = percentile(sum(map(list, idle), []), 50), sum(day, [])
    quarter = max(1, len(seen) // 4)
    figures = {
        "by kind": {
            kind: percentile(busy, 99) / percentile(alone, 50) for kind, alone, busy in zip(KINDS, idle, day)
        },
        "rate": rate,
        "seconds": seconds,
        "answered": len(together) / seconds,
        "idle p50": p50,
        "p99": percentile(together, 99),
        "memory": max(seen),
        "begun": sum(seen[quarter : 2 * quarter]) / quarter,
        "ended": sum(seen[-quarter:]) / quarter,
    }
    each = ", ".join(
        f"{kind}s {percentile(alone, 50):.2f} and {percentile(busy, 99):.2f}"
        for kind, alone, busy in zip(KINDS, idle, day)
    )
    store.say(
        f"at most {most:,.0f} requests a second with {CONNECTIONS} connections; {seconds} s at {rate:,.0f} a second: "
        f"{figures['answered']:,.0f} answered; p50 idle and p99 in ms: all {p50:.2f} and {figures['p99']:.2f}, {each}; "
        f"memory {seen[0]:.0f} MiB at first, {max(seen):.0f} at most, {seen[-1]:.0f} at last"
    )
    return figures
