//! `GET /events`: an array that may wait for its first event, or a stream of events that goes on.
//!
//! Listeners who wait for news read the same few records, and do it in one transaction. What was before may
//! be long, and little of it for this listener: that is a list, let in or refused like one, and read by the
//! threads for lists, piece by piece in turn with the others.

use super::access::{self, AccessRequest};
use super::cut::Cut;
use super::head::Head;
use super::load::Class;
use super::places::Place;
use super::reply::{CACHE_CONTROL, Reply};
use super::request::accepts;
use super::response::{CHUNKS_WAITING, Chunks, respond};
use super::state::{Phase, State};
use crate::clock::Deadline;
use crate::domain::recent_events::Announced;
use crate::ops::events::{Heard, Reach, before_first, heard, last};
use crate::store::Tx;
use bytes::Bytes;
use mfa_shared::api::events::{EVENT_STREAM, EventQuery, position};
use mfa_shared::fault::{self, Fault};
use mfa_shared::query::{Parameters, Params};
use mfa_shared::wire::NDJSON_TYPE;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::Instant;
use warp::http::HeaderMap;
use warp::reply::Response;

/// After so long without an event, a stream sends a comment.
const COMMENT_PAUSE: Duration = Duration::from_secs(15);
/// So long a listener who has caught up leaves events to gather, so that a busy daemon sends them together.
const GATHER: Duration = Duration::from_millis(50);
/// Says up to which record an answer has looked, so that the next request goes on behind it.
const POSITION: &str = "last-event-id";
/// Events of one piece of a stream.
const PIECE_EVENTS: usize = 100;

/// Answers a listener.
pub async fn answer(state: &Arc<State>, head: &Head, asked: AccessRequest) -> Result<Response, Fault> {
    let shared = (state.clone(), asked.clone());
    let admit = move |tx: &mut Tx<'_>| access::admit(&shared.0, tx, &shared.1);
    let caller = state.store.read_jointly(access::places(state, &asked), admit).await?;
    let query = EventQuery::read(&Params::parse(&head.query))?;
    let goes_on = accepts(&head.headers, EVENT_STREAM);
    let waits = goes_on || query.wait_seconds.is_some_and(|seconds| seconds > 0);
    let place = waits.then(|| state.listeners.enter(&caller.name)).transpose()?;
    let listener = Arc::new(Listener { state: state.clone(), asked, query, _place: place });
    match &head.headers {
        headers if goes_on => listener.stream(headers).await,
        headers if accepts(headers, NDJSON_TYPE) => listener.lines().await,
        _ => listener.array().await,
    }
}

/// Events, up to where the trail was looked at for them.
struct First {
    events: Vec<Arc<Announced>>,
    upto: u64,
    /// The last record that there was.
    end: u64,
}

/// A listener.
struct Listener {
    state: Arc<State>,
    asked: AccessRequest,
    query: EventQuery,
    /// None where it does not wait.
    _place: Option<Place<String>>,
}

impl Listener {
    /// The next events in a transaction, if the listener may still hear them.
    fn look(&self, tx: &mut Tx<'_>, reach: Reach, place: (u64, usize)) -> Result<Heard, Fault> {
        let caller = access::admit(&self.state, tx, &self.asked)?;
        heard(tx, &caller, &self.query, reach, place)
    }

