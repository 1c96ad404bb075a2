//! Actions. Contract: `deposits.md` section 1.

use super::Caller;
use crate::ops::rows::Rows;
use crate::store::Tx;
use crate::store::records::{ACTIONS_BY_IDENTIFIER, StoredAction};
use mfa_shared::api::actions::*;
use mfa_shared::fault::{self, Fault};
use mfa_shared::wire::{Accepted, Json, Nothing};

/// `POST /actions`
pub fn create(
    tx: &mut Tx<'_>,
    _: &Caller,
    _: &CreateAction,
    Json(new): &Json<Action>,
) -> Result<Accepted, Fault> {
    if exists(tx, &new.identifier)? {
        let detail = format!("there is an action \"{}\" already", new.identifier);
        return Err(Fault::new(fault::IDENTIFIER_TAKEN, detail));
    }
    let number = tx.next_number::<StoredAction>(&[])?;
    tx.put(&StoredAction { number, action: new.clone() })?;
    Ok(Accepted)
}

/// `GET /actions`
pub fn list(
    _: &mut Tx<'_>,
    _: &Caller,
    _: &ListActions,
    _: &Nothing,
) -> Result<Rows<StoredAction, Action>, Fault> {
    Ok(Rows::all(&[], |_, stored| Ok(stored.action)))
}

/// Whether there is an action with this identifier.
pub fn exists(tx: &mut Tx<'_>, identifier: &str) -> Result<bool, Fault> {
    tx.any(ACTIONS_BY_IDENTIFIER, &[identifier])
}

/// Whether an action is for a type of transaction, letter case aside.
pub fn is_for_type(tx: &mut Tx<'_>, identifier: &str, transaction_type: &str) -> Result<bool, Fault> {
    let found = tx.indexed::<StoredAction>(ACTIONS_BY_IDENTIFIER, &[identifier])?;
    Ok(found.iter().any(|stored| stored.action.transaction_type.eq_ignore_ascii_case(transaction_type)))
}
