//! Product definitions. Contract: `deposits.md` section 2.

use super::ledger::name_account;
use super::{COUNTED_MAX, Caller, Stored, Unknown, actions, counted, instances};
use crate::ops::rows::Rows;
use crate::store::Tx;
use crate::store::records::{
    INSTANCES_BY_PRODUCT, RateBefore, StoredDefinitionCommand, StoredDividend, StoredInstance,
};
use mfa_shared::api::definitions::*;
use mfa_shared::api::instances::Instance;
use mfa_shared::api::ledger::{AccountRole, LedgerAccount};
use mfa_shared::fault::{self, Fault};
use mfa_shared::rule::FieldError;
use mfa_shared::wire::{Accepted, Json, Nothing};

/// `POST /definitions`
pub fn create(
    tx: &mut Tx<'_>,
    _: &Caller,
    _: &CreateDefinition,
    Json(new): &Json<NewDefinition>,
) -> Result<Accepted, Fault> {
    let new = new.clone();
    let definition = Definition {
        r#type: new.r#type,
        identifier: new.identifier,
        name: new.name,
        description: new.description,
        currency: new.currency,
        minimum_balance: new.minimum_balance,
        equity_ledger_identifier: new.equity_ledger_identifier,
        cash_account_identifier: new.cash_account_identifier,
        expense_account_identifier: new.expense_account_identifier,
        accrue_account_identifier: new.accrue_account_identifier,
        interest: new.interest,
        term: new.term,
        charges: new.charges,
        flexible: new.flexible,
        active: false,
    };
    check_actions(tx, &definition.charges)?;
    name_accounts(tx, &definition, None)?;
    if tx.has::<Definition>(&[&definition.identifier])? {
        let detail = format!("there is a product definition \"{}\" already", definition.identifier);
        return Err(Fault::new(fault::IDENTIFIER_TAKEN, detail));
    }
    tx.put(&definition)?;
    Ok(Accepted)
}

/// `GET /definitions`
pub fn list(
    _: &mut Tx<'_>,
    _: &Caller,
    _: &ListDefinitions,
    _: &Nothing,
) -> Result<Rows<Definition, Definition>, Fault> {
    Ok(Rows::all(&[], |_, definition| Ok(definition)))
}

/// `GET /definitions/{definition}`
pub fn get(
    tx: &mut Tx<'_>,
    _: &Caller,
    at: &GetDefinition,
    _: &Nothing,
) -> Result<Stored<Definition>, Fault> {
    let stored = tx.bytes::<Definition>(&[&at.definition])?;
    stored.map(Stored::new).ok_or_else(|| not_found(&at.definition))
}

/// `PUT /definitions/{definition}`
pub fn update(
    tx: &mut Tx<'_>,
    _: &Caller,
    at: &UpdateDefinition,
    Json(change): &Json<DefinitionChange>,
) -> Result<Accepted, Fault> {
    let stored = find(tx, &at.definition)?;
    let changed = changed(&stored, change);
    if change.charges.is_some() {
        check_charges(&changed)?;
    }
    if change.identifier != at.definition {
        let detail = format!(
            "the body names product definition \"{}\", the path \"{}\"",
            change.identifier, at.definition
        );
        return Err(Fault::new(fault::IDENTIFIER_MISMATCH, detail));
    }
    check_fixed(&stored, change)?;
    check_actions(tx, &changed.charges)?;
    name_accounts(tx, &changed, Some(&stored))?;
    let before = &stored.currency;
    let after = &changed.currency;
    if (&before.code, before.scale) != (&after.code, after.scale) {
        refuse_in_use(tx, &at.definition, ", so code and scale of its currency stay")?;
    }
    check_scale(&changed)?;
    if changed.interest != stored.interest {
        // A product whose interest never changed has had the present one from its beginning; so it needs
        // no history, in stores of earlier programs as well.
        let number = tx.next_number::<RateBefore>(&[&at.definition])?;
        let definition = at.definition.clone();
        let interest = stored.interest;
        let until = tx.now();
        tx.put(&RateBefore { definition, number, interest, until })?;
    }
    tx.put(&changed)?;
    Ok(Accepted)
}

