//! The day at a teller: open, unlock, pause.

use super::of_day::{self, Working};
use super::{Managed, NOUN, drawer, money};
use crate::client::Client;
use crate::command::cx::Cx;
use crate::command::flags::PasswordFlags;
use crate::command::money::{check_digits, teller_scale};
use crate::command::verb::Verb;
use crate::failure::Outcome;
use crate::input::Draft;
use crate::machine::login;
use crate::output::views;
use clap::Args;
use mfa_shared::api::tellers::*;
use mfa_shared::endpoint::{Endpoint, Meta};
use mfa_shared::wire::Form;
use serde_json::{Value, json};

/// Cash that moves when a teller is opened or closed.
#[derive(Args, Default)]
pub(super) struct CashFlags {
    /// Cash to bring from the vault into the drawer
    #[arg(short, long, value_name = "AMOUNT", value_parser = money, allow_negative_numbers = true)]
    #[arg(conflicts_with = "to_vault")]
    pub from_vault: Option<Value>,
    /// Cash to bring from the drawer into the vault
    #[arg(short, long, value_name = "AMOUNT", value_parser = money, allow_negative_numbers = true)]
    pub to_vault: Option<Value>,
}

impl CashFlags {
    /// Refuses amounts with more digits than the currency of the drawer has.
    pub fn check_digits(&self, scale: Option<u32>) -> Outcome {
        self.from_vault
            .iter()
            .chain(&self.to_vault)
            .try_for_each(|amount| check_digits("/amount", amount, scale))
    }

    pub fn draft(&self, action: &str) -> Draft {
        let (adjustment, amount) = match (&self.from_vault, &self.to_vault) {
            (Some(amount), _) => ("DEBIT", Some(amount.clone())),
            (None, Some(amount)) => ("CREDIT", Some(amount.clone())),
            (None, None) => ("NONE", None),
        };
        Draft::default().set("action", Some(action)).set("adjustment", Some(adjustment)).set("amount", amount)
    }
}

#[derive(Args)]
pub struct Open {
    #[command(flatten)]
    at: Managed,
    /// Who works there from now on; by default the employee noted on the teller
    #[arg(short, long, value_name = "ID")]
    employee: Option<String>,
    #[command(flatten)]
    cash: CashFlags,
}

impl Verb for Open {
    const ENDPOINT: Option<&'static Meta> = Some(&CommandTeller::META);
    const ABOUT: &'static str = "Open a teller for an employee";
    const EXAMPLES: &'static [&'static str] = &[
        "mfa teller open desk-1 --office head-office --employee kojo --from-vault 2000",
        "mfa teller open desk-1 --office head-office --employee kojo -o json",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        let at = self.at.place(cx)?;
        if self.cash.from_vault.is_some() || self.cash.to_vault.is_some() {
            self.cash.check_digits(teller_scale(&cx.client, &at.office, &at.teller).await)?;
        }
        let employee = self.employee.clone();
        let draft = self.cash.draft("OPEN").set("assignedEmployeeIdentifier", self.employee);
        let body = draft.body::<CommandTeller>()?;
        cx.check_columns(&views::TELLER)?;
        cx.client.send(&at.command(), &body).await?;
        of_day::remember_opened(cx, &at.teller, &at.office, employee.as_deref());
        cx.changed_row(&NOUN, &[&at.office, &at.teller], "opened").await
    }
}

#[derive(Args)]
pub struct Unlock {
    #[command(flatten)]
    at: Working,
    /// The assigned employee; by default the user who is logged in
    #[arg(short, long, value_name = "ID")]
    employee: Option<String>,
    #[command(flatten)]
    password: PasswordFlags,
}

impl Verb for Unlock {
    const ENDPOINT: Option<&'static Meta> = Some(&UnlockDrawer::META);
    const EXAMPLES: &'static [&'static str] = &[
        "echo 4711 | mfa teller unlock desk-2 --password-stdin",
        "echo 4711 | mfa teller unlock desk-2 --password-file - -o json",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        cx.check_columns_shown(&views::TELLER)?;
        let teller = self.at.code(cx)?;
        let password = self.password.known(cx, &drawer(&teller))?;
        let employee = login::user(cx, self.employee, "--employee").await?;
        let draft =
            Draft::default().set("employeeIdentifier", Some(employee)).set("password", Some(password));
        let body = draft.body::<UnlockDrawer>()?;
        let at = UnlockDrawer { teller: teller.clone() };
        let mut shown = cx.client.send(&at, &body).await?.value;
        of_day::remember(cx, &teller, None);
        cx.out.tip(&format!("teller {teller} unlocked (ACTIVE)"));
        // The interface says OPEN here and ACTIVE everywhere else; people see one word.
        if !cx.out.format.is_structured() {
            shown["state"] = json!("ACTIVE");
        }
        cx.print(&at, &views::TELLER, shown).await
    }
}

#[derive(Args)]
pub struct Pause {
    #[command(flatten)]
    at: Working,
}

impl Verb for Pause {
    const ENDPOINT: Option<&'static Meta> = Some(&PauseTeller::META);
    const EXAMPLES: &'static [&'static str] = &["mfa teller pause desk-2", "mfa teller pause desk-2 -o json"];
    async fn run(self, cx: &Cx) -> Outcome {
        cx.check_columns(&views::RESULT)?;
        let teller = self.at.code(cx)?;
        pause(&cx.client, &teller).await?;
        cx.done(NOUN.done(&[&teller], "paused"))
    }
}

pub(super) async fn pause(client: &Client, teller: &str) -> Outcome {
    let form = Form(TellerForm { command: TellerCommandWord::Pause });
    client.send(&PauseTeller { teller: teller.to_owned() }, &form).await?;
    Ok(())
}
