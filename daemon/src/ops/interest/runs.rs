//! Runs: who runs, which days of which products are due, and what was run.

use crate::ops::{Caller, Given, OrderName};
use crate::store::Tx;
use crate::store::records::{
    FirstOrder, INTEREST_OPEN, InterestState, StoredDefinitionCommand, StoredEntry, StoredRun,
};
use mfa_shared::api::definitions::{Definition, DefinitionAction, ProductType};
use mfa_shared::api::interest::*;
use mfa_shared::fault::{self, Fault};
use mfa_shared::time::Date;
use mfa_shared::wire::Json;

/// The days that a caller wants to be run.
#[derive(Debug, Clone)]
pub struct Order {
    /// The last day.
    pub until: Date,
    /// With which day the first run begins.
    pub from: Option<Date>,
    /// The name of this order, by which the first of a store is known again.
    pub name: OrderName,
    /// Who asks.
    pub by: String,
}

/// What came of the wish to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Claim {
    /// The caller runs from now on.
    Mine,
    /// Another does; the count of their steps.
    Theirs(u64),
}

/// Plans `POST /interest/runs`
pub fn plan(
    tx: &mut Tx<'_>,
    caller: &Caller,
    given: Given<'_>,
    _: &RunInterest,
    Json(new): &Json<NewInterestRun>,
) -> Result<Order, Fault> {
    let until = new.date.unwrap_or(tx.now().day().previous());
    let order = Order { until, from: new.from, name: given.order.clone(), by: caller.name.clone() };
    let state = tx.get::<InterestState>(InterestState::KEY)?;
    state.map_or(Ok(()), |state| refuse_begun(&state, &order))?;
    Ok(order)
}

/// Refuses a day to begin with, unless this very order began, or the first run was ended by a kill and began
/// with the same day.
fn refuse_begun(state: &InterestState, order: &Order) -> Result<(), Fault> {
    let goes_on = |from| {
        let first = state.first.as_ref();
        first.is_some_and(|first| first.from == from && (!first.ended || order.name.is(&first.name)))
    };
    if order.from.is_none_or(goes_on) {
        return Ok(());
    }
    let detail = format!("interest has begun with {}, so from cannot be given any more", state.begun);
    Err(Fault::new(fault::ALREADY_BEGUN, detail))
}

/// Makes `runner` the one who runs, unless another does. One who made no step since `stale` is taken
/// for dead.
pub fn claim(tx: &mut Tx<'_>, order: &Order, runner: &str, stale: Option<u64>) -> Result<Claim, Fault> {
    let stored = tx.get::<InterestState>(InterestState::KEY)?;
    // Asked at each try: of equal orders at once, those that wait for the first are too late when it ended.
    stored.as_ref().map_or(Ok(()), |state| refuse_begun(state, order))?;
    let begun = first_day(tx, order)?;
    let mut state = stored.unwrap_or(InterestState {
        begun,
        last: None,
        runner: None,
        beat: 0,
        removed: 0,
        looked_through: false,
        first: order.from.map(|from| FirstOrder { from, name: order.name.to_keep(), ended: false }),
    });
    if state.runner.as_ref().is_some_and(|other| other != runner) && stale != Some(state.beat) {
        return Ok(Claim::Theirs(state.beat));
    }
    state.runner = Some(runner.to_owned());
    state.beat += 1;
    if !std::mem::replace(&mut state.looked_through, true) && reopen(tx)? {
        state.removed += 1;
    }
    tx.put(&state)?;
    Ok(Claim::Mine)
}

/// Lets the days that an earlier program cut short be tried again from where they ended; whether there were
/// any. What they have accrued stays, so nothing is accrued or paid twice.
fn reopen(tx: &mut Tx<'_>) -> Result<bool, Fault> {
    let mut any = false;
    for mut row in tx.all::<StoredRun>(&[])?.into_iter().filter(StoredRun::is_cut_short) {
        row.ended = false;
        tx.put(&row)?;
        any = true;
    }
    Ok(any)
}

/// With which day the first run begins. Before the first entry of the journal no account has a balance, so
/// the days before it are not gone through, however early `from` is.
fn first_day(tx: &mut Tx<'_>, order: &Order) -> Result<Date, Fault> {
    let Some(from) = order.from else { return Ok(order.until) };
    let first = tx.at::<StoredEntry>(&StoredEntry::at(1))?;
    let posted = first.map_or(order.until, |stored| stored.entry.posted_on.day());
    Ok(from.max(posted.min(order.until)))
}