/// `DELETE /definitions/{definition}`
pub fn delete(tx: &mut Tx<'_>, _: &Caller, at: &DeleteDefinition, _: &Nothing) -> Result<Accepted, Fault> {
    let definition = find(tx, &at.definition)?;
    refuse_in_use(tx, &at.definition, "")?;
    tx.remove_all::<StoredDefinitionCommand>(&[&at.definition])?;
    tx.remove_all::<RateBefore>(&[&at.definition])?;
    tx.remove_all::<StoredDividend>(&[&at.definition])?;
    tx.remove(&definition);
    Ok(Accepted)
}

/// `GET /definitions/{definition}/instances`
pub fn list_instances(
    tx: &mut Tx<'_>,
    _: &Caller,
    at: &ListDefinitionInstances,
    _: &Nothing,
) -> Result<Rows<StoredInstance, Instance>, Fault> {
    find(tx, &at.definition)?;
    Ok(Rows::indexed(INSTANCES_BY_PRODUCT, &[&at.definition], instances::shown).beside::<LedgerAccount>())
}

/// `POST /definitions/{definition}/commands`
pub fn command(
    tx: &mut Tx<'_>,
    caller: &Caller,
    at: &CommandDefinition,
    Json(command): &Json<DefinitionCommand>,
) -> Result<Accepted, Fault> {
    let mut definition = find(tx, &at.definition)?;
    definition.active = command.action == DefinitionAction::Activate;
    tx.put(&definition)?;
    let record = DefinitionCommandRecord {
        action: command.action,
        note: command.note.clone(),
        created_by: caller.name.clone(),
        created_on: tx.now(),
    };
    let number = tx.next_number::<StoredDefinitionCommand>(&[&at.definition])?;
    tx.put(&StoredDefinitionCommand { definition: at.definition.clone(), number, record })?;
    Ok(Accepted)
}

/// `GET /definitions/{definition}/commands`
pub fn list_commands(
    tx: &mut Tx<'_>,
    _: &Caller,
    at: &ListDefinitionCommands,
    _: &Nothing,
) -> Result<Rows<StoredDefinitionCommand, DefinitionCommandRecord>, Fault> {
    find(tx, &at.definition)?;
    Ok(Rows::all(&[&at.definition], |_, command| Ok(command.record)))
}

fn not_found(definition: &str) -> Fault {
    Fault::new(fault::DEFINITION_NOT_FOUND, format!("there is no product definition \"{definition}\""))
}

pub(super) fn find(tx: &mut Tx<'_>, definition: &str) -> Result<Definition, Fault> {
    tx.get(&[definition])?.ok_or_else(|| not_found(definition))
}

