//! `POST /batch`: operations of other rows, carried out one after the other in one transaction.
//!
//! Every operation goes through the same steps as a request of its own: the permission check of `access.rs`,
//! decoding, idempotency key, tag, operation. What the caller holds is looked up once, before the first of
//! them, as in every request; so nothing that a batch itself grants counts within it.

mod part;
mod results;

use super::access::{self, AccessRequest};
use super::head::Head;
use super::idempotency::Repeatable;
use super::load::Class;
use super::payload::Payload;
use super::reply::{Content, Reply};
use super::request::{READS_TOO_LONG, Request};
use super::room::Taken;
use super::state::State;
use super::under_way::Turn;
use super::unread::Growing;
use super::{dry_run, duplicates, existing_only, rate};
use crate::clock::Deadline;
use crate::domain::network::client_of;
use crate::ops::Caller;
use crate::ops::listing::json;
use crate::store::Tx;
use mfa_shared::api::batch::*;
use mfa_shared::fault::Fault;
use mfa_shared::node::Node;
use mfa_shared::query::Params;
use mfa_shared::time::Date;
use mfa_shared::wire::{Body, Json, RawBody};
use part::{Part, Parts};
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};

/// A batch of so many operations goes through so many records that it would conflict (`Engine::write_alone`).
const ALONE_FROM: usize = 10;

/// Carries a batch out.
pub async fn answer(
    state: &Arc<State>,
    head: &Head,
    asked: AccessRequest,
    caller: &Caller,
    repeatable: Result<Option<Repeatable>, Fault>,
    payload: &Payload,
) -> Result<Reply, Fault> {
    let kept = matches!(repeatable, Ok(Some(_)));
    let order = Order {
        parts: read(state, payload)
            .and_then(|batch| Parts::prepare(state, head, &asked, batch))
            .map(|parts| if kept { parts.without_answers() } else { parts }),
        state: state.clone(),
        request_id: head.request_id.clone(),
        dry_run: dry_run::asked(&head.headers),
        existing_only: existing_only::asked(&head.headers),
        asked,
        sender: sender(head, caller),
        from: head.origin,
        repeatable,
        ended_by: AtomicUsize::new(usize::MAX),
        noted: AtomicBool::new(false),
        reads: AtomicBool::new(false),
        _room: payload.room.clone(),
    };
    let order = Arc::new(order);
    if let Ok(parts) = &order.parts {
        rate::count_more(state, head, &order.asked, parts.list.len().saturating_sub(1) as u64);
    }
    let only_reads = order.changes_nothing().await?;
    // The changes of others, which wait for the store alone, come before the next batch of the same caller.
    let turn = if only_reads {
        None
    } else {
        Some(state.batches.enter(order.sender.clone(), order.operations()).await)
    };
    let _pass = state.loads.enter(if only_reads { Class::List } else { Class::Change })?;
    order.clone().judge(head.origin).await?;
    let carried_out = if only_reads { order.read().await } else { order.write(turn).await };
    let result = carried_out.as_ref().map(|(.., done)| {
        // What was refused the first time is recorded.
        done.as_ref().filter(|done| !done.repeated).map(|done| &done.result)
    });
    order.record_refusals(head, result);
    let (mut reply, room, done) = carried_out?;
    done.iter().for_each(|done| order.note_changed(&done.result));
    if let Some(mut done) = done
        && done.sees_others
        && order.name_duplicates(&mut done.result).await
    {
        reply.content = Content::Bytes(json(&done.result).into());
    }
    // Also where it is the first answer again.
    if matches!(order.dry_run, Ok(true)) {
        dry_run::mark(&mut reply);
    }
    if matches!(order.existing_only, Ok(true)) {
        existing_only::mark(&mut reply);
    }
    Ok(room.hold_done(reply))
}

/// Who sends a batch, for what each may have: without a login an address.
fn sender(head: &Head, caller: &Caller) -> String {
    match caller.token {
        Some(_) => caller.name.clone(),
        None => client_of(head.origin).to_string(),
    }
}

/// The operations. The body as it was taken apart takes many times its bytes, and is let go at once.
fn read(state: &State, payload: &Payload) -> Result<Batch, Fault> {
    let params = Params::default();
    let raw = RawBody::new(&params, &payload.bytes, state.store.clock().now().day());
    Json::<Batch>::read(&raw).map(|Json(batch)| batch)
}

/// A batch that is ready for its transaction.
struct Order {
    state: Arc<State>,
    request_id: String,
    asked: AccessRequest,
    sender: String,
    from: IpAddr,
    repeatable: Result<Option<Repeatable>, Fault>,
    dry_run: Result<bool, Fault>,
    existing_only: Result<bool, Fault>,
    parts: Result<Parts, Fault>,
    /// The operation that ended the batch.
    ended_by: AtomicUsize,
    /// Whether its answer is noted as one that is remembered.
    noted: AtomicBool,
    /// Whether it is carried out as a read.
    reads: AtomicBool,
    _room: Option<Arc<Taken>>,
}

