//! Webhooks: events that the daemon delivers to an address.

use crate::command::cx::Cx;
use crate::command::noun::{self, Drafts, Noun, Samples, Section};
use crate::command::verb::{Verb, changes, shows, verb};
use crate::failure::Outcome;
use crate::input::{self, Draft};
use crate::output::views;
use clap::Args;
use mfa_shared::api::webhooks::*;
use mfa_shared::endpoint::{Endpoint, Meta};
use mfa_shared::fault::exit;
use mfa_shared::wire::Nothing;
use std::time::Duration;

pub const NOUN: Noun = Noun {
    section: Section::Access,
    typed: "webhooks",
    alias: "webhook",
    about: "Events that the daemon delivers to an address",
    singular: "webhook",
    history: "webhook",
    list: Some(&ListSubscriptions::META),
    read: Some(&GetSubscription::META),
    delete: Some(&DeleteSubscription::META),
    view: &views::WEBHOOK,
    arguments: &["webhook"],
    samples: Samples { one: "sync", deleted: "sync", edit: "" },
    verbs: &[
        verb::<Create>("create"),
        verb::<Update>("update"),
        verb::<Test>("test"),
        verb::<Pause>("pause"),
        verb::<Resume>("resume"),
        changes::<MoveSubscription, PositionFlags>("position", "webhook", "moved")
            .reading(&GetSubscription::META, &views::WEBHOOK)
            .about("Move back, to deliver events again, or forward, to skip some")
            .examples(&["mfa webhooks position sync 0", "mfa webhooks position sync 3 -o json"]),
        shows("deliveries", &ListDeliveries::META, &views::DELIVERY, "webhook")
            .about("List the latest 100 tries of deliveries, the newest first")
            .examples(&["mfa webhooks deliveries sync", "mfa webhooks deliveries sync -o json"]),
    ],
    ..noun::NOUN
};

/// A receiver has 20 seconds; the daemon's answer takes a little longer.
const TEST_TIMEOUT: Duration = Duration::from_secs(35);

// What a webhook can be given when it is created and when it is changed.
#[derive(Args)]
struct WebhookFlags {
    /// Events of this kind of record only, such as customer; can be repeated
    #[arg(short, long, value_name = "KIND")]
    kind: Vec<String>,
    /// File of the secret that signs what is sent, - for standard input: whsec_ and 24 to 64 bytes in Base64
    #[arg(long, value_name = "FILE")]
    secret_file: Option<String>,
    /// Body of JSON or YAML, - for standard input; flags go before it
    #[arg(long, value_name = "FILE")]
    from: Option<String>,
}

impl WebhookFlags {
    fn draft(self, url: Option<String>) -> Outcome<Draft> {
        let kinds = (!self.kind.is_empty()).then_some(self.kind);
        let secret = self.secret_file.as_deref().map_or(Ok(None), input::secret_file)?;
        Ok(Draft::from_file(self.from.as_deref())?.set("url", url).set("kinds", kinds).set("secret", secret))
    }
}

#[derive(Args)]
pub struct Create {
    /// Identifier of the new webhook, 2 to 32 letters, digits and . - * _
    #[arg(value_name = "ID", required_unless_present = "from")]
    webhook: Option<String>,
    /// Address of the receiver
    #[arg(long, value_name = "URL", required_unless_present = "from")]
    receiver: Option<String>,
    /// Deliver nothing until it is resumed
    #[arg(long)]
    paused: bool,
    #[command(flatten)]
    flags: WebhookFlags,
}

impl Verb for Create {
    const ENDPOINT: Option<&'static Meta> = Some(&CreateSubscription::META);
    const ABOUT: &'static str = "Deliver events to an address from now on, and show the secret once";
    const EXAMPLES: &'static [&'static str] = &[
        "mfa webhooks create branch --receiver https://branch.example.org/mfa --kind customer",
        "mfa webhooks create archive --receiver https://archive.example.org/ --paused -o json",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        let state = self.paused.then_some("PAUSED");
        let draft = self.flags.draft(self.receiver)?.set("identifier", self.webhook).set("state", state);
        let id = draft.text("identifier").unwrap_or_default().to_owned();
        cx.check_columns_shown(&views::WEBHOOK_CREATED)?;
        let created =
            cx.client.send(&CreateSubscription {}, &draft.body::<CreateSubscription>()?).await?.value;
        cx.out.tip(&format!("webhook {id} created; keep its secret, which is not shown again"));
        cx.out.show(&views::WEBHOOK_CREATED, &created)
    }
}

