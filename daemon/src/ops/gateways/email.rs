//! E-mail configurations. Contract: `gateways.md` sections 1 and 3.

use super::common::{not_found, note_read, refuse_redirect, taken};
use crate::ops::Caller;
use crate::ops::rows::Rows;
use crate::secret::Secret;
use crate::store::Tx;
use crate::store::records::{APP_PASSWORD, Audit, GatewayKind, StoredEmail};
use mfa_shared::api::gateways::*;
use mfa_shared::endpoint::CreatedAt;
use mfa_shared::fault::Fault;
use mfa_shared::rule::FieldError;
use mfa_shared::wire::{Accepted, Done, Json, Nothing};

/// `POST /configuration/email`
pub fn create(
    tx: &mut Tx<'_>,
    caller: &Caller,
    _: &CreateEmailConfiguration,
    Json(new): &Json<EmailConfiguration>,
) -> Result<CreatedAt<GetEmailConfiguration>, Fault> {
    if tx.has::<StoredEmail>(&[&new.identifier])? {
        return Err(taken(GatewayKind::Email, &new.identifier));
    }
    let mut email = StoredEmail {
        identifier: new.identifier.clone(),
        host: new.host.clone(),
        port: new.port.clone(),
        protocol: new.protocol,
        username: filled(new.username.as_ref()),
        app_password: None,
        smtp_auth: new.smtp_auth,
        start_tls: new.start_tls,
        state: new.state,
        audit: Audit::new(&caller.name, tx.now()),
    };
    set_password(tx, &mut email, new.app_password.as_deref())?;
    tx.put(&email)?;
    Ok(CreatedAt(GetEmailConfiguration { configuration: email.identifier }))
}

/// `GET /configuration/email`
pub fn list(
    _: &mut Tx<'_>,
    _: &Caller,
    _: &ListEmailConfigurations,
    _: &Nothing,
) -> Result<Rows<StoredEmail, EmailConfiguration>, Fault> {
    Ok(Rows::all(&[], |_, email| Ok(email.shown(None))))
}

/// `GET /configuration/email/{configuration}`
pub fn get(
    tx: &mut Tx<'_>,
    _: &Caller,
    at: &GetEmailConfiguration,
    _: &Nothing,
) -> Result<Json<EmailConfiguration>, Fault> {
    let email = find(tx, &at.configuration)?;
    let app_password = password(tx, &email)?.map(|secret| secret.expose().to_owned());
    Ok(Json(email.shown(app_password)))
}

/// Notes a read of the password.
pub fn note(tx: &mut Tx<'_>, caller: &Caller, at: &GetEmailConfiguration) -> Result<(), Fault> {
    note_read(tx, caller, GatewayKind::Email, &at.configuration)
}

/// `PUT /configuration/email`
pub fn update(
    tx: &mut Tx<'_>,
    caller: &Caller,
    _: &UpdateEmailConfiguration,
    Json(change): &Json<EmailChange>,
) -> Result<Accepted, Fault> {
    self::change(tx, caller, change)
}

/// `DELETE /configuration/email/{configuration}`
pub fn delete(
    tx: &mut Tx<'_>,
    _: &Caller,
    at: &DeleteEmailConfiguration,
    _: &Nothing,
) -> Result<Done, Fault> {
    let email = find(tx, &at.configuration)?;
    tx.remove(&email);
    Ok(Done)
}

/// Changes a configuration.
pub fn change(tx: &mut Tx<'_>, caller: &Caller, change: &EmailChange) -> Result<Accepted, Fault> {
    let before = find(tx, &change.identifier)?;
    let mut email = before.clone();
    email.host = change.host.clone().unwrap_or(email.host);
    email.port = change.port.clone().unwrap_or(email.port);
    email.protocol = change.protocol.unwrap_or(email.protocol);
    if change.username.is_some() {
        email.username = filled(change.username.as_ref());
    }
    email.smtp_auth = change.smtp_auth.unwrap_or(email.smtp_auth);
    email.start_tls = change.start_tls.unwrap_or(email.start_tls);
    email.state = change.state.unwrap_or(email.state);
    set_password(tx, &mut email, change.app_password.as_deref())?;
    check_sign_in(&email)?;
    let way = |email: &StoredEmail| (email.host.clone(), email.port.clone(), email.protocol, email.start_tls);
    let brings_new = change.app_password.as_ref().is_some_and(|new| !new.is_empty());
    if before.app_password.is_some() && way(&before) != way(&email) && !brings_new {
        refuse_redirect(caller, GatewayKind::Email, &change.identifier)?;
    }
    email.audit.touch(&caller.name, tx.now());
    tx.put(&email)?;
    Ok(Accepted)
}

/// The configuration of an identifier.
pub fn find(tx: &mut Tx<'_>, identifier: &str) -> Result<StoredEmail, Fault> {
    tx.get(&[identifier])?.ok_or_else(|| not_found(GatewayKind::Email, identifier))
}

/// The password of a configuration.
pub fn password(tx: &Tx<'_>, email: &StoredEmail) -> Result<Option<Secret>, Fault> {
    email.app_password.as_ref().map(|sealed| tx.unseal(email, APP_PASSWORD, sealed)).transpose()
}

/// Null keeps the password, the empty text removes it.
fn set_password(tx: &Tx<'_>, email: &mut StoredEmail, given: Option<&str>) -> Result<(), Fault> {
    email.app_password = match given {
        None => email.app_password.take(),
        Some("") => None,
        Some(password) => Some(tx.seal(email, APP_PASSWORD, &Secret::new(password))?),
    };
    Ok(())
}

fn check_sign_in(email: &StoredEmail) -> Result<(), Fault> {
    let has_password = email.app_password.as_ref().map(|_| "***");
    let missing = missing_to_sign_in(email.smtp_auth, email.username.as_deref(), has_password);
    let error = |name: &str| {
        let field = format!("/{name}");
        let detail = format!("{field} is required where smtp_auth is true");
        FieldError { field, code: "required".to_owned(), detail }
    };
    match missing.as_slice() {
        [] => Ok(()),
        names => Err(Fault::fields(names.iter().copied().map(error).collect())),
    }
}

fn filled(text: Option<&String>) -> Option<String> {
    text.filter(|text| !text.is_empty()).cloned()
}
