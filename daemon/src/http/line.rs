//! The line that the log has for each request, and what is counted at its end. Contract: `audit.md` section
//! 5. It shows who did what and how it ended, never what was sent: no path, no query, no body, no name that
//! is no user's.

use super::counts::{Counts, UNKNOWN};
use super::noted::Noted;
use crate::count::Within;
use hyper::body::Body as _;
use mfa_shared::fault::Fault;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Poll, ready};
use std::time::Instant;
use warp::http::HeaderMap;
use warp::reply::{Reply as _, Response};

/// The target of the lines of requests in the log.
pub const LOG_OF_REQUESTS: &str = "request";
/// The status of a request whose client went away before the answer, as proxies note it.
const GONE: u16 = 499;
/// Refusals that only a record that exists can bring about.
const OF_RECORDS: [&str; 4] =
    ["wrong_drawer_password", "not_assigned_employee", "too_many_attempts", "wrong_password"];

/// The line of one request, which is written when this value goes.
#[derive(Debug)]
pub struct Line {
    noted: Arc<Noted>,
    counts: Arc<Counts>,
    _running: Within,
    since: Instant,
    request_id: String,
    trace: Option<String>,
    status: u16,
    code: Option<&'static str>,
    locked_seconds: Option<u32>,
    bytes: u64,
}

impl Line {
    /// Begins the line of a request.
    pub fn begin(headers: &HeaderMap, request_id: &str, noted: Arc<Noted>, counts: Arc<Counts>) -> Self {
        Self {
            noted,
            _running: counts.begin(),
            counts,
            since: Instant::now(),
            request_id: request_id.to_owned(),
            trace: headers.get("traceparent").and_then(|value| value.to_str().ok()).and_then(trace),
            status: GONE,
            code: None,
            locked_seconds: None,
            bytes: 0,
        }
    }

    /// Notes why the request was refused.
    pub fn refused(&mut self, fault: &Fault) {
        self.code = Some(fault.kind.code);
        self.locked_seconds = fault.locked_seconds;
    }

    /// Follows the answer to its end.
    pub fn follow(mut self, response: Response, without_body: bool) -> Response {
        self.status = response.status().as_u16();
        match response.body().size_hint().exact() {
            _ if without_body => response,
            Some(bytes) => {
                self.bytes = bytes;
                response
            }
            None => {
                let (parts, mut body) = response.into_parts();
                let chunks = futures_util::stream::poll_fn(move |cx| {
                    let frame = ready!(Pin::new(&mut body).poll_frame(cx));
                    let chunk = frame.map(|frame| frame.map(|f| f.into_data().unwrap_or_default()));
                    self.sent(
                        chunk.as_ref().and_then(|chunk| chunk.as_ref().ok()).map_or(0, bytes::Bytes::len),
                    );
                    Poll::Ready(chunk)
                });
                Response::from_parts(parts, warp::reply::stream(chunks).into_response().into_body())
            }
        }
    }

    fn sent(&mut self, bytes: usize) {
        self.bytes += bytes as u64;
    }

    /// The drawer or login, where it is one that exists.
    fn about(&self) -> Option<&str> {
        let exists = self.code.map_or(self.status < 300, |code| OF_RECORDS.contains(&code));
        self.noted.about.get().filter(|_| exists).map(String::as_str)
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        let operation = self.noted.operation.get().copied().unwrap_or(UNKNOWN);
        let actor = self.noted.actor.get().map_or("guest", String::as_str);
        let took = self.since.elapsed();
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.counts.request(operation, self.status, took);
        if self.locked_seconds.is_some() {
            self.counts.lock(operation);
        }
        macro_rules! write {
            ($level:ident) => {
                tracing::$level!(
                    target: LOG_OF_REQUESTS,
                    operation,
                    status = self.status,
                    durationMicros = micros,
                    actor,
                    requestId = self.request_id.as_str(),
                    bytes = self.bytes,
                    code = self.code,
                    about = self.about(),
                    lockedSeconds = self.locked_seconds,
                    traceparent = self.trace.as_deref(),
                )
            };
        }
        // Who is refused for what they may not do matters also where the log is to be short.
        match self.status {
            401 | 403 | 429 => write!(warn),
            _ => write!(info),
        }
    }
}

/// A `traceparent` as W3C Trace Context has it; nothing else gets into the log.
fn trace(sent: &str) -> Option<String> {
    let lengths = [2, 32, 16, 2];
    let parts: Vec<_> = sent.split('-').collect();
    let hex = |part: &str| part.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let plain = parts.len() == lengths.len()
        && parts.iter().zip(lengths).all(|(part, length)| part.len() == length && hex(part));
    plain.then(|| sent.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_traceparent_is_taken_over() {
        let good = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        assert_eq!(trace(good).as_deref(), Some(good));
        for bad in ["", "00", &good.to_uppercase(), &good[1..], &format!("{good}-x"), "a secret of somebody"]
        {
            assert_eq!(trace(bad), None, "{bad}");
        }
    }
}
