//! From a request to its answer: the checking order of `decisions.md` section 3, in one place.

use super::access::{self, AccessRequest};
use super::errand::{self, Ordered};
use super::head::Head;
use super::load::Class;
use super::payload::{Payload, read_body};
use super::reply::{CACHE_CONTROL, Reply};
use super::request::{Request, repeatable};
use super::response::respond;
use super::route::{Handler, PrepareErrand, Route};
use super::routes::Found;
use super::state::State;
use super::trail::Trail;
use super::{
    backup, batch, body, dry_run, events, lines, login, metrics, origin, pages, rate, refused, search,
    status, trail,
};
use crate::ops::Caller;
use crate::reports::Reports;
use bytes::Buf;
use futures_util::Stream;
use mfa_shared::api::tokens::error_word;
use mfa_shared::api::webhooks::CreateSubscription;
use mfa_shared::endpoint::{Endpoint, Method, split};
use mfa_shared::fault::{self, Fault};
use mfa_shared::query::Params;
use mfa_shared::wire::RawBody;
use std::sync::Arc;
use warp::http::Method as HttpMethod;
use warp::reply::Response;

/// Answers a request; a failure to give a token says so in the words of OAuth 2.0, too.
pub async fn answer<S, B, E>(state: &Arc<State>, head: &Head, body: S) -> Result<Response, Fault>
where
    S: Stream<Item = Result<B, E>> + Send,
    B: Buf,
{
    let found = split(&head.path).and_then(|segments| state.routes.find(segments));
    let route = found.as_ref().and_then(|found| found.route(method_of(&head.method)?)).cloned();
    if let Some(found) = &found {
        head.noted.operation(route.as_ref().map_or_else(|| found.path(), |route| route.meta.name));
        if let Some(what) = route.as_ref().and_then(|route| lockable(route.meta.name)) {
            found.params.first().into_iter().for_each(|name| head.noted.about(what, name));
        }
    }
    let gives_token = matches!(route.as_ref().map(|route| &route.handler), Some(Handler::Login));
    let meta = route.as_ref().map(|route| route.meta);
    let params = found.as_ref().map(|found| found.params.clone()).unwrap_or_default();
    let answer = decide(state, head, found, route, body).await;
    if let Some(meta) = meta {
        trail::ended(state, head, meta, &params, answer.as_ref());
    }
    if gives_token { answer.map_err(|fault| fault.clone().error(error_word(fault.kind))) } else { answer }
}

/// Whether a request is one of those who watch over the daemon.
pub fn watches(state: &State, head: &Head) -> bool {
    let found = split(&head.path).and_then(|segments| state.routes.find(segments));
    let route = found.as_ref().and_then(|found| found.route(method_of(&head.method)?));
    route.is_some_and(|route| route.watches())
}

async fn decide<S, B, E>(
    state: &Arc<State>,
    head: &Head,
    found: Option<Found<'_>>,
    route: Option<Arc<Route>>,
    body: S,
) -> Result<Response, Fault>
where
    S: Stream<Item = Result<B, E>> + Send,
    B: Buf,
{
    if let Some(route) = route.as_ref().filter(|route| matches!(route.handler, Handler::Status(_))) {
        return show_status(state, head, route).await;
    }
    let changes = route.as_ref().is_some_and(|route| !route.meta.method.reads());
    state.refusal(changes).map_or(Ok(()), Err)?;
    origin::check(state, &head.headers)?;
    if head.method == HttpMethod::OPTIONS
        && let Some(found) = &found
    {
        rate::count_options(state, head)?;
        let mut reply = Reply::empty(204);
        reply.headers.push(("allow".to_owned(), found.allow()));
        return Ok(respond(reply, None));
    }
    let segments = found.as_ref().map(|found| found.segments.clone()).unwrap_or_default();
    let asked = AccessRequest::new(head, route.as_ref().map(|route| route.meta), segments);
    rate::count(state, head, &asked, route.as_deref()).await?;
    let (Some(found), Some(route)) = (&found, route) else {
        return Err(refuse_unknown(state, head, asked, found.as_ref()).await);
    };
    match route.handler {
        Handler::Login => return log_in(state, head, &route, body).await,
        Handler::Search => {
            let (shared, head) = (state.clone(), head.clone());
            let search = async move { search::answer(&shared, &head, asked).await };
            return state.patient.run(search).await;
        }
        Handler::Events => return events::answer(state, head, asked).await,
        Handler::Metrics => return metrics::answer(state, head, asked).await,
        Handler::Backup => return backup::answer(state, head, asked).await,
        _ => {}
    }
    if route.meta.method.reads() {
        return read(state, head, asked, found, &route).await;
    }
    change(state, head, asked, found, &route, body).await
}

