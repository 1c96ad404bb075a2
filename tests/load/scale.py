"""A large institution beside a small one, on each engine: what everything costs, and the goals C1 to C8."""

import os
import sys
import time

import daemon
import scale_data
import scale_day
import scale_disk
import scale_export
import scale_goals
import scale_reads
import scale_start
import scale_writes
from client import Client
from scale_store import FEW_USERS, Store, begin

SMALL, SESSIONS = 1000, 20
# What loading leaves to be done in the background is no part of a read.
QUIET = 10
# Milliseconds of a look at the audit trail once its lists are complete, and seconds until it is measured anyway.
CAUGHT_UP, PATIENCE = 50, 600


def wait_for_trail(store):
    """Waits until the lists of the audit trail have what was loaded; until then a look goes through the rest."""
    client, begun, took = Client(store.port), time.perf_counter(), CAUGHT_UP + 1
    while took > CAUGHT_UP and time.perf_counter() - begun < PATIENCE:
        took = client.time("GET", "/audit?resource=customer/c-00000000")[0]
        time.sleep(1 if took > CAUGHT_UP else 0)
    waited = time.perf_counter() - begun
    store.say(f"a customer's history took {took:.0f} ms, {waited + QUIET:.0f} s after loading")


def look(store):
    time.sleep(QUIET)
    wait_for_trail(store)
    count = store.data.customers
    store.say(f"reads and writes with {count:,} customers")
    figures, whole = scale_reads.measure(store.port, count)
    return {**figures, **scale_writes.measure(store.port, count)}, whole


def run(store, count, seconds, one):
    """Everything that is measured on an engine; `one` has what is there if a request fails."""
    begin(store)
    store.data.load(store.port, SMALL)
    small = look(store)
    store.data.run_interest(store.port)
    store.data.people(store.port, FEW_USERS, scale_data.USERS)
    for _ in range(SESSIONS):
        daemon.log_in(store.port, "user-0")
    store.data.load(store.port, count)
    one.update(deposits=store.data.deposits, small=small, large=look(store))
    one["size"] = scale_disk.measure_size(store, count)
    one["deposit"] = scale_disk.measure_deposit(store)
    one["export"] = scale_export.measure(store)
    one["start"] = scale_start.measure(store)
    one["day"] = scale_day.measure(store, seconds)


def length_of_day(count):
    """Ten minutes with a million customers, less with fewer."""
    return max(20, min(600, count * 600 // 1_000_000))


def main():
    folder, deposits, seconds = sys.argv[1], float(sys.argv[4]), int(sys.argv[5])
    embedded = ("embedded", int(sys.argv[2]), None)
    postgres = ("postgres", int(sys.argv[3]), os.environ.get("URL"))
    runs = []
    try:
        for engine, count, url in (embedded, postgres):
            if count < 2 * SMALL:
                continue
            store = Store(engine, f"{folder}/{engine}", url, deposits)
            runs.append({"engine": engine, "count": count})
            try:
                run(store, count, seconds or length_of_day(count), runs[-1])
            finally:
                store.stop()
    finally:
        # What was measured before a request failed is not lost.
        scale_goals.table([one for one in runs if "large" in one], deposits)
        scale_goals.goals(runs)


main()
