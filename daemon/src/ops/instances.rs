//! Product instances: the accounts of customers. Contract: `deposits.md` section 3.

mod term;

pub use term::Containing;

use super::ledger::{self, CustomerAccount, Entries};
use super::{Caller, Unknown, interest};
use crate::domain::instance::{self as rules, Effect, Refusal};
use crate::domain::shelf::lower;
use crate::ops::find;
use crate::ops::rows::Rows;
use crate::store::Tx;
use crate::store::records::{
    AccountCounter, INSTANCES_BY_CUSTOMER, INSTANCES_BY_NUMBER, INSTANCES_NOT_CLOSED, StoredInstance,
};
use mfa_shared::amount::Amount;
use mfa_shared::api::customers::Customer;
use mfa_shared::api::definitions::Definition;
use mfa_shared::api::instances::*;
use mfa_shared::api::ledger::{AccountEntry, EntryQuery, LedgerAccount};
use mfa_shared::endpoint::AcceptedAt;
use mfa_shared::fault::{self, Fault};
use mfa_shared::query::PAGE_SIZE_DEFAULT;
use mfa_shared::wire::{Accepted, Array, Form, Json, Nothing, Query};
use std::collections::{BTreeSet, HashSet};
use term::contains;

/// `POST /instances`
pub fn create(
    tx: &mut Tx<'_>,
    _: &Caller,
    _: &CreateInstance,
    Json(new): &Json<NewInstance>,
) -> Result<AcceptedAt<GetInstance>, Fault> {
    let customer = &new.customer_identifier;
    let product = named(tx, new)?;
    if tx.strict_references() && !product.active {
        let detail = format!("product definition {} is not active", product.identifier);
        return Err(Fault::new(fault::PRODUCT_INACTIVE, detail));
    }
    if let Some(number) = &new.alternative_account_number
        && is_taken(tx, number)?
    {
        let detail = format!("the number \"{number}\" is that of an account already");
        return Err(Fault::new(fault::IDENTIFIER_TAKEN, detail));
    }
    let account = next_account(tx, customer, &product.equity_ledger_identifier, new)?;
    ledger::name_customer_account(
        tx,
        CustomerAccount {
            identifier: &account,
            customer,
            product: product.r#type,
            name: &product.name,
            ledger: &product.equity_ledger_identifier,
            currency: &product.currency.code,
        },
    )?;
    tx.put(&StoredInstance {
        account_identifier: account.clone(),
        customer_identifier: customer.clone(),
        product_identifier: new.product_identifier.clone(),
        alternative_account_number: new.alternative_account_number.clone(),
        beneficiaries: once(new.beneficiaries.clone().unwrap_or_default()),
        opened_on: None,
        transaction_command_on: None,
        closed_on: None,
        state: InstanceState::Pending,
    })?;
    Ok(AcceptedAt(GetInstance { account }))
}

/// `GET /instances`
pub fn list(
    tx: &mut Tx<'_>,
    _: &Caller,
    _: &ListInstances,
    Query(InstanceQuery { customer, term, size }): &Query<InstanceQuery>,
) -> Result<Instances, Fault> {
    let found = match (customer, term) {
        (Some(customer), None) => {
            let accounts = Rows::indexed(INSTANCES_BY_CUSTOMER, &[customer], shown);
            return Ok(Instances::Rows(accounts.beside::<LedgerAccount>()));
        }
        (Some(customer), Some(term)) => {
            let mut stored = of_customer(tx, customer)?;
            stored.retain(|instance| contains(instance, &lower(term)));
            stored.truncate(most(*size));
            stored
        }
        (None, Some(term)) => {
            return Ok(Instances::Containing(Containing::new(term, most(*size), shown)));
        }
        (None, None) => Vec::new(),
    };
    let found: Result<Vec<_>, Fault> = found.into_iter().map(|instance| shown(tx, instance)).collect();
    Ok(Instances::Rows(Rows::these(&found?, shown)))
}

