//! Dividends of share products. Contract: `interest.md` section 3.

use super::interest::book;
use super::rows::Rows;
use super::{Caller, Given, OrderName, definitions, ledger};
use crate::domain::interest as rules;
use crate::domain::ledger::DIVIDEND;
use crate::store::Tx;
use crate::store::engine::Range;
use crate::store::record::{Record, prefix};
use crate::store::records::{INSTANCES_BY_PRODUCT, StoredDividend, StoredInstance};
use crate::store::tx::indexed_key;
use mfa_shared::amount::Amount;
use mfa_shared::api::definitions::{Definition, ProductType};
use mfa_shared::api::dividends::*;
use mfa_shared::api::instances::InstanceState;
use mfa_shared::api::ledger::{AccountRole, LedgerAccount};
use mfa_shared::fault::{self, Fault};
use mfa_shared::time::Date;
use mfa_shared::wire::{Accepted, Json, Nothing};

/// Accounts that one transaction looks at; each of them has the balances of a whole period. Who decides
/// everything is not held up longer by it than by a step of interest.
const ACCOUNTS_MAX: usize = 50;

/// Lines of the journal after which a transaction looks at no further account.
const LINES_MAX: usize = 500;

/// Orders of one dividend that are remembered; after a kill another one goes on with it.
const ORDERS_MAX: usize = 16;

/// A dividend that is to be distributed.
#[derive(Debug, Clone)]
pub struct Distribution {
    /// The product definition.
    pub definition: String,
    /// Last day of the period.
    pub due: Date,
    /// Percent a year.
    pub rate: Amount,
    /// Who distributes it.
    pub by: String,
    /// The name of this order, by which it knows what it has paid itself.
    pub order: OrderName,
}

impl Distribution {
    fn took_part(&self, stored: &StoredDividend) -> bool {
        stored.orders.iter().any(|order| self.order.is(order))
    }
}

/// Plans `POST /definitions/{definition}/dividends`
pub fn plan(
    tx: &mut Tx<'_>,
    caller: &Caller,
    given: Given<'_>,
    at: &DistributeDividend,
    Json(new): &Json<NewDividend>,
) -> Result<Distribution, Fault> {
    let impossible = || Fault::field("/dueDate", "impossible_date", "must be a date of the calendar");
    let due = new.due_date.date().ok_or_else(impossible)?;
    let definition = at.definition.clone();
    let rate = new.dividend_rate;
    let by = caller.name.clone();
    let distribution = Distribution { definition, due, rate, by, order: given.order.clone() };
    let stored = tx.get::<StoredDividend>(&[&distribution.definition, &due.to_string()])?;
    // One that was killed when all was paid, before it was answered, is ordered again.
    if !stored.is_some_and(|stored| stored.ended && distribution.took_part(&stored)) {
        check(tx, &distribution)?;
    }
    Ok(distribution)
}

fn check(tx: &mut Tx<'_>, order: &Distribution) -> Result<Definition, Fault> {
    let definition = definitions::find(tx, &order.definition)?;
    let product = &order.definition;
    let due = order.due;
    if definition.r#type != ProductType::Share {
        let detail = format!("product definition {product} is of type {}", definition.r#type);
        return Err(Fault::new(fault::WRONG_PRODUCT_TYPE, detail));
    }
    let stored = tx.get::<StoredDividend>(&[product, &due.to_string()])?;
    // One that was interrupted goes on with the same rate, whatever has become of the product.
    let goes_on = stored.as_ref().is_some_and(|stored| !stored.ended && stored.rate == order.rate);
    if !definition.active && !goes_on {
        let detail = format!("product definition {product} is not active");
        return Err(Fault::new(fault::PRODUCT_INACTIVE, detail));
    }
    if stored.is_some() && !goes_on {
        let detail = format!("product definition {product} has a dividend for {due} already");
        return Err(Fault::new(fault::ALREADY_DISTRIBUTED, detail));
    }
    let accounts = tx.get::<LedgerAccount>(&[&definition.expense_account_identifier])?;
    if let Some(other) = accounts.and_then(|account| account.currency)
        && other != definition.currency.code
    {
        let name = &definition.expense_account_identifier;
        let code = &definition.currency.code;
        let detail = format!("account {name} has {other}, product definition {product} has {code}");
        return Err(Fault::new(fault::CURRENCY_MISMATCH, detail));
    }
    Ok(definition)
}

