//! A request of an operation, ready for its transaction: recall, decode, check the tag, run, remember.

use super::access::{self, AccessRequest};
use super::duplicates;
use super::head::Head;
use super::idempotency::{self, Repeatable};
use super::payload::Payload;
use super::reply::{Content, Reply};
use super::response::{Chunks, respond, stream};
use super::room::Taken;
use super::route::{Handler, Prepared, Route, Tagged};
use super::routes::Found;
use super::said::SaidCustomer;
use super::state::State;
use super::trail::Trail;
use super::{dry_run, existing_only, image, tag};
use crate::clock::Deadline;
use crate::ops::list::Cursor;
use crate::ops::{Caller, gateways};
use crate::shelves::Noun;
use crate::store::Tx;
use crate::store::objects::Draft;
use mfa_shared::api::answers_secret;
use mfa_shared::api::applications::SetSignature;
use mfa_shared::api::customers::CreateCustomer;
use mfa_shared::api::gateways::{UpdateEmailConfiguration, UpdateSmsConfiguration};
use mfa_shared::api::second_factor::{BeginSecondFactor, DeleteSecondFactor, EnableSecondFactor};
use mfa_shared::endpoint::{Endpoint, Meta, Method};
use mfa_shared::fault::{self, Fault};
use mfa_shared::node::Node;
use mfa_shared::query::Params;
use mfa_shared::wire::{NDJSON_TYPE, RawBody};
use std::sync::Arc;
use warp::http::header::ACCEPT;
use warp::http::{HeaderMap, Method as HttpMethod};
use warp::reply::Response;

/// The detail for a read that takes longer than one moment is kept.
pub(super) const READS_TOO_LONG: &str = "the read takes more than 60 seconds, the longest for one moment: \
                                        ask for a page or a shorter period, or export";

/// How often an image is looked for that others replace all the time.
const IMAGE_TRIES: usize = 10;

/// The idempotency key of a request, with all that makes it this request.
pub fn repeatable(
    head: &Head,
    found: &Found<'_>,
    route: &Route,
    bytes: &[u8],
) -> Result<Option<Repeatable>, Fault> {
    if !head.headers.contains_key("idempotency-key") {
        return Ok(None);
    }
    let path = found.segments.join("\0");
    let method = route.meta.method.as_str();
    let query = idempotency::plain(&head.query);
    let parts: [&[u8]; 4] = [method.as_bytes(), path.as_bytes(), query.as_bytes(), bytes];
    Repeatable::read(&head.headers, &parts)
}

/// A request that is ready to run in a transaction.
pub struct Request {
    /// The daemon.
    pub state: Arc<State>,
    /// The caller, and the request.
    pub asked: AccessRequest,
    /// The row.
    pub meta: Meta,
    repeatable: Result<Option<Repeatable>, Fault>,
    /// The decoded request, or what is wrong with it.
    pub prepared: Result<Prepared, Fault>,
    /// A body with bad fields of which more can be said beside the stored record.
    bad_body: Option<Arc<Node>>,
    dry_run: Result<bool, Fault>,
    existing_only: Result<bool, Fault>,
    tagged: Option<Tagged>,
    own_tag: bool,
    if_match: Option<Vec<String>>,
    if_none_match: Option<Vec<String>>,
    /// Whether a list is streamed as lines.
    pub lines: bool,
    /// Whose order in memory has the page of a list.
    pub noun: Option<Noun>,
    /// Its record for the audit trail; none for a plain read.
    pub trail: Option<Trail>,
    _room: Option<Arc<Taken>>,
}

