//! The day report of a teller on paper, with its amounts in the digits of their currency.

use super::as_amount;
use crate::command::cx::Cx;
use crate::command::money::{teller_scale, with_digits};
use crate::output::{text, transaction};
use crate::paper::{Column, Paper, Part, Table};
use serde_json::Value;

/// A report on a paper.
pub(super) async fn of(cx: &Cx, report: &Value, paper: Paper) -> Paper {
    let scale =
        teller_scale(&cx.client, &text(report, "/officeIdentifier"), &text(report, "/tellerCode")).await;
    laid_out(paper, report, scale, &|moment| cx.out.moment(moment))
}

pub(super) fn laid_out(
    mut paper: Paper,
    report: &Value,
    scale: Option<u32>,
    moment: &dyn Fn(&str) -> String,
) -> Paper {
    paper.number = Some(text(report, "/number"));
    let when = |time, who| format!("{} by {}", moment(&text(report, time)), text(report, who));
    let money = |value: &Value| as_amount(value).map(|amount| with_digits(amount, scale)).unwrap_or_default();
    let facts = vec![
        ("Teller", text(report, "/tellerCode")),
        ("Office", text(report, "/officeIdentifier")),
        ("Day", text(report, "/day")),
        ("Employee", text(report, "/employeeIdentifier")),
        ("Opened", when("/openedOn", "/openedBy")),
        ("Closed", when("/closedOn", "/closedBy")),
    ];
    let movement = |movement: &Value| {
        let (received, disbursed) = (money(&movement["received"]), money(&movement["disbursed"]));
        let message = text(movement, "/message");
        vec![transaction(&message).to_owned(), text(movement, "/count"), received, disbursed]
    };
    let sum = |property| money(&report[property]);
    let (received, disbursed) = (sum("cashReceivedTotal"), sum("cashDisbursedTotal"));
    let movements = Table {
        columns: vec![
            Column::words("Movements"),
            Column::amounts("Count"),
            Column::amounts("Received"),
            Column::amounts("Disbursed"),
        ],
        rows: report["movements"].as_array().into_iter().flatten().map(movement).collect(),
        total: Some(vec!["total".to_owned(), String::new(), received, disbursed]),
        empty: "no movements",
    };
    let totals = [
        ("Expected", "expectedTotal"),
        ("Counted", "countedTotal"),
        ("Difference", "difference"),
        ("Left in the drawer", "cashOnHand"),
    ];
    let total = |(name, property): (&str, &str)| {
        let value = &report[property];
        (name.to_owned(), if value.is_null() { "not counted".to_owned() } else { money(value) })
    };
    paper
        .with(Part::Facts(facts))
        .with(Part::Table(movements))
        .with(Part::Totals(totals.into_iter().map(total).collect()))
        .with(Part::Signatures(vec!["Employee", "Manager"]))
}
