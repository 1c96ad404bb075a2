"""C4: how long a daemon takes from its start until it is ready, after a clean stop and after SIGKILL."""

import signal
import time

import daemon
import scale_writes
from client import Client

# Seconds for which a list that is not ready yet is asked for again.
PATIENCE = 300


def first_list(store):
    """The first list in an order that is kept in memory; until that was made from the store, 503 says so."""
    begun = time.perf_counter()
    while time.perf_counter() - begun < PATIENCE:
        status, answer = daemon.ask(store.port, "GET", "/customers?sortColumn=surname")
        if status != 503:
            return answer
        time.sleep(0.2)
    raise SystemExit(f"{PATIENCE} s after a start there is no list of customers by surname")


def ready_after(store):
    """Seconds from the start of the program until it is ready, and until its first list is there."""
    begun = time.perf_counter()
    store.start()
    ready = time.perf_counter() - begun
    there = first_list(store)["totalElements"]
    if there < store.data.customers:
        raise SystemExit(f"after a start only {there} customers are there")
    return ready, time.perf_counter() - begun - ready


def measure(store):
    store.stop(signal.SIGTERM)
    clean, first = ready_after(store)
    store.say(f"ready {clean:.2f} s after a clean stop, the first list by surname {first:.2f} s later")
    scale_writes.creates(Client(store.port), 200)
    store.stop(signal.SIGKILL)
    killed, first = ready_after(store)
    store.say(f"ready {killed:.2f} s after SIGKILL, the first list by surname {first:.2f} s later")
    return {"clean": clean, "killed": killed}
