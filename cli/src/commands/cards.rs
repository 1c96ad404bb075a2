//! Identification cards of customers.

use crate::cx::{Cx, Done};
use crate::failure::Outcome;
use crate::input::{self, Draft};
use crate::tree::{Node, Verb, group, verb};
use crate::views;
use clap::Args;
use mfa_shared::api::cards::*;
use mfa_shared::endpoint::{Endpoint, Meta};
use mfa_shared::time::Date;
use mfa_shared::wire::Nothing;
use serde_json::{Value, json};

/// The verbs of the noun.
pub const VERBS: &[Node] = &[
    verb::<List>("list"),
    verb::<Get>("get"),
    verb::<super::history::OfCard>("history"),
    verb::<Create>("create"),
    verb::<Update>("update"),
    verb::<Edit>("edit"),
    verb::<Delete>("delete"),
    group("scans", "scan", "Scans of a card", super::scans::VERBS),
    verb::<super::bulk::Import<super::bulk::Cards>>("import"),
    verb::<super::bulk::Export<super::bulk::Cards>>("export"),
];

const fn done<'a>(id: &'a str, what: &'a str) -> Done<'a> {
    Done { noun: "card", id, what }
}

/// Warns of the cards of a customer that are over, for whom they may be shown to.
pub async fn warn_of_customer(cx: &Cx, customer: &str) {
    // Who may not read cards is not told of them.
    if let Ok(reply) = cx.client.send(&ListCards { customer: customer.to_owned() }, &Nothing).await {
        warn_of(cx, customer, &reply.value);
    }
}

/// Warns people of cards that are over. Programs have the date.
fn warn_of(cx: &Cx, customer: &str, cards: &Value) {
    if !cx.out.is_read_by_people() {
        return;
    }
    let today = cx.out.today();
    for card in cards.as_array().into_iter().flatten() {
        let part = |name: &str| card["expirationDate"][name].as_i64().unwrap_or_default();
        let Some(last) = Date::new(part("year"), part("month"), part("day")) else { continue };
        if last < today {
            let number = card["number"].as_str().unwrap_or_default();
            cx.out.warn(&format!(
                "card {number} of customer {customer} expired on {last}; record the new one: \
                 mfa cards create {customer} NUMBER --type TYPE --expires DATE"
            ));
        }
    }
}

#[derive(Args)]
pub struct List {
    /// Identifier of the customer
    #[arg(value_name = "CUSTOMER")]
    customer: String,
}

impl Verb for List {
    const ENDPOINT: Option<&'static Meta> = Some(&ListCards::META);
    const EXAMPLES: &'static [&'static str] = &["mfa cards list c-001", "mfa cards list c-001 -o json"];
    async fn run(self, cx: &Cx) -> Outcome {
        let read = ListCards { customer: self.customer.clone() };
        let found = cx.client.send(&read, &Nothing).await?.value;
        warn_of(cx, &self.customer, &found);
        cx.print(&read, &views::CARD, found).await
    }
}

// The card that a command is about.
#[derive(Args)]
struct Subject {
    /// Identifier of the customer
    #[arg(value_name = "CUSTOMER")]
    customer: String,
    /// Number of the card
    #[arg(value_name = "NUMBER")]
    card: String,
}

impl Subject {
    fn read(&self) -> GetCard {
        GetCard { customer: self.customer.clone(), card: self.card.clone() }
    }
}

#[derive(Args)]
pub struct Get {
    #[command(flatten)]
    subject: Subject,
}

impl Verb for Get {
    const ENDPOINT: Option<&'static Meta> = Some(&GetCard::META);
    const EXAMPLES: &'static [&'static str] =
        &["mfa cards get c-001 GHA-001122334-5", "mfa card get c-001 GHA-001122334-5 -o yaml"];
    async fn run(self, cx: &Cx) -> Outcome {
        let found = cx.client.send(&self.subject.read(), &Nothing).await?.value;
        warn_of(cx, &self.subject.customer, &json!([found]));
        cx.print(&self.subject.read(), &views::CARD, found).await
    }
}

