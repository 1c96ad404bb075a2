//! Guided input of a product, required fields first.

use crate::command::cx::Cx;
use crate::command::guide::{Guide, Need, as_text};
use crate::failure::{Failure, Outcome};
use crate::input::{self, Draft};
use crate::output::views;
use mfa_shared::api::actions::ListActions;
use mfa_shared::api::definitions::{CreateDefinition, GetDefinition, ListDefinitions};
use mfa_shared::api::ledger::{AccountKind, AccountQuery, AccountRole, ListLedgerAccounts};
use mfa_shared::endpoint::Endpoint;
use mfa_shared::query::{PAGE_SIZE_MAX, Paging};
use mfa_shared::wire::{Nothing, Query};
use serde_json::Value;

/// The properties of a currency, and how they are asked for.
const CURRENCY: [(&str, &str); 4] = [
    ("/currency/code", "Code of the currency, such as EUR"),
    ("/currency/name", "Its name"),
    ("/currency/sign", "Its sign"),
    ("/currency/scale", "Digits after the point of its smallest amount"),
];

pub async fn ask(cx: &Cx) -> Outcome<Draft> {
    let last = ("create this product?", &views::DEFINITION);
    let asked =
        Guide::through(cx, ("mfa products create", "ID"), async |guide| questions(cx, guide).await, last);
    Ok(Draft::from_record(asked.await?))
}

async fn questions(cx: &Cx, guide: &mut Guide<'_, CreateDefinition>) -> Outcome {
    let products = list(cx, ListDefinitions {}).await;
    guide.ask_identifier(|id| GetDefinition { definition: id.to_owned() }).await?;
    guide.ask(("--name", "/name"), "Name", Need::Required, as_text)?;
    let kinds = ["SAVINGS", "CHECKING", "SHARE"];
    guide.choose(("--type", "/type"), "Type", &kinds, Need::Required)?;
    currency(guide, &products)?;
    let ledgers = distinct(products.iter().map(|product| &product["equityLedgerIdentifier"]));
    let place = ("--equity-ledger", "/equityLedgerIdentifier");
    guide.choose_or_type(place, "Ledger of the customers' accounts", &ledgers)?;
    accounts(cx, guide).await?;
    let payable = ["MATURITY", "ANNUALLY", "QUARTERLY", "MONTHLY"];
    guide.choose(("--term", "/term/interestPayable"), "Interest is payable", &payable, Need::Required)?;
    let period = ("--term", "/term/period");
    if guide.ask(period, "Term in months or years", Need::Optional, input::integer)? {
        guide.choose(("--term", "/term/timeUnit"), "Months or years", &["MONTH", "YEAR"], Need::Required)?;
    }
    let minimum = ("--minimum-balance", "/minimumBalance");
    guide.ask(minimum, "Minimum balance", Need::Optional, input::money)?;
    guide.ask(("--interest", "/interest"), "Interest, percent a year", Need::Optional, input::money)?;
    if guide.wants("May the interest be changed later?")? {
        guide.put(("--flexible", "/flexible"), "true", input::flag).map_err(Failure::usage)?;
    }
    guide.ask(("--description", "/description"), "Description", Need::Optional, as_text)?;
    charges(cx, guide).await
}

/// The currency of a product that is there, or a new one.
fn currency(guide: &mut Guide<'_, CreateDefinition>, products: &[Value]) -> Outcome {
    let mut known: Vec<&Value> = Vec::new();
    for currency in products.iter().map(|product| &product["currency"]) {
        if !known.contains(&currency) {
            known.push(currency);
        }
    }
    let shown = |currency: &&Value| format!("{} {}", plain(&currency["code"]), plain(&currency["name"]));
    let shown: Vec<_> = known.iter().map(shown).collect();
    let chosen = guide.known("Currency", &shown)?.map(|chosen| known[chosen]);
    for (pointer, label) in CURRENCY {
        let name = pointer.trim_start_matches("/currency/");
        let read = if name == "scale" { input::integer } else { as_text };
        let place = ("--currency", pointer);
        match chosen {
            Some(currency) => guide.put(place, &plain(&currency[name]), read).map_err(Failure::usage)?,
            None => guide.ask(place, label, Need::Required, read).map(drop)?,
        }
    }
    Ok(())
}

