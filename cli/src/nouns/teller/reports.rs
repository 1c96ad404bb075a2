//! Day reports of a teller: the daemon numbers and keeps them, so each can be shown and written again.

use super::of_day::WorkingPlace;
use super::report_file::FileFlags;
use super::{Managed, Place, report_paper};
use crate::command::cx::{Cx, Done};
use crate::command::verb::Verb;
use crate::failure::Outcome;
use crate::nouns::offices;
use crate::output::{text, views};
use crate::paper::{Paper, PaperFlags};
use clap::Args;
use mfa_shared::api::tellers::*;
use mfa_shared::endpoint::{Endpoint, Meta};
use mfa_shared::fault::exit;
use mfa_shared::wire::Nothing;

#[derive(Args)]
pub struct List {
    #[command(flatten)]
    at: WorkingPlace,
}

impl Verb for List {
    const ENDPOINT: Option<&'static Meta> = Some(&ListDayReports::META);
    const EXAMPLES: &'static [&'static str] = &[
        "mfa teller reports list desk-1 --office head-office",
        "mfa teller reports list desk-1 --office head-office -o csv",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        let Place { office, teller } = self.at.place(cx)?;
        cx.show(ListDayReports { office, teller }, &views::DAY_REPORT).await
    }
}

/// Which report.
#[derive(Args)]
struct Numbered {
    #[command(flatten)]
    at: Managed,
    /// Number of the report, or latest
    #[arg(value_name = "NUMBER", default_value = "latest", hide_default_value = true)]
    report: String,
}

impl Numbered {
    fn read(self, cx: &Cx) -> Outcome<GetDayReport> {
        let Place { office, teller } = self.at.place(cx)?;
        Ok(GetDayReport { office, teller, report: self.report })
    }
}

#[derive(Args)]
pub struct Get {
    #[command(flatten)]
    report: Numbered,
}

impl Verb for Get {
    const ENDPOINT: Option<&'static Meta> = Some(&GetDayReport::META);
    const EXAMPLES: &'static [&'static str] = &[
        "mfa teller reports get desk-1 --office head-office",
        "mfa teller reports get desk-1 1 --office head-office -o json",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        cx.show(self.report.read(cx)?, &views::DAY_REPORT).await
    }
}

#[derive(Args)]
pub struct Print {
    #[command(flatten)]
    report: Numbered,
    #[command(flatten)]
    paper: PaperFlags,
}

impl Verb for Print {
    const ABOUT: &'static str = "Print a day report as a sheet for signatures";
    const EXAMPLES: &'static [&'static str] = &[
        "mfa teller reports print desk-1 --office head-office",
        "mfa teller reports print desk-1 1 --office head-office --out report.pdf",
    ];
    const EXITS: &'static [i32] = &[exit::NOT_FOUND, exit::NOT_LOGGED_IN, exit::FORBIDDEN, exit::UNREACHABLE];
    async fn run(self, cx: &Cx) -> Outcome {
        self.paper.check(cx)?;
        let report = cx.client.send(&self.report.read(cx)?, &Nothing).await?.value;
        let office = offices::named(cx, &text(&report, "/officeIdentifier")).await?;
        let paper = Paper::new(cx, "report", "Day report")?.at_office(office);
        self.paper.print(cx, &report_paper::of(cx, &report, paper).await)
    }
}

#[derive(Args)]
pub struct Save {
    #[command(flatten)]
    report: Numbered,
    #[command(flatten)]
    file: FileFlags,
}

impl Verb for Save {
    const ABOUT: &'static str = "Write a day report to a file, as closing the teller does";
    const EXAMPLES: &'static [&'static str] = &[
        "mfa teller reports save desk-1 --office head-office --report-format csv",
        "mfa teller reports save desk-1 1 --office head-office --report-dir reports",
    ];
    const EXITS: &'static [i32] = &[exit::NOT_FOUND, exit::NOT_LOGGED_IN, exit::FORBIDDEN, exit::UNREACHABLE];
    async fn run(self, cx: &Cx) -> Outcome {
        let read = self.report.read(cx)?;
        let report = cx.client.send(&read, &Nothing).await?.value;
        let file = self.file.write(cx, &self.file.folder(cx)?, &read.teller, &report).await?;
        cx.done(Done { noun: "report", id: &file.display().to_string(), what: "written" })
    }
}
