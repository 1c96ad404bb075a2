//! Posting: one entry, its lines, and the balances after it, in one transaction.

use crate::domain::ledger::{self, check_lines};
use crate::domain::teller::count_movement;
use crate::random;
use crate::store::Tx;
use crate::store::engine::Range;
use crate::store::record::{Record, number, prefix};
use crate::store::records::{
    AccountLine, DRAWER_ENTRIES, DrawerCash, ENTRY_LINES_MAX, LastPosting, SessionCash, StoredEntry,
    line_number,
};
use mfa_shared::amount::Amount;
use mfa_shared::api::ledger::{AccountRole, JournalEntry, JournalLine, LedgerAccount, Side};
use mfa_shared::api::tellers::CashMovements;
use mfa_shared::fault::{self, Fault};
use mfa_shared::time::{Date, Timestamp};

/// Entries of a drawer that are asked for in one message to a database.
const ENTRIES_AT_ONCE: usize = 500;

/// An entry that is to be posted.
#[derive(Debug, Clone)]
pub struct Entry<'a> {
    /// Type of the transaction or adjustment.
    pub r#type: &'a str,
    /// In words.
    pub message: &'a str,
    /// The business date that the client gave; else the time of posting.
    pub transaction_date: Option<Timestamp>,
    /// The authenticated user.
    pub clerk: &'a str,
    /// Code of the teller at whom it is posted; interest and dividends have none.
    pub teller_code: Option<&'a str>,
    /// The teller's transaction.
    pub teller_transaction: Option<&'a str>,
    /// The lines in their order; those of amount 0 are left out.
    pub lines: Vec<JournalLine>,
}

/// A debit line.
pub fn debit(account: &str, role: AccountRole, amount: Amount) -> JournalLine {
    JournalLine { account_identifier: account.to_owned(), side: Side::Debit, role, amount }
}

/// A credit line.
pub fn credit(account: &str, role: AccountRole, amount: Amount) -> JournalLine {
    JournalLine { account_identifier: account.to_owned(), side: Side::Credit, role, amount }
}

