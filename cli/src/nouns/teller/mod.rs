//! Tellers: what the management does, and the day at the counter.

mod cash;
mod close;
mod close_account;
mod counter;
mod day;
mod of_day;
mod receipt_paper;
mod receipts;
mod report_file;
mod report_paper;
mod reports;
mod transactions;

pub use close::say_what_waits;
pub use report_file::FileFlags;

use super::offices;
use crate::client::Client;
use crate::command::cx::Cx;
use crate::command::flags::PasswordFlags;
use crate::command::noun::{self, APPLY, Apply, Noun, Samples, Section, held};
use crate::command::verb::{Verb, shows, verb};
use crate::failure::{Failure, Outcome};
use crate::input::{Draft, Row, money};
use crate::output::views;
use clap::Args;
use mfa_shared::amount::Amount;
use mfa_shared::api::audit::ListAudit;
use mfa_shared::api::tellers::*;
use mfa_shared::endpoint::{Endpoint, Meta};
use mfa_shared::wire::Nothing;
use serde_json::Value;

pub const NOUN: Noun = Noun {
    section: Section::Counter,
    typed: "teller",
    alias: "tellers",
    about: "Tellers, their cash and the money at the counter",
    singular: "teller",
    history: "teller",
    of: Some(&offices::NOUN),
    list: Some(&ListTellers::META),
    read: Some(&GetTeller::META),
    create: Some(Row::of::<CreateTeller>()),
    change: Some(Row::of::<UpdateTeller>()),
    delete: Some(&DeleteTeller::META),
    key: "code",
    within: &["office"],
    view: &views::TELLER,
    apply: Some(Apply {
        kind: "teller",
        place: 6,
        unseen: &["password"],
        references: &[("/office", "office"), ("/assignedEmployee", "employee")],
        shown: held::<Teller>,
        ..APPLY
    }),
    verbs: &[
        verb::<List>("list"),
        verb::<Get>("get"),
        verb::<History>("history"),
        verb::<Create>("create"),
        verb::<Update>("update"),
        verb::<Delete>("delete"),
        verb::<day::Open>("open"),
        verb::<day::Unlock>("unlock"),
        verb::<day::Pause>("pause"),
        verb::<close::Close>("close"),
        verb::<cash::Balance>("balance"),
        verb::<counter::Deposit>("deposit"),
        verb::<counter::Withdraw>("withdraw"),
        verb::<counter::Transfer>("transfer"),
        verb::<counter::OpenAccount>("open-account"),
        verb::<close_account::CloseAccount>("close-account"),
        verb::<receipts::Issue>("receipt"),
    ],
    parts: &[&TRANSACTIONS, &RECEIPTS, &DENOMINATIONS, &REPORTS],
    ..noun::NOUN
};

const TRANSACTIONS: Noun = Noun {
    typed: "teller transactions",
    alias: "transaction",
    about: "Transactions of a teller",
    singular: "transaction",
    history: "transaction",
    read: Some(&GetTransaction::META),
    view: &views::TRANSACTION,
    samples: Samples {
        one: "desk-2 \\\n    $(mfa teller transactions list desk-2 --status confirmed -o id | head -n 1)",
        deleted: "",
        edit: "",
    },
    verbs: &[
        verb::<transactions::List>("list"),
        shows("get", &GetTransaction::META, &views::TRANSACTION, "transaction")
            .arguments(&[("CODE", "Code of the teller"), ("ID", "Identifier of the transaction")])
            .examples(&[
                "mfa teller transactions get desk-2 \\\n    \
         $(mfa teller transactions list desk-2 --status pending -o id)",
                "mfa teller transactions list desk-2 --status pending -o id | \\\n    \
         xargs mfa teller transactions get desk-2 -o json",
            ]),
        verb::<transactions::Confirm>("confirm"),
        verb::<transactions::Cancel>("cancel"),
    ],
    ..noun::NOUN
};

const RECEIPTS: Noun = Noun {
    typed: "teller receipts",
    about: "Receipts of a teller",
    singular: "receipt",
    history: "receipt",
    read: Some(&GetReceipt::META),
    view: &views::RECEIPT,
    verbs: &[verb::<receipts::Get>("get"), verb::<receipts::History>("history")],
    ..noun::NOUN
};

const DENOMINATIONS: Noun = Noun {
    typed: "teller denominations",
    alias: "denomination",
    about: "Counts of the cash of a teller",
    verbs: &[verb::<cash::Add>("add"), verb::<cash::List>("list")],
    ..noun::NOUN
};

