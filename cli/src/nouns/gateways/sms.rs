//! Gateways that send short messages.

use super::{CommonFlags, send, test};
use crate::command::cx::Cx;
use crate::command::noun::{self, APPLY, Apply, Noun, Samples, held};
use crate::command::verb::{Verb, verb};
use crate::failure::Outcome;
use crate::input::{Draft, Row};
use crate::output::views::{View, column};
use clap::Args;
use mfa_shared::api::gateways::*;
use mfa_shared::endpoint::{Endpoint, Meta};

pub const NOUN: Noun = Noun {
    typed: "gateways sms",
    alias: "",
    about: "Gateways that send short messages",
    singular: "SMS gateway",
    history: "sms",
    list: Some(&ListSmsConfigurations::META),
    read: Some(&GetSmsConfiguration::META),
    create: Some(Row::of::<CreateSmsConfiguration>()),
    change: Some(Row::of::<UpdateSmsConfiguration>()),
    delete: Some(&DeleteSmsConfiguration::META),
    view: &VIEW,
    secret: AUTH_TOKEN,
    arguments: &["gateway"],
    apply: Some(Apply { kind: "sms-gateway", place: 8, shown: held::<SmsConfiguration>, ..APPLY }),
    samples: Samples { one: "main", deleted: "main", edit: "" },
    verbs: &[verb::<Create>("create"), verb::<Update>("update"), verb::<Test>("test")],
    ..noun::NOUN
};

const AUTH_TOKEN: &str = "auth_token";

const VIEW: View = View::of("SMS gateways").state("/state").columns(&[
    column("identifier", "/identifier", 0),
    column("account-sid", "/account_sid", 1),
    column("auth-token", "/auth_token", 3),
    column("sender-number", "/sender_number", 2),
    column("state", "/state", 0),
]);

// What an SMS gateway can be given when it is created and when it is changed.
#[derive(Args)]
struct GatewayFlags {
    /// Account at the service
    #[arg(long, value_name = "TEXT")]
    account_sid: Option<String>,
    /// Number or name that receivers see
    #[arg(long, value_name = "TEXT")]
    sender_number: Option<String>,
    #[command(flatten)]
    common: CommonFlags,
}

impl GatewayFlags {
    fn draft(self) -> Outcome<Draft> {
        let draft = self.common.draft(AUTH_TOKEN)?;
        Ok(draft.set("account_sid", self.account_sid).set("sender_number", self.sender_number))
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
        send(cx, &NOUN, CreateSmsConfiguration {}, draft, "created").await
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
    const ABOUT: &'static str = "Change an SMS gateway";
    const EXAMPLES: &'static [&'static str] = &[
        "mfa gateways sms update main --password-file word.txt",
        "mfa gateways sms update main --state deactivated",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        let draft = self.flags.draft()?;
        draft.check_given()?;
        let draft = draft.set("identifier", Some(self.gateway));
        send(cx, &NOUN, UpdateSmsConfiguration {}, draft, "updated").await
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
