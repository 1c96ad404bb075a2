//! Day reports: each CLOSE writes down what its session came to, under the next number of the teller.

use super::{cash, managed};
use crate::ops::{Caller, Stored};
use crate::store::Tx;
use crate::store::record::Record;
use crate::store::records::{StoredTeller, report_key};
use mfa_shared::amount::Amount;
use mfa_shared::api::tellers::*;
use mfa_shared::fault::{self, Fault};
use mfa_shared::wire::{Array, Nothing};

/// The word in a path that means the newest report.
const LATEST: &str = "latest";

/// `GET /offices/{office}/teller/{teller}/reports`
pub fn list(
    tx: &mut Tx<'_>,
    _: &Caller,
    at: &ListDayReports,
    _: &Nothing,
) -> Result<Array<DayReport>, Fault> {
    managed(tx, &at.office, &at.teller)?;
    tx.all::<DayReport>(&[&at.teller]).map(Array)
}

/// `GET /offices/{office}/teller/{teller}/reports/{report}`
pub fn get(tx: &mut Tx<'_>, _: &Caller, at: &GetDayReport, _: &Nothing) -> Result<Stored<DayReport>, Fault> {
    managed(tx, &at.office, &at.teller)?;
    // A text that is no number is not the number of a report either.
    let number = match at.report.as_str() {
        LATEST => Some(tx.next_number::<DayReport>(&[&at.teller])? - 1),
        text => text.parse().ok().filter(|number: &u64| number.to_string() == text),
    };
    let stored = match number {
        Some(number) => tx.value(DayReport::SPACE, &report_key(&at.teller, number))?,
        None => None,
    };
    stored.map(Stored::new).ok_or_else(|| {
        let detail = format!("teller {} has no day report \"{}\"", at.teller, at.report);
        Fault::new(fault::REPORT_NOT_FOUND, detail)
    })
}

/// Writes the report of the session that ends. It is part of the transaction of CLOSE, so numbers have no
/// gaps and no two sessions have the same one.
pub(super) fn write(tx: &mut Tx<'_>, caller: &Caller, stored: &StoredTeller) -> Result<(), Fault> {
    let teller = &stored.teller;
    let (Some(opened_on), Some(session)) = (teller.last_opened_on, &stored.session) else {
        return Err(Fault::new(fault::INTERNAL, format!("teller {} has no session to close", teller.code)));
    };
    let movements = cash::moved(tx, teller, session)?;
    let received = Amount::sum(movements.iter().map(|sum| sum.received));
    let disbursed = Amount::sum(movements.iter().map(|sum| sum.disbursed));
    let number = tx.next_number::<DayReport>(&[&teller.code])?;
    tx.put(&DayReport {
        number: i64::try_from(number).unwrap_or(i64::MAX),
        office_identifier: stored.office.clone(),
        teller_code: teller.code.clone(),
        employee_identifier: teller.assigned_employee.clone(),
        day: opened_on.day(),
        opened_on,
        opened_by: teller.last_opened_by.clone().unwrap_or_default(),
        closed_on: tx.now(),
        closed_by: caller.name.clone(),
        movements,
        cash_received_total: received,
        cash_disbursed_total: disbursed,
        expected_total: session.count.map(|count| count.counted.minus(count.difference)),
        counted_total: session.count.map(|count| count.counted),
        difference: session.count.map(|count| count.difference),
        cash_on_hand: received.minus(disbursed),
    })
}
