"""Pages of the audit trail in a long trail and in a short one, timed in turn."""

import json
import os
import statistics
import subprocess
import sys
import time

import daemon
from client import Client

PAIRS, READS = 9, 60  # rounds at both, and reads of each in a round
GOAL = 1.5


class Trail:
    """A store with so many records, and the requests for its pages."""

    def __init__(self, folder, records):
        self.folder, self.records = folder, records
        process, _ = daemon.start(folder, "off")
        process.terminate()
        process.wait()
        begun = time.perf_counter()
        subprocess.run([os.environ["TRAIL_BIN"], f"{folder}/data", str(records)], check=True)
        print(f"{records:,} records written and listed in {time.perf_counter() - begun:.0f} s", flush=True)
        self.process, self.port = daemon.start(folder, "off")
        self.client = Client(self.port)

    def paths(self, kind):
        """Requests of a kind, spread over the whole trail; the same places in each, as a part of it."""
        for at in range(READS):
            number = 1 + (at * 7919 + 13) * self.records // (READS * 7919 + 13)
            page = at * (self.records // 200 // 100) // READS
            yield "/audit?" + {
                "resource": f"resource=customer/c-{number % (self.records // 10)}",
                "actor": f"actor=user-{at % 200}&pageIndex={page}&size=20",
                "request": f"requestId=r-{number}",
                "everything under": f"resource=customer/*&pageIndex={at}&size=20",
            }[kind]

    def time(self, kind):
        return [self.client.time("GET", path)[0] for path in self.paths(kind)]

    def check(self):
        """The pages show what they must."""
        for kind, count in (("resource", 10), ("actor", self.records // 200), ("request", 1)):
            page = self.client.read(next(self.paths(kind)))
            if page["totalElements"] != count or not page["records"]:
                sys.exit(f"{kind}: {json.dumps(page)[:300]}")

    def stop(self):
        self.process.terminate()
        self.process.wait()


def main():
    folder, many, few = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    short, long = Trail(f"{folder}/short", few), Trail(f"{folder}/long", many)
    wrong = False
    try:
        for trail in (short, long):
            trail.check()
        for number, kind in enumerate(("resource", "actor", "request", "everything under"), 1):
            pairs = []
            for _ in range(PAIRS):
                pairs.append((statistics.median(short.time(kind)), statistics.median(long.time(kind))))
            one, other = (statistics.median(times) for times in zip(*pairs))
            ratio = statistics.median(high / low for low, high in pairs)
            wrong = wrong or ratio > GOAL
            print(f"A{number}  a page by {kind}: {one:.2f} ms in {few:,} records, {other:.2f} ms in {many:,}: "
                  f"{ratio:.2f} (goal {GOAL})", flush=True)
    finally:
        short.stop()
        long.stop()
    sys.exit(wrong)


main()
