//! Accounts as they were at one moment, however many postings there were since: a list that is read bit by
//! bit beside the postings shows books that balance.

use super::posting::{entry_at, last_posting, line_at};
use crate::domain::ledger::balance;
use crate::store::Tx;
use crate::store::engine::Range;
use crate::store::record::{Record, number, numbered, prefix};
use crate::store::records::{AccountLine, ENTRY_LINES_MAX, StoredEntry, line_number};
use crate::store::tx::decode;
use mfa_shared::api::ledger::{AccountRole, LedgerAccount, Side};
use mfa_shared::fault::Fault;
use mfa_shared::time::Timestamp;
use std::collections::BTreeSet;

/// A moment in the order of posting.
#[derive(Debug, Clone, Copy)]
pub struct Moment {
    /// Sequence of the last entry; 0 before the first.
    sequence: u64,
    /// When it was posted.
    posted_on: Option<Timestamp>,
    now: Timestamp,
}

impl Moment {
    /// The moment of a transaction.
    pub fn of(tx: &mut Tx<'_>) -> Result<Self, Fault> {
        let last = last_posting(tx)?;
        Ok(Self {
            sequence: last.as_ref().map_or(0, |last| last.sequence),
            posted_on: last.map(|last| last.posted_on),
            now: tx.now(),
        })
    }

    /// The accounts on which something was posted since.
    pub fn posted_since(self, tx: &mut Tx<'_>) -> Result<BTreeSet<String>, Fault> {
        let mut accounts = BTreeSet::new();
        let from = StoredEntry::at(self.sequence + 1);
        tx.walk(StoredEntry::SPACE, Range { from, to: None }, &mut |_, value| {
            let StoredEntry { entry, .. } = decode(StoredEntry::SPACE, value)?;
            accounts.extend(entry.lines.into_iter().map(|line| line.account_identifier));
            Ok(true)
        })?;
        Ok(accounts)
    }

    /// An account as it was at this moment; nothing, if it came into being later. Only its currency is that
    /// of today, which an account gets once and keeps, if it had any line.
    pub fn restore(
        self,
        tx: &mut Tx<'_>,
        mut account: LedgerAccount,
    ) -> Result<Option<LedgerAccount>, Fault> {
        // What has not happened yet was written by a clock that was wrong, so it says nothing of the order.
        let is_new = account.created_on > self.now && account.created_on <= tx.now();
        // Entries are posted in the order of time.
        if account.last_entry_on < self.posted_on {
            return Ok(Some(account).filter(|account| !is_new || account.last_entry_on.is_some()));
        }
        let under = prefix(&[&account.identifier]);
        let here = line_number(self.sequence + 1, 0);
        let next = numbered(&[&account.identifier], here);
        let mut later = Vec::new();
        tx.walk(AccountLine::SPACE, Range { from: next.clone(), ..Range::prefix(&under) }, &mut |key, _| {
            later.push(number(key));
            Ok(true)
        })?;
        if later.is_empty() {
            return Ok(Some(account).filter(|account| !is_new || account.last_entry_on.is_some()));
        }
        for number in later {
            let Some((_, line)) = line_at(tx, number)? else { continue };
            match line.side {
                Side::Debit => account.debit_total = account.debit_total.minus(line.amount),
                Side::Credit => account.credit_total = account.credit_total.minus(line.amount),
            }
        }
        account.balance = balance(account.kind, account.debit_total, account.credit_total);
        let last: Option<AccountLine> = tx.last(&Range { from: under, to: Some(next) })?;
        if is_new && last.is_none() {
            return Ok(None);
        }
        let entry = match &last {
            Some(line) => entry_at(tx, line.number / ENTRY_LINES_MAX)?,
            None => None,
        };
        account.last_entry_on = entry.map(|stored| stored.entry.posted_on);
        if last.is_none() && account.role != Some(AccountRole::Customer) {
            account.currency = None;
        }
        Ok(Some(account))
    }
}
