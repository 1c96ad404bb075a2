//! What moved on each day, summed up from the journal beside the writers: a few records for hundreds of
//! entries. Entries never change and days never come back, so what was summed up once holds for ever; the
//! entries behind its end are summed up by each report that needs them.

use crate::domain::ledger::{Moved, cash_moved, moved_in_drawer, moved_on_account};
use crate::ops::ledger::last_sequence;
use crate::store::Tx;
use crate::store::engine::Range;
use crate::store::record::{Record, key, prefix};
use crate::store::records::{LedgerDay, LedgerDaysEnd, StoredEntry, StoredInstance};
use crate::store::tx::decode;
use mfa_shared::amount::Amount;
use mfa_shared::api::ledger::{AccountRole, JournalEntry, JournalLine};
use mfa_shared::fault::{self, Fault};
use mfa_shared::time::Date;
use std::collections::{BTreeMap, HashMap};

/// Seconds after which a client may ask again while figures are worked out.
pub(super) const RETRY_AFTER_S: u32 = 5;
/// Entries that a report sums up by itself.
const TAIL_MAX: u64 = 2_048;
/// So many entries are worth a commit.
pub const WORTH_A_COMMIT: u64 = 512;
/// Entries that are summed up in one transaction.
pub const AT_ONCE: u64 = 2_048;
/// Accounts whose product is remembered.
const PRODUCTS_MAX: usize = 100_000;

type Series = Vec<String>;

/// Which series are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// All of them.
    All,
    /// Cash in drawers.
    Drawers,
    /// Accounts of products.
    Products,
}

/// Days that are being summed up.
#[derive(Debug)]
pub struct Days {
    wanted: Wanted,
    /// Whether they go on from what is kept.
    go_on: bool,
    /// The last day of each series, and whether an entry has changed it.
    current: BTreeMap<Series, (LedgerDay, bool)>,
    over: Vec<LedgerDay>,
    products: HashMap<String, Option<String>>,
}

impl Default for Days {
    fn default() -> Self {
        Self::anew()
    }
}

impl Days {
    /// Days that go on from what is kept.
    pub fn kept(wanted: Wanted) -> Self {
        Self { wanted, go_on: true, ..Self::anew() }
    }

    /// Days from the first entry on.
    pub fn anew() -> Self {
        let current = BTreeMap::new();
        let products = HashMap::new();
        Self { wanted: Wanted::All, go_on: false, current, over: Vec::new(), products }
    }

    /// Adds the next entry of the journal.
    pub fn post(&mut self, tx: &mut Tx<'_>, entry: &JournalEntry) -> Result<(), Fault> {
        let day = entry.posted_on.day();
        for line in &entry.lines {
            let Some(series) = self.series(tx, entry, line)? else { continue };
            let (moved, net) = match line.role {
                AccountRole::Drawer => (moved_in_drawer(entry, line), cash_moved(line)),
                _ => {
                    let moved = moved_on_account(line);
                    (moved, moved.received.minus(moved.disbursed))
                }
            };
            self.add(tx, series, day, (moved, net))?;
        }
        Ok(())
    }

    /// The series to which a line belongs.
    fn series(
        &mut self,
        tx: &mut Tx<'_>,
        entry: &JournalEntry,
        line: &JournalLine,
    ) -> Result<Option<Series>, Fault> {
        let account = &line.account_identifier;
        match line.role {
            AccountRole::Drawer if self.wanted != Wanted::Products => {
                Ok(entry.teller_code.as_ref().map(|teller| LedgerDay::drawer(teller, account)))
            }
            AccountRole::Customer if self.wanted != Wanted::Drawers => {
                if !self.products.contains_key(account) {
                    if self.products.len() >= PRODUCTS_MAX {
                        self.products.clear();
                    }
                    let instance = tx.get::<StoredInstance>(&[account])?;
                    let product = instance.map(|instance| instance.product_identifier);
                    self.products.insert(account.clone(), product);
                }
                Ok(self.products[account].as_ref().map(|product| LedgerDay::product(product)))
            }
            _ => Ok(None),
        }
    }

    fn add(
        &mut self,
        tx: &mut Tx<'_>,
        series: Series,
        day: Date,
        (moved, net): (Moved, Amount),
    ) -> Result<(), Fault> {
        if !self.current.contains_key(&series) {
            let last = if self.go_on { last_of(tx, &series, None)? } else { None };
            let first =
                LedgerDay { series: series.clone(), day, moved: Moved::default(), balance: Amount::ZERO };
            self.current.insert(series.clone(), (last.unwrap_or(first), false));
        }
        // It was put there above, if it was missing.
        let Some((current, changed)) = self.current.get_mut(&series) else { return Ok(()) };
        if current.day < day {
            let next = LedgerDay { day, moved: Moved::default(), ..current.clone() };
            let over = std::mem::replace(current, next);
            if std::mem::replace(changed, false) {
                self.over.push(over);
            }
        }
        current.moved = current.moved.plus(moved);
        current.balance = current.balance.plus(net);
        *changed = true;
        Ok(())
    }

    /// The days that were summed up, by their keys.
    pub fn summed(self) -> BTreeMap<Vec<u8>, LedgerDay> {
        let current = self.current.into_values().filter(|(_, changed)| *changed).map(|(day, _)| day);
        self.over.into_iter().chain(current).map(|day| (day.key(), day)).collect()
    }
}

