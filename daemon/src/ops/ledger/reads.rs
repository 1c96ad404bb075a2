//! What can be read of the ledger; nothing here writes.

use super::lists::{Entries, Of};
use super::moment::Moment;
use super::posting::{entry_at, last_sequence};
use crate::domain::ledger::{entry_sequence, is_entry_type, on_sides, raised_by};
use crate::ops::in_time::first_at;
use crate::ops::listing::{Findable, Listing, Shelved, SortKey, as_stored};
use crate::ops::{Caller, Stored};
use crate::store::Tx;
use crate::store::engine::Range;
use crate::store::record::{Record, numbered, prefix};
use crate::store::records::{AccountLine, ENTRY_LINES_MAX, StoredEntry, line_number};
use crate::store::tx::decode;
use mfa_shared::amount::Amount;
use mfa_shared::api::ledger::*;
use mfa_shared::fault::{self, Fault};
use mfa_shared::time::DateRange;
use mfa_shared::time::{Date, Timestamp};
use mfa_shared::wire::{Json, Nothing, Query};
use std::ops::Range as Span;

/// Lines whose entries are asked for in one message to a database.
const LINES_AT_ONCE: usize = 500;
/// Accounts whose balances of a past day are asked for in one.
const BALANCES_AT_ONCE: usize = 500;
/// About what a row of a trial balance takes in an answer.
const ROW_BYTES: usize = 100;

/// `GET /ledger/accounts`
pub fn list_accounts(
    tx: &mut Tx<'_>,
    _: &Caller,
    _: &ListLedgerAccounts,
    Query(query): &Query<AccountQuery>,
) -> Result<Listing<LedgerAccount, LedgerAccount>, Fault> {
    let moment = Moment::of(tx)?;
    let listing = Listing::of_shelf(&query.paging, query.kind.map(group), as_stored);
    Ok(listing.as_of(move |tx, account| moment.restore(tx, account), move |tx| moment.posted_since(tx)))
}

/// The accounts of a kind are a group in lists.
fn group(kind: AccountKind) -> u8 {
    kind as u8
}

impl Findable for LedgerAccount {
    fn identifier(&self) -> &str {
        &self.identifier
    }
    fn texts(&self) -> Vec<Option<&str>> {
        vec![Some(&self.identifier), self.name.as_deref()]
    }
    fn group(&self) -> u8 {
        group(self.kind)
    }
}

impl Shelved for LedgerAccount {
    type Brief = Self;
    fn sort_key(&self, column: &str) -> SortKey {
        sort_key(self, column)
    }
}

/// `GET /ledger/accounts/{account}`
pub fn get_account(
    tx: &mut Tx<'_>,
    _: &Caller,
    at: &GetLedgerAccount,
    _: &Nothing,
) -> Result<Stored<LedgerAccount>, Fault> {
    let stored = tx.bytes::<LedgerAccount>(&[&at.account])?;
    stored.map(Stored::new).ok_or_else(|| not_found(&at.account))
}

/// `GET /ledger/accounts/{account}/entries`
pub fn list_account_entries(
    tx: &mut Tx<'_>,
    _: &Caller,
    at: &ListAccountEntries,
    Query(query): &Query<EntryQuery<AccountEntry>>,
) -> Result<Entries<AccountEntry>, Fault> {
    if !tx.has::<LedgerAccount>(&[&at.account])? {
        return Err(not_found(&at.account));
    }
    let span = posted_on(tx, query.dates)?;
    Ok(Entries::new(Of::LinesOn(at.account.clone()), span, &query.paging))
}

/// The lines on an account, each with the balance after it.
pub fn statement(
    tx: &mut Tx<'_>,
    account: &str,
    query: &EntryQuery<AccountEntry>,
) -> Result<Entries<AccountEntry>, Fault> {
    let found = tx.get::<LedgerAccount>(&[account])?.ok_or_else(|| not_found(account))?;
    let span = posted_on(tx, query.dates)?;
    let of = Of::Statement(found.identifier, raised_by(found.kind));
    Ok(Entries::new(of, span, &query.paging))
}