/// The answer, the room that it takes, and what was done where the answer can be read.
type CarriedOut = (Reply, Arc<Growing>, Option<Done>);

/// What was done.
struct Done {
    result: BatchResult,
    /// Whether this is the first answer again.
    repeated: bool,
    /// Whether the caller may see who may be the same person as a new customer.
    sees_others: bool,
}

impl Order {
    /// Reports to the audit trail the operations that the caller may not carry out.
    fn record_refusals(&self, head: &Head, done: Result<Option<&BatchResult>, &Fault>) {
        let (Ok(parts), Some(known), Ok(false)) = (&self.parts, head.noted.known(), &self.dry_run) else {
            return;
        };
        let record = |at: usize, code: &str| {
            let request = parts.list.get(at).and_then(|part| part.request.as_ref().ok());
            if let Some(trail) = request.and_then(|request| request.trail.as_ref()) {
                let now = self.state.store.clock().now();
                self.state.auditor.add(trail.refused(known, now, 403, code));
            }
        };
        match done {
            Ok(Some(done)) => {
                for (at, result) in done.results.iter().enumerate().filter(|(_, r)| r.status == 403) {
                    if let Some(Node::Text(code)) = result.problem.as_ref().and_then(|p| p.property("code")) {
                        record(at, code);
                    }
                }
            }
            Err(fault) if fault.kind.status == 403 => {
                let at = self.ended_by.load(SeqCst);
                if at < parts.list.len() {
                    record(at, fault.kind.code);
                    head.noted.mark_audited();
                }
            }
            _ => {}
        }
    }

