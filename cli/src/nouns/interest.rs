//! Interest: runs over days, and what accounts have accrued.

use crate::client::Client;
use crate::command::cx::{Cx, Done};
use crate::command::noun::{self, Noun, Section};
use crate::command::verb::{Node, Verb, shows, verb};
use crate::failure::Outcome;
use crate::input::{Draft, date, days};
use crate::output::views;
use clap::Args;
use mfa_shared::api::interest::*;
use mfa_shared::endpoint::{Endpoint, Meta};
use mfa_shared::query::{PAGE_SIZE_MAX, Paging};
use mfa_shared::time::Date;
use mfa_shared::wire::{Listed, Nothing, Query};
use serde_json::{Value, json};
use std::time::Duration;

/// Longest wait for the answer to a run: a large institution may catch up a month.
const RUN: Duration = Duration::from_secs(60 * 60);

pub const NOUN: Noun = Noun {
    section: Section::Money,
    typed: "interest",
    alias: "",
    about: "Interest: days that are run, what they accrue and pay",
    verbs: &[verb::<Run>("run"), verb::<Runs>("runs")],
    ..noun::NOUN
};

#[derive(Args)]
pub struct Run {
    /// Last day to run, in UTC; yesterday by default
    #[arg(value_name = "DATE", value_parser = date)]
    date: Option<Date>,
    /// Day with which the first run of all begins; by default it is the last day itself
    #[arg(long, value_name = "DATE", value_parser = date)]
    from: Option<Date>,
}

impl Verb for Run {
    const ENDPOINT: Option<&'static Meta> = Some(&RunInterest::META);
    const EXAMPLES: &'static [&'static str] = &["mfa interest run", "mfa interest run -o json"];
    async fn run(self, cx: &Cx) -> Outcome {
        cx.check_columns_shown(&views::INTEREST_RUN)?;
        let body = Draft::default()
            .set("date", self.date.map(|date| date.to_string()))
            .set("from", self.from.map(|date| date.to_string()))
            .body::<RunInterest>()?;
        let reply = cx.client.patient(RUN).send(&RunInterest {}, &body).await?;
        let location = reply.location.unwrap_or_default();
        let date = location.rsplit_once("date=").and_then(|(_, date)| Date::parse(date));
        let Some(date) = date else {
            return cx.done(Done { noun: "interest", id: "", what: "run" });
        };
        let rows = runs_of(cx, date).await?;
        let nothing = if rows.is_empty() { ", a day on which no product earned or paid" } else { "" };
        cx.out.tip(&format!("interest run up to {date}{nothing}; all days: mfa interest runs"));
        cx.print(&ListInterestRuns {}, &views::INTEREST_RUN, Value::Array(rows)).await
    }
}

/// Runs interest up to a day.
pub async fn run(cx: &Cx, date: Date) -> Outcome {
    let body = Draft::default().set("date", Some(date.to_string())).body::<RunInterest>()?;
    // The key of the command belongs to another request of it.
    let client = cx.client.patient(RUN).aside();
    client.send(&RunInterest {}, &body).await.map(drop)
}

/// The runs of a day, a row for each product.
pub async fn runs_of(cx: &Cx, date: Date) -> Outcome<Vec<Value>> {
    let mut query = RunQuery { date: Some(date), ..RunQuery::default() };
    query.paging.size = Some(PAGE_SIZE_MAX);
    let mut found = Vec::new();
    for index in 0.. {
        query.paging.page_index = Some(index);
        let page = cx.client.send(&ListInterestRuns {}, &Query(query.clone())).await?.value;
        found.extend(page[InterestRun::PLURAL].as_array().cloned().unwrap_or_default());
        if u64::from(index) + 1 >= page["totalPages"].as_u64().unwrap_or_default() {
            break;
        }
    }
    Ok(found)
}

#[derive(Args)]
pub struct Runs {
    /// First day
    #[arg(long, value_name = "DATE", value_parser = date)]
    from: Option<Date>,
    /// Last day
    #[arg(long, value_name = "DATE", value_parser = date)]
    to: Option<Date>,
    /// Runs of this product only
    #[arg(short, long, value_name = "ID")]
    product: Option<String>,
}

impl Verb for Runs {
    const ENDPOINT: Option<&'static Meta> = Some(&ListInterestRuns::META);
    const EXAMPLES: &'static [&'static str] =
        &["mfa interest runs", "mfa interest runs --product savings --from 2026-01-01 -o csv"];
    async fn run(self, cx: &Cx) -> Outcome {
        let dates = days(self.from, self.to)?;
        let query = |mut paging: Paging<InterestRun>| {
            // The newest first, unless --sort says otherwise.
            paging.descending |= paging.sort_column.is_none();
            Query(RunQuery { paging, dates, date: None, product: self.product.clone() })
        };
        cx.list(ListInterestRuns {}, &views::INTEREST_RUN, query).await
    }
}

/// What an account has accrued.
pub const OF_ACCOUNT: Node =
    shows("interest", &GetInstanceInterest::META, &views::ACCOUNT_INTEREST, "account").examples(&[
        "mfa accounts interest c-003.9100.00002",
        "mfa accounts interest c-003.9100.00002 -o json",
    ]);

#[derive(Args)]
pub struct PayOut {
    /// Identifier of the account
    #[arg(value_name = "ID")]
    account: String,
}

impl Verb for PayOut {
    const ENDPOINT: Option<&'static Meta> = Some(&PayInstanceInterest::META);
    const EXAMPLES: &'static [&'static str] = &[
        "mfa accounts pay-interest c-003.9100.00002 || mfa accounts interest c-003.9100.00002",
        "mfa accounts pay-interest c-003.9100.00002 -o json || mfa accounts interest c-003.9100.00002",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        let account = self.account;
        cx.check_columns(&views::ACCOUNT_INTEREST)?;
        pay(&cx.client, &account).await?;
        let done = Done { noun: "interest of account", id: &account, what: "paid" };
        cx.changed(done, GetInstanceInterest { account: account.clone() }, &views::ACCOUNT_INTEREST).await
    }
}

/// Pays the accrued interest of an account.
pub async fn pay(client: &Client, account: &str) -> Outcome {
    let body = Draft::default().set("action", Some(json!("PAY"))).body::<PayInstanceInterest>()?;
    client.send(&PayInstanceInterest { account: account.to_owned() }, &body).await.map(drop)
}

/// The interest of an account, where it may be read.
pub async fn of_account(cx: &Cx, account: &str) -> Option<AccountInterest> {
    let read = GetInstanceInterest { account: account.to_owned() };
    let reply = cx.client.send(&read, &Nothing).await.ok()?;
    serde_json::from_value(reply.value).ok()
}