/// Posts an entry, if a line of it moves anything. Its accounts are named before, and their balances are
/// kept in step; whether they may become what they become is for the caller to say.
pub fn post(tx: &mut Tx<'_>, entry: Entry<'_>) -> Result<Option<JournalEntry>, Fault> {
    let lines: Vec<_> = entry.lines.into_iter().filter(|line| !line.amount.is_zero()).collect();
    if lines.is_empty() {
        return Ok(None);
    }
    check_lines(&lines).map_err(|why| {
        Fault::new(fault::INTERNAL, format!("an entry of type {} is invalid: {why:?}", entry.r#type))
    })?;
    let before = last_posting(tx)?;
    let (sequence, posted_on, seal) = match &before {
        // Order and dates go by posting, also when the clock was set back.
        Some(last) => (last.sequence + 1, tx.now().max(last.posted_on), last.seal.as_str()),
        None => (1, tx.now(), ""),
    };
    let written = JournalEntry {
        identifier: ledger::entry_identifier(sequence, &random::hex::<8>()),
        sequence: i64::try_from(sequence).unwrap_or(i64::MAX),
        r#type: entry.r#type.to_owned(),
        message: entry.message.to_owned(),
        posted_on,
        transaction_date: entry.transaction_date.unwrap_or(posted_on),
        clerk: entry.clerk.to_owned(),
        teller_code: entry.teller_code.map(str::to_owned),
        teller_transaction_identifier: entry.teller_transaction.map(str::to_owned),
        lines,
    };
    move_balances(tx, &written)?;
    move_cash(tx, &written)?;
    let stored = StoredEntry::new(written.clone(), seal);
    tx.add(&stored);
    tx.add(&LastPosting { sequence, posted_on, seal: stored.seal });
    Ok(Some(written))
}

fn move_balances(tx: &mut Tx<'_>, entry: &JournalEntry) -> Result<(), Fault> {
    let mut before: Vec<LedgerAccount> = Vec::new();
    for line in &entry.lines {
        if !before.iter().any(|account| account.identifier == line.account_identifier) {
            before.push(named(tx, &line.account_identifier)?);
        }
    }
    let code = join_currencies(before.iter())?;
    let mut accounts = before.clone();
    for (before, account) in before.iter().zip(&mut accounts) {
        for line in entry.lines.iter().filter(|line| line.account_identifier == account.identifier) {
            match line.side {
                Side::Debit => account.debit_total = account.debit_total.plus(line.amount),
                Side::Credit => account.credit_total = account.credit_total.plus(line.amount),
            }
        }
        account.balance = ledger::balance(account.kind, account.debit_total, account.credit_total);
        account.last_entry_on = Some(entry.posted_on);
        if account.currency.is_none() {
            account.currency.clone_from(&code);
        }
        tx.replace(before, account);
    }
    for (place, line) in (0..).zip(&entry.lines) {
        // Every line's account was collected above.
        let account = accounts.iter().find(|account| account.identifier == line.account_identifier);
        let balance = account.map_or(Amount::ZERO, |account| account.balance);
        let number = line_number(entry.sequence.unsigned_abs(), place);
        tx.add(&AccountLine { account: line.account_identifier.clone(), number, balance });
    }
    Ok(())
}

fn move_cash(tx: &mut Tx<'_>, entry: &JournalEntry) -> Result<(), Fault> {
    if !entry.lines.iter().any(|line| line.role == AccountRole::Drawer) {
        return Ok(());
    }
    let Some(teller) = &entry.teller_code else {
        return Err(Fault::new(fault::INTERNAL, "an entry of no teller moves the cash of a drawer"));
    };
    let empty = || DrawerCash { teller: teller.clone(), cash: Amount::ZERO, session: None };
    let mut drawer = tx.get::<DrawerCash>(&[teller])?.unwrap_or_else(empty);
    drawer.cash = drawer.cash.plus(Amount::sum(entry.lines.iter().map(ledger::cash_moved)));
    if let Some(session) = drawer.session.as_mut().filter(|_| entry.r#type != ledger::ACCOUNT_CHANGE) {
        for line in entry.lines.iter().filter(|line| line.role == AccountRole::Drawer) {
            count_movement(&mut session.moved, &entry.message, line.side, line.amount);
        }
    }
    tx.add(&drawer);
    Ok(())
}

/// Begins a session of a teller behind an entry, with the cash that is carried over.
pub fn begin_session(
    tx: &mut Tx<'_>,
    teller: &str,
    after: u64,
    carried: (&str, Amount),
) -> Result<(), Fault> {
    let cash = drawer_cash(tx, teller)?;
    let mut moved = Vec::new();
    let (message, amount) = carried;
    if !amount.is_zero() {
        count_movement(&mut moved, message, Side::Debit, amount);
    }
    let session = Some(SessionCash { after, moved });
    tx.add(&DrawerCash { teller: teller.to_owned(), cash, session });
    Ok(())
}

/// What the session of a teller behind an entry has moved so far, by messages; nothing where it is not
/// counted.
pub fn session_cash(tx: &mut Tx<'_>, teller: &str, after: u64) -> Result<Option<Vec<CashMovements>>, Fault> {
    let session = tx.get::<DrawerCash>(&[teller])?.and_then(|drawer| drawer.session);
    Ok(session.filter(|session| session.after == after).map(|session| session.moved))
}

/// Gives an account that has no currency yet the one of the product that uses it.
pub fn give_currency(tx: &mut Tx<'_>, account: &str, code: &str) -> Result<(), Fault> {
    let before = named(tx, account)?;
    if before.currency.is_none() {
        let currency = Some(code.to_owned());
        tx.replace(&before, &LedgerAccount { currency, ..before.clone() });
    }
    Ok(())
}

fn named(tx: &mut Tx<'_>, account: &str) -> Result<LedgerAccount, Fault> {
    let found = tx.get(&[account])?;
    found.ok_or_else(|| Fault::new(fault::INTERNAL, format!("the ledger account {account} was not named")))
}

/// The one currency of these accounts, if any has one; 409 where two have different ones.
pub fn join_currencies<'a>(
    accounts: impl Iterator<Item = &'a LedgerAccount> + Clone,
) -> Result<Option<String>, Fault> {
    let code = ledger::join(accounts.clone().map(|account| account.currency.as_deref()));
    code.map(|code| code.map(str::to_owned)).map_err(|(one, other)| {
        let has = |code: &str| {
            let of = accounts.clone().find(|account| account.currency.as_deref() == Some(code));
            of.map_or(String::new(), |account| format!("{} has {code}", account.identifier))
        };
        Fault::new(fault::CURRENCY_MISMATCH, format!("account {}, account {}", has(one), has(other)))
    })
}

/// The end of the journal; none before the first entry.
pub(super) fn last_posting(tx: &mut Tx<'_>) -> Result<Option<LastPosting>, Fault> {
    tx.get(LastPosting::KEY)
}

/// Ends a day for postings: from now on nothing is posted on it any more, whatever the clock of this or
/// another machine says. A posting that is under way there writes the same record, so it is decided again.
pub fn end_day(tx: &mut Tx<'_>, day: Date) -> Result<(), Fault> {
    let end = day.next().start();
    if let Some(last) = last_posting(tx)?.filter(|last| last.posted_on < end) {
        tx.add(&LastPosting { posted_on: end, ..last });
    }
    Ok(())
}

/// The sequence of the last entry of the journal; 0 before the first.
pub fn last_sequence(tx: &mut Tx<'_>) -> Result<u64, Fault> {
    Ok(last_posting(tx)?.map_or(0, |last| last.sequence))
}

/// The cash in the drawer of a teller; 0 before it is first opened.
pub fn drawer_cash(tx: &mut Tx<'_>, teller: &str) -> Result<Amount, Fault> {
    Ok(tx.get::<DrawerCash>(&[teller])?.map_or(Amount::ZERO, |drawer| drawer.cash))
}

/// Looks at each drawer line of a teller in the entries behind `sequence`, with its entry, in the order of
/// posting.
pub fn walk_drawer(
    tx: &mut Tx<'_>,
    teller: &str,
    sequence: u64,
    look: &mut dyn FnMut(&JournalEntry, &JournalLine),
) -> Result<(), Fault> {
    let under = prefix(&[teller]);
    let mut range = Range::prefix(&under);
    range.from = [under, StoredEntry::at(sequence + 1)].concat();
    let mut sequences = Vec::new();
    tx.walk(DRAWER_ENTRIES, range, &mut |entry, _| {
        sequences.push(number(entry));
        Ok(true)
    })?;
    for sequences in sequences.chunks(ENTRIES_AT_ONCE) {
        let keys: Vec<_> = sequences.iter().map(|sequence| StoredEntry::at(*sequence)).collect();
        tx.expect(StoredEntry::SPACE, &keys)?;
        for key in &keys {
            let Some(StoredEntry { entry, .. }) = tx.at(key)? else { continue };
            entry.lines.iter().filter(|line| line.role == AccountRole::Drawer).for_each(|l| look(&entry, l));
        }
    }
    Ok(())
}

/// The entry and the line with a line number.
pub(super) fn line_at(tx: &mut Tx<'_>, number: u64) -> Result<Option<(JournalEntry, JournalLine)>, Fault> {
    let Some(stored) = entry_at(tx, number / ENTRY_LINES_MAX)? else { return Ok(None) };
    let place = usize::try_from(number % ENTRY_LINES_MAX).unwrap_or(usize::MAX);
    let line = stored.entry.lines.get(place).cloned();
    Ok(line.map(|line| (stored.entry, line)))
}

/// The entry with a sequence.
pub fn entry_at(tx: &mut Tx<'_>, sequence: u64) -> Result<Option<StoredEntry>, Fault> {
    tx.at(&StoredEntry::at(sequence))
}
