//! E-mail configurations. Contract: `gateways.md` sections 1, 3 and 5.

use super::common::{Gateway, not_found, note_read, refuse_redirect, taken};
use super::trial::{limits, refused, settle, text};
use crate::config::Config;
use crate::domain::gateway::{Mail, Trial, Tried, mail_way};
use crate::ops::Caller;
use crate::ops::rows::Rows;
use crate::outward::mail::is_deliverable;
use crate::random;
use crate::secret::Secret;
use crate::store::Tx;
use crate::store::records::{APP_PASSWORD, Audit, GatewayKind, StoredEmail};
use mfa_shared::api::gateways::*;
use mfa_shared::endpoint::{CreatedAt, Endpoint, Meta};
use mfa_shared::fault::{self, Fault};
use mfa_shared::rule::FieldError;
use mfa_shared::wire::{Accepted, Done, Json, Nothing};

impl Gateway for StoredEmail {
    const KIND: GatewayKind = GatewayKind::Email;
    const CALLED: &'static str = "e-mail configuration";
    const SHOWN_BY: &'static Meta = &GetEmailConfiguration::META;
}

/// `POST /configuration/email`
pub fn create(
    tx: &mut Tx<'_>,
    caller: &Caller,
    _: &CreateEmailConfiguration,
    Json(new): &Json<EmailConfiguration>,
) -> Result<CreatedAt<GetEmailConfiguration>, Fault> {
    if tx.has::<StoredEmail>(&[&new.identifier])? {
        return Err(taken::<StoredEmail>(&new.identifier));
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
    note_read::<StoredEmail>(tx, caller, &at.configuration)
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

/// Plans `POST /configuration/email/{configuration}/test`
pub fn plan_test(
    tx: &mut Tx<'_>,
    _: &Caller,
    config: &Config,
    at: &TestEmailConfiguration,
    Json(test): &Json<EmailTest>,
) -> Result<Trial<Mail>, Fault> {
    if !is_deliverable(&test.to) {
        return Err(Fault::field("/to", "bad_characters", "must be a mail address such as name@example.org"));
    }
    let stored = find(tx, &at.configuration)?;
    let secret = password(tx, &stored)?;
    let now = tx.now();
    let shown = stored.shown(None);
    let refuse = |refusal| refused::<StoredEmail>(&at.configuration, refusal);
    let way = mail_way(&shown, config.mail_from.as_deref()).map_err(refuse)?;
    let text = format!("{}\r\n\r\nIt needs no answer.\r\n", text::<StoredEmail>(tx, &at.configuration)?);
    let sign_in = shown.username.zip(secret).filter(|_| shown.smtp_auth.is_on());
    let message = Mail {
        host: shown.host,
        // A stored port keeps its rule, 1 to 65535.
        port: shown.port.parse().map_err(|_| Fault::new(fault::INTERNAL, "a stored port is not a number"))?,
        way,
        sign_in,
        to: test.to.clone(),
        subject: format!("Test of the e-mail configuration {}", at.configuration),
        text,
        name: random::hex::<16>(),
        at: now,
        limits: limits(config),
    };
    Ok(Trial { message, to: test.to.clone(), at: now })
}

/// Settles `POST /configuration/email/{configuration}/test`
pub fn settle_test(
    tx: &mut Tx<'_>,
    caller: &Caller,
    at: &TestEmailConfiguration,
    tried: &Tried,
) -> Result<Json<TestOutcome>, Fault> {
    settle::<StoredEmail>(tx, caller, &at.configuration, tried)
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
        refuse_redirect::<StoredEmail>(caller, &change.identifier)?;
    }
    email.audit.touch(&caller.name, tx.now());
    tx.put(&email)?;
    Ok(Accepted)
}

/// The configuration of an identifier.
pub fn find(tx: &mut Tx<'_>, identifier: &str) -> Result<StoredEmail, Fault> {
    tx.get(&[identifier])?.ok_or_else(|| not_found::<StoredEmail>(identifier))
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
