//! Webhooks beside the requests: each subscription gets its events in order, and none waits for another.

use crate::http::state::State;
use crate::ops::turn::Work;
use crate::ops::webhooks::deliver::{self, Next, Place};
use crate::outward::webhook::send;
use crate::store::seed::SYSTEM_ACTOR;
use crate::store::{Store, Tx};
use crate::turn::Ours;
use mfa_shared::fault::Fault;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::JoinSet;

/// How often a daemon looks for what is to be tried again.
const LOOK: Duration = Duration::from_millis(500);
/// Time between two looks while much is changed: events are gathered meanwhile.
const GATHER: Duration = Duration::from_millis(100);
/// Deliveries under way at once.
const AT_ONCE: usize = 32;
/// Events that are looked at in vain before that is noted in the store.
const PASSED_OVER_MAX: u64 = 5_000;

/// The last known place of each subscription, and how far it has since been searched in vain.
type Looked = HashMap<String, (Place, u64)>;

/// Delivers for as long as the daemon serves.
pub async fn keep(state: Arc<State>, mut stopped: watch::Receiver<bool>) {
    let mut ours = Ours::of(Work::Webhooks);
    let mut looked = Looked::new();
    let mut at_work = JoinSet::<(Place, u64)>::new();
    let mut under_way = HashSet::new();
    let mut news = state.auditor.news();
    while !*stopped.borrow() {
        tokio::select! {
            _ = stopped.changed() => break,
            _ = tokio::time::timeout(LOOK, news.changed()) => {}
            Some(_) = ended(&mut at_work, &mut under_way, &mut looked) => {}
        }
        tokio::time::sleep(GATHER).await;
        while let Some(ended) = at_work.try_join_next() {
            note(ended.ok(), &mut under_way, &mut looked);
        }
        let Ok(due) = state.store.read(false, deliver::due).await else { continue };
        let last = *news.borrow();
        let due: Vec<_> = due.into_iter().filter(|place| !is_passed_over(&looked, place, last)).collect();
        if (due.is_empty() && under_way.is_empty()) || !ours.is_it(&state.store).await {
            continue;
        }
        for place in due {
            if under_way.len() < AT_ONCE && under_way.insert(place.subscription.clone()) {
                let from = looked.get(&place.subscription).filter(|(of, _)| *of == place);
                let from = from.map_or(place.position, |(_, upto)| *upto);
                at_work.spawn(serve(state.clone(), place, from));
            }
        }
    }
    at_work.shutdown().await;
    ours.let_go(&state.store).await;
}

/// Waits for a delivery to end, if one is under way.
async fn ended(
    at_work: &mut JoinSet<(Place, u64)>,
    under_way: &mut HashSet<String>,
    looked: &mut Looked,
) -> Option<()> {
    let ended = at_work.join_next().await?;
    note(ended.ok(), under_way, looked);
    Some(())
}

fn note(ended: Option<(Place, u64)>, under_way: &mut HashSet<String>, looked: &mut Looked) {
    match ended {
        Some((place, upto)) => {
            under_way.remove(&place.subscription);
            looked.insert(place.subscription.clone(), (place, upto));
        }
        // A defect ended one of them; which one is not known, and none may wait for ever.
        None => under_way.clear(),
    }
}

fn is_passed_over(looked: &Looked, place: &Place, last: u64) -> bool {
    looked.get(&place.subscription).is_some_and(|(of, upto)| of == place && *upto >= last)
}

/// Delivers pending events of a subscription; returns its place afterwards, and how far was searched in vain.
async fn serve(state: Arc<State>, mut place: Place, mut looked: u64) -> (Place, u64) {
    loop {
        match step(&state, &place, looked).await {
            Ok(Step::Again(upto)) => looked = upto,
            Ok(Step::Moved(now)) => (looked, place) = (now.position, now),
            Ok(Step::End(upto)) => return (place, upto),
            Err(fault) => {
                tracing::debug!(subscription = place.subscription, %fault, "a webhook waits");
                return (place, looked);
            }
        }
    }
}

/// What to do next for a subscription.
enum Step {
    /// From behind this event on.
    Again(u64),
    /// From another place on.
    Moved(Place),
    /// Not at present; everything up to this event was looked at.
    End(u64),
}

async fn step(state: &Arc<State>, place: &Place, looked: u64) -> Result<Step, Fault> {
    let shared = state.clone();
    let from = place.clone();
    let look = move |tx: &mut Tx<'_>| deliver::next(tx, &shared.callers, &shared.config, &from, looked);
    match state.store.read(false, look).await? {
        Next::Nothing => Ok(Step::End(looked)),
        Next::Pause(why) => {
            let from = place.clone();
            write(&state.store, move |tx| deliver::give_up(tx, &from, &why)).await?;
            Ok(Step::End(looked))
        }
        Next::PassOver { upto, more, note } => {
            if !note && upto.saturating_sub(place.position) < PASSED_OVER_MAX {
                return Ok(if more { Step::Again(upto) } else { Step::End(upto) });
            }
            let from = place.clone();
            write(&state.store, move |tx| deliver::pass_over(tx, &from, upto)).await?;
            Ok(Step::Moved(Place { position: upto, ..place.clone() }))
        }
        Next::Send(message, batch) => {
            let outcome = send(*message).await;
            state.counts.webhook(outcome.is_ok());
            let taken = outcome.is_ok();
            let behind = batch.delivered();
            write(&state.store, move |tx| deliver::settle(tx, &batch, &outcome)).await?;
            if taken { Ok(Step::Moved(behind)) } else { Ok(Step::End(looked)) }
        }
    }
}

async fn write<F>(store: &Store, mut work: F) -> Result<(), Fault>
where
    F: FnMut(&mut Tx<'_>) -> Result<(), Fault> + Send + 'static,
{
    let named = move |tx: &mut Tx<'_>| {
        tx.set_actor(SYSTEM_ACTOR);
        work(tx)
    };
    store.write("webhooks", named).await
}
