//! The sums of a trial balance over any number of accounts, in short transactions.

use super::posting::entry_at;
use super::reads::balances_before;
use crate::domain::ledger::on_sides;
use crate::store::Tx;
use crate::store::engine::Range;
use crate::store::record::Record;
use crate::store::tx::decode;
use mfa_shared::amount::Amount;
use mfa_shared::api::ledger::LedgerAccount;
use mfa_shared::fault::Fault;

/// Accounts that are read in one transaction.
const ACCOUNTS_AT_ONCE: usize = 500;

/// Sums of the balances before one entry of the journal. These never change, so it does not matter how many
/// transactions read them, or what is posted meanwhile.
#[derive(Debug, Clone)]
pub struct Totals {
    /// The sequence of the entry.
    before: u64,
    /// The accounts that are not added yet.
    left: Option<Range>,
    /// Of the balances on the debit side.
    pub debit: Amount,
    /// Of those on the credit side.
    pub credit: Amount,
}

impl Totals {
    /// None added yet.
    pub fn before(sequence: u64) -> Self {
        let left = Some(Range::prefix(&[]));
        Self { before: sequence, left, debit: Amount::ZERO, credit: Amount::ZERO }
    }

    /// Whether all accounts are added.
    pub fn is_done(&self) -> bool {
        self.left.is_none()
    }

    /// Adds the next accounts.
    pub fn add_next(mut self, tx: &mut Tx<'_>) -> Result<Self, Fault> {
        let Some(range) = self.left.take() else { return Ok(self) };
        let page = tx.scan(LedgerAccount::SPACE, &range, false, ACCOUNTS_AT_ONCE)?;
        if let Some((last, _)) = page.last().filter(|_| page.len() == ACCOUNTS_AT_ONCE) {
            self.left = Some(Range { from: [last.as_slice(), &[0]].concat(), ..range });
        }
        let moment = entry_at(tx, self.before)?.map(|stored| stored.entry.posted_on);
        let accounts = page.iter().map(|(_, value)| decode(LedgerAccount::SPACE, value));
        let accounts = accounts.collect::<Result<Vec<LedgerAccount>, Fault>>()?;
        // Nothing was posted on most accounts since.
        let is_same = |account: &&LedgerAccount| {
            moment.is_none_or(|moment| account.last_entry_on.is_none_or(|on| on < moment))
        };
        let (same, moved): (Vec<_>, Vec<_>) = accounts.iter().partition(is_same);
        let names: Vec<_> = moved.iter().map(|account| account.identifier.as_str()).collect();
        let before = balances_before(tx, &names, self.before)?.into_iter().map(Option::unwrap_or_default);
        let balances = same.iter().map(|account| account.balance).chain(before);
        for (account, balance) in same.iter().chain(&moved).zip(balances) {
            let (debit, credit) = on_sides(account.kind, balance);
            (self.debit, self.credit) = (self.debit.plus(debit), self.credit.plus(credit));
        }
        Ok(self)
    }
}
