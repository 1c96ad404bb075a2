"""What reads cost: records by id, pages of every long list, terms, and the search."""

import json
import random
import statistics
import urllib.parse

import counter
from client import Client
from scale_data import OFFICE_TELLER, customer, day_before, given, phone, surname

TIMES, PAGE = 51, 20


def by_id(client, count):
    """Records all over the store, the same ones in every run."""
    chosen = random.Random(count)
    some = [customer(chosen.randrange(count)) for _ in range(51)]
    entries = client.read("/ledger/journal?size=1")["totalElements"] // PAGE
    pages = [chosen.randrange(max(1, entries)) for _ in range(21)]
    journal = [client.read(f"/ledger/journal?pageIndex={page}")["entries"][0]["identifier"] for page in pages]
    return {
        "read a customer": client.median([f"/customers/{one}" for one in some]),
        "read an account": client.median([f"/instances/{counter.account(one)}" for one in some]),
        "read a ledger account": client.median([f"/ledger/accounts/{counter.account(one)}" for one in some]),
        "read a journal entry": client.median([f"/ledger/journal/{one}" for one in journal]),
        "a customer's accounts": client.median([f"/instances?customer={one}" for one in some]),
        "an account's entries": client.median([f"/instances/{counter.account(one)}/entries" for one in some]),
        "a customer's history": client.median([f"/audit?resource=customer/{one}" for one in some]),
    }


def paged():
    """The long lists that come in pages: by order, numbers and index in ARCHITECTURE's table."""
    today = f"{day_before(1)}..{day_before(-1)}"
    return {
        "customers": "/customers?",
        "customers, newest first": "/customers?sortDirection=DESC&",
        "customers by surname": "/customers?sortColumn=surname&sortDirection=DESC&",
        "employees": "/employees?",
        "offices": "/offices?",
        "ledger accounts": "/ledger/accounts?",
        "ledger accounts by name": "/ledger/accounts?sortColumn=name&",
        "entries of a drawer": "/ledger/accounts/drawer-T0/entries?",
        "journal": "/ledger/journal?",
        "journal of a day": f"/ledger/journal?dateRange={today}&",
        "journal of a drawer": "/ledger/journal?account=drawer-T0&",
        "journal of a type": "/ledger/journal?type=CDPT&",
        "journal of a type and a day": f"/ledger/journal?type=CDPT&dateRange={today}&",
        "interest runs": "/interest/runs?",
        "interest runs of a product": "/interest/runs?product=gain-3&",
        "interest runs of days": f"/interest/runs?dateRange={day_before(300)}..{day_before(1)}&",
        "audit": "/audit?",
        "audit of an actor": "/audit?actor=guest&",
        "audit of an operation": "/audit?operation=CreateInstance&",
        "audit of an actor, what was done": "/audit?actor=guest&outcome=DONE&",
        "audit of a day": f"/audit?dateRange={today}&",
    }


def pages(client, page=10_000):
    """First page, page 10,000 (or the last), and last page of each list."""
    figures = {}
    for name, path in paged().items():
        first, answer = client.time("GET", f"{path}pageIndex=0")
        shown = json.loads(answer)
        last = max(0, shown["totalPages"] - 1)
        # The last page may show few elements, and costs less then than one that is full.
        full = max(0, shown["totalElements"] // PAGE - 1)
        figures[f"{name}: first page"] = client.median([f"{path}pageIndex=0"] * TIMES)
        if last:
            figures[f"{name}: page 10,000 or the last"] = client.median(
                [f"{path}pageIndex={min(page, full)}"] * TIMES
            )
            figures[f"{name}: last page"] = client.median([f"{path}pageIndex={last}"] * TIMES)
        if first > 100:
            print(f"  the first look at {name} took {first:.0f} ms", flush=True)
    return figures


def short():
    """Lists that ARCHITECTURE's table calls short, and those that show few of many."""
    return {
        "users": "/users",
        "sessions of a user": "/users/user-0/sessions",
        "roles": "/roles",
        "products": "/definitions",
        "tellers of an office": f"/offices/{counter.OFFICE}/teller",
        "a teller's waiting transactions": OFFICE_TELLER.format("status=PENDING"),
        "a teller's cancelled transactions": OFFICE_TELLER.format("status=CANCELED"),
        "accounts with a text, many": "/instances?term=9100",
        "accounts with a text, one": "/instances?term=00000777.9100",
        "accounts with a text, none": "/instances?term=nothing",
        "events from the end": "/events?after={end}&limit=20",
    }


def whole():
    """Lists that show everything by contract, so they cost what they have."""
    return {
        "accounts of a product": "/definitions/plain/instances",
        "a teller's transactions": OFFICE_TELLER.format(""),
    }


def shorts(client):
    end = client.read("/audit/head")["sequence"] - 20
    return {name: client.median([path.format(end=end)] * TIMES) for name, path in short().items()}


def wholes(client):
    """Milliseconds for each thousand elements."""
    figures = {}
    for name, path in whole().items():
        took = []
        for _ in range(3):
            once, answer = client.time("GET", path)
            count = answer.count(b'"state":')
            took.append(once * 1000 / max(1, count))
        figures[f"{name}, 1,000 of {count:,}"] = statistics.median(took)
    return figures


def words(text):
    return urllib.parse.quote(text)


def swapped(word):
    """A word with one letter that is another."""
    return word[:3] + ("x" if word[3] != "x" else "y") + word[4:]


def terms(client, count):
    """C2: terms and sorted lists."""
    one = count // 3
    looked = {
        "term with many hits": "MENSAH",
        "term with few hits": surname(one).split("-")[1].lower(),
        "term with none": "nothing has this",
        "term that is an identifier": customer(one),
    }
    return {name: client.median([f"/customers?term={words(term)}"] * TIMES) for name, term in looked.items()}


def search(client, count):
    one = count // 3
    near = swapped(surname(one))
    looked = {
        "search of two words": f"{given(one)} {surname(one)}",
        "search of two words, many hits": f"{GIVEN} {SURNAME}",
        "search of a near spelling": near,
        "search of a phone": phone(one),
        "search of nothing": "qqqqzzzz",
    }
    figures = {}
    for name, text in looked.items():
        path = f"/search?text={words(text)}"
        hits = client.read(path)["hits"]
        found = [hit for hit in hits if hit["identifier"] == customer(one)]
        if name != "search of nothing" and "many" not in name and not found:
            print(f"  {name} ({text}) does not find customer {customer(one)}", flush=True)
        figures[name] = client.median([path] * TIMES)
    return figures


GIVEN, SURNAME = given(0), surname(0).split("-")[0]


def measure(port, count):
    """All reads of one store, by their names."""
    client = Client(port)
    return {
        **by_id(client, count),
        **pages(client),
        **terms(client, count),
        **search(client, count),
        **shorts(client),
    }, wholes(client)
