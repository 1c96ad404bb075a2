"""The onboarding story by a generated client: story.py URL PASSWORD."""
import sys
from typing import TypeVar

from client import AuthenticatedClient, Client
from client.api.customers import command_customer, create_customer, get_customer
from client.api.instances import create_instance, get_instance, list_instances
from client.api.teller import create_transaction, finish_transaction, unlock_drawer
from client.api.token import create_token
from client.models import (
    CreateTokenJsonBody,
    CreateTokenJsonBodyGrantType,
    CustomerCommand,
    CustomerCommandAction,
    CustomerInput,
    DrawerUnlock,
    FinishTransactionCommand,
    NewInstance,
    NewTransaction,
    NewTransactionTransactionType,
    Problem,
)

T = TypeVar("T")


def good(answer: T | Problem | None) -> T:
    if answer is None or isinstance(answer, Problem):
        raise SystemExit(f"refused: {answer}")
    return answer


def done(answer: object) -> None:
    if isinstance(answer, Problem):
        raise SystemExit(f"refused: {answer}")


def main() -> None:
    url, password = sys.argv[1:]
    login = CreateTokenJsonBody(CreateTokenJsonBodyGrantType.PASSWORD, username="operator", password=password)
    token = good(create_token.sync(client=Client(url), body=login))
    client = AuthenticatedClient(url, token.access_token)

    done(create_customer.sync(client=client, body=CustomerInput("c-700", given_name="Abena", surname="Osei")))
    for action in (CustomerCommandAction.ACTIVATE, CustomerCommandAction.LOCK, CustomerCommandAction.UNLOCK):
        done(command_customer.sync("c-700", client=client, body=CustomerCommand(action)))
    assert good(get_customer.sync("c-700", client=client)).current_state.value == "ACTIVE"
    again = command_customer.sync("c-700", client=client, body=CustomerCommand(CustomerCommandAction.UNLOCK))
    assert isinstance(again, Problem) and again.code == "wrong_state", again
    bad = create_customer.sync(client=client, body=CustomerInput("c-701", surname="x" * 300))
    assert isinstance(bad, Problem) and isinstance(bad.errors, list), bad
    assert bad.errors[0].field == "/surname", bad

    done(create_instance.sync(client=client, body=NewInstance("c-700", "savings")))
    account = good(list_instances.sync(client=client, customer="c-700"))[0].account_identifier
    done(unlock_drawer.sync("desk-2", client=client, body=DrawerUnlock("operator", "4711")))
    for kind, amount in (
        (NewTransactionTransactionType.ACCO, 20.0),
        (NewTransactionTransactionType.CDPT, 30.0),
    ):
        deposit = NewTransaction(kind, "c-700", "savings", account, amount)
        quote = good(create_transaction.sync("desk-2", client=client, body=deposit))
        number = quote.teller_transaction_identifier
        confirm = FinishTransactionCommand.CONFIRM
        done(finish_transaction.sync("desk-2", number, client=client, command=confirm))
    balance = good(get_instance.sync(account, client=client)).balance
    print(f"c-700 has {balance} on {account}")


main()
