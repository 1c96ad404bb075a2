//! Work outside the store, between two transactions: what is to be done is planned in one that reads, it is
//! done while no transaction is open, and what came of it is settled in one that writes.

use super::access::{self, Asked};
use super::answer::Head;
use super::idempotency::Repeatable;
use super::reply::{IntoReply, Reply};
use super::route::{Behind, Route, Run};
use super::state::State;
use super::trail::Trail;
use super::{dry_run, existing_only};
use crate::config::Config;
use crate::ops::Caller;
use crate::store::{Store, Tx};
use mfa_shared::endpoint::Endpoint;
use mfa_shared::fault::{self, Fault};
use mfa_shared::wire::{AnswerKind, RawBody};
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

type Acting = Pin<Box<dyn Future<Output = Run> + Send>>;

/// What is to be done outside the store; it ends in what settles it.
pub struct Act {
    run: Box<dyn FnOnce(Store) -> Acting + Send>,
    /// What it answers when it succeeds.
    answer: AnswerKind,
}

/// A decoded request that plans its errand.
pub type Errand = Box<dyn Fn(&mut Tx<'_>, &Caller, &Config) -> Result<Act, Fault> + Send + Sync>;

/// Reads the errand of a request.
pub type PrepareErrand = Box<dyn Fn(Vec<String>, &RawBody<'_>) -> Result<Errand, Fault> + Send + Sync>;

impl fmt::Debug for Act {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Act").finish_non_exhaustive()
    }
}

type Plan<E, P> = fn(&mut Tx<'_>, &Caller, &Config, &E, &<E as Endpoint>::Body) -> Result<P, Fault>;
type Settle<E, O, R> = fn(&mut Tx<'_>, &Caller, &E, &O) -> Result<R, Fault>;

/// Joins a row with the three steps of its errand; between the first and the last it may run transactions of
/// its own. A refusal in `settle` keeps what was written with [`Tx::keep_when_refused`] and is never
/// remembered as the answer to an idempotency key.
pub fn errand<E, P, O, R, F>(plan: Plan<E, P>, act: fn(P, Store) -> F, settle: Settle<E, O, R>) -> Route
where
    E: Endpoint,
    P: Send + 'static,
    O: Send + Sync + 'static,
    R: IntoReply<E::Answer> + 'static,
    F: Future<Output = O> + Send + 'static,
{
    let prepare = move |params: Vec<String>, raw: &RawBody<'_>| -> Result<Errand, Fault> {
        let endpoint = Arc::new(E::from_params(params));
        let body = endpoint.read(raw)?;
        Ok(Box::new(move |tx: &mut Tx<'_>, caller: &Caller, config: &Config| {
            let planned = plan(tx, caller, config, &endpoint, &body)?;
            let endpoint = endpoint.clone();
            let run = Box::new(move |store| -> Acting {
                Box::pin(async move {
                    let outcome = act(planned, store).await;
                    let run = move |tx: &mut Tx<'_>, caller: &Caller| {
                        settle(tx, caller, &endpoint, &outcome).map(IntoReply::into_reply)
                    };
                    Box::new(run) as Run
                })
            });
            Ok(Act { run, answer: E::META.answer.kind })
        }))
    };
    Route { meta: E::META, behind: Behind::Errand(Box::new(prepare)) }
}

/// What a request for an errand brings.
pub struct Ordered {
    /// Who asks, and for what.
    pub asked: Asked,
    /// What the audit trail says of it.
    pub trail: Arc<Trail>,
    /// Its idempotency key.
    pub repeatable: Result<Option<Repeatable>, Fault>,
    /// The errand itself.
    pub errand: Result<Errand, Fault>,
}

impl fmt::Debug for Ordered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ordered").field("asked", &self.asked).finish_non_exhaustive()
    }
}

enum Planned {
    Before(Reply),
    Act(Arc<Caller>, Act),
}

/// Runs the errand of a request. A dry run ends where the work outside the store would begin.
pub async fn run(state: &Arc<State>, head: &Head, ordered: Ordered) -> Result<Reply, Fault> {
    let dry_run = dry_run::asked(&head.headers);
    // An errand names no other records.
    let existing_only = existing_only::asked(&head.headers)?;
    let ordered = Arc::new(ordered);
    let (shared, order) = (state.clone(), ordered.clone());
    let plan = move |tx: &mut Tx<'_>| {
        let caller = access::admit(&shared, tx, &order.asked)?;
        if let Some(repeatable) = order.repeatable.as_ref().map_err(Clone::clone)?
            && let Some(first) = repeatable.recall(tx, &caller.actor)?
        {
            return Ok(Planned::Before(first));
        }
        dry_run.clone()?;
        let errand = order.errand.as_ref().map_err(Clone::clone)?;
        let act = errand(tx, &caller, &shared.config)?;
        Ok(Planned::Act(caller, act))
    };
    let (caller, act) = match state.store.read(false, plan).await? {
        Planned::Before(first) => return Ok(first),
        Planned::Act(caller, act) => (caller, act),
    };
    if dry_run::asked(&head.headers)? {
        // What an errand brings back is known only afterwards; that it is accepted is known before.
        let status = if act.answer == AnswerKind::Accepted { 202 } else { 204 };
        let mut reply = Reply::empty(status);
        dry_run::mark(&mut reply);
        if existing_only {
            existing_only::mark(&mut reply);
        }
        return Ok(reply);
    }
    let (store, request_id) = (state.store.clone(), head.request_id.clone());
    let trail = ordered.trail.clone();
    // A client who goes away leaves an errand behind that still has to be settled.
    let errand = tokio::spawn(async move {
        let settle = (act.run)(store.clone()).await;
        let write = move |tx: &mut Tx<'_>| {
            tx.set_actor(&caller.actor);
            let mut reply = match settle(tx, &caller) {
                Ok(reply) => reply,
                Err(fault) => {
                    trail.tell_failure(tx, &caller, &fault);
                    return Err(fault);
                }
            };
            trail.tell_errand(tx, &caller, &reply)?;
            if existing_only {
                existing_only::mark(&mut reply);
            }
            if let Ok(Some(repeatable)) = &ordered.repeatable {
                repeatable.remember(tx, &caller.actor, &reply)?;
            }
            Ok(reply)
        };
        store.write(&request_id, write).await
    });
    errand.await.unwrap_or_else(|error| {
        tracing::error!(%error, "an errand ended by a defect");
        Err(Fault::new(fault::INTERNAL, "the work outside the store ended by a defect"))
    })
}