/// Answers a change.
async fn change<S, B, E>(
    state: &Arc<State>,
    head: &Head,
    asked: AccessRequest,
    found: &Found<'_>,
    route: &Arc<Route>,
    body: S,
) -> Result<Response, Fault>
where
    S: Stream<Item = Result<B, E>> + Send,
    B: Buf,
{
    // No body is read before it is clear that the caller may send one; to record a refusal, a short one is.
    let caller = match admit(state, asked.clone()).await {
        Ok(caller) => caller,
        Err(fault) => {
            if fault.kind.status == 403 {
                refused::name(state, head, asked, found, route, body, &fault).await;
            }
            return Err(fault);
        }
    };
    let (payload, draft) = read_body(state, head, route, body).await?;
    let _pass = match route.handler {
        // It may wait for another machine, and says nothing of how busy this one is.
        Handler::Errand(_) => None,
        // What it is, only its operations say.
        Handler::Batch => None,
        _ => Some(state.loads.enter(Class::of(&route.meta))?),
    };
    let reply = match &route.handler {
        Handler::Errand(prepare) => {
            let ordered = order(state, head, found, route, asked, prepare, &payload);
            errand::run(state, head, ordered).await
        }
        Handler::Batch => {
            let repeatable = repeatable(head, found, route, &payload.bytes);
            batch::answer(state, head, asked, &caller, repeatable, &payload).await
        }
        _ => {
            settle_trail(state, &asked, route).await?;
            let request = Request::prepare(state, head, asked, found, route, &payload);
            let written = request.write(head, draft).await;
            return written.map_err(|fault| body::in_order(fault, &payload.bytes));
        }
    };
    reply.map(|reply| respond(reply, None))
}

/// Answers a look at the daemon itself, which is the same for every caller, with a token or without.
async fn show_status(state: &Arc<State>, head: &Head, route: &Route) -> Result<Response, Fault> {
    let Handler::Status(look) = &route.handler else {
        return Err(Fault::new(fault::INTERNAL, "the handler of this row is not a look at the daemon"));
    };
    origin::check(state, &head.headers)?;
    // It is answered also where the store cannot say whose a token is.
    let asked = AccessRequest { token: None, ..AccessRequest::new(head, None, Vec::new()) };
    rate::count(state, head, &asked, Some(route)).await?;
    let mut reply = status::answer(state, *look).await?;
    reply.headers.push((CACHE_CONTROL.to_owned(), "private, no-cache".to_owned()));
    Ok(respond(reply, None))
}

/// Readers of the audit trail see everything that was reported and committed before, and a new subscription
/// begins after it.
async fn settle_trail(state: &Arc<State>, asked: &AccessRequest, route: &Route) -> Result<(), Fault> {
    if route.meta.application() == "audit-v1" || route.meta.name == CreateSubscription::META.name {
        admit(state, asked.clone()).await?;
        state.auditor.say_what_was_left_out();
        state.auditor.settle(&state.store).await;
    }
    Ok(())
}

