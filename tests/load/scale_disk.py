"""C5 and C8: what the store takes on the disk, against the JSON of its records, and of that a deposit."""

import os
import re
import subprocess
import sys
import time

import counter
import scale_data
from client import Client

UPDATED = 1000
# What a journal file of the embedded store has before the next one is begun.
FILE_BYTES = 64 * 1024 * 1024


def folder_bytes(path):
    """What the files of a folder take on the disk."""
    total = 0
    for place, _, files in os.walk(path):
        for name in files:
            try:
                total += os.stat(os.path.join(place, name)).st_blocks * 512
            except FileNotFoundError:
                # A file that was replaced meanwhile.
                pass
    return total


def store_bytes(store):
    """The folder of the embedded store, or the tables and indexes of the database."""
    if store.url is None:
        return folder_bytes(f"{store.folder}/data")
    asked = (
        "select sum(pg_total_relation_size(c.oid)) from pg_class c "
        "join pg_namespace n on n.oid = c.relnamespace where n.nspname = 'mfa' and c.relkind = 'r'"
    )
    return int(
        subprocess.run(["psql", store.url, "-Atc", asked], check=True, capture_output=True, text=True).stdout
    )


def parts(store):
    """Bytes of each folder of an embedded store."""
    if store.url is not None:
        return ""
    place = f"{store.folder}/data"
    sizes = {
        name: folder_bytes(f"{place}/{name}")
        for name in sorted(os.listdir(place))
        if os.path.isdir(f"{place}/{name}")
    }
    return ", ".join(f"{name} {size >> 20:,} MiB" for name, size in sizes.items())


def settled(store):
    """Waits until nothing is written beside the requests any more."""
    before = -1
    for _ in range(60):
        size = store_bytes(store)
        if size == before:
            return size
        before = size
        time.sleep(5)
    return before


def exported(port, path):
    """Bytes of a list as NDJSON, counted by curl."""
    command = [
        "curl",
        "-sf",
        "-o",
        "/dev/null",
        "-w",
        "%{size_download}",
        "-H",
        "accept: application/x-ndjson",
        f"http://127.0.0.1:{port}{path}",
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{path} cannot be read as NDJSON: curl ended with {done.returncode}")
    return int(done.stdout)


def json_bytes(port):
    """The JSON of all records that grow with the institution, as the interface shows them."""
    lists = {
        "customers": ["/customers"],
        "accounts": ["/definitions/plain/instances"],
        "ledger accounts": ["/ledger/accounts"],
        "journal": ["/ledger/journal"],
        "audit trail": ["/audit"],
        "transactions": [f"/teller/{code}/transactions" for code in counter.tellers(scale_data.TELLERS)],
    }
    return {name: sum(exported(port, path) for path in paths) for name, paths in lists.items()}


def sizes(store, words):
    """Bytes on the disk against bytes of JSON, and the ratio."""
    size, records = settled(store), json_bytes(store.port)
    total = sum(records.values())
    shown = ", ".join(f"{name} {count >> 20:,} MiB" for name, count in records.items())
    store.say(
        f"{words}: {size >> 20:,} MiB on the disk ({parts(store) or 'tables and indexes'}), "
        f"{total >> 20:,} MiB of JSON ({shown}), ratio {size / total:.2f}"
    )
    return size, total


def update(store, count):
    """Updates of the same thousand customers, by turns."""
    begun, numbers = time.perf_counter(), range(UPDATED)

    def one(turn, number):
        body = scale_data.customer_body(number)
        body["address"]["street"] = f"{turn} Liberation Road"
        return "PUT", f"/customers/{scale_data.customer(number)}", body

    rounds = range(max(1, count // UPDATED))
    scale_data.shared_out(
        store.engine, lambda turn: Client(store.port).batch([one(turn, number) for number in numbers]), rounds
    )
    return len(rounds) * UPDATED, time.perf_counter() - begun


def measure_size(store, updates):
    """C5: the ratio after loading, and after many updates of the same records."""
    loaded, records = sizes(store, "loaded")
    made, took = update(store, updates)
    store.say(f"{made:,} updates of {UPDATED:,} customers, {made / took:,.0f} a second")
    updated, more = sizes(store, f"after {made:,} updates")
    return {
        "ratio": loaded / records,
        "updates": made,
        "updated": updated / more,
        "bytes": (updated - loaded) / made,
    }


def journal_files(store):
    place = f"{store.folder}/data/journal"
    return sorted(name for name in os.listdir(place) if re.fullmatch(r"\d+\.log", name))


def measure_deposit(store, limit=300):
    """C8: bytes of a confirmed deposit in a journal file that was begun and closed among deposits alone."""
    if store.url is not None:
        return None
    # Each on a connection of its own: the daemon closes one that is idle for long.
    counted = lambda: Client(store.port).read("/ledger/journal?size=1")["totalElements"]
    accounts = min(1000, store.data.customers)
    wrk = [
        "wrk",
        "-t",
        "1",
        "-c",
        "32",
        "-d",
        f"{limit}s",
        "-s",
        "tests/load/tellers.lua",
        f"http://127.0.0.1:{store.port}",
        "--",
        str(scale_data.TELLERS),
        str(accounts),
        "c-%08d",
    ]
    known, marks = set(journal_files(store)), []
    drive = subprocess.Popen(wrk, stdout=subprocess.DEVNULL)
    until = time.monotonic() + limit - 5
    try:
        while len(marks) < 2 and time.monotonic() < until:
            for name in set(journal_files(store)) - known:
                known.add(name)
                marks.append((name, counted()))
            time.sleep(0.01)
    finally:
        drive.terminate()
        drive.wait()
    if len(marks) < 2:
        sys.exit(f"no file of the journal was filled with deposits in {limit} s")
    (name, first), (_, last) = marks[:2]
    path = f"{store.folder}/data/journal/{name}"
    plain = os.stat(path).st_size
    for _ in range(120):
        if os.stat(path).st_size < FILE_BYTES // 2:
            break
        time.sleep(1)
    packed = os.stat(path).st_size
    store.say(f"journal file {name} has {last - first:,} deposits: {plain:,} bytes, packed {packed:,}")
    return packed / (last - first)
