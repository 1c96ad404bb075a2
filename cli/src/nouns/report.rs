//! Reports: a table, and below it on a terminal a plot; or the plot as SVG in a file.

use crate::chart::{self, Chart, Point, Style};
use crate::command::cx::Cx;
use crate::command::noun::{self, Noun, Section};
use crate::command::verb::{Verb, verb};
use crate::failure::{Failure, Outcome};
use crate::output::views::{self, View};
use crate::output::{escaped, text, wrap::wrapped};
use crate::settings::files;
use clap::Args;
use clap::builder::RangedU64ValueParser;
use mfa_shared::api::reports::*;
use mfa_shared::endpoint::{Endpoint, Meta};
use mfa_shared::wire::{Array, Query};
use serde_json::Value;
use std::path::Path;

pub const NOUN: Noun = Noun {
    section: Section::Money,
    typed: "report",
    alias: "reports",
    about: "Reports by day and month, with plots",
    verbs: &[verb::<Cash>("cash"), verb::<Deposits>("deposits"), verb::<Customers>("customers")],
    ..noun::NOUN
};

/// Endings of image files that are not SVG.
const OTHER_IMAGES: [&str; 6] = ["png", "jpg", "jpeg", "pdf", "gif", "webp"];

// How a report is drawn.
#[derive(Args)]
struct PlotFlags {
    /// Leave out the plot
    #[arg(long)]
    no_plot: bool,
    /// Write the plot to this file, as SVG; - for standard output, in place of the table
    #[arg(long, value_name = "FILE", conflicts_with = "no_plot")]
    out: Option<String>,
    /// Title of the SVG
    #[arg(long, value_name = "TEXT", requires = "out")]
    title: Option<String>,
}

/// What of a report is drawn.
struct Drawn {
    /// The report in words, for the title of a drawing.
    title: String,
    /// What the bars are, in words.
    what: &'static str,
    /// What a row is.
    point: &'static str,
    /// Where its value is.
    value: &'static str,
    /// Where the currency is; empty for counts.
    currency: &'static str,
}

impl PlotFlags {
    /// Refuses a file that cannot become the drawing, before anything is asked of the daemon.
    fn check(&self) -> Outcome {
        let Some(file) = self.out.as_deref() else { return Ok(()) };
        let ending = Path::new(file).extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        if OTHER_IMAGES.contains(&ending.to_ascii_lowercase().as_str()) {
            let hint = format!("name it {}", Path::new(file).with_extension("svg").display());
            return Err(Failure::usage(format!("a plot is written as SVG, not as {ending}")).hint(hint));
        }
        Ok(())
    }

    /// Prints what the daemon reported, and draws it.
    async fn print<E, T>(&self, cx: &Cx, endpoint: &E, body: &E::Body, view: &View, drawn: &Drawn) -> Outcome
    where
        E: Endpoint<Answer = Array<T>>,
    {
        self.check()?;
        let rows = cx.client.send(endpoint, body).await?.value;
        let charts = drawn.charts(rows.as_array().map(Vec::as_slice).unwrap_or_default());
        let title = self.title.as_deref().unwrap_or(&drawn.title);
        if self.out.as_deref() == Some("-") {
            return cx.out.text(&chart::svg(title, &charts));
        }
        if let Some(file) = &self.out {
            files::replace(Path::new(file), chart::svg(title, &charts).as_bytes())?;
        }
        let shown = cx.in_scale(endpoint, view, rows).await;
        let in_terminal = !self.no_plot && self.out.is_none() && cx.out.screen.stdout_is_terminal;
        let below: String = if in_terminal && cx.out.is_read_by_people() {
            charts.iter().map(|chart| in_terminal_of(cx, chart)).collect()
        } else {
            String::new()
        };
        cx.out.show_above(view, &shown, &below)?;
        if let Some(file) = &self.out {
            cx.out.tip(&format!("saved in {file}"));
        }
        Ok(())
    }
}

fn in_terminal_of(cx: &Cx, chart: &Chart) -> String {
    let width = cx.out.screen.width;
    let title = wrapped(&escaped(&chart.title), width).trim_end().to_owned();
    let safe = Chart { title, ..chart.clone() };
    format!("\n{}", chart::in_terminal(&safe, width, Style::of_terminal()))
}