/// What a step paid.
#[derive(Debug)]
pub struct Paid {
    /// Whether all accounts are paid now.
    pub all: bool,
    /// The accounts that got something.
    pub accounts: Vec<String>,
}

/// Pays the next accounts as one transaction.
pub fn step(tx: &mut Tx<'_>, order: &Distribution) -> Result<Paid, Fault> {
    let stored = tx.get::<StoredDividend>(&[&order.definition, &order.due.to_string()])?;
    if stored.as_ref().is_some_and(|stored| stored.ended && order.took_part(stored)) {
        // Another order that went on with it has paid the last ones, or this one without learning of it.
        return Ok(Paid { all: true, accounts: Vec::new() });
    }
    let definition = check(tx, order)?;
    let first = rules::period_start(definition.term.interest_payable, order.due);
    let mut dividend = stored.unwrap_or_else(|| StoredDividend {
        definition: order.definition.clone(),
        due: order.due,
        rate: order.rate,
        accounts: 0,
        amount: Amount::ZERO,
        created_by: order.by.clone(),
        created_on: tx.now(),
        ended: false,
        after: None,
        first: Some(first),
        orders: Vec::new(),
    });
    if !order.took_part(&dividend) && dividend.orders.len() < ORDERS_MAX {
        dividend.orders.push(order.order.to_keep());
    }
    // All accounts get it for the period with which it began, also if the terms change meanwhile.
    let first = dividend.first.unwrap_or(first);
    let parts = [order.definition.as_str()];
    let under = prefix(&parts);
    let mut range = Range::prefix(&under);
    if let Some(after) = &dividend.after {
        range.from = [&under, after.as_bytes(), &[0]].concat();
    }
    let pairs = tx.scan(INSTANCES_BY_PRODUCT, &range, false, ACCOUNTS_MAX)?;
    let period = ledger::Period::of(tx, first, order.due)?;
    let keys: Vec<_> = pairs.iter().map(|(entry, _)| indexed_key(&parts, entry).to_vec()).collect();
    [StoredInstance::SPACE, LedgerAccount::SPACE].iter().try_for_each(|space| tx.expect(*space, &keys))?;
    let (mut accounts, mut looked_at, mut lines) = (Vec::new(), 0, 0);
    for (entry, _) in &pairs {
        if lines >= LINES_MAX {
            break;
        }
        looked_at += 1;
        let Some(instance) = tx.at::<StoredInstance>(indexed_key(&parts, entry))? else { continue };
        if let Some(amount) = pay(tx, &definition, &instance, order, &period, &mut lines)? {
            dividend.accounts += 1;
            dividend.amount = dividend.amount.plus(amount);
            accounts.push(instance.account_identifier.clone());
        }
        dividend.after = Some(instance.account_identifier);
    }
    dividend.ended = looked_at == pairs.len() && looked_at < ACCOUNTS_MAX;
    tx.put(&dividend)?;
    Ok(Paid { all: dividend.ended, accounts })
}

/// Pays an account; `lines` goes on by those that were read of it.
fn pay(
    tx: &mut Tx<'_>,
    definition: &Definition,
    instance: &StoredInstance,
    order: &Distribution,
    period: &ledger::Period,
    lines: &mut usize,
) -> Result<Option<Amount>, Fault> {
    if instance.state != InstanceState::Active {
        return Ok(None);
    }
    let account = &instance.account_identifier;
    let ledger::DailyBalances { days, read } = ledger::daily_balances(tx, account, period)?;
    *lines += read;
    let too_large = || Fault::new(fault::INTERNAL, format!("the balances of {account} are too large"));
    let amount = rules::dividend(days, order.rate, definition.currency.scale).ok_or_else(too_large)?;
    let lines = vec![
        ledger::debit(&definition.expense_account_identifier, AccountRole::ProductExpense, amount),
        ledger::credit(account, AccountRole::Customer, amount),
    ];
    Ok(book(tx, DIVIDEND, account, &order.by, order.due, lines)?.map(|_| amount))
}

/// Settles `POST /definitions/{definition}/dividends`
pub fn settle(
    _: &mut Tx<'_>,
    _: &Caller,
    _: &DistributeDividend,
    outcome: &Result<(), Fault>,
) -> Result<Accepted, Fault> {
    outcome.clone().map(|()| Accepted)
}

