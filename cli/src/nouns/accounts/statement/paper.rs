//! The statement of an account as its holder gets it.

use super::{Found, about, record};
use crate::command::cx::Cx;
use crate::command::money::with_digits;
use crate::failure::Outcome;
use crate::nouns::{customers, offices};
use crate::output::{text, transaction};
use crate::paper::{Column, Paper, Part, Table, named_for_people};
use mfa_shared::amount::Amount;
use mfa_shared::api::customers::GetCustomer;
use mfa_shared::api::definitions::{Currency, GetDefinition};
use mfa_shared::api::ledger::{AccountEntry, Side};
use serde_json::Value;

/// The paper. What may not be read of holder, product and office is left out.
pub async fn of(cx: &Cx, found: &Found) -> Outcome<Paper> {
    let account = &found.account;
    let read = GetDefinition { definition: account.product_identifier.clone() };
    let product = cx.if_readable(&read).await?;
    let read = GetCustomer { customer: account.customer_identifier.clone() };
    let holder = cx.if_readable(&read).await?;
    let currency: Option<Currency> = record(product["currency"].clone()).ok();
    let scale = currency.as_ref().and_then(|currency| u32::try_from(currency.scale).ok());
    let money = |amount: Amount| with_digits(amount, scale);
    let days = found.days;
    let facts = [
        ("Account", account.account_identifier.clone()),
        ("Other number", account.alternative_account_number.clone().unwrap_or_default()),
        ("Product", named_for_people(&text(&product, "/name"), &account.product_identifier)),
        ("Currency", currency.map(|currency| currency.code).unwrap_or_default()),
        ("Holder", named_for_people(&customers::name(&holder), &account.customer_identifier)),
        ("Address", address(&holder["address"])),
        ("Period", format!("{} to {}", days.first, days.last)),
    ];
    let facts = facts.into_iter().filter(|(_, value)| !value.is_empty()).collect();
    let mut totals = vec![(format!("Balance on {}", days.last), money(found.closing))];
    if let Some((until, accrued)) = found.accrued() {
        totals.push((format!("Interest accrued until {until}, not yet paid"), accrued.to_string()));
    }
    Ok(Paper::new(cx, "statement", "Account statement")?
        .at_office(offices::named(cx, &text(&holder, "/assignedOffice")).await?)
        .with(Part::Facts(facts))
        .with(Part::Table(lines(found, &|entry| cx.out.day(entry.posted_on).to_string(), &money)))
        .with(Part::Totals(totals)))
}

/// The lines between the two balances.
fn lines(found: &Found, day: &dyn Fn(&AccountEntry) -> String, money: &dyn Fn(Amount) -> String) -> Table {
    let first = found.days.first.to_string();
    let opening =
        vec![first, "opening balance".to_owned(), String::new(), String::new(), money(found.opening)];
    let line = |(i, entry): (usize, &AccountEntry)| {
        let (debit, credit) = match entry.side {
            Side::Debit => (money(entry.amount), String::new()),
            Side::Credit => (String::new(), money(entry.amount)),
        };
        let before = i.checked_sub(1).and_then(|before| found.entries.get(before));
        let charges = if is_charge(entry, before) { ", charges" } else { "" };
        let what = format!("{}{charges}", transaction(about(entry)));
        vec![day(entry), what, debit, credit, money(entry.balance)]
    };
    let sum = |side: Side| {
        let on_side = found.entries.iter().filter(|entry| entry.side == side);
        money(Amount::sum(on_side.map(|entry| entry.amount)))
    };
    Table {
        columns: vec![
            Column::words("Date"),
            Column::words("Description"),
            Column::amounts("Debit"),
            Column::amounts("Credit"),
            Column::amounts("Balance"),
        ],
        rows: std::iter::once(opening).chain(found.entries.iter().enumerate().map(line)).collect(),
        total: Some(vec![
            String::new(),
            "total".to_owned(),
            sum(Side::Debit),
            sum(Side::Credit),
            String::new(),
        ]),
        empty: "",
    }
}

/// Whether a line is what the account paid for a transaction: all that a deposit takes from it, and what a
/// withdrawal or a transfer takes in addition to the amount.
fn is_charge(entry: &AccountEntry, before: Option<&AccountEntry>) -> bool {
    let same = |before: &AccountEntry| before.journal_entry_identifier == entry.journal_entry_identifier;
    entry.side == Side::Debit
        && match entry.r#type.as_str() {
            "ACCO" | "CDPT" => true,
            "ACCC" | "ACCT" | "CWDL" => before.is_some_and(same),
            _ => false,
        }
}

/// An address as one line.
fn address(address: &Value) -> String {
    let part = |name: &str| text(address, name);
    let city = [part("/postalCode"), part("/city")].join(" ").trim().to_owned();
    let parts = [part("/street"), city, part("/region"), part("/country")];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}
