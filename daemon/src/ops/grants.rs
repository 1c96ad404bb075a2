//! What roles and applications carry, for the rule that no one grants more than they hold.

use crate::domain::privilege::Exceeds;
use crate::store::Tx;
use crate::store::record::Record as _;
use crate::store::records::{StoredPermission, StoredSignature};
use mfa_shared::api::roles::{PHARAOH, Permission, Role};
use mfa_shared::fault::{self, Fault};

/// What a role carries; one that does not exist carries nothing.
pub fn of_role(tx: &mut Tx<'_>, role: &str) -> Result<Vec<Permission>, Fault> {
    Ok(tx.get::<Role>(&[role])?.map_or(Vec::new(), |role| role.permissions))
}

/// What an application carries.
pub fn of_application(tx: &mut Tx<'_>, application: &str) -> Result<Vec<Permission>, Fault> {
    Ok(tx.all::<StoredPermission>(&[application])?.into_iter().map(|stored| stored.permission).collect())
}

/// Whether an application has a key, without which it cannot sign in.
pub fn has_key(tx: &mut Tx<'_>, application: &str) -> Result<bool, Fault> {
    tx.any(StoredSignature::SPACE, &[application])
}

/// The fault of a caller who would grant more than they hold; `what` says what is not theirs to change.
pub fn exceeds(exceeds: Exceeds, what: &str) -> Fault {
    let detail = if exceeds.pharaoh_only {
        format!("{what}: only a login of a user with role {PHARAOH} may do this")
    } else {
        format!("{what}: this carries permissions that the caller does not hold")
    };
    Fault::new(fault::EXCEEDS_OWN_PERMISSIONS, detail).missing(exceeds.missing)
}
