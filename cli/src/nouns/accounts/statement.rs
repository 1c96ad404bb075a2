//! Movements of a customer's account: its lines one by one, and its statement between an opening and a
//! closing balance, as records and on paper. None of it needs access to the ledger.

mod paper;

use crate::command::cx::Cx;
use crate::command::verb::Verb;
use crate::failure::{Failure, Outcome};
use crate::input;
use crate::nouns::interest;
use crate::nouns::ledger::Days;
use crate::output::{Output, views};
use crate::paper::PaperFlags;
use clap::Args;
use mfa_shared::amount::Amount;
use mfa_shared::api::definitions::GetDefinition;
use mfa_shared::api::instances::{GetInstance, Instance, InstanceState, ListInstanceEntries};
use mfa_shared::api::interest::AccountInterest;
use mfa_shared::api::ledger::{AccountEntry, EntryQuery, Side};
use mfa_shared::endpoint::{Endpoint, Meta};
use mfa_shared::fault::exit;
use mfa_shared::query::Paging;
use mfa_shared::time::{Date, DateRange, Timestamp};
use mfa_shared::wire::{Nothing, Query};
use serde_json::{Value, json};

#[derive(Args)]
pub struct Entries {
    /// Identifier of the account
    #[arg(value_name = "ID")]
    account: String,
    #[command(flatten)]
    days: Days,
}

impl Verb for Entries {
    const ENDPOINT: Option<&'static Meta> = Some(&ListInstanceEntries::META);
    const EXAMPLES: &'static [&'static str] = &[
        "mfa accounts entries c-003.9100.00001",
        "mfa accounts entries c-003.9100.00001 --from 2026-01-01 --sort -sequence -o csv",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        let dates = self.days.range()?;
        let query = |paging| Query(EntryQuery { paging, dates });
        cx.list(ListInstanceEntries { account: self.account }, &views::INSTANCE_ENTRY, query).await
    }
}

// The account and the days of a statement.
#[derive(Args)]
struct Wanted {
    /// Identifier of the account
    #[arg(value_name = "ID")]
    account: String,
    /// First day, in the time zone of tables (data formats: in UTC); that of the opening by default
    #[arg(long, value_name = "DATE", value_parser = input::date)]
    from: Option<Date>,
    /// Last day, in the same time zone; today by default
    #[arg(long, value_name = "DATE", value_parser = input::date)]
    to: Option<Date>,
}

/// Where days begin and end: for a person at midnight of their own time zone, for a program in UTC.
#[derive(Clone, Copy)]
enum Calendar<'a> {
    Reader(&'a Output),
    Utc,
}

impl Calendar<'_> {
    fn day(self, moment: Timestamp) -> Date {
        match self {
            Self::Reader(out) => out.day(moment),
            Self::Utc => moment.day(),
        }
    }

    /// The days in UTC in which these lie: in another time zone they reach into one more at each end.
    fn in_utc(self, days: DateRange) -> DateRange {
        match self {
            // No date on the wire is before the year 0.
            Self::Reader(_) => {
                let before = Some(days.first.previous()).filter(|day| day.parts().0 >= 0);
                DateRange { first: before.unwrap_or(days.first), last: days.last.next() }
            }
            Self::Utc => days,
        }
    }

    fn today(self) -> Date {
        match self {
            Self::Reader(out) => out.today(),
            Self::Utc => input::today(),
        }
    }
}

/// Movements of an account in some days.
struct Found {
    account: Instance,
    /// In the time zone in which they were given.
    days: DateRange,
    opening: Amount,
    entries: Vec<AccountEntry>,
    closing: Amount,
    /// What is accrued, where there is something.
    interest: Option<AccountInterest>,
}

#[derive(Args)]
pub struct Statement {
    #[command(flatten)]
    wanted: Wanted,
}

impl Verb for Statement {
    const ABOUT: &'static str = "List what moved on an account, with the balances before and after";
    const EXAMPLES: &'static [&'static str] = &[
        "mfa accounts statement c-003.9100.00001",
        "mfa accounts statement c-003.9100.00001 --from 2020-01-01 --to 2020-12-31 -o csv",
    ];
    const EXITS: &'static [i32] =
        &[exit::NOT_FOUND, exit::NOT_LOGGED_IN, exit::FORBIDDEN, exit::INVALID, exit::UNREACHABLE];
    async fn run(self, cx: &Cx) -> Outcome {
        let calendar = if cx.out.is_read_by_people() { Calendar::Reader(&cx.out) } else { Calendar::Utc };
        self.wanted.find(cx, calendar).await?.show(cx).await
    }
}

