//! SMS configurations. Contract: `gateways.md` sections 2, 3 and 5.

use super::common::{Gateway, not_found, note_read, refuse_redirect, taken};
use super::trial::{limits, refused, settle, text};
use crate::config::Config;
use crate::domain::gateway::{Sms, Trial, Tried, sms_way};
use crate::ops::Caller;
use crate::ops::rows::Rows;
use crate::secret::Secret;
use crate::store::Tx;
use crate::store::records::{AUTH_TOKEN, Audit, GatewayKind, StoredSms};
use mfa_shared::api::gateways::*;
use mfa_shared::endpoint::{CreatedAt, Endpoint, Meta};
use mfa_shared::fault::Fault;
use mfa_shared::wire::{Accepted, Done, Json, Nothing};

impl Gateway for StoredSms {
    const KIND: GatewayKind = GatewayKind::Sms;
    const CALLED: &'static str = "SMS configuration";
    const SHOWN_BY: &'static Meta = &GetSmsConfiguration::META;
}

/// `POST /configuration/sms`
pub fn create(
    tx: &mut Tx<'_>,
    caller: &Caller,
    _: &CreateSmsConfiguration,
    Json(new): &Json<NewSmsConfiguration>,
) -> Result<CreatedAt<GetSmsConfiguration>, Fault> {
    if tx.has::<StoredSms>(&[&new.identifier])? {
        return Err(taken::<StoredSms>(&new.identifier));
    }
    let sms = StoredSms {
        identifier: new.identifier.clone(),
        auth_token: tx.seal_for::<StoredSms>(
            &[&new.identifier],
            AUTH_TOKEN,
            &Secret::new(&new.auth_token),
        )?,
        account_sid: new.account_sid.clone(),
        sender_number: new.sender_number.clone(),
        state: new.state,
        audit: Audit::new(&caller.name, tx.now()),
    };
    tx.put(&sms)?;
    Ok(CreatedAt(GetSmsConfiguration { configuration: sms.identifier }))
}

/// `GET /configuration/sms`
pub fn list(
    _: &mut Tx<'_>,
    _: &Caller,
    _: &ListSmsConfigurations,
    _: &Nothing,
) -> Result<Rows<StoredSms, SmsConfiguration>, Fault> {
    Ok(Rows::all(&[], |_, sms| Ok(sms.shown(None))))
}

/// `GET /configuration/sms/{configuration}`
pub fn get(
    tx: &mut Tx<'_>,
    _: &Caller,
    at: &GetSmsConfiguration,
    _: &Nothing,
) -> Result<Json<SmsConfiguration>, Fault> {
    let sms = find(tx, &at.configuration)?;
    let auth_token = token(tx, &sms)?.expose().to_owned();
    Ok(Json(sms.shown(Some(auth_token))))
}

/// Notes a read of the secret.
pub fn note(tx: &mut Tx<'_>, caller: &Caller, at: &GetSmsConfiguration) -> Result<(), Fault> {
    note_read::<StoredSms>(tx, caller, &at.configuration)
}

/// `DELETE /configuration/sms/{configuration}`
pub fn delete(tx: &mut Tx<'_>, _: &Caller, at: &DeleteSmsConfiguration, _: &Nothing) -> Result<Done, Fault> {
    let sms = find(tx, &at.configuration)?;
    tx.remove(&sms);
    Ok(Done)
}

/// Plans `POST /configuration/sms/{configuration}/test`
pub fn plan_test(
    tx: &mut Tx<'_>,
    _: &Caller,
    config: &Config,
    at: &TestSmsConfiguration,
    Json(test): &Json<SmsTest>,
) -> Result<Trial<Sms>, Fault> {
    let stored = find(tx, &at.configuration)?;
    let refuse = |refusal| refused::<StoredSms>(&at.configuration, refusal);
    let endpoint = sms_way(stored.state, config.sms_endpoint.as_deref()).map_err(refuse)?;
    let message = Sms {
        endpoint,
        auth_token: token(tx, &stored)?,
        account_sid: stored.account_sid,
        from: stored.sender_number,
        to: test.to.clone(),
        text: text::<StoredSms>(tx, &at.configuration)?,
        limits: limits(config),
    };
    Ok(Trial { message, to: test.to.clone(), at: tx.now() })
}

/// Settles `POST /configuration/sms/{configuration}/test`
pub fn settle_test(
    tx: &mut Tx<'_>,
    caller: &Caller,
    at: &TestSmsConfiguration,
    tried: &Tried,
) -> Result<Json<TestOutcome>, Fault> {
    settle::<StoredSms>(tx, caller, &at.configuration, tried)
}

/// Changes a configuration.
pub fn change(tx: &mut Tx<'_>, caller: &Caller, change: &SmsChange) -> Result<Accepted, Fault> {
    let mut sms = find(tx, &change.identifier)?;
    let elsewhere = change.account_sid.as_ref().is_some_and(|new| *new != sms.account_sid);
    if elsewhere && change.auth_token.is_none() {
        refuse_redirect::<StoredSms>(caller, &change.identifier)?;
    }
    sms.account_sid = change.account_sid.clone().unwrap_or(sms.account_sid);
    sms.sender_number = change.sender_number.clone().unwrap_or(sms.sender_number);
    sms.state = change.state.unwrap_or(sms.state);
    if let Some(token) = &change.auth_token {
        sms.auth_token = tx.seal(&sms, AUTH_TOKEN, &Secret::new(token))?;
    }
    sms.audit.touch(&caller.name, tx.now());
    tx.put(&sms)?;
    Ok(Accepted)
}

/// The configuration of an identifier.
pub fn find(tx: &mut Tx<'_>, identifier: &str) -> Result<StoredSms, Fault> {
    tx.get(&[identifier])?.ok_or_else(|| not_found::<StoredSms>(identifier))
}

/// The secret of a configuration.
pub fn token(tx: &Tx<'_>, sms: &StoredSms) -> Result<Secret, Fault> {
    tx.unseal(sms, AUTH_TOKEN, &sms.auth_token)
}