const REPORTS: Noun = Noun {
    typed: "teller reports",
    alias: "report",
    about: "Day reports of a teller",
    singular: "day report",
    read: Some(&GetDayReport::META),
    view: &views::DAY_REPORT,
    verbs: &[
        verb::<reports::List>("list"),
        verb::<reports::Get>("get"),
        verb::<reports::Print>("print"),
        verb::<reports::Save>("save"),
    ],
    ..noun::NOUN
};

/// Closes a teller as `teller close` does without flags: asks for what must be counted. The caller asks
/// whether pending transactions are to be cancelled. `client` gives the changes their keys.
pub async fn close(cx: &Cx, client: &Client, office: &str, teller: &str, file: &FileFlags) -> Outcome {
    let at = Place { office: office.to_owned(), teller: teller.to_owned() };
    close::close(cx, client, at, (day::CashFlags::default(), None, None), file, true).await.map(drop)
}

/// An amount that the daemon sent.
pub fn as_amount(value: &Value) -> Outcome<Amount> {
    let strange = |_| Failure::local(format!("the daemon sent {value} where an amount should be"));
    serde_json::from_value(value.clone()).map_err(strange)
}

/// Which teller, and of which office.
#[derive(Args)]
struct Managed {
    /// Code of the teller
    #[arg(value_name = "CODE")]
    teller: String,
    /// Office of the teller [env: MFA_OFFICE]
    #[arg(long, value_name = "ID")]
    office: Option<String>,
}

impl Managed {
    fn place(self, cx: &Cx) -> Outcome<Place> {
        Ok(Place { office: office(cx, self.office)?, teller: self.teller })
    }
}

/// A teller of an office.
struct Place {
    office: String,
    teller: String,
}

impl Place {
    fn read(&self) -> GetTeller {
        GetTeller { office: self.office.clone(), teller: self.teller.clone() }
    }

    fn command(&self) -> CommandTeller {
        CommandTeller { office: self.office.clone(), teller: self.teller.clone() }
    }
}

/// The office of a flag, or that of this machine.
fn office(cx: &Cx, given: Option<String>) -> Outcome<String> {
    let office = given.unwrap_or_else(|| cx.settings.get("office").0.to_owned());
    if office.is_empty() {
        let what = "--office is needed: nothing says which office the teller is of";
        return Err(Failure::usage(what).hint(
            "give --office ID; list them: mfa offices list; on a machine of one office set MFA_OFFICE",
        ));
    }
    Ok(office)
}

/// What a question for its password calls a drawer.
fn drawer(teller: &str) -> String {
    format!("password of the drawer {teller}")
}

#[derive(Args)]
pub struct List {
    /// Office of the tellers [env: MFA_OFFICE]
    #[arg(long, value_name = "ID")]
    office: Option<String>,
}

impl Verb for List {
    const ENDPOINT: Option<&'static Meta> = Some(&ListTellers::META);
    const EXAMPLES: &'static [&'static str] =
        &["mfa teller list --office head-office", "mfa teller list --office head-office -o json"];
    async fn run(self, cx: &Cx) -> Outcome {
        cx.show(ListTellers { office: office(cx, self.office)? }, &views::TELLER).await
    }
}

#[derive(Args)]
pub struct History {
    #[command(flatten)]
    at: Managed,
}

impl Verb for History {
    const ENDPOINT: Option<&'static Meta> = Some(&ListAudit::META);
    const ABOUT: &'static str = "Show who changed the teller, when and what, the oldest change first";
    const EXAMPLES: &'static [&'static str] = &[
        "mfa teller history desk-1 --office head-office",
        "mfa teller history desk-1 --office head-office -o json",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        let at = self.at.place(cx)?;
        cx.history("teller", &[&at.office, &at.teller], Some(&GetTeller::META)).await
    }
}

#[derive(Args)]
pub struct Get {
    #[command(flatten)]
    at: Managed,
}

impl Verb for Get {
    const ENDPOINT: Option<&'static Meta> = Some(&GetTeller::META);
    const EXAMPLES: &'static [&'static str] =
        &["mfa teller get desk-1 --office head-office", "mfa teller get desk-1 --office head-office -o yaml"];
    async fn run(self, cx: &Cx) -> Outcome {
        cx.show(self.at.place(cx)?.read(), &views::TELLER).await
    }
}

