//! One connection: TLS where the daemon has it, then HTTP/1.1, or HTTP/2 where the client asks for it.

use super::cut::Cut;
use super::heads::Watched;
use super::pace::Paced;
use super::stall::Streams;
use crate::domain::pace::Pace;
use crate::random;
use crate::tls::{HTTP_2, Tls};
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulConnection;
use mfa_shared::fault::{self, Fault, Problem};
use mfa_shared::wire::PROBLEM_TYPE;
use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::{Notify, watch};
use tokio::time::timeout;
use tokio_rustls::server::TlsStream;
use warp::http::header::{HOST, HeaderValue};
use warp::http::{Request, StatusCode, Uri, Version};
use warp::reply::Response;

/// Bytes of a connection that are held at once. A thousand uploads hold as many.
const BUFFER_BYTES_MAX: usize = 64 * 1024;
/// Bytes and fields of a head; a longer one is answered 431. As many fields hyper takes over HTTP/1.1; the
/// bytes it counts there only while the head is not whole.
const HEAD_BYTES_MAX: u16 = 16 * 1024;
const FIELDS_MAX: usize = 100;
/// Requests that run at once on a connection of HTTP/2.
const STREAMS_MAX: u32 = 32;
/// Bytes of bodies that arrive on such a connection before they are read.
const WINDOW_BYTES: u32 = 256 * 1024;
/// Time after which a silent connection of HTTP/2 is asked whether it is still there, and for the answer.
const PING_PAUSE: Duration = Duration::from_secs(20);
const PING_WITHIN: Duration = Duration::from_secs(10);
/// Time for an idle client of HTTP/2 to go, once it was told that the connection ends.
const FAREWELL: Duration = Duration::from_secs(2);
const UNREAD_EVENTS: &str = "a listener did not read";
/// The first byte of every TLS connection.
const HANDSHAKE: u8 = 22;

/// What the connection knows of a request.
#[derive(Debug, Clone, Copy)]
pub(super) struct Peer {
    /// The address of its other end.
    pub(super) from: IpAddr,
    /// Whether it is one beyond those that are served at once: it has one request, soon, and for a look at
    /// the daemon.
    pub(super) spare: bool,
    /// Whether proxies could read the request differently, and why.
    pub(super) ambiguous: Option<&'static str>,
    /// The version of HTTP of the request.
    pub(super) version: Version,
}

impl Peer {
    /// Nothing is known of its requests yet.
    pub(super) fn new(from: IpAddr, spare: bool) -> Self {
        Self { from, spare, ambiguous: None, version: Version::default() }
    }
}

/// Whether connections are to end, each when its requests are answered. It is held until then.
pub(super) type Ending = watch::Receiver<bool>;

/// What all connections have in common.
#[derive(Debug)]
pub(super) struct Rules {
    pub(super) tls: Option<Arc<Tls>>,
    /// Time for the handshake, for each head, and between two requests.
    pub(super) head_within: Duration,
    pub(super) pace: Pace,
}