/// Accounts that were asked for.
#[derive(Debug)]
pub enum Instances {
    /// Those of a customer, or these.
    Rows(Rows<StoredInstance, Instance>),
    /// The first ones that contain a text.
    Containing(Containing),
}

/// The product of a new account, and the customer where only what exists may be named.
fn named(tx: &mut Tx<'_>, new: &NewInstance) -> Result<Definition, Fault> {
    let mut unknown = Unknown::default();
    unknown.look::<Customer>(tx, "/customerIdentifier", "customer", &new.customer_identifier)?;
    let Some(product) = tx.get::<Definition>(&[&new.product_identifier])? else {
        let mut refused = if tx.refuses_unknown() { unknown } else { Unknown::default() };
        refused.note(false, "/productIdentifier", "product definition", &new.product_identifier);
        return Err(refused.fault());
    };
    unknown.settle(tx)?;
    Ok(product)
}

fn most(size: Option<u32>) -> usize {
    usize::try_from(size.unwrap_or(PAGE_SIZE_DEFAULT)).unwrap_or(usize::MAX)
}

/// `GET /instances/transactiontypes`
pub fn list_transaction_types(
    tx: &mut Tx<'_>,
    _: &Caller,
    _: &ListTransactionTypes,
    Query(of): &Query<OfCustomer>,
) -> Result<Array<TransactionType>, Fault> {
    // A closed account has none.
    let stored = tx.indexed::<StoredInstance>(INSTANCES_NOT_CLOSED, &[&of.customer])?;
    let types: BTreeSet<_> = stored.iter().flat_map(|i| rules::transaction_types(i.state)).collect();
    let shown = |word: &&str| TransactionType { transaction_type: (*word).to_owned() };
    Ok(Array(types.into_iter().map(shown).collect()))
}

/// `GET /instances/{account}`
pub fn get(tx: &mut Tx<'_>, _: &Caller, at: &GetInstance, _: &Nothing) -> Result<Json<Instance>, Fault> {
    let stored = find::account(tx, &at.account)?;
    shown(tx, stored).map(Json)
}

/// `GET /instances/{account}/entries`
pub fn list_entries(
    tx: &mut Tx<'_>,
    _: &Caller,
    at: &ListInstanceEntries,
    Query(query): &Query<EntryQuery<AccountEntry>>,
) -> Result<Entries<AccountEntry>, Fault> {
    let stored = find::account(tx, &at.account)?;
    ledger::statement(tx, &stored.account_identifier, query)
}

/// `PUT /instances/{account}`
pub fn update(
    tx: &mut Tx<'_>,
    _: &Caller,
    at: &UpdateInstance,
    Json(change): &Json<InstanceChange>,
) -> Result<Accepted, Fault> {
    let mut instance = find::account(tx, &at.account)?;
    if change.account_identifier != at.account {
        let detail =
            format!("the body names account \"{}\", the path \"{}\"", change.account_identifier, at.account);
        return Err(Fault::new(fault::IDENTIFIER_MISMATCH, detail));
    }
    let number = instance.alternative_account_number.as_deref();
    for (field, new, stored) in [
        ("/customerIdentifier", &change.customer_identifier, Some(instance.customer_identifier.as_str())),
        ("/productIdentifier", &change.product_identifier, Some(instance.product_identifier.as_str())),
        ("/alternativeAccountNumber", &change.alternative_account_number, number),
    ] {
        if new.is_some() && new.as_deref() != stored {
            return Err(Fault::immutable(field, stored.unwrap_or("null")));
        }
    }
    if instance.state == InstanceState::Closed {
        let detail = format!("account {} is CLOSED and does not change any more", at.account);
        return Err(Fault::new(fault::WRONG_STATE, detail));
    }
    if let Some(beneficiaries) = &change.beneficiaries {
        instance.beneficiaries = once(beneficiaries.clone());
    }
    tx.put(&instance)?;
    Ok(Accepted)
}

