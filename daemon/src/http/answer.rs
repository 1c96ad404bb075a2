//! From a request to its answer: the checking order of `decisions.md` section 3, in one place.

use super::access::{self, Asked};
use super::errand::{self, Ordered};
use super::idempotency::Repeatable;
use super::reply::{Content, Reply};
use super::route::{Behind, Prepared, Route, Tagged};
use super::routes::Found;
use super::state::State;
use super::{body, login, tag};
use crate::ops::Caller;
use crate::ops::listing::{Cursor, List};
use crate::store::{Store, Tx};
use bytes::{Buf, Bytes};
use futures_util::Stream;
use mfa_shared::api::tokens::error_word;
use mfa_shared::endpoint::{Meta, Method, split};
use mfa_shared::fault::{self, Fault};
use mfa_shared::query::Params;
use mfa_shared::wire::{BodyKind, NDJSON_TYPE, RawBody};
use std::sync::Arc;
use std::time::Duration;
use warp::http::header::ACCEPT;
use warp::http::{HeaderMap, Method as HttpMethod};
use warp::reply::Response;

/// Chunks of a stream that wait for a slow client.
const CHUNKS_WAITING: usize = 2;

/// A request without its body.
#[derive(Debug)]
pub struct Head {
    /// Method as sent.
    pub method: HttpMethod,
    /// Path as sent.
    pub path: String,
    /// Query string as sent.
    pub query: String,
    /// Headers.
    pub headers: HeaderMap,
    /// Identifier of the request.
    pub request_id: String,
}

/// Answers a request; a failure to give a token says so in the words of OAuth 2.0, too.
pub async fn answer<S, B, E>(state: &Arc<State>, head: &Head, body: S) -> Result<Response, Fault>
where
    S: Stream<Item = Result<B, E>>,
    B: Buf,
{
    let found = split(&head.path).and_then(|segments| state.routes.find(segments));
    let route = found.as_ref().and_then(|found| found.route(method_of(&head.method)?)).cloned();
    let gives_token = matches!(route.as_ref().map(|route| &route.behind), Some(Behind::Login));
    let answer = decide(state, head, found, route, body).await;
    if gives_token { answer.map_err(|fault| fault.clone().error(error_word(fault.kind))) } else { answer }
}

async fn decide<S, B, E>(
    state: &Arc<State>,
    head: &Head,
    found: Option<Found<'_>>,
    route: Option<Arc<Route>>,
    body: S,
) -> Result<Response, Fault>
where
    S: Stream<Item = Result<B, E>>,
    B: Buf,
{
    if let Some(Behind::Status(look)) = route.as_ref().map(|route| &route.behind) {
        return look(state).map(|reply| respond(reply, None));
    }
    if let Some(fault) = state.refusal(route.as_ref().is_some_and(|route| !route.meta.method.reads())) {
        return Err(fault);
    }
    if head.method == HttpMethod::OPTIONS
        && let Some(found) = &found
    {
        let mut reply = Reply::empty(204);
        reply.headers.push(("allow".to_owned(), found.allow()));
        return Ok(respond(reply, None));
    }
    let segments = found.as_ref().map(|found| found.segments.clone()).unwrap_or_default();
    let meta = route.as_ref().map(|route| route.meta);
    let asked = Asked::new(&head.method, &head.headers, meta, segments);
    let (Some(found), Some(route)) = (&found, route) else {
        return Err(refuse_unknown(state, head, asked, found.as_ref()).await);
    };
    if matches!(route.behind, Behind::Login) {
        return log_in(state, head, &route, body).await;
    }
    if route.meta.method.reads() {
        let request = Request::prepare(state, head, asked, found, &route, &[]);
        return request.read(route.meta.lists(), &head.request_id).await;
    }
    // Nobody's body is read before it is clear that they may send one.
    admit(state, asked.clone()).await?;
    let bytes = read_body(state, head, &route, body).await?;
    if let Behind::Errand(prepare) = &route.behind {
        let repeatable = repeatable(state, head, found, &route, &bytes);
        let (params, today) = (Params::parse(&head.query), state.store.clock().now().day());
        let raw = RawBody { params: &params, bytes: &bytes, json: true, today };
        let ordered = Ordered { asked, repeatable, errand: prepare(found.params.clone(), &raw) };
        return errand::run(state, head, ordered).await.map(|reply| respond(reply, None));
    }
    Request::prepare(state, head, asked, found, &route, &bytes).write(&head.request_id).await
}

fn method_of(method: &HttpMethod) -> Option<Method> {
    match *method {
        HttpMethod::GET | HttpMethod::HEAD => Some(Method::Get),
        HttpMethod::POST => Some(Method::Post),
        HttpMethod::PUT => Some(Method::Put),
        HttpMethod::DELETE => Some(Method::Delete),
        _ => None,
    }
}

