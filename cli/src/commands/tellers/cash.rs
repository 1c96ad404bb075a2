//! The cash of a teller: its balance, and counts of it.

use super::{Managed, money};
use crate::cx::{Cx, Done};
use crate::failure::{Failure, Outcome};
use crate::input::Draft;
use crate::tree::Verb;
use crate::views;
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
    at: Managed,
    /// Show it again whenever it changes, until it is interrupted
    #[arg(long)]
    watch: bool,
}

impl Verb for Balance {
    const ENDPOINT: Option<&'static Meta> = Some(&GetTellerBalance::META);
    const EXAMPLES: &'static [&'static str] = &[
        "mfa teller balance desk-2 --office head-office",
        "mfa teller balance desk-2 --office head-office -o json",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        let read = GetTellerBalance { office: self.at.office, teller: self.at.teller };
        let mut shown = cx.client.send(&read, &Nothing).await?.value;
        cx.out.show(&views::BALANCE, &shown)?;
        if !self.watch {
            return Ok(());
        }
        loop {
            tokio::time::sleep(WATCH).await;
            let found = cx.client.send(&read, &Nothing).await?.value;
            if found != shown {
                cx.out.show(&views::BALANCE, &found)?;
                shown = found;
            }
        }
    }
}

#[derive(Args)]
pub struct Add {
    #[command(flatten)]
    at: Managed,
    /// The cash that was counted
    #[arg(long, value_name = "AMOUNT", value_parser = money, required_unless_present = "denominations")]
    counted: Option<Value>,
    /// The cash that was counted, piece by piece, such as 100x12,50x1,0.50x4
    #[arg(long, value_name = "VALUExNUMBER,...", value_parser = pieces, conflicts_with = "counted")]
    denominations: Option<Value>,
    /// A remark
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
        let Managed { teller, office } = self.at;
        // clap asks for one of the two.
        let counted = self.counted.or(self.denominations).unwrap_or_default();
        save(cx, &office, &teller, &counted, self.note).await?;
        cx.done(Done { noun: "teller", id: &teller, what: "counted" })
    }
}

/// Saves a count.
pub(super) async fn save(
    cx: &Cx,
    office: &str,
    teller: &str,
    counted: &Value,
    note: Option<String>,
) -> Outcome {
    let draft = Draft::default().set("countedTotal", Some(counted.clone())).set("note", note);
    let endpoint = CreateDenomination { office: office.to_owned(), teller: teller.to_owned() };
    cx.client.send(&endpoint, &draft.body::<CreateDenomination>()?).await?;
    Ok(())
}

#[derive(Args)]
pub struct List {
    #[command(flatten)]
    at: Managed,
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
        let endpoint = ListDenominations { office: self.at.office, teller: self.at.teller };
        cx.out.show(&views::DENOMINATION, &cx.client.send(&endpoint, &query).await?.value)
    }
}

/// Reads `100x12,50x1` as the sum of the pieces.
pub(super) fn pieces(text: &str) -> Result<Value, String> {
    let bad = |piece: &str| format!("\"{piece}\" is not VALUExNUMBER, such as 100x12");
    let mut total = Amount::ZERO;
    for piece in text.split(',') {
        let (value, number) = piece.split_once(['x', 'X']).ok_or_else(|| bad(piece))?;
        let value = Amount::parse(value.trim()).map_err(|_| bad(piece))?;
        let number: u32 = number.trim().parse().map_err(|_| bad(piece))?;
        total = total.plus(value.times(number));
    }
    serde_json::to_value(total).map_err(|error| error.to_string())
}

/// What was counted less what was expected.
pub(super) fn difference(counted: &Value, expected: &Value) -> Outcome<Value> {
    let amount = |value: &Value| {
        Amount::parse(&value.to_string()).map_err(|_| Failure::local(format!("{value} is no amount")))
    };
    let difference = amount(counted)?.minus(amount(expected)?);
    serde_json::to_value(difference).map_err(|error| Failure::local(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_summed_digit_for_digit() {
        assert_eq!(pieces("100x12,50x1,0.50x4").unwrap().to_string(), "1252.00");
        assert_eq!(pieces("5X0").unwrap().to_string(), "0");
        for bad in ["", "100", "100x", "x3", "100x-1", "100x1.5", "a x 1"] {
            assert!(pieces(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_difference_is_exact_and_may_be_negative() {
        let value = |text: &str| serde_json::from_str(text).unwrap();
        assert_eq!(difference(&value("604.10"), &value("605")).unwrap().to_string(), "-0.90");
    }
}
