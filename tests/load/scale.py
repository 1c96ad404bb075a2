"""Lists, searches and creates of customers: with a thousand of them, then with many."""

import http.client
import json
import os
import statistics
import subprocess
import sys
import time

import daemon

SMALL = 1000
LISTERS = 8
CREATES = 400
QUIET = 10


def rows(path, first, last):
    with open(path, "w") as file:
        file.write("identifier,givenName,surname,dateOfBirth,member,assignedOffice,address.street,address.city,"
                   "address.countryCode,address.country\n")
        for n in range(first, last):
            file.write(f"c-{n:08d},Ama {n % 977},Mensah {n * 7919 % 39989},1990-{n % 12 + 1:02d}-{n % 28 + 1:02d},"
                       f"true,office-{n % 50},{n} Ring Road,Accra,GH,Ghana\n")


class Client:
    def __init__(self, port):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)

    def time(self, method, path, body=None):
        """Milliseconds of one request, which must succeed, and its answer."""
        begun = time.perf_counter()
        self.connection.request(method, path, body, {"content-type": "application/json"})
        answer = self.connection.getresponse()
        text = answer.read()
        took = (time.perf_counter() - begun) * 1000
        if answer.status > 299:
            sys.exit(f"{method} {path}: {answer.status} {text[:300]}")
        return took, text

    def median(self, path, times=21):
        self.time("GET", path)
        return statistics.median(self.time("GET", path)[0] for _ in range(times))


def creates(client, prefix, count=CREATES):
    """How long creates take, sorted."""
    took = []
    for n in range(count):
        body = json.dumps({"identifier": f"{prefix}-{n}", "givenName": "Efua", "surname": "Owusu"})
        took.append(client.time("POST", "/customers", body)[0])
    return sorted(took)


def beside_listers(port, prefix):
    """Creates while clients list all the time."""
    path = f"http://127.0.0.1:{port}/customers?pageIndex=7&sortColumn=surname"
    wrk = ["wrk", "-t", "1", "-c", str(LISTERS), "-d", "300s", path]
    listers = subprocess.Popen(wrk, stdout=subprocess.DEVNULL)
    time.sleep(1)
    try:
        return creates(Client(port), prefix)
    finally:
        listers.terminate()
        listers.wait()


def measure(port, count, prefix):
    # What an import leaves to be done in the background is no part of a read.
    time.sleep(QUIET)
    client = Client(port)
    begun = time.perf_counter()
    client.time("GET", "/customers?sortColumn=surname")
    first = (time.perf_counter() - begun) * 1000
    last = count // 20 - 1
    figures = {
        "read by id": client.median(f"/customers/c-{count // 2:08d}", 51),
        "first page": client.median("/customers", 51),
        "page 10,000, or the last": client.median(f"/customers?pageIndex={min(last, 10_000)}", 51),
        "first page, the last first": client.median("/customers?sortDirection=DESC", 51),
        "sorted by surname": client.median("/customers?sortColumn=surname&sortDirection=DESC"),
        "sorted by surname, the last page": client.median(f"/customers?sortColumn=surname&pageIndex={last}"),
        "term with many hits": client.median("/customers?term=MENSAH"),
        "term with few hits": client.median("/customers?term=mensah%20777"),
        "term with none": client.median("/customers?term=nothing%20has%20this"),
        "term that is an identifier": client.median(f"/customers?term=c-{count // 3:08d}"),
    }
    idle = creates(client, f"{prefix}-idle")
    figures["create"] = statistics.median(idle)
    busy = beside_listers(port, f"{prefix}-busy")
    percentile = (CREATES * 99) // 100
    figures["create, p99, idle"] = idle[percentile]
    figures["create, p99, beside 8 who list"] = busy[percentile]
    print(f"{count} customers: the first list by surname took {first:.0f} ms", flush=True)
    return figures


def memory(process):
    with open(f"/proc/{process.pid}/status") as file:
        return int(next(line for line in file if line.startswith("VmRSS")).split()[1]) // 1024


def main():
    folder, count = sys.argv[1], int(sys.argv[2])
    process, port = daemon.start(folder, "off")
    environment = {"HOME": folder, "PATH": os.environ["PATH"], "MFA_URL": f"http://127.0.0.1:{port}"}

    def load(first, last):
        path = f"{folder}/rows.csv"
        rows(path, first, last)
        begun = time.perf_counter()
        command = [os.environ["MFA_BIN"], "customers", "import", path, "-q", "--report", f"{folder}/report.csv",
                   "--failed", f"{folder}/failed.csv"]
        subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
        took = time.perf_counter() - begun
        print(f"{last - first} customers imported, {(last - first) / took:.0f} a second", flush=True)

    try:
        load(0, SMALL)
        small = measure(port, SMALL, "s")
        load(SMALL, count)
        large = measure(port, count, "l")
        print(f"{'':36}{SMALL:>12,}{count:>12,}{'ratio':>8}")
        for name, before in small.items():
            print(f"{name:36}{before:>9.2f} ms{large[name]:>9.2f} ms{large[name] / before:>8.2f}")
        print(f"the daemon takes {memory(process)} MiB")
        flat = ["read by id", "first page", "page 10,000, or the last", "create"]
        pages = max(large[name] / small[name] for name in flat)
        print(f"C1  worst ratio of read, first page, page 10,000, create: {pages:.2f} (goal 1.5)")
        terms = max(took for name, took in large.items() if name.startswith("term"))
        sort = max(took for name, took in large.items() if name.startswith("sorted"))
        print(f"C2  slowest term {terms:.1f} ms (goal 25), slowest sorted list {sort:.1f} ms (goal 50)")
        beside = large["create, p99, beside 8 who list"] / large["create, p99, idle"]
        print(f"C7  p99 of creates beside 8 who list, against idle: {beside:.1f} (goal 5)")
    finally:
        process.terminate()
        process.wait()


main()