#[derive(Args)]
pub struct Print {
    #[command(flatten)]
    wanted: Wanted,
    #[command(flatten)]
    paper: PaperFlags,
}

impl Verb for Print {
    const ABOUT: &'static str = "Print the statement of an account for its holder";
    const EXAMPLES: &'static [&'static str] = &[
        "mfa statement c-003.9100.00001",
        "mfa statement c-003.9100.00001 --from 2020-01-01 --to 2020-12-31 --out statement.pdf",
        "mfa statement c-003.9100.00001 --paper 80mm",
        "mfa statement c-003.9100.00001 -o csv",
    ];
    const EXITS: &'static [i32] =
        &[exit::NOT_FOUND, exit::NOT_LOGGED_IN, exit::FORBIDDEN, exit::INVALID, exit::UNREACHABLE];
    async fn run(self, cx: &Cx) -> Outcome {
        // With a data format, prints the records of accounts statement.
        if !self.paper.ask() && cx.out.is_asked_for_records() {
            return self.wanted.find(cx, Calendar::Utc).await?.show(cx).await;
        }
        self.paper.check(cx)?;
        let found = self.wanted.find(cx, Calendar::Reader(&cx.out)).await?;
        self.paper.print(cx, &paper::of(cx, &found).await?)
    }
}

impl Wanted {
    async fn find(&self, cx: &Cx, calendar: Calendar<'_>) -> Outcome<Found> {
        let at = GetInstance { account: self.account.clone() };
        let account: Instance = record(cx.client.send(&at, &Nothing).await?.value)?;
        let opened = account.opened_on;
        let today = calendar.today();
        let last = self.to.unwrap_or_else(|| opened.map_or(today, |day| day.max(today)));
        let first = self.from.unwrap_or_else(|| opened.map_or(last, |day| day.min(last)));
        if last < first {
            return Err(Failure::usage(format!("the first day, {first}, is after the last, {last}")));
        }
        let paid = |interest: &Option<AccountInterest>| interest.as_ref().map(|found| found.paid_total);
        let mut earlier = interest::of_account(cx, &self.account).await;
        loop {
            let mut found = self.moved(cx, calendar, &account, DateRange { first, last }).await?;
            // A payment between the reads can be missing from the lines, and from what is accrued as well.
            if paid(&earlier) == paid(&found.interest) {
                // A rest below the smallest amount, or of a closed account, means nothing to the holder.
                let is_open = account.state != InstanceState::Closed;
                found.interest = found.interest.filter(|found| found.accrued > Amount::ZERO && is_open);
                return Ok(found);
            }
            earlier = found.interest;
        }
    }

    /// What moved in these days, and then what is accrued.
    async fn moved(
        &self,
        cx: &Cx,
        calendar: Calendar<'_>,
        account: &Instance,
        mut days: DateRange,
    ) -> Outcome<Found> {
        let mut entries = entries(cx, &self.account, calendar.in_utc(days)).await?;
        if let (None, Some(line)) = (self.from, entries.first()) {
            // West of Greenwich, an account is opened on the day before that of its record.
            days.first = days.first.min(calendar.day(line.posted_on));
        }
        entries.retain(|line| (days.first..=days.last).contains(&calendar.day(line.posted_on)));
        let (opening, closing) = match (entries.first(), entries.last()) {
            (Some(first), Some(last)) => (before(first), last.balance),
            _ => {
                let still = balance_at(cx, &self.account, days.last, calendar).await?;
                (still, still)
            }
        };
        let interest = interest::of_account(cx, &self.account).await;
        Ok(Found { account: account.clone(), days, opening, entries, closing, interest })
    }
}