impl Request {
    /// Decodes a request.
    pub fn prepare(
        state: &Arc<State>,
        head: &Head,
        asked: AccessRequest,
        found: &Found<'_>,
        route: &Arc<Route>,
        payload: &Payload,
    ) -> Arc<Self> {
        let meta = route.meta;
        let repeatable = if meta.method.reads() {
            Ok(None)
        } else {
            // Forms are compared by their parts, not by the text between them.
            let bytes = payload.form.as_ref().map_or(payload.bytes.as_slice(), |form| &form.digest);
            let repeatable = repeatable(head, found, route, bytes);
            // What is shown once is not kept for a repetition, but a key is a key.
            repeatable.map(|repeatable| repeatable.filter(|_| !answers_secret(&meta)))
        };
        let params = Params::parse(&head.query);
        let form = payload.form.as_ref().map(|form| &form.arrived);
        let today = state.store.clock().now().day();
        let raw = RawBody::new(&params, &payload.bytes, today).with_form(form);
        let prepared = match &route.handler {
            Handler::Operation(prepare) => prepare(found.params.clone(), &raw),
            Handler::Status(_)
            | Handler::Login
            | Handler::Errand(_)
            | Handler::Batch
            | Handler::Search
            | Handler::Events
            | Handler::Metrics
            | Handler::Backup => {
                Err(Fault::new(fault::INTERNAL, "the handler of this row is not an operation"))
            }
        };
        let bad_body = raw.node().ok().filter(|_| prepared.is_err() && looks_further(&meta)).cloned();
        let own_tag = meta.tag == Some(meta.name);
        let by_path = meta.tag.filter(|_| !own_tag).map(|name| (name, found.params.clone()));
        let addressed = prepared.as_ref().ok().and_then(|prepared| prepared.addressed.clone());
        let named = addressed.clone().or(by_path);
        let tagged = named.and_then(|(name, params)| {
            let route = state.routes.by_name(name)?;
            Tagged::prepare(route, &params)
        });
        let lines = meta.lists() && accepts(&head.headers, NDJSON_TYPE);
        let noted = matches!(&prepared, Ok(Prepared { note: Some(_), .. }));
        Arc::new(Self {
            state: state.clone(),
            asked,
            meta,
            repeatable,
            prepared,
            bad_body,
            dry_run: match dry_run::asked(&head.headers) {
                _ if meta.method.reads() => Ok(false),
                Ok(true) if tries_code(&meta) => Err(no_dry_run()),
                asked => asked,
            },
            existing_only: existing_only::asked(&head.headers),
            tagged,
            own_tag,
            if_match: tag::listed(&head.headers, "if-match"),
            if_none_match: tag::listed(&head.headers, "if-none-match"),
            lines,
            noun: Noun::of(meta.name, &params),
            trail: (!meta.method.reads() || noted || head.place.is_some())
                .then(|| Trail::of(head, meta, &found.params, Some(&raw)).addressed(addressed.as_ref())),
            _room: payload.room.clone(),
        })
    }

    /// Answers a request that reads.
    pub async fn read(self: Arc<Self>, long: bool, head: &Head) -> Result<Response, Fault> {
        let mut tries = 0;
        loop {
            let (reply, stream) = self.clone().look(long, head).await?;
            let Content::Image(hash) = &reply.content else {
                return Ok(respond(reply, stream));
            };
            if let Some(image) = self.state.store.open_image(hash).await? {
                let sent = (head.method != HttpMethod::HEAD).then(|| image::stream(image));
                return Ok(respond(reply, sent));
            }
            // The image was replaced or removed after the record was read: the record says which.
            tries += 1;
            if tries == IMAGE_TRIES {
                return Err(self.state.store.image_missing(hash));
            }
        }
    }

