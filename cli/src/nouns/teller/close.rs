//! The end of a day at a teller: the count, the difference, the report.

use super::cash::{Pieces, difference, on_hand, say_lines};
use super::day::{CashFlags, pause};
use super::of_day::{self, WorkingPlace};
use super::report_file::FileFlags;
use super::{Place, as_amount, cash, money};
use crate::client::Client;
use crate::command::cx::Cx;
use crate::command::money::{check_digits, teller_scale, with_digits};
use crate::command::verb::Verb;
use crate::failure::{Failure, Outcome, codes};
use crate::output::views;
use crate::words::quoted;
use clap::Args;
use mfa_shared::amount::Amount;
use mfa_shared::api::tellers::*;
use mfa_shared::endpoint::{Endpoint, Meta};
use mfa_shared::fault::{self, exit};
use mfa_shared::wire::{Form, Nothing, Query};
use serde_json::Value;

#[derive(Args)]
pub struct Close {
    #[command(flatten)]
    at: WorkingPlace,
    #[command(flatten)]
    cash: CashFlags,
    /// The cash that was counted; saved as a count before the teller is closed
    #[arg(short, long, value_name = "AMOUNT", value_parser = money, allow_negative_numbers = true)]
    #[arg(conflicts_with = "denominations")]
    counted: Option<Value>,
    /// The cash that was counted, piece by piece, such as 100x12,50x1,0.50x4
    #[arg(short, long, value_name = "VALUExNUMBER,...", value_parser = cash::pieces)]
    denominations: Option<Pieces>,
    /// A remark about the count; by default its pieces
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
    #[command(flatten)]
    file: FileFlags,
}

impl Verb for Close {
    const ENDPOINT: Option<&'static Meta> = Some(&CommandTeller::META);
    const ABOUT: &'static str = "Close a teller, count its cash, and write the report of the day";
    const EXAMPLES: &'static [&'static str] = &[
        "mfa teller close desk-2 --office head-office",
        "mfa teller close desk-2 --office head-office --counted 605.00 --to-vault 600 --yes",
        "mfa teller close desk-2 --office head-office --denominations 100x6,5x1 --yes -o csv",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        if !cx.client.dry_run {
            cx.out.check_columns(&views::DAY_REPORT)?;
        }
        let at = self.at.place(cx)?;
        let found = Pieces::of(self.counted, self.denominations);
        let given = (self.cash, found, self.note);
        let (read, report) = close(cx, &cx.client, at, given, &self.file, false).await?;
        cx.print(&read, &views::DAY_REPORT, report).await
    }
}

/// Closes a teller with the cash that moves, what was counted, and a remark about the count. Asks for what is
/// missing, and returns the report of the day, which is saved to its file. Pending transactions are not asked
/// about again where the caller has done so. `client` gives the changes their keys.
pub(super) async fn close(
    cx: &Cx,
    client: &Client,
    at: Place,
    (cash, found, note): (CashFlags, Option<Pieces>, Option<String>),
    file: &FileFlags,
    is_asked: bool,
) -> Outcome<(GetDayReport, Value)> {
    // A folder that cannot take the report is found before anything is counted or closed.
    let folder = file.folder(cx)?;
    let refused = if found.is_none() { refusal(cx, &at).await? } else { None };
    let must_be_counted =
        refused.as_ref().is_some_and(|failure| failure.code == fault::DENOMINATION_REQUIRED.code);
    let found = if must_be_counted { Some(ask_for_count(cx, &at).await?) } else { found };
    let scale = teller_scale(&cx.client, &at.office, &at.teller).await;
    cash.check_digits(scale)?;
    found.iter().try_for_each(|found| check_digits("/countedTotal", &found.total, scale))?;
    // What cannot be sent is found before the teller is paused for its count.
    let body = cash.draft("CLOSE").body::<CommandTeller>()?;
    let found = found.map(|found| found.noted(note));
    found.iter().try_for_each(|found| cash::body(found).map(drop))?;
    let waiting = if is_asked { 0 } else { say_what_waits(cx, &at.teller).await };
    if found.is_none() && !is_asked {
        ask_without_count(cx, &at.teller, waiting > 0, refused)?;
    }
    if let Some(found) = found {
        let money = |amount| with_digits(amount, scale);
        check_vault(&cash, as_amount(&found.total)?, money)?;
        if !may_be_closed_by_key(cx, &at).await? {
            count(cx, client, &at, &cash, found, money).await?;
        }
    }
    client.send(&at.command(), &body).await?;
    of_day::forget(cx, &at.teller);
    let Place { office, teller } = at;
    let read = GetDayReport { office, teller: teller.clone(), report: "latest".to_owned() };
    let report = cx.client.send(&read, &Nothing).await?.value;
    let file = file.write(cx, &folder, &teller, &report).await.map_err(|failure| {
        failure.adding(&format!("; teller {teller} is closed nevertheless")).hint(format!(
            "write it again: mfa teller reports save {} {} --office {} --report-dir DIR",
            quoted(&teller),
            report["number"].as_u64().map_or_else(|| "latest".to_owned(), |number| number.to_string()),
            quoted(&read.office)
        ))
    })?;
    cx.out.tip(&format!("teller {teller} closed (CLOSED); day report: {}", file.display()));
    Ok((read, report))
}

