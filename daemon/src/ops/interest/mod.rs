//! Interest of accounts: what is accrued, paid and given up. Contract: `interest.md`.

mod check;
mod day;
mod list;
mod runs;
#[cfg(test)]
mod tests;

pub use check::check_interest;
pub use day::{Next, Part, Stepped, accounts_at_once, step};
pub use list::{Runs, list};
pub use runs::{Claim, Job, Order, RunAccepted, claim, end_day, end_first, jobs, plan, release, settle};

use super::{Caller, ledger};
use crate::domain::interest::{self as rules, rounded};
use crate::domain::ledger::{GIVEN_UP, PAYMENT};
use crate::ops::find;
use crate::store::Tx;
use crate::store::records::{
    INTEREST_OPEN, InterestState, StoredInstance, StoredInterest, StoredPayment, StoredRun,
};
use mfa_shared::amount::Amount;
use mfa_shared::api::definitions::{Definition, ProductType};
use mfa_shared::api::instances::InstanceState;
use mfa_shared::api::interest::*;
use mfa_shared::api::ledger::{AccountRole, JournalEntry, JournalLine, LedgerAccount};
use mfa_shared::fault::{self, Fault};
use mfa_shared::time::{Date, Timestamp};
use mfa_shared::wire::{Accepted, Json, Nothing};

/// `GET /instances/{account}/interest`
pub fn get(
    tx: &mut Tx<'_>,
    _: &Caller,
    at: &GetInstanceInterest,
    _: &Nothing,
) -> Result<Json<AccountInterest>, Fault> {
    let instance = find::account(tx, &at.account)?;
    let definition = product_of(tx, &instance)?;
    let kept = of_account(tx, &at.account)?;
    let rate = definition.interest.unwrap_or_default();
    let accrued_until = accrued_until(tx, &instance, &definition)?;
    let earns = definition.r#type != ProductType::Share && !(rate.is_zero() && kept.accrued().is_zero());
    let mut next_payment = None;
    if earns && instance.state == InstanceState::Active {
        // The next run pays what fell due behind the last day that was run, or on one that was left out.
        let after = run_until(tx, &definition)?.unwrap_or(tx.now().day().previous());
        let after = after.max(instance.opened_on.map_or(after, Date::previous));
        next_payment = rules::next_payment(&definition.term, instance.opened_on, after);
    }
    let payments = tx.all::<StoredPayment>(&[&at.account])?;
    Ok(Json(AccountInterest {
        account_identifier: at.account.clone(),
        accrued: kept.accrued().in_scale(rules::ACCRUED_DIGITS),
        paid_total: kept.paid,
        rate,
        accrued_until,
        next_payment,
        payments: payments.into_iter().map(|stored| stored.payment).collect(),
    }))
}

/// `POST /instances/{account}/interest`
pub fn pay_now(
    tx: &mut Tx<'_>,
    caller: &Caller,
    at: &PayInstanceInterest,
    Json(InterestCommand { action: InterestAction::Pay }): &Json<InterestCommand>,
) -> Result<Accepted, Fault> {
    let instance = find::account(tx, &at.account)?;
    if instance.state != InstanceState::Active {
        let detail = format!("account {} is {}, so no interest is paid to it", at.account, instance.state);
        return Err(Fault::new(fault::WRONG_STATE, detail));
    }
    let definition = product_of(tx, &instance)?;
    let until = accrued_until(tx, &instance, &definition)?.unwrap_or(tx.now().day());
    if pay(tx, &definition, &at.account, until, &caller.name)?.is_none() {
        let accrued = of_account(tx, &at.account)?.accrued();
        let detail = format!("account {} has accrued {accrued}, which comes to nothing", at.account);
        return Err(Fault::new(fault::NOTHING_ACCRUED, detail));
    }
    Ok(Accepted)
}

/// Pays what an account has accrued, if that comes to the smallest amount of the currency.
fn pay(
    tx: &mut Tx<'_>,
    definition: &Definition,
    account: &str,
    until: Date,
    by: &str,
) -> Result<Option<Amount>, Fault> {
    let mut kept = of_account(tx, account)?;
    let amount = rounded(kept.accrued(), definition.currency.scale);
    if amount <= Amount::ZERO {
        return Ok(None);
    }
    let lines = vec![
        ledger::debit(accrue_account(definition)?, AccountRole::ProductAccrue, amount),
        ledger::credit(account, AccountRole::Customer, amount),
    ];
    let Some(entry) = book(tx, PAYMENT, account, by, until, lines)? else { return Ok(None) };
    kept.paid = kept.paid.plus(amount);
    tx.add(&kept);
    let payment = InterestPayment { date: until, amount, journal_entry_identifier: entry.identifier };
    let sequence = entry.sequence.unsigned_abs();
    tx.add(&StoredPayment { account: account.to_owned(), sequence, payment });
    Ok(Some(amount))
}

/// Gives up what an account has accrued and was not paid, because it is closed now. The record is written in
/// any case: an accrual beside it sees a state from before, and has to find out that the account is closed.
pub fn give_up(tx: &mut Tx<'_>, instance: &StoredInstance, by: &str) -> Result<(), Fault> {
    let account = &instance.account_identifier;
    let kept = of_account(tx, account)?;
    tx.put(&kept)?;
    if kept.accrued() > Amount::ZERO {
        let (definition, today) = (product_of(tx, instance)?, tx.now().day());
        give_up_on(tx, &definition, account, today, by)?;
    }
    Ok(())
}

