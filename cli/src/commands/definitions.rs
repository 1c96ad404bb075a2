//! Product definitions.

mod guided;

use crate::client::Client;
use crate::cx::{Cx, Done};
use crate::failure::Outcome;
use crate::input::{self, Draft};
use crate::tree::{Node, Verb, group, verb};
use crate::views;
use clap::Args;
use mfa_shared::api::definitions::*;
use mfa_shared::endpoint::{Endpoint, Meta};
use mfa_shared::wire::Nothing;
use serde_json::Value;

/// The verbs of the noun.
pub const VERBS: &[Node] = &[
    verb::<List>("list"),
    verb::<Get>("get"),
    verb::<super::history::OfProduct>("history"),
    verb::<Create>("create"),
    verb::<Update>("update"),
    verb::<Edit>("edit"),
    verb::<Delete>("delete"),
    verb::<Activate>("activate"),
    verb::<Deactivate>("deactivate"),
    verb::<Commands>("commands"),
    verb::<Accounts>("accounts"),
    group("dividends", "dividend", "Dividends of share products", super::dividends::VERBS),
    verb::<super::bulk::Import<super::bulk::Definitions>>("import"),
    verb::<super::bulk::Export<super::bulk::Definitions>>("export"),
];

/// Identifiers that contain a text.
pub async fn identifiers(client: &Client, term: &str) -> Vec<String> {
    let Ok(reply) = client.send(&ListDefinitions {}, &Nothing).await else { return Vec::new() };
    let records = reply.value.as_array().cloned().unwrap_or_default();
    let found = records.iter().filter_map(|record| Some(record["identifier"].as_str()?.to_owned()));
    found.filter(|identifier| identifier.to_lowercase().contains(&term.to_lowercase())).collect()
}

const fn done<'a>(id: &'a str, what: &'a str) -> Done<'a> {
    Done { noun: "product", id, what }
}

#[derive(Args)]
pub struct List {}

impl Verb for List {
    const ENDPOINT: Option<&'static Meta> = Some(&ListDefinitions::META);
    const EXAMPLES: &'static [&'static str] = &["mfa products list", "mfa products list -o json"];
    async fn run(self, cx: &Cx) -> Outcome {
        cx.show(ListDefinitions {}, &views::DEFINITION).await
    }
}

#[derive(Args)]
pub struct Get {
    /// Identifier of the product
    #[arg(value_name = "ID")]
    definition: String,
}

impl Verb for Get {
    const ENDPOINT: Option<&'static Meta> = Some(&GetDefinition::META);
    const EXAMPLES: &'static [&'static str] =
        &["mfa products get savings", "mfa products get savings -o yaml"];
    async fn run(self, cx: &Cx) -> Outcome {
        cx.show(GetDefinition { definition: self.definition }, &views::DEFINITION).await
    }
}

#[derive(Args)]
pub struct Create {
    /// Identifier of the new product, 2 to 32 letters, digits and . - * _; on a terminal, nothing at all
    /// asks for everything
    #[arg(value_name = "ID")]
    identifier: Option<String>,
    /// Name
    #[arg(long, value_name = "TEXT")]
    name: Option<String>,
    /// Description
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// CHECKING, SAVINGS or SHARE
    #[arg(long = "type", value_name = "TYPE")]
    kind: Option<String>,
    /// Currency, such as code=EUR,name=Euro,sign=€,scale=2; scale is how many digits follow the point
    #[arg(long, value_name = "NAME=VALUE,...", value_parser = input::pairs::<Currency>)]
    currency: Option<Draft>,
    /// Ledger of the customers' accounts; part of their identifiers
    #[arg(long, value_name = "LEDGER")]
    equity_ledger: Option<String>,
    /// Account for cash
    #[arg(long, value_name = "ACCOUNT")]
    cash_account: Option<String>,
    /// Account for expenses
    #[arg(long, value_name = "ACCOUNT")]
    expense_account: Option<String>,
    /// Account for accruals; only a product of type SHARE needs none
    #[arg(long, value_name = "ACCOUNT")]
    accrue_account: Option<String>,
    /// Term, such as interest-payable=MATURITY,period=12,time-unit=MONTH
    #[arg(long, value_name = "NAME=VALUE,...", value_parser = input::pairs::<Term>)]
    term: Option<Draft>,
    /// What must stay on an account; 0 by default
    #[arg(long, value_name = "AMOUNT", value_parser = input::money)]
    minimum_balance: Option<Value>,
    /// Interest, percent a year
    #[arg(long, value_name = "PERCENT", value_parser = input::money)]
    interest: Option<Value>,
    /// Whether the interest may be changed
    #[arg(long, value_name = "true|false", num_args = 0..=1, default_missing_value = "true")]
    flexible: Option<bool>,
    /// Charge, such as action-identifier=Open,income-account-identifier=4000,name=Opening,amount=2.00;
    /// with proportional=true the amount is percent; can be repeated
    #[arg(long, value_name = "NAME=VALUE,...", value_parser = input::pairs::<Charge>)]
    charge: Vec<Draft>,
    /// Body of JSON or YAML, - for standard input; flags go before it
    #[arg(long, value_name = "FILE")]
    from: Option<String>,
}

