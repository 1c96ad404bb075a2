"""A day of interest beside tellers. Deposits come at moments set beforehand, and a time runs from then on, so that a
daemon that stalls shows in every deposit that was due meanwhile."""

import collections
import os
import select
import signal
import subprocess
import sys
import threading
import time

import counter
import daemon
from client import BATCH, Client, percentile
from due import Connection, head
from scale_data import day_before

PRODUCT, LATE, TELLERS = "saver", 3, 20
# For so many accounts there is one more, which was closed: its product still lists it.
OPEN_FOR_EACH_CLOSED = 20
# Deposits a second, and how long they are measured without a run.
RATE, SECONDS = 100, 20
# What the contract allows: seconds for each million accounts, and times the p99 without a run.
SECONDS_MAX, TIMES_MAX = 60, 3


def customer(number):
    return f"s-{number:07d}"


def is_closed(number):
    """The closed accounts lie between the others, as they do after years."""
    return number % (OPEN_FOR_EACH_CLOSED + 1) == OPEN_FOR_EACH_CLOSED


def opening(number):
    """A teller pays out at most 1000 at once, so a closed account never held more."""
    return 500 + number % 500 if is_closed(number) else 1000 + number % 977


def fill(port, accounts):
    """An office, a product that pays 2.5 %, accounts that were opened with a deposit, and some that were closed."""
    client, begun = Client(port), time.perf_counter()
    client.batch([("/definitions", counter.product(PRODUCT, 2.5))])
    client.batch([(f"/definitions/{PRODUCT}/commands", {"action": "ACTIVATE"})])
    counter.open_office(client, TELLERS)
    closed = accounts // OPEN_FOR_EACH_CLOSED
    for start in range(0, accounts + closed, BATCH):
        part = range(start, min(start + BATCH, accounts + closed))
        client.batch(
            [("/instances", {"customerIdentifier": customer(number), "productIdentifier": PRODUCT}) for number in part]
        )
        teller = f"T{start // BATCH % TELLERS}"
        counter.carry_out(
            client,
            [(teller, counter.quote("ACCO", customer(number), opening(number), PRODUCT)) for number in part],
        )
        counter.carry_out(
            client,
            [
                (teller, counter.quote("ACCC", customer(number), opening(number), PRODUCT))
                for number in part
                if is_closed(number)
            ],
        )
    print(f"{accounts:,} accounts and {closed:,} closed ones in {time.perf_counter() - begun:.0f} s", flush=True)


class Deposits:
    """Deposits to one account after the other: each is created, and confirmed in the next turn."""

    def __init__(self, accounts):
        self.accounts, self.number, self.waiting = accounts, 0, collections.deque()

    def one(self):
        """Whether it is a confirmation, and a request."""
        if self.waiting:
            return True, head("POST", f"{self.waiting.popleft()}?command=CONFIRM")
        self.number += 1
        place = self.number * 7919 % self.accounts
        customer_number = place + place // OPEN_FOR_EACH_CLOSED
        # Its cents say whose it is.
        teller = self.number % TELLERS
        amount = 5 + teller / 100
        return False, head(
            "POST", f"/teller/T{teller}/transactions", counter.quote("CDPT", customer(customer_number), amount, PRODUCT)
        )

    def created(self, body):
        identifier = body.partition(b'"tellerTransactionIdentifier":"')[2].partition(b'"')[0].decode()
        cents = body.partition(b'"totalAmount":5')[2].partition(b",")[0].decode().lstrip(".").ljust(2, "0")
        self.waiting.append(f"/teller/T{int(cents)}/transactions/{identifier}")


class Asked(Connection):
    """A connection that sends a request again when it was refused for a while, as clients do."""

    refused = 0

    def send(self, due, kind, request):
        self.request = request
        super().send(due, kind, request)

    def answer(self):
        answered = super().answer()
        if answered and answered[0] == 503:
            Asked.refused += 1
            self.send(self.due, self.kind, self.request)
            return None
        return answered