/// Gives up what a closed account has accrued, on a day; true if that comes to something.
fn give_up_on(
    tx: &mut Tx<'_>,
    definition: &Definition,
    account: &str,
    day: Date,
    by: &str,
) -> Result<bool, Fault> {
    let mut kept = of_account(tx, account)?;
    let amount = rounded(kept.accrued(), definition.currency.scale);
    if amount <= Amount::ZERO {
        return Ok(false);
    }
    give_currency(tx, definition, account)?;
    let lines = vec![
        ledger::debit(accrue_account(definition)?, AccountRole::ProductAccrue, amount),
        ledger::credit(&definition.expense_account_identifier, AccountRole::ProductExpense, amount),
    ];
    let posted = book(tx, GIVEN_UP, account, by, day, lines)?.is_some();
    if posted {
        kept.given_up = kept.given_up.plus(amount);
        tx.put(&kept)?;
    }
    Ok(posted)
}

/// Gives the accounts to which the interest of an account is given up the currency of its product. Neither is
/// an account of a customer, so nothing else holds the entry to one currency.
fn give_currency(tx: &mut Tx<'_>, definition: &Definition, account: &str) -> Result<(), Fault> {
    let (product, code) = (&definition.identifier, &definition.currency.code);
    let expense = format!(
        "give the product an expenseAccountIdentifier of an account in {code}, or pay the interest before the \
         account is closed"
    );
    let accrue = "move its money to another account, and leave this one open".to_owned();
    for (name, mend) in
        [(definition.expense_account_identifier.as_str(), expense), (accrue_account(definition)?, accrue)]
    {
        let stored = tx.get::<LedgerAccount>(&[name])?;
        if let Some(other) = stored.and_then(|stored| stored.currency).filter(|other| other != code) {
            let detail = format!(
                "account {name} has {other}, product definition {product} has {code}, so what account \
                 {account} has accrued cannot be given up; {mend}"
            );
            return Err(Fault::new(fault::CURRENCY_MISMATCH, detail));
        }
        ledger::give_currency(tx, name, code)?;
    }
    Ok(())
}

/// Posts an entry of no teller; `about` is the product or account that it is about.
pub(super) fn book(
    tx: &mut Tx<'_>,
    r#type: &str,
    about: &str,
    by: &str,
    day: Date,
    lines: Vec<JournalLine>,
) -> Result<Option<JournalEntry>, Fault> {
    let entry = ledger::Entry {
        r#type,
        message: about,
        transaction_date: Some(day.start()),
        clerk: by,
        teller_code: None,
        teller_transaction: None,
        lines,
    };
    ledger::post(tx, entry)
}

/// What an account has accrued; nothing before its first accrual.
fn of_account(tx: &mut Tx<'_>, account: &str) -> Result<StoredInterest, Fault> {
    let nothing = || StoredInterest {
        account: account.to_owned(),
        accruals: Amount::ZERO,
        paid: Amount::ZERO,
        given_up: Amount::ZERO,
    };
    Ok(tx.get(&[account])?.unwrap_or_else(nothing))
}

/// The last day that was run for a product without a gap.
fn run_until(tx: &mut Tx<'_>, definition: &Definition) -> Result<Option<Date>, Fault> {
    let last = tx.get::<InterestState>(InterestState::KEY)?.and_then(|state| state.last);
    let open = tx.indexed::<StoredRun>(INTEREST_OPEN, &[StoredRun::OPEN])?;
    let of_product = open.into_iter().filter(|row| row.run.product_identifier == definition.identifier);
    let left_out = of_product.map(|row| row.run.date).min();
    Ok(last.map(|last| left_out.map_or(last, |day| last.min(day.previous()))))
}

/// The same for an account.
fn accrued_until(
    tx: &mut Tx<'_>,
    instance: &StoredInstance,
    definition: &Definition,
) -> Result<Option<Date>, Fault> {
    let Some(state) = tx.get::<InterestState>(InterestState::KEY)? else { return Ok(None) };
    let last = run_until(tx, definition)?;
    let closed = instance.closed_on.map(|closed| Timestamp::day(closed).previous());
    let last = last.map(|last| closed.map_or(last, |closed| last.min(closed)));
    let earns = definition.r#type != ProductType::Share;
    let since = instance.opened_on.map(|opened| opened.max(state.begun));
    Ok(last.filter(|last| earns && since.is_some_and(|since| since <= *last)))
}

/// The product of an account, which stays as long as the account.
fn product_of(tx: &mut Tx<'_>, instance: &StoredInstance) -> Result<Definition, Fault> {
    let gone = || {
        let account = &instance.account_identifier;
        Fault::new(fault::INTERNAL, format!("the product of account {account} is gone"))
    };
    tx.get(&[&instance.product_identifier])?.ok_or_else(gone)
}

/// The accrual account of a product, which only share products lack.
fn accrue_account(definition: &Definition) -> Result<&str, Fault> {
    definition.accrue_account_identifier.as_deref().ok_or_else(|| {
        let product = &definition.identifier;
        Fault::new(fault::INTERNAL, format!("product definition {product} has no accrual account"))
    })
}
