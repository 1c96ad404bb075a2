//! Day reports of a teller: what each session came to. An addition of this project.

use crate::amount::{AMOUNT_BOUND, Amount};
use crate::object;
use crate::object::nested;
use crate::rule::*;
use crate::time::{Date, Timestamp};

object! {
    /// The movements of cash in a session that have one message.
    pub struct CashMovements {
        /// What they were.
        message: String = required(line(256)),
        /// How many.
        count: i64 = required(integer(1, i64::MAX)),
        /// What they brought into the drawer.
        received: Amount = required(decimal(0, AMOUNT_BOUND)),
        /// What they took out of it.
        disbursed: Amount = required(decimal(0, AMOUNT_BOUND)),
    }

    /// What a session of a teller came to. It is written when the teller is closed, and never changes.
    pub struct DayReport {
        /// Number of the report: 1, 2, 3, ... without gaps for each teller.
        number: i64 = required(integer(1, i64::MAX)),
        /// The office of the teller.
        office_identifier: String = required(id(32)),
        /// The teller.
        teller_code: String = required(id(32)),
        /// Who worked there.
        employee_identifier: Option<String> = optional(line(32)),
        /// The day on which the session began.
        day: Date = required(date()),
        /// When it was opened.
        opened_on: Timestamp = required(timestamp()),
        /// By whom.
        opened_by: String = required(line(256)),
        /// When it was closed.
        closed_on: Timestamp = required(timestamp()),
        /// By whom.
        closed_by: String = required(line(256)),
        /// The movements of cash, summed up by their messages, in the order of the first of each.
        movements: Vec<CashMovements> = required(list(nested(), usize::MAX)),
        /// All that came in, cash of the session before included.
        cash_received_total: Amount = required(decimal(0, AMOUNT_BOUND)),
        /// All that went out.
        cash_disbursed_total: Amount = required(decimal(0, AMOUNT_BOUND)),
        /// What the last count should have found; null if the cash was not counted.
        expected_total: Option<Amount> = optional(decimal(-AMOUNT_BOUND, AMOUNT_BOUND)),
        /// What it found; null if the cash was not counted.
        counted_total: Option<Amount> = optional(decimal(0, AMOUNT_BOUND)),
        /// What all counts of the session found over, or below 0 short; null if the cash was not counted.
        difference: Option<Amount> = optional(decimal(-AMOUNT_BOUND, AMOUNT_BOUND)),
        /// The cash that stayed in the drawer.
        cash_on_hand: Amount = required(decimal(0, AMOUNT_BOUND)),
    }
}
