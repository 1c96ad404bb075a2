//! Connections: accept, limit, serve through one warp filter, stop without losing a request.

use super::answer::{Head, answer};
use super::body;
use super::reply::CACHE_CONTROL;
use super::state::{Phase, State};
use crate::config::Auth;
use crate::random;
use futures_util::StreamExt;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use mfa_shared::fault::{self, Fault, Problem};
use mfa_shared::wire::PROBLEM_TYPE;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use warp::Filter;
use warp::http::header::{AUTHORIZATION, HeaderName, HeaderValue};
use warp::http::{HeaderMap, Method, Request, StatusCode, Uri};
use warp::reply::Response;

/// Time between "not ready" and the end of accepting, so that whoever watches `/ready` turns away first.
const DRAIN: Duration = Duration::from_millis(250);
/// Time in which a connection that waits in the queue is handed over.
const QUEUE: Duration = Duration::from_millis(20);
/// Time after which the queue counts as empty: busy clients would fill it for ever.
const QUEUE_MAX: Duration = Duration::from_millis(200);
/// Pause after a failed accept, such as one without a free file descriptor.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// Bytes of a connection that are held at once, and so the longest head. A thousand uploads hold as many.
const BUFFER_BYTES_MAX: usize = 64 * 1024;
/// Longest request identifier that is taken over.
const REQUEST_ID_LENGTH_MAX: usize = 128;

/// Serves connections until `stop` says so, then lets the running requests end.
pub async fn serve(listener: TcpListener, state: Arc<State>, mut stop: watch::Receiver<bool>) {
    let limit = Arc::new(Semaphore::new(state.config.connections_max));
    let graceful = GracefulShutdown::new();
    let service = warp::service(filter(state.clone()));
    let mut drained: Option<Instant> = None;
    let mut closing = std::pin::pin!(async {
        let _ = stop.wait_for(|stop| *stop).await;
        state.enter(Phase::Draining);
        tokio::time::sleep(DRAIN).await;
    });
    loop {
        let accepted = match drained {
            None => tokio::select! {
                accepted = accept(&listener, &limit) => Some(accepted),
                () = &mut closing => {
                    drained = Some(Instant::now());
                    continue;
                }
            },
            // What waits in the listener's queue when the drain ends was accepted in our name: serve it.
            Some(since) if since.elapsed() < QUEUE_MAX => {
                tokio::time::timeout(QUEUE, accept(&listener, &limit)).await.ok()
            }
            Some(_) => None,
        };
        let Some((socket, permit)) = accepted else { break };
        let answering = TowerToHyperService::new(service.clone());
        let connection = hyper::server::conn::http1::Builder::new()
            .timer(TokioTimer::new())
            .max_buf_size(BUFFER_BYTES_MAX)
            .header_read_timeout(Duration::from_secs(state.config.header_timeout_seconds))
            .serve_connection(
                TokioIo::new(socket),
                service_fn(move |asked| answering.call(with_path(asked))),
            );
        let connection = graceful.watch(connection);
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection ended early");
            }
            drop(permit);
        });
    }
    drop(listener);
    let within = Duration::from_secs(state.config.stop_timeout_seconds);
    if tokio::time::timeout(within, graceful.shutdown()).await.is_err() {
        tracing::warn!("some requests did not end within {} seconds", within.as_secs());
    }
    state.enter(Phase::Stopping);
}

/// `CONNECT` names a host and no path, which warp takes for impossible; nothing answers there.
fn with_path<B>(mut request: Request<B>) -> Request<B> {
    if request.uri().path_and_query().is_none() {
        *request.uri_mut() = Uri::from_static("/");
    }
    request
}

type Permit = tokio::sync::OwnedSemaphorePermit;