/// The accounts of the product; those that other products name in the same role are offered.
async fn accounts(cx: &Cx, guide: &mut Guide<'_, CreateDefinition>) -> Outcome {
    use AccountKind::{Asset, Expense, Liability};
    use AccountRole::{ProductAccrue, ProductCash, ProductExpense};
    let cash = in_role(cx, Asset, ProductCash).await;
    guide.choose_or_type(("--cash-account", "/cashAccountIdentifier"), "Account for cash", &cash)?;
    let expense = in_role(cx, Expense, ProductExpense).await;
    let place = ("--expense-account", "/expenseAccountIdentifier");
    guide.choose_or_type(place, "Account for expenses", &expense)?;
    if guide.text("/type") == Some("SHARE") {
        return Ok(());
    }
    let accrue = in_role(cx, Liability, ProductAccrue).await;
    let place = ("--accrue-account", "/accrueAccountIdentifier");
    guide.choose_or_type(place, "Account for accruals", &accrue)
}

async fn charges(cx: &Cx, guide: &mut Guide<'_, CreateDefinition>) -> Outcome {
    let mut question = "Add a charge?";
    let mut number = 0;
    while guide.wants(question)? {
        let actions = list(cx, ListActions {}).await;
        let actions = distinct(actions.iter().map(|action| &action["identifier"]));
        let income = in_role(cx, AccountKind::Revenue, AccountRole::Income).await;
        let at = |name: &str| format!("/charges/{number}/{name}");
        guide.choose(("--charge", &at("actionIdentifier")), "At which action", &actions, Need::Required)?;
        let place = at("incomeAccountIdentifier");
        guide.choose_or_type(("--charge", &place), "Account for the income", &income)?;
        guide.ask(("--charge", &at("name")), "Name of the charge", Need::Required, as_text)?;
        let percent = guide.pick("What is charged", &["an amount", "percent of the transaction"])? == 1;
        let place = at("proportional");
        guide.put(("--charge", &place), &percent.to_string(), input::flag).map_err(Failure::usage)?;
        let label = if percent { "Percent" } else { "Amount" };
        guide.ask(("--charge", &at("amount")), label, Need::Required, input::money)?;
        (question, number) = ("Add another charge?", number + 1);
    }
    Ok(())
}

/// The records of a plain list; none where they may not be read: everything can be typed.
async fn list<E: Endpoint<Body = Nothing>>(cx: &Cx, endpoint: E) -> Vec<Value> {
    let reply = cx.client.send(&endpoint, &Nothing).await;
    reply.ok().and_then(|reply| reply.value.as_array().cloned()).unwrap_or_default()
}

/// The accounts of a kind that have this role, or none yet.
async fn in_role(cx: &Cx, kind: AccountKind, role: AccountRole) -> Vec<String> {
    let mut paging = Paging::default();
    paging.size = Some(PAGE_SIZE_MAX);
    let query = Query(AccountQuery { paging, kind: Some(kind) });
    let Ok(reply) = cx.client.send(&ListLedgerAccounts {}, &query).await else { return Vec::new() };
    let accounts = reply.value["accounts"].as_array().cloned().unwrap_or_default();
    let fits = |account: &&Value| account["role"].is_null() || account["role"] == role.as_str();
    distinct(accounts.iter().filter(fits).map(|account| &account["identifier"]))
}

/// Texts without repeats, in their order.
fn distinct<'v>(values: impl Iterator<Item = &'v Value>) -> Vec<String> {
    let mut found = Vec::new();
    for text in values.map(plain) {
        if !found.contains(&text) {
            found.push(text);
        }
    }
    found
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
