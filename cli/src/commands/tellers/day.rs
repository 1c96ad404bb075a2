//! The day at a teller: open, unlock, pause, close.

use super::{Managed, PasswordFlags, cash, done, money};
use crate::commands::login;
use crate::cx::Cx;
use crate::failure::{Failure, Outcome};
use crate::input::Draft;
use crate::tree::Verb;
use crate::views;
use clap::Args;
use mfa_shared::api::tellers::*;
use mfa_shared::endpoint::{Endpoint, Meta};
use mfa_shared::wire::{Form, Nothing};
use serde_json::{Value, json};

/// Cash that moves when a teller is opened or closed.
#[derive(Args)]
struct CashFlags {
    /// Cash to bring from the vault into the drawer
    #[arg(long, value_name = "AMOUNT", value_parser = money, conflicts_with = "to_vault")]
    from_vault: Option<Value>,
    /// Cash to bring from the drawer into the vault
    #[arg(long, value_name = "AMOUNT", value_parser = money)]
    to_vault: Option<Value>,
}

impl CashFlags {
    fn draft(self, action: &str) -> Draft {
        let (adjustment, amount) = match (self.from_vault, self.to_vault) {
            (Some(amount), _) => ("DEBIT", Some(amount)),
            (None, Some(amount)) => ("CREDIT", Some(amount)),
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
    #[arg(long, value_name = "ID")]
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
        let code = self.at.teller.clone();
        let draft = self.cash.draft("OPEN").set("assignedEmployeeIdentifier", self.employee);
        let endpoint = CommandTeller { office: self.at.office.clone(), teller: code.clone() };
        let body = draft.body::<CommandTeller>()?;
        cx.change(endpoint, body, done(&code, "opened"), self.at.read(), &views::TELLER).await
    }
}

#[derive(Args)]
pub struct Unlock {
    /// Code of the teller
    #[arg(value_name = "CODE")]
    teller: String,
    /// The assigned employee; by default the user who is logged in
    #[arg(long, value_name = "ID")]
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
        let password = self.password.known(cx, &self.teller)?;
        let employee = match self.employee {
            Some(employee) => employee,
            None => login::user(cx, "--employee").await?,
        };
        let draft =
            Draft::default().set("employeeIdentifier", Some(employee)).set("password", Some(password));
        let body = draft.body::<UnlockDrawer>()?;
        let mut shown = cx.client.send(&UnlockDrawer { teller: self.teller.clone() }, &body).await?.value;
        cx.out.tip(&format!("teller {} unlocked (ACTIVE)", self.teller));
        // The interface says OPEN here and ACTIVE everywhere else; a person wants to know what is the case.
        if !cx.out.format.is_structured() {
            shown["state"] = json!("ACTIVE");
        }
        cx.out.show(&views::TELLER, &shown)
    }
}

#[derive(Args)]
pub struct Pause {
    /// Code of the teller
    #[arg(value_name = "CODE")]
    teller: String,
}

impl Verb for Pause {
    const ENDPOINT: Option<&'static Meta> = Some(&PauseTeller::META);
    const EXAMPLES: &'static [&'static str] = &["mfa teller pause desk-2", "mfa teller pause desk-2 -o json"];
    async fn run(self, cx: &Cx) -> Outcome {
        pause(cx, &self.teller).await?;
        cx.done(done(&self.teller, "paused"))
    }
}

async fn pause(cx: &Cx, teller: &str) -> Outcome {
    let form = Form(TellerForm { command: TellerCommandWord::Pause });
    cx.client.send(&PauseTeller { teller: teller.to_owned() }, &form).await?;
    Ok(())
}

#[derive(Args)]
pub struct Close {
    #[command(flatten)]
    at: Managed,
    #[command(flatten)]
    cash: CashFlags,
    /// The cash that was counted; saved as a count before the teller is closed
    #[arg(long, value_name = "AMOUNT", value_parser = money, conflicts_with = "denominations")]
    counted: Option<Value>,
    /// The cash that was counted, piece by piece, such as 100x12,50x1,0.50x4
    #[arg(long, value_name = "VALUExNUMBER,...", value_parser = cash::pieces)]
    denominations: Option<Value>,
}

impl Verb for Close {
    const ENDPOINT: Option<&'static Meta> = Some(&CommandTeller::META);
    const ABOUT: &'static str = "Close a teller, with or without a count of its cash, and report its day";
    const EXAMPLES: &'static [&'static str] = &[
        "mfa teller close desk-2 --office head-office",
        "mfa teller close desk-2 --office head-office --counted 605.00 --to-vault 600 --yes",
        "mfa teller close desk-2 --office head-office --denominations 100x6,5x1 --yes -o csv",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        let Managed { teller, office } = self.at;
        let read = GetTellerBalance { office: office.clone(), teller: teller.clone() };
        let expected = cx.client.send(&read, &Nothing).await?.value["cashOnHand"].clone();
        let counted = self.counted.or(self.denominations);
        let difference = match &counted {
            Some(counted) => Some(cash::difference(counted, &expected)?),
            None => None,
        };
        if let (Some(counted), Some(difference)) = (&counted, &difference) {
            cx.out.say(&format!("expected {expected}, counted {counted}, difference {difference}"));
            cx.prompt.confirm(&format!("save the count and close teller {teller}?"))?;
            let at = GetTeller { office: office.clone(), teller: teller.clone() };
            match cx.client.send(&at, &Nothing).await?.value["state"].as_str() {
                Some("PAUSED") => {}
                Some("ACTIVE") => pause(cx, &teller).await?,
                _ => {
                    let what = format!("teller {teller} must be unlocked before its cash is counted");
                    return Err(Failure::usage(what).hint("unlock it first: mfa teller unlock"));
                }
            }
            cash::save(cx, &office, &teller, counted, None).await?;
        }
        let body = self.cash.draft("CLOSE").body::<CommandTeller>()?;
        let endpoint = CommandTeller { office, teller: teller.clone() };
        cx.client.send(&endpoint, &body).await?;
        cx.out.tip(&format!("teller {teller} closed (CLOSED)"));
        let balance = cx.client.send(&read, &Nothing).await?.value;
        let entries = balance["cashEntries"].as_array().map(Vec::len);
        let report = json!({
            "teller": teller, "day": balance["day"], "entries": entries,
            "received": balance["cashReceivedTotal"], "disbursed": balance["cashDisbursedTotal"],
            "expected": expected, "counted": counted, "difference": difference,
            "left": balance["cashOnHand"],
        });
        cx.out.show(&views::DAY_REPORT, &report)
    }
}
