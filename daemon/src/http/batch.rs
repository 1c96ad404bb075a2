//! `POST /batch`: operations of other rows, carried out one after the other in one transaction.
//!
//! Every operation goes through the same steps as a request of its own: the permission check of `access.rs`,
//! decoding, idempotency key, tag, operation. What the caller holds is looked up once, before the first of
//! them, as in every request; so nothing that a batch itself grants counts within it.

mod part;

use super::access::{self, AccessRequest};
use super::head::Head;
use super::idempotency::Repeatable;
use super::load::Class;
use super::payload::Payload;
use super::reply::{Content, Reply};
use super::request::{self, READS_TOO_LONG, Request};
use super::room::Taken;
use super::state::State;
use super::unread::Growing;
use super::{dry_run, duplicates, existing_only, rate};
use crate::clock::Deadline;
use crate::ops::Caller;
use crate::ops::listing::json;
use crate::store::Tx;
use mfa_shared::api::batch::*;
use mfa_shared::fault::{self, Fault, Problem};
use mfa_shared::node::Node;
use mfa_shared::query::Params;
use mfa_shared::time::Date;
use mfa_shared::wire::{Body, Json, RawBody};
use part::{Part, Parts};
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

/// The detail for a read that takes too long in the middle of changes.
const HOLDS_UP: &str = "reading this beside changes takes too long: send it as a request of its own, \
                        or in a batch that only reads";

/// All changes of a batch may take so long together: nobody else writes meanwhile.
const CHANGES_TOGETHER: Duration = Duration::from_secs(10);
const TOO_LONG: &str = "this batch takes too long: send fewer operations at once";

/// A batch of so many operations goes through so many records that it would conflict (`Engine::write_alone`).
const ALONE_FROM: usize = 10;

/// The refusals of a batch may take so many bytes with all the fields that are wrong: a kilobyte for each of
/// a thousand operations. Where there is an idempotency key, the answer is kept for a day.
const REFUSALS_BYTES_MAX: usize = 1024 * 1024;

/// All reads of a batch with changes may together take this many times what one of them may.
const READS_TOGETHER: u32 = 5;

