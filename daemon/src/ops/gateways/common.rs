//! What configurations of both kinds are refused with, and the note that a secret was read.

use crate::domain::bootstrap::GATEWAYS;
use crate::domain::permission::permission;
use crate::ops::Caller;
use crate::ops::access::decide;
use crate::store::Tx;
use crate::store::records::{GatewayKind, GatewayUse};
use mfa_shared::api::gateways::{GetEmailConfiguration, GetSmsConfiguration};
use mfa_shared::api::roles::Operation;
use mfa_shared::endpoint::Endpoint;
use mfa_shared::fault::{self, Fault};

/// Refuses a change of where a stored secret is sent by a caller who may not see it, unless a new secret
/// comes with it: otherwise a test message would carry the stored one to a server of the caller.
pub fn refuse_redirect(caller: &Caller, kind: GatewayKind, identifier: &str) -> Result<(), Fault> {
    let (row, segment) = match kind {
        GatewayKind::Email => (&GetEmailConfiguration::META, "email"),
        GatewayKind::Sms => (&GetSmsConfiguration::META, "sms"),
    };
    let sees = || decide(caller, row, false, &["configuration", segment, identifier]).is_ok();
    if caller.is_unchecked() || sees() {
        return Ok(());
    }
    let detail = format!(
        "{} {identifier}: its stored secret may not be sent elsewhere by a caller who may not see it; send a \
         new secret with the change",
        called(kind)
    );
    let missing = vec![permission(GATEWAYS, &[Operation::Read])];
    Err(Fault::new(fault::EXCEEDS_OWN_PERMISSIONS, detail).missing(missing))
}

/// What people call a configuration of a kind.
pub fn called(kind: GatewayKind) -> &'static str {
    match kind {
        GatewayKind::Email => "e-mail configuration",
        GatewayKind::Sms => "SMS configuration",
    }
}

/// The fault for an unknown identifier.
pub fn not_found(kind: GatewayKind, identifier: &str) -> Fault {
    let detail = format!("there is no {} \"{identifier}\"", called(kind));
    Fault::new(fault::CONFIGURATION_NOT_FOUND, detail)
}

/// There is one of the identifier already.
pub fn taken(kind: GatewayKind, identifier: &str) -> Fault {
    let detail = format!("there is an {} \"{identifier}\" already", called(kind));
    Fault::new(fault::IDENTIFIER_TAKEN, detail)
}

/// Notes that the secret of a configuration was read.
pub fn note_read(tx: &mut Tx<'_>, caller: &Caller, kind: GatewayKind, identifier: &str) -> Result<(), Fault> {
    tx.put(&GatewayUse {
        kind,
        identifier: identifier.to_owned(),
        action: "READ".to_owned(),
        by: caller.actor.clone(),
        at: tx.now(),
        to: None,
        outcome: None,
    })
}