    /// Reads in one transaction; only the bytes of an image are left.
    async fn look(self: Arc<Self>, long: bool, head: &Head) -> Result<(Reply, Option<Chunks>), Fault> {
        let (request, from) = (self.clone(), head.origin);
        let read = move |tx: &mut Tx<'_>| {
            let caller = access::admit(&request.state, tx, &request.asked)?;
            let deadline = Deadline::after(request.state.config.read_time);
            let room = request.state.unread.begin(from, usize::MAX);
            tx.limits.room = Some(room.clone());
            let (reply, begin) = tx.until(deadline, READS_TOO_LONG, |tx| {
                let reply = request.shown(tx, &caller)?;
                let begin = match &reply.content {
                    Content::List(list) => list.begin(tx)?,
                    _ => Cursor::End,
                };
                Ok((reply, begin))
            })?;
            Ok((room.hold(reply)?, begin, room))
        };
        let store = &self.state.store;
        let (reply, begin, room) = match &self.prepared {
            Ok(Prepared { note: Some(_), .. }) => store.write(&head.request_id, read).await?,
            Ok(_) if self.own_tag && !long => store.read_rehearsed(false, read).await?,
            _ => store.read(long, read).await?,
        };
        let stream = match &reply.content {
            Content::List(list) => Some(stream(self.state.store.clone(), list.clone(), begin, room)),
            _ => None,
        };
        Ok((reply, stream))
    }

    /// The customer that it makes or changes, where others may be like it afterwards.
    pub fn said(&self) -> Option<&SaidCustomer> {
        self.prepared.as_ref().ok()?.said.as_ref()
    }

    /// The customer that it makes, if it makes one.
    pub fn new_customer(&self) -> Option<&SaidCustomer> {
        self.said().filter(|_| self.meta.name == CreateCustomer::META.name)
    }

    /// Whether it is a read of a secret, which is always noted in the audit trail.
    pub fn shows_secret(&self) -> bool {
        matches!(&self.prepared, Ok(Prepared { note: Some(_), .. }))
    }

    /// Reads in a transaction of an admitted caller.
    pub fn shown(&self, tx: &mut Tx<'_>, caller: &Caller) -> Result<Reply, Fault> {
        let mut reply = self.run(tx, caller)?.read(tx, self.lines)?;
        let tag = match &self.tagged {
            Some(tagged) => Some(tagged.read(tx, caller)?),
            None => self.own_tag.then(|| reply.tag(tx)).transpose()?,
        };
        let is_known =
            |tag: &String| self.if_none_match.as_ref().is_some_and(|tags| tag::none_match(tags, tag));
        let unchanged = tag.as_ref().is_some_and(is_known);
        // Where no body goes out, no secret was shown.
        if let Ok(Prepared { note: Some(note), .. }) = &self.prepared
            && !unchanged
            && !self.asked.head
        {
            tx.set_actor(&caller.actor);
            note(tx, caller)?;
            self.trail.as_ref().map_or(Ok(()), |trail| trail.record_look(tx, caller, &reply))?;
        }
        if unchanged {
            reply = reply.unchanged();
        }
        reply.headers.extend(tag.map(|tag| ("etag".to_owned(), tag)));
        Ok(reply)
    }

    /// Answers a request that changes something.
    pub async fn write(self: Arc<Self>, head: &Head, draft: Option<Draft>) -> Result<Response, Fault> {
        if let Ok(Prepared { secret: Some(secret), .. }) = &self.prepared {
            secret.judge(&self.state.store, &self.state.heavy, head.origin).await?;
        }
        let request = self.clone();
        let write = move |tx: &mut Tx<'_>| {
            let caller = access::admit(&request.state, tx, &request.asked)?;
            tx.set_actor(&caller.actor);
            let reply = request.changed(tx, &caller)?;
            Ok((reply, duplicates::may_see_others(&request.state, &caller)))
        };
        let store = &self.state.store;
        // The image of a dry run is read and dropped.
        let kept = self.prepared.is_ok() && self.repeatable.is_ok() && matches!(self.dry_run, Ok(false));
        let written = match draft.filter(|_| kept) {
            Some(draft) => store.write_with(&head.request_id, draft, write).await,
            None => store.write_rehearsed(&head.request_id, write).await,
        };
        let (mut reply, may_see_others) = written.inspect_err(|fault| self.record_refusal(head, fault))?;
        let tried = matches!(self.dry_run, Ok(true));
        let new = self.new_customer();
        if let Some(customer) = self.said().filter(|_| !tried && new.is_none()) {
            duplicates::note(&self.state, customer);
        }
        // Of a repeated answer, too: those who are like the customer now.
        if let Some(customer) = new {
            let others = duplicates::others(&self.state, &[customer], !tried).await.concat();
            if may_see_others && !others.is_empty() {
                reply.headers.push((duplicates::HEADER.to_owned(), duplicates::value(&others)));
            }
        }
        if tried {
            dry_run::mark(&mut reply);
        }
        if matches!(self.existing_only, Ok(true)) {
            existing_only::mark(&mut reply);
        }
        Ok(respond(reply, None))
    }

    /// Records a refusal that knew the body, which may name what the request is about.
    pub fn record_refusal(&self, head: &Head, fault: &Fault) {
        if let (403, Some(trail), Some(known)) = (fault.kind.status, &self.trail, head.noted.known()) {
            let now = self.state.store.clock().now();
            self.state.auditor.add(trail.refused(known, now, 403, fault.kind.code));
            head.noted.mark_audited();
        }
    }

    /// Carries out a change in a transaction of an admitted caller; a repetition gets the first answer again.
    pub fn changed(&self, tx: &mut Tx<'_>, caller: &Caller) -> Result<Reply, Fault> {
        let repeatable = self.repeatable.as_ref().map_err(Clone::clone)?;
        if let Some(repeatable) = repeatable
            && let Some(first) = repeatable.recall_lasting(tx, &caller.actor, self.state.store.is_shared())?
        {
            return Ok(first);
        }
        let tried = self.dry_run.clone()?;
        if tried {
            tx.set_dry_run();
        }
        if self.existing_only.clone()? {
            existing_only::begin(tx, caller);
        }
        let trail = self.trail.as_ref().filter(|_| !tried && self.prepared.is_ok());
        let before = trail.map(|trail| trail.before(&self.state, tx, caller)).transpose()?;
        let mut reply = self.run(tx, caller)?;
        if let (Some(trail), Some(before)) = (trail, before) {
            trail.record_change(&self.state, tx, caller, before, &reply)?;
        }
        existing_only::report(tx, caller, &mut reply);
        if let Some(repeatable) = repeatable {
            repeatable.remember(tx, &caller.actor, &reply)?;
        }
        Ok(reply)
    }

    /// Runs the operation; where the request names tags, only on a record that still has one of them.
    pub fn run(&self, tx: &mut Tx<'_>, caller: &Caller) -> Result<Reply, Fault> {
        let prepared = match (&self.prepared, &self.bad_body) {
            (Ok(prepared), _) => prepared,
            (Err(fault), Some(body)) => return Err(gateways::bad_besides(tx, body, fault.clone())?),
            (Err(fault), None) => return Err(fault.clone()),
        };
        if let (Some(tags), Some(tagged)) = (&self.if_match, &self.tagged)
            && matches!(self.meta.method, Method::Put | Method::Delete)
        {
            let makes = self.meta.name == SetSignature::META.name;
            tag::check_match(tags, &tag::present(tagged.read(tx, caller), makes)?)?;
        }
        (prepared.run)(tx, caller)
    }
}