/// Serves one connection to its end.
pub(super) async fn serve<H, S>(socket: Paced<H>, peer: Peer, rules: &Rules, service: S, ending: Ending)
where
    H: Unpin + Send + 'static,
    S: Answering,
    S::Future: Send,
{
    let ended = match &rules.tls {
        None => first(Watched::new(socket), peer, rules, service, ending).await,
        Some(tls) => {
            let Some(stream) = handshake(socket, tls, rules.head_within).await else { return };
            match stream.get_ref().1.alpn_protocol() {
                Some(HTTP_2) => second(stream, peer, rules, service, ending).await,
                _ => first(Watched::new(stream), peer, rules, service, ending).await,
            }
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended early");
    }
}

/// What answers the requests of a connection.
pub(super) trait Answering:
    Service<Request<Incoming>, Response = Response, Error = Infallible> + Clone + Send + 'static
{
}

impl<S> Answering for S where
    S: Service<Request<Incoming>, Response = Response, Error = Infallible> + Clone + Send + 'static
{
}

async fn handshake<H: Unpin>(
    mut socket: Paced<H>,
    tls: &Tls,
    within: Duration,
) -> Option<TlsStream<Paced<H>>> {
    let shaken = timeout(within, async {
        if socket.first_byte().await? != HANDSHAKE {
            let _ = socket.write_all(speaks_plain_http().as_bytes()).await;
            let _ = socket.shutdown().await;
            return Err(io::Error::other("the client speaks no TLS"));
        }
        tls.acceptor().accept(socket).await
    });
    match shaken.await {
        Ok(Ok(stream)) => Some(stream),
        Ok(Err(error)) => {
            tracing::debug!(%error, "a client could not agree on TLS");
            None
        }
        Err(_) => None,
    }
}

/// The answer to `http:` where `https:` is spoken.
fn speaks_plain_http() -> String {
    let fault =
        Fault::new(fault::TLS_REQUIRED, "this address speaks TLS only: ask for https:// in place of http://");
    refusal("400 Bad Request", &fault, "")
}

/// An answer to a client that is turned away before its request is read.
#[expect(clippy::expect_used, reason = "a problem has string keys only")]
pub(super) fn refusal(status: &str, fault: &Fault, headers: &str) -> String {
    let request_id = random::hex::<8>();
    let problem = Problem::new(fault, "", &request_id);
    let body = serde_json::to_string(&problem).expect("a problem is JSON");
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: {PROBLEM_TYPE}\r\ncontent-length: {}\r\n{headers}\
         x-request-id: {request_id}\r\nx-content-type-options: nosniff\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )
}

/// HTTP/1.1.
async fn first<I, S>(
    io: Watched<I>,
    peer: Peer,
    rules: &Rules,
    service: S,
    mut ending: Ending,
) -> Result<(), hyper::Error>
where
    I: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    S: Answering,
    S::Future: Send,
{
    let ambiguous = io.ambiguous();
    let served = AtomicUsize::new(0);
    let cut = Arc::new(Notify::new());
    let theirs = cut.clone();
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .keep_alive(!peer.spare)
        .max_buf_size(BUFFER_BYTES_MAX)
        .max_header_size(HEAD_BYTES_MAX.into())
        .header_read_timeout(rules.head_within)
        .serve_connection(
            TokioIo::new(io),
            service_fn(move |asked| {
                let ambiguous = ambiguous.why(served.fetch_add(1, Relaxed));
                let answer = is_in_bounds(&asked)
                    .then(|| service.call(with_peer(with_target_host(asked), Peer { ambiguous, ..peer })));
                let cut = theirs.clone();
                async move {
                    match answer {
                        Some(answer) => answer.await.inspect(|answer| Cut::connect(answer, &cut)),
                        None => Ok(head_too_large()),
                    }
                }
            }),
        );
    let over = async {
        cut.notified().await;
        UNREAD_EVENTS
    };
    carry(connection, asked_to_end(&mut ending), over).await
}

/// HTTP/2.
async fn second<I, S>(
    io: I,
    peer: Peer,
    rules: &Rules,
    service: S,
    mut ending: Ending,
) -> Result<(), hyper::Error>
where
    I: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    S: Answering,
    S::Future: Send,
{
    let streams = Streams::new();
    let begun = streams.clone();
    let cut = Arc::new(Notify::new());
    let theirs = cut.clone();
    let connection = http2::Builder::new(TokioExecutor::new())
        .timer(TokioTimer::new())
        .max_concurrent_streams(STREAMS_MAX)
        .max_header_list_size(HEAD_BYTES_MAX.into())
        .max_send_buf_size(BUFFER_BYTES_MAX)
        .initial_connection_window_size(WINDOW_BYTES)
        .initial_stream_window_size(WINDOW_BYTES / 4)
        .keep_alive_interval(PING_PAUSE)
        .keep_alive_timeout(PING_WITHIN)
        .serve_connection(
            TokioIo::new(io),
            service_fn(move |asked| {
                let (stream, cut) = (begun.begin(), theirs.clone());
                // What is too large goes at once, before anything waits for its body.
                let answer = is_in_bounds(&asked).then(|| {
                    let (asked, ambiguous) = with_host(asked);
                    service.call(with_peer(asked, Peer { ambiguous, ..peer }))
                });
                async move {
                    let answer = match answer {
                        Some(answer) => answer.await.inspect(|answer| Cut::connect(answer, &cut))?,
                        None => head_too_large(),
                    };
                    Ok::<_, Infallible>(stream.follow(answer))
                }
            }),
        );
    let (between, longest) = (rules.head_within, rules.pace.longest());
    let silent = between + FAREWELL;
    let farewell = async {
        if peer.spare {
            return;
        }
        tokio::select! {
            () = asked_to_end(&mut ending) => {}
            () = streams.idle(between, between) => {}
        }
    };
    let over = async {
        tokio::select! {
            () = streams.stalled(longest) => "a client did not take its answers",
            () = cut.notified() => UNREAD_EVENTS,
            // What it has not taken yet of its last answer may be under way.
            () = streams.idle(silent + longest, silent) => "a client asked for nothing",
        }
    };
    carry(connection, farewell, over).await
}