/// `GET /ledger/journal`
pub fn list_journal(
    tx: &mut Tx<'_>,
    _: &Caller,
    _: &ListJournal,
    Query(query): &Query<JournalQuery>,
) -> Result<Entries<JournalEntry>, Fault> {
    let mut span = posted_on(tx, query.entries.dates)?;
    let of = match &query.account {
        Some(account) => {
            // Nothing is posted on what is no account, whatever its name may be part of.
            if !tx.has::<LedgerAccount>(&[account])? {
                span.end = span.start;
            }
            Of::EntriesOn(account.clone())
        }
        None => Of::Journal,
    };
    if query.r#type.as_deref().is_some_and(|word| !is_entry_type(word)) {
        span.end = span.start;
    }
    Ok(Entries::new(of, span, &query.entries.paging).of_type(query.r#type.clone()))
}

/// `GET /ledger/journal/{entry}`
pub fn get_entry(
    tx: &mut Tx<'_>,
    _: &Caller,
    at: &GetJournalEntry,
    _: &Nothing,
) -> Result<Json<JournalEntry>, Fault> {
    let found = match entry_sequence(&at.entry) {
        Some(sequence) => entry_at(tx, sequence)?.filter(|stored| stored.entry.identifier == at.entry),
        None => None,
    };
    found.map(|stored| Json(stored.entry)).ok_or_else(|| {
        Fault::new(fault::ENTRY_NOT_FOUND, format!("there is no journal entry \"{}\"", at.entry))
    })
}

/// `GET /ledger/trial-balance`
pub fn trial_balance(
    tx: &mut Tx<'_>,
    _: &Caller,
    _: &GetTrialBalance,
    Query(query): &Query<AsOf>,
) -> Result<Json<TrialBalance>, Fault> {
    let as_of = query.as_of.unwrap_or(tx.now().day());
    // "Now" is everything that is posted, also where the clock was set back since.
    let end = match query.as_of {
        Some(day) => sequence_at(tx, day.next().start())?,
        None => last_sequence(tx)? + 1,
    };
    let before = query.as_of.map(|day| day.next().start());
    let (mut rows, mut moved) = (Vec::new(), Vec::new());
    let room = tx.limits.room.clone();
    tx.walk(LedgerAccount::SPACE, Range::prefix(&[]), &mut |_, value| {
        let account: LedgerAccount = decode(LedgerAccount::SPACE, value)?;
        let Some(last) = account.last_entry_on else { return Ok(true) };
        if before.is_some_and(|before| last >= before) {
            moved.push(rows.len());
        }
        let (debit, credit) = on_sides(account.kind, account.balance);
        let (account_identifier, kind) = (account.identifier, account.kind);
        rows.push(Some(TrialBalanceRow { account_identifier, kind, debit, credit }));
        match &room {
            Some(room) if rows.len().is_multiple_of(BALANCES_AT_ONCE) => {
                room.grow(BALANCES_AT_ONCE * ROW_BYTES)?;
            }
            _ => {}
        }
        Ok(true)
    })?;
    // The others have the same balance since.
    for places in moved.chunks(BALANCES_AT_ONCE) {
        let name =
            |at: &usize| rows[*at].as_ref().map_or("", |row: &TrialBalanceRow| &row.account_identifier);
        let accounts: Vec<_> = places.iter().map(name).collect();
        let balances = balances_before(tx, &accounts, end)?;
        for (at, balance) in places.iter().zip(balances) {
            // Of some the first entry came later.
            rows[*at] = rows[*at].take().zip(balance).map(|(row, balance)| {
                let (debit, credit) = on_sides(row.kind, balance);
                TrialBalanceRow { debit, credit, ..row }
            });
        }
    }
    let rows: Vec<_> = rows.into_iter().flatten().collect();
    let total_debit = Amount::sum(rows.iter().map(|row| row.debit));
    let total_credit = Amount::sum(rows.iter().map(|row| row.credit));
    Ok(Json(TrialBalance { as_of, rows, total_debit, total_credit }))
}

/// The balance of an account before the entry with this sequence; 0 before its first.
pub fn balance_at(tx: &mut Tx<'_>, account: &str, sequence: u64) -> Result<Amount, Fault> {
    Ok(balance_before(tx, account, sequence)?.unwrap_or_default())
}

/// The balance of an account at the end of a day, by posting.
pub fn balance_on(tx: &mut Tx<'_>, account: &LedgerAccount, end: &mut EndOfDay) -> Result<Amount, Fault> {
    // Most accounts have not moved since.
    if account.last_entry_on < Some(end.moment) {
        return Ok(account.balance);
    }
    let sequence = match end.sequence {
        Some(sequence) => sequence,
        None => *end.sequence.insert(sequence_at(tx, end.moment)?),
    };
    Ok(balance_before(tx, &account.identifier, sequence)?.unwrap_or_default())
}

/// The balance of an account after an entry, if the entry has a line on it.
pub fn balance_after(tx: &mut Tx<'_>, entry: &JournalEntry, account: &str) -> Result<Option<Amount>, Fault> {
    let place = entry.lines.iter().position(|line| line.account_identifier == account);
    let Some(place) = place else { return Ok(None) };
    let number = line_number(entry.sequence.unsigned_abs(), place as u64);
    let line: Option<AccountLine> = tx.at(&numbered(&[account], number))?;
    Ok(line.map(|line| line.balance))
}

/// The end of a day in the order of posting, which is looked for once.
#[derive(Debug, Clone, Copy)]
pub struct EndOfDay {
    moment: Timestamp,
    sequence: Option<u64>,
}

impl EndOfDay {
    /// The end of a day in UTC.
    pub fn of(day: Date) -> Self {
        Self { moment: day.next().start(), sequence: None }
    }
}

/// Days that follow each other, and the entries that were posted on them, which are looked for once.
#[derive(Debug, Clone)]
pub struct Period {
    first: Date,
    last: Date,
    posted: Span<u64>,
}

impl Period {
    /// From a first day to a last one.
    pub fn of(tx: &mut Tx<'_>, first: Date, last: Date) -> Result<Self, Fault> {
        let posted = sequence_at(tx, first.start())?..sequence_at(tx, last.next().start())?;
        Ok(Self { first, last, posted })
    }
}

/// The balances of an account at the end of each day of a period.
#[derive(Debug)]
pub struct DailyBalances {
    /// The days in their order.
    pub days: Vec<(Date, Amount)>,
    /// How many lines of the journal were read for them.
    pub read: usize,
}

/// The balances of an account at the end of each day of a period, by posting.
pub fn daily_balances(tx: &mut Tx<'_>, account: &str, period: &Period) -> Result<DailyBalances, Fault> {
    let Period { first, last, posted } = period.clone();
    let mut balance = balance_before(tx, account, posted.start)?.unwrap_or_default();
    let range = Range {
        from: numbered(&[account], line_number(posted.start, 0)),
        to: Some(numbered(&[account], line_number(posted.end, 0))),
    };
    let mut lines: Vec<AccountLine> = Vec::new();
    tx.walk(AccountLine::SPACE, range, &mut |_, value| {
        lines.push(decode(AccountLine::SPACE, value)?);
        Ok(true)
    })?;
    let read = lines.len();
    let mut moves = Vec::with_capacity(read);
    for lines in lines.chunks(LINES_AT_ONCE) {
        let entry = |line: &AccountLine| StoredEntry::at(line.number / ENTRY_LINES_MAX);
        tx.expect(StoredEntry::SPACE, &lines.iter().map(entry).collect::<Vec<_>>())?;
        for line in lines {
            if let Some(stored) = entry_at(tx, line.number / ENTRY_LINES_MAX)? {
                moves.push((stored.entry.posted_on.day(), line.balance));
            }
        }
    }
    let mut moves = moves.into_iter().peekable();
    let mut days = Vec::new();
    let mut day = first;
    while day <= last {
        while let Some((_, after)) = moves.next_if(|(moved, _)| *moved <= day) {
            balance = after;
        }
        days.push((day, balance));
        day = day.next();
    }
    Ok(DailyBalances { days, read })
}

/// The balance of an account after its last line before the entry with this sequence.
fn balance_before(tx: &mut Tx<'_>, account: &str, sequence: u64) -> Result<Option<Amount>, Fault> {
    let last: Option<AccountLine> = tx.last(&lines_before(account, sequence))?;
    Ok(last.map(|line| line.balance))
}

/// The same for several accounts.
pub fn balances_before(
    tx: &mut Tx<'_>,
    accounts: &[&str],
    sequence: u64,
) -> Result<Vec<Option<Amount>>, Fault> {
    let ranges: Vec<_> = accounts.iter().map(|account| lines_before(account, sequence)).collect();
    let lasts: Vec<Option<AccountLine>> = tx.lasts(&ranges)?;
    Ok(lasts.into_iter().map(|last| last.map(|line| line.balance)).collect())
}

/// The lines of an account before the entry with this sequence.
fn lines_before(account: &str, sequence: u64) -> Range {
    Range { from: prefix(&[account]), to: Some(numbered(&[account], line_number(sequence, 0))) }
}

/// The sequences of the entries that were posted on these days; of all entries that there are for none.
fn posted_on(tx: &mut Tx<'_>, dates: Option<DateRange>) -> Result<Span<u64>, Fault> {
    match dates {
        None => Ok(1..last_sequence(tx)? + 1),
        Some(dates) => Ok(sequence_at(tx, dates.first.start())?..sequence_at(tx, dates.last.next().start())?),
    }
}

/// The sequence of the first entry that was posted at a moment or later, which may be the next one to come.
pub fn sequence_at(tx: &mut Tx<'_>, moment: Timestamp) -> Result<u64, Fault> {
    let entries = 1..last_sequence(tx)? + 1;
    first_at::<StoredEntry>(tx, entries, moment)
}

fn not_found(account: &str) -> Fault {
    Fault::new(fault::ACCOUNT_NOT_FOUND, format!("there is no ledger account \"{account}\""))
}

fn sort_key(account: &LedgerAccount, column: &str) -> SortKey {
    match column {
        "name" => account.name.as_ref().into(),
        "kind" => account.kind.as_str().into(),
        "balance" => account.balance.into(),
        "createdOn" => account.created_on.millis().into(),
        _ => (&account.identifier).into(),
    }
}
