//! Columns of products, accounts and the ledger.

use super::Currency::{self, Accounts, Code, PathAccount, PathInstance, Product, Scale};
use super::{Column, View, WIDE, amount, column, moment, money, transaction};

pub const ACTION: View = View::of("actions").columns(&[
    column("identifier", "/identifier", 0),
    column("name", "/name", 0),
    column("transaction-type", "/transactionType", 0),
    column("description", "/description", 2),
]);

pub const DEFINITION: View = View::of("products").columns(&[
    column("identifier", "/identifier", 0),
    column("name", "/name", 0),
    column("type", "/type", 1),
    column("currency", "/currency/code", 1),
    money("minimum-balance", "/minimumBalance", 2, Scale("/currency/scale")),
    amount("interest", "/interest", 3),
    column("active", "/active", 0),
    column("charges", "/charges/*/name", 4),
    column("description", "/description", WIDE),
    column("scale", "/currency/scale", WIDE),
    column("equity-ledger", "/equityLedgerIdentifier", WIDE),
    column("cash-account", "/cashAccountIdentifier", WIDE),
    column("expense-account", "/expenseAccountIdentifier", WIDE),
    column("accrue-account", "/accrueAccountIdentifier", WIDE),
    column("period", "/term/period", WIDE),
    column("time-unit", "/term/timeUnit", WIDE),
    column("interest-payable", "/term/interestPayable", WIDE),
    column("flexible", "/flexible", WIDE),
]);

pub const DEFINITION_COMMAND: View = View::of("commands").id("/createdOn").columns(&[
    column("action", "/action", 0),
    moment("created", "/createdOn", 0),
    column("created-by", "/createdBy", 1),
    column("note", "/note", 2),
]);

pub const INSTANCE: View = View::of("accounts").state("/state").columns(&[
    column("account", "/accountIdentifier", 0),
    column("customer", "/customerIdentifier", 1),
    column("product", "/productIdentifier", 1),
    column("state", "/state", 0),
    money("balance", "/balance", 0, Product("/productIdentifier")),
    column("opened", "/openedOn", 3),
    moment("last-transaction", "/lastTransactionDate", 4),
    column("alternative-number", "/alternativeAccountNumber", WIDE),
    column("beneficiaries", "/beneficiaries", WIDE),
]);

pub const TRANSACTION_TYPE: View =
    View::of("types of transaction").columns(&[transaction("transaction-type", "/transactionType", 0)]);

pub const LEDGER_ACCOUNT: View = View::of("ledger accounts").columns(&[
    column("identifier", "/identifier", 0),
    column("name", "/name", 2),
    column("kind", "/kind", 0),
    column("role", "/role", 3),
    column("currency", "/currency", 1),
    money("balance", "/balance", 0, Code("/currency")),
    money("debits", "/debitTotal", 4, Code("/currency")),
    money("credits", "/creditTotal", 4, Code("/currency")),
    column("ledger", "/ledgerIdentifier", WIDE),
    column("customer", "/customerIdentifier", WIDE),
    moment("created", "/createdOn", WIDE),
    moment("last-entry", "/lastEntryOn", WIDE),
]);

/// Lines of a ledger account.
pub const ACCOUNT_ENTRY: View =
    View::of("entries").id("/journalEntryIdentifier").columns(&entry_columns(PathAccount));

/// Lines of an account of a customer.
pub const INSTANCE_ENTRY: View = View { columns: &entry_columns(PathInstance), ..ACCOUNT_ENTRY };

const fn entry_columns(currency: Currency) -> [Column; 11] {
    [
        column("sequence", "/sequence", 0),
        moment("posted", "/postedOn", 0),
        transaction("type", "/type", 1),
        column("side", "/side", 0),
        money("amount", "/amount", 0, currency),
        money("balance", "/balance", 0, currency),
        transaction("message", "/message", 2),
        column("teller", "/tellerCode", 3),
        column("role", "/role", WIDE),
        moment("business-date", "/transactionDate", WIDE),
        column("entry", "/journalEntryIdentifier", WIDE),
    ]
}

pub const JOURNAL_ENTRY: View = View::of("entries").id("/identifier").columns(&[
    column("sequence", "/sequence", 0),
    moment("posted", "/postedOn", 0),
    transaction("type", "/type", 0),
    column("accounts", "/lines/*/accountIdentifier", 1),
    column("sides", "/lines/*/side", 3),
    money("amounts", "/lines/*/amount", 2, Accounts("/lines/*/accountIdentifier")),
    column("teller", "/tellerCode", 4),
    column("clerk", "/clerk", 5),
    transaction("message", "/message", 6),
    moment("business-date", "/transactionDate", WIDE),
    column("transaction", "/tellerTransactionIdentifier", WIDE),
    column("identifier", "/identifier", WIDE),
]);

pub const TRIAL_BALANCE: View = View::of("accounts with entries").columns(&[
    column("account", "/accountIdentifier", 0),
    column("kind", "/kind", 1),
    money("debit", "/debit", 0, Accounts("/accountIdentifier")),
    money("credit", "/credit", 0, Accounts("/accountIdentifier")),
]);

pub const STATEMENT: View = View::of("lines").id("/sequence").columns(&[
    moment("posted", "/postedOn", 0),
    transaction("type", "/type", WIDE),
    transaction("message", "/message", 0),
    money("debit", "/debit", 0, PathInstance),
    money("credit", "/credit", 0, PathInstance),
    money("balance", "/balance", 0, PathInstance),
]);