def confirmations(port, deposits, goes_on):
    """Milliseconds of the confirmations, while something goes on; all that were asked for are answered."""
    idle, busy, took = collections.deque(Asked(port) for _ in range(64)), set(), []
    due = time.perf_counter()
    while busy or goes_on():
        while idle and due <= time.perf_counter() and goes_on():
            connection = idle.popleft()
            connection.send(due, *deposits.one())
            busy.add(connection)
            due += 1 / (2 * RATE)
        for connection in select.select(busy, [], [], max(0, min(0.1, due - time.perf_counter())))[0]:
            answered = connection.answer()
            if answered is None:
                continue
            status, body = answered
            if status > 299:
                sys.exit(f"a deposit was answered with {status}: {body[:300]!r}")
            if connection.kind:
                took.append((time.perf_counter() - connection.due) * 1000)
            else:
                deposits.created(body)
            busy.discard(connection)
            idle.append(connection)
    return took


def rest(url):
    """Does at once what a database does for minutes after so much was loaded, and would do beside the measured day."""
    subprocess.run(["psql", url, "-qc", "vacuum analyze", "-c", "checkpoint"], check=True)


def run(port, days):
    """Runs interest up to so many days ago; the seconds."""
    return Client(port).time("POST", "/interest/runs", {"date": day_before(days)})[0] / 1000


def beside(port, deposits, days):
    """Seconds of a run, and the times of confirmations beside it."""
    took = []
    runner = threading.Thread(target=lambda: took.append(run(port, days)))
    runner.start()
    confirmed = confirmations(port, deposits, runner.is_alive)
    runner.join()
    return took[0], confirmed


def goal(engine, said, wanted, reached):
    print(f"I1  {engine}, {said} (goal {wanted}): {'reached' if reached else 'not reached'}")


def measure(folder, engine, accounts):
    more = {"MFA_STORE": os.environ["URL"]} if engine == "postgres" else {}

    def start(clock):
        if more:
            daemon.set_clock_of_database(more["MFA_STORE"], clock)
        return daemon.start(folder, "off", more | clock)

    process, port = start(daemon.clock_of(LATE))
    try:
        fill(port, accounts)
        if engine == "postgres":
            rest(more["MFA_STORE"])
        # A clean stop waits by the clock, which is a false one here.
        process.send_signal(signal.SIGKILL)
        process.wait()
        process, port = start({})
        client, deposits = Client(port), Deposits(accounts)
        for code in counter.tellers(TELLERS):
            client.time("POST", f"/teller/{code}/drawer", {"employeeIdentifier": f"e-{code}", "password": counter.PIN})
        daemon.wait_until_idle(process)
        first = run(port, 2)
        until = time.perf_counter() + SECONDS
        alone = percentile(confirmations(port, deposits, lambda: time.perf_counter() < until), 99)
        seconds, confirmed = beside(port, deposits, 1)
        last = Client(port).read("/interest/runs?size=1")["runs"][0]
        if (last["accounts"], last["outcome"]) != (accounts, "DONE"):
            sys.exit(f"the run left something out: {last}")
    finally:
        process.terminate()
        process.wait()
    million = seconds * 1_000_000 / accounts
    print(
        f"{engine}: the first day took {first:.1f} s without tellers, the second {seconds:.1f} s beside them; "
        f"{Asked.refused} requests were refused for a while"
    )
    Asked.refused = 0
    goal(
        engine,
        f"{accounts:,} accounts: {million:.0f} s a day for each million beside {RATE} deposits a second",
        f"{SECONDS_MAX}",
        million < SECONDS_MAX,
    )
    times = percentile(confirmed, 99) / alone
    goal(
        engine,
        f"p99 of {len(confirmed):,} confirmations beside the run: {percentile(confirmed, 99):.1f} ms, {times:.1f} times "
        f"the {alone:.1f} ms without it",
        f"{TIMES_MAX}",
        times <= TIMES_MAX,
    )


def main():
    folder, counts = sys.argv[1], {"embedded": int(sys.argv[2]), "postgres": int(sys.argv[3])}
    for engine, accounts in counts.items():
        if accounts:
            measure(f"{folder}/{engine}", engine, accounts)


if __name__ == "__main__":
    main()
