//! Tellers: what the management does. Contract: `tellers.md` sections 1 and 2.

mod accounts;
mod cancelled;
mod cash;
mod check;
mod command;
mod confirm;
mod denominations;
mod drawer;
mod find;
mod pending;
mod receipts;
mod reports;
mod transactions;

pub use cash::balance;
pub use check::check_tellers;
pub use command::{command, pause};
pub use confirm::finish;
pub use denominations::{create as create_denomination, list as list_denominations};
pub use drawer::{present as drawer_hash, unlock};
pub use receipts::{find_copies, get as get_receipt, issue as issue_receipt};
pub use reports::{get as get_report, list as list_reports};
pub use transactions::{create as create_transaction, get as get_transaction, list as list_transactions};

use super::secret::Judged;
use super::{Caller, Unknown, ledger, offices};
use crate::domain::lockout::Attempts;
use crate::domain::teller::{TellerStep, next_state};
use crate::ops::rows::Rows;
use crate::store::Tx;
use crate::store::records::{StoredDrawer, StoredEmployee, StoredTeller, TELLERS_BY_OFFICE};
use find::{find, managed};
use mfa_shared::api::ledger::{AccountRole, LedgerAccount};
use mfa_shared::api::tellers::*;
use mfa_shared::fault::{self, Fault};
use mfa_shared::wire::{Accepted, Json, Nothing};

/// `POST /offices/{office}/teller`
pub fn create(
    tx: &mut Tx<'_>,
    caller: &Caller,
    at: &CreateTeller,
    Json(new): &Json<NewTeller>,
    judged: &Judged,
) -> Result<Accepted, Fault> {
    offices::find(tx, &at.office)?;
    let teller = Teller {
        code: new.code.clone(),
        password: None,
        cashdraw_limit: new.cashdraw_limit,
        teller_account_identifier: new.teller_account_identifier.clone(),
        vault_account_identifier: new.vault_account_identifier.clone(),
        cheques_receivable_account: new.cheques_receivable_account.clone(),
        cash_over_short_account: new.cash_over_short_account.clone(),
        denomination_required: new.denomination_required,
        assigned_employee: new.assigned_employee.clone(),
        state: TellerState::Closed,
        created_by: caller.name.clone(),
        created_on: tx.now(),
        last_modified_by: None,
        last_modified_on: None,
        last_opened_by: None,
        last_opened_on: None,
    };
    name(tx, &teller, None)?;
    if tx.has::<StoredTeller>(&[&new.code])? {
        let detail = format!("there is a teller \"{}\" already", new.code);
        return Err(Fault::new(fault::IDENTIFIER_TAKEN, detail));
    }
    tx.put(&StoredTeller { office: at.office.clone(), teller, session: None })?;
    lock_drawer(tx, &new.code, judged)?;
    Ok(Accepted)
}

/// `GET /offices/{office}/teller`
pub fn list(
    tx: &mut Tx<'_>,
    _: &Caller,
    at: &ListTellers,
    _: &Nothing,
) -> Result<Rows<StoredTeller, Teller>, Fault> {
    offices::find(tx, &at.office)?;
    Ok(Rows::indexed(TELLERS_BY_OFFICE, &[&at.office], |_, stored| Ok(stored.teller)))
}

/// `GET /offices/{office}/teller/{teller}`
pub fn get(tx: &mut Tx<'_>, _: &Caller, at: &GetTeller, _: &Nothing) -> Result<Json<Teller>, Fault> {
    Ok(Json(managed(tx, &at.office, &at.teller)?.teller))
}

/// `PUT /offices/{office}/teller/{teller}`
pub fn update(
    tx: &mut Tx<'_>,
    caller: &Caller,
    at: &UpdateTeller,
    Json(change): &Json<TellerChange>,
    judged: &Judged,
) -> Result<Accepted, Fault> {
    let mut stored = managed(tx, &at.office, &at.teller)?;
    if change.code != at.teller {
        let detail = format!("the body names teller \"{}\", the path \"{}\"", change.code, at.teller);
        return Err(Fault::new(fault::IDENTIFIER_MISMATCH, detail));
    }
    let before = stored.teller.clone();
    stored.teller = changed(before.clone(), change.clone());
    name(tx, &stored.teller, Some(&before))?;
    if before.state != TellerState::Closed && stored.teller.assigned_employee != before.assigned_employee {
        let detail =
            format!("teller {} is {}, so nobody else can be assigned to it", at.teller, before.state);
        return Err(Fault::new(fault::WRONG_STATE, detail));
    }
    if stored.teller.teller_account_identifier != before.teller_account_identifier {
        cash::move_drawer(tx, caller, &stored.teller, &before.teller_account_identifier)?;
    }
    lock_drawer(tx, &at.teller, judged)?;
    save(tx, caller, stored)
}