// What a card can be given when it is recorded and when it is changed.
#[derive(Args)]
struct CardFlags {
    /// What kind of card
    #[arg(short = 't', long = "type", value_name = "TEXT")]
    kind: Option<String>,
    /// The last day on which the card is good
    #[arg(short, long, value_name = "YYYY-MM-DD", value_parser = input::date_parts)]
    expires: Option<Draft>,
    /// Who issued it
    #[arg(short, long, value_name = "TEXT")]
    issuer: Option<String>,
    /// Body of JSON or YAML, - for standard input; flags go before it
    #[arg(long, value_name = "FILE")]
    from: Option<String>,
}

impl CardFlags {
    fn draft(self) -> Outcome<Draft> {
        Ok(Draft::from_file(self.from.as_deref())?
            .set("type", self.kind)
            .set("expirationDate", self.expires)
            .set("issuer", self.issuer))
    }
}

#[derive(Args)]
pub struct Create {
    /// Identifier of the customer
    #[arg(value_name = "CUSTOMER")]
    customer: String,
    /// Number of the new card
    #[arg(value_name = "NUMBER", required_unless_present = "from")]
    number: Option<String>,
    #[command(flatten)]
    flags: CardFlags,
}

impl Verb for Create {
    const ENDPOINT: Option<&'static Meta> = Some(&CreateCard::META);
    const EXAMPLES: &'static [&'static str] = &[
        "mfa cards create c-002 GHA-009988776-5 --type 'Ghana Card' --expires 2035-12-31",
        "mfa cards create c-002 P-445566 --type Passport --expires 2030-06-30 --issuer 'Passport Office'",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        let draft = self.flags.draft()?.set("number", self.number);
        let card = draft.text("number").unwrap_or_default().to_owned();
        let read = GetCard { customer: self.customer.clone(), card: card.clone() };
        let endpoint = CreateCard { customer: self.customer.clone() };
        let body = draft.body::<CreateCard>()?;
        let recorded = json!([body.0]);
        cx.change(endpoint, body, done(&card, "recorded"), read, &views::CARD).await?;
        warn_of(cx, &self.customer, &recorded);
        Ok(())
    }
}

#[derive(Args)]
pub struct Update {
    #[command(flatten)]
    subject: Subject,
    #[command(flatten)]
    flags: CardFlags,
}

impl Verb for Update {
    const ENDPOINT: Option<&'static Meta> = Some(&UpdateCard::META);
    const EXAMPLES: &'static [&'static str] = &[
        "mfa cards update c-001 GHA-001122334-5 --expires 2036-01-31",
        "mfa cards update c-001 GHA-001122334-5 --issuer 'Identification Authority' -o json",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        let read = self.subject.read();
        let Subject { customer, card } = self.subject;
        let write = UpdateCard { customer, card: card.clone() };
        cx.update(read, write, self.flags.draft()?, done(&card, "updated"), &views::CARD).await
    }
}

#[derive(Args)]
pub struct Edit {
    #[command(flatten)]
    subject: Subject,
}

impl Verb for Edit {
    const ENDPOINT: Option<&'static Meta> = Some(&UpdateCard::META);
    const ABOUT: &'static str = "Change a card in the editor that VISUAL or EDITOR names";
    const EXAMPLES: &'static [&'static str] = &[
        "EDITOR=true mfa cards edit c-001 GHA-001122334-5 --yes",
        "EDITOR='sed -i s/2035/2036/' mfa cards edit c-001 GHA-001122334-5 --yes",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        let read = self.subject.read();
        let Subject { customer, card } = self.subject;
        let write = UpdateCard { customer, card: card.clone() };
        cx.edit(read, write, done(&card, "updated"), &views::CARD).await
    }
}

#[derive(Args)]
pub struct Delete {
    #[command(flatten)]
    subject: Subject,
}

impl Verb for Delete {
    const ENDPOINT: Option<&'static Meta> = Some(&DeleteCard::META);
    const EXAMPLES: &'static [&'static str] = &[
        "mfa cards delete c-001 GHA-001122334-5 --yes",
        "mfa cards delete c-001 GHA-001122334-5 --yes -o json",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        let Subject { customer, card } = self.subject;
        let what = format!("delete card {card} of customer {customer} with its scans");
        cx.prompt.before_destroying(&what, &card)?;
        cx.client.send(&DeleteCard { customer, card: card.clone() }, &Nothing).await?;
        cx.done(done(&card, "deleted"))
    }
}
