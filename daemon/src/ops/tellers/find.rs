//! Tellers by the codes of a path.

use crate::ops::offices;
use crate::store::Tx;
use crate::store::records::StoredTeller;
use mfa_shared::fault::{self, Fault};

/// The teller of an office.
pub fn managed(tx: &mut Tx<'_>, office: &str, teller: &str) -> Result<StoredTeller, Fault> {
    offices::find(tx, office)?;
    let found = tx.get::<StoredTeller>(&[teller])?.filter(|stored| stored.office == office);
    let missing =
        || Fault::new(fault::TELLER_NOT_FOUND, format!("office {office} has no teller \"{teller}\""));
    found.ok_or_else(missing)
}

/// The teller of an operation, whatever its state.
pub fn find(tx: &mut Tx<'_>, teller: &str) -> Result<StoredTeller, Fault> {
    let missing = || Fault::new(fault::TELLER_NOT_FOUND, format!("there is no teller \"{teller}\""));
    tx.get(&[teller])?.ok_or_else(missing)
}
