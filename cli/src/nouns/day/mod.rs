//! Days of an office: their end, and their reports.

mod end;
mod sheet;
mod steps;

use crate::command::cx::Cx;
use crate::command::noun::{self, Noun, Samples, Section};
use crate::command::verb::{Verb, verb};
use crate::failure::{Failure, Outcome};
use crate::input::{self, today};
use crate::output::views;
use crate::words::quoted;
use clap::Args;
use mfa_shared::api::days::*;
use mfa_shared::endpoint::{Endpoint, Meta};
use mfa_shared::fault;
use mfa_shared::time::Date;
use mfa_shared::wire::Nothing;
use serde_json::Value;

pub const NOUN: Noun = Noun {
    section: Section::Counter,
    typed: "day",
    alias: "days",
    about: "Ends of the days of an office, and their reports",
    singular: "day",
    history: "day",
    read: Some(&GetOfficeDay::META),
    view: &views::OFFICE_DAY,
    samples: Samples {
        one: "head-office $(mfa day list head-office -o id | tail -n 1)",
        deleted: "",
        edit: "",
    },
    verbs: &[verb::<end::End>("end"), verb::<List>("list"), verb::<Show>("show")],
    ..noun::NOUN
};

/// The office that was given, or that of this machine.
fn office(cx: &Cx, given: Option<String>) -> Outcome<String> {
    let office = given.unwrap_or_else(|| cx.settings.get("office").0.to_owned());
    if office.is_empty() {
        let what = "OFFICE is needed: nothing says of which office the days are";
        return Err(Failure::usage(what).hint("give the office, or set MFA_OFFICE on machines of one office"));
    }
    Ok(office)
}

/// The office and the day that were given; today, and the office of this machine, by default.
fn office_and_day(cx: &Cx, given: Option<String>, date: Option<Date>) -> Outcome<(String, Date)> {
    let (given, date) = match (given, date) {
        // One word that is a date is the day, on a machine of one office.
        (Some(word), None) if !cx.settings.get("office").0.is_empty() && input::date(&word).is_ok() => {
            (None, input::date(&word).ok())
        }
        given => given,
    };
    Ok((office(cx, given)?, date.unwrap_or_else(today)))
}

#[derive(Args)]
pub struct List {
    /// The office [env: MFA_OFFICE]
    #[arg(value_name = "OFFICE")]
    office: Option<String>,
}

impl Verb for List {
    const ENDPOINT: Option<&'static Meta> = Some(&ListOfficeDays::META);
    const EXAMPLES: &'static [&'static str] =
        &["mfa day list head-office", "mfa day list head-office -o csv --columns date,number,exceptions"];
    async fn run(self, cx: &Cx) -> Outcome {
        cx.show(ListOfficeDays { office: office(cx, self.office)? }, &views::OFFICE_DAY).await
    }
}

#[derive(Args)]
pub struct Show {
    /// The office [env: MFA_OFFICE]
    #[arg(value_name = "OFFICE")]
    office: Option<String>,
    /// The day, in UTC; today by default. With MFA_OFFICE it can be given alone
    #[arg(value_name = "DATE", value_parser = input::date)]
    date: Option<Date>,
}

impl Verb for Show {
    const ENDPOINT: Option<&'static Meta> = Some(&GetOfficeDay::META);
    const EXAMPLES: &'static [&'static str] = &[
        "mfa day show head-office $(mfa day list head-office -o id | tail -n 1)",
        "mfa day list head-office -o id | xargs -n 1 mfa day show head-office -o json",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        let (office, date) = office_and_day(cx, self.office, self.date)?;
        let at = GetOfficeDay { office, date: date.to_string() };
        let found = cx.client.send(&at, &Nothing).await;
        let report = found.map_err(|failure| not_ended(failure, &at))?.value;
        if is_sheet(cx) { cx.out.document("day", &sheet::of(cx, &report).await) } else { show(cx, &report) }
    }
}

/// Today may still be ended; another day was meant otherwise.
fn not_ended(failure: Failure, at: &GetOfficeDay) -> Failure {
    let GetOfficeDay { office, date } = at;
    let office = quoted(office);
    let list = format!("see which were ended: mfa day list {office}");
    match failure.code == fault::DAY_NOT_FOUND.code {
        true if *date == today().to_string() => failure.hint(format!("end it: mfa day end {office}; {list}")),
        true => failure.hint(list),
        false => failure,
    }
}

/// Whether the report is shown as a sheet, and not as single columns of it.
fn is_sheet(cx: &Cx) -> bool {
    cx.out.is_read_by_people() && cx.out.columns.is_empty()
}

fn show(cx: &Cx, report: &Value) -> Outcome {
    cx.out.show(&views::OFFICE_DAY, report)
}
