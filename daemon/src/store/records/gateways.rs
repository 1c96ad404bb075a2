//! E-mail and SMS configurations, with their secrets encrypted.

use super::{Audit, EMAIL_CONFIGURATIONS, GATEWAY_USES, SMS_CONFIGURATIONS};
use crate::store::engine::Space;
use crate::store::record::{Record, key};
use crate::store::seal::{HoldsSecrets, Sealed};
use mfa_shared::api::gateways::{GatewayState, Protocol, Switch};
use mfa_shared::time::Timestamp;
use serde::{Deserialize, Serialize};

/// The field of an e-mail configuration that is encrypted.
pub const APP_PASSWORD: &str = "app_password";
/// The field of an SMS configuration that is encrypted.
pub const AUTH_TOKEN: &str = "auth_token";

/// An e-mail configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredEmail {
    /// Its identifier.
    pub identifier: String,
    /// The mail server.
    pub host: String,
    /// Its port.
    pub port: String,
    /// How it is spoken to.
    pub protocol: Protocol,
    /// Name to sign in with.
    pub username: Option<String>,
    /// Password to sign in with.
    pub app_password: Option<Sealed>,
    /// Whether to sign in.
    pub smtp_auth: Switch,
    /// Whether STARTTLS is demanded.
    pub start_tls: Switch,
    /// Whether it is in use.
    pub state: GatewayState,
    /// Who made and last changed it.
    pub audit: Audit,
}

impl Record for StoredEmail {
    const SPACE: Space = EMAIL_CONFIGURATIONS;
    fn key(&self) -> Vec<u8> {
        key(&[&self.identifier])
    }
}

impl HoldsSecrets for StoredEmail {
    fn secrets(&mut self) -> Vec<(&'static str, &mut Sealed)> {
        self.app_password.as_mut().map(|sealed| (APP_PASSWORD, sealed)).into_iter().collect()
    }
    fn called(&self) -> String {
        format!("email gateway {}", self.identifier)
    }
}

/// An SMS configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredSms {
    /// Its identifier.
    pub identifier: String,
    /// Secret of the account.
    pub auth_token: Sealed,
    /// Account at the service.
    pub account_sid: String,
    /// What receivers see as sender.
    pub sender_number: String,
    /// Whether it is in use.
    pub state: GatewayState,
    /// Who made and last changed it.
    pub audit: Audit,
}

impl Record for StoredSms {
    const SPACE: Space = SMS_CONFIGURATIONS;
    fn key(&self) -> Vec<u8> {
        key(&[&self.identifier])
    }
}

impl HoldsSecrets for StoredSms {
    fn secrets(&mut self) -> Vec<(&'static str, &mut Sealed)> {
        vec![(AUTH_TOKEN, &mut self.auth_token)]
    }
    fn called(&self) -> String {
        format!("sms gateway {}", self.identifier)
    }
}

/// What was last done with a configuration that changes nothing in it: its secret was read, a message was
/// sent. The journal keeps each of these uses with its caller and request; the store keeps the last.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GatewayUse {
    /// Kind of the configuration, by the word in the paths of its endpoints.
    pub kind: String,
    /// The configuration.
    pub identifier: String,
    /// What was done: `READ` or `TEST`.
    pub action: String,
    /// Who did it.
    pub by: String,
    /// When.
    pub at: Timestamp,
    /// The receiver of a message.
    pub to: Option<String>,
    /// The result of a message: `sent`, or the stage at which it failed.
    pub outcome: Option<String>,
}

impl Record for GatewayUse {
    const SPACE: Space = GATEWAY_USES;
    fn key(&self) -> Vec<u8> {
        key(&[&self.kind, &self.identifier])
    }
}
