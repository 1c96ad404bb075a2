//! Gateways that send short messages.

use super::{SecretFlags, changed, delete, from_file, nothing_given, show, test};
use crate::cx::{Cx, Done};
use crate::failure::Outcome;
use crate::input::Draft;
use crate::tree::{Node, Verb, verb};
use crate::views;
use clap::Args;
use mfa_shared::api::gateways::*;
use mfa_shared::endpoint::{Endpoint, Meta};

/// The verbs of the noun.
pub const VERBS: &[Node] = &[
    verb::<List>("list"),
    verb::<Get>("get"),
    verb::<super::super::history::OfSms>("history"),
    verb::<Create>("create"),
    verb::<Update>("update"),
    verb::<Delete>("delete"),
    verb::<Test>("test"),
];

pub(super) const AUTH_TOKEN: &str = "auth_token";

const fn done<'a>(id: &'a str, what: &'a str) -> Done<'a> {
    Done { noun: "SMS gateway", id, what }
}

#[derive(Args)]
pub struct List {}

impl Verb for List {
    const ENDPOINT: Option<&'static Meta> = Some(&ListSmsConfigurations::META);
    const EXAMPLES: &'static [&'static str] = &["mfa gateways sms list", "mfa gateways sms list -o json"];
    async fn run(self, cx: &Cx) -> Outcome {
        cx.show(ListSmsConfigurations {}, &views::SMS_GATEWAY).await
    }
}

#[derive(Args)]
pub struct Get {
    /// Identifier of the gateway
    #[arg(value_name = "ID")]
    gateway: String,
    /// Show the token instead of ***
    #[arg(long)]
    show_secrets: bool,
}

impl Verb for Get {
    const ENDPOINT: Option<&'static Meta> = Some(&GetSmsConfiguration::META);
    const EXAMPLES: &'static [&'static str] =
        &["mfa gateways sms get main", "mfa gateways sms get main --show-secrets -o json"];
    async fn run(self, cx: &Cx) -> Outcome {
        let endpoint = GetSmsConfiguration { configuration: self.gateway };
        show(cx, endpoint, &views::SMS_GATEWAY, self.show_secrets).await
    }
}

// What an SMS gateway can be given when it is created and when it is changed.
#[derive(Args)]
struct GatewayFlags {
    /// Account at the service
    #[arg(long, value_name = "TEXT")]
    account_sid: Option<String>,
    /// Number or name that receivers see
    #[arg(long, value_name = "TEXT")]
    sender_number: Option<String>,
    /// ACTIVE, or DEACTIVATED to send nothing through it
    #[arg(long, value_name = "STATE")]
    state: Option<String>,
    #[command(flatten)]
    secret: SecretFlags,
    /// Body of JSON or YAML, - for standard input; flags go before it
    #[arg(long, value_name = "FILE")]
    from: Option<String>,
}

impl GatewayFlags {
    fn draft(self) -> Outcome<Draft> {
        Ok(from_file(self.from.as_deref(), AUTH_TOKEN)?
            .set("account_sid", self.account_sid)
            .set("sender_number", self.sender_number)
            .set("state", self.state)
            .set(AUTH_TOKEN, self.secret.read()?))
    }
}

#[derive(Args)]
pub struct Create {
    /// Identifier of the new gateway, 2 to 32 letters, digits and . - * _
    #[arg(value_name = "ID", required_unless_present = "from")]
    gateway: Option<String>,
    #[command(flatten)]
    flags: GatewayFlags,
}

impl Verb for Create {
    const ENDPOINT: Option<&'static Meta> = Some(&CreateSmsConfiguration::META);
    const EXAMPLES: &'static [&'static str] = &[
        "mfa gateways sms create office --account-sid AC0123 --sender-number +233201234567 \\\n    \
         --password-file word.txt",
        "mfa gateways sms create office --from gateway.yaml --password-file word.txt",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        let mut draft = self.flags.draft()?.set("identifier", self.gateway);
        if draft.text(AUTH_TOKEN).is_none() {
            draft = draft.set(AUTH_TOKEN, Some(cx.prompt.new_secret("token", "--password-stdin")?));
        }
        let id = draft.text("identifier").unwrap_or_default().to_owned();
        cx.client.send(&CreateSmsConfiguration {}, &draft.body::<CreateSmsConfiguration>()?).await?;
        changed(cx, ListSmsConfigurations {}, done(&id, "created"), &views::SMS_GATEWAY).await
    }
}

#[derive(Args)]
pub struct Update {
    /// Identifier of the gateway
    #[arg(value_name = "ID")]
    gateway: String,
    #[command(flatten)]
    flags: GatewayFlags,
}

impl Verb for Update {
    const ENDPOINT: Option<&'static Meta> = Some(&UpdateSmsConfiguration::META);
    const EXAMPLES: &'static [&'static str] = &[
        "mfa gateways sms update main --password-file word.txt",
        "mfa gateways sms update main --state deactivated",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        let draft = self.flags.draft()?;
        if !draft.given {
            return Err(nothing_given());
        }
        let body = draft.set("identifier", Some(self.gateway.clone())).body::<UpdateSmsConfiguration>()?;
        cx.client.send(&UpdateSmsConfiguration {}, &body).await?;
        changed(cx, ListSmsConfigurations {}, done(&self.gateway, "updated"), &views::SMS_GATEWAY).await
    }
}

#[derive(Args)]
pub struct Delete {
    /// Identifier of the gateway
    #[arg(value_name = "ID")]
    gateway: String,
}

impl Verb for Delete {
    const ENDPOINT: Option<&'static Meta> = Some(&DeleteSmsConfiguration::META);
    const EXAMPLES: &'static [&'static str] =
        &["mfa gateways sms delete main --yes", "mfa gateways sms delete main --yes -o json"];
    async fn run(self, cx: &Cx) -> Outcome {
        let endpoint = DeleteSmsConfiguration { configuration: self.gateway.clone() };
        delete(cx, endpoint, done(&self.gateway, "deleted")).await
    }
}

#[derive(Args)]
pub struct Test {
    /// Identifier of the gateway
    #[arg(value_name = "ID")]
    gateway: String,
    /// Telephone number that gets the message, + and 7 to 15 digits
    #[arg(long, value_name = "NUMBER")]
    to: String,
}

impl Verb for Test {
    const ENDPOINT: Option<&'static Meta> = Some(&TestSmsConfiguration::META);
    const EXAMPLES: &'static [&'static str] = &[
        "mfa gateways sms test main --to +233201234567",
        "mfa gateways sms test main --to '+233 20 123 4567' -o json",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        test(cx, TestSmsConfiguration { configuration: self.gateway }, self.to).await
    }
}
