//! Applications and their keys. Contract: `identity.md` section 10.

use super::grants::{self, exceeds};
use super::{Caller, sessions, webhooks};
use crate::ops::rows::Rows;
use crate::store::Tx;
use crate::store::records::{StoredApplication, StoredConsent, StoredPermission, StoredSet, StoredSignature};
use mfa_shared::api::applications::*;
use mfa_shared::fault::{self, Fault};
use mfa_shared::wire::{Accepted, Json, Nothing};

/// `GET /applications`
pub fn list(
    _: &mut Tx<'_>,
    _: &Caller,
    _: &ListApplications,
    _: &Nothing,
) -> Result<Rows<StoredApplication, String>, Fault> {
    Ok(Rows::all(&[], |_, application| Ok(application.identifier)))
}

/// `DELETE /applications/{application}`
pub fn delete(
    tx: &mut Tx<'_>,
    caller: &Caller,
    at: &DeleteApplication,
    _: &Nothing,
) -> Result<Accepted, Fault> {
    let application = find(tx, &at.application)?;
    check_grant(tx, caller, &at.application)?;
    for signature in tx.all::<StoredSignature>(&[&at.application])? {
        let _ = sessions::end_all_of_key(tx, &at.application, &signature.timestamp)?;
        tx.remove(&signature);
        tx.note_changed("signature", &[&at.application, &signature.timestamp]);
    }
    for stored in tx.all::<StoredPermission>(&[&at.application])? {
        tx.remove(&stored);
        let group = &stored.permission.permittable_endpoint_group_identifier;
        tx.note_changed("permission", &[&at.application, group]);
    }
    for stored in tx.all::<StoredSet>(&[&at.application])? {
        tx.remove(&stored);
        tx.note_changed("set", &[&at.application, &stored.set.identifier]);
    }
    // Of consents there may be as many as there are users.
    tx.remove_all::<StoredConsent>(&[&at.application])?;
    webhooks::leave(tx, &at.application)?;
    tx.remove(&application);
    Ok(Accepted)
}

/// `PUT /applications/{application}/signatures/{timestamp}`
pub fn set_signature(
    tx: &mut Tx<'_>,
    caller: &Caller,
    at: &SetSignature,
    Json(signature): &Json<Signature>,
) -> Result<Accepted, Fault> {
    check_grant(tx, caller, &at.application)?;
    let application = at.application.clone();
    let timestamp = at.timestamp.clone();
    match tx.get::<StoredSignature>(&[&application, &timestamp])? {
        Some(stored) if stored.signature == *signature => return Ok(Accepted),
        Some(_) => {
            let detail = format!("application {application} has another key under {timestamp} already");
            return Err(Fault::new(fault::IDENTIFIER_TAKEN, detail));
        }
        None => {}
    }
    if !sessions::end_all_of_key(tx, &application, &timestamp)? {
        // They would live again. Each try removes some of them.
        tx.keep_when_refused();
        let detail = format!(
            "application {application} has tokens of an earlier key under {timestamp}: wait until they have \
             ended, or use another timestamp"
        );
        return Err(Fault::new(fault::IDENTIFIER_TAKEN, detail));
    }
    if !tx.has::<StoredApplication>(&[&application])? {
        tx.put(&StoredApplication { identifier: application.clone() })?;
    }
    tx.put(&StoredSignature { application, timestamp, signature: signature.clone() })?;
    Ok(Accepted)
}

/// `GET /applications/{application}/signatures`
pub fn list_signatures(
    tx: &mut Tx<'_>,
    _: &Caller,
    at: &ListSignatures,
    _: &Nothing,
) -> Result<Rows<StoredSignature, String>, Fault> {
    find(tx, &at.application)?;
    Ok(Rows::all(&[&at.application], |_, signature| Ok(signature.timestamp)))
}

/// `GET /applications/{application}/signatures/{timestamp}`
pub fn get_signature(
    tx: &mut Tx<'_>,
    _: &Caller,
    at: &GetSignature,
    _: &Nothing,
) -> Result<Json<Signature>, Fault> {
    Ok(Json(find_signature(tx, &at.application, &at.timestamp)?.signature))
}

/// `DELETE /applications/{application}/signatures/{timestamp}`
pub fn delete_signature(
    tx: &mut Tx<'_>,
    caller: &Caller,
    at: &DeleteSignature,
    _: &Nothing,
) -> Result<Accepted, Fault> {
    let signature = find_signature(tx, &at.application, &at.timestamp)?;
    check_grant(tx, caller, &at.application)?;
    tx.remove(&signature);
    let _ = sessions::end_all_of_key(tx, &at.application, &at.timestamp)?;
    Ok(Accepted)
}

/// The application of a path.
pub fn find(tx: &mut Tx<'_>, application: &str) -> Result<StoredApplication, Fault> {
    let missing = || format!("there is no application \"{application}\"");
    tx.get(&[application])?.ok_or_else(|| Fault::new(fault::APPLICATION_NOT_FOUND, missing()))
}

fn find_signature(tx: &mut Tx<'_>, application: &str, timestamp: &str) -> Result<StoredSignature, Fault> {
    find(tx, application)?;
    let missing = || format!("application {application} has no key \"{timestamp}\"");
    tx.get(&[application, timestamp])?.ok_or_else(|| Fault::new(fault::SIGNATURE_NOT_FOUND, missing()))
}

/// The holder of a key of an application can do what the application can.
fn check_grant(tx: &mut Tx<'_>, caller: &Caller, application: &str) -> Result<(), Fault> {
    let carried = grants::of_application(tx, application)?;
    let allowed = caller.holding.may_change(&carried, &[]);
    allowed.map_err(|e| exceeds(e, &format!("application {application}")))
}