/// `DELETE /offices/{office}/teller/{teller}`
pub fn delete(tx: &mut Tx<'_>, _: &Caller, at: &DeleteTeller, _: &Nothing) -> Result<Accepted, Fault> {
    let stored = managed(tx, &at.office, &at.teller)?;
    if let Some(on) = stored.teller.last_opened_on {
        let detail = format!("teller {} was opened on {}, so it stays", at.teller, on.day());
        return Err(Fault::new(fault::TELLER_USED, detail));
    }
    if let Some(drawer) = tx.get::<StoredDrawer>(&[&at.teller])? {
        tx.remove(&drawer);
    }
    tx.remove(&stored);
    Ok(Accepted)
}

fn changed(teller: Teller, change: TellerChange) -> Teller {
    let assigned_employee = match change.assigned_employee {
        None => teller.assigned_employee,
        Some(name) => Some(name).filter(|name| !name.is_empty()),
    };
    Teller {
        cashdraw_limit: change.cashdraw_limit.unwrap_or(teller.cashdraw_limit),
        teller_account_identifier: change
            .teller_account_identifier
            .unwrap_or(teller.teller_account_identifier),
        vault_account_identifier: change.vault_account_identifier.unwrap_or(teller.vault_account_identifier),
        cheques_receivable_account: change
            .cheques_receivable_account
            .unwrap_or(teller.cheques_receivable_account),
        cash_over_short_account: change.cash_over_short_account.unwrap_or(teller.cash_over_short_account),
        denomination_required: change.denomination_required.unwrap_or(teller.denomination_required),
        assigned_employee,
        ..teller
    }
}

/// The accounts that a teller names, in the order of the contract.
pub(super) fn accounts(teller: &Teller) -> [(&'static str, &str, AccountRole); 4] {
    [
        ("/tellerAccountIdentifier", &teller.teller_account_identifier, AccountRole::Drawer),
        ("/vaultAccountIdentifier", &teller.vault_account_identifier, AccountRole::Vault),
        ("/chequesReceivableAccount", &teller.cheques_receivable_account, AccountRole::ChequesReceivable),
        ("/cashOverShortAccount", &teller.cash_over_short_account, AccountRole::OverShort),
    ]
}

/// Collects the accounts that are new or differ from the stored ones. Where references must exist, the
/// accounts and the employee must exist; otherwise the answer reports a missing employee.
fn name(tx: &mut Tx<'_>, teller: &Teller, stored: Option<&Teller>) -> Result<(), Fault> {
    let before = stored.map(accounts);
    let named: Vec<_> = accounts(teller)
        .into_iter()
        .enumerate()
        .filter(|(place, (_, account, _))| before.is_none_or(|before| before[*place].1 != *account))
        .map(|(_, account)| account)
        .collect();
    let mut unknown = Unknown::default();
    if tx.refuses_unknown() {
        for (field, account, _) in &named {
            unknown.look::<LedgerAccount>(tx, field, "ledger account", account)?;
        }
    }
    if stored.is_none_or(|stored| stored.assigned_employee != teller.assigned_employee)
        && let Some(employee) = &teller.assigned_employee
    {
        unknown.look::<StoredEmployee>(tx, "/assignedEmployee", "employee", employee)?;
    }
    unknown.settle(tx)?;
    named.iter().try_for_each(|(field, account, role)| ledger::name_account(tx, field, account, *role))
}

/// Stores the PIN of a drawer; a lock that wrong ones brought about ends.
fn lock_drawer(tx: &mut Tx<'_>, teller: &str, judged: &Judged) -> Result<(), Fault> {
    tx.put(&StoredDrawer { teller: teller.to_owned(), hash: judged.hash()?, attempts: Attempts::default() })
}

/// The state after a step.
fn step(teller: &Teller, step: TellerStep, what: &str) -> Result<TellerState, Fault> {
    let refused = || {
        let detail = format!("teller {} is {}, so {what} is not possible", teller.code, teller.state);
        Fault::new(fault::WRONG_STATE, detail)
    };
    next_state(teller.state, step).ok_or_else(refused)
}

/// Only the assigned employee works at a teller. A closed one has none, and is refused later by its state.
fn check_caller(caller: &Caller, teller: &Teller) -> Result<(), Fault> {
    let works = caller.user.is_some() && caller.user == teller.assigned_employee;
    if works || caller.is_unchecked() || teller.state == TellerState::Closed {
        return Ok(());
    }
    let detail = format!("{} is not the employee who is assigned to teller {}", caller.name, teller.code);
    Err(Fault::new(fault::NOT_ASSIGNED_EMPLOYEE, detail))
}

fn save(tx: &mut Tx<'_>, caller: &Caller, mut stored: StoredTeller) -> Result<Accepted, Fault> {
    stored.teller.last_modified_by = Some(caller.name.clone());
    stored.teller.last_modified_on = Some(tx.now());
    tx.put(&stored)?;
    Ok(Accepted)
}
