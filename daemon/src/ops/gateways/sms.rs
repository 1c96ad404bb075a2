//! SMS configurations. Contract: `gateways.md` sections 2, 3 and 5.

use super::common::{Gateway, find, refuse_redirect};
use super::trial::{limits, refused, text};
use crate::config::Config;
use crate::domain::gateway::{ACCOUNT_PLACE, Message, Post, Trial, sms_way};
use crate::ops::Caller;
use crate::secret::Secret;
use crate::store::Tx;
use crate::store::records::{AUTH_TOKEN, Audit, StoredSms};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use mfa_shared::api::gateways::*;
use mfa_shared::endpoint::{Endpoint, percent_encode};
use mfa_shared::fault::Fault;
use mfa_shared::wire::{FORM_TYPE, OneOf};

impl Gateway for StoredSms {
    type New = NewSmsConfiguration;
    type Shown = SmsConfiguration;
    type To = SmsTest;
    type Create = CreateSmsConfiguration;
    type List = ListSmsConfigurations;
    type Get = GetSmsConfiguration;
    type Update = UpdateSmsConfiguration;
    type Delete = DeleteSmsConfiguration;
    type Test = TestSmsConfiguration;

    const CALLED: &'static str = "SMS configuration";

    fn identifier(new: &NewSmsConfiguration) -> &str {
        &new.identifier
    }

    fn made(tx: &Tx<'_>, caller: &Caller, new: &NewSmsConfiguration) -> Result<Self, Fault> {
        let token = Secret::new(&new.auth_token);
        Ok(Self {
            identifier: new.identifier.clone(),
            auth_token: tx.seal_for::<Self>(&[&new.identifier], AUTH_TOKEN, &token)?,
            account_sid: new.account_sid.clone(),
            sender_number: new.sender_number.clone(),
            state: new.state,
            audit: Audit::new(&caller.name, tx.now()),
        })
    }

    fn shown(self, auth_token: Option<String>) -> SmsConfiguration {
        SmsConfiguration {
            identifier: self.identifier,
            auth_token,
            account_sid: self.account_sid,
            sender_number: self.sender_number,
            state: self.state,
            r#type: None,
        }
    }

    fn changed(change: &OneOf<SmsChange, EmailChange>) -> (&'static str, Vec<String>) {
        match change {
            OneOf::First(change) => (GetSmsConfiguration::META.name, vec![change.identifier.clone()]),
            OneOf::Other(change) => (GetEmailConfiguration::META.name, vec![change.identifier.clone()]),
        }
    }

    // `PUT /configuration/sms` changes e-mail configurations, too.
    fn change(tx: &mut Tx<'_>, caller: &Caller, change: &OneOf<SmsChange, EmailChange>) -> Result<(), Fault> {
        match change {
            OneOf::First(change) => set(tx, caller, change),
            OneOf::Other(change) => super::email::set(tx, caller, change),
        }
    }

    fn plan(
        tx: &mut Tx<'_>,
        config: &Config,
        identifier: &str,
        to: &SmsTest,
    ) -> Result<Trial<Message>, Fault> {
        let stored = find::<Self>(tx, identifier)?;
        let refuse = |refusal| refused::<Self>(identifier, refusal);
        let mut endpoint = sms_way(stored.state, config.sms_endpoint.as_deref()).map_err(refuse)?;
        endpoint.path = endpoint.path.replace(ACCOUNT_PLACE, &percent_encode(&stored.account_sid));
        let token = tx.unseal(&stored, AUTH_TOKEN, &stored.auth_token)?;
        let credentials = STANDARD.encode(format!("{}:{}", stored.account_sid, token.expose()));
        let text = text::<Self>(tx, identifier)?;
        let form = [("To", &to.to), ("From", &stored.sender_number), ("Body", &text)];
        let message = Post {
            to: endpoint,
            sign_in: Secret::new(&format!("Basic {credentials}")),
            covered: (stored.account_sid.clone(), token),
            content_type: FORM_TYPE,
            body: form.map(|(name, value)| format!("{name}={}", percent_encode(value))).join("&"),
            named_by: "sid",
            limits: limits(config),
        };
        Ok(Trial { message: Message::Post(Box::new(message)), to: to.to.clone(), at: tx.now() })
    }
}

fn set(tx: &mut Tx<'_>, caller: &Caller, change: &SmsChange) -> Result<(), Fault> {
    let mut sms = find::<StoredSms>(tx, &change.identifier)?;
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
    tx.put(&sms)
}
