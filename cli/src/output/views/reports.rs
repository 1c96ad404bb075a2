//! Columns of reports.

use super::Currency::Code;
use super::{View, amount, column, money};

/// Days of the cash of an office.
pub const CASH_DAY: View = View::of("drawers in which cash has moved").columns(&[
    column("date", "/date", 0),
    column("currency", "/currency", 1),
    money("received", "/received", 2, Code("/currency")),
    money("disbursed", "/disbursed", 2, Code("/currency")),
    money("over", "/over", 3, Code("/currency")),
    money("short", "/short", 3, Code("/currency")),
    money("cash-on-hand", "/cashOnHand", 0, Code("/currency")),
]);

/// Months of the accounts of a product.
pub const DEPOSIT_MONTH: View = View::of("months").columns(&[
    column("month", "/month", 0),
    column("currency", "/currency", 4),
    money("paid-in", "/paidIn", 1, Code("/currency")),
    money("paid-out", "/paidOut", 1, Code("/currency")),
    money("balance", "/balance", 0, Code("/currency")),
    amount("opened", "/opened", 3),
    amount("closed", "/closed", 3),
    amount("open", "/open", 2),
]);

pub const CUSTOMER_MONTH: View = View::of("months").columns(&[
    column("month", "/month", 0),
    amount("created", "/created", 1),
    amount("closed", "/closed", 1),
    amount("reopened", "/reopened", 2),
    amount("open", "/open", 0),
]);
