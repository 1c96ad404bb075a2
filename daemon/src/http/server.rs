//! Connections: accept, limit, serve through one warp filter, stop without losing a request.

use super::addresses::origin;
use super::admission::{Admitted, Doors, all_taken};
use super::answer::{answer, watches};
use super::body;
use super::connection::{Peer, Rules, refusal, serve as serve_connection};
use super::counts::Counts;
use super::head::{Head, request_id};
use super::line::Line;
use super::noted::Noted;
use super::pace::Paced;
use super::reply::CACHE_CONTROL;
use super::response::{set_header, status, with_an_end};
use super::state::{Phase, State};
use crate::config::Auth;
use crate::count::Within;
use crate::domain::pace::Pace;
use futures_util::StreamExt;
use hyper_util::service::TowerToHyperService;
use mfa_shared::fault::{self, Fault, Problem};
use mfa_shared::wire::PROBLEM_TYPE;
use rustix::net::sockopt;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use warp::Filter;
use warp::filters::path::FullPath;
use warp::http::header::{AUTHORIZATION, HOST};
use warp::http::{HeaderMap, Method};
use warp::reply::Response;

/// Time in which a connection that waits in the queue is handed over.
const QUEUE: Duration = Duration::from_millis(20);
/// Time after which the queue counts as empty: busy clients would fill it for ever.
const QUEUE_MAX: Duration = Duration::from_millis(200);
/// Pause after a failed accept, such as one without a free file descriptor.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// Bytes that the system keeps of an answer that is not read yet.
const SEND_BUFFER_BYTES: usize = 128 * 1024;
/// Time of a spare connection from its beginning to its end.
const SPARE_WITHIN: Duration = Duration::from_secs(3);
/// Seconds after which a client may come again that found no connection.
const RETRY_SECONDS: u32 = 1;

