"""CPU of a daemon for each read of a customer, with access control and without."""

import re
import statistics
import subprocess
import sys

from daemon import ask, clerk, start

# What access control may cost of a request that is asked for a token.
SHARE_MAX = 0.15
CONNECTIONS = 16


def measure(process, port, token, seconds):
    """Microseconds of CPU for each request of a round."""
    headers = ["-H", f"authorization: Bearer {token}"] if token else []
    command = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds}s", *headers, f"http://127.0.0.1:{port}/customers/c-1"]
    before = daemon.cpu_seconds(process)
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    used = daemon.cpu_seconds(process) - before
    assert "Non-2xx" not in said, said
    return used / int(re.search(r"(\d+) requests in", said).group(1)) * 1e6


def main():
    folder, seconds, rounds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    daemons = {auth: start(f"{folder}/{auth}", auth) for auth in ("on", "off")}
    try:
        tokens = {"on": clerk(daemons["on"][1]), "off": None}
        customer = {"identifier": "c-1", "givenName": "Ama", "surname": "Mensah", "assignedOffice": "north"}
        for auth, (_, port) in daemons.items():
            status, problem = ask(port, "POST", "/customers", customer, tokens[auth])
            assert status == 202, problem
        for auth, (process, port) in daemons.items():
            measure(process, port, tokens[auth], 1)
        figures = {"on": [], "off": []}
        for turn in range(rounds):
            for auth in ("on", "off") if turn % 2 else ("off", "on"):
                figures[auth].append(measure(*daemons[auth], tokens[auth], seconds))
    finally:
        for process, _ in daemons.values():
            process.terminate()
            process.wait()
    on, off = statistics.median(figures["on"]), statistics.median(figures["off"])
    share = (on - off) / on
    print(f"GET /customers/{{id}}: {off:.2f} us of CPU without access control, {on:.2f} us with it")
    print(f"access control takes {share:.1%} of the request (at most {SHARE_MAX:.0%})")
    sys.exit(share > SHARE_MAX)


main()