    /// Reads together with other listeners.
    async fn jointly<T, F>(&self, work: F) -> Result<T, Fault>
    where
        T: Send + 'static,
        F: FnMut(&mut Tx<'_>) -> Result<T, Fault> + Send + 'static,
    {
        self.state.store.read_jointly(access::places(&self.state, &self.asked), work).await
    }

    /// The next events, at most so many. News, and what is in memory, is read together with other listeners.
    async fn next(self: &Arc<Self>, after: u64, size: usize) -> Result<Heard, Fault> {
        let listener = self.clone();
        let news = move |tx: &mut Tx<'_>| listener.look(tx, Reach::News, (after, size));
        let heard = self.jointly(news).await?;
        if heard.away { self.older(after, size).await } else { Ok(heard) }
    }

    /// The same where many records may have to be read.
    async fn older(self: &Arc<Self>, after: u64, size: usize) -> Result<Heard, Fault> {
        let _turn = self.state.older_events.acquire().await;
        let (listener, store) = (self.clone(), self.state.store.clone());
        let all = move |tx: &mut Tx<'_>| listener.look(tx, Reach::All, (after, size));
        self.state.patient.run(async move { store.read(false, all).await }).await
    }

    /// The first events, of at most so many, as soon as there is one or the wait is over.
    async fn first(self: &Arc<Self>, size: usize) -> Result<First, Fault> {
        let pass = self.state.loads.enter(Class::List)?;
        let mut after = match self.query.after {
            Some(after) => after,
            None => self.state.store.read(false, before_first).await?,
        };
        let until = Deadline::after(Duration::from_secs(self.query.wait_seconds.unwrap_or(0).into()));
        self.state.auditor.settle(&self.state.store).await;
        let mut news = self.state.auditor.news();
        let mut heard = self.next(after, size).await?;
        drop(pass);
        let mut events: Vec<Arc<Announced>> = Vec::new();
        loop {
            after = heard.upto;
            events.extend(heard.events);
            let is_enough = events.len() == size || !heard.more;
            if is_enough && (!events.is_empty() || until.has_passed() || self.state.phase() != Phase::Serving)
            {
                return Ok(First { events, upto: after, end: heard.end });
            }
            if is_enough {
                let look = self.state.listeners.next_look().min(Instant::now() + until.left());
                let _ = tokio::time::timeout_at(look, news.changed()).await;
            }
            heard = self.next(after, size - events.len()).await?;
        }
    }

    async fn array(self: Arc<Self>) -> Result<Response, Fault> {
        let First { events, upto, end } = self.first(self.query.size()).await?;
        let mut reply = Reply::json(listed(&events));
        reply.headers.push((POSITION.to_owned(), upto.min(end).to_string()));
        Ok(respond(reply, None))
    }

    /// Every event that there is now, one a line, whatever size a page would have.
    async fn lines(self: Arc<Self>) -> Result<Response, Fault> {
        let first = self.first(PIECE_EVENTS).await?;
        let end = self.state.store.read(false, last).await?;
        let (sender, receiver): (_, Chunks) = mpsc::channel(CHUNKS_WAITING);
        tokio::spawn(async move {
            let mut heard = Ok((first.events, first.upto));
            loop {
                let after = heard.as_ref().ok().map(|(_, upto)| *upto);
                let piece = heard.map(|(events, _)| Bytes::from(lines(&events)));
                let patience = self.state.config.listener_patience;
                let sent = tokio::time::timeout(patience, sender.send(piece)).await;
                let (Ok(Ok(())), Some(after)) = (sent, after.filter(|after| *after < end)) else { return };
                heard = self.next(after, PIECE_EVENTS).await.map(|heard| (heard.events, heard.upto));
            }
        });
        let reply = Reply { content_type: Some(NDJSON_TYPE.to_owned()), ..Reply::empty(200) };
        Ok(respond(reply, Some(receiver)))
    }

    async fn stream(self: Arc<Self>, headers: &HeaderMap) -> Result<Response, Fault> {
        let given = headers.get_all("last-event-id").iter().map(|value| value.as_bytes());
        let given: Vec<_> = given.map(String::from_utf8_lossy).collect();
        // What is given twice, or is no text, is no position, and not as if nothing was given.
        let header = (!given.is_empty()).then(|| position("Last-Event-ID", &given.join(", "))).transpose()?;
        let given = header.or(self.query.after);
        self.state.auditor.settle(&self.state.store).await;
        // What is refused is refused before the stream begins.
        let _pass = self.state.loads.enter(Class::List)?;
        let listener = self.clone();
        let begin = move |tx: &mut Tx<'_>| listener.begin(tx, given);
        let after = self.jointly(begin).await?;
        let (sender, receiver): (_, Chunks) = mpsc::channel(CHUNKS_WAITING);
        let cut = Cut::default();
        tokio::spawn(self.send(after, sender, cut.clone()));
        let mut reply = Reply::empty(200);
        reply.content_type = Some(EVENT_STREAM.to_owned());
        reply.headers.push((CACHE_CONTROL.to_owned(), "no-store".to_owned()));
        let mut response = respond(reply, Some(receiver));
        response.extensions_mut().insert(cut);
        Ok(response)
    }

    /// Where a stream begins, if it may.
    fn begin(&self, tx: &mut Tx<'_>, given: Option<u64>) -> Result<u64, Fault> {
        let caller = access::admit(&self.state, tx, &self.asked)?;
        let end = last(tx)?;
        let after = given.unwrap_or(end);
        if after > end {
            // It would wait in silence until the trail comes to it, and then have missed all before.
            let detail = format!(
                "event {after} does not exist, the last one is {end}: begin from there; the store may have \
                 been restored from a backup since"
            );
            return Err(Fault::new(fault::INVALID_PARAMETER, detail));
        }
        heard(tx, &caller, &self.query, Reach::News, (after, 0)).map(|_| after)
    }

    /// Sends every event, until the listener or the daemon goes, or the token ends.
    async fn send(self: Arc<Self>, mut after: u64, to: mpsc::Sender<Result<Bytes, Fault>>, cut: Cut) {
        let mut news = self.state.auditor.news();
        let listening = self.state.listeners.begin(after);
        let mut silent = Deadline::after(COMMENT_PAUSE);
        while self.state.phase() == Phase::Serving && !to.is_closed() {
            let Ok(heard) = self.next(after, PIECE_EVENTS).await else { return };
            after = heard.upto;
            let mut piece: String = heard.events.iter().map(|announced| announced.frame.as_str()).collect();
            if piece.is_empty() && silent.has_passed() {
                piece.push_str(":\n\n");
            }
            if !piece.is_empty() {
                silent = Deadline::after(COMMENT_PAUSE);
                let sent = to.send(Ok(Bytes::from(piece)));
                match tokio::time::timeout(self.state.config.listener_patience, sent).await {
                    Ok(Ok(())) => {}
                    Ok(Err(_)) => return,
                    // What is on its way to a listener who does not read would keep the connection open.
                    Err(_) => return cut.now(),
                }
            }
            listening.reached(after);
            if !heard.more {
                tokio::time::sleep(GATHER).await;
                let _ = tokio::time::timeout_at(self.state.listeners.next_look(), news.changed()).await;
            }
        }
    }
}

/// Events as lines.
fn lines(events: &[Arc<Announced>]) -> String {
    events.iter().flat_map(|announced| [announced.json(), "\n"]).collect()
}

/// Events as an array has them.
fn listed(events: &[Arc<Announced>]) -> String {
    let texts: Vec<_> = events.iter().map(|announced| announced.json()).collect();
    format!("[{}]", texts.join(","))
}
