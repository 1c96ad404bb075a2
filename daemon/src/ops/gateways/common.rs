//! What every kind of gateway has in common: what its configurations are refused with, and the note that a
//! secret was read. No kind is named here.

use crate::domain::bootstrap::GATEWAYS;
use crate::domain::permission::permission;
use crate::ops::Caller;
use crate::ops::access::decide;
use crate::store::Tx;
use crate::store::record::Record;
use crate::store::records::{GatewayKind, GatewayUse};
use mfa_shared::api::roles::Operation;
use mfa_shared::endpoint::Meta;
use mfa_shared::fault::{self, Fault};

/// A kind of gateway.
pub trait Gateway: Record {
    /// Its kind, in the note of a use; its word is also that of its paths.
    const KIND: GatewayKind;
    /// What people call one of its configurations.
    const CALLED: &'static str;
    /// The row that shows one with its secret.
    const SHOWN_BY: &'static Meta;
}

/// Refuses a change of where a stored secret is sent by a caller who may not see it, unless a new secret
/// comes with it: otherwise a test message would carry the stored one to a server of the caller.
pub fn refuse_redirect<G: Gateway>(caller: &Caller, identifier: &str) -> Result<(), Fault> {
    let path = ["configuration", G::KIND.as_str(), identifier];
    if caller.is_unchecked() || decide(caller, G::SHOWN_BY, false, &path).is_ok() {
        return Ok(());
    }
    let detail = format!(
        "{} {identifier}: its stored secret may not be sent elsewhere by a caller who may not see it; send a \
         new secret with the change",
        G::CALLED
    );
    let missing = vec![permission(GATEWAYS, &[Operation::Read])];
    Err(Fault::new(fault::EXCEEDS_OWN_PERMISSIONS, detail).missing(missing))
}

/// The fault for an unknown identifier.
pub fn not_found<G: Gateway>(identifier: &str) -> Fault {
    let detail = format!("there is no {} \"{identifier}\"", G::CALLED);
    Fault::new(fault::CONFIGURATION_NOT_FOUND, detail)
}

/// There is one of the identifier already.
pub fn taken<G: Gateway>(identifier: &str) -> Fault {
    let detail = format!("there is an {} \"{identifier}\" already", G::CALLED);
    Fault::new(fault::IDENTIFIER_TAKEN, detail)
}

/// Notes that the secret of a configuration was read.
pub fn note_read<G: Gateway>(tx: &mut Tx<'_>, caller: &Caller, identifier: &str) -> Result<(), Fault> {
    tx.put(&GatewayUse {
        kind: G::KIND,
        identifier: identifier.to_owned(),
        action: "READ".to_owned(),
        by: caller.actor.clone(),
        at: tx.now(),
        to: None,
        outcome: None,
    })
}
