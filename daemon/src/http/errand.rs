//! Work outside the store, between two transactions: what is to be done is planned in one that reads, it is
//! done while no transaction is open, and its result is settled in one that writes.

use super::access::{self, AccessRequest};
use super::head::Head;
use super::idempotency::Repeatable;
use super::reply::Reply;
use super::room::Taken;
use super::route::{Act, Errand, Work};
use super::state::State;
use super::trail::Trail;
use super::{dry_run, existing_only};
use crate::ops::{Caller, Given, OrderName};
use crate::random;
use crate::store::Tx;
use mfa_shared::fault::{self, Fault};
use mfa_shared::wire::AnswerKind;
use std::fmt;
use std::sync::Arc;

/// The content of a request for an errand.
pub struct Ordered {
    /// The caller, and the request.
    pub asked: AccessRequest,
    /// Its record for the audit trail.
    pub trail: Arc<Trail>,
    /// Its idempotency key.
    pub repeatable: Result<Option<Repeatable>, Fault>,
    /// The errand itself.
    pub errand: Result<Errand, Fault>,
    /// The room that its body takes.
    pub room: Option<Arc<Taken>>,
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

/// Runs the errand of a request, and says in its answer how.
pub async fn run(state: &Arc<State>, head: &Head, ordered: Ordered) -> Result<Reply, Fault> {
    // An errand names no other records.
    let existing_only = existing_only::asked(&head.headers)?;
    let mut reply = answer(state, head, ordered).await?;
    if matches!(dry_run::asked(&head.headers), Ok(true)) {
        dry_run::mark(&mut reply);
    }
    if existing_only {
        existing_only::mark(&mut reply);
    }
    Ok(reply)
}

/// What is to be done, unless it was done before.
fn planned(
    tx: &mut Tx<'_>,
    state: &State,
    order: &Ordered,
    dry_run: &Result<bool, Fault>,
) -> Result<Planned, Fault> {
    let caller = access::admit(state, tx, &order.asked)?;
    let repeatable = order.repeatable.as_ref().map_err(Clone::clone)?;
    if let Some(repeatable) = repeatable
        && let Some(first) = repeatable.recall(tx, &caller.actor)?
    {
        return Ok(Planned::Before(first));
    }
    dry_run.clone()?;
    let errand = order.errand.as_ref().map_err(Clone::clone)?;
    let name = match repeatable {
        Some(repeatable) => repeatable.order(tx, &caller.actor)?,
        None => OrderName::new(vec![random::hex::<8>()]),
    };
    let act = errand(tx, &caller, Given { config: &state.config, order: &name })?;
    Ok(Planned::Act(caller, act))
}

/// The first answer to a repeated request; see [`Repeatable::recall_lasting`].
async fn lasting(
    state: &Arc<State>,
    head: &Head,
    ordered: &Arc<Ordered>,
    first: Reply,
) -> Result<Reply, Fault> {
    if !state.store.is_shared() {
        return Ok(first);
    }
    let (shared, order) = (state.clone(), ordered.clone());
    let write = move |tx: &mut Tx<'_>| {
        let caller = access::admit(&shared, tx, &order.asked)?;
        tx.set_actor(&caller.actor);
        let repeatable = order.repeatable.as_ref().map_err(Clone::clone)?;
        repeatable.as_ref().map_or(Ok(None), |repeatable| repeatable.recall_lasting(tx, &caller.actor, true))
    };
    Ok(state.store.write(&head.request_id, write).await?.unwrap_or(first))
}

/// A dry run ends where the work outside the store would begin.
async fn answer(state: &Arc<State>, head: &Head, ordered: Ordered) -> Result<Reply, Fault> {
    let dry_run = dry_run::asked(&head.headers);
    let ordered = Arc::new(ordered);
    let turn = match &ordered.repeatable {
        Ok(Some(repeatable)) => {
            let name = (ordered.asked.token.clone(), repeatable.key().to_owned());
            Some(state.errands.enter(name, 1).await)
        }
        _ => None,
    };
    let (shared, order) = (state.clone(), ordered.clone());
    let plan = move |tx: &mut Tx<'_>| planned(tx, &shared, &order, &dry_run);
    let (caller, act) = match state.store.read(false, plan).await? {
        Planned::Before(first) => return lasting(state, head, &ordered, first).await,
        Planned::Act(caller, act) => (caller, act),
    };
    if dry_run::asked(&head.headers)? {
        // What an errand brings back is known only afterwards; that it is accepted is known before.
        let status = if act.answer == AnswerKind::Accepted { 202 } else { 204 };
        return Ok(Reply::empty(status));
    }
    let is_message = act.work == Work::Message;
    let message = is_message.then(|| state.messages.begin(&caller.actor)).transpose()?;
    let (store, shared) = (state.store.clone(), state.clone());
    let request_id = head.request_id.clone();
    let trail = ordered.trail.clone();
    // An errand is settled even if its client goes away.
    let errand = tokio::spawn(async move {
        let _held = (turn, message);
        let run = (act.run)(store.clone());
        let settle = if act.work == Work::Long {
            shared.patient.run(async { Ok(run.await) }).await?
        } else {
            run.await
        };
        let write = move |tx: &mut Tx<'_>| {
            tx.set_actor(&caller.actor);
            let reply = match settle(tx, &caller) {
                Ok(reply) => reply,
                Err(fault) => {
                    trail.record_failure(tx, &caller, &fault);
                    return Err(fault);
                }
            };
            trail.record_errand(tx, &caller, &reply)?;
            let Ok(Some(repeatable)) = &ordered.repeatable else { return Ok(reply) };
            // Another daemon may have done the same meanwhile, or the key may have gone to another request.
            // What was done here stands in the trail all the same.
            match repeatable.recall(tx, &caller.actor) {
                Ok(None) => repeatable.remember(tx, &caller.actor, &reply)?,
                Ok(Some(first)) => return Ok(first),
                Err(fault) if fault.kind == fault::IDEMPOTENCY_KEY_REUSED => {}
                Err(fault) => return Err(fault),
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