impl Create {
    fn draft(self) -> Outcome<Draft> {
        Ok(Draft::from_file(self.from.as_deref())?
            .set("identifier", self.identifier)
            .set("name", self.name)
            .set("description", self.description)
            .set("type", self.kind)
            .set("currency", self.currency)
            .set("equityLedgerIdentifier", self.equity_ledger)
            .set("cashAccountIdentifier", self.cash_account)
            .set("expenseAccountIdentifier", self.expense_account)
            .set("accrueAccountIdentifier", self.accrue_account)
            .set("term", self.term)
            .set("minimumBalance", self.minimum_balance)
            .set("interest", self.interest)
            .set("flexible", self.flexible)
            .set_list("charges", &self.charge))
    }
}

impl Verb for Create {
    const ENDPOINT: Option<&'static Meta> = Some(&CreateDefinition::META);
    const EXAMPLES: &'static [&'static str] = &[
        "mfa products create day-savings --name 'Day savings' --type savings \\\n    \
         --currency code=GHS,name=Cedi,sign=GH₵,scale=2 --equity-ledger 9200 \\\n    \
         --cash-account 7300 --expense-account 3900 --accrue-account 8100 \\\n    \
         --term interest-payable=monthly --minimum-balance 5.00 \\\n    \
         --charge action-identifier=Open,income-account-identifier=4000,name=Opening,amount=2.00",
        "mfa products get savings -o json | mfa products create savings-2 --name 'Savings 2' --from -",
        "mfa product get shares -o yaml >shares.yaml\n  mfa products create shares-b --from shares.yaml",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        let from_file = self.from.is_some();
        let mut draft = self.draft()?;
        match draft.text("identifier") {
            None if !draft.given => draft = guided::ask(cx).await?,
            None if !from_file => return Err(input::missing("ID")),
            _ => {}
        }
        let definition = draft.text("identifier").unwrap_or_default().to_owned();
        let body = draft.body::<CreateDefinition>()?;
        let read = GetDefinition { definition: definition.clone() };
        cx.change(CreateDefinition {}, body, done(&definition, "created"), read, &views::DEFINITION).await
    }
}

#[derive(Args)]
pub struct Update {
    /// Identifier of the product
    #[arg(value_name = "ID")]
    definition: String,
    /// Name
    #[arg(long, value_name = "TEXT")]
    name: Option<String>,
    /// Description; an empty text empties it
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// Account for expenses
    #[arg(long, value_name = "ACCOUNT")]
    expense_account: Option<String>,
    /// Whether the interest may be changed
    #[arg(long, value_name = "true|false")]
    flexible: Option<bool>,
    /// Body of JSON or YAML, - for standard input; flags go before it
    #[arg(long, value_name = "FILE")]
    from: Option<String>,
}

impl Verb for Update {
    const ENDPOINT: Option<&'static Meta> = Some(&UpdateDefinition::META);
    const EXAMPLES: &'static [&'static str] = &[
        "mfa products update savings --name 'Savings account' --flexible true",
        "echo '{\"minimumBalance\": 20.00, \"charges\": []}' | mfa products update savings --from -",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        let definition = self.definition;
        let draft = Draft::from_file(self.from.as_deref())?
            .set("name", self.name)
            .set("description", self.description)
            .set("expenseAccountIdentifier", self.expense_account)
            .set("flexible", self.flexible);
        let read = GetDefinition { definition: definition.clone() };
        let write = UpdateDefinition { definition: definition.clone() };
        cx.update(read, write, draft, done(&definition, "updated"), &views::DEFINITION).await
    }
}

#[derive(Args)]
pub struct Edit {
    /// Identifier of the product
    #[arg(value_name = "ID")]
    definition: String,
}

