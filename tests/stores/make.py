"""A store with something of everything, and what reads of it show; see make."""

import base64
import hashlib
import http.client
import json
import signal
import sys

from daemon import PASSWORD, ask, person, start

PIN = "4711"
PIXEL = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")

class Institution:
    def __init__(self, port):
        self.port, self.token = port, person(port, "ama", "administrator")

    def send(self, method, path, body=None, expected=(200, 201, 202)):
        status, answer = ask(self.port, method, path, body, self.token)
        assert status in expected, (method, path, status, answer)
        return answer

    def upload(self, path, name):
        edge = "store-edge"
        part = f'--{edge}\r\ncontent-disposition: form-data; name="{name}"; filename="a.png"\r\ncontent-type: image/png\r\n\r\n'
        body = part.encode() + PIXEL + f"\r\n--{edge}--\r\n".encode()
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        headers = {"content-type": f"multipart/form-data; boundary={edge}", "authorization": f"Bearer {self.token}"}
        connection.request("POST", path, body, headers)
        answer = connection.getresponse()
        assert answer.status == 202, answer.read()

    def read(self, path):
        """What a read shows: its JSON, or the hash of its bytes; None where the program has no such read."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        connection.request("GET", path, headers={"authorization": f"Bearer {self.token}"})
        answer = connection.getresponse()
        body = answer.read()
        if answer.status == 404 and json.loads(body)["code"] == "route_not_found":
            return None
        assert answer.status == 200, (path, answer.status, body)
        if "json" in answer.getheader("content-type"):
            # Amounts stay texts, so that no digit of them is lost.
            return json.loads(body, parse_float=lambda text: {"decimal": text})
        return hashlib.sha256(body).hexdigest()

def people(bank):
    bank.send("POST", "/offices", {"identifier": "head", "name": "Head office"})
    bank.send("POST", "/offices/head", {"identifier": "accra", "name": "Accra"})
    bank.send("PUT", "/offices/accra/address", {"street": "1 High Street", "city": "Accra", "countryCode": "GH", "country": "Ghana"})
    bank.send("POST", "/employees", {"identifier": "esi", "givenName": "Esi", "surname": "Owusu", "assignedOffice": "accra"})
    bank.send("PUT", "/employees/esi/contacts", [{"type": "EMAIL", "group": "BUSINESS", "value": "esi@example.org"}])
    bank.send("POST", "/users", {"identifier": "kofi", "role": "teller", "password": "first password"})

    key = {"publicKeyMod": (1 << 2048) - 1942289, "publicKeyExp": 65537}
    bank.send("PUT", "/applications/crm-v1/signatures/2031-05-06T10_11_12", key)
    for number, (given, surname) in enumerate([("Akosua", "Frimpong"), ("Ólafur", "Þórsson"), ("Νίκος", "Παππάς")]):
        bank.send("POST", "/customers", {
            "identifier": f"c-{number}", "type": "PERSON", "givenName": given, "surname": surname, "dateOfBirth": {"year": 1980, "month": 2, "day": 29},
            "assignedOffice": "accra", "contactDetails": [{"type": "PHONE", "group": "PRIVATE", "value": f"+233 20 000 00{number}", "preferenceLevel": 1, "validated": True}],
            "customValues": [{"catalogIdentifier": "notes", "fieldIdentifier": "text", "value": "x" * 4000}],
            "address": {"street": "2 Low Street", "city": "Accra", "countryCode": "GH", "country": "Ghana"}})
        bank.send("POST", f"/customers/c-{number}/commands", {"action": "ACTIVATE", "comment": "known in person"})
    bank.send("POST", "/customers/c-2/commands", {"action": "LOCK"})
    bank.send("POST", "/customers/c-0/identifications", {"type": "passport", "number": "G-77", "expirationDate": {"year": 2040, "month": 1, "day": 31}, "issuer": "Accra"})
    bank.upload("/customers/c-0/identifications/G-77/scans?scanIdentifier=front&description=front", "image")
    bank.upload("/customers/c-0/portrait", "portrait")

def money(bank):
    bank.send("POST", "/definitions", {
        "type": "SAVINGS", "identifier": "saver", "name": "Saver", "currency": {"code": "GHS", "name": "Cedi", "sign": "GH₵", "scale": 2},
        "minimumBalance": 10, "equityLedgerIdentifier": "9100", "cashAccountIdentifier": "7300", "expenseAccountIdentifier": "3900",
        "accrueAccountIdentifier": "8100", "interest": 2.5, "term": {"period": 12, "timeUnit": "MONTH", "interestPayable": "ANNUALLY"},
        "charges": [{"actionIdentifier": "Deposit", "incomeAccountIdentifier": "income", "name": "Deposit", "proportional": False, "amount": 1.5}]})
    bank.send("POST", "/definitions/saver/commands", {"action": "ACTIVATE"})
    for number in range(3):
        bank.send("POST", "/instances", {"customerIdentifier": f"c-{number}", "productIdentifier": "saver", "beneficiaries": ["Ama"]})
    for code in ["T1", "T2"]:
        bank.send("POST", "/offices/accra/teller", {
            "code": code, "password": PIN, "cashdrawLimit": 5000, "tellerAccountIdentifier": f"drawer-{code}", "vaultAccountIdentifier": "vault",
            "chequesReceivableAccount": "cheques", "cashOverShortAccount": "over-short", "denominationRequired": False})
    commands = "/offices/accra/teller/T1/commands"
    bank.send("POST", commands, {"action": "OPEN", "adjustment": "DEBIT", "amount": 1000, "assignedEmployeeIdentifier": "ama"})
    bank.send("POST", "/teller/T1/drawer", {"employeeIdentifier": "ama", "password": PIN})
    for number, (kind, amount, command) in enumerate([
            ("ACCO", 100, "CONFIRM"), ("CDPT", 250.75, "CONFIRM"), ("CWDL", 40, "CANCEL"), ("CWDL", 20.05, "CONFIRM"), ("CDPT", 5, None)]):
        made = bank.send("POST", "/teller/T1/transactions", {
            "transactionType": kind, "transactionDate": "2026-11-22T10:00:00Z", "customerIdentifier": "c-0", "productIdentifier": "saver",
            "customerAccountIdentifier": "c-0.9100.00001", "clerk": "ama", "amount": amount})
        if command:
            bank.send("POST", f"/teller/T1/transactions/{made['tellerTransactionIdentifier']}?command={command}&charges=excluded")
    bank.send("POST", "/configuration/email", {
        "identifier": "mail", "host": "mail.example.org", "port": "465", "protocol": "smtps", "username": "bank@example.org", "app_password": "kept secret"})
    bank.send("POST", "/configuration/sms", {"identifier": "text", "auth_token": "kept token", "account_sid": "AC1", "sender_number": "Bank"})

PATHS = """/offices /offices/head /offices/head/branches /offices/accra /employees /employees/esi /employees/esi/contacts
/users /users/kofi /roles /permittablegroups /applications /applications/crm-v1/signatures
/customers?includeClosed=true /customers/c-0 /customers/c-1 /customers/c-2 /customers/c-0/commands /customers/c-2/commands
/customers/c-0/identifications /customers/c-0/identifications/G-77 /customers/c-0/identifications/G-77/scans
/customers/c-0/identifications/G-77/scans/front/image /customers/c-0/portrait
/actions /definitions /definitions/saver /definitions/saver/commands /definitions/saver/instances
/instances?customer=c-0 /instances/c-0.9100.00001 /instances/c-0.9100.00001/entries /instances/transactiontypes?customer=c-0
/ledger/accounts?size=100 /ledger/accounts/vault /ledger/accounts/vault/entries /ledger/journal /ledger/trial-balance
/offices/accra/teller /offices/accra/teller/T1 /offices/accra/teller/T2 /offices/accra/teller/T1/balance
/teller/T1/transactions
/configuration/email /configuration/email/mail /configuration/sms /configuration/sms/text""".split()

def main():
    folder = sys.argv[1]
    process, port = start(folder, "on")
    try:
        bank = Institution(port)
        people(bank)
        money(bank)
        shown = {path: seen for path in PATHS if (seen := bank.read(path)) is not None}
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait() == 0
    with open(f"{folder}/shown.json", "w", encoding="utf-8") as file:
        json.dump({"password": PASSWORD, "shown": shown}, file, ensure_ascii=False, indent=0)


main()
