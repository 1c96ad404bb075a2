//! Product definitions.

mod dividends;
mod guided;

use crate::command::cx::Cx;
use crate::command::noun::{
    self, APPLY, Apply, Commands, Drafts, Flags, IMPORT, Import, Noun, Own, Samples, Section, command, held,
};
use crate::command::verb::{Verb, group, shows, verb};
use crate::failure::Outcome;
use crate::input::{self, Draft, Row};
use crate::output::views;
use clap::Args;
use mfa_shared::api::definitions::*;
use mfa_shared::endpoint::{Endpoint, Meta};
use serde_json::{Value, json};

pub const NOUN: Noun = Noun {
    section: Section::Money,
    typed: "products",
    alias: "product definitions definition",
    about: "Products: what accounts are opened for",
    singular: "product",
    history: "product",
    list: Some(&ListDefinitions::META),
    read: Some(&GetDefinition::META),
    create: Some(Row::of::<CreateDefinition>()),
    change: Some(Row::of::<UpdateDefinition>()),
    updates: Some(Flags::of::<ProductChange>(&[
        "mfa products update savings --name 'Savings account' --flexible true",
        "mfa products update savings --flexible true && \\\n    \
         echo '{\"interest\": 4.5, \"charges\": []}' | mfa products update savings --from -",
    ])),
    commands: Some(Commands {
        row: Row::of::<CommandDefinition>(),
        property: "action",
        remark: "note",
        verbs: &[
            command("activate", "activated", "Put a product on sale").examples(&[
                "mfa products activate shares",
                "mfa products activate shares --note 'general meeting'",
            ]),
            command(
                "deactivate",
                "deactivated",
                "Take a product off sale; accounts that are there stay as they are",
            )
            .asking("take product {} off sale")
            .examples(&[
                "mfa products deactivate savings",
                "mfa products deactivate savings --note 'replaced'",
            ]),
        ],
    }),
    delete: Some(&DeleteDefinition::META),
    tried: true,
    edited: true,
    view: &views::DEFINITION,
    arguments: &["product"],
    fields: &["product"],
    import: Some(Import {
        plural: "products",
        computed: &["active"],
        example: &[
            ("type", "SAVINGS"),
            ("identifier", "youth-savings"),
            ("name", "Youth savings"),
            ("currency.code", "GHS"),
            ("currency.name", "Ghanaian cedi"),
            ("currency.sign", "₵"),
            ("currency.scale", "2"),
            ("minimumBalance", "5.00"),
            ("equityLedgerIdentifier", "9100"),
            ("cashAccountIdentifier", "7300"),
            ("expenseAccountIdentifier", "3900"),
            ("accrueAccountIdentifier", "8100"),
            ("interest", "1.25"),
            ("term.period", "12"),
            ("term.timeUnit", "MONTH"),
            ("term.interestPayable", "MATURITY"),
            ("charges", "[]"),
            ("flexible", "false"),
        ],
        examples: &[
            "mfa products import --template > products.csv && mfa products import products.csv",
            "mfa products import --template | mfa products import - --atomic",
        ],
        export_examples: &["mfa products export", "mfa products export -o yaml"],
        ..IMPORT
    }),
    apply: Some(Apply {
        kind: "product",
        place: 5,
        shown: held::<Definition>,
        own: &[Own {
            property: "active",
            always: true,
            set: |active| {
                let action = if active == &json!(true) { "ACTIVATE" } else { "DEACTIVATE" };
                Some((&CommandDefinition::META, Some(json!({ "action": action }))))
            },
        }],
        ..APPLY
    }),
    samples: Samples { one: "savings", deleted: "shares", edit: "s/Savings/Thrift/" },
    verbs: &[
        verb::<Create>("create"),
        shows("commands", &ListDefinitionCommands::META, &views::DEFINITION_COMMAND, "product")
            .examples(&["mfa products commands savings", "mfa products commands savings -o csv"]),
        shows("accounts", &ListDefinitionInstances::META, &views::INSTANCE, "product")
            .examples(&["mfa products accounts savings", "mfa products accounts savings -o csv"]),
        group("dividends", "dividend", "Dividends of share products", dividends::VERBS),
    ],
    ..noun::NOUN
};

#[derive(Args)]
pub struct Create {
    /// Identifier of the new product, 2 to 32 letters, digits and . - * _; without flags on a terminal, asks
    /// for every field
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
        cx.create(&NOUN, &[], draft).await
    }
}

#[derive(Args)]
struct ProductChange {
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

impl Drafts for ProductChange {
    fn draft(self) -> Outcome<Draft> {
        Ok(Draft::from_file(self.from.as_deref())?
            .set("name", self.name)
            .set("description", self.description)
            .set("expenseAccountIdentifier", self.expense_account)
            .set("flexible", self.flexible))
    }
}
