//! Ends of the days of an office: one numbered report for each. An addition of this project.

use super::tellers::{TellerState, TransactionType};
use crate::amount::{AMOUNT_BOUND, Amount};
use crate::endpoint::AcceptedAt;
use crate::kind::Kind;
use crate::object::nested;
use crate::rule::*;
use crate::time::{Date, Timestamp};
use crate::wire::{Array, Json, JsonIfAny, Nothing};
use crate::{endpoints, object, words};

words! {
    /// What needs attention before the day is filed.
    pub enum DayExceptionKind {
        /// A teller was not closed.
        OpenTeller = "OPEN_TELLER",
        /// Transactions wait for their confirmation.
        Pending = "PENDING",
        /// A count found cash over or short.
        Difference = "DIFFERENCE",
        /// A teller has not been opened for a long time, or never.
        Dormant = "DORMANT",
        /// A teller or a transaction names an employee or a customer that does not exist.
        Dangling = "DANGLING",
        /// Debits and credits of the ledger are not the same.
        Unbalanced = "UNBALANCED",
    }
}

/// Under a name of its own, because a field is called `date`, too.
const fn day() -> DateRule {
    date()
}

const fn money() -> DecimalRule {
    decimal(-AMOUNT_BOUND, AMOUNT_BOUND)
}

const fn count() -> Integer {
    integer(0, i64::MAX)
}

object! {
    /// How a day is ended.
    pub struct DayEnd {
        /// Whether it is ended although a teller is open; the report then says so.
        leave_open: bool = or(flag(), false),
    }

    /// A teller at the end of a day.
    pub struct DayTeller {
        /// Its code.
        code: String = required(id(32)),
        /// Its state when the report was written.
        state: TellerState = required(word()),
        /// Who works there.
        assigned_employee: Option<String> = optional(line(32)),
        /// When it was opened last.
        last_opened_on: Option<Timestamp> = optional(timestamp()),
        /// The currency of its drawer; null before money has moved.
        currency: Option<String> = optional(line(4)),
        /// The cash in the drawer.
        cash_on_hand: Amount = required(decimal(0, AMOUNT_BOUND)),
        /// Transactions that wait for their confirmation.
        pending_transactions: i64 = required(count()),
    }

    /// A session that ended, in the numbers of its day report.
    pub struct DaySession {
        /// The teller.
        teller_code: String = required(id(32)),
        /// The number of its day report.
        report: i64 = required(integer(1, i64::MAX)),
        /// Who worked there.
        employee_identifier: Option<String> = optional(line(32)),
        /// When it was opened.
        opened_on: Timestamp = required(timestamp()),
        /// When it was closed.
        closed_on: Timestamp = required(timestamp()),
        /// All that came in, cash of the session before included.
        cash_received_total: Amount = required(decimal(0, AMOUNT_BOUND)),
        /// All that went out.
        cash_disbursed_total: Amount = required(decimal(0, AMOUNT_BOUND)),
        /// What its counts found over, or below 0 short; null if the cash was not counted.
        difference: Option<Amount> = optional(money()),
        /// The cash that stayed in the drawer.
        cash_on_hand: Amount = required(decimal(0, AMOUNT_BOUND)),
    }

    /// A vault at the end of a day.
    pub struct DayVault {
        /// Its account.
        account_identifier: String = required(id(34)),
        /// Its currency; null before money has moved.
        currency: Option<String> = optional(line(4)),
        /// Its balance.
        balance: Amount = required(money()),
    }

    /// The transactions of one type in one currency.
    pub struct DayTotal {
        /// The type.
        transaction_type: TransactionType = required(word()),
        /// The currency.
        currency: String = required(line(4)),
        /// How many were confirmed.
        confirmed: i64 = required(count()),
        /// Their amounts.
        amount: Amount = required(money()),
        /// Their charges.
        charges: Amount = required(money()),
        /// How many were cancelled.
        canceled: i64 = required(count()),
    }

    /// Something that needs attention.
    pub struct DayException {
        /// What it is.
        kind: DayExceptionKind = required(word()),
        /// The teller that it is about.
        teller_code: Option<String> = optional(id(32)),
        /// What is the case.
        detail: String = required(text(512)),
    }

    /// What a day of an office came to, at one moment. It is written when the day is ended, and never
    /// changes. What happens later belongs to the next report, so nothing is in two reports or in none.
    pub struct OfficeDay {
        /// Number of the report: 1, 2, 3, ... without gaps for each office.
        number: i64 = required(integer(1, i64::MAX)),
        /// The office.
        office_identifier: String = required(id(32)),
        /// Its name.
        office_name: String = required(line(256)),
        /// The day, in UTC.
        date: Date = required(day()),
        /// When it was ended.
        ended_on: Timestamp = required(timestamp()),
        /// By whom.
        ended_by: String = required(line(256)),
        /// The end of the report before it; the beginning of the day for the first one.
        covers_from: Timestamp = required(timestamp()),
        /// The moment to which everything in it belongs.
        covers_until: Timestamp = required(timestamp()),
        /// The last journal entry that it covers; 0 before the first.
        last_entry: i64 = required(count()),
        /// The tellers of the office, by code.
        tellers: Vec<DayTeller> = required(list(nested(), usize::MAX)),
        /// The sessions that ended, by teller and number.
        sessions: Vec<DaySession> = required(list(nested(), usize::MAX)),
        /// The vaults of its tellers, by account.
        vaults: Vec<DayVault> = required(list(nested(), usize::MAX)),
        /// The transactions that were confirmed or cancelled, by type and currency.
        totals: Vec<DayTotal> = required(list(nested(), usize::MAX)),
        /// Sum of the debit balances of all accounts of the institution.
        total_debit: Amount = required(money()),
        /// Sum of the credit balances.
        total_credit: Amount = required(money()),
        /// What needs attention.
        exceptions: Vec<DayException> = required(list(nested(), usize::MAX)),
    }
}

/// Its kind of record.
pub const KINDS: &[Kind] = &[Kind::of("day", "/offices/{}/days/{}", "", "GetOfficeDay")];

endpoints! {
    application "office-v1";
    /// End a day of an office, which writes its report; a day that was ended is not changed.
    EndOfficeDay { office, date } Post "/offices/{office}/days/{date}" JsonIfAny<DayEnd>
        => AcceptedAt<GetOfficeDay>;
    /// List the reports of the days of an office, the oldest first.
    ListOfficeDays { office } Get "/offices/{office}/days" Nothing => Array<OfficeDay>;
    /// Read the report of a day of an office.
    GetOfficeDay { office, date } Get "/offices/{office}/days/{date}" Nothing => Json<OfficeDay>,
        tag GetOfficeDay;
}
