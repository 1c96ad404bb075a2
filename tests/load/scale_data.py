"""The data of tests/load/scale, all of it made through the interface, and how fast each kind was made."""

import concurrent.futures
import datetime
import json
import os
import subprocess
import sys
import time

import counter
import daemon
from client import BATCH, Client

# Who loads at the same time, each with tellers of its own. On PostgreSQL batches beside each other would be in each
# other's way: each is one transaction, and all open accounts under the same ledger.
LOADERS = {"embedded": 2, "postgres": 1}
TELLERS = 20
# The transactions of a teller, by a query.
OFFICE_TELLER = "/teller/T0/transactions?{}"
USERS = 200
INTEREST_PRODUCTS = 10
# Interest is run for the days since then; the first of them before the small store is measured.
DAYS, FIRST_DAYS = 390, 10
GIVEN = (
    "Ama Kofi Esi Kwame Abena Yaw Akua Kojo Adwoa Kwesi Afia Yaa Efua Kwabena Araba Nana Fatou Musa Aisha "
    "Seydou Grace Samuel Ruth Daniel Mercy Peter Joy Isaac Hope Moses Naomi Elias"
).split()
SURNAMES = (
    "Mensah Owusu Boateng Asante Osei Agyeman Appiah Addo Ansah Darko Antwi Frimpong Amoah Ofori Sarpong "
    "Quaye Tetteh Lartey Nkrumah Danso Acheampong Badu Gyasi Kyei Obeng Adjei Bediako Donkor Yeboah Asamoah Baah "
    "Dapaah"
).split()
SYLLABLES = "ba ko li mu ne sa to wi du fe ga ho je ka lo ma".split()


def customer(number):
    return f"c-{number:08d}"


def surname(number):
    """One of the common names, and four syllables that spell the number: no two have the same name."""
    spelled = "".join(SYLLABLES[number * 40503 % 65536 >> shift & 15] for shift in (12, 8, 4, 0))
    return f"{SURNAMES[(number + number // 65536) % 32]}-{spelled.capitalize()}"


