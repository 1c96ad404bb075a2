//! Lists of entries. The journal only grows, so a list holds on to the entries that were there when it was
//! asked for, and shows them as one moment however long it is read.

use super::posting::{entry_at, line_at};
use crate::domain::numbers::{ListName, ListOf, Numbers};
use crate::ops::known::{Asked, Page, known};
use crate::ops::list::{Cursor, List};
use crate::ops::listing::{envelope, json};
use crate::store::Tx;
use crate::store::engine::{Range, Space};
use crate::store::record::{Record, number, numbered};
use crate::store::records::{AccountLine, ENTRY_LINES_MAX, StoredEntry, line_number};
use crate::store::tx::decode;
use mfa_shared::api::ledger::{AccountEntry, Side};
use mfa_shared::fault::Fault;
use mfa_shared::query::Listed;
use mfa_shared::query::{PAGE_SIZE_DEFAULT, Paging};
use std::fmt;
use std::marker::PhantomData;
use std::ops::Range as Span;
use std::sync::Arc;

/// Numbers that are looked at in one step.
const STEP: usize = 500;
/// Entries outside of the part that was asked for are looked at, too, if they are no more than this and the
/// whole list is known then. A few in tests, so that they also have parts of their own.
const NEAR: u64 = if cfg!(test) { 30 } else { 1_000 };

/// What a list is of.
#[derive(Debug, Clone)]
pub enum Of {
    /// The entries of the journal.
    Journal,
    /// The entries of the journal with a line on this account.
    EntriesOn(String),
    /// The lines on this account.
    LinesOn(String),
    /// The lines on this account, each with the balance after it; lines on this side raise the balance.
    Statement(String, Side),
}

/// A list of entries of the journal, or of lines of an account.
pub struct Entries<T> {
    of: Of,
    numbers: Span<u64>,
    r#type: Option<String>,
    descending: bool,
    page_index: u64,
    size: u64,
    shown: PhantomData<fn() -> T>,
}

/// The result of one step through the numbers.
struct Step {
    found: Vec<u64>,
    looked_at: usize,
    /// What remains.
    left: Span<u64>,
}

impl<T> fmt::Debug for Entries<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entries").field("of", &self.of).finish_non_exhaustive()
    }
}

impl<T> Entries<T> {
    /// The entries with these sequences, in the part that the request asks for.
    pub fn new(of: Of, sequences: Span<u64>, paging: &Paging<T>) -> Self {
        let numbers = match of {
            Of::Journal => sequences,
            Of::EntriesOn(_) | Of::LinesOn(_) | Of::Statement(..) => {
                line_number(sequences.start, 0)..line_number(sequences.end, 0)
            }
        };
        Self {
            of,
            numbers,
            r#type: None,
            descending: paging.descending,
            page_index: paging.page_index.unwrap_or(0).into(),
            size: paging.size.unwrap_or(PAGE_SIZE_DEFAULT).into(),
            shown: PhantomData,
        }
    }

    /// Only entries of this type.
    pub fn of_type(mut self, r#type: Option<String>) -> Self {
        self.r#type = r#type;
        self
    }