/// Whether a field may be missing beside the stored record alone.
fn looks_further(meta: &Meta) -> bool {
    [UpdateEmailConfiguration::META.name, UpdateSmsConfiguration::META.name].contains(&meta.name)
}

/// Whether a code is checked: each wrong one counts, and nothing may undo the count.
pub fn tries_code(meta: &Meta) -> bool {
    let names = [BeginSecondFactor::META.name, EnableSecondFactor::META.name, DeleteSecondFactor::META.name];
    names.contains(&meta.name)
}

fn no_dry_run() -> Fault {
    Fault::new(fault::NO_DRY_RUN, "a code cannot be tried: send it without Dry-Run")
}

/// Whether the client asks for a type of answer by name. A weight of 0 says that it must not be this one.
pub fn accepts(headers: &HeaderMap, wanted: &str) -> bool {
    let is_nothing = |parameter: &str| {
        let weight = parameter.strip_prefix(['q', 'Q']).and_then(|rest| rest.trim_start().strip_prefix('='));
        weight.is_some_and(|weight| weight.trim().bytes().all(|byte| matches!(byte, b'0' | b'.')))
    };
    let values = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|kind| {
        let mut parts = kind.split(';').map(str::trim);
        parts.next().is_some_and(|name| name.eq_ignore_ascii_case(wanted)) && !parts.any(is_nothing)
    })
}
