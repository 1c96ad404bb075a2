//! Interest runs and dividends beside the requests: many short transactions, one run at a time in all
//! daemons.

use crate::clock::Deadline;
use crate::ops::OrderName;
use crate::ops::dividends::{self, Distribution, Paid};
use crate::ops::interest::{self, Claim, Next, Order, Part, Stepped};
use crate::random;
use crate::store::records::InterestState;
use crate::store::seed::SYSTEM_ACTOR;
use crate::store::{Store, Tx};
use mfa_shared::api::audit::{AuditChange, AuditRecord};
use mfa_shared::api::dividends::DistributeDividend;
use mfa_shared::api::interest::RunInterest;
use mfa_shared::endpoint::Endpoint;
use mfa_shared::fault::{self, Fault};
use mfa_shared::kind;
use mfa_shared::node::Node;
use mfa_shared::time::{Date, Timestamp};
use std::time::{Duration, Instant};

/// How often a waiting runner checks whether the other has ended.
const LOOK: Duration = Duration::from_millis(50);
/// A runner who makes no step for so long is taken for dead.
const SILENCE_MAX: Duration = Duration::from_secs(5);
/// Pause before a step that the store could not take is tried again, and how often that is done.
const AGAIN: Duration = Duration::from_millis(200);
const AGAIN_MAX: u32 = 50;
/// A pause between steps takes this part of their time, and is not shorter: timers count in milliseconds.
const PAUSE_PART: u32 = 3;
const PAUSE_MIN: Duration = Duration::from_millis(2);
/// How often a daemon looks whether its time to run has come.
const TICK: Duration = Duration::from_secs(1);

/// How a transaction runs beside others.
#[derive(Debug, Clone, Copy)]
enum Way {
    /// Like that of a request: it goes through a few records.
    Beside,
    /// Alone: it goes through the records of hundreds of accounts.
    Alone,
    /// On a snapshot: it only accrues.
    Snapshot,
}

/// Pauses between steps where one writer decides everything: others have it and the processors to themselves
/// meanwhile.
#[derive(Debug, Default)]
struct Pauses {
    /// What is due from the steps since the last pause.
    owed: Duration,
}

impl Pauses {
    async fn after(&mut self, step: Duration, store: &Store) {
        if store.is_shared() {
            return;
        }
        self.owed += step / PAUSE_PART;
        if self.owed >= PAUSE_MIN {
            tokio::time::sleep(std::mem::take(&mut self.owed)).await;
        }
    }
}

/// Runs the days of an order. However it ends, the next run continues from there.
pub async fn run(order: Order, store: Store) -> Result<Date, Fault> {
    let runner = random::hex::<16>();
    wait(&order, &store, &runner).await?;
    let mut outcome = days(&order, &store, &runner).await;
    while let Ok(false) = outcome {
        // Another took this run for dead and runs now.
        let order = Order { from: None, ..order.clone() };
        wait(&order, &store, &runner).await?;
        outcome = days(&order, &store, &runner).await;
    }
    let name = runner.clone();
    let ends_first = order.from.is_some() && outcome.is_ok();
    let release = move |tx: &mut Tx<'_>| {
        if ends_first {
            interest::end_first(tx)?;
        }
        interest::release(tx, &name)
    };
    let released = write(&store, &order.by, Way::Beside, release).await;
    outcome.and(released).map(|()| order.until)
}