    /// The numbers of the next matches, how many were looked at, and what remains behind them.
    fn step(&self, tx: &mut Tx<'_>, left: Span<u64>, descending: bool) -> Result<Step, Fault> {
        let (space, parts): (Space, Vec<&str>) = match &self.of {
            Of::Journal => (StoredEntry::SPACE, Vec::new()),
            Of::EntriesOn(account) | Of::LinesOn(account) | Of::Statement(account, _) => {
                (AccountLine::SPACE, vec![account])
            }
        };
        let range = Range { from: numbered(&parts, left.start), to: Some(numbered(&parts, left.end)) };
        let pairs = tx.scan(space, &range, descending, STEP)?;
        let looked: Vec<u64> = pairs.iter().map(|(key, _)| number(key)).collect();
        let left = match looked.last() {
            Some(last) if looked.len() == STEP && descending => left.start..*last,
            Some(last) if looked.len() == STEP => last + 1..left.end,
            _ => left.end..left.end,
        };
        let found = match (&self.of, &self.r#type) {
            (Of::EntriesOn(account), None) => firsts(tx, account, &looked, descending)?,
            (Of::EntriesOn(account), Some(asked)) => {
                let lines = firsts(tx, account, &looked, descending)?;
                self.typed(tx, lines, asked)?
            }
            (Of::Journal, Some(asked)) => {
                let mut found = Vec::new();
                for (number, (_, value)) in looked.iter().zip(&pairs) {
                    let stored: StoredEntry = decode(space, value)?;
                    found.extend(Some(*number).filter(|_| stored.entry.r#type == *asked));
                }
                found
            }
            _ => looked.clone(),
        };
        Ok(Step { found, looked_at: looked.len(), left })
    }

    /// Those lines whose entry is of a type. All entries are announced at once.
    fn typed(&self, tx: &mut Tx<'_>, lines: Vec<u64>, asked: &str) -> Result<Vec<u64>, Fault> {
        self.expect(tx, &lines)?;
        let mut found = Vec::new();
        for line in lines {
            let stored = entry_at(tx, line / ENTRY_LINES_MAX)?;
            found.extend(stored.filter(|stored| stored.entry.r#type == asked).map(|_| line));
        }
        Ok(found)
    }

    fn name(&self) -> ListName {
        let r#type = self.r#type.clone();
        let of = match &self.of {
            Of::Journal => ListOf::Entries { account: None, r#type },
            Of::EntriesOn(account) => ListOf::Entries { account: Some(account.clone()), r#type },
            Of::LinesOn(account) | Of::Statement(account, _) => ListOf::Lines(account.clone()),
        };
        of.into()
    }

    /// The numbers of the list that are in memory, and what may be kept of those that are not yet.
    fn known(&self, tx: &mut Tx<'_>) -> Result<Arc<Numbers>, Fault> {
        let near = if matches!(self.of, Of::Journal) { NEAR } else { line_number(NEAR, 0) };
        let asked = Asked { whole: self.name(), numbers: self.numbers.clone(), near };
        known(tx, asked, |tx, left, all| {
            let end = left.end;
            let Step { found, looked_at, left } = self.step(tx, left, false)?;
            all.add(found, looked_at, if left.is_empty() { end } else { left.start });
            Ok(())
        })
    }

    /// The places of the page in a list of so many.
    fn places(&self, total: u64) -> Span<u64> {
        let skipped = self.page_index.saturating_mul(self.size);
        skipped.min(total)..skipped.saturating_add(self.size).min(total)
    }

    /// How many there are, and the numbers of the page.
    fn page_numbers(&self, tx: &mut Tx<'_>) -> Result<(u64, Vec<u64>), Fault> {
        if let (Of::Journal, None) = (&self.of, &self.r#type) {
            // Sequences have no gaps, so the page is known without looking.
            let start = self.numbers.start;
            let end = self.numbers.end;
            let total = end.saturating_sub(start);
            let at = |place: u64| if self.descending { end - 1 - place } else { start + place };
            return Ok((total, self.places(total).map(at).collect()));
        }
        let mut page = Page::new(self.descending, self.page_index, self.size);
        let known = self.known(tx)?;
        if !self.descending {
            page.add_known(&known, &self.numbers);
        }
        let mut left = known.upto().max(self.numbers.start)..self.numbers.end;
        while !left.is_empty() {
            let step = self.step(tx, left, self.descending)?;
            page.add(step.found);
            left = step.left;
        }
        if self.descending {
            page.add_known(&known, &self.numbers);
        }
        Ok((page.total, page.numbers))
    }

    /// Announces the entries and lines that are shown next.
    fn expect(&self, tx: &mut Tx<'_>, numbers: &[u64]) -> Result<(), Fault> {
        let entry = |number: &u64| match &self.of {
            Of::Journal => StoredEntry::at(*number),
            _ => StoredEntry::at(number / ENTRY_LINES_MAX),
        };
        tx.expect(StoredEntry::SPACE, &numbers.iter().map(entry).collect::<Vec<_>>())?;
        if let Of::LinesOn(account) | Of::Statement(account, _) = &self.of {
            let lines: Vec<_> = numbers.iter().map(|number| numbered(&[account], *number)).collect();
            tx.expect(AccountLine::SPACE, &lines)?;
        }
        Ok(())
    }

    fn shown(&self, tx: &mut Tx<'_>, number: u64) -> Result<Option<Vec<u8>>, Fault> {
        match &self.of {
            Of::Journal => Ok(entry_at(tx, number)?.map(|stored| json(&stored.entry))),
            Of::EntriesOn(_) => Ok(line_at(tx, number)?.map(|(entry, _)| json(&entry))),
            Of::LinesOn(account) => Ok(account_entry(tx, account, None, number)?.map(|entry| json(&entry))),
            Of::Statement(account, raised_by) => {
                Ok(account_entry(tx, account, Some(*raised_by), number)?.map(|entry| json(&entry)))
            }
        }
    }
}

/// Those lines that are the first of their entry on an account: an entry with several is in a list once.
fn firsts(tx: &mut Tx<'_>, account: &str, lines: &[u64], descending: bool) -> Result<Vec<u64>, Fault> {
    let mut found = Vec::with_capacity(lines.len());
    for (at, line) in lines.iter().enumerate() {
        let below = if descending { lines.get(at + 1) } else { at.checked_sub(1).map(|at| &lines[at]) };
        if is_first(tx, account, *line, below.copied())? {
            found.push(*line);
        }
    }
    Ok(found)
}

/// Whether a line is the first of its entry. `below` is the next smaller one, if it is known.
fn is_first(tx: &mut Tx<'_>, account: &str, number: u64, below: Option<u64>) -> Result<bool, Fault> {
    let first = number - number % ENTRY_LINES_MAX;
    if number == first {
        return Ok(true);
    }
    if let Some(below) = below {
        return Ok(below < first);
    }
    let range = Range { from: numbered(&[account], first), to: Some(numbered(&[account], number)) };
    Ok(tx.scan(AccountLine::SPACE, &range, false, 1)?.is_empty())
}

/// A line as its account shows it. With the side that raises the account, its balance is the one after this
/// line: what later lines of the entry move is taken back from the balance that is kept.
fn account_entry(
    tx: &mut Tx<'_>,
    account: &str,
    raised_by: Option<Side>,
    number: u64,
) -> Result<Option<AccountEntry>, Fault> {
    let key = numbered(&[account], number);
    let Some(bytes) = tx.value(AccountLine::SPACE, &key)? else { return Ok(None) };
    let stored: AccountLine = decode(AccountLine::SPACE, &bytes)?;
    let Some((entry, line)) = line_at(tx, number)? else { return Ok(None) };
    let mut balance = stored.balance;
    if let Some(raised_by) = raised_by {
        let place = usize::try_from(number % ENTRY_LINES_MAX).unwrap_or(usize::MAX);
        let later = entry.lines.iter().skip(place.saturating_add(1));
        for later in later.filter(|line| line.account_identifier == account) {
            balance = if later.side == raised_by {
                balance.minus(later.amount)
            } else {
                balance.plus(later.amount)
            };
        }
    }
    Ok(Some(AccountEntry {
        journal_entry_identifier: entry.identifier,
        sequence: entry.sequence,
        side: line.side,
        role: line.role,
        amount: line.amount,
        balance,
        r#type: entry.r#type,
        message: entry.message,
        posted_on: entry.posted_on,
        transaction_date: entry.transaction_date,
        teller_code: entry.teller_code,
    }))
}

impl<T: Listed> List for Entries<T> {
    fn page(&self, tx: &mut Tx<'_>) -> Result<Vec<u8>, Fault> {
        let (total, numbers) = self.page_numbers(tx)?;
        let mut shown = Vec::with_capacity(numbers.len());
        self.expect(tx, &numbers)?;
        for number in numbers {
            shown.extend(self.shown(tx, number)?);
        }
        Ok(envelope::<T>(&shown, total, self.size))
    }

    fn lines(&self, tx: &mut Tx<'_>, cursor: Cursor) -> Result<(Vec<u8>, Cursor), Fault> {
        let left = match cursor {
            Cursor::Span(left) => left,
            _ => self.numbers.clone(),
        };
        let Step { found, left, .. } = self.step(tx, left, self.descending)?;
        let mut out = Vec::new();
        self.expect(tx, &found)?;
        for number in found {
            out.extend(self.shown(tx, number)?.unwrap_or_default());
            out.push(b'\n');
        }
        Ok((out, if left.is_empty() { Cursor::End } else { Cursor::Span(left) }))
    }
}
