"""A mixed load: 80 % reads by id, 10 % lists and searches, 10 % writes.

Requests are written into a file, and a compiled program sends them (drive.rs): a generator in Python
would take half of the machine."""

import collections
import json
import os
import random
import subprocess
import sys
import tempfile
import time

import counter
import scale_data
from client import Client

KINDS = ("read", "list", "write")
# More requests a second than a daemon on two processors answers.
MOST = 30_000
# The share of all requests that confirm a transaction.
CONFIRMS = 0.02
# Numbers of the customers that a load creates.
OWN, OWN_EACH = 60_000_000, 5_000_000
# Kind (a place in KINDS), status, and milliseconds to the last byte from when it was due, and from when it was sent.
Answer = collections.namedtuple("Answer", "kind status due sent")


def some_entries(client, chance, pages=50):
    """Numbers of journal entries on pages by chance."""
    last = max(1, client.read("/ledger/journal?size=20")["totalPages"] - 1)
    read = lambda page: client.read(f"/ledger/journal?pageIndex={page}")["entries"]
    return [entry["identifier"] for _ in range(pages) for entry in read(chance.randrange(last))]


class Mix:
    """Requests by chance, of which so many are sent."""

    def __init__(self, number, store, count):
        client = Client(store.port)
        self.chance, self.customers = random.Random(number), store.data.customers
        self.entries = some_entries(client, self.chance)
        self.next = OWN + OWN_EACH * number + int(time.time()) % 1000 * 4000
        self.created = self.create(client, int(count * CONFIRMS))

    def create(self, client, count):
        """Transactions to be confirmed, as paths."""
        quotes = [self.quote() for _ in range(count)]
        paths = [f"/teller/{teller}/transactions" for teller, _ in quotes]
        bodies = client.batch([(path, body) for path, (_, body) in zip(paths, quotes)])
        named = [body["tellerTransactionIdentifier"] for body in bodies]
        return [f"{path}/{name}?command=CONFIRM" for path, name in zip(paths, named)]

    def quote(self):
        number = self.chance.randrange(self.customers)
        body = counter.quote("CDPT", scale_data.customer(number), 5)
        return f"T{number % scale_data.TELLERS}", body

    def one(self):
        """Kind, method, path and body of a request."""
        dice, number = self.chance.random(), self.chance.randrange(self.customers)
        if dice < 0.8:
            return 0, "GET", self.by_id(dice, scale_data.customer(number)), None
        if dice < 0.9:
            return 1, "GET", self.listed(number), None
        return 2, *self.write(dice, number)

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
            return "POST", "/customers", scale_data.customer_body(self.next)
        if dice < 0.96:
            return "PUT", f"/customers/{scale_data.customer(number)}", scale_data.customer_body(number)
        if dice < 0.98 and self.created:
            return "POST", self.created.pop(), None
        teller, body = self.quote()
        return "POST", f"/teller/{teller}/transactions", body


def send(store, number, connections, seconds, rate=0):
    """Sends requests as fast as answers come (rate 0), or so many a second. Their answers. Each load of a store has
    a number of its own."""
    # The moments at which they are due are rounded down a little.
    count = (rate or MOST) * seconds * 101 // 100 + 10
    mix = Mix(number, store, count)
    with tempfile.NamedTemporaryFile("w", suffix=".requests") as file:
        for _ in range(count):
            kind, method, path, body = mix.one()
            print(kind, method, path, json.dumps(body) if body else "", sep="\t", file=file)
        file.flush()
        where = [f"127.0.0.1:{store.port}", str(connections), str(seconds), str(rate), file.name]
        sent = subprocess.run([os.environ["DRIVE_BIN"], *where], capture_output=True, text=True, check=False)
    if sent.returncode:
        sys.exit(f"the mixed load broke off: {sent.stderr}")
    lines = (line.split("\t") for line in sent.stdout.splitlines())
    return [Answer(int(kind), int(status), int(due) / 1000, int(sent) / 1000) for kind, status, due, sent in lines]