/// Waits until no one else runs.
async fn wait(order: &Order, store: &Store, runner: &str) -> Result<(), Fault> {
    let mut seen = None;
    let mut patience = Deadline::after(SILENCE_MAX);
    loop {
        let stale = seen.filter(|_| patience.has_passed());
        let wanted = order.clone();
        let name = runner.to_owned();
        let claim = move |tx: &mut Tx<'_>| interest::claim(tx, &wanted, &name, stale);
        match write(store, &order.by, Way::Beside, claim).await? {
            Claim::Mine => return Ok(()),
            Claim::Theirs(beat) if seen == Some(beat) => {}
            Claim::Theirs(beat) => (seen, patience) = (Some(beat), Deadline::after(SILENCE_MAX)),
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// Does all that is due; false when another has taken over.
async fn days(order: &Order, store: &Store, runner: &str) -> Result<bool, Fault> {
    let until = order.until;
    let mut again = true;
    let mut pauses = Pauses::default();
    while let Some((day, jobs)) = store.read(false, move |tx| interest::jobs(tx, until, again)).await? {
        for job in jobs {
            let mut part = Part::Any;
            // One that is made up for is of another day.
            let of_day = job.day;
            loop {
                let job = job.clone();
                let runner = runner.to_owned();
                let by = order.by.clone();
                let at_once = interest::accounts_at_once(store.is_shared(), part);
                let step = move |tx: &mut Tx<'_>| {
                    let Stepped { next, settled } = interest::step(tx, &job, part, at_once, &runner, &by)?;
                    if next != Next::Theirs {
                        record(tx, RunInterest::META.name, &by, format!("interest/{of_day}"), &settled);
                    }
                    Ok(next)
                };
                let way = if part == Part::Accrual { Way::Snapshot } else { Way::Alone };
                let begun = Instant::now();
                let next = write(store, &order.by, way, step).await?;
                pauses.after(begun.elapsed(), store).await;
                match next {
                    Next::Step(next) => part = next,
                    Next::End => break,
                    Next::Theirs => return Ok(false),
                }
            }
        }
        if !std::mem::take(&mut again) {
            write(store, &order.by, Way::Beside, move |tx| interest::end_day(tx, day)).await?;
        }
    }
    Ok(true)
}

/// Pays a dividend to all accounts of its product.
pub async fn distribute(order: Distribution, store: Store) -> Result<(), Fault> {
    let mut pauses = Pauses::default();
    loop {
        let wanted = order.clone();
        let step = move |tx: &mut Tx<'_>| {
            let Paid { all, accounts } = dividends::step(tx, &wanted)?;
            let product = format!("product/{}", wanted.definition);
            record(tx, DistributeDividend::META.name, &wanted.by, product, &accounts);
            Ok(all)
        };
        let begun = Instant::now();
        if write(&store, &order.by, Way::Alone, step).await? {
            return Ok(());
        }
        pauses.after(begun.elapsed(), &store).await;
    }
}

/// Records one step of work that takes many, with the accounts on which something was booked.
fn record(tx: &mut Tx<'_>, operation: &str, by: &str, resource: String, accounts: &[String]) {
    let actor = by.to_owned();
    let request_id = "interest".to_owned();
    let record = AuditRecord::of(operation, tx.now());
    let affects =
        accounts.iter().map(|account| kind::resource("account", std::slice::from_ref(account))).collect();
    // What was booked has changed the balances of these accounts, so it is an event.
    let booked = || AuditChange {
        field: "/accounts".to_owned(),
        before: None,
        after: Some(Node::Number(accounts.len().to_string())),
    };
    let changes = (!accounts.is_empty()).then(booked).into_iter().collect();
    tx.audit(AuditRecord { actor, request_id, resource: Some(resource), affects, changes, ..record });
}

/// One transaction; one that the store cannot take at this moment is tried again.
async fn write<T, F>(store: &Store, by: &str, way: Way, work: F) -> Result<T, Fault>
where
    T: Send + 'static,
    F: FnMut(&mut Tx<'_>) -> Result<T, Fault> + Clone + Send + 'static,
{
    let mut tries = 0;
    loop {
        let mut work = work.clone();
        let actor = by.to_owned();
        let named = move |tx: &mut Tx<'_>| {
            tx.set_actor(&actor);
            work(tx)
        };
        let written = match way {
            Way::Beside => store.write("interest", named).await,
            Way::Alone => store.write_alone("interest", named).await,
            Way::Snapshot => store.write_on_snapshot("interest", named).await,
        };
        match written {
            Err(fault) if fault.kind == fault::UNAVAILABLE && tries < AGAIN_MAX => tries += 1,
            outcome => return outcome,
        }
        tokio::time::sleep(AGAIN).await;
    }
}

/// Runs yesterday automatically, once a day from a minute of the day on. Of several daemons one does.
pub async fn keep_running(store: Store, minute: u16) {
    loop {
        tokio::time::sleep(TICK).await;
        let now = store.clock().now();
        let yesterday = now.day().previous();
        if minute_of_day(now) < i64::from(minute) {
            continue;
        }
        let state = store.read(false, |tx| tx.get::<InterestState>(InterestState::KEY)).await;
        // Where a run is under way it waits for its end, and goes on if that one has died.
        let due = state.is_ok_and(|state| state.is_none_or(|state| state.last < Some(yesterday)));
        if !due {
            continue;
        }
        let order =
            Order { until: yesterday, from: None, name: OrderName::default(), by: SYSTEM_ACTOR.to_owned() };
        match run(order, store.clone()).await {
            Ok(day) => tracing::info!(%day, "interest was run"),
            Err(fault) => tracing::warn!(%fault, "interest could not be run"),
        }
    }
}

fn minute_of_day(now: Timestamp) -> i64 {
    (now.millis() - now.day().start().millis()) / 60_000
}
