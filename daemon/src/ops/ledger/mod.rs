//! The double-entry ledger. Contract: `deposits.md` section 4.
//!
//! Definitions, instances and tellers name accounts ([`name_account`], [`name_customer_account`]) and post
//! entries ([`post`]); both happen in the transaction of the request that caused them.

mod lists;
mod naming;
mod posting;
mod reads;
#[cfg(test)]
mod tests;

pub use lists::Entries;
pub use naming::{CustomerAccount, add_account, name_account, name_accounts, name_customer_account};
pub use posting::{Entry, credit, debit, drawer_cash, drawer_lines, join_currencies, last_sequence, post};
pub use reads::{get_account, get_entry, list_account_entries, list_accounts, list_journal, trial_balance};

use crate::store::Tx;
use mfa_shared::amount::Amount;
use mfa_shared::api::ledger::LedgerAccount;
use mfa_shared::fault::Fault;

/// The balance of an account; 0 before it is named.
pub fn balance(tx: &mut Tx<'_>, account: &str) -> Result<Amount, Fault> {
    Ok(tx.get::<LedgerAccount>(&[account])?.map_or(Amount::ZERO, |account| account.balance))
}
