"""C4: how long a daemon takes from its start until it is ready, after a clean stop and after SIGKILL."""

import json
import signal
import time

import scale_writes
from client import Client


def ready_after(store):
    """Seconds from the start of the program until it is ready, and until its first list is there."""
    begun = time.perf_counter()
    store.start()
    ready = time.perf_counter() - begun
    first, answer = Client(store.port).time("GET", "/customers?sortColumn=surname")
    if json.loads(answer)["totalElements"] < store.data.customers:
        raise SystemExit(f"after a start only {json.loads(answer)['totalElements']} customers are there")
    return ready, first / 1000


def measure(store):
    store.stop(signal.SIGTERM)
    clean, first = ready_after(store)
    store.say(f"ready {clean:.2f} s after a clean stop, the first list by surname {first:.2f} s later")
    scale_writes.creates(Client(store.port), 200)
    store.stop(signal.SIGKILL)
    killed, first = ready_after(store)
    store.say(f"ready {killed:.2f} s after SIGKILL, the first list by surname {first:.2f} s later")
    return {"clean": clean, "killed": killed}
