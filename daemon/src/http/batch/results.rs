//! What becomes of the operations of a batch, and how much all of them may take.

use super::super::access;
use super::super::existing_only;
use super::super::reply::Reply;
use super::super::request::Request;
use super::super::unread::Growing;
use super::Order;
use super::part::{Part, Parts};
use crate::clock::Deadline;
use crate::ops::Caller;
use crate::ops::listing::json;
use crate::store::Tx;
use mfa_shared::api::batch::OperationResult;
use mfa_shared::fault::{self, Fault, Problem};
use mfa_shared::node::Node;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

/// The detail for a read that takes too long in the middle of changes.
const HOLDS_UP: &str = "reading this beside changes takes too long: send it as a request of its own, \
                        or in a batch that only reads";

/// All changes of a batch may take so long together: nobody else writes meanwhile.
const CHANGES_TOGETHER: Duration = Duration::from_secs(10);
const TOO_LONG: &str = "this batch takes too long: send fewer operations at once";

/// All changes of a batch may read and write so many bytes of records together. Nobody else writes meanwhile;
/// and unlike a time, a thousand operations on records of the usual length fit on any machine.
const HANDLED_BYTES_MAX: usize = 128 * 1024 * 1024;

/// The refusals of a batch may take so many bytes with all the fields that are wrong: a kilobyte for each of
/// a thousand operations. Where there is an idempotency key, the answer is kept for a day.
const REFUSALS_BYTES_MAX: usize = 1024 * 1024;

/// All reads of a batch with changes may together take this many times what one of them may.
const READS_TOGETHER: u32 = 5;

impl Order {
    /// Carries the operations out, one after the other.
    pub(super) fn results(
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
            if !alone && tx.handled() > HANDLED_BYTES_MAX {
                return Err(too_much_handled());
            }
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

/// A client that halves the batch, as an import does, gets through: one operation alone is never refused so.
fn too_much_handled() -> Fault {
    let detail = format!(
        "the records that this batch reads and writes take more than {HANDLED_BYTES_MAX} bytes, so nothing \
         of it was done: send fewer operations at once"
    );
    Fault::new(fault::BODY_TOO_LARGE, detail)
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
        dangling_references: header(existing_only::DANGLING)
            .map(|fields| fields.split(", ").map(str::to_owned).collect()),
        possible_duplicates: None,
        body: Some(reply.bytes()).filter(|bytes| !bytes.is_empty()).and_then(|bytes| Node::parse(bytes).ok()),
        problem: None,
    }
}
