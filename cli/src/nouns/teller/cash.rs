//! The cash of a teller: its balance, and counts of it.

use super::of_day::WorkingPlace;
use super::{Place, as_amount, money};
use crate::client::Client;
use crate::command::cx::{Cx, Done};
use crate::command::money::{check_digits, teller_scale, with_digits};
use crate::command::verb::Verb;
use crate::failure::Outcome;
use crate::input::Draft;
use crate::output::views;
use clap::Args;
use mfa_shared::amount::Amount;
use mfa_shared::api::tellers::*;
use mfa_shared::endpoint::{Endpoint, Meta};
use mfa_shared::query::{Parameters, Params};
use mfa_shared::wire::{Nothing, Query};
use serde_json::Value;
use std::time::Duration;

/// How often a balance that is watched is read.
const WATCH: Duration = Duration::from_secs(2);

#[derive(Args)]
pub struct Balance {
    #[command(flatten)]
    at: WorkingPlace,
    /// List the movements of cash of the session
    #[arg(long, conflicts_with = "watch")]
    entries: bool,
    /// Show it again whenever it changes, until it is interrupted
    #[arg(long)]
    watch: bool,
}

impl Verb for Balance {
    const ENDPOINT: Option<&'static Meta> = Some(&GetTellerBalance::META);
    const EXAMPLES: &'static [&'static str] = &[
        "mfa teller balance desk-2 --office head-office",
        "mfa teller balance desk-2 --office head-office --entries",
        "mfa teller balance desk-2 --office head-office -o json",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        let Place { office, teller } = self.at.place(cx)?;
        let read = GetTellerBalance { office, teller };
        let mut shown = cx.client.send(&read, &Nothing).await?.value;
        if self.entries {
            // Null where the teller was never opened.
            let entries = shown["cashEntries"].as_array().cloned().unwrap_or_default();
            return cx.print(&read, &views::CASH_ENTRY, Value::Array(entries)).await;
        }
        cx.print(&read, &views::BALANCE, shown.clone()).await?;
        if !self.watch {
            return Ok(());
        }
        loop {
            tokio::time::sleep(WATCH).await;
            let found = cx.client.send(&read, &Nothing).await?.value;
            if found != shown {
                shown = found;
                let again = cx.in_scale(&read, &views::BALANCE, shown.clone()).await;
                cx.out.show_again(&views::BALANCE, &again)?;
            }
        }
    }
}

#[derive(Args)]
pub struct Add {
    #[command(flatten)]
    at: WorkingPlace,
    /// The cash that was counted
    #[arg(long, value_name = "AMOUNT", value_parser = money, allow_negative_numbers = true)]
    #[arg(required_unless_present = "denominations")]
    counted: Option<Value>,
    /// The cash that was counted, piece by piece, such as 100x12,50x1,0.50x4
    #[arg(long, value_name = "VALUExNUMBER,...", value_parser = pieces, conflicts_with = "counted")]
    denominations: Option<Pieces>,
    /// Remark; by default the pieces
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
}

impl Verb for Add {
    const ENDPOINT: Option<&'static Meta> = Some(&CreateDenomination::META);
    const EXAMPLES: &'static [&'static str] = &[
        "mfa teller pause desk-2 && mfa teller denominations add desk-2 --office head-office \\\n    \
         --counted 605.00",
        "mfa teller pause desk-2 && mfa teller denominations add desk-2 --office head-office \\\n    \
         --denominations 100x6,5x1 --note 'at noon'",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        cx.check_columns(&views::RESULT)?;
        let at = self.at.place(cx)?;
        // clap asks for one of the two.
        let found = Pieces::of(self.counted, self.denominations).unwrap_or_default();
        let scale = teller_scale(&cx.client, &at.office, &at.teller).await;
        check_digits("/countedTotal", &found.total, scale)?;
        let counted = as_amount(&found.total)?;
        if let Ok(expected) = on_hand(cx, &at).await {
            say_lines(cx, &difference(expected, counted, &|amount| with_digits(amount, scale)));
        }
        save(&cx.client, &at, found.noted(self.note)).await?;
        cx.done(Done { noun: "teller", id: &at.teller, what: "counted" })
    }
}

/// The cash that should be in the drawer.
pub(super) async fn on_hand(cx: &Cx, at: &Place) -> Outcome<Amount> {
    let read = GetTellerBalance { office: at.office.clone(), teller: at.teller.clone() };
    as_amount(&cx.client.send(&read, &Nothing).await?.value["cashOnHand"])
}

