//! The double-entry ledger. Contract: `deposits.md` section 4.
//!
//! Definitions, instances and tellers name accounts ([`name_account`], [`name_customer_account`]) and post
//! entries ([`post`]); both happen in the transaction of the request that caused them.

mod lists;
mod moment;
mod naming;
mod posting;
mod reads;
#[cfg(test)]
pub(super) mod tests;
mod totals;

pub use lists::Entries;
pub use naming::{CustomerAccount, add_account, name_account, name_customer_account};
pub use posting::{
    Entry, begin_session, credit, debit, drawer_cash, end_day, entry_at, give_currency, join_currencies,
    last_sequence, post, session_cash, walk_drawer,
};
pub use reads::{
    DailyBalances, EndOfDay, Period, balance_after, balance_at, balance_on, daily_balances, get_account,
    get_entry, list_account_entries, list_accounts, list_journal, sequence_at, statement, trial_balance,
};
pub use totals::Totals;

use crate::store::Tx;
use mfa_shared::amount::Amount;
use mfa_shared::api::ledger::LedgerAccount;
use mfa_shared::fault::Fault;
use mfa_shared::time::Timestamp;

/// The balance of an account; 0 before it is named.
pub fn balance(tx: &mut Tx<'_>, account: &str) -> Result<Amount, Fault> {
    Ok(tx.get::<LedgerAccount>(&[account])?.map_or(Amount::ZERO, |account| account.balance))
}

/// The present moment in the order of posting: never before the last entry, even if the clock was set back.
/// An account that is closed gets this moment.
pub fn posting_time(tx: &mut Tx<'_>) -> Result<Timestamp, Fault> {
    let last = posting::last_posting(tx)?;
    Ok(last.map_or(tx.now(), |last| tx.now().max(last.posted_on)))
}
