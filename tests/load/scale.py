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
from scale_store import FEW_USERS, Store, begin

SMALL, SESSIONS = 1000, 20


def look(store):
    """Reads and writes, once what loading leaves to be done in the background is done: it is no part of a read."""
    begun = time.perf_counter()
    daemon.wait_until_idle(store.process)
    store.say(f"idle {time.perf_counter() - begun:.0f} s after loading")
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
