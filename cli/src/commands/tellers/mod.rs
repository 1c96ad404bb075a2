//! Tellers: what the management does, and the day at the counter.

mod cash;
mod counter;
mod day;
mod transactions;

use crate::cx::{Cx, Done};
use crate::failure::Outcome;
use crate::input::{self, Draft};
use crate::tree::{Node, Verb, group, verb};
use crate::views;
use clap::Args;
use mfa_shared::amount::Amount;
use mfa_shared::api::tellers::*;
use mfa_shared::endpoint::{Endpoint, Meta};
use mfa_shared::wire::Nothing;
use serde_json::Value;

/// The verbs of the noun.
pub const VERBS: &[Node] = &[
    verb::<List>("list"),
    verb::<Get>("get"),
    verb::<Create>("create"),
    verb::<Update>("update"),
    verb::<Delete>("delete"),
    verb::<day::Open>("open"),
    verb::<day::Unlock>("unlock"),
    verb::<day::Pause>("pause"),
    verb::<day::Close>("close"),
    verb::<cash::Balance>("balance"),
    verb::<counter::Deposit>("deposit"),
    verb::<counter::Withdraw>("withdraw"),
    verb::<counter::Transfer>("transfer"),
    verb::<counter::OpenAccount>("open-account"),
    verb::<counter::CloseAccount>("close-account"),
    group(
        "transactions",
        "transaction",
        "Transactions of a teller",
        &[
            verb::<transactions::List>("list"),
            verb::<transactions::Confirm>("confirm"),
            verb::<transactions::Cancel>("cancel"),
        ],
    ),
    group(
        "denominations",
        "denomination",
        "Counts of the cash of a teller",
        &[verb::<cash::Add>("add"), verb::<cash::List>("list")],
    ),
];

const fn done<'a>(id: &'a str, what: &'a str) -> Done<'a> {
    Done { noun: "teller", id, what }
}

/// Reads an amount of money, digit for digit.
fn money(text: &str) -> Result<Value, String> {
    let amount = Amount::parse(text).map_err(|_| "it must be an amount, such as 1250.00".to_owned())?;
    serde_json::to_value(amount).map_err(|error| error.to_string())
}

/// Which teller, and of which office.
#[derive(Args)]
struct Managed {
    /// Code of the teller
    #[arg(value_name = "CODE")]
    teller: String,
    /// Office of the teller
    #[arg(long, value_name = "ID")]
    office: String,
}

impl Managed {
    fn read(&self) -> GetTeller {
        GetTeller { office: self.office.clone(), teller: self.teller.clone() }
    }
}

/// Where the password of a drawer comes from; it is never typed into a command line.
#[derive(Args)]
struct PasswordFlags {
    /// Read the password of the drawer from standard input
    #[arg(long, conflicts_with = "password_file")]
    password_stdin: bool,
    /// File of the password of the drawer, - for standard input [env: MFA_PASSWORD_FILE]
    #[arg(long, value_name = "FILE")]
    password_file: Option<String>,
}

impl PasswordFlags {
    fn given(&self, cx: &Cx) -> Outcome<Option<String>> {
        let file = self.password_file.as_deref().unwrap_or(cx.settings.get("password_file").0);
        input::secret_file(if self.password_stdin { "-" } else { file })
    }

    /// A new password, typed twice where it is asked for.
    fn fresh(&self, cx: &Cx, teller: &str) -> Outcome<String> {
        match self.given(cx)? {
            Some(password) => Ok(password),
            None => cx.prompt.new_secret(&format!("password of the drawer {teller}"), "--password-file"),
        }
    }

    /// The present password.
    fn known(&self, cx: &Cx, teller: &str) -> Outcome<String> {
        match self.given(cx)? {
            Some(password) => Ok(password),
            None => cx.prompt.secret(&format!("password of the drawer {teller}"), "--password-file"),
        }
    }
}

#[derive(Args)]
pub struct List {
    /// Office of the tellers
    #[arg(long, value_name = "ID")]
    office: String,
}

impl Verb for List {
    const ENDPOINT: Option<&'static Meta> = Some(&ListTellers::META);
    const EXAMPLES: &'static [&'static str] =
        &["mfa teller list --office head-office", "mfa teller list --office head-office -o json"];
    async fn run(self, cx: &Cx) -> Outcome {
        cx.show(ListTellers { office: self.office }, &views::TELLER).await
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
        cx.show(self.at.read(), &views::TELLER).await
    }
}

/// What a teller can be given when it is created and when it is changed.
#[derive(Args)]
struct TellerFlags {
    /// Most that one withdrawal may pay out
    #[arg(long, value_name = "AMOUNT", value_parser = money)]
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
    /// Who is to work there; an empty text is nobody
    #[arg(long, value_name = "ID")]
    employee: Option<String>,
    #[command(flatten)]
    password: PasswordFlags,
}

impl TellerFlags {
    fn draft(self, cx: &Cx, code: &str) -> Outcome<Draft> {
        let password = self.password.fresh(cx, code)?;
        Ok(Draft::default()
            .set("code", Some(code))
            .set("password", Some(password))
            .set("cashdrawLimit", self.limit)
            .set("tellerAccountIdentifier", self.drawer_account)
            .set("vaultAccountIdentifier", self.vault_account)
            .set("chequesReceivableAccount", self.cheques_account)
            .set("cashOverShortAccount", self.over_short_account)
            .set("denominationRequired", self.count_required)
            .set("assignedEmployee", self.employee))
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
        let code = self.at.teller.clone();
        let body = self.flags.draft(cx, &code)?.body::<CreateTeller>()?;
        let endpoint = CreateTeller { office: self.at.office.clone() };
        cx.change(endpoint, body, done(&code, "created"), self.at.read(), &views::TELLER).await
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
        let code = self.at.teller.clone();
        let draft = self.flags.draft(cx, &code)?;
        let write = UpdateTeller { office: self.at.office.clone(), teller: code.clone() };
        cx.update(self.at.read(), write, draft, done(&code, "updated"), &views::TELLER).await
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
        "mfa teller delete desk-1 --office head-office --yes",
        "mfa teller delete desk-1 --office head-office --yes -o json",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        let Managed { teller, office } = self.at;
        cx.prompt.before_destroying(&format!("delete teller {teller} of office {office}"), &teller)?;
        cx.client.send(&DeleteTeller { office, teller: teller.clone() }, &Nothing).await?;
        cx.done(done(&teller, "deleted"))
    }
}
