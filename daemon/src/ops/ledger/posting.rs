//! Posting: one entry, its lines, and the balances after it, in one transaction.

use crate::domain::ledger::{self, check_lines};
use crate::store::Tx;
use crate::store::engine::Range;
use crate::store::record::{Record, number, numbered, prefix};
use crate::store::records::{AccountLine, DrawerLine, StoredEntry, line_number};
use crate::store::tx::decode;
use mfa_shared::amount::Amount;
use mfa_shared::api::ledger::{AccountRole, JournalEntry, JournalLine, LedgerAccount, Side};
use mfa_shared::fault::{self, Fault};
use mfa_shared::time::Timestamp;

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
    /// Code of the teller at whom it is posted.
    pub teller_code: &'a str,
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
        Fault::new(fault::INTERNAL, format!("an entry of type {} is none: {why:?}", entry.r#type))
    })?;
    let before = last_entry(tx)?;
    let (sequence, posted_on, seal) = match &before {
        // Order and dates go by posting, also when the clock was set back.
        Some(last) => (last.entry.sequence + 1, tx.now().max(last.entry.posted_on), last.seal.as_str()),
        None => (1, tx.now(), ""),
    };
    let written = JournalEntry {
        identifier: crate::random::hex::<16>(),
        sequence,
        r#type: entry.r#type.to_owned(),
        message: entry.message.to_owned(),
        posted_on,
        transaction_date: entry.transaction_date.unwrap_or(posted_on),
        clerk: entry.clerk.to_owned(),
        teller_code: entry.teller_code.to_owned(),
        teller_transaction_identifier: entry.teller_transaction.map(str::to_owned),
        lines,
    };
    move_balances(tx, &written)?;
    move_cash(tx, &written)?;
    tx.add(&StoredEntry::new(written.clone(), seal));
    Ok(Some(written))
}

fn move_balances(tx: &mut Tx<'_>, entry: &JournalEntry) -> Result<(), Fault> {
    let mut before: Vec<LedgerAccount> = Vec::new();
    for line in &entry.lines {
        if !before.iter().any(|account| account.identifier == line.account_identifier) {
            before.push(named(tx, &line.account_identifier)?);
        }
    }
    let (code, mut accounts) = (joined(&before)?, before.clone());
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
    let teller = &entry.teller_code;
    let moved = Amount::sum(entry.lines.iter().map(ledger::cash_moved));
    let cash = drawer_cash(tx, teller)?.plus(moved);
    for (place, _) in (0..).zip(&entry.lines).filter(|(_, line)| line.role == AccountRole::Drawer) {
        let number = line_number(entry.sequence.unsigned_abs(), place);
        tx.add(&DrawerLine { teller: teller.clone(), number, cash });
    }
    Ok(())
}

fn named(tx: &mut Tx<'_>, account: &str) -> Result<LedgerAccount, Fault> {
    let found = tx.get(&[account])?;
    found.ok_or_else(|| Fault::new(fault::INTERNAL, format!("nobody named the ledger account {account}")))
}

fn joined(accounts: &[LedgerAccount]) -> Result<Option<String>, Fault> {
    let code = ledger::join(accounts.iter().map(|account| account.currency.as_deref()));
    code.map(|code| code.map(str::to_owned)).map_err(|(one, other)| {
        let has = |code: &str| {
            let of = accounts.iter().find(|account| account.currency.as_deref() == Some(code));
            of.map_or(String::new(), |account| format!("{} has {code}", account.identifier))
        };
        Fault::new(fault::CURRENCY_MISMATCH, format!("account {}, account {}", has(one), has(other)))
    })
}

/// The one currency of these accounts, if any has one; 409 where two have different ones.
pub fn join_currencies(tx: &mut Tx<'_>, accounts: &[&str]) -> Result<Option<String>, Fault> {
    let mut found = Vec::new();
    for account in accounts {
        found.extend(tx.get::<LedgerAccount>(&[account])?);
    }
    joined(&found)
}

/// The last entry of the journal.
pub(super) fn last_entry(tx: &mut Tx<'_>) -> Result<Option<StoredEntry>, Fault> {
    tx.last(&Range::prefix(&[]))
}

/// The sequence of the last entry of the journal; 0 before the first.
pub fn last_sequence(tx: &mut Tx<'_>) -> Result<u64, Fault> {
    Ok(last_entry(tx)?.map_or(0, |last| last.entry.sequence.unsigned_abs()))
}

/// Cash in the drawer of a teller: debits minus credits of all its lines with the role DRAWER, whatever
/// account they are on.
pub fn drawer_cash(tx: &mut Tx<'_>, teller: &str) -> Result<Amount, Fault> {
    let last: Option<DrawerLine> = tx.last(&Range::prefix(&prefix(&[teller])))?;
    Ok(last.map_or(Amount::ZERO, |line| line.cash))
}

/// The drawer lines of a teller in the entries behind `sequence`, each with its entry, in the order of
/// posting.
pub fn drawer_lines(
    tx: &mut Tx<'_>,
    teller: &str,
    sequence: u64,
) -> Result<Vec<(JournalEntry, JournalLine)>, Fault> {
    let mut range = Range::prefix(&prefix(&[teller]));
    range.from = numbered(&[teller], line_number(sequence + 1, 0));
    let mut numbers = Vec::new();
    tx.walk(DrawerLine::SPACE, range, &mut |key, _| {
        numbers.push(number(key));
        Ok(true)
    })?;
    let mut found = Vec::with_capacity(numbers.len());
    for number in numbers {
        found.extend(line_at(tx, number)?);
    }
    Ok(found)
}

/// The entry and the line with a line number.
pub(super) fn line_at(tx: &mut Tx<'_>, number: u64) -> Result<Option<(JournalEntry, JournalLine)>, Fault> {
    use crate::store::records::ENTRY_LINES_MAX;
    let Some(stored) = entry_at(tx, number / ENTRY_LINES_MAX)? else { return Ok(None) };
    let place = usize::try_from(number % ENTRY_LINES_MAX).unwrap_or(usize::MAX);
    let line = stored.entry.lines.get(place).cloned();
    Ok(line.map(|line| (stored.entry, line)))
}

/// The entry with a sequence.
pub fn entry_at(tx: &mut Tx<'_>, sequence: u64) -> Result<Option<StoredEntry>, Fault> {
    let value = tx.value(StoredEntry::SPACE, &StoredEntry::at(sequence))?;
    value.map(|bytes| decode(StoredEntry::SPACE, &bytes)).transpose()
}