impl Verb for Edit {
    const ENDPOINT: Option<&'static Meta> = Some(&UpdateDefinition::META);
    const ABOUT: &'static str = "Change a product in the editor that VISUAL or EDITOR names";
    const EXAMPLES: &'static [&'static str] = &[
        "EDITOR=true mfa products edit savings --yes",
        "EDITOR='sed -i s/Savings/Thrift/' mfa products edit savings --yes -o json",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        let definition = self.definition;
        let read = GetDefinition { definition: definition.clone() };
        let write = UpdateDefinition { definition: definition.clone() };
        cx.edit(read, write, done(&definition, "updated"), &views::DEFINITION).await
    }
}

#[derive(Args)]
pub struct Delete {
    /// Identifier of the product
    #[arg(value_name = "ID")]
    definition: String,
}

impl Verb for Delete {
    const ENDPOINT: Option<&'static Meta> = Some(&DeleteDefinition::META);
    const EXAMPLES: &'static [&'static str] =
        &["mfa products delete shares --yes", "mfa products delete shares --yes -o json"];
    async fn run(self, cx: &Cx) -> Outcome {
        let definition = self.definition;
        let at = DeleteDefinition { definition: definition.clone() };
        cx.before_deleting(&at, &format!("delete product {definition}"), &definition).await?;
        cx.client.send(&at, &Nothing).await?;
        cx.done(done(&definition, "deleted"))
    }
}

#[derive(Args)]
pub struct Activate {
    /// Identifier of the product
    #[arg(value_name = "ID")]
    definition: String,
    /// Why
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
}

impl Verb for Activate {
    const ENDPOINT: Option<&'static Meta> = Some(&CommandDefinition::META);
    const ABOUT: &'static str = "Put a product on sale";
    const EXAMPLES: &'static [&'static str] =
        &["mfa products activate shares", "mfa products activate shares --note 'general meeting'"];
    async fn run(self, cx: &Cx) -> Outcome {
        command(cx, self.definition, "ACTIVATE", self.note, "activated").await
    }
}

#[derive(Args)]
pub struct Deactivate {
    /// Identifier of the product
    #[arg(value_name = "ID")]
    definition: String,
    /// Why
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
}

impl Verb for Deactivate {
    const ENDPOINT: Option<&'static Meta> = Some(&CommandDefinition::META);
    const ABOUT: &'static str = "Take a product off sale; accounts that are there stay as they are";
    const EXAMPLES: &'static [&'static str] =
        &["mfa products deactivate savings", "mfa products deactivate savings --note 'replaced'"];
    async fn run(self, cx: &Cx) -> Outcome {
        let what = format!("take product {} off sale", self.definition);
        cx.prompt.before_ending(&what, &self.definition)?;
        command(cx, self.definition, "DEACTIVATE", self.note, "deactivated").await
    }
}

async fn command(cx: &Cx, definition: String, action: &str, note: Option<String>, what: &str) -> Outcome {
    let body = Draft::default().set("action", Some(action)).set("note", note).body::<CommandDefinition>()?;
    let read = GetDefinition { definition: definition.clone() };
    let endpoint = CommandDefinition { definition: definition.clone() };
    cx.change(endpoint, body, done(&definition, what), read, &views::DEFINITION).await
}

#[derive(Args)]
pub struct Commands {
    /// Identifier of the product
    #[arg(value_name = "ID")]
    definition: String,
}

impl Verb for Commands {
    const ENDPOINT: Option<&'static Meta> = Some(&ListDefinitionCommands::META);
    const EXAMPLES: &'static [&'static str] =
        &["mfa products commands savings", "mfa products commands savings -o csv"];
    async fn run(self, cx: &Cx) -> Outcome {
        cx.show(ListDefinitionCommands { definition: self.definition }, &views::DEFINITION_COMMAND).await
    }
}

#[derive(Args)]
pub struct Accounts {
    /// Identifier of the product
    #[arg(value_name = "ID")]
    definition: String,
}

impl Verb for Accounts {
    const ENDPOINT: Option<&'static Meta> = Some(&ListDefinitionInstances::META);
    const EXAMPLES: &'static [&'static str] =
        &["mfa products accounts savings", "mfa products accounts savings -o csv"];
    async fn run(self, cx: &Cx) -> Outcome {
        cx.show(ListDefinitionInstances { definition: self.definition }, &views::INSTANCE).await
    }
}
