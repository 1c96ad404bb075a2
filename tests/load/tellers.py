"""Confirmed cash deposits against one daemon (by wrk) and pgbench, round by round in turn."""

import http.client
import json
import os
import re
import statistics
import subprocess
import sys

import daemon

TELLERS = 50
ACCOUNTS = 1000
# Most operations of a batch, and most of them that carry a password.
BATCH, PASSWORDS = 1000, 100


def batch(connection, operations, size=BATCH):
    """Carries out operations; each must succeed. Their bodies."""
    bodies = []
    for start in range(0, len(operations), size):
        part = operations[start:start + size]
        sent = [{"method": "POST", "path": path, "body": body} for path, body in part]
        connection.request("POST", "/batch", json.dumps({"operations": sent}),
                           {"content-type": "application/json"})
        answer = connection.getresponse()
        results = json.loads(answer.read())
        failed = [results] if answer.status != 200 else [r for r in results["results"] if r["status"] > 299]
        if failed:
            sys.exit(f"cannot be set up: {failed[:1]}")
        bodies += [result["body"] for result in results["results"]]
    return bodies


def unlock(connection, teller):
    """Makes a teller ACTIVE; no batch can do that."""
    body = json.dumps({"employeeIdentifier": f"e-{teller}", "password": "4711"})
    connection.request("POST", f"/teller/{teller}/drawer", body, {"content-type": "application/json"})
    answer = connection.getresponse()
    if answer.status != 200:
        sys.exit(f"{teller} cannot be unlocked: {answer.read()}")
    answer.read()


def deposit(kind, number, amount):
    return {"transactionType": kind, "customerIdentifier": f"c{number}", "productIdentifier": "plain",
            "customerAccountIdentifier": f"c{number}.9100.00001", "amount": amount}


def set_up(port):
    """An office with open and unlocked tellers, a product without charges, and accounts."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    product = {
        "type": "SAVINGS", "identifier": "plain", "name": "Plain", "minimumBalance": 0, "charges": [],
        "currency": {"code": "USD", "name": "Dollar", "sign": "$", "scale": 2},
        "equityLedgerIdentifier": "9100", "cashAccountIdentifier": "7300", "expenseAccountIdentifier": "3900",
        "accrueAccountIdentifier": "8100",
        "term": {"period": 12, "timeUnit": "MONTH", "interestPayable": "MATURITY"}}
    batch(connection, [("/offices", {"identifier": "accra", "name": "Accra"}), ("/definitions", product)])
    tellers = [f"T{number}" for number in range(TELLERS)]
    batch(connection, [("/offices/accra/teller", {
        "code": code, "password": "4711", "cashdrawLimit": 1000, "tellerAccountIdentifier": f"drawer-{code}",
        "vaultAccountIdentifier": "vault", "chequesReceivableAccount": "cheques",
        "cashOverShortAccount": "over-short"}) for code in tellers], PASSWORDS)
    batch(connection, [(f"/offices/accra/teller/{code}/commands", {
        "action": "OPEN", "adjustment": "DEBIT", "amount": 500, "assignedEmployeeIdentifier": f"e-{code}"})
        for code in tellers])
    for code in tellers:
        unlock(connection, code)
    batch(connection, [("/instances", {"customerIdentifier": f"c{number}", "productIdentifier": "plain"})
                       for number in range(ACCOUNTS)])
    opened = [(f"/teller/{tellers[number % TELLERS]}/transactions", deposit("ACCO", number, 100))
              for number in range(ACCOUNTS)]
    quoted = [body["tellerTransactionIdentifier"] for body in batch(connection, opened)]
    batch(connection, [(f"{path}/{quote}?command=CONFIRM", None) for (path, _), quote in zip(opened, quoted)])


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
              f"pgbench {plain:.0f} transactions/s, ratio {confirmed / plain:.2f} (goal: at least 2)")
    finally:
        process.terminate()
        process.wait()


main()
