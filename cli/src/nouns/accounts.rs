//! Accounts of customers: the instances of products.

pub mod statement;

use super::{customers, ledger, offices, products};
use crate::client::Client;
use crate::command::cx::Cx;
use crate::command::money::Money;
use crate::command::noun::{self, Commands, Drafts, Flags, IMPORT, Import, Noun, Samples, Section, command};
use crate::command::verb::{Verb, verb};
use crate::failure::{Failure, Outcome};
use crate::input::{Draft, Row};
use crate::output::{text, views};
use crate::paper::{Column, Paper, PaperFlags, Part, Table, named_for_people};
use clap::Args;
use mfa_shared::api::customers::GetCustomer;
use mfa_shared::api::definitions::ListDefinitionInstances;
use mfa_shared::api::instances::*;
use mfa_shared::api::search::HitKind;
use mfa_shared::endpoint::{Endpoint, Meta, split};
use mfa_shared::query::{PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX, Parameters, Params};
use mfa_shared::wire::{Body, Form, Nothing, Outgoing, Query};
use serde_json::Value;

pub const NOUN: Noun = Noun {
    section: Section::Money,
    typed: "accounts",
    alias: "account instances instance",
    about: "Accounts of customers",
    singular: "account",
    history: "account",
    of: Some(&products::NOUN),
    list: Some(&ListInstances::META),
    every: Some((&ListDefinitionInstances::META, &[])),
    read: Some(&GetInstance::META),
    create: Some(Row::of::<CreateInstance>()),
    change: Some(Row::of::<UpdateInstance>()),
    updates: Some(Flags::of::<AccountChange>(&[
        "mfa accounts update c-003.9100.00001 --beneficiary 'Adwoa Addo' --beneficiary 'Kwesi Addo'",
        "mfa accounts update c-003.9100.00001 --no-beneficiaries",
    ])),
    commands: Some(Commands {
        row: Row { meta: &CommandInstance::META, body: form },
        property: "command",
        remark: "",
        verbs: &[
            command("activate", "activated", "Open an account without a transaction").examples(&[
                "mfa accounts activate c-002.9100.00001",
                "mfa accounts activate c-002.9100.00001 -o json",
            ]),
            command("close", "closed", "Close an account for good; its balance must be 0")
                .asking("close account {} for good")
                .examples(&[
                    "mfa accounts close c-003.9100.00001",
                    "mfa accounts close c-003.9100.00001 -o json",
                ]),
            command("transaction", "marked", "Record that an account has had a transaction just now")
                .examples(&[
                    "mfa accounts transaction c-003.9100.00001",
                    "mfa accounts transaction c-003.9100.00001 -o json",
                ]),
        ],
    }),
    edited: true,
    view: &views::INSTANCE,
    arguments: &["to"],
    missing: "instance",
    among: Some(&ledger::ACCOUNTS),
    searched: Some(HitKind::Account),
    import: Some(Import {
        plural: "accounts",
        id: &["customerIdentifier", "productIdentifier"],
        computed: &["accountIdentifier", "state", "balance", "openedOn"],
        changes: false,
        example: &[
            ("customerIdentifier", "c-001"),
            ("productIdentifier", "savings"),
            ("alternativeAccountNumber", "0009-4711"),
            ("beneficiaries", r#"["Kojo Mensah"]"#),
        ],
        examples: &[
            "mfa accounts import --template > accounts.csv && mfa accounts import accounts.csv",
            "printf 'customerIdentifier,productIdentifier\\nc-002,savings\\n' | mfa accounts import -",
        ],
        export_examples: &["mfa accounts export", "mfa accounts export --out accounts.csv"],
        ..IMPORT
    }),
    samples: Samples { one: "c-003.9100.00001", deleted: "", edit: "" },
    verbs: &[
        verb::<List>("list"),
        verb::<Create>("create"),
        verb::<Types>("types"),
        verb::<statement::Entries>("entries"),
        verb::<statement::Statement>("statement"),
        super::interest::OF_ACCOUNT,
        verb::<super::interest::PayOut>("pay-interest"),
    ],
    ..noun::NOUN
};

/// Accounts that begin with a text, of one customer or of all.
pub async fn identifiers(client: &Client, customer: Option<&str>, typed: &str) -> Vec<String> {
    let term = Some(typed.to_owned()).filter(|term| !term.is_empty());
    if customer.is_none() && term.is_none() {
        return Vec::new();
    }
    let size = term.as_ref().map(|_| PAGE_SIZE_MAX);
    let query = Query(InstanceQuery { customer: customer.map(str::to_owned), term, size });
    let Ok(reply) = client.send(&ListInstances {}, &query).await else { return Vec::new() };
    let accounts = reply.value.as_array().cloned().unwrap_or_default();
    // If there may be more, no common prefix is known.
    let cut = accounts.len() >= PAGE_SIZE_MAX as usize;
    let found = accounts.iter().filter_map(|account| account["accountIdentifier"].as_str());
    let found = found.filter(|account| account.starts_with(typed)).map(str::to_owned);
    found.chain(cut.then(|| typed.to_owned())).collect()
}

#[derive(Args)]
pub struct List {
    /// The customer whose accounts are listed
    #[arg(short, long, value_name = "ID", required_unless_present = "term")]
    customer: Option<String>,
    /// Accounts whose numbers, customer or product contain this text
    #[arg(long, value_name = "TEXT")]
    term: Option<String>,
    /// Most accounts that contain the text, 1 to 1000; 20 by default
    #[arg(long, value_name = "NUMBER", requires = "term")]
    limit: Option<u32>,
    #[command(flatten)]
    paper: PaperFlags,
}

impl Verb for List {
    const ENDPOINT: Option<&'static Meta> = Some(&ListInstances::META);
    const EXAMPLES: &'static [&'static str] = &[
        "mfa accounts list --customer c-003",
        "mfa accounts list --customer c-003 -o csv",
        "mfa accounts list --term savings --limit 100",
        "mfa accounts list --customer c-003 --out accounts.pdf",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        let Self { customer, term, limit, paper } = self;
        if paper.ask() {
            paper.check(cx)?;
        }
        // All accounts of a customer are listed, but only the first ones that contain a text.
        let most = term.as_ref().map(|_| limit.unwrap_or(PAGE_SIZE_DEFAULT));
        let query = Query(InstanceQuery { customer: customer.clone(), term, size: limit });
        let found = cx.client.send(&ListInstances {}, &query).await?.value;
        let count = found.as_array().map(Vec::len);
        if let Some(customer) = customer.as_deref().filter(|_| count == Some(0)) {
            warn_of_unknown(cx, customer).await;
        }
        if let Some(most) = most.filter(|most| count == usize::try_from(*most).ok()) {
            cx.out.say(&format!("the first {most}; there may be more: --limit"));
        }
        if paper.ask() {
            return paper
                .print(cx, &list_on_paper(cx, customer.as_deref().unwrap_or_default(), &found).await?);
        }
        cx.print(&ListInstances {}, &views::INSTANCE, found).await
    }
}