/// Why a teller would not be closed without a count, if it would not: the daemon says so, and does nothing.
async fn refusal(cx: &Cx, at: &Place) -> Outcome<Option<Failure>> {
    let body = CashFlags::default().draft("CLOSE").body::<CommandTeller>()?;
    Ok(cx.client.try_out(&at.command(), &body).await.err())
}

/// Whether a teller is closed already where a key was given: if this command has closed it before, the daemon
/// answers as it did then.
async fn may_be_closed_by_key(cx: &Cx, at: &Place) -> Outcome<bool> {
    Ok(cx.client.keys.are_given() && cx.client.send(&at.read(), &Nothing).await?.value["state"] == "CLOSED")
}

/// Asks for the count, unless it could not be saved or no question can be asked.
async fn ask_for_count(cx: &Cx, at: &Place) -> Outcome<Pieces> {
    is_active(cx, at).await?;
    let what = format!("the cash of teller {} must be counted before it is closed", at.teller);
    if !cx.prompt.can_ask() {
        let hint = "give what was counted: --counted 1250.00, or --denominations 100x12,50x1";
        return Err(Failure::new(codes::INPUT_NEEDED, what).hint(hint));
    }
    cx.out.say(&what);
    loop {
        let typed = cx.prompt.text("counted, such as 1250.00 or 100x12,50x1: ", "--counted")?;
        match cash::counted(&typed) {
            Ok(found) => return Ok(found),
            Err(why) => cx.out.insist(&why),
        }
    }
}

/// Asks before a teller is closed that nobody has counted. Scripts may do so, unless something waits.
fn ask_without_count(cx: &Cx, teller: &str, waits: bool, refused: Option<Failure>) -> Outcome {
    if waits {
        cx.prompt.before_ending(&format!("close teller {teller}, which cancels what waits,"), teller)
    } else if cx.prompt.can_ask() {
        // Nobody is asked about what is refused anyway. By its key a closing may be answered again.
        refused.filter(|_| !cx.client.keys.are_given()).map_or(Ok(()), Err)?;
        cx.out.say("its cash was not counted: --counted 1250.00, or --denominations 100x12,50x1");
        cx.prompt.before_ending(&format!("close teller {teller} without a count"), teller)
    } else {
        Ok(())
    }
}

/// Warns of pending transactions, which the closing cancels; returns their number.
pub async fn say_what_waits(cx: &Cx, teller: &str) -> usize {
    let query = Query(TransactionQuery { status: Some(TransactionState::Pending) });
    let listed = cx.client.send(&ListTransactions { teller: teller.to_owned() }, &query).await;
    let waiting = listed.ok().and_then(|reply| reply.value.as_array().map(Vec::len)).unwrap_or_default();
    if waiting > 0 {
        let them = if waiting == 1 { "1 transaction waits" } else { &format!("{waiting} transactions wait") };
        cx.out.say(&format!(
            "{them} for confirmation and will be cancelled: mfa teller transactions list {} \
             --status pending",
            quoted(teller)
        ));
    }
    waiting
}

