//! Columns of interest and dividends.

use super::Currency::{PathInstance, Product};
use super::{View, WIDE, amount, column, moment, money};

/// Days of products that were run.
pub const INTEREST_RUN: View = View::of("runs").columns(&[
    column("date", "/date", 0),
    column("product", "/productIdentifier", 0),
    column("outcome", "/outcome", 0),
    amount("accounts", "/accounts", 2),
    amount("accrued", "/accrued", 1),
    money("booked", "/booked", 1, Product("/productIdentifier")),
    money("paid", "/paid", 2, Product("/productIdentifier")),
    amount("payments", "/payments", 3),
    column("code", "/code", 4),
    column("detail", "/detail", WIDE),
    moment("ran", "/ranOn", WIDE),
    column("ran-by", "/ranBy", WIDE),
]);

pub const ACCOUNT_INTEREST: View = View::of("accounts").columns(&[
    column("account", "/accountIdentifier", 0),
    amount("accrued", "/accrued", 0),
    money("paid", "/paidTotal", 0, PathInstance),
    amount("rate", "/rate", 1),
    column("accrued-until", "/accruedUntil", 1),
    column("next-payment", "/nextPayment", 1),
    column("payment-dates", "/payments/*/date", WIDE),
    money("payments", "/payments/*/amount", WIDE, PathInstance),
    column("entries", "/payments/*/journalEntryIdentifier", WIDE),
]);

pub const DIVIDEND: View = View::of("dividends").id("/createdOn").columns(&[
    column("year", "/dueDate/year", 0),
    column("month", "/dueDate/month", 0),
    column("day", "/dueDate/day", 0),
    amount("rate", "/dividendRate", 0),
    amount("accounts", "/accounts", 1),
    amount("amount", "/amount", 0),
    moment("created", "/createdOn", 2),
    column("created-by", "/createdBy", 3),
]);