/// A report has everything that was acknowledged before it was asked for.
async fn settle_reports(state: &Arc<State>, asked: &AccessRequest, route: &Route) -> Result<(), Fault> {
    if Reports::has(route.meta.name) {
        admit(state, asked.clone()).await?;
        state.reports.ready(&state.store, route.meta.name).await;
    }
    Ok(())
}

/// Answers a read.
async fn read(
    state: &Arc<State>,
    head: &Head,
    asked: AccessRequest,
    found: &Found<'_>,
    route: &Arc<Route>,
) -> Result<Response, Fault> {
    let class = Class::of(&route.meta);
    let _pass = state.loads.enter(class)?;
    let request = Request::prepare(state, head, asked, found, route, &Payload::default());
    // What is wrong with a request is said at once.
    if request.prepared.is_ok() {
        settle_trail(state, &request.asked, route).await?;
        settle_reports(state, &request.asked, route).await?;
    }
    if class != Class::List {
        return request.read(false, head).await;
    }
    let head = head.clone();
    let list = async move {
        if let Some(response) = lines::read(&request, head.origin).await? {
            return Ok(response);
        }
        match pages::read(&request).await? {
            Some(reply) => Ok(respond(request.state.unread.hold(reply, head.origin)?, None)),
            None => request.read(true, &head).await,
        }
    };
    state.patient.run(list).await
}

/// The content of a request for an errand.
fn order(
    state: &State,
    head: &Head,
    found: &Found<'_>,
    route: &Route,
    asked: AccessRequest,
    prepare: &PrepareErrand,
    payload: &Payload,
) -> Ordered {
    let params = Params::parse(&head.query);
    let raw = RawBody::new(&params, &payload.bytes, state.store.clock().now().day());
    let errand = prepare(found.params.clone(), &raw);
    let repeatable = repeatable(head, found, route, raw.bytes);
    let trail = Arc::new(Trail::of(head, route.meta, &found.params, Some(&raw)));
    Ordered { asked, trail, repeatable, errand, room: payload.room.clone() }
}

/// What an endpoint locks or unlocks.
fn lockable(endpoint: &str) -> Option<&'static str> {
    match endpoint {
        "UnlockDrawer" | "PauseTeller" => Some("teller"),
        // A password that someone else sets ends the lock of a login.
        "SetUserPassword" => Some("user"),
        _ => None,
    }
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

async fn admit(state: &Arc<State>, asked: AccessRequest) -> Result<Arc<Caller>, Fault> {
    let shared = state.clone();
    state.store.read(false, move |tx| access::admit(&shared, tx, &asked)).await
}

async fn log_in<S, B, E>(state: &Arc<State>, head: &Head, route: &Route, body: S) -> Result<Response, Fault>
where
    S: Stream<Item = Result<B, E>> + Send,
    B: Buf,
{
    let (payload, _) = read_body(state, head, route, body).await?;
    if dry_run::asked(&head.headers)? {
        return Err(Fault::new(fault::NO_DRY_RUN, "a login cannot be tried: send it without Dry-Run"));
    }
    let params = Params::parse(&head.query);
    let today = state.store.clock().now().day();
    let json = body::says_json(&head.headers);
    let raw = RawBody::new(&params, &payload.bytes, today).typed(json);
    login::answer(state, head, &raw).await.map(|reply| respond(reply, None))
}

async fn refuse_unknown(
    state: &Arc<State>,
    head: &Head,
    asked: AccessRequest,
    found: Option<&Found<'_>>,
) -> Fault {
    let refused = match found {
        None => Fault::new(fault::ROUTE_NOT_FOUND, format!("there is no path {}", head.path)),
        Some(found) => {
            let detail = format!("{} is not possible on {}", head.method, head.path);
            Fault::new(fault::METHOD_NOT_ALLOWED, detail).allow(found.allow())
        }
    };
    admit(state, asked).await.err().unwrap_or(refused)
}
