//! Ends of the days of an office. The report of a day begins where the one before it has ended, and
//! everything in it is as it was at one moment.

mod check;
mod gather;
mod tellers;

pub use check::check_days;
pub use gather::gather;

use super::{Caller, Given, Stored, offices};
use crate::ops::rows::Rows;
use crate::store::Tx;
use crate::store::record::Record;
use crate::store::records::{DayMark, StoredTeller, TELLERS_BY_OFFICE, day_key};
use mfa_shared::api::days::*;
use mfa_shared::api::tellers::TellerState;
use mfa_shared::endpoint::AcceptedAt;
use mfa_shared::fault::{self, Fault};
use mfa_shared::time::Date;
use mfa_shared::wire::{JsonIfAny, Nothing};

/// The response header that says that the day had been ended before.
pub const ALREADY_ENDED: &str = "already-ended";
/// Seconds after which to retry when another end of a day of the office was under way.
const RETRY_SECONDS: u32 = 1;

/// A day that is to be ended.
#[derive(Debug, Clone)]
pub struct Order {
    /// The office.
    pub office: String,
    /// The day.
    pub date: Date,
    /// Who asks.
    pub by: String,
    /// Whether it was ended before.
    pub is_ended: bool,
}

/// What a day came to, and how far its report reaches.
#[derive(Debug, Clone)]
pub struct Day {
    /// The report.
    pub report: OfficeDay,
    /// Where the next one continues.
    pub mark: DayMark,
}

/// A day that is ended: by this request, or before.
#[derive(Debug)]
pub struct Ended {
    /// Where its report is read.
    pub at: AcceptedAt<GetOfficeDay>,
    /// Whether it was ended before.
    pub before: bool,
}

/// Plans `POST /offices/{office}/days/{date}`
pub fn plan(
    tx: &mut Tx<'_>,
    caller: &Caller,
    _: Given<'_>,
    at: &EndOfficeDay,
    JsonIfAny(how): &JsonIfAny<DayEnd>,
) -> Result<Order, Fault> {
    let bad = || Fault::new(fault::INVALID_PARAMETER, "the day must be a date, such as 2026-05-31");
    let date = Date::parse(&at.date).filter(|date| date.to_string() == at.date).ok_or_else(bad)?;
    offices::find(tx, &at.office)?;
    let is_ended = tx.has::<OfficeDay>(&[&at.office, &at.date])?;
    let order = Order { office: at.office.clone(), date, by: caller.name.clone(), is_ended };
    if !is_ended {
        check_order(tx, &order)?;
        if !how.as_ref().is_some_and(|how| how.leave_open) {
            check_closed(tx, &at.office)?;
        }
    }
    Ok(order)
}

/// Days end in their order, and none before it has begun.
fn check_order(tx: &mut Tx<'_>, order: &Order) -> Result<(), Fault> {
    let office = &order.office;
    let date = order.date;
    let today = tx.now().day();
    if date > today {
        let detail = format!("{date} has not begun: today is {today} in UTC");
        return Err(Fault::new(fault::DAY_OUT_OF_ORDER, detail));
    }
    match tx.get::<DayMark>(&[office])? {
        Some(mark) if mark.date > date => {
            let detail = format!("office {office} has ended {}, so {date} is over", mark.date);
            Err(Fault::new(fault::DAY_OUT_OF_ORDER, detail))
        }
        _ => Ok(()),
    }
}

fn check_closed(tx: &mut Tx<'_>, office: &str) -> Result<(), Fault> {
    let open = tx.indexed::<StoredTeller>(TELLERS_BY_OFFICE, &[office])?.into_iter();
    let open = open.filter(|stored| stored.teller.state != TellerState::Closed);
    let open: Vec<_> = open.map(|s| format!("{} is {}", s.teller.code, s.teller.state)).collect();
    if open.is_empty() {
        return Ok(());
    }
    let detail = format!("tellers of office {office} are not closed: {}", open.join(", "));
    Err(Fault::new(fault::TELLERS_OPEN, detail))
}

/// Settles `POST /offices/{office}/days/{date}`: the report is stored under the next number of the office,
/// unless someone else has ended the day meanwhile.
pub fn settle(
    tx: &mut Tx<'_>,
    _: &Caller,
    at: &EndOfficeDay,
    outcome: &Result<Option<Day>, Fault>,
) -> Result<Ended, Fault> {
    let place = GetOfficeDay { office: at.office.clone(), date: at.date.clone() };
    let ended = |before| Ended { at: AcceptedAt(place.clone()), before };
    if tx.has::<OfficeDay>(&[&at.office, &at.date])? {
        return Ok(ended(true));
    }
    let gone = || Fault::new(fault::INTERNAL, format!("the report of {} is gone", at.date));
    let day = outcome.clone()?.ok_or_else(gone)?;
    // The office may be deleted meanwhile.
    offices::find(tx, &at.office)?;
    let before = tx.get::<DayMark>(&[&at.office])?;
    if before.map_or(0, |mark| mark.number) + 1 != day.report.number {
        let detail = "another day of the office was ended meanwhile, so what was read does not follow it";
        return Err(Fault::new(fault::UNAVAILABLE, detail).retry_after(RETRY_SECONDS));
    }
    tx.add(&day.report);
    tx.add(&day.mark);
    Ok(ended(false))
}

/// `GET /offices/{office}/days`
pub fn list(
    tx: &mut Tx<'_>,
    _: &Caller,
    at: &ListOfficeDays,
    _: &Nothing,
) -> Result<Rows<OfficeDay, OfficeDay>, Fault> {
    offices::find(tx, &at.office)?;
    Ok(Rows::all(&[&at.office], |_, report| Ok(report)))
}

/// `GET /offices/{office}/days/{date}`
pub fn get(tx: &mut Tx<'_>, _: &Caller, at: &GetOfficeDay, _: &Nothing) -> Result<Stored<OfficeDay>, Fault> {
    offices::find(tx, &at.office)?;
    let stored = tx.value(OfficeDay::SPACE, &day_key(&at.office, &at.date))?;
    stored.map(Stored::new).ok_or_else(|| {
        let detail = format!("office {} has no report of the day \"{}\"", at.office, at.date);
        Fault::new(fault::DAY_NOT_FOUND, detail)
    })
}
