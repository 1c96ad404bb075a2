//! Gateways that send e-mail.

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
    typed: "gateways email",
    alias: "mail",
    about: "Gateways that send e-mail",
    singular: "e-mail gateway",
    history: "email",
    list: Some(&ListEmailConfigurations::META),
    read: Some(&GetEmailConfiguration::META),
    create: Some(Row::of::<CreateEmailConfiguration>()),
    change: Some(Row::of::<UpdateEmailConfiguration>()),
    delete: Some(&DeleteEmailConfiguration::META),
    view: &VIEW,
    secret: APP_PASSWORD,
    arguments: &["gateway"],
    apply: Some(Apply { kind: "email-gateway", place: 7, shown: held::<EmailConfiguration>, ..APPLY }),
    samples: Samples { one: "main", deleted: "main", edit: "" },
    verbs: &[verb::<Create>("create"), verb::<Update>("update"), verb::<Test>("test")],
    ..noun::NOUN
};

const APP_PASSWORD: &str = "app_password";

const VIEW: View = View::of("e-mail gateways").state("/state").columns(&[
    column("identifier", "/identifier", 0),
    column("host", "/host", 0),
    column("port", "/port", 1),
    column("protocol", "/protocol", 2),
    column("username", "/username", 3),
    column("password", "/app_password", 4),
    column("smtp-auth", "/smtp_auth", 5),
    column("start-tls", "/start_tls", 6),
    column("state", "/state", 0),
]);

// What an e-mail gateway can be given when it is created and when it is changed.
#[derive(Args)]
struct GatewayFlags {
    /// Name or address of the mail server
    #[arg(long, value_name = "HOST")]
    host: Option<String>,
    /// Port of the mail server
    #[arg(long, value_name = "PORT")]
    port: Option<String>,
    /// smtp, or smtps for TLS from the first byte; pop3 and imap cannot send
    #[arg(long, value_name = "PROTOCOL")]
    protocol: Option<String>,
    /// Name to sign in with; an empty text removes it
    #[arg(long, value_name = "NAME")]
    username: Option<String>,
    /// Sign in to the mail server, which needs name and password
    #[arg(long, value_name = "true|false", num_args = 0..=1, default_missing_value = "true")]
    smtp_auth: Option<String>,
    /// With smtp: demand STARTTLS
    #[arg(long, value_name = "true|false", num_args = 0..=1, default_missing_value = "true")]
    start_tls: Option<String>,
    #[command(flatten)]
    common: CommonFlags,
}

impl GatewayFlags {
    fn draft(self) -> Outcome<Draft> {
        let draft = self.common.draft(APP_PASSWORD)?;
        Ok(draft
            .set("host", self.host)
            .set("port", self.port)
            .set("protocol", self.protocol)
            .set("username", self.username)
            .set("smtp_auth", self.smtp_auth)
            .set("start_tls", self.start_tls))
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
    const ENDPOINT: Option<&'static Meta> = Some(&CreateEmailConfiguration::META);
    const EXAMPLES: &'static [&'static str] = &[
        "mfa gateways email create office --host mail.example.org --port 587 --start-tls \\\n    \
         --smtp-auth --username bank@example.org --password-file word.txt",
        "mfa gateways email create relay --host 127.0.0.1 --port 25",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        let mut draft = self.flags.draft()?.set("identifier", self.gateway);
        if draft.text("smtp_auth") == Some("true") && draft.text(APP_PASSWORD).is_none() {
            draft = draft.set(APP_PASSWORD, Some(cx.prompt.new_secret("password", "--password-stdin")?));
        }
        send(cx, &NOUN, CreateEmailConfiguration {}, draft, "created").await
    }
}

#[derive(Args)]
pub struct Update {
    /// Identifier of the gateway
    #[arg(value_name = "ID")]
    gateway: String,
    /// Remove the password
    #[arg(long, conflicts_with_all = ["password_stdin", "password_file"])]
    no_password: bool,
    #[command(flatten)]
    flags: GatewayFlags,
}

impl Verb for Update {
    const ENDPOINT: Option<&'static Meta> = Some(&UpdateEmailConfiguration::META);
    const EXAMPLES: &'static [&'static str] = &[
        "mfa gateways email update main --password-file word.txt",
        "mfa gateways email update main --state deactivated",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        let draft = self.flags.draft()?.set(APP_PASSWORD, self.no_password.then_some(""));
        draft.check_given()?;
        // Fields that are not sent keep their value, so the password need not be read.
        let draft = draft.set("identifier", Some(self.gateway));
        send(cx, &NOUN, UpdateEmailConfiguration {}, draft, "updated").await
    }
}

#[derive(Args)]
pub struct Test {
    /// Identifier of the gateway
    #[arg(value_name = "ID")]
    gateway: String,
    /// Mail address that gets the message
    #[arg(long, value_name = "ADDRESS")]
    to: String,
}

impl Verb for Test {
    const ENDPOINT: Option<&'static Meta> = Some(&TestEmailConfiguration::META);
    const EXAMPLES: &'static [&'static str] = &[
        "mfa gateways email test main --to efua@example.org",
        "mfa gateways email test main --to efua@example.org -o json",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        test(cx, TestEmailConfiguration { configuration: self.gateway }, self.to).await
    }
}