/// `GET /definitions/{definition}/dividends`
pub fn list(
    tx: &mut Tx<'_>,
    _: &Caller,
    at: &ListDividends,
    _: &Nothing,
) -> Result<Rows<StoredDividend, Dividend>, Fault> {
    definitions::find(tx, &at.definition)?;
    let shown = |_: &mut Tx<'_>, stored: StoredDividend| {
        Ok(Dividend {
            due_date: stored.due.into(),
            dividend_rate: stored.rate,
            accounts: stored.accounts,
            amount: stored.amount,
            created_by: stored.created_by,
            created_on: stored.created_on,
        })
    };
    Ok(Rows::all(&[&at.definition], shown).only(|stored| stored.ended))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::ledger::tests::memory::Memory;
    use crate::ops::ledger::tests::posting::{amount, customer, entry};
    use mfa_shared::api::definitions::{CreateDefinition, NewDefinition};
    use mfa_shared::node::Node;
    use mfa_shared::object::nested;
    use mfa_shared::rule::check_body;

    const PRODUCT: &str = r#"{"type":"SHARE","identifier":"shares","name":"S","currency":{"code":"USD",
        "name":"N","sign":"S","scale":2},"equityLedgerIdentifier":"9100","cashAccountIdentifier":"cash",
        "expenseAccountIdentifier":"cost","term":{"interestPayable":"MONTHLY"}}"#;
    const ACCOUNTS: [&str; 4] = ["a", "b", "c", "d"];

    fn instance(account: &str) -> StoredInstance {
        StoredInstance {
            account_identifier: account.to_owned(),
            customer_identifier: "c-1".to_owned(),
            product_identifier: "shares".to_owned(),
            alternative_account_number: None,
            beneficiaries: Vec::new(),
            opened_on: None,
            transaction_command_on: None,
            closed_on: None,
            state: InstanceState::Active,
        }
    }

    /// A share product with accounts, on each of which as many lines are posted in May.
    fn store(lines: usize) -> Memory {
        let mut store = Memory::new();
        let body = Node::parse(PRODUCT.as_bytes()).unwrap();
        let new: NewDefinition = check_body(&nested(), &body, store.now.day()).unwrap();
        let made = store.write(|tx| {
            definitions::create(tx, &Caller::guest(), &CreateDefinition {}, &Json(new.clone()))?;
            let definition: Definition = tx.get(&["shares"])?.unwrap();
            tx.put(&Definition { active: true, ..definition })?;
            ledger::name_account(tx, "/x", "drawer", AccountRole::Drawer)?;
            for account in ACCOUNTS {
                ledger::name_customer_account(tx, customer(account, "USD"))?;
                tx.put(&instance(account))?;
            }
            for account in (0..lines).flat_map(|_| ACCOUNTS) {
                let sum = amount("1");
                let paid_in = vec![
                    ledger::debit("drawer", AccountRole::Drawer, sum),
                    ledger::credit(account, AccountRole::Customer, sum),
                ];
                ledger::post(tx, entry("CDPT", paid_in))?;
            }
            Ok(())
        });
        made.unwrap();
        store.now = store.now.plus_seconds(40 * 86_400);
        store
    }

    #[test]
    fn a_step_ends_behind_many_lines_and_the_next_one_goes_on_from_there() {
        for (lines, expected) in [(100, vec![4]), (249, vec![3, 1]), (250, vec![2, 2]), (600, vec![1; 4])] {
            let mut store = store(lines);
            let (definition, due) = ("shares".to_owned(), Date::parse("2031-05-31").unwrap());
            let (by, order) = ("ama".to_owned(), OrderName::new(vec!["first".to_owned()]));
            let order = Distribution { definition, due, rate: amount("36.5"), by, order };
            let mut steps = Vec::new();
            loop {
                let Paid { all, accounts } = store.write(|tx| step(tx, &order)).unwrap();
                steps.push(accounts.len());
                if all {
                    break;
                }
            }
            assert_eq!(steps, expected, "{lines} lines");
            // 26 days of a thousandth of what was paid in.
            let cents = lines * 1_026;
            let balance = amount(&format!("{}.{:02}", cents / 1_000, cents % 1_000 / 10));
            assert_eq!(ACCOUNTS.map(|account| store.read(|tx| ledger::balance(tx, account))), [balance; 4]);
        }
    }
}