/// Serves connections until `stop` resolves, then lets the running requests end.
pub async fn serve(listener: TcpListener, state: Arc<State>, mut stop: watch::Receiver<bool>) {
    let config = &state.config;
    let limit = Limit {
        doors: Doors::new(config),
        pace: config.pace,
        counts: state.counts.clone(),
        speaks_tls: state.tls.is_some(),
    };
    let rules = Arc::new(Rules {
        tls: state.tls.clone(),
        head_within: Duration::from_secs(config.header_timeout_seconds),
        pace: config.pace,
    });
    let ending = watch::Sender::new(false);
    let service = warp::service(filter(state.clone()));
    let mut drained: Option<Instant> = None;
    let mut closing = std::pin::pin!(async {
        let _ = stop.wait_for(|stop| *stop).await;
        state.enter(Phase::Draining);
        tokio::time::sleep(config.drain).await;
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
        let Some((socket, peer)) = accepted else { break };
        let rules = rules.clone();
        let ends = ending.subscribe();
        let answering = TowerToHyperService::new(service.clone());
        tokio::spawn(async move {
            let within = if peer.spare { SPARE_WITHIN } else { Duration::MAX };
            let serving = serve_connection(socket, peer, &rules, answering, ends);
            let _ = tokio::time::timeout(within, serving).await;
        });
    }
    drop(listener);
    let within = Duration::from_secs(state.config.stop_timeout_seconds);
    ending.send_replace(true);
    if tokio::time::timeout(within, ending.closed()).await.is_err() {
        tracing::warn!("some requests did not end within {} seconds", within.as_secs());
    }
    state.enter(Phase::Stopping);
}

/// What a connection holds of the limits until it ends.
type Admission = (Admitted, Within);

/// Which connections there may be, and how slow they may be.
struct Limit {
    doors: Doors,
    pace: Pace,
    counts: Arc<Counts>,
    speaks_tls: bool,
}

async fn accept(listener: &TcpListener, limit: &Limit) -> (Paced<Admission>, Peer) {
    loop {
        // Who comes when there is none waits in the queue of the system.
        let permits = limit.doors.one_more().await;
        match listener.accept().await {
            Ok((socket, from)) => match limit.doors.enter(from.ip(), permits) {
                Ok(admitted) => {
                    prepare(&socket, limit.pace);
                    limit.counts.accepted.one();
                    let peer = Peer::new(from.ip(), admitted.spare);
                    let held = (admitted, limit.counts.connections.enter());
                    return (Paced::new(socket, limit.pace, held), peer);
                }
                Err(why) => {
                    limit.counts.turned_away.one();
                    tracing::debug!(from = %from.ip(), why, "a connection is turned away");
                    if !limit.speaks_tls {
                        turn_away(&socket, why);
                    }
                }
            },
            Err(error) if gone(&error) => {}
            Err(error) => {
                tracing::warn!(%error, "cannot accept a connection");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

/// Sets what the system does with a connection; where it cannot, the daemon's own deadlines hold.
fn prepare(socket: &TcpStream, pace: Pace) {
    // Answers are small and whole: they must not wait for more.
    let _ = socket.set_nodelay(true);
    // What a client does not read waits here, and the daemon only sees progress in steps of this size.
    let _ = sockopt::set_socket_send_buffer_size(socket, SEND_BUFFER_BYTES);
    // A client that is gone without a word, or that does not open its window.
    let longest = u32::try_from(pace.longest().as_millis()).unwrap_or(u32::MAX);
    let _ = sockopt::set_tcp_user_timeout(socket, longest);
}

/// Says no to a connection for which there is no place, without waiting for its request.
fn turn_away(socket: &TcpStream, why: String) {
    let fault = Fault::new(fault::UNAVAILABLE, why);
    let answer = refusal("503 Service Unavailable", &fault, &format!("retry-after: {RETRY_SECONDS}\r\n"));
    // A client that does not take it sees the end of the connection.
    let _ = socket.try_write(answer.as_bytes());
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
        .and(warp::ext::get::<Peer>())
        .and(warp::body::stream())
        .and_then(move |method: Method, path: FullPath, query, headers: HeaderMap, peer: Peer, body| {
            let state = state.clone();
            async move {
                let request_id = request_id(&headers, state.store.clock().now());
                let origin = origin(peer.from, &headers, &state.config.trusted_proxies);
                let path = path.as_str().to_owned();
                let noted = Arc::<Noted>::default();
                let mut line = Line::begin(&headers, &request_id, noted.clone(), state.counts.clone());
                let head = Head { method, path, query, headers, request_id, origin, noted, place: None };
                let mut body = pin!(StreamExt::fuse(body));
                let unclear = unambiguous(&head.headers, peer).err();
                // It is unknown where the next request begins.
                let ends = unclear.is_some();
                let answered = match unclear {
                    None if peer.spare && !watches(&state, &head) => {
                        state.counts.turned_away.one();
                        Err(Fault::new(fault::UNAVAILABLE, all_taken()).retry_after(RETRY_SECONDS))
                    }
                    None => answer(&state, &head, body.as_mut())
                        .await
                        .and_then(|response| with_an_end(response, peer.version)),
                    Some(fault) => Err(fault),
                };
                body::drain(body, &head.headers).await;
                let response = answered.unwrap_or_else(|fault| {
                    line.refused(&fault);
                    refuse(&fault, &head)
                });
                let mut response = finish(response, &state, &head);
                if ends {
                    set_header(&mut response, "connection", "close");
                }
                Ok::<_, warp::Rejection>(line.follow(response, head.method == Method::HEAD))
            }
        })
}

/// A proxy and this daemon could each take another one of two hosts, or see another end of the body.
fn unambiguous(headers: &HeaderMap, peer: Peer) -> Result<(), Fault> {
    if let Some(detail) = peer.ambiguous {
        return Err(Fault::new(fault::AMBIGUOUS_REQUEST, detail));
    }
    body::check_transfer(headers)?;
    match headers.get_all(HOST).iter().count() {
        0 | 1 => Ok(()),
        count => Err(Fault::new(fault::AMBIGUOUS_REQUEST, format!("the request has {count} Host headers"))),
    }
}

/// The one place where a fault becomes a response.
#[expect(clippy::expect_used, reason = "a problem has string keys only")]
fn refuse(fault: &Fault, head: &Head) -> Response {
    // Not logged: overload, and failures that were logged where they happened.
    let request = &head.request_id;
    if fault.kind == fault::GATEWAY_FAILED {
        // What a gateway says may name a customer.
        tracing::error!(request, code = fault.kind.code, "refused");
    } else if fault.kind.status >= 500 && fault.kind != fault::UNAVAILABLE {
        tracing::error!(request, %fault, "refused");
    }
    let problem = Problem::new(fault, &head.path, &head.request_id);
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
    if matches!(fault.kind.status, 413 | 503) && body::is_announced(&head.headers) {
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
    if let Some(standing) = head.noted.low() {
        set_header(&mut response, "ratelimit-policy", &standing.policy());
        set_header(&mut response, "ratelimit", &standing.header());
    }
    if state.tls.is_some() {
        set_header(&mut response, "strict-transport-security", "max-age=31536000");
    }
    if !response.headers().contains_key(CACHE_CONTROL) {
        // A response that needed a token must not be kept for the next user of the browser or the proxy.
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
            "Dangling-References, Dry-Run, ETag, Existing-Only, Idempotency-Replayed, Last-Event-ID, \
             Location, Possible-Duplicates, RateLimit, RateLimit-Policy, Retry-After, X-Request-Id",
        );
        set_header(&mut response, "vary", "Origin");
        if head.method == Method::OPTIONS {
            set_header(&mut response, "access-control-allow-methods", "GET, HEAD, POST, PUT, DELETE");
            let allowed = "Authorization, Content-Type, Dry-Run, Existing-Only, If-Match, If-None-Match, \
                           Idempotency-Key, X-Request-Id";
            set_header(&mut response, "access-control-allow-headers", allowed);
            set_header(&mut response, "access-control-max-age", "600");
        }
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_client_that_is_gone_without_a_word_is_given_up_by_the_system() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (_client, accepted) =
            tokio::join!(TcpStream::connect(listener.local_addr().unwrap()), listener.accept());
        let socket = accepted.unwrap().0;
        let pace = Pace { grace: Duration::from_secs(10), bytes_a_second: 1024 };
        prepare(&socket, pace);
        let given_up_after = sockopt::tcp_user_timeout(&socket).unwrap();
        assert_eq!(Duration::from_millis(given_up_after.into()), pace.longest());
    }
}