async fn admit(state: &Arc<State>, asked: Asked) -> Result<Caller, Fault> {
    let shared = state.clone();
    state.store.read(false, move |tx| access::admit(&shared, tx, &asked)).await
}

async fn log_in<S, B, E>(state: &Arc<State>, head: &Head, route: &Route, body: S) -> Result<Response, Fault>
where
    S: Stream<Item = Result<B, E>>,
    B: Buf,
{
    let bytes = read_body(state, head, route, body).await?;
    let params = Params::parse(&head.query);
    let today = state.store.clock().now().day();
    let raw = RawBody { params: &params, bytes: &bytes, json: body::says_json(&head.headers), today };
    login::answer(state, head, &raw).await.map(|reply| respond(reply, None))
}

async fn refuse_unknown(state: &Arc<State>, head: &Head, asked: Asked, found: Option<&Found<'_>>) -> Fault {
    let refused = match found {
        None => Fault::new(fault::ROUTE_NOT_FOUND, format!("there is no path {}", head.path)),
        Some(found) => {
            let detail = format!("{} is not possible on {}", head.method, head.path);
            Fault::new(fault::METHOD_NOT_ALLOWED, detail).allow(found.allow())
        }
    };
    admit(state, asked).await.err().unwrap_or(refused)
}

async fn read_body<S, B, E>(state: &State, head: &Head, route: &Route, body: S) -> Result<Vec<u8>, Fault>
where
    S: Stream<Item = Result<B, E>>,
    B: Buf,
{
    let kind = route.meta.body.kind;
    let bytes_max = kind.bytes_max().unwrap_or(state.config.body_bytes_max);
    body::check_head(&head.headers, kind, bytes_max)?;
    match kind {
        BodyKind::None => Ok(Vec::new()),
        BodyKind::Json | BodyKind::Form | BodyKind::Credentials => {
            let within = Duration::from_secs(state.config.request_timeout_seconds);
            body::read(body, bytes_max, within).await
        }
    }
}

/// The idempotency key of a request, with all that makes it this request.
fn repeatable(
    state: &State,
    head: &Head,
    found: &Found<'_>,
    route: &Route,
    bytes: &[u8],
) -> Result<Option<Repeatable>, Fault> {
    let path = found.segments.join("\0");
    let method = route.meta.method.as_str();
    let parts: [&[u8]; 4] = [method.as_bytes(), path.as_bytes(), head.query.as_bytes(), bytes];
    Repeatable::read(&head.headers, &state.secret, &parts)
}

/// A request that is ready to run in a transaction.
struct Request {
    state: Arc<State>,
    asked: Asked,
    meta: Meta,
    repeatable: Result<Option<Repeatable>, Fault>,
    prepared: Result<Prepared, Fault>,
    tagged: Option<Tagged>,
    own_tag: bool,
    if_match: Option<Vec<String>>,
    if_none_match: Option<Vec<String>>,
    lines: bool,
}

impl Request {
    fn prepare(
        state: &Arc<State>,
        head: &Head,
        asked: Asked,
        found: &Found<'_>,
        route: &Arc<Route>,
        bytes: &[u8],
    ) -> Arc<Self> {
        let meta = route.meta;
        let repeatable = match meta.method.reads() {
            true => Ok(None),
            false => repeatable(state, head, found, route, bytes),
        };
        let params = Params::parse(&head.query);
        let today = state.store.clock().now().day();
        let raw = RawBody { params: &params, bytes, json: true, today };
        let prepared = match &route.behind {
            Behind::Operation(prepare) => prepare(found.params.clone(), &raw),
            Behind::Status(_) | Behind::Login | Behind::Errand(_) => {
                Err(Fault::new(fault::INTERNAL, "what stands behind this row is no operation"))
            }
        };
        let own_tag = meta.tag == Some(meta.name);
        let by_path = meta.tag.filter(|_| !own_tag).map(|name| (name, found.params.clone()));
        let named = prepared.as_ref().ok().and_then(|prepared| prepared.addressed.clone()).or(by_path);
        let tagged = named.and_then(|(name, params)| {
            let route = state.routes.by_name(name)?;
            Tagged::prepare(route, &params)
        });
        let lines = meta.lists() && accepts_lines(&head.headers);
        Arc::new(Self {
            state: state.clone(),
            asked,
            meta,
            repeatable,
            prepared,
            tagged,
            own_tag,
            if_match: tag::listed(&head.headers, "if-match"),
            if_none_match: tag::listed(&head.headers, "if-none-match"),
            lines,
        })
    }

