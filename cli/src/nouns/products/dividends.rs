//! Dividends of share products.

use crate::command::cx::{Cx, Done};
use crate::command::verb::{Node, Verb, shows, verb};
use crate::failure::Outcome;
use crate::input::{self, Draft};
use crate::output::views;
use clap::Args;
use mfa_shared::api::dividends::*;
use mfa_shared::endpoint::{Endpoint, Meta};
use mfa_shared::time::Date;
use serde_json::{Value, json};
use std::time::Duration;

/// Longest wait for the answer to a distribution.
const DISTRIBUTION: Duration = Duration::from_secs(60 * 60);

pub const VERBS: &[Node] = &[
    shows("list", &ListDividends::META, &views::DIVIDEND, "product")
        .examples(&["mfa products dividends list shares", "mfa products dividends list shares -o csv"]),
    verb::<Distribute>("distribute"),
];

#[derive(Args)]
pub struct Distribute {
    /// Identifier of the product
    #[arg(value_name = "ID")]
    definition: String,
    /// Last day of the period, in UTC
    #[arg(long, value_name = "DATE", value_parser = input::date)]
    due: Date,
    /// Dividend, percent a year
    #[arg(long, value_name = "PERCENT", value_parser = input::money)]
    rate: Value,
}

impl Verb for Distribute {
    const ENDPOINT: Option<&'static Meta> = Some(&DistributeDividend::META);
    const EXAMPLES: &'static [&'static str] = &[
        "mfa products activate shares >/dev/null && \
         mfa products dividends distribute shares --due 2020-12-31 --rate 5 --yes",
        "mfa products activate shares >/dev/null && \
         mfa products dividends distribute shares --due 2021-12-31 --rate 5.25 --yes -o json",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        let Self { definition, due, rate } = self;
        let (year, month, day) = due.parts();
        let body = Draft::default()
            .set("dueDate", Some(json!({ "year": year, "month": month, "day": day })))
            .set("dividendRate", Some(rate.clone()))
            .body::<DistributeDividend>()?;
        cx.check_columns(&views::DIVIDEND)?;
        cx.prompt
            .confirm(&format!("pay {rate} percent a year to all accounts of {definition} for {due}?"))?;
        let endpoint = DistributeDividend { definition: definition.clone() };
        cx.client.patient(DISTRIBUTION).send(&endpoint, &body).await?;
        let done = Done { noun: "dividend of product", id: &definition, what: "distributed" };
        cx.changed(done, ListDividends { definition: definition.clone() }, &views::DIVIDEND).await
    }
}