/// Refuses another value for what never changes, and for interest that is not flexible.
fn check_fixed(stored: &Definition, change: &DefinitionChange) -> Result<(), Fault> {
    if change.r#type.is_some_and(|kind| kind != stored.r#type) {
        return Err(Fault::immutable("/type", stored.r#type.as_str()));
    }
    if change.cash_account_identifier.as_ref().is_some_and(|cash| *cash != stored.cash_account_identifier) {
        return Err(Fault::immutable("/cashAccountIdentifier", &stored.cash_account_identifier));
    }
    let accrue = stored.accrue_account_identifier.as_deref();
    if change.accrue_account_identifier.is_some() && change.accrue_account_identifier.as_deref() != accrue {
        return Err(Fault::immutable("/accrueAccountIdentifier", accrue.unwrap_or("null")));
    }
    if !stored.flexible && change.interest.is_some() && change.interest != stored.interest {
        let present = stored.interest.map_or("null".to_owned(), |interest| interest.to_string());
        let detail = format!("the interest of {} is not flexible and stays {present}", stored.identifier);
        return Err(Fault::about(fault::INTEREST_NOT_FLEXIBLE, "/interest", detail));
    }
    Ok(())
}

fn changed(stored: &Definition, change: &DefinitionChange) -> Definition {
    let stored = stored.clone();
    let change = change.clone();
    Definition {
        name: change.name.unwrap_or(stored.name),
        description: change.description.or(stored.description),
        currency: change.currency.unwrap_or(stored.currency),
        minimum_balance: change.minimum_balance.unwrap_or(stored.minimum_balance),
        equity_ledger_identifier: change.equity_ledger_identifier.unwrap_or(stored.equity_ledger_identifier),
        expense_account_identifier: change
            .expense_account_identifier
            .unwrap_or(stored.expense_account_identifier),
        interest: change.interest.or(stored.interest),
        term: change.term.unwrap_or(stored.term),
        charges: change.charges.unwrap_or(stored.charges),
        flexible: change.flexible.unwrap_or(stored.flexible),
        ..stored
    }
}

/// The fixed charges that are finer than the currency, each with its place.
fn too_fine(definition: &Definition) -> impl Iterator<Item = (usize, &Charge)> {
    let scale = definition.currency.scale;
    let fine =
        move |charge: &Charge| !charge.proportional && i64::from(charge.amount.fraction_digits()) > scale;
    definition.charges.iter().enumerate().filter(move |(_, charge)| fine(charge))
}

/// Fixed charges of the body are no finer than the currency, also where the body does not bring that.
fn check_charges(changed: &Definition) -> Result<(), Fault> {
    let scale = changed.currency.scale;
    let refuse = |(i, _)| {
        let field = format!("/charges/{i}/amount");
        let detail = format!("{field} must be no finer than the scale of the currency, which is {scale}");
        FieldError { field, code: "too_many_decimals".to_owned(), detail }
    };
    let errors: Vec<_> = too_fine(changed).map(refuse).collect();
    if errors.is_empty() { Ok(()) } else { Err(Fault::fields(errors)) }
}

/// The scale of the currency is enough for the fixed charges that stay.
fn check_scale(changed: &Definition) -> Result<(), Fault> {
    let Some((_, first)) = too_fine(changed).next() else { return Ok(()) };
    let what = format!("is less than the charge {} needs, which is {}", first.name, first.amount);
    Err(Fault::field("/currency/scale", "out_of_range", &what))
}

fn check_actions(tx: &mut Tx<'_>, charges: &[Charge]) -> Result<(), Fault> {
    let mut unknown = Unknown::default();
    for (i, charge) in charges.iter().enumerate() {
        let there = actions::exists(tx, &charge.action_identifier)?;
        unknown.note(there, &format!("/charges/{i}/actionIdentifier"), "action", &charge.action_identifier);
    }
    unknown.refuse()
}

/// Names the accounts of a definition, in the order of its fields; those that the stored one names already
/// are not named anew.
fn name_accounts(tx: &mut Tx<'_>, new: &Definition, stored: Option<&Definition>) -> Result<(), Fault> {
    let cash = Some(&new.cash_account_identifier).filter(|_| stored.is_none());
    let expense = Some(&new.expense_account_identifier)
        .filter(|named| stored.is_none_or(|stored| stored.expense_account_identifier != **named));
    let accrue = new.accrue_account_identifier.as_ref().filter(|_| stored.is_none());
    for (named, field, role) in [
        (cash, "/cashAccountIdentifier", AccountRole::ProductCash),
        (expense, "/expenseAccountIdentifier", AccountRole::ProductExpense),
        (accrue, "/accrueAccountIdentifier", AccountRole::ProductAccrue),
    ] {
        if let Some(named) = named {
            name_account(tx, field, named, role)?;
        }
    }
    for (i, charge) in new.charges.iter().enumerate() {
        let named = &charge.income_account_identifier;
        let known =
            |stored: &Definition| stored.charges.iter().any(|c| c.income_account_identifier == *named);
        if !stored.is_some_and(known) {
            let field = format!("/charges/{i}/incomeAccountIdentifier");
            name_account(tx, &field, named, AccountRole::Income)?;
        }
    }
    Ok(())
}

fn refuse_in_use(tx: &mut Tx<'_>, definition: &str, so: &str) -> Result<(), Fault> {
    match tx.count_some(INSTANCES_BY_PRODUCT, &[definition], COUNTED_MAX)? {
        0 => Ok(()),
        count => {
            let uses = counted(count, "instance", "instances");
            let detail = format!("product definition {definition} has {uses}{so}");
            Err(Fault::new(fault::IN_USE, detail))
        }
    }
}