    async fn read(self: Arc<Self>, long: bool, request_id: &str) -> Result<Response, Fault> {
        let request = self.clone();
        let read = move |tx: &mut Tx<'_>| {
            let caller = access::admit(&request.state, tx, &request.asked)?;
            let reply = request.run(tx, &caller)?.read(tx, request.lines)?;
            let tag = match &request.tagged {
                Some(tagged) => Some(tagged.read(tx, &caller)?),
                None => request.own_tag.then(|| tag::of(reply.bytes())),
            };
            if let Ok(Prepared { note: Some(note), .. }) = &request.prepared {
                tx.set_actor(&caller.actor);
                note(tx, &caller)?;
            }
            Ok((reply, tag))
        };
        let store = &self.state.store;
        let (mut reply, tag) = match &self.prepared {
            Ok(Prepared { note: Some(_), .. }) => store.write(request_id, read).await?,
            _ => store.read(long, read).await?,
        };
        if let Some(tag) = tag {
            if self.if_none_match.as_ref().is_some_and(|tags| tag::none_match(tags, &tag)) {
                reply = Reply::empty(304);
            }
            reply.headers.push(("etag".to_owned(), tag));
        }
        let stream = match &reply.content {
            Content::List(list) => Some(stream(self.state.store.clone(), list.clone())),
            _ => None,
        };
        Ok(respond(reply, stream))
    }

    async fn write(self: Arc<Self>, request_id: &str) -> Result<Response, Fault> {
        if let Ok(Prepared { secret: Some(secret), .. }) = &self.prepared {
            secret.judge(&self.state.store, &self.state.heavy).await?;
        }
        let request = self.clone();
        let write = move |tx: &mut Tx<'_>| {
            let caller = access::admit(&request.state, tx, &request.asked)?;
            tx.set_actor(&caller.actor);
            let repeatable = request.repeatable.as_ref().map_err(Clone::clone)?;
            if let Some(repeatable) = repeatable
                && let Some(first) = repeatable.recall(tx, &caller.actor)?
            {
                return Ok(first);
            }
            let reply = request.run(tx, &caller)?;
            if let Some(repeatable) = repeatable {
                repeatable.remember(tx, &caller.actor, &reply)?;
            }
            Ok(reply)
        };
        let reply = self.state.store.write(request_id, write).await?;
        Ok(respond(reply, None))
    }

    /// Runs the operation; where the request names tags, only on a record that still has one of them.
    fn run(&self, tx: &mut Tx<'_>, caller: &Caller) -> Result<Reply, Fault> {
        let prepared = self.prepared.as_ref().map_err(Clone::clone)?;
        if let (Some(tags), Some(tagged)) = (&self.if_match, &self.tagged)
            && matches!(self.meta.method, Method::Put | Method::Delete)
        {
            tag::check_match(tags, &tagged.read(tx, caller)?)?;
        }
        (prepared.run)(tx, caller)
    }
}

/// Whether the client asks by name for one record a line.
fn accepts_lines(headers: &HeaderMap) -> bool {
    headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok()).any(|value| {
        value
            .split(',')
            .any(|kind| kind.split(';').next().is_some_and(|k| k.trim().eq_ignore_ascii_case(NDJSON_TYPE)))
    })
}

type Chunks = tokio::sync::mpsc::Receiver<Result<Bytes, Fault>>;

/// Reads a list chunk by chunk, as fast as the client takes them.
fn stream(store: Store, list: Arc<dyn List>) -> Chunks {
    let (sender, receiver) = tokio::sync::mpsc::channel(CHUNKS_WAITING);
    tokio::spawn(async move {
        let mut cursor = Cursor::Start;
        while !matches!(cursor, Cursor::End) {
            let (list, from) = (list.clone(), cursor.clone());
            let read = store.read(true, move |tx| list.lines(tx, from.clone())).await;
            let chunk = read.map(|(lines, next)| {
                cursor = next;
                Bytes::from(lines)
            });
            let failed = chunk.is_err();
            if sender.send(chunk).await.is_err() || failed {
                break;
            }
        }
    });
    receiver
}

fn respond(reply: Reply, stream: Option<Chunks>) -> Response {
    use warp::Reply as _;
    let mut response = match (stream, reply.content) {
        (Some(mut chunks), _) => {
            warp::reply::stream(futures_util::stream::poll_fn(move |cx| chunks.poll_recv(cx))).into_response()
        }
        (None, Content::Bytes(bytes)) => Response::new(bytes.into()),
        (None, _) => Response::new(Bytes::new().into()),
    };
    *response.status_mut() = super::server::status(reply.status);
    for (name, value) in
        reply.content_type.map(|t| ("content-type".to_owned(), t)).into_iter().chain(reply.headers)
    {
        super::server::set_header(&mut response, &name, &value);
    }
    response
}
