//! The statement of an account: what moved on it in some days, between two balances.

use crate::cx::Cx;
use crate::failure::{Failure, Outcome};
use crate::globals::Format;
use crate::input;
use crate::tree::Verb;
use crate::views;
use clap::Args;
use mfa_shared::amount::Amount;
use mfa_shared::api::ledger::*;
use mfa_shared::query::{DateRange, Paging};
use mfa_shared::time::Date;
use mfa_shared::wire::{Nothing, Query};
use serde_json::{Value, json};

#[derive(Args)]
pub struct Statement {
    /// Identifier of the account
    #[arg(value_name = "ID")]
    account: String,
    /// First day; that on which the account came into being by default
    #[arg(long, value_name = "DATE", value_parser = day)]
    from: Option<Date>,
    /// Last day; today by default
    #[arg(long, value_name = "DATE", value_parser = day)]
    to: Option<Date>,
}

fn day(text: &str) -> Result<Date, String> {
    Date::parse(text).ok_or_else(|| "it must be a date, YYYY-MM-DD".to_owned())
}

impl Verb for Statement {
    const ABOUT: &'static str = "List what moved on an account, with the balances before and after";
    const EXAMPLES: &'static [&'static str] = &[
        "mfa accounts statement c-003.9100.00001",
        "mfa accounts statement c-003.9100.00001 --from 2020-01-01 --to 2020-12-31 -o csv",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        let at = GetLedgerAccount { account: self.account.clone() };
        let account: LedgerAccount = record(cx.client.send(&at, &Nothing).await?.value)?;
        let last = self.to.unwrap_or_else(|| input::today().max(account.created_on.day()));
        let first = self.from.unwrap_or_else(|| account.created_on.day().min(last));
        if last < first {
            return Err(Failure::usage(format!("the first day, {first}, is after the last, {last}")));
        }
        let entries = entries(cx, &self.account, DateRange { first, last }).await?;
        let closing = match entries.last() {
            Some(entry) => entry.balance,
            None => balance_at(cx, &self.account, last).await?,
        };
        let opening = opening(&account, closing, &entries);
        if matches!(cx.out.format, Format::Json | Format::Jsonl | Format::Yaml) {
            let statement = json!({
                "accountIdentifier": self.account, "currency": account.currency, "from": first, "to": last,
                "openingBalance": opening, "entries": entries, "closingBalance": closing,
            });
            return cx.out.show(&views::STATEMENT, &statement);
        }
        let mut rows = vec![balance(first, "opening balance", opening)];
        rows.extend(entries.iter().map(row));
        rows.push(balance(last, "closing balance", closing));
        cx.print(&at, &views::STATEMENT, Value::Array(rows)).await
    }
}

fn balance(day: Date, message: &str, balance: Amount) -> Value {
    json!({ "postedOn": day, "message": message, "balance": balance })
}

fn row(entry: &AccountEntry) -> Value {
    let side = if entry.side == Side::Debit { "debit" } else { "credit" };
    json!({
        "postedOn": entry.posted_on, "type": entry.r#type, "message": entry.message,
        side: entry.amount, "balance": entry.balance, "sequence": entry.sequence,
    })
}

/// The balance before the entries: the one after them, less what they moved.
fn opening(account: &LedgerAccount, closing: Amount, entries: &[AccountEntry]) -> Amount {
    let raises = match account.kind {
        AccountKind::Asset | AccountKind::Expense => Side::Debit,
        AccountKind::Liability | AccountKind::Equity | AccountKind::Revenue => Side::Credit,
    };
    let moved = |entry: &AccountEntry| match entry.side == raises {
        true => entry.amount,
        false => entry.amount.negated(),
    };
    closing.minus(Amount::sum(entries.iter().map(moved)))
}

async fn entries(cx: &Cx, account: &str, days: DateRange) -> Outcome<Vec<AccountEntry>> {
    let at = ListAccountEntries { account: account.to_owned() };
    let query = Query(EntryQuery { dates: Some(days), ..EntryQuery::default() });
    let mut stream = cx.client.stream(&at, &query).await?;
    let mut entries = Vec::new();
    while let Some(line) = stream.next().await? {
        entries.push(record(serde_json::from_str(&line).unwrap_or_default())?);
    }
    Ok(entries)
}

/// The balance at the end of a day on which, and in some days before which, nothing moved.
async fn balance_at(cx: &Cx, account: &str, day: Date) -> Outcome<Amount> {
    let at = ListAccountEntries { account: account.to_owned() };
    let first = Date::new(1970, 1, 1).unwrap_or(day).min(day);
    let mut paging = Paging::default();
    (paging.size, paging.descending) = (Some(1), true);
    let query = Query(EntryQuery { paging, dates: Some(DateRange { first, last: day }) });
    let page = cx.client.send(&at, &query).await?.value;
    match page["entries"].get(0) {
        Some(entry) => Ok(record::<AccountEntry>(entry.clone())?.balance),
        None => Ok(Amount::ZERO),
    }
}

fn record<T: serde::de::DeserializeOwned>(value: Value) -> Outcome<T> {
    let strange = |error| Failure::local(format!("the daemon sent a record of another shape: {error}"));
    serde_json::from_value(value).map_err(strange)
}
