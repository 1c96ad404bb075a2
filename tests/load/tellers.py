"""Confirmed cash deposits against one daemon (by wrk) and pgbench, round by round in turn."""

import os
import re
import statistics
import subprocess
import sys

import counter
import daemon
from client import Client

TELLERS = 50
ACCOUNTS = 1000


def set_up(port):
    """An office with open and unlocked tellers, a product without charges, and accounts."""
    client, customers = Client(port), [f"c{number}" for number in range(ACCOUNTS)]
    client.batch([("/definitions", counter.product("plain"))])
    counter.open_office(client, TELLERS)
    client.batch([("/instances", {"customerIdentifier": customer, "productIdentifier": "plain"})
                  for customer in customers])
    counter.carry_out(client, [(f"T{at % TELLERS}", counter.quote("ACCO", customer, 100))
                               for at, customer in enumerate(customers)])


def deposits(port, seconds, connections):
    """Confirmations per second, and the answers that were no success."""
    command = ["wrk", "-t", "1", "-c", str(connections), "-d", f"{seconds}s", "-s", "tests/load/tellers.lua",
               f"http://127.0.0.1:{port}", "--", str(TELLERS), str(ACCOUNTS)]
    shown = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    confirmed, wrong, micros = re.search(r"confirmed (\d+) wrong (\d+) in (\d+)", shown).groups()
    return int(confirmed) * 1_000_000 / int(micros), int(wrong)


def pgbench():
    shown = subprocess.run(os.environ["PGBENCH"].split(), check=True, capture_output=True, text=True).stdout
    return float(re.search(r"tps = ([0-9.]+)", shown).group(1))


def main():
    folder, seconds, rounds, connections = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    process, port = daemon.start(folder, "off")
    try:
        set_up(port)
        confirms, transactions = [], []
        for number in range(rounds):
            rate, wrong = deposits(port, seconds, connections)
            confirms.append(rate)
            transactions.append(pgbench())
            print(f"round {number + 1}: {rate:.0f} confirmations/s ({wrong} answers were no success), "
                  f"pgbench {transactions[-1]:.0f} transactions/s", flush=True)
        confirmed, plain = statistics.median(confirms), statistics.median(transactions)
        print(f"medians, {connections} connections: {confirmed:.0f} confirmed deposits/s, "
              f"pgbench {plain:.0f} transactions/s")
        print(f"S4  confirmed deposits beside transactions of pgbench: {confirmed / plain:.3f} (goal 2.5)")
        print(f"S4  the last round beside the first: {confirms[-1] / confirms[0]:.3f} (goal 0.95)")
    finally:
        process.terminate()
        process.wait()


main()
