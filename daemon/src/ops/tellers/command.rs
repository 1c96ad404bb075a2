//! Opening, closing and pausing a teller. Contract: `tellers.md` section 3.

use super::{cash, pending, reports};
use super::{check_caller, find, managed, save, step};
use crate::domain::teller::{CARRIED_OVER, TellerStep};
use crate::ops::{Caller, Unknown, ledger};
use crate::store::Tx;
use crate::store::records::{Session, StoredEmployee, StoredTeller, TELLERS_BY_EMPLOYEE};
use mfa_shared::api::tellers::*;
use mfa_shared::fault::{self, Fault};
use mfa_shared::wire::{Accepted, Form, Json};

/// `POST /offices/{office}/teller/{teller}/commands`
pub fn command(
    tx: &mut Tx<'_>,
    caller: &Caller,
    at: &CommandTeller,
    Json(command): &Json<TellerCommand>,
) -> Result<Accepted, Fault> {
    let stored = managed(tx, &at.office, &at.teller)?;
    match command.action {
        TellerAction::Open => open(tx, caller, stored, command),
        TellerAction::Close => close(tx, caller, stored, command),
    }
}

/// `POST /teller/{teller}`
pub fn pause(
    tx: &mut Tx<'_>,
    caller: &Caller,
    at: &PauseTeller,
    Form(form): &Form<TellerForm>,
) -> Result<Accepted, Fault> {
    let TellerCommandWord::Pause = form.command;
    let mut stored = find(tx, &at.teller)?;
    check_caller(caller, &stored.teller)?;
    stored.teller.state = step(&stored.teller, TellerStep::Pause, "PAUSE")?;
    save(tx, caller, stored)
}

fn open(
    tx: &mut Tx<'_>,
    caller: &Caller,
    mut stored: StoredTeller,
    command: &TellerCommand,
) -> Result<Accepted, Fault> {
    let code = stored.teller.code.clone();
    let given = command.assigned_employee_identifier.clone();
    let Some(employee) = given.or_else(|| stored.teller.assigned_employee.clone()) else {
        let detail = format!("no employee is assigned to teller {code}, and the command names none");
        return Err(Fault::new(fault::EMPLOYEE_REQUIRED, detail));
    };
    // If the teller has this employee already, there is no new dangling reference.
    if tx.refuses_unknown() || stored.teller.assigned_employee.as_ref() != Some(&employee) {
        let mut unknown = Unknown::default();
        unknown.look::<StoredEmployee>(tx, "/assignedEmployeeIdentifier", "employee", &employee)?;
        unknown.settle(tx)?;
    }
    stored.teller.state = step(&stored.teller, TellerStep::Open, "OPEN")?;
    let elsewhere = tx.indexed::<StoredTeller>(TELLERS_BY_EMPLOYEE, &[&employee])?;
    if let Some(other) = elsewhere.first() {
        let (at, office) = (&other.teller.code, &other.office);
        let detail = format!("{employee} works at teller {at} of office {office}, so not at {code}");
        return Err(Fault::new(fault::EMPLOYEE_HAS_OPEN_TELLER, detail));
    }
    check_cash(tx, &stored.teller, command)?;
    stored.teller.assigned_employee = Some(employee);
    stored.teller.last_opened_by = Some(caller.name.clone());
    stored.teller.last_opened_on = Some(tx.now());
    let after = ledger::last_sequence(tx)?;
    let carried = ledger::drawer_cash(tx, &code)?;
    ledger::begin_session(tx, &code, after, (CARRIED_OVER, carried))?;
    stored.session = Some(Session { after, carried, count: None });
    cash::adjust(tx, caller, &stored.teller, command.adjustment, command.amount)?;
    save(tx, caller, stored)
}

fn close(
    tx: &mut Tx<'_>,
    caller: &Caller,
    mut stored: StoredTeller,
    command: &TellerCommand,
) -> Result<Accepted, Fault> {
    let code = stored.teller.code.clone();
    let after = step(&stored.teller, TellerStep::Close, "CLOSE")?;
    let is_counted = stored.session.as_ref().is_some_and(|session| session.count.is_some());
    if stored.teller.denomination_required && !is_counted {
        let detail = format!("the cash of teller {code} was not counted since it was opened");
        return Err(Fault::new(fault::DENOMINATION_REQUIRED, detail));
    }
    check_cash(tx, &stored.teller, command)?;
    cash::adjust(tx, caller, &stored.teller, command.adjustment, command.amount)?;
    pending::cancel_all(tx, &code)?;
    reports::write(tx, caller, &stored)?;
    stored.teller.assigned_employee = None;
    stored.teller.state = after;
    save(tx, caller, stored)
}

fn check_cash(tx: &mut Tx<'_>, teller: &Teller, command: &TellerCommand) -> Result<(), Fault> {
    let code = &teller.code;
    let amount = command.amount;
    let cash = ledger::drawer_cash(tx, &teller.code)?;
    if command.adjustment != Adjustment::Credit || amount <= cash {
        return Ok(());
    }
    let detail = format!("the drawer of teller {code} holds {cash}, so {amount} cannot be taken from it");
    Err(Fault::new(fault::INSUFFICIENT_CASH, detail))
}
