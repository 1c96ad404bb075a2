"""What writes cost: alone, and beside clerks who list all the time (goal C7)."""

import statistics
import subprocess
import time

import counter
import scale_data
from client import Client, percentile

LISTERS, CREATES, OTHERS, READS = 8, 1000, 100, 2000
# What people do at a machine in one place at once: a list sorted by a column, not its first page.
LISTED = "/customers?pageIndex=7&sortColumn=surname"


class Names:
    """Unused numbers of customers, far behind those that were loaded."""

    def __init__(self):
        self.last = 50_000_000

    def next(self):
        self.last += 1
        return self.last


NAMES = Names()


def creates(client, count=CREATES):
    """Milliseconds of creates of customers."""
    took = []
    for _ in range(count):
        took.append(client.time("POST", "/customers", scale_data.customer_body(NAMES.next()))[0])
    return took


def accounts(client, count=OTHERS):
    """Milliseconds of creates of accounts, for customers of their own."""
    took = []
    for _ in range(count):
        number = NAMES.next()
        client.time("POST", "/customers", scale_data.customer_body(number))
        body = {"customerIdentifier": scale_data.customer(number), "productIdentifier": "plain"}
        took.append(client.time("POST", "/instances", body)[0])
    return took


def deposits(client, customers, count=OTHERS):
    """Milliseconds of deposits: created and confirmed."""
    took = []
    for at in range(count):
        number = at * 7919 % customers
        path = f"/teller/T{at % scale_data.TELLERS}/transactions"
        quote = counter.quote("CDPT", scale_data.customer(number), 5)
        created, answer = client.time("POST", path, quote)
        identifier = answer.split(b'"tellerTransactionIdentifier":"')[1].split(b'"')[0].decode()
        took.append(created + client.time("POST", f"{path}/{identifier}?command=CONFIRM")[0])
    return took


def reads(client, customers):
    """Milliseconds of reads by id."""
    return [
        client.time("GET", f"/customers/{scale_data.customer(at * 7919 % customers)}")[0]
        for at in range(READS)
    ]


def beside_listers(port, work):
    """Does work while clients list all the time."""
    wrk = ["wrk", "-t", "1", "-c", str(LISTERS), "-d", "600s", f"http://127.0.0.1:{port}{LISTED}"]
    listers = subprocess.Popen(wrk, stdout=subprocess.DEVNULL)
    time.sleep(1)
    try:
        return work()
    finally:
        listers.terminate()
        listers.wait()


def measure(port, customers):
    """Medians, and the figures of C7: the 99th of a hundred, alone and beside those who list."""
    client = Client(port)
    alone, read = creates(client), reads(client, customers)
    busy, read_busy = beside_listers(port, lambda: (creates(client), reads(client, customers)))
    return {
        "create a customer": statistics.median(alone),
        "create an account": statistics.median(accounts(client)),
        "create and confirm a deposit": statistics.median(deposits(client, customers)),
        "create a customer, p99": percentile(alone, 99),
        "create a customer, p99, beside 8 who list": percentile(busy, 99),
        "read a customer, p99": percentile(read, 99),
        "read a customer, p99, beside 8 who list": percentile(read_busy, 99),
    }