/// Carries a batch out.
pub async fn answer(
    state: &Arc<State>,
    head: &Head,
    asked: AccessRequest,
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
        from: head.origin,
        repeatable,
        ended_by: AtomicUsize::new(usize::MAX),
        reads: AtomicBool::new(false),
        _room: payload.room.clone(),
    };
    let order = Arc::new(order);
    if let Ok(parts) = &order.parts {
        rate::count_more(state, head, &order.asked, parts.list.len().saturating_sub(1) as u64);
    }
    let only_reads = order.changes_nothing().await?;
    let _pass = state.loads.enter(if only_reads { Class::List } else { Class::Change })?;
    order.clone().judge(head.origin).await?;
    let running = order.clone();
    let carried_out = if only_reads {
        // Changes go on beside it, however much it reads, and it gives way to them as lists do.
        let shared = state.clone();
        let reads = async move {
            let deadline = Deadline::after(shared.config.read_time);
            let read = move |tx: &mut Tx<'_>| tx.until(deadline, READS_TOO_LONG, |tx| running.carry_out(tx));
            shared.store.read(true, read).await
        };
        state.patient.run(reads).await
    } else {
        let change = move |tx: &mut Tx<'_>| running.carry_out(tx);
        if order.operations() < ALONE_FROM {
            state.store.write(&head.request_id, change).await
        } else {
            state.store.write_alone(&head.request_id, change).await
        }
    };
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
    from: IpAddr,
    repeatable: Result<Option<Repeatable>, Fault>,
    dry_run: Result<bool, Fault>,
    existing_only: Result<bool, Fault>,
    parts: Result<Parts, Fault>,
    /// The operation that ended the batch.
    ended_by: AtomicUsize,
    /// Whether it is carried out as a read.
    reads: AtomicBool,
    _room: Option<Arc<Taken>>,
}

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
    fn carry_out(&self, tx: &mut Tx<'_>) -> Result<(Reply, Arc<Growing>, Option<Done>), Fault> {
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
        if self.dry_run.clone()? {
            tx.set_dry_run();
        }
        if self.existing_only.clone()? {
            tx.set_existing_only();
        }
        let result = BatchResult { results: self.results(tx, &caller, parts, &room)? };
        let reply = Reply::json(json(&result));
        room.grow_to(reply.bytes().len())?;
        // A batch of which everything was refused has changed nothing, and may be refused again.
        let all_refused = !result.results.is_empty() && result.results.iter().all(|r| r.problem.is_some());
        if let Some(repeatable) = repeatable.as_ref().filter(|_| !all_refused) {
            repeatable.remember(tx, &caller.actor, &reply)?;
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

    fn results(
        &self,
        tx: &mut Tx<'_>,
        caller: &Caller,
        parts: &Parts,
        room: &Growing,
    ) -> Result<Vec<OperationResult>, Fault> {
        let mut requests = Vec::with_capacity(parts.list.len());
        for part in &parts.list {
            let request = part.request.as_ref().map_err(Clone::clone);
            let permitted = match request {
                Ok(request) => access::permit(&self.state, caller, &request.asked).map(|()| request.clone()),
                Err(fault) => Err(fault),
            };
            requests.push(permitted);
        }
        let mut results = Vec::with_capacity(parts.list.len());
        let mut told = 0;
        let alone = self.reads.load(SeqCst);
        let time = self.state.config.batch_read_time;
        let mut left = time * READS_TOGETHER;
        let mut left_to_change = CHANGES_TOGETHER;
        for (index, (part, request)) in parts.list.iter().zip(requests).enumerate() {
            let done = request.and_then(|request| {
                tx.attempt(|tx| match self.dry_run {
                    Ok(true) if request.shows_secret() => Err(no_secret_in_dry_run()),
                    // The permission came after it was looked for.
                    _ if alone && (!part.method.reads() || request.shows_secret()) => {
                        let detail = "what you may do has changed at this moment; send this batch again";
                        Err(Fault::new(fault::UNAVAILABLE, detail).retry_after(1))
                    }
                    _ if part.method.reads() && !alone => {
                        let (together, deadline) = (Deadline::after(left), Deadline::after(time.min(left)));
                        let done = tx.until(deadline, HOLDS_UP, |tx| perform(tx, caller, &request, room));
                        left = together.left();
                        done
                    }
                    _ if !alone => {
                        let deadline = Deadline::after(left_to_change);
                        let done = tx.until(deadline, TOO_LONG, |tx| perform(tx, caller, &request, room));
                        left_to_change = deadline.left();
                        done
                    }
                    _ => perform(tx, caller, &request, room),
                })
            });
            let done = done.map_err(|fault| part.in_order(fault));
            match done {
                // What is no refusal of this one operation ends the whole batch.
                Err(fault) if parts.atomic || fault.kind.status >= 500 => {
                    self.ended_by.store(index, SeqCst);
                    return Err(fault.of_operation(index, part.method.as_str(), &part.path));
                }
                Err(fault) => results.push(self.refused(part, fault, &mut told)),
                Ok(reply) => results.push(succeeded(&reply)),
            }
        }
        Ok(results)
    }

    /// `told` is how many bytes the refusals have taken so far: those that would take too many are told
    /// without the fields that are wrong.
    fn refused(&self, part: &Part, fault: Fault, told: &mut usize) -> OperationResult {
        let status = fault.kind.status;
        let problem = |fault: &Fault| json(&Problem::new(fault, &part.path, &self.request_id));
        let whole = problem(&fault);
        let fits = *told + whole.len() <= REFUSALS_BYTES_MAX;
        let text = if fits { whole } else { problem(&fault.without_fields()) };
        *told += text.len();
        OperationResult {
            status: status.into(),
            location: None,
            etag: None,
            replayed: false,
            dangling_references: None,
            possible_duplicates: None,
            body: None,
            problem: Node::parse(&text).ok(),
        }
    }
}

/// What a remembered answer says became of the operations.
fn first_result(first: &Reply, today: Date) -> Option<BatchResult> {
    let params = Params::default();
    Json::read(&RawBody::new(&params, first.bytes(), today)).ok().map(|Json(result)| result)
}

/// The note of the read would be taken back together with everything else.
fn no_secret_in_dry_run() -> Fault {
    Fault::new(fault::NO_DRY_RUN, "a dry run shows no secret: read it without Dry-Run")
}

fn perform(tx: &mut Tx<'_>, caller: &Caller, request: &Request, room: &Growing) -> Result<Reply, Fault> {
    if !request.meta.method.reads() {
        // What a change looks at is no part of the answer.
        let room = tx.limits.room.take();
        let done = request.changed(tx, caller);
        tx.limits.room = room;
        return done;
    }
    let before = room.bytes();
    // A long array has taken its room already.
    let shown = request.shown(tx, caller);
    let shown = shown.and_then(|reply| room.read_to(before + reply.bytes().len()).map(|()| reply));
    if shown.is_err() {
        room.shrink_to(before);
    }
    shown
}

fn succeeded(reply: &Reply) -> OperationResult {
    let header =
        |wanted: &str| reply.headers.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.clone());
    OperationResult {
        status: reply.status.into(),
        location: header("location"),
        etag: header("etag"),
        replayed: header("idempotency-replayed").is_some(),
        dangling_references: header(request::DANGLING)
            .map(|fields| fields.split(", ").map(str::to_owned).collect()),
        possible_duplicates: None,
        body: Some(reply.bytes()).filter(|bytes| !bytes.is_empty()).and_then(|bytes| Node::parse(bytes).ok()),
        problem: None,
    }
}