/// Refuses to bring more into the vault than is in the drawer, before the count is saved.
fn check_vault(cash: &CashFlags, counted: Amount, money: impl Fn(Amount) -> String) -> Outcome {
    match cash.to_vault.as_ref().map(as_amount).transpose()? {
        Some(amount) if amount > counted => {
            let (counted, amount) = (money(counted), money(amount));
            let what = format!("{counted} was counted, so {amount} cannot be brought into the vault");
            let row = fault::INSUFFICIENT_CASH;
            Err(Failure::of(row, what).hint("bring at most what was counted"))
        }
        _ => Ok(()),
    }
}

/// Shows what a count finds, asks, and saves it.
async fn count(
    cx: &Cx,
    client: &Client,
    at: &Place,
    cash: &CashFlags,
    found: Pieces,
    money: impl Fn(Amount) -> String,
) -> Outcome {
    let is_active = is_active(cx, at).await?;
    let expected = on_hand(cx, at).await?;
    let counted = as_amount(&found.total)?;
    let mut lines = difference(expected, counted, &money);
    for (name, moved, taken) in [("to vault", &cash.to_vault, true), ("from vault", &cash.from_vault, false)]
    {
        if let Some(amount) = moved.as_ref().map(as_amount).transpose()? {
            let stays = if taken { counted.minus(amount) } else { counted.plus(amount) };
            lines.extend([(name, money(amount)), ("stays", money(stays))]);
        }
    }
    say_lines(cx, &lines);
    cx.prompt.confirm(&format!("save the count and close teller {}?", at.teller))?;
    if is_active {
        pause(&client.step("pause"), &at.teller).await?;
    }
    // Nothing moves while a teller is paused, so what was shown is what is booked.
    let present = on_hand(cx, at).await?;
    if present != expected {
        let (present, expected) = (money(present), money(expected));
        let what = format!("cash moved meanwhile: the drawer should hold {present}, not {expected}");
        let row = fault::WRONG_STATE;
        let hint = "the teller is paused and nothing was counted; count again";
        return Err(Failure::of(row, what).hint(hint));
    }
    cash::save(&client.step("count"), at, found).await
}

/// Whether a teller is active, or else paused; in any other state its cash cannot be counted.
async fn is_active(cx: &Cx, at: &Place) -> Outcome<bool> {
    let teller = cx.client.send(&at.read(), &Nothing).await?.value;
    match teller["state"].as_str() {
        Some("PAUSED") => Ok(false),
        Some("ACTIVE") => {
            check_pause(cx, at, teller["assignedEmployee"].as_str()).await?;
            Ok(true)
        }
        state => {
            let what = format!("teller {} is {}", at.teller, state.unwrap_or_default());
            let row = fault::WRONG_STATE;
            let failure = Failure::of(row, what + ", so its cash cannot be counted");
            let unlock = format!("mfa teller unlock {}", quoted(&at.teller));
            Err(failure.hint(format!("cash is counted after the drawer was unlocked: {unlock}")))
        }
    }
}

/// Refuses a count where the caller may close the teller but not pause it, before any cash is counted.
async fn check_pause(cx: &Cx, at: &Place, employee: Option<&str>) -> Outcome {
    let form = Form(TellerForm { command: TellerCommandWord::Pause });
    let tried = cx.client.try_out(&PauseTeller { teller: at.teller.clone() }, &form).await;
    let refused = tried.err().filter(|failure| failure.exit == exit::FORBIDDEN);
    refused.map_or(Ok(()), |failure| {
        let teller = &at.teller;
        let employee = employee.unwrap_or("who works there");
        let what =
            format!("teller {teller} must be paused before its cash is counted, and you may not pause it");
        let pause = format!("mfa teller pause {}", quoted(teller));
        let hint = format!("let {employee} pause it: {pause}; then repeat the command");
        Err(Failure::of(fault::find(&failure.code).unwrap_or(fault::FORBIDDEN), what).hint(hint))
    })
}