impl Found {
    /// Prints it as records.
    async fn show(&self, cx: &Cx) -> Outcome {
        let Self { account, days: DateRange { first, last }, opening, entries, closing, interest } = self;
        let identifier = &account.account_identifier;
        if cx.out.format.is_structured() {
            let currency = currency(cx, &account.product_identifier).await;
            let statement = json!({
                "accountIdentifier": identifier, "currency": currency, "from": first, "to": last,
                "openingBalance": opening, "entries": entries, "closingBalance": closing,
            });
            return cx.out.show(&views::STATEMENT, &with_interest(statement, interest.as_ref()));
        }
        let mut rows = vec![balance(*first, "opening balance", *opening)];
        rows.extend(entries.iter().map(|entry| row(entry, cx.out.is_read_by_people())));
        rows.push(balance(*last, "closing balance", *closing));
        if let Some((until, accrued)) = self.accrued() {
            rows.push(balance(until, "accrued interest", accrued));
        }
        let at = GetInstance { account: identifier.clone() };
        cx.print(&at, &views::STATEMENT, Value::Array(rows)).await
    }

    /// What is accrued, and until when.
    fn accrued(&self) -> Option<(Date, Amount)> {
        let interest = self.interest.as_ref()?;
        Some((interest.accrued_until?, interest.accrued))
    }
}

/// Adds the accrued interest, if there is any, at the end of a statement.
fn with_interest(mut statement: Value, interest: Option<&AccountInterest>) -> Value {
    if let Some(interest) = interest {
        statement["accruedInterest"] = json!(interest.accrued);
        statement["accruedUntil"] = json!(interest.accrued_until);
    }
    statement
}

fn balance(day: Date, message: &str, balance: Amount) -> Value {
    json!({ "postedOn": day, "message": message, "balance": balance })
}

fn row(entry: &AccountEntry, for_people: bool) -> Value {
    let side = if entry.side == Side::Debit { "debit" } else { "credit" };
    let message = if for_people { about(entry) } else { &entry.message };
    json!({
        "postedOn": entry.posted_on, "type": entry.r#type, "message": message,
        side: entry.amount, "balance": entry.balance, "sequence": entry.sequence,
    })
}

/// The text of a line for people; the message of interest and dividends only names the account.
fn about(entry: &AccountEntry) -> &str {
    match entry.r#type.as_str() {
        kind @ ("INTP" | "DIVD") => kind,
        _ => &entry.message,
    }
}

/// The balance before a line. What customers have is owed to them, deposits and shares alike: a credit raises
/// it.
fn before(entry: &AccountEntry) -> Amount {
    match entry.side {
        Side::Credit => entry.balance.minus(entry.amount),
        Side::Debit => entry.balance.plus(entry.amount),
    }
}

async fn entries(cx: &Cx, account: &str, days: DateRange) -> Outcome<Vec<AccountEntry>> {
    let at = ListInstanceEntries { account: account.to_owned() };
    let query = Query(EntryQuery { dates: Some(days), ..EntryQuery::default() });
    let mut stream = cx.client.stream(&at, &query).await?;
    let mut entries = Vec::new();
    while let Some(line) = stream.next().await? {
        entries.push(line_of(&line)?);
    }
    Ok(entries)
}

/// The balance at the end of a day on which, and in some days before which, nothing moved: that of the last
/// line before. A stream is not counted first, so it costs what is read of it.
async fn balance_at(cx: &Cx, account: &str, day: Date, calendar: Calendar<'_>) -> Outcome<Amount> {
    let at = ListInstanceEntries { account: account.to_owned() };
    let first = Date::new(1970, 1, 1).unwrap_or(day).min(day);
    let mut paging = Paging::default();
    paging.descending = true;
    let dates = calendar.in_utc(DateRange { first, last: day });
    let query = Query(EntryQuery { paging, dates: Some(dates) });
    let mut stream = cx.client.stream(&at, &query).await?;
    while let Some(line) = stream.next().await? {
        let line = line_of(&line)?;
        if calendar.day(line.posted_on) <= day {
            return Ok(line.balance);
        }
    }
    Ok(Amount::ZERO)
}

/// The code of a product's currency, where the product may be read.
async fn currency(cx: &Cx, product: &str) -> Value {
    let read = GetDefinition { definition: product.to_owned() };
    cx.client
        .send(&read, &Nothing)
        .await
        .map_or(Value::Null, |mut reply| reply.value["currency"]["code"].take())
}

fn line_of(text: &str) -> Outcome<AccountEntry> {
    record(serde_json::from_str(text).unwrap_or_default())
}

fn record<T: serde::de::DeserializeOwned>(value: Value) -> Outcome<T> {
    let strange = |error| Failure::local(format!("the daemon sent a record of another shape: {error}"));
    serde_json::from_value(value).map_err(strange)
}