/// The last day of a series that is kept, of those before a day.
fn last_of(tx: &mut Tx<'_>, series: &[String], before: Option<Date>) -> Result<Option<LedgerDay>, Fault> {
    let parts: Vec<&str> = series.iter().map(String::as_str).collect();
    let mut range = Range::prefix(&prefix(&parts));
    if let Some(day) = before {
        range.to = Some(LedgerDay::at(series, day));
    }
    tx.last(&range)
}

/// The sequence of the last entry that is summed up.
pub fn end(tx: &mut Tx<'_>) -> Result<u64, Fault> {
    Ok(tx.get::<LedgerDaysEnd>(LedgerDaysEnd::KEY)?.map_or(0, |end| end.sequence))
}

/// Adds the entries behind a sequence, as many as there are up to a limit; the last one that was added.
fn add_entries(tx: &mut Tx<'_>, days: &mut Days, after: u64, limit: u64) -> Result<u64, Fault> {
    let range = Range { from: StoredEntry::at(after + 1), to: Some(StoredEntry::at(after + 1 + limit)) };
    let mut entries = Vec::new();
    tx.walk(StoredEntry::SPACE, range, &mut |_, value| {
        entries.push(decode::<StoredEntry>(StoredEntry::SPACE, value)?.entry);
        Ok(true)
    })?;
    let mut last = after;
    for entry in entries {
        days.post(tx, &entry)?;
        last = entry.sequence.unsigned_abs();
    }
    Ok(last)
}

/// Days that are to be kept, and the entries that they sum up.
#[derive(Debug, Clone)]
pub struct Sum {
    after: u64,
    upto: u64,
    days: Vec<LedgerDay>,
}

/// Sums up the next entries; nothing where fewer are left than are worth a commit.
pub fn sum_up(tx: &mut Tx<'_>, worth: u64, at_once: u64) -> Result<Option<Sum>, Fault> {
    let after = end(tx)?;
    if last_sequence(tx)?.saturating_sub(after) < worth.max(1) {
        return Ok(None);
    }
    let mut days = Days::kept(Wanted::All);
    let upto = add_entries(tx, &mut days, after, at_once)?;
    Ok(Some(Sum { after, upto, days: days.summed().into_values().collect() }))
}

/// Keeps a sum, unless another daemon has kept one since.
pub fn keep(tx: &mut Tx<'_>, sum: &Sum) -> Result<(), Fault> {
    if end(tx)? == sum.after {
        sum.days.iter().for_each(|day| tx.add(day));
        tx.add(&LedgerDaysEnd { sequence: sum.upto });
    }
    Ok(())
}

/// Whether a report can sum up by itself what is not kept yet.
pub fn is_near(tx: &mut Tx<'_>) -> Result<bool, Fault> {
    let end = end(tx)?;
    Ok(last_sequence(tx)?.saturating_sub(end) <= TAIL_MAX)
}

/// The days of all series that a report needs: those that are kept, and those of the entries behind them.
pub struct Ledger {
    behind: BTreeMap<Vec<u8>, LedgerDay>,
}

impl Ledger {
    /// Sums up what is not kept yet.
    pub fn read(tx: &mut Tx<'_>, wanted: Wanted) -> Result<Self, Fault> {
        if !is_near(tx)? {
            let detail = "the days of the journal are still being summed up; try again soon";
            return Err(Fault::new(fault::UNAVAILABLE, detail).retry_after(RETRY_AFTER_S));
        }
        let mut days = Days::kept(wanted);
        let end = end(tx)?;
        add_entries(tx, &mut days, end, TAIL_MAX)?;
        Ok(Self { behind: days.summed() })
    }

    /// The days of a series from one to another, both included, and the balance before the first.
    pub fn days(
        &self,
        tx: &mut Tx<'_>,
        series: &[String],
        (first, last): (Date, Date),
    ) -> Result<(Amount, BTreeMap<Date, LedgerDay>), Fault> {
        let from = LedgerDay::at(series, first);
        let to = LedgerDay::at(series, last.next());
        let mut before = last_of(tx, series, Some(first))?;
        let mut days = BTreeMap::new();
        tx.walk(LedgerDay::SPACE, Range { from: from.clone(), to: Some(to.clone()) }, &mut |_, value| {
            let day: LedgerDay = decode(LedgerDay::SPACE, value)?;
            days.insert(day.day, day);
            Ok(true)
        })?;
        let parts: Vec<&str> = series.iter().map(String::as_str).collect();
        if let Some((_, day)) = self.behind.range(prefix(&parts)..from.clone()).next_back() {
            before = Some(day.clone());
        }
        days.extend(self.behind.range(from..to).map(|(_, day)| (day.day, day.clone())));
        Ok((before.map_or(Amount::ZERO, |day| day.balance), days))
    }

    /// The accounts on which cash of a teller ever moved.
    pub fn accounts(&self, tx: &mut Tx<'_>, teller: &str) -> Result<Vec<String>, Fault> {
        let under = LedgerDay::drawer(teller, "");
        let own = |series: &[String]| series[..2] == under[..2];
        let behind = self.behind.values().filter(|day| own(&day.series));
        let mut accounts: Vec<String> = behind.filter_map(|day| day.series.get(2).cloned()).collect();
        let mut range = Range::prefix(&prefix(&[&under[0], teller]));
        while let Some((_, value)) = tx.scan(LedgerDay::SPACE, &range, false, 1)?.first() {
            let day: LedgerDay = decode(LedgerDay::SPACE, value)?;
            let Some(account) = day.series.get(2) else { break };
            accounts.push(account.clone());
            // Behind all days of this account.
            range.from = [key(&[&under[0], teller, account]), vec![1]].concat();
        }
        accounts.sort();
        accounts.dedup();
        Ok(accounts)
    }
}
