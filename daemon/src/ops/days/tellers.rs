//! What happened at a teller since the report before, by ranges of its own numbers.

use crate::domain::ledger::cash_moved;
use crate::ops::ledger::{drawer_cash, walk_drawer};
use crate::store::Tx;
use crate::store::engine::Range;
use crate::store::record::{Record, numbered, prefix};
use crate::store::records::{
    StoredTeller, StoredTransaction, TRANSACTIONS_PENDING, TellerMark, TransactionCounter, report_key,
};
use crate::store::tx::decode;
use mfa_shared::amount::Amount;
use mfa_shared::api::tellers::{DayReport, Transaction, TransactionState};
use mfa_shared::fault::Fault;
use mfa_shared::time::Timestamp;

/// Day reports that are read in one step, from the last one back.
const STEP: usize = 16;

/// The part of the time that a report is about.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    /// The end of the report before it, or the beginning of the day.
    pub from: Timestamp,
    /// The moment to which everything in it belongs.
    pub until: Timestamp,
    /// Whether the day is over, so that there may be something later already.
    pub is_over: bool,
    /// The sequence behind its last journal entry.
    pub next_entry: u64,
}

impl Span {
    /// Whether what happened at a moment is not later than the span.
    pub fn reaches(&self, moment: Timestamp) -> bool {
        !self.is_over || moment < self.until
    }
}

/// What a teller comes to.
#[derive(Debug)]
pub(super) struct AtTeller {
    /// The cash in the drawer.
    pub cash: Amount,
    /// Transactions that wait.
    pub pending: u64,
    /// Those that were confirmed or cancelled.
    pub finished: Vec<Transaction>,
    /// The reports of the sessions that ended.
    pub reports: Vec<DayReport>,
    /// Where the next report continues.
    pub mark: TellerMark,
}

/// Looks at a teller; `known` is how far the report before it reached there.
pub(super) fn look(
    tx: &mut Tx<'_>,
    stored: &StoredTeller,
    known: Option<TellerMark>,
    span: &Span,
) -> Result<AtTeller, Fault> {
    let code = &stored.teller.code;
    let mut mark = match known {
        Some(mark) => mark,
        None => beginning(tx, code, span)?,
    };
    let finished = finished(tx, code, &mut mark, span)?;
    let mut reports = Vec::new();
    let range = Range { from: report_key(code, mark.report + 1), ..Range::prefix(&prefix(&[code])) };
    tx.walk(DayReport::SPACE, range, &mut |_, value| {
        let report: DayReport = decode(DayReport::SPACE, value)?;
        let is_in = span.reaches(report.closed_on);
        if is_in {
            mark.report = report.number.unsigned_abs();
            reports.push(report);
        }
        Ok(is_in)
    })?;
    // What has moved since is taken back.
    let mut later = Amount::ZERO;
    walk_drawer(tx, code, span.next_entry - 1, &mut |_, line| later = later.plus(cash_moved(line)))?;
    let cash = drawer_cash(tx, code)?.minus(later);
    let pending = tx.count(TRANSACTIONS_PENDING, &[code])?;
    Ok(AtTeller { cash, pending, finished, reports, mark })
}

/// Where the first report of an office begins: with the day. A session may go past midnight, so older
/// transactions of the one that was open then may have been finished in it. A session that ends leaves none
/// pending.
fn beginning(tx: &mut Tx<'_>, code: &str, span: &Span) -> Result<TellerMark, Fault> {
    let report = last_report_before(tx, code, span)?;
    let session = report.as_ref().map_or(Ok(1), |report| first_since(tx, code, report.closed_on))?;
    let first = first_since(tx, code, span.from)?;
    let mut open = Vec::new();
    let range = Range { from: numbered(&[code], session), to: Some(numbered(&[code], first)) };
    tx.walk(StoredTransaction::SPACE, range, &mut |_, value| {
        let stored: StoredTransaction = decode(StoredTransaction::SPACE, value)?;
        if stored.transaction.finished_on.is_none_or(|on| on >= span.from) {
            open.push(stored.number);
        }
        Ok(true)
    })?;
    Ok(TellerMark { transaction: first - 1, open, report: report.map_or(0, |r| r.number.unsigned_abs()) })
}

/// The number of the first transaction that was made at a moment or later.
fn first_since(tx: &mut Tx<'_>, code: &str, moment: Timestamp) -> Result<u64, Fault> {
    let mut low = 1;
    let mut high = tx.get::<TransactionCounter>(&[code])?.map_or(0, |counter| counter.last) + 1;
    while low < high {
        let middle = low + (high - low) / 2;
        match transaction(tx, code, middle)? {
            Some(stored) if stored.transaction.created_on < moment => low = middle + 1,
            _ => high = middle,
        }
    }
    Ok(low)
}

/// The last day report of a session that ended before a span.
fn last_report_before(tx: &mut Tx<'_>, code: &str, span: &Span) -> Result<Option<DayReport>, Fault> {
    let mut range = Range::prefix(&prefix(&[code]));
    loop {
        let pairs = tx.scan(DayReport::SPACE, &range, true, STEP)?;
        for (_, value) in &pairs {
            let report: DayReport = decode(DayReport::SPACE, value)?;
            if report.closed_on < span.from {
                return Ok(Some(report));
            }
        }
        match pairs.into_iter().last() {
            Some((first, _)) => range.to = Some(first),
            None => return Ok(None),
        }
    }
}

/// The transactions that were confirmed or cancelled in a span; `mark` goes on to its end.
fn finished(
    tx: &mut Tx<'_>,
    code: &str,
    mark: &mut TellerMark,
    span: &Span,
) -> Result<Vec<Transaction>, Fault> {
    let mut found = Vec::new();
    let mut open = Vec::new();
    let mut take = |stored: StoredTransaction| {
        let is_open = stored.transaction.state == TransactionState::Pending;
        let on = stored.transaction.finished_on.unwrap_or(stored.transaction.created_on);
        if !is_open && span.reaches(on) { found.push(stored.transaction) } else { open.push(stored.number) }
    };
    for number in std::mem::take(&mut mark.open) {
        if let Some(stored) = transaction(tx, code, number)? {
            take(stored);
        }
    }
    let from = numbered(&[code], mark.transaction + 1);
    let range = Range { from, ..Range::prefix(&prefix(&[code])) };
    tx.walk(StoredTransaction::SPACE, range, &mut |_, value| {
        let stored: StoredTransaction = decode(StoredTransaction::SPACE, value)?;
        let is_in = span.reaches(stored.transaction.created_on);
        if is_in {
            mark.transaction = stored.number;
            take(stored);
        }
        Ok(is_in)
    })?;
    mark.open = open;
    Ok(found)
}

fn transaction(tx: &mut Tx<'_>, code: &str, number: u64) -> Result<Option<StoredTransaction>, Fault> {
    tx.at(&StoredTransaction::at(code, number))
}
