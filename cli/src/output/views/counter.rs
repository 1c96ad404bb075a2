//! Which values of tellers and of the money at the counter a table shows.

use super::Currency::{Accounts, PathTeller, Product, Scale};
use super::{View, WIDE, amount, column, moment, money, transaction};

pub const TELLER: View = View::of("tellers").state("/state").columns(&[
    column("code", "/code", 0),
    column("state", "/state", 0),
    column("employee", "/assignedEmployee", 1),
    money("limit", "/cashdrawLimit", 2, Accounts("/tellerAccountIdentifier")),
    column("count-required", "/denominationRequired", 6),
    moment("opened", "/lastOpenedOn", 3),
    column("opened-by", "/lastOpenedBy", 5),
    column("drawer-account", "/tellerAccountIdentifier", 4),
    column("vault-account", "/vaultAccountIdentifier", WIDE),
    column("cheques-account", "/chequesReceivableAccount", WIDE),
    column("over-short-account", "/cashOverShortAccount", WIDE),
    column("created-by", "/createdBy", WIDE),
    moment("created", "/createdOn", WIDE),
    column("modified-by", "/lastModifiedBy", WIDE),
    moment("modified", "/lastModifiedOn", WIDE),
]);

/// The cash of a teller's session.
pub const BALANCE: View = View::of("balances").columns(&[
    column("day", "/day", 0),
    money("on-hand", "/cashOnHand", 0, PathTeller),
    money("received", "/cashReceivedTotal", 0, PathTeller),
    money("disbursed", "/cashDisbursedTotal", 0, PathTeller),
]);

/// Movements of cash in a session.
pub const CASH_ENTRY: View = View::of("movements").columns(&[
    moment("posted", "/transactionDate", 0),
    column("side", "/type", 0),
    transaction("message", "/message", 0),
    money("amount", "/amount", 0, PathTeller),
]);

/// The result of a teller's session.
pub const DAY_REPORT: View = View::of("reports").columns(&[
    amount("number", "/number", 0),
    column("teller", "/tellerCode", 1),
    column("day", "/day", 0),
    column("employee", "/employeeIdentifier", 2),
    money("received", "/cashReceivedTotal", 3, PathTeller),
    money("disbursed", "/cashDisbursedTotal", 3, PathTeller),
    money("expected", "/expectedTotal", 1, PathTeller),
    money("counted", "/countedTotal", 0, PathTeller),
    money("difference", "/difference", 0, PathTeller),
    money("left", "/cashOnHand", 0, PathTeller),
    moment("opened", "/openedOn", 6),
    column("opened-by", "/openedBy", 7),
    moment("closed", "/closedOn", 4),
    column("closed-by", "/closedBy", 5),
    column("office", "/officeIdentifier", 8),
    transaction("movements", "/movements/*/message", WIDE),
]);

/// Ends of the days of an office.
pub const OFFICE_DAY: View = View::of("days").columns(&[
    column("date", "/date", 0),
    amount("number", "/number", 0),
    column("office", "/officeIdentifier", 3),
    moment("ended", "/endedOn", 1),
    column("ended-by", "/endedBy", 2),
    column("sessions", "/sessions/*/tellerCode", WIDE),
    column("exceptions", "/exceptions/*/kind", 1),
    amount("debit", "/totalDebit", 4),
    amount("credit", "/totalCredit", 4),
    moment("from", "/coversFrom", WIDE),
    moment("until", "/coversUntil", WIDE),
    amount("last-entry", "/lastEntry", WIDE),
    column("tellers", "/tellers/*/code", WIDE),
]);

/// Steps of the end of a day.
pub const DAY_STEP: View = View::of("steps").columns(&[
    column("step", "/step", 0),
    column("result", "/result", 0),
    column("detail", "/detail", 0),
]);

/// Counts of the cash.
pub const DENOMINATION: View = View::of("counts").columns(&[
    moment("created", "/createdOn", 0),
    money("counted", "/countedTotal", 0, PathTeller),
    column("entry", "/adjustingJournalEntry", 2),
    column("created-by", "/createdBy", 1),
    column("note", "/note", 1),
]);

pub const TRANSACTION: View = View::of("transactions").state("/state").columns(&[
    column("identifier", "/identifier", 0),
    transaction("type", "/transactionType", 0),
    column("state", "/state", 0),
    column("account", "/customerAccountIdentifier", 0),
    column("target", "/targetAccountIdentifier", 3),
    money("amount", "/amount", 0, Product("/productIdentifier")),
    money("total", "/totalAmount", 1, Product("/productIdentifier")),
    money("charges", "/charges/*/amount", 4, Product("/productIdentifier")),
    column("in-cash", "/chargesIncluded", 5),
    column("customer", "/customerIdentifier", WIDE),
    column("product", "/productIdentifier", WIDE),
    column("clerk", "/clerk", WIDE),
    moment("date", "/transactionDate", WIDE),
    moment("created", "/createdOn", 2),
    moment("finished", "/finishedOn", WIDE),
]);

pub const RECEIPT: View = View::of("receipts").columns(&[
    amount("number", "/number", 0),
    amount("copy", "/copy", 0),
    column("teller", "/tellerCode", 3),
    transaction("type", "/transactionType", 0),
    column("account", "/customerAccountIdentifier", 1),
    column("target", "/targetAccountIdentifier", 5),
    column("customer", "/customerIdentifier", 6),
    column("name", "/customerName", 2),
    money("amount", "/amount", 0, Scale("/currency/scale")),
    money("charges", "/charges/*/amount", 4, Scale("/currency/scale")),
    column("in-cash", "/chargesIncluded", 7),
    money("total", "/totalAmount", 3, Scale("/currency/scale")),
    money("balance", "/balance", 2, Scale("/currency/scale")),
    column("currency", "/currency/code", 4),
    moment("confirmed", "/confirmedOn", 5),
    column("transaction", "/transactionIdentifier", 8),
    moment("issued", "/issuedOn", WIDE),
    column("issued-by", "/issuedBy", WIDE),
    column("office", "/officeIdentifier", WIDE),
    column("office-name", "/officeName", WIDE),
    column("clerk", "/clerk", WIDE),
    column("product", "/productIdentifier", WIDE),
    moment("date", "/transactionDate", WIDE),
    column("entry", "/journalEntryIdentifier", WIDE),
]);
