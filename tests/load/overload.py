"""More requests than a daemon can answer: four times as many as it answers at best."""

import collections
import http.client
import json
import sys
import threading
import time

import daemon
import mixed
import scale_data
import scale_store
from client import percentile

CUSTOMERS, USERS = 1000, 20
CONNECTIONS, MANY, TIMES = 64, 1024, 4
PAUSE = 0.1


class Probe(threading.Thread):
    """Asks again and again for what must be answered throughout; seconds and statuses."""

    def __init__(self, port):
        super().__init__(daemon=True)
        self.port, self.took, self.wrong, self.ended = port, {}, [], threading.Event()

    def run(self):
        login = {"grant_type": "password", "username": "user-0", "password": daemon.PASSWORD}
        asked = [("GET", "/ready", None), ("GET", "/metrics", None), ("POST", "/token", login)]
        while not self.ended.wait(PAUSE):
            for method, path, body in asked:
                self.ask(method, path, body)

    def ask(self, method, path, body):
        begun = time.perf_counter()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        headers = {"content-type": "application/json"}
        connection.request(method, path, json.dumps(body) if body else None, headers)
        answer = connection.getresponse()
        answer.read()
        connection.close()
        self.took.setdefault(path, []).append(time.perf_counter() - begun)
        if answer.status != 200:
            self.wrong.append(f"{path}: {answer.status}")

    def end(self):
        self.ended.set()
        self.join()


def good(answers, seconds):
    return sum(200 <= answer.status < 300 for answer in answers) / seconds


def main():
    folder, seconds = sys.argv[1], int(sys.argv[2])
    store = scale_store.Store("embedded", folder, None, 0.5)
    try:
        scale_store.begin(store)
        store.data.people(store.port, scale_store.FEW_USERS, USERS)
        store.data.load(store.port, CUSTOMERS)
        store.stop()
        store.start({"MFA_CONNECTIONS_PER_ADDRESS": "4000"})
        fast = mixed.send(store, 0, CONNECTIONS, seconds)
        best = good(fast, seconds)
        print(f"{CONNECTIONS} connections, as fast as answers come: {best:,.0f} a second", flush=True)
        rate = int(TIMES * best)
        probe = Probe(store.port)
        probe.start()
        answers = mixed.send(store, 1, MANY, seconds, rate)
        probe.end()
    finally:
        store.stop()
    taken = [answer.sent for answer in answers if 200 <= answer.status < 300]
    refused = [answer.sent for answer in answers if answer.status == 503]
    other = collections.Counter(answer.status for answer in answers if not 200 <= answer.status < 300)
    del other[503]
    print(f"{rate:,} a second were due over {MANY} connections for {seconds} s: {len(answers):,} sent, {len(taken):,} "
          f"answered, {len(refused):,} refused with 503, others (0: connection closed): {dict(other) or 'none'}")
    if refused:
        print(f"O1  goodput at {TIMES} times the load, of the best: {good(answers, seconds) / best:.2f} (goal 0.8)")
        print(f"O2  p99 of what is taken, ms: {percentile(taken, 99):.0f} (goal at most 1000)")
        print(f"O3  p99 of refusals, ms: {percentile(refused, 99):.0f} (goal at most 100)")
    for path, took in probe.took.items():
        print(f"O4  {path} meanwhile, ms: p99 {percentile(took, 99) * 1000:.0f}, {len(took)} asked; wrong: "
              f"{[one for one in probe.wrong if one.startswith(path)] or 'none'} (goal none)")
    sys.exit(bool(probe.wrong or other))


main()