    /// Hashes the passwords of the operations that the caller may carry out.
    async fn judge(self: Arc<Self>, from: IpAddr) -> Result<(), Fault> {
        let Ok(parts) = &self.parts else { return Ok(()) };
        if parts.secrets().next().is_none() {
            return Ok(());
        }
        let order = self.clone();
        let look = move |tx: &mut Tx<'_>| {
            let caller = access::admit(&order.state, tx, &order.asked)?;
            let Ok(parts) = &order.parts else { return Ok(Vec::new()) };
            let permit =
                |(request, _): (&Request, _)| access::permit(&order.state, &caller, &request.asked).is_ok();
            Ok(parts.secrets().map(permit).collect())
        };
        let permitted: Vec<bool> = self.state.store.read(false, look).await?;
        for ((_, secret), _) in parts.secrets().zip(permitted).filter(|(_, permitted)| *permitted) {
            secret.judge(&self.state.store, &self.state.heavy, from).await?;
        }
        Ok(())
    }

    /// Carries it out as a read: changes go on beside it, however much it reads, and it gives way to them as
    /// lists do.
    async fn read(self: &Arc<Self>) -> Result<CarriedOut, Fault> {
        let order = self.clone();
        let reads = async move {
            let deadline = Deadline::after(order.state.config.read_time);
            let store = order.state.store.clone();
            let read = move |tx: &mut Tx<'_>| tx.until(deadline, READS_TOO_LONG, |tx| order.carry_out(tx));
            store.read(true, read).await
        };
        self.state.patient.run(reads).await
    }

    /// Carries it out as a change. It is the caller's turn until it is answered, and where the client goes
    /// away, until the work has ended.
    async fn write(self: &Arc<Self>, turn: Option<Turn>) -> Result<CarriedOut, Fault> {
        let order = self.clone();
        let turn = Arc::new(turn);
        let held = turn.clone();
        let change = move |tx: &mut Tx<'_>| {
            let _held = &held;
            order.carry_out(tx)
        };
        let done =
            self.state.store.write_awaited(&self.request_id, self.operations() >= ALONE_FROM, change).await;
        drop(turn);
        done
    }

    /// Whether nothing is written, neither a change nor the record of a read. An operation that is refused
    /// before it begins, or that the caller may not carry out, changes nothing: reads beside it are as long
    /// as without it.
    async fn changes_nothing(self: &Arc<Self>) -> Result<bool, Fault> {
        let (Ok(None), Ok(parts)) = (&self.repeatable, &self.parts) else { return Ok(false) };
        let writes = |part: &Part| {
            let request = part.request.as_ref();
            request.is_ok_and(|request| !part.method.reads() || request.shows_secret())
        };
        if !parts.list.iter().any(writes) {
            self.reads.store(true, SeqCst);
            return Ok(true);
        }
        if !parts.list.iter().any(|part| part.method.reads()) {
            return Ok(false);
        }
        let order = self.clone();
        let look = move |tx: &mut Tx<'_>| {
            let caller = access::admit(&order.state, tx, &order.asked)?;
            let may = |part: &Part| {
                let request = part.request.as_ref();
                request.is_ok_and(|request| access::permit(&order.state, &caller, &request.asked).is_ok())
            };
            Ok(!order.parts.iter().flat_map(|parts| &parts.list).any(|part| writes(part) && may(part)))
        };
        let nothing = self.state.store.read(false, look).await?;
        self.reads.store(nothing, SeqCst);
        Ok(nothing)
    }

    /// How many operations it has.
    fn operations(&self) -> usize {
        self.parts.as_ref().map_or(0, |parts| parts.list.len())
    }

    /// Carries all operations out.
    fn carry_out(&self, tx: &mut Tx<'_>) -> Result<CarriedOut, Fault> {
        let room = self.state.unread.begin(self.from, ANSWER_BYTES_MAX);
        tx.limits.room = Some(room.clone());
        let caller = access::admit(&self.state, tx, &self.asked)?;
        tx.set_actor(&caller.actor);
        let repeatable = self.repeatable.as_ref().map_err(Clone::clone)?;
        if let Some(repeatable) = repeatable
            && let Some(first) = repeatable.recall_lasting(tx, &caller.actor, self.state.store.is_shared())?
        {
            room.grow_to(first.bytes().len())?;
            let result = first_result(&first, tx.now().day());
            return Ok((first, room, result.map(|result| self.done(&caller, result, true))));
        }
        let parts = self.parts.as_ref().map_err(Clone::clone)?;
        let tried = self.dry_run.clone()?;
        if tried {
            tx.set_dry_run();
        } else if repeatable.is_some() {
            self.state.kept.check(&self.sender, self.state.store.clock().elapsed())?;
        }
        if self.existing_only.clone()? {
            existing_only::begin(tx, &caller);
        }
        let result = BatchResult { results: self.results(tx, &caller, parts, &room)? };
        let reply = Reply::json(json(&result));
        room.grow_to(reply.bytes().len())?;
        // A batch of which everything was refused has changed nothing, and may be refused again.
        let all_refused = !result.results.is_empty() && result.results.iter().all(|r| r.problem.is_some());
        if let Some(repeatable) = repeatable.as_ref().filter(|_| !all_refused) {
            repeatable.remember(tx, &caller.actor, &reply)?;
            // The transaction may begin anew, and the client may be gone when it has ended.
            if !tried && !self.noted.swap(true, SeqCst) {
                let changes = result.results.iter().filter(|r| r.problem.is_none() && !r.replayed).count();
                let now = self.state.store.clock().elapsed();
                self.state.kept.note(&self.sender, reply.bytes().len(), changes, now);
            }
        }
        Ok((reply, room, Some(self.done(&caller, result, false))))
    }

    fn done(&self, caller: &Caller, result: BatchResult, repeated: bool) -> Done {
        Done { result, repeated, sees_others: duplicates::may_see_others(&self.state, caller) }
    }

    /// Notes what customers that were made or changed are known by now.
    fn note_changed(&self, result: &BatchResult) {
        let (Ok(parts), Ok(false)) = (&self.parts, &self.dry_run) else { return };
        for (part, _) in parts.list.iter().zip(&result.results).filter(|(_, result)| result.problem.is_none())
        {
            let Ok(request) = &part.request else { continue };
            request.said().into_iter().for_each(|customer| duplicates::note(&self.state, customer));
        }
    }

    /// Names in the results of new customers those who may be the same person; whether there are any.
    async fn name_duplicates(&self, done: &mut BatchResult) -> bool {
        let (Ok(parts), made) = (&self.parts, matches!(self.dry_run, Ok(false))) else { return false };
        let results = parts.list.iter().zip(&mut done.results);
        let (customers, mut results): (Vec<_>, Vec<_>) = results
            .filter(|(_, result)| result.problem.is_none())
            .filter_map(|(part, result)| Some((part.request.as_ref().ok()?.new_customer()?, result)))
            .unzip();
        let others = duplicates::others(&self.state, &customers, made).await;
        for (result, others) in results.iter_mut().zip(&others).filter(|(_, others)| !others.is_empty()) {
            result.possible_duplicates = Some(others.clone());
        }
        others.iter().any(|others| !others.is_empty())
    }
}

/// What a remembered answer says became of the operations.
fn first_result(first: &Reply, today: Date) -> Option<BatchResult> {
    let params = Params::default();
    Json::read(&RawBody::new(&params, first.bytes(), today)).ok().map(|Json(result)| result)
}
