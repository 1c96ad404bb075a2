//! Which values of tellers and of the money at the counter a table shows.

use super::{View, WIDE, amount, column};

/// Tellers.
pub const TELLER: View = View {
    plural: "tellers",
    id: "/code",
    state: "/state",
    columns: &[
        column("code", "/code", 0),
        column("state", "/state", 0),
        column("employee", "/assignedEmployee", 1),
        amount("limit", "/cashdrawLimit", 2),
        column("count-required", "/denominationRequired", 6),
        column("opened", "/lastOpenedOn", 3),
        column("opened-by", "/lastOpenedBy", 5),
        column("drawer-account", "/tellerAccountIdentifier", 4),
        column("vault-account", "/vaultAccountIdentifier", WIDE),
        column("cheques-account", "/chequesReceivableAccount", WIDE),
        column("over-short-account", "/cashOverShortAccount", WIDE),
        column("created-by", "/createdBy", WIDE),
        column("created", "/createdOn", WIDE),
        column("modified-by", "/lastModifiedBy", WIDE),
        column("modified", "/lastModifiedOn", WIDE),
    ],
};

/// The cash of a teller's session.
pub const BALANCE: View = View {
    plural: "balances",
    id: "/day",
    state: "",
    columns: &[
        column("day", "/day", 0),
        amount("on-hand", "/cashOnHand", 0),
        amount("received", "/cashReceivedTotal", 0),
        amount("disbursed", "/cashDisbursedTotal", 0),
        column("entries", "/cashEntries/*/amount", WIDE),
    ],
};

/// What became of a teller's day.
pub const DAY_REPORT: View = View {
    plural: "reports",
    id: "/teller",
    state: "",
    columns: &[
        column("teller", "/teller", 0),
        column("day", "/day", 0),
        column("entries", "/entries", 1),
        amount("received", "/received", 0),
        amount("disbursed", "/disbursed", 0),
        amount("expected", "/expected", 0),
        amount("counted", "/counted", 0),
        amount("difference", "/difference", 0),
        amount("left", "/left", 0),
    ],
};

/// Counts of the cash.
pub const DENOMINATION: View = View {
    plural: "counts",
    id: "/createdOn",
    state: "",
    columns: &[
        column("created", "/createdOn", 0),
        amount("counted", "/countedTotal", 0),
        column("entry", "/adjustingJournalEntry", 2),
        column("created-by", "/createdBy", 1),
        column("note", "/note", 1),
    ],
};

/// Transactions at the counter.
pub const TRANSACTION: View = View {
    plural: "transactions",
    id: "/identifier",
    state: "/state",
    columns: &[
        column("identifier", "/identifier", 0),
        column("type", "/transactionType", 0),
        column("state", "/state", 0),
        column("account", "/customerAccountIdentifier", 1),
        column("target", "/targetAccountIdentifier", 3),
        amount("amount", "/amount", 0),
        amount("total", "/totalAmount", 0),
        column("charges", "/charges/*/amount", 4),
        column("in-cash", "/chargesIncluded", 5),
        column("customer", "/customerIdentifier", WIDE),
        column("product", "/productIdentifier", WIDE),
        column("clerk", "/clerk", WIDE),
        column("date", "/transactionDate", WIDE),
        column("created", "/createdOn", 2),
        column("finished", "/finishedOn", WIDE),
    ],
};