/// `POST /instances/{account}`
pub fn command(
    tx: &mut Tx<'_>,
    caller: &Caller,
    at: &CommandInstance,
    Form(form): &Form<InstanceCommandForm>,
) -> Result<Accepted, Fault> {
    let mut instance = find::account(tx, &at.account)?;
    let balance = ledger::balance(tx, &at.account)?;
    let effect = rules::command(instance.state, form.command, balance.is_zero());
    match effect.map_err(|refusal| refused(refusal, &instance, form.command, balance))? {
        Effect::Opens => instance.open(tx.now()),
        Effect::Closes => {
            interest::give_up(tx, &instance, &caller.name)?;
            instance.close(ledger::posting_time(tx)?);
        }
        Effect::Notes => instance.transaction_command_on = Some(tx.now()),
        Effect::Nothing => return Ok(Accepted),
    }
    tx.put(&instance)?;
    Ok(Accepted)
}

/// The account of a customer with this account identifier, or else with this alternative number.
pub fn find_by_any_number(tx: &mut Tx<'_>, number: &str) -> Result<Option<StoredInstance>, Fault> {
    match tx.get(&[number])? {
        Some(found) => Ok(Some(found)),
        None => Ok(tx.indexed(INSTANCES_BY_NUMBER, &[number])?.pop()),
    }
}

/// An instance as reads show it, with what its ledger account says.
pub fn shown(tx: &mut Tx<'_>, stored: StoredInstance) -> Result<Instance, Fault> {
    let account = tx.get::<LedgerAccount>(&[&stored.account_identifier])?;
    let (balance, posted) = account.map_or((Amount::ZERO, None), |a| (a.balance, a.last_entry_on));
    Ok(Instance {
        customer_identifier: stored.customer_identifier,
        product_identifier: stored.product_identifier,
        account_identifier: stored.account_identifier,
        alternative_account_number: stored.alternative_account_number,
        beneficiaries: stored.beneficiaries,
        opened_on: stored.opened_on,
        last_transaction_date: stored.transaction_command_on.max(posted),
        state: stored.state,
        balance,
    })
}

fn of_customer(tx: &mut Tx<'_>, customer: &str) -> Result<Vec<StoredInstance>, Fault> {
    tx.indexed(INSTANCES_BY_CUSTOMER, &[customer])
}

/// Equal texts once, in the order in which they were given.
fn once(texts: Vec<String>) -> Vec<String> {
    let mut seen = HashSet::new();
    texts.into_iter().filter(|text| seen.insert(text.clone())).collect()
}

/// Whether a number is that of any account, or the alternative one of a customer's account.
fn is_taken(tx: &mut Tx<'_>, number: &str) -> Result<bool, Fault> {
    Ok(tx.has::<LedgerAccount>(&[number])? || tx.any(INSTANCES_BY_NUMBER, &[number])?)
}

/// Counts up the number of a customer's accounts until it gives an identifier that nothing has.
fn next_account(tx: &mut Tx<'_>, customer: &str, ledger: &str, new: &NewInstance) -> Result<String, Fault> {
    let counter = tx.get::<AccountCounter>(&[customer])?;
    for last in counter.map_or(0, |counter| counter.last) + 1..=rules::NUMBER_MAX {
        let account = rules::account_identifier(customer, ledger, last);
        if new.alternative_account_number.as_ref() != Some(&account) && !is_taken(tx, &account)? {
            tx.put(&AccountCounter { customer: customer.to_owned(), last })?;
            return Ok(account);
        }
    }
    let detail = format!("customer {customer} has no account number left up to {}", rules::NUMBER_MAX);
    Err(Fault::new(fault::ACCOUNT_NUMBERS_EXHAUSTED, detail))
}

fn refused(refusal: Refusal, instance: &StoredInstance, command: InstanceCommand, balance: Amount) -> Fault {
    let account = &instance.account_identifier;
    match refusal {
        Refusal::WrongState => {
            let detail = format!("account {account} is {}, so {command} is not possible", instance.state);
            Fault::new(fault::WRONG_STATE, detail)
        }
        Refusal::BalanceNotZero => {
            let detail =
                format!("account {account} has a balance of {balance}, so {command} is not possible");
            Fault::new(fault::BALANCE_NOT_ZERO, detail)
        }
    }
}