impl Drawn {
    /// A chart for each currency, in the order of the rows: amounts of two currencies are never put together.
    fn charts(&self, rows: &[Value]) -> Vec<Chart> {
        let mut charts: Vec<Chart> = Vec::new();
        for row in rows {
            let title = self.title_of(row);
            let value = text(row, self.value);
            let digits = value.split_once('.').map_or(0, |(_, fraction)| fraction.len());
            let label = text(row, if self.point == "day" { "/date" } else { "/month" });
            let point = Point { label, value: chart::number(&value) };
            match charts.last_mut().filter(|chart| chart.title == title) {
                Some(chart) => {
                    chart.digits = chart.digits.max(digits);
                    chart.points.push(point);
                }
                None => {
                    let counts = self.currency.is_empty();
                    charts.push(Chart { title, point: self.point, counts, digits, points: vec![point] });
                }
            }
        }
        charts
    }

    fn title_of(&self, row: &Value) -> String {
        if self.currency.is_empty() {
            return self.what.to_owned();
        }
        match text(row, self.currency) {
            code if code.is_empty() => format!("{}, no currency yet", self.what),
            code => format!("{}, {code}", self.what),
        }
    }
}

fn up_to(max: u32) -> RangedU64ValueParser<u32> {
    RangedU64ValueParser::new().range(1..=u64::from(max))
}

#[derive(Args)]
pub struct Cash {
    /// Identifier of the office
    #[arg(value_name = "OFFICE")]
    office: String,
    /// Days up to today, in UTC
    #[arg(long, value_name = "N", default_value_t = DAYS_DEFAULT, value_parser = up_to(DAYS_MAX))]
    days: u32,
    #[command(flatten)]
    plot: PlotFlags,
}

impl Verb for Cash {
    const ENDPOINT: Option<&'static Meta> = Some(&GetCashReport::META);
    const EXAMPLES: &'static [&'static str] = &[
        "mfa report cash head-office",
        "mfa report cash head-office --days 90 --out cash.svg",
        "mfa report cash head-office -o csv > cash.csv",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        let query = Query(CashQuery { office: self.office.clone(), days: Some(self.days) });
        let drawn = Drawn {
            title: format!("Cash of {}", self.office),
            what: "Cash in the drawers at the end of the day",
            point: "day",
            value: "/cashOnHand",
            currency: "/currency",
        };
        self.plot.print(cx, &GetCashReport {}, &query, &views::CASH_DAY, &drawn).await
    }
}

#[derive(Args)]
pub struct Deposits {
    /// Identifier of the product
    #[arg(value_name = "PRODUCT")]
    product: String,
    /// Months up to the present one, in UTC
    #[arg(long, value_name = "N", default_value_t = MONTHS_DEFAULT, value_parser = up_to(MONTHS_MAX))]
    months: u32,
    #[command(flatten)]
    plot: PlotFlags,
}

impl Verb for Deposits {
    const ENDPOINT: Option<&'static Meta> = Some(&GetDepositReport::META);
    const EXAMPLES: &'static [&'static str] = &[
        "mfa report deposits savings",
        "mfa report deposits savings --months 24 --out savings.svg",
        "mfa report deposits savings -o json --jq '.[-1].balance'",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        let query = Query(DepositQuery { product: self.product.clone(), months: Some(self.months) });
        let drawn = Drawn {
            title: format!("Accounts of {}", self.product),
            what: "Balance at the end of the month",
            point: "month",
            value: "/balance",
            currency: "/currency",
        };
        self.plot.print(cx, &GetDepositReport {}, &query, &views::DEPOSIT_MONTH, &drawn).await
    }
}

#[derive(Args)]
pub struct Customers {
    /// Months up to the present one, in UTC
    #[arg(long, value_name = "N", default_value_t = MONTHS_DEFAULT, value_parser = up_to(MONTHS_MAX))]
    months: u32,
    #[command(flatten)]
    plot: PlotFlags,
}

impl Verb for Customers {
    const ENDPOINT: Option<&'static Meta> = Some(&GetCustomerReport::META);
    const EXAMPLES: &'static [&'static str] = &[
        "mfa report customers",
        "mfa report customers --months 36 --no-plot",
        "mfa report customers -o csv",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        let query = Query(MonthsQuery { months: Some(self.months) });
        let drawn = Drawn {
            title: "Customers".to_owned(),
            what: "Customers that are not closed, at the end of the month",
            point: "month",
            value: "/open",
            currency: "",
        };
        self.plot.print(cx, &GetCustomerReport {}, &query, &views::CUSTOMER_MONTH, &drawn).await
    }
}
