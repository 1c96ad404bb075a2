//! Identification cards of customers.

mod scans;

use super::customers;
use crate::command::cx::Cx;
use crate::command::noun::{self, Drafts, Flags, IMPORT, Import, Noun, Samples, Section};
use crate::command::verb::{Verb, verb};
use crate::failure::Outcome;
use crate::input::{self, Draft, Row};
use crate::output::views;
use clap::Args;
use mfa_shared::api::cards::*;
use mfa_shared::endpoint::{Endpoint, Meta};
use mfa_shared::wire::Nothing;
use serde_json::json;

pub const NOUN: Noun = Noun {
    section: Section::People,
    typed: "cards",
    alias: "card",
    about: "Identification cards of customers",
    singular: "card",
    history: "card",
    of: Some(&customers::NOUN),
    list: Some(&ListCards::META),
    read: Some(&GetCard::META),
    create: Some(Row::of::<CreateCard>()),
    change: Some(Row::of::<UpdateCard>()),
    updates: Some(Flags::of::<CardFlags>(&[
        "mfa cards update c-001 GHA-001122334-5 --expires 2036-01-31",
        "mfa cards update c-001 GHA-001122334-5 --issuer 'Identification Authority' -o json",
    ])),
    delete: Some(&DeleteCard::META),
    with: " with its scans",
    edited: true,
    key: "number",
    within: &["customer"],
    view: &views::CARD,
    import: Some(Import {
        plural: "identification cards",
        id: &["customer", "number"],
        example: &[
            ("customer", "c-001"),
            ("type", "Passport"),
            ("number", "G9000001"),
            ("expirationDate", "2035-08-14"),
            ("issuer", "Accra"),
        ],
        examples: &[
            "mfa cards import --template > cards.csv && mfa cards import cards.csv",
            "printf 'customer,type,number,expirationDate\\nc-002,Passport,G9000002,2034-01-31\\n' |\n    \
             mfa cards import -",
        ],
        export_examples: &["mfa cards export", "mfa cards export -o jsonl"],
        ..IMPORT
    }),
    samples: Samples { one: "c-001 GHA-001122334-5", deleted: "c-001 GHA-001122334-5", edit: "s/2035/2036/" },
    verbs: &[verb::<List>("list"), verb::<Get>("get"), verb::<Create>("create")],
    parts: &[&scans::NOUN],
    ..noun::NOUN
};

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
        customers::warn_of_expired(cx, &self.customer, &found);
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
        customers::warn_of_expired(cx, &self.subject.customer, &json!([found]));
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

impl Drafts for CardFlags {
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
        cx.change(endpoint, body, NOUN.done(&[&card], "recorded"), read, &views::CARD).await?;
        customers::warn_of_expired(cx, &self.customer, &recorded);
        Ok(())
    }
}