/// Notes a step of the runner; false if another has taken over.
pub(super) fn beat(tx: &mut Tx<'_>, runner: &str) -> Result<bool, Fault> {
    let Some(mut state) = tx.get::<InterestState>(InterestState::KEY)? else { return Ok(false) };
    if state.runner.as_deref() != Some(runner) {
        return Ok(false);
    }
    state.beat += 1;
    tx.put(&state)?;
    Ok(true)
}

/// Removes the run of a product that is gone.
pub(super) fn forget(tx: &mut Tx<'_>, row: &StoredRun) -> Result<(), Fault> {
    tx.remove(row);
    rebuild_list(tx)
}

/// Writes a run that is tried again, as it begins and as it ends: no list has it meanwhile.
pub(super) fn put_again(tx: &mut Tx<'_>, row: &StoredRun) -> Result<(), Fault> {
    tx.put(row)?;
    rebuild_list(tx)
}

/// Lists that are kept in memory are rebuilt.
fn rebuild_list(tx: &mut Tx<'_>) -> Result<(), Fault> {
    let Some(mut state) = tx.get::<InterestState>(InterestState::KEY)? else { return Ok(()) };
    state.removed += 1;
    tx.put(&state)
}

/// Notes that all was done that the first order asked for; an equal one is refused from now on.
pub fn end_first(tx: &mut Tx<'_>) -> Result<(), Fault> {
    let Some(mut state) = tx.get::<InterestState>(InterestState::KEY)? else { return Ok(()) };
    if let Some(first) = &mut state.first {
        first.ended = true;
        tx.put(&state)?;
    }
    Ok(())
}

/// Lets the next one run.
pub fn release(tx: &mut Tx<'_>, runner: &str) -> Result<(), Fault> {
    let state = tx.get::<InterestState>(InterestState::KEY)?;
    if let Some(mut state) = state.filter(|state| state.runner.as_deref() == Some(runner)) {
        state.runner = None;
        tx.put(&state)?;
    }
    Ok(())
}

/// What is to be done next: the days that were left out and not yet tried again by this run (`again`), or
/// the day behind the last one with all its products; nothing when the last day has been run.
pub fn jobs(tx: &mut Tx<'_>, until: Date, again: bool) -> Result<Option<(Date, Vec<Job>)>, Fault> {
    let Some(state) = tx.get::<InterestState>(InterestState::KEY)? else { return Ok(None) };
    if again {
        let open = tx.indexed::<StoredRun>(INTEREST_OPEN, &[StoredRun::OPEN])?.into_iter();
        let job = |row: StoredRun| Job { day: row.run.date, product: row.run.product_identifier, again };
        let jobs = open.filter(|row| row.run.date <= until).map(job).collect();
        return Ok(Some((state.last.unwrap_or(state.begun), jobs)));
    }
    let day = state.last.map_or(state.begun, Date::next);
    if day > until {
        return Ok(None);
    }
    // Before a product was active there was nothing to run, however long ago the first run was said to be.
    let day = first_active(tx)?.map_or(until, |first| first.clamp(day, until));
    let products = tx.all::<Definition>(&[])?.into_iter();
    let products = products.filter(|definition| definition.r#type != ProductType::Share);
    let jobs = products.map(|definition| Job { day, product: definition.identifier, again }).collect();
    Ok(Some((day, jobs)))
}

/// The first day on which any product was active.
fn first_active(tx: &mut Tx<'_>) -> Result<Option<Date>, Fault> {
    let commands = tx.all::<StoredDefinitionCommand>(&[])?.into_iter();
    let activations = commands.filter(|command| command.record.action == DefinitionAction::Activate);
    Ok(activations.map(|command| command.record.created_on.day()).min())
}

/// Notes that a day was run for all products.
pub fn end_day(tx: &mut Tx<'_>, day: Date) -> Result<(), Fault> {
    if let Some(mut state) = tx.get::<InterestState>(InterestState::KEY)? {
        state.last = state.last.max(Some(day));
        tx.put(&state)?;
    }
    Ok(())
}

/// The answer to a run: where its days can be read.
#[derive(Debug)]
pub struct RunAccepted(pub Date);

/// Settles `POST /interest/runs`
pub fn settle(
    _: &mut Tx<'_>,
    _: &Caller,
    _: &RunInterest,
    outcome: &Result<Date, Fault>,
) -> Result<RunAccepted, Fault> {
    outcome.clone().map(RunAccepted)
}

/// A day of a product that is to be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// The day.
    pub day: Date,
    /// The product definition.
    pub product: String,
    /// Whether it is tried again although it was left out before.
    pub again: bool,
}