/// What a teller can be given when it is created and when it is changed.
#[derive(Args)]
struct TellerFlags {
    /// Most that one withdrawal may pay out
    #[arg(long, value_name = "AMOUNT", value_parser = money, allow_negative_numbers = true)]
    limit: Option<Value>,
    /// Account of the drawer
    #[arg(long, value_name = "ACCOUNT")]
    drawer_account: Option<String>,
    /// Account of the vault
    #[arg(long, value_name = "ACCOUNT")]
    vault_account: Option<String>,
    /// Account of cheques
    #[arg(long, value_name = "ACCOUNT")]
    cheques_account: Option<String>,
    /// Account that takes what a count finds over or short
    #[arg(long, value_name = "ACCOUNT")]
    over_short_account: Option<String>,
    /// Whether the cash must be counted before the teller is closed
    #[arg(long, value_name = "true|false", num_args = 0..=1, default_missing_value = "true")]
    count_required: Option<bool>,
    /// Who works there; an empty text for no one
    #[arg(long, value_name = "ID")]
    employee: Option<String>,
    #[command(flatten)]
    password: PasswordFlags,
}

impl TellerFlags {
    /// The flags as the body of an endpoint, but for the password.
    fn draft(&self, code: &str) -> Draft {
        Draft::default()
            .set("code", Some(code))
            .set("cashdrawLimit", self.limit.clone())
            .set("tellerAccountIdentifier", self.drawer_account.clone())
            .set("vaultAccountIdentifier", self.vault_account.clone())
            .set("chequesReceivableAccount", self.cheques_account.clone())
            .set("cashOverShortAccount", self.over_short_account.clone())
            .set("denominationRequired", self.count_required)
            .set("assignedEmployee", self.employee.clone())
    }
}

#[derive(Args)]
pub struct Create {
    #[command(flatten)]
    at: Managed,
    #[command(flatten)]
    flags: TellerFlags,
}

impl Verb for Create {
    const ENDPOINT: Option<&'static Meta> = Some(&CreateTeller::META);
    const EXAMPLES: &'static [&'static str] = &[
        "echo 4711 | mfa teller create desk-8 --office head-office --limit 1000 \\\n    \
         --drawer-account drawer-8 --vault-account vault --cheques-account cheques \\\n    \
         --over-short-account over-short --password-stdin",
        "echo 0815 | mfa teller create desk-9 --office head-office --limit 500.50 \\\n    \
         --drawer-account drawer-9 --vault-account vault --cheques-account cheques \\\n    \
         --over-short-account over-short --count-required --password-file - -o json",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        let at = self.at.place(cx)?;
        let draft = self.flags.draft(&at.teller);
        // Reports a missing or wrong flag before the user types a password.
        draft.clone().set("password", Some("0000")).body::<CreateTeller>()?;
        let password = self.flags.password.fresh(cx, &drawer(&at.teller))?;
        cx.create(&NOUN, &[&at.office], draft.set("password", Some(password))).await
    }
}

#[derive(Args)]
pub struct Update {
    #[command(flatten)]
    at: Managed,
    #[command(flatten)]
    flags: TellerFlags,
}

impl Verb for Update {
    const ENDPOINT: Option<&'static Meta> = Some(&UpdateTeller::META);
    const EXAMPLES: &'static [&'static str] = &[
        "echo 4711 | mfa teller update desk-1 --office head-office --limit 2000 --password-stdin",
        "echo 4711 | mfa teller update desk-1 --office head-office --employee kwame --password-file -",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        let at = self.at.place(cx)?;
        let draft = self.flags.draft(&at.teller);
        draft.clone().set("password", Some("0000")).body::<UpdateTeller>()?;
        let draft = draft.set("password", Some(self.flags.password.fresh(cx, &drawer(&at.teller))?));
        cx.update(&NOUN, &[&at.office, &at.teller], draft).await
    }
}

#[derive(Args)]
pub struct Delete {
    #[command(flatten)]
    at: Managed,
}

impl Verb for Delete {
    const ENDPOINT: Option<&'static Meta> = Some(&DeleteTeller::META);
    const EXAMPLES: &'static [&'static str] = &[
        "mfa teller delete desk-3 --office head-office --yes",
        "mfa teller delete desk-3 --office head-office --yes -o json",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        cx.check_columns(&views::RESULT)?;
        let Place { teller, office } = self.at.place(cx)?;
        cx.prompt.before_destroying(&format!("delete teller {teller} of office {office}"), &teller)?;
        cx.client.send(&DeleteTeller { office, teller: teller.clone() }, &Nothing).await?;
        cx.done(NOUN.done(&[&teller], "deleted"))
    }
}
