//! Webhooks beside the requests: each subscription gets its events in order, and none waits for another.
//!
//! A subscription that is far behind reads as much as a listener to older events, and as those do: by the
//! threads for lists, and in turn with them after each piece.

use crate::http::state::State;
use crate::ops::turn::Work;
use crate::ops::webhooks::SUBSCRIPTIONS_MAX;
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
/// Deliveries under way at once: one of each subscription, so that none waits for the receivers of others.
/// Each costs a connection and, with the events and at most 64 KiB of an answer, a few hundred KiB.
const AT_ONCE: usize = SUBSCRIPTIONS_MAX;
/// With more events than these before it, a subscription is behind: a look at fewer is short.
const BEHIND: u64 = 100;
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
    let mut begun_last = String::new();
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
        let Ok((due, last)) = state.store.read(false, deliver::due).await else { continue };
        let mut due: Vec<_> = due.into_iter().filter(|place| !is_passed_over(&looked, place, last)).collect();
        // They go round, so that none waits for ever while deliveries of deleted ones have the places.
        let behind = due.partition_point(|place| place.subscription <= begun_last);
        due.rotate_left(behind);
        if (due.is_empty() && under_way.is_empty()) || !ours.is_it(&state.store).await {
            continue;
        }
        for place in due {
            if under_way.len() < AT_ONCE && under_way.insert(place.subscription.clone()) {
                let from = looked.get(&place.subscription).filter(|(of, _)| *of == place);
                let from = from.map_or(place.position, |(_, upto)| *upto);
                begun_last.clone_from(&place.subscription);
                at_work.spawn(serve(state.clone(), place, from, last));
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

/// Delivers pending events of a subscription, of which `last` is the last that is known; returns its place
/// afterwards, and how far was searched in vain.
async fn serve(state: Arc<State>, mut place: Place, mut looked: u64, last: u64) -> (Place, u64) {
    let news = state.auditor.news();
    loop {
        let last = last.max(*news.borrow());
        match step(&state, &place, looked, last.saturating_sub(looked) > BEHIND).await {
            Ok(Step::Again(upto)) => looked = upto,
            Ok(Step::Moved(now)) => (looked, place) = (now.position, now),
            // Others may wait for a place meanwhile.
            Ok(Step::Gather(now)) => {
                let upto = now.position;
                return (now, upto);
            }
            Ok(Step::End(upto)) => return (place, upto),
            Err(fault) => {
                tracing::debug!(subscription = place.subscription, %fault, "a webhook waits");
                return (place, looked);
            }
        }
        // A look at the embedded store waits for nothing, and the thread has requests to serve as well.
        tokio::task::yield_now().await;
    }
}

/// What to do next for a subscription.
enum Step {
    /// From behind this event on.
    Again(u64),
    /// From another place on.
    Moved(Place),
    /// The same, once more events may have come: those up to there were few.
    Gather(Place),
    /// Not at present; everything up to this event was looked at.
    End(u64),
}

async fn step(state: &Arc<State>, place: &Place, looked: u64, behind: bool) -> Result<Step, Fault> {
    match look(state, place, looked, behind).await? {
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
            let begun = batch.clone();
            if !write(&state.store, move |tx| deliver::begin(tx, &begun)).await? {
                return Ok(Step::End(looked));
            }
            let outcome = send(*message).await;
            state.counts.webhook(outcome.is_ok());
            let taken = outcome.is_ok();
            let (now, has_room) = (batch.delivered(), batch.has_room());
            write(&state.store, move |tx| deliver::settle(tx, &batch, &outcome)).await?;
            if !taken {
                return Ok(Step::End(looked));
            }
            Ok(if has_room { Step::Gather(now) } else { Step::Moved(now) })
        }
    }
}

/// Looks for the next events of a subscription.
async fn look(state: &Arc<State>, place: &Place, looked: u64, behind: bool) -> Result<Next, Fault> {
    let (shared, from) = (state.clone(), place.clone());
    let look = async move {
        let reader = shared.clone();
        let next = move |tx: &mut Tx<'_>| deliver::next(tx, &reader.callers, &reader.config, &from, looked);
        shared.store.read(false, next).await
    };
    if !behind {
        return look.await;
    }
    let _turn = state.older_events.acquire().await;
    state.patient.run(look).await
}

async fn write<F, T>(store: &Store, mut work: F) -> Result<T, Fault>
where
    F: FnMut(&mut Tx<'_>) -> Result<T, Fault> + Send + 'static,
    T: Send + 'static,
{
    let named = move |tx: &mut Tx<'_>| {
        tx.set_actor(SYSTEM_ACTOR);
        work(tx)
    };
    store.write("webhooks", named).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;
    use crate::config::{Auth, Config};
    use crate::http::heavy::Heavy;
    use crate::http::patient::Patient;
    use crate::http::routes::Routes;
    use crate::store::embedded::{Embedded, Options};
    use crate::store::records::{AuditEnd, StoredAudit, StoredSubscription};
    use mfa_shared::api::audit::AuditRecord;
    use serde_json::json;

    /// A daemon with this many records of the trail, and a subscription to none of them at its begin.
    async fn state(folder: &std::path::Path, records: u64) -> Arc<State> {
        let engine = Embedded::open(Options::new(folder.join("data"))).unwrap();
        let store = Store::new(engine, Clock::system(), false);
        let now = store.clock().now();
        let stored: StoredSubscription = serde_json::from_value(json!({
            "identifier": "sync", "url": "https://example.org", "kinds": ["office"], "secret": "k:",
            "state": "ACTIVE", "reason": null, "user": null, "application": null, "createdBy": "guest",
            "createdOn": now, "position": 0, "moved": 0, "failures": 0, "failingSince": null,
            "nextTryOn": null, "upto": null, "tries": 0,
        }))
        .unwrap();
        let put = move |tx: &mut Tx<'_>| {
            for number in 1..=records {
                let mut record = AuditRecord::of("CreateCustomer", now);
                record.sequence = i64::try_from(number).ok();
                tx.put(&StoredAudit(record))?;
            }
            tx.put(&AuditEnd { first: 1, sequence: records, hash: String::new(), occurred_on: now })?;
            tx.put(&stored)
        };
        store.write("test", put).await.unwrap();
        let mut config = Config::new(folder.join("data"));
        config.auth = Auth::Off;
        let threads = (Heavy::start().unwrap(), Patient::start().unwrap());
        Arc::new(State::new(store, config, Routes::new(Vec::new()), "test".to_owned(), threads))
    }

    /// How far the subscription comes while all turns to read older events are taken, and then.
    async fn reached(records: u64) -> (Option<u64>, u64) {
        let folder = tempfile::tempdir().unwrap();
        let state = state(folder.path(), records).await;
        let place = Place { subscription: "sync".to_owned(), moved: 0, position: 0 };
        let all = u32::try_from(state.older_events.available_permits()).unwrap();
        let turns = state.older_events.acquire_many(all).await.unwrap();
        let mut served = tokio::spawn(serve(state.clone(), place, 0, records));
        let meanwhile = tokio::time::timeout(Duration::from_millis(300), &mut served).await;
        drop(turns);
        let meanwhile = meanwhile.ok().map(|served| served.unwrap().1);
        let upto = match meanwhile {
            Some(upto) => upto,
            None => served.await.unwrap().1,
        };
        (meanwhile, upto)
    }

    #[tokio::test]
    async fn a_webhook_far_behind_takes_its_turn_with_readers_of_older_events() {
        assert_eq!(reached(BEHIND + 700).await, (None, BEHIND + 700));
        assert_eq!(reached(BEHIND).await, (Some(BEHIND), BEHIND), "news waits for none of them");
    }
}