/// Warns where no accounts are listed because the customer does not exist.
async fn warn_of_unknown(cx: &Cx, customer: &str) {
    let read = GetCustomer { customer: customer.to_owned() };
    if cx.client.send(&read, &Nothing).await.is_err_and(|failure| failure.status == Some(404)) {
        cx.out.warn(&format!("there is no customer \"{customer}\"; find customers: mfa find TEXT"));
    }
}

/// A list of accounts on paper: those of a customer, or of several of them.
async fn list_on_paper(cx: &Cx, customer: &str, found: &Value) -> Outcome<Paper> {
    let mut money = Money::on_paper(&cx.client, &ListInstances {}, &views::INSTANCE);
    let mut rows = Vec::new();
    for account in found.as_array().into_iter().flatten() {
        let account = money.shown(account.clone()).await;
        let holder = if customer.is_empty() { Some("/customerIdentifier") } else { None };
        let words = ["/accountIdentifier"].into_iter().chain(holder);
        let cells = words.chain(["/productIdentifier", "/state", "/openedOn", "/balance"]);
        rows.push(cells.map(|pointer| text(&account, pointer)).collect());
    }
    let holder = if customer.is_empty() { Some("Customer") } else { None };
    let names = ["Account"].into_iter().chain(holder).chain(["Product", "State", "Opened"]);
    let columns = names.map(Column::words).chain([Column::amounts("Balance")]).collect();
    let paper = Paper::new(cx, "accounts", "Accounts")?;
    let paper = match customer {
        "" => paper,
        customer => {
            let read = GetCustomer { customer: customer.to_owned() };
            let record = cx.if_readable(&read).await?;
            let office = offices::named(cx, &text(&record, "/assignedOffice")).await?;
            let holder = named_for_people(&customers::name(&record), customer);
            paper.at_office(office).with(Part::Facts(vec![("Holder", holder)]))
        }
    };
    Ok(paper.with(Part::Table(Table { columns, rows, total: None, empty: "no accounts" })))
}