/// What a count finds, line by line.
pub(super) fn difference(
    expected: Amount,
    counted: Amount,
    money: &dyn Fn(Amount) -> String,
) -> Vec<(&'static str, String)> {
    let difference = counted.minus(expected);
    let what = match difference {
        none if none.is_zero() => "the cash is right",
        short if short.is_negative() => "cash is short, which will be booked",
        _ => "there is more cash than expected, which will be booked",
    };
    vec![
        ("expected", money(expected)),
        ("counted", money(counted)),
        ("difference", format!("{}: {what}", money(difference))),
    ]
}

/// Says names and their values, below each other.
pub(super) fn say_lines(cx: &Cx, lines: &[(&str, String)]) {
    let lines: Vec<_> = lines.iter().map(|(name, value)| format!("{name:<10}  {value}")).collect();
    cx.out.say(&lines.join("\n"));
}

/// A count as the daemon takes it; one that it would refuse is refused here.
pub(super) fn body(found: &Pieces) -> Outcome<<CreateDenomination as Endpoint>::Body> {
    let total = Some(found.total.clone());
    Draft::default().set("countedTotal", total).set("note", found.note.clone()).body::<CreateDenomination>()
}

pub(super) async fn save(client: &Client, at: &Place, found: Pieces) -> Outcome {
    let body = body(&found)?;
    let endpoint = CreateDenomination { office: at.office.clone(), teller: at.teller.clone() };
    client.send(&endpoint, &body).await?;
    Ok(())
}

#[derive(Args)]
pub struct List {
    #[command(flatten)]
    at: WorkingPlace,
    /// Only those of these days
    #[arg(long, value_name = "YYYY-MM-DD..YYYY-MM-DD")]
    days: Option<String>,
}

impl Verb for List {
    const ENDPOINT: Option<&'static Meta> = Some(&ListDenominations::META);
    const EXAMPLES: &'static [&'static str] = &[
        "mfa teller denominations list desk-2 --office head-office",
        "mfa teller denominations list desk-2 --office head-office --days 2026-01-01..2026-12-31 -o csv",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        let range = self.days.map_or_else(String::new, |days| format!("dateRange={days}"));
        let query = Query(DenominationQuery::read(&Params::parse(&range))?);
        let Place { teller, office } = self.at.place(cx)?;
        let endpoint = ListDenominations { office, teller };
        let found = cx.client.send(&endpoint, &query).await?.value;
        cx.print(&endpoint, &views::DENOMINATION, found).await
    }
}

/// Cash that was counted.
#[derive(Debug, Clone, Default)]
pub(super) struct Pieces {
    pub total: Value,
    /// What is kept with it: a remark, or the pieces.
    pub note: Option<String>,
}

impl Pieces {
    /// What was counted in all or piece by piece.
    pub fn of(total: Option<Value>, pieces: Option<Pieces>) -> Option<Self> {
        total.map(|total| Self { total, note: None }).or(pieces)
    }

    /// The same with a remark, where there is one.
    pub fn noted(self, remark: Option<String>) -> Self {
        Self { note: remark.or(self.note), ..self }
    }
}

/// Reads what was counted, in all or piece by piece.
pub(super) fn counted(text: &str) -> Result<Pieces, String> {
    if text.starts_with(|c: char| c.is_ascii_digit()) && text.contains(['x', 'X']) {
        pieces(text)
    } else {
        money(text).map(|total| Pieces { total, note: None })
    }
}

/// Reads `100x12,50x1` as the sum of the pieces.
pub(super) fn pieces(text: &str) -> Result<Pieces, String> {
    let bad = |piece: &str| format!("\"{piece}\" is not VALUExNUMBER, such as 100x12");
    let mut total = Amount::ZERO;
    for piece in text.split(',') {
        let (value, number) = piece.split_once(['x', 'X']).ok_or_else(|| bad(piece))?;
        let value = Amount::parse(value.trim()).map_err(|_| bad(piece))?;
        let number: u32 = number.trim().parse().map_err(|_| bad(piece))?;
        let pieces = value.times(number).filter(|_| !value.is_negative());
        total = total.plus(pieces.ok_or_else(|| bad(piece))?);
    }
    let total = serde_json::to_value(total).map_err(|error| error.to_string())?;
    Ok(Pieces { total, note: Some(text.to_owned()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_summed_digit_for_digit() {
        assert_eq!(pieces("100x12,50x1,0.50x4").unwrap().total.to_string(), "1252.00");
        assert_eq!(pieces("5X0").unwrap().total.to_string(), "0");
        for bad in
            ["", "100", "100x", "x3", "100x-1", "-5x1", "100x1.5", "a x 1", "999999999999999x4000000000"]
        {
            assert!(pieces(bad).is_err(), "{bad}");
        }
    }
}