async fn accept(listener: &TcpListener, limit: &Arc<Semaphore>) -> (TcpStream, Permit) {
    loop {
        // The semaphore is never closed.
        let permit = limit.clone().acquire_owned().await.expect("an open semaphore");
        match listener.accept().await {
            Ok((socket, _)) => {
                // Answers are small and whole: they must not wait for more.
                let _ = socket.set_nodelay(true);
                return (socket, permit);
            }
            Err(error) if gone(&error) => {}
            Err(error) => {
                tracing::warn!(%error, "cannot accept a connection");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

fn gone(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

/// The one filter: it takes everything and rejects nothing.
fn filter(state: Arc<State>) -> impl Filter<Extract = (Response,), Error = warp::Rejection> + Clone {
    let query = warp::query::raw().or(warp::any().map(String::new)).unify();
    warp::method()
        .and(warp::path::full())
        .and(query)
        .and(warp::header::headers_cloned())
        .and(warp::body::stream())
        .and_then(move |method: Method, path: warp::path::FullPath, query, headers: HeaderMap, body| {
            let state = state.clone();
            async move {
                let request_id = request_id(&headers);
                let head = Head { method, path: path.as_str().to_owned(), query, headers, request_id };
                let mut body = pin!(StreamExt::fuse(body));
                let answered = answer(&state, &head, body.as_mut()).await;
                body::drain(body, &head.headers).await;
                let response = answered.unwrap_or_else(|fault| refuse(&fault, &head));
                Ok::<_, warp::Rejection>(finish(response, &state, &head))
            }
        })
}

/// The one place where a fault becomes a response.
fn refuse(fault: &Fault, head: &Head) -> Response {
    // What is too much at present, or was told where it happened, would fill the log with each request.
    if fault.kind.status >= 500 && fault.kind != fault::UNAVAILABLE {
        let (request, method, path) = (&head.request_id, &head.method, &head.path);
        tracing::error!(request, %method, path, %fault, "refused");
    }
    let problem = Problem::new(fault, &head.path, &head.request_id);
    // A problem has string keys only.
    let body = serde_json::to_vec(&problem).expect("a problem is JSON");
    let mut response = Response::new(body.into());
    *response.status_mut() = status(fault.kind.status);
    set_header(&mut response, "content-type", PROBLEM_TYPE);
    if let Some(allow) = &fault.allow {
        set_header(&mut response, "allow", allow);
    }
    if let Some(seconds) = fault.retry_after {
        set_header(&mut response, "retry-after", &seconds.to_string());
    }
    if fault.kind.status == 401 {
        let tried = fault.kind == fault::UNAUTHENTICATED && sent_token(&head.headers);
        let challenge = if tried { "Bearer error=\"invalid_token\"" } else { "Bearer" };
        set_header(&mut response, "www-authenticate", challenge);
    }
    // What is left of a body that was not read is not worth waiting for.
    if matches!(fault.kind.status, 413 | 503) {
        set_header(&mut response, "connection", "close");
    }
    response
}

/// Whether a request tried to authenticate with a token.
fn sent_token(headers: &HeaderMap) -> bool {
    headers.get_all(AUTHORIZATION).iter().any(|value| {
        let scheme = value.as_bytes().split(|byte| *byte == b' ').next().unwrap_or_default();
        scheme.eq_ignore_ascii_case(b"bearer")
    })
}

/// The headers of every answer.
fn finish(mut response: Response, state: &State, head: &Head) -> Response {
    set_header(&mut response, "x-request-id", &head.request_id);
    set_header(&mut response, "x-content-type-options", "nosniff");
    if !response.headers().contains_key(CACHE_CONTROL) {
        // What needed a token is not for whoever has the browser or the proxy next.
        let kept = if state.config.auth == Auth::On { "no-store" } else { "private, no-cache" };
        set_header(&mut response, CACHE_CONTROL, kept);
    }
    if state.phase() != Phase::Serving {
        set_header(&mut response, "connection", "close");
    }
    let origin = head.headers.get("origin").and_then(|origin| origin.to_str().ok());
    if let Some(origin) = origin.filter(|origin| state.config.cors_origins.iter().any(|o| o == origin)) {
        set_header(&mut response, "access-control-allow-origin", origin);
        set_header(
            &mut response,
            "access-control-expose-headers",
            "Dangling-References, Dry-Run, ETag, Idempotency-Replayed, Location, Retry-After, X-Request-Id",
        );
        set_header(&mut response, "vary", "Origin");
        if head.method == Method::OPTIONS {
            set_header(&mut response, "access-control-allow-methods", "GET, HEAD, POST, PUT, DELETE");
            let allowed = "Authorization, Content-Type, Dry-Run, If-Match, If-None-Match, Idempotency-Key, \
                           X-Request-Id";
            set_header(&mut response, "access-control-allow-headers", allowed);
            set_header(&mut response, "access-control-max-age", "600");
        }
    }
    response
}

/// The request's own identifier where it is a sane one, else a new one.
fn request_id(headers: &HeaderMap) -> String {
    let sent = headers.get("x-request-id").and_then(|value| value.to_str().ok());
    let sane = |id: &&str| {
        (1..=REQUEST_ID_LENGTH_MAX).contains(&id.len())
            && id.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b':'))
    };
    sent.filter(sane).map_or_else(|| hex(random::bytes::<8>()), str::to_owned)
}

fn hex(bytes: [u8; 8]) -> String {
    format!("{:016x}", u64::from_be_bytes(bytes))
}

/// A status of the table.
pub fn status(code: u16) -> StatusCode {
    StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

/// Sets a header whose value comes from this program or was checked to be visible ASCII.
pub fn set_header(response: &mut Response, name: &str, value: &str) {
    let name = HeaderName::try_from(name);
    let value = HeaderValue::try_from(value);
    if let (Ok(name), Ok(value)) = (name, value) {
        response.headers_mut().insert(name, value);
    }
}