#[derive(Args)]
pub struct Update {
    /// Identifier of the webhook
    #[arg(value_name = "ID")]
    webhook: String,
    /// Address of the receiver, which gets from then on what you may read
    #[arg(long, value_name = "URL")]
    receiver: Option<String>,
    /// Events of every kind of record
    #[arg(long, conflicts_with = "kind")]
    all_kinds: bool,
    #[command(flatten)]
    flags: WebhookFlags,
}

impl Verb for Update {
    const ENDPOINT: Option<&'static Meta> = Some(&UpdateSubscription::META);
    const EXAMPLES: &'static [&'static str] = &[
        "mfa webhooks update sync --kind customer --kind account",
        "mfa webhooks update sync --receiver https://sync2.example.org/mfa",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        let draft =
            self.flags.draft(self.receiver)?.set("kinds", self.all_kinds.then_some(Vec::<String>::new()));
        draft.check_given()?;
        changed(cx, self.webhook, draft, "updated").await
    }
}

/// Changes a webhook and shows it.
async fn changed(cx: &Cx, webhook: String, draft: Draft, what: &str) -> Outcome {
    let body = draft.body::<UpdateSubscription>()?;
    cx.act(&NOUN, UpdateSubscription { subscription: webhook }, body, what).await
}

#[derive(Args)]
pub struct Test {
    /// Identifier of the webhook
    #[arg(value_name = "ID")]
    webhook: String,
}

impl Verb for Test {
    const ENDPOINT: Option<&'static Meta> = Some(&TestSubscription::META);
    const ABOUT: &'static str =
        "Send one test event, which has the number 0, and show what the receiver says";
    const EXAMPLES: &'static [&'static str] = &["mfa webhooks test sync", "mfa webhooks test sync -o json"];
    const EXITS: &'static [i32] = &[exit::FAILURE];
    async fn run(self, cx: &Cx) -> Outcome {
        cx.check_columns_shown(&views::GATEWAY_TEST)?;
        let endpoint = TestSubscription { subscription: self.webhook };
        let outcome = cx.client.patient(TEST_TIMEOUT).send(&endpoint, &Nothing).await?.value;
        cx.out.show(&views::GATEWAY_TEST, &outcome)
    }
}

#[derive(Args)]
pub struct Pause {
    /// Identifier of the webhook
    #[arg(value_name = "ID")]
    webhook: String,
}

impl Verb for Pause {
    const ENDPOINT: Option<&'static Meta> = Some(&UpdateSubscription::META);
    const ABOUT: &'static str = "Deliver nothing until the webhook is resumed; its events wait";
    const EXAMPLES: &'static [&'static str] = &["mfa webhooks pause sync", "mfa webhooks pause sync -o json"];
    async fn run(self, cx: &Cx) -> Outcome {
        let draft = Draft::default().set("state", Some("PAUSED"));
        changed(cx, self.webhook, draft, "paused").await
    }
}

#[derive(Args)]
pub struct Resume {
    /// Identifier of the webhook
    #[arg(value_name = "ID")]
    webhook: String,
}

impl Verb for Resume {
    const ENDPOINT: Option<&'static Meta> = Some(&UpdateSubscription::META);
    const ABOUT: &'static str = "Go on with a paused webhook, or try at once what has failed";
    const EXAMPLES: &'static [&'static str] =
        &["mfa webhooks resume sync", "mfa webhooks resume sync -o json"];
    async fn run(self, cx: &Cx) -> Outcome {
        let draft = Draft::default().set("state", Some("ACTIVE"));
        changed(cx, self.webhook, draft, "resumed").await
    }
}

#[derive(Args)]
struct PositionFlags {
    /// Number of the event after which it continues; 0 is the beginning
    #[arg(value_name = "SEQUENCE")]
    position: u32,
}

impl Drafts for PositionFlags {
    fn draft(self) -> Outcome<Draft> {
        Ok(Draft::default().set("position", Some(self.position)))
    }
}
