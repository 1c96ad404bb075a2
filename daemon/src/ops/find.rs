//! Records by the identifier of a path; a fault if it does not exist.

use crate::store::Tx;
use crate::store::records::{StoredInstance, StoredUser};
use mfa_shared::fault::{self, Fault};

/// The user of a path.
pub fn user(tx: &mut Tx<'_>, user: &str) -> Result<StoredUser, Fault> {
    let found = tx.get(&[user])?;
    found.ok_or_else(|| Fault::new(fault::USER_NOT_FOUND, format!("there is no user \"{user}\"")))
}

/// The account of a path.
pub fn account(tx: &mut Tx<'_>, account: &str) -> Result<StoredInstance, Fault> {
    let found = tx.get(&[account])?;
    found.ok_or_else(|| Fault::new(fault::INSTANCE_NOT_FOUND, format!("there is no account \"{account}\"")))
}