#[derive(Args)]
pub struct Create {
    /// The customer
    #[arg(short, long, value_name = "ID")]
    customer: Option<String>,
    /// The product
    #[arg(short, long, value_name = "ID")]
    product: Option<String>,
    /// Another number by which the account is known
    #[arg(long, value_name = "NUMBER")]
    alternative_number: Option<String>,
    /// Who benefits; can be repeated
    #[arg(long, value_name = "NAME")]
    beneficiary: Vec<String>,
    /// Body of JSON or YAML, - for standard input; flags go before it
    #[arg(long, value_name = "FILE")]
    from: Option<String>,
}

impl Verb for Create {
    const ENDPOINT: Option<&'static Meta> = Some(&CreateInstance::META);
    const EXAMPLES: &'static [&'static str] = &[
        "mfa accounts create --customer c-001 --product savings --beneficiary 'Kojo Mensah'",
        "echo '{\"customerIdentifier\": \"c-002\", \"productIdentifier\": \"savings\"}' |\n    \
         mfa accounts create --from -",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        let body = Draft::from_file(self.from.as_deref())?
            .set("customerIdentifier", self.customer)
            .set("productIdentifier", self.product)
            .set("alternativeAccountNumber", self.alternative_number)
            .set("beneficiaries", (!self.beneficiary.is_empty()).then_some(self.beneficiary))
            .body::<CreateInstance>()?;
        cx.check_columns(&views::INSTANCE)?;
        let location = cx.client.send(&CreateInstance {}, &body).await?.location;
        let account = location.as_deref().and_then(split).and_then(|mut segments| segments.pop());
        let unknown = || Failure::local("the daemon did not say which account it made".to_owned());
        let account = account.ok_or_else(unknown)?;
        cx.changed_row(&NOUN, &[&account], "created").await
    }
}

#[derive(Args)]
struct AccountChange {
    /// Who benefits, in place of those who did; can be repeated
    #[arg(long, value_name = "NAME")]
    beneficiary: Vec<String>,
    /// No beneficiaries any more
    #[arg(long, conflicts_with = "beneficiary")]
    no_beneficiaries: bool,
}

impl Drafts for AccountChange {
    fn draft(self) -> Outcome<Draft> {
        let given = self.no_beneficiaries || !self.beneficiary.is_empty();
        Ok(Draft::default().set("beneficiaries", given.then_some(self.beneficiary)))
    }
}

/// The word of a command as the form in which it is sent.
fn form(body: &Value) -> Outcome<Outgoing> {
    let command = format!("command={}", body["command"].as_str().unwrap_or_default());
    Ok(Form(InstanceCommandForm::read(&Params::parse(&command))?).write())
}

#[derive(Args)]
pub struct Types {
    /// The customer
    #[arg(long, value_name = "ID")]
    customer: String,
}

impl Verb for Types {
    const ENDPOINT: Option<&'static Meta> = Some(&ListTransactionTypes::META);
    const EXAMPLES: &'static [&'static str] =
        &["mfa accounts types --customer c-003", "mfa accounts types --customer c-003 -o id"];
    async fn run(self, cx: &Cx) -> Outcome {
        let query = Query(OfCustomer { customer: self.customer });
        let types = cx.client.send(&ListTransactionTypes {}, &query).await?.value;
        cx.out.show(&views::TRANSACTION_TYPE, &types)
    }
}
