//! E-mail configurations. Contract: `gateways.md` sections 1, 3 and 5.

use super::common::{Gateway, find, refuse_redirect, secret};
use super::trial::{limits, refused, text};
use crate::config::Config;
use crate::domain::gateway::{Mail, Message, Trial, mail_way};
use crate::ops::Caller;
use crate::random;
use crate::secret::Secret;
use crate::store::Tx;
use crate::store::records::{APP_PASSWORD, Audit, StoredEmail};
use mfa_shared::api::gateways::*;
use mfa_shared::endpoint::Endpoint;
use mfa_shared::fault::{self, Fault};
use mfa_shared::node::Node;
use mfa_shared::rule::{FieldError, id, sort};
use mfa_shared::wire::Json;

impl Gateway for StoredEmail {
    type New = EmailConfiguration;
    type Shown = EmailConfiguration;
    type To = EmailTest;
    type Create = CreateEmailConfiguration;
    type List = ListEmailConfigurations;
    type Get = GetEmailConfiguration;
    type Update = UpdateEmailConfiguration;
    type Delete = DeleteEmailConfiguration;
    type Test = TestEmailConfiguration;

    const CALLED: &'static str = "e-mail configuration";

    fn identifier(new: &EmailConfiguration) -> &str {
        &new.identifier
    }

    fn made(tx: &Tx<'_>, caller: &Caller, new: &EmailConfiguration) -> Result<Self, Fault> {
        let mut email = Self {
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
        Ok(email)
    }

    fn shown(self, app_password: Option<String>) -> EmailConfiguration {
        EmailConfiguration {
            identifier: self.identifier,
            host: self.host,
            port: self.port,
            protocol: self.protocol,
            username: self.username,
            app_password,
            smtp_auth: self.smtp_auth,
            start_tls: self.start_tls,
            state: self.state,
        }
    }

    fn changed(Json(change): &Json<EmailChange>) -> (&'static str, Vec<String>) {
        (GetEmailConfiguration::META.name, vec![change.identifier.clone()])
    }

    fn change(tx: &mut Tx<'_>, caller: &Caller, Json(change): &Json<EmailChange>) -> Result<(), Fault> {
        set(tx, caller, change)
    }

    fn plan(
        tx: &mut Tx<'_>,
        config: &Config,
        identifier: &str,
        to: &EmailTest,
    ) -> Result<Trial<Message>, Fault> {
        let stored = find::<Self>(tx, identifier)?;
        let now = tx.now();
        let shown = stored.clone().shown(None);
        let refuse = |refusal| refused::<Self>(identifier, refusal);
        let way = mail_way(&shown, config.mail_from.as_deref()).map_err(refuse)?;
        let secret = secret(tx, &stored)?;
        let not_a_number = |_| Fault::new(fault::INTERNAL, "a stored port is not a number");
        let message = Mail {
            host: shown.host,
            // A stored port keeps its rule, 1 to 65535.
            port: shown.port.parse().map_err(not_a_number)?,
            way,
            sign_in: shown.username.zip(secret).filter(|_| shown.smtp_auth.is_on()),
            to: to.to.clone(),
            subject: format!("Test of the e-mail configuration {identifier}"),
            text: format!("{}\r\n\r\nIt needs no answer.\r\n", text::<Self>(tx, identifier)?),
            name: random::hex::<16>(),
            at: now,
            limits: limits(config),
        };
        Ok(Trial { message: Message::Mail(Box::new(message)), to: to.to.clone(), at: now })
    }
}

/// Changes a configuration.
pub(super) fn set(tx: &mut Tx<'_>, caller: &Caller, change: &EmailChange) -> Result<(), Fault> {
    let before = find::<StoredEmail>(tx, &change.identifier)?;
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
    tx.put(&email)
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
    let [signs_in, has_username, has_password] = sign_in(email);
    match missing_to_sign_in(signs_in, has_username, has_password).as_slice() {
        [] => Ok(()),
        names => Err(Fault::fields(names.iter().copied().map(needed).collect())),
    }
}

/// Whether it signs in, has a name for that, and a password.
fn sign_in(email: &StoredEmail) -> [bool; 3] {
    [email.smtp_auth.is_on(), email.username.is_some(), email.app_password.is_some()]
}

fn needed(name: &str) -> FieldError {
    let field = format!("/{name}");
    let detail = format!("{field} {NEEDED_TO_SIGN_IN}");
    FieldError { field, code: "required".to_owned(), detail }
}

/// The refusal of a change with bad fields, and with what else is bad beside the stored record.
pub fn bad_besides(tx: &mut Tx<'_>, body: &Node, fault: Fault) -> Result<Fault, Fault> {
    let stored = match body.property("identifier") {
        Some(Node::Text(identifier)) if id(32).judge(identifier).is_ok() => {
            tx.get::<StoredEmail>(&[identifier])?
        }
        _ => None,
    };
    let Some(stored) = stored.filter(|_| fault.kind == fault::INVALID_FIELDS) else { return Ok(fault) };
    let mut errors = fault.errors.clone();
    for missing in missing_besides(|name| body.property(name), sign_in(&stored)) {
        errors.push(needed(missing));
    }
    sort(&mut errors, body);
    Ok(Fault::fields(errors))
}

fn filled(text: Option<&String>) -> Option<String> {
    text.filter(|text| !text.is_empty()).cloned()
}