def given(number):
    return GIVEN[number // 7 % 32]


def phone(number):
    return f"+2332{number:08d}"


def customer_body(number, identifier=None):
    """A customer of about 1 KB."""
    return {
        "identifier": identifier or customer(number),
        "type": "PERSON",
        "givenName": given(number),
        "middleName": GIVEN[number // 224 % 32],
        "surname": surname(number),
        "dateOfBirth": {"year": 1950 + number % 50, "month": number % 12 + 1, "day": number % 28 + 1},
        "member": True,
        "accountBeneficiary": f"{given(number + 9)} {surname(number + 1)}",
        "assignedOffice": f"office-{number % 50}",
        "assignedEmployee": f"clerk-{number % 400}",
        "address": {
            "street": f"{number} Ring Road",
            "city": "Accra",
            "region": "Greater Accra",
            "postalCode": f"GA-{number % 999}",
            "countryCode": "GH",
            "country": "Ghana",
        },
        "contactDetails": [
            {"type": "MOBILE", "group": "PRIVATE", "value": phone(number), "preferenceLevel": 1},
            {
                "type": "EMAIL",
                "group": "PRIVATE",
                "preferenceLevel": 2,
                "value": f"{given(number).lower()}.{surname(number).lower()}@example.org",
            },
        ],
        "applicationDate": "2024-03-05",
    }


def shared_out(engine, work, parts):
    """As many at a time as load an engine; the first that fails ends the run."""
    with concurrent.futures.ThreadPoolExecutor(LOADERS[engine]) as pool:
        list(pool.map(work, parts))


def day_before(days):
    return (datetime.datetime.now(datetime.timezone.utc).date() - datetime.timedelta(days=days)).isoformat()


class Data:
    """What is in the store of one daemon, and what made it."""

    def __init__(self, folder, engine, deposits):
        self.folder, self.engine, self.share = folder, engine, deposits
        self.customers = self.deposits = 0

    def say(self, what, count, begun):
        took = time.perf_counter() - begun
        print(f"{self.engine}: {count:,} {what} in {took:.1f} s, {count / took:,.0f} a second", flush=True)

    def past(self, port):
        """Products that pay interest, each with an account, made by a daemon whose clock is in the past."""
        client = Client(port)
        names = [f"gain-{number}" for number in range(INTEREST_PRODUCTS)]
        client.batch([("/definitions", counter.product("plain"))])
        client.batch([("/definitions", counter.product(name, 2.5)) for name in names])
        client.batch([(f"/definitions/{name}/commands", {"action": "ACTIVATE"}) for name in names])
        counter.open_office(client, TELLERS)
        client.batch(
            [
                ("/instances", {"customerIdentifier": f"saver-{name}", "productIdentifier": name})
                for name in names
            ]
        )
        counter.carry_out(
            client, [("T0", counter.quote("ACCO", f"saver-{name}", 900, name)) for name in names]
        )

    def run_interest(self, port, until=1):
        """Runs interest for the days up to so many days ago."""
        begun, client = time.perf_counter(), Client(port)
        before = client.read("/interest/runs?size=1")["totalElements"]
        order = (
            {"date": day_before(until)} if before else {"date": day_before(until), "from": day_before(DAYS)}
        )
        client.time("POST", "/interest/runs", order)
        self.say(
            "days of products run for interest",
            client.read("/interest/runs?size=1")["totalElements"] - before,
            begun,
        )

    def staff(self, port, users):
        """Offices, employees, and people with a login."""
        client = Client(port)
        client.batch([("/offices", {"identifier": f"office-{n}", "name": f"Office {n}"}) for n in range(50)])
        client.batch(
            [
                (
                    "/employees",
                    {
                        "identifier": f"clerk-{n}",
                        "givenName": given(n),
                        "surname": surname(n),
                        "assignedOffice": f"office-{n % 50}",
                    },
                )
                for n in range(400)
            ]
        )
        self.people(port, 0, users)

    def people(self, port, first, last):
        client, begun = Client(port), time.perf_counter()
        client.batch(
            [
                ("/users", {"identifier": f"user-{n}", "role": "clerk", "password": daemon.PASSWORD})
                for n in range(first, last)
            ],
            counter.PASSWORDS,
        )
        self.say("users", last - first, begun)

    def load(self, port, upto):
        """Customers up to a number, an account for each, and deposits to the stated share of the accounts."""
        first, last = self.customers, upto
        self.import_customers(port, first, last)
        numbers = [range(start, min(start + BATCH, last)) for start in range(first, last, BATCH)]
        self.accounts(port, numbers, last - first)
        self.money(port, numbers, last - first)
        self.customers = last

    def import_customers(self, port, first, last):
        path = f"{self.folder}/rows.jsonl"
        with open(path, "w") as file:
            for number in range(first, last):
                file.write(json.dumps(customer_body(number)) + "\n")
        command = [
            os.environ["MFA_BIN"],
            "customers",
            "import",
            path,
            "-q",
            "--report",
            f"{self.folder}/report.csv",
            "--failed",
            f"{self.folder}/failed.csv",
        ]
        environment = {"HOME": self.folder, "PATH": os.environ["PATH"], "MFA_URL": f"http://127.0.0.1:{port}"}
        begun = time.perf_counter()
        done = subprocess.run(command, env=environment, stdout=subprocess.DEVNULL)
        if done.returncode:
            sys.exit(f"mfa customers import ended with {done.returncode}")
        self.say("customers by mfa customers import", last - first, begun)
        os.remove(path)

    def accounts(self, port, numbers, count):
        def create(part):
            Client(port).batch(
                [
                    ("/instances", {"customerIdentifier": customer(number), "productIdentifier": "plain"})
                    for number in part
                ]
            )

        begun = time.perf_counter()
        shared_out(self.engine, create, numbers)
        self.say("accounts by POST /batch", count, begun)

    def gets_money(self, number):
        """Whether an account gets a deposit: the stated share of them does."""
        return int((number + 1) * self.share) > int(number * self.share)

    def money(self, port, numbers, count):
        """Every second account that gets money is opened with it; the others are opened first."""

        def is_opened_with_it(number):
            return self.gets_money(number) and number // 2 % 2 == 0

        def activate(part):
            Client(port).batch(
                [
                    (f"/instances/{counter.account(customer(number))}?command=ACTIVATE", None)
                    for number in part
                    if not is_opened_with_it(number)
                ]
            )

        loaders = LOADERS[self.engine]

        def deposit(part):
            quotes = []
            for number in filter(self.gets_money, part):
                # Batches at the same time are of different tellers, who would wait for each other.
                code = f"T{part.start // BATCH % loaders + loaders * (number // 7 % (TELLERS // loaders))}"
                kind = "ACCO" if is_opened_with_it(number) else "CDPT"
                quotes.append((code, counter.quote(kind, customer(number), 100 + number % 50)))
            counter.carry_out(Client(port), quotes)

        begun = time.perf_counter()
        shared_out(self.engine, activate, numbers)
        opened = sum(not is_opened_with_it(number) for part in numbers for number in part)
        self.say("accounts activated", opened, begun)
        begun = time.perf_counter()
        shared_out(self.engine, deposit, numbers)
        made = sum(map(self.gets_money, (number for part in numbers for number in part)))
        self.deposits += made
        self.say("confirmed deposits (created, confirmed, an entry each)", made, begun)