/// Serves a connection until it ends. After `farewell` it takes no more requests and ends when those it has
/// are answered; `over` cuts it off, and says why.
async fn carry<C: GracefulConnection>(
    connection: C,
    farewell: impl Future<Output = ()>,
    over: impl Future<Output = &'static str>,
) -> Result<(), C::Error> {
    let mut connection = pin!(connection);
    let mut over = pin!(over);
    let why = tokio::select! {
        ended = &mut connection => return ended,
        why = &mut over => why,
        () = farewell => {
            connection.as_mut().graceful_shutdown();
            tokio::select! {
                ended = connection => return ended,
                why = over => why,
            }
        }
    };
    tracing::debug!("{why}");
    Ok(())
}

async fn asked_to_end(ending: &mut Ending) {
    let _ = ending.wait_for(|ends| *ends).await;
}

/// Whether a head is no longer than it may be.
fn is_in_bounds<B>(request: &Request<B>) -> bool {
    let target = request.uri().path_and_query().map_or(0, |target| target.as_str().len());
    let fields =
        request.headers().iter().map(|(name, value)| name.as_str().len() + value.len() + ": \r\n".len());
    request.headers().len() <= FIELDS_MAX && target + fields.sum::<usize>() <= HEAD_BYTES_MAX.into()
}

/// As hyper answers a longer head over HTTP/1.1.
fn head_too_large() -> Response {
    let mut refused = Response::new(Vec::new().into());
    *refused.status_mut() = StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE;
    refused
}

/// HTTP/2 names the host in a place of its own; what else is said must not be another host.
fn with_host<B>(mut request: Request<B>) -> (Request<B>, Option<&'static str>) {
    let Some(authority) = request.uri().authority().map(|authority| authority.as_str().to_owned()) else {
        return (request, None);
    };
    if let Some(host) = request.headers().get(HOST) {
        let same = host.as_bytes().eq_ignore_ascii_case(authority.as_bytes());
        return (request, (!same).then_some("the request names two hosts"));
    }
    if let Ok(host) = HeaderValue::from_str(&authority) {
        request.headers_mut().insert(HOST, host);
    }
    (request, None)
}

/// A target that is a whole address, as proxies are sent it, names the host; RFC 9112 has the header ignored
/// then, and so is a header that would pass a foreign host off as this machine. Two headers stay two, and
/// `CONNECT`, which names no path, is refused as it is.
fn with_target_host<B>(mut request: Request<B>) -> Request<B> {
    let target = request.uri();
    let named = target.authority().filter(|_| target.scheme().is_some());
    let named = named.and_then(|authority| HeaderValue::from_str(authority.as_str()).ok());
    if let Some(host) = named.filter(|_| request.headers().get_all(HOST).iter().count() < 2) {
        request.headers_mut().insert(HOST, host);
    }
    request
}

/// Hands over what the connection knows. `CONNECT` names a host and no path, which warp takes for
/// impossible; nothing answers there.
fn with_peer<B>(mut request: Request<B>, peer: Peer) -> Request<B> {
    let version = request.version();
    request.extensions_mut().insert(Peer { version, ..peer });
    if request.uri().path_and_query().is_none() {
        *request.uri_mut() = Uri::from_static("/");
    }
    request
}
