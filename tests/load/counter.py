"""The counter of a benchmark: an office with open tellers, products, accounts and deposits."""

PIN = "4711"
# Most operations of a batch that carry a password.
PASSWORDS = 100
OFFICE = "accra"


def product(identifier, interest=None):
    """A savings product without charges."""
    return {
        "type": "SAVINGS",
        "identifier": identifier,
        "name": identifier.capitalize(),
        "minimumBalance": 0,
        "charges": [],
        "currency": {"code": "USD", "name": "Dollar", "sign": "$", "scale": 2},
        "equityLedgerIdentifier": "9100",
        "cashAccountIdentifier": "7300",
        "expenseAccountIdentifier": f"3900-{identifier}" if interest else "3900",
        "accrueAccountIdentifier": f"8100-{identifier}" if interest else "8100",
        "interest": interest,
        "flexible": True,
        "term": {"period": 12, "timeUnit": "MONTH", "interestPayable": "ANNUALLY"},
    }


def account(customer):
    """The first account of a customer."""
    return f"{customer}.9100.00001"


def quote(kind, customer, amount, sold="plain"):
    return {
        "transactionType": kind,
        "customerIdentifier": customer,
        "productIdentifier": sold,
        "customerAccountIdentifier": account(customer),
        "amount": amount,
    }


def tellers(count):
    return [f"T{number}" for number in range(count)]


def open_office(client, count):
    """An office with so many open and unlocked tellers."""
    client.batch([("/offices", {"identifier": OFFICE, "name": "Accra"})])
    client.batch(
        [
            (
                f"/offices/{OFFICE}/teller",
                {
                    "code": code,
                    "password": PIN,
                    "cashdrawLimit": 1000,
                    "tellerAccountIdentifier": f"drawer-{code}",
                    "vaultAccountIdentifier": "vault",
                    "chequesReceivableAccount": "cheques",
                    "cashOverShortAccount": "over-short",
                },
            )
            for code in tellers(count)
        ],
        PASSWORDS,
    )
    client.batch(
        [
            (
                f"/offices/{OFFICE}/teller/{code}/commands",
                {
                    "action": "OPEN",
                    "adjustment": "DEBIT",
                    "amount": 500,
                    "assignedEmployeeIdentifier": f"e-{code}",
                },
            )
            for code in tellers(count)
        ]
    )
    for code in tellers(count):
        # No batch can unlock a drawer.
        client.time("POST", f"/teller/{code}/drawer", {"employeeIdentifier": f"e-{code}", "password": PIN})


def carry_out(client, quotes):
    """Creates transactions, each (teller, body), and confirms them."""
    paths = [f"/teller/{code}/transactions" for code, _ in quotes]
    created = client.batch([(path, body) for path, (_, body) in zip(paths, quotes)])
    identifiers = [body["tellerTransactionIdentifier"] for body in created]
    client.batch([(f"{path}/{one}?command=CONFIRM", None) for path, one in zip(paths, identifiers)])
