//! Reports: cash by day, deposits and customers by month. What moved comes from the days that are summed up
//! from the journal; how many accounts and customers came and went, from the calendar in memory.

pub mod calendar;
pub mod check;
pub mod days;
#[cfg(test)]
mod tests;

use super::{Caller, definitions, ledger, offices};
use crate::domain::calendar::{Calendar, Happened};
use crate::domain::ledger::Moved;
use crate::store::Tx;
use crate::store::records::{LedgerDay, StoredTeller, TELLERS_BY_OFFICE};
use days::{Ledger, Wanted};
use mfa_shared::amount::Amount;
use mfa_shared::api::ledger::LedgerAccount;
use mfa_shared::api::reports::*;
use mfa_shared::fault::{self, Fault};
use mfa_shared::time::Date;
use mfa_shared::wire::{Array, Query};
use std::collections::BTreeMap;

const DAY_SECONDS: i64 = 86_400;

/// `GET /ledger/reports/cash`
pub fn cash(
    tx: &mut Tx<'_>,
    _: &Caller,
    _: &GetCashReport,
    Query(query): &Query<CashQuery>,
) -> Result<Array<CashDay>, Fault> {
    offices::find(tx, &query.office)?;
    let now = ledger::posting_time(tx)?;
    let back = i64::from(query.days.unwrap_or(DAYS_DEFAULT) - 1) * DAY_SECONDS;
    let first = now.plus_seconds(-back).day();
    let last = now.day();
    let ledger = Ledger::read(tx, Wanted::Drawers)?;
    let mut sums: BTreeMap<Option<String>, BTreeMap<Date, (Moved, Amount)>> = BTreeMap::new();
    for stored in tx.indexed::<StoredTeller>(TELLERS_BY_OFFICE, &[&query.office])? {
        for account in ledger.accounts(tx, &stored.teller.code)? {
            let currency = tx.get::<LedgerAccount>(&[&account])?.and_then(|account| account.currency);
            let series = LedgerDay::drawer(&stored.teller.code, &account);
            let (balance, days) = ledger.days(tx, &series, (first, last))?;
            add_series(sums.entry(currency).or_default(), (first, last), balance, &days);
        }
    }
    let shown = |(currency, days): (Option<String>, BTreeMap<_, _>)| {
        days.into_iter().map(move |(date, (moved, cash_on_hand)): (Date, (Moved, Amount))| CashDay {
            date,
            currency: currency.clone(),
            received: moved.received,
            disbursed: moved.disbursed,
            over: moved.over,
            short: moved.short,
            cash_on_hand,
        })
    };
    Ok(Array(sums.into_iter().flat_map(shown).collect()))
}

/// Adds a series to a sum for each day, those on which nothing moved among them.
fn add_series(
    sums: &mut BTreeMap<Date, (Moved, Amount)>,
    (first, last): (Date, Date),
    mut balance: Amount,
    days: &BTreeMap<Date, LedgerDay>,
) {
    let mut day = first;
    while day <= last {
        let sum = sums.entry(day).or_default();
        if let Some(moved) = days.get(&day) {
            balance = moved.balance;
            sum.0 = sum.0.plus(moved.moved);
        }
        sum.1 = sum.1.plus(balance);
        day = day.next();
    }
}

/// `GET /ledger/reports/deposits`
pub fn deposits(
    tx: &mut Tx<'_>,
    _: &Caller,
    _: &GetDepositReport,
    Query(query): &Query<DepositQuery>,
) -> Result<Array<DepositMonth>, Fault> {
    let product = definitions::find(tx, &query.product)?;
    let months = months(ledger::posting_time(tx)?.day(), query.months);
    let opened = Happened::Opened(query.product.clone());
    let ended = Happened::Ended(query.product.clone());
    let counted = tx.calendar(|calendar| {
        let count = |(first, last): &(Date, Date)| {
            let opened_in = calendar.between(&opened, *first, *last);
            let closed_in = calendar.between(&ended, *first, *last);
            let next = last.next();
            (opened_in, closed_in, calendar.before(&opened, next) - calendar.before(&ended, next))
        };
        months.iter().map(count).collect::<Vec<_>>()
    });
    let counted = counted.ok_or_else(counting)?;
    let ledger = Ledger::read(tx, Wanted::Products)?;
    let ends = (months[0].0, months[months.len() - 1].1);
    let (mut balance, days) = ledger.days(tx, &LedgerDay::product(&query.product), ends)?;
    let shown = months.iter().zip(counted).map(|((first, last), (opened, closed, open))| {
        let within: Vec<_> = days.range(*first..=*last).map(|(_, day)| day).collect();
        balance = within.last().map_or(balance, |day| day.balance);
        let moved = within.iter().fold(Moved::default(), |sum, day| sum.plus(day.moved));
        DepositMonth {
            month: name_of(*first),
            currency: product.currency.code.clone(),
            paid_in: moved.received,
            paid_out: moved.disbursed,
            balance,
            opened,
            closed,
            open,
        }
    });
    Ok(Array(shown.collect()))
}

/// `GET /ledger/reports/customers`
pub fn customers(
    tx: &mut Tx<'_>,
    _: &Caller,
    _: &GetCustomerReport,
    Query(query): &Query<MonthsQuery>,
) -> Result<Array<CustomerMonth>, Fault> {
    let months = months(tx.now().day(), query.months);
    let shown = |calendar: &Calendar, (first, last): &(Date, Date)| {
        let between = |what| calendar.between(&what, *first, *last);
        let so_far = |what| calendar.before(&what, last.next());
        CustomerMonth {
            month: name_of(*first),
            created: between(Happened::Created),
            closed: between(Happened::Closed),
            reopened: between(Happened::Reopened),
            open: so_far(Happened::Created) - so_far(Happened::Closed) + so_far(Happened::Reopened),
        }
    };
    let rows = tx.calendar(|calendar| months.iter().map(|month| shown(calendar, month)).collect());
    rows.map(Array).ok_or_else(counting)
}

fn counting() -> Fault {
    let detail = "what came and went is being counted from the store; try again soon";
    Fault::new(fault::UNAVAILABLE, detail).retry_after(days::RETRY_AFTER_S)
}

/// The first and the last day of each month up to that of a day.
fn months(today: Date, asked: Option<u32>) -> Vec<(Date, Date)> {
    let (year, month, _) = today.parts();
    // The first of a month is a day of the calendar wherever another day of it is.
    let first = Date::new(year.into(), month.into(), 1).unwrap_or(today);
    let back = (0..i64::from(asked.unwrap_or(MONTHS_DEFAULT))).rev();
    back.map(|back| first.plus_months(-back)).map(|first| (first, first.last_of_month())).collect()
}

/// `2026-02`
fn name_of(first: Date) -> String {
    let (year, month, _) = first.parts();
    format!("{year:04}-{month:02}")
}
