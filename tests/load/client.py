"""A client of a benchmark: one connection, times in milliseconds. A failing request ends the run."""

import http.client
import json
import statistics
import sys
import time

# Most operations of a batch.
BATCH = 1000
JSON = {"content-type": "application/json"}


def percentile(took, share):
    """The value below which so many of a hundred are."""
    ordered = sorted(took)
    return ordered[min(len(ordered) - 1, len(ordered) * share // 100)]


class Client:
    def __init__(self, port, timeout=600):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)

    def time(self, method, path, body=None):
        """Milliseconds of one request, and its answer."""
        text = json.dumps(body) if body is not None else None
        begun = time.perf_counter()
        try:
            self.connection.request(method, path, text, JSON)
            answer = self.connection.getresponse()
            seen = answer.read()
        except (OSError, http.client.HTTPException) as error:
            sys.exit(f"{method} {path}: no answer: {error}")
        took = (time.perf_counter() - begun) * 1000
        if answer.status > 299:
            sys.exit(f"{method} {path}: {answer.status} {seen[:300].decode(errors='replace')}")
        return took, seen

    def read(self, path):
        return json.loads(self.time("GET", path)[1])

    def median(self, paths):
        """The median of reads; the first of them is not counted."""
        self.time("GET", paths[0])
        return statistics.median(self.time("GET", path)[0] for path in paths)

    def batch(self, operations, size=BATCH):
        """Carries out operations (path, body) or (method, path, body); each must succeed. Their bodies."""
        bodies = []
        for start in range(0, len(operations), size):
            part = [one if len(one) == 3 else ("POST", *one) for one in operations[start : start + size]]
            sent = [{"method": method, "path": path, "body": body} for method, path, body in part]
            results = json.loads(self.time("POST", "/batch", {"operations": sent})[1])["results"]
            failed = next((at for at, result in enumerate(results) if result["status"] > 299), None)
            if failed is not None:
                sys.exit(f"{part[failed][0]} {part[failed][1]} in a batch: {results[failed]}")
            bodies += [result["body"] for result in results]
        return bodies
