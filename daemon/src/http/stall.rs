//! Clients of HTTP/2 that keep a connection without using it. The pace of the connection does not see them: a
//! client may answer every ping and still leave no room for the bodies that it asked for, or ask for nothing.

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};
use warp::http;
use warp::reply::Response;

/// Bytes that are handed over at once, so that it shows whether the client takes them.
const PIECE_BYTES: usize = 16 * 1024;
/// Time between two looks at the answers of a connection.
const LOOK: Duration = Duration::from_secs(1);

/// The moment since which the client lets an answer wait; none while it waits for the daemon.
type Since = Mutex<Option<Instant>>;

/// The streams of one connection, and their answers that are not at their end.
#[derive(Debug, Clone)]
pub(super) struct Streams(Arc<Mutex<Open>>);

#[derive(Debug)]
struct Open {
    count: usize,
    /// Whether there ever was one.
    begun: bool,
    /// When the last one ended.
    idle_since: Instant,
    answers: Vec<Weak<Since>>,
}

/// A stream, from its request to the end of its answer.
#[derive(Debug)]
pub(super) struct Stream(Streams);

impl Drop for Stream {
    fn drop(&mut self) {
        let mut open = self.0.open();
        open.count -= 1;
        open.idle_since = Instant::now();
    }
}

/// The body of an answer, piece by piece.
#[derive(Debug)]
pub(super) struct Followed<B> {
    body: B,
    /// What is left of the last part of the body.
    rest: Bytes,
    since: Arc<Since>,
    _stream: Stream,
}

impl Streams {
    /// None yet.
    pub(super) fn new() -> Self {
        let idle_since = Instant::now();
        Self(Arc::new(Mutex::new(Open { count: 0, begun: false, idle_since, answers: Vec::new() })))
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One more.
    pub(super) fn begin(&self) -> Stream {
        let mut open = self.open();
        open.count += 1;
        open.begun = true;
        Stream(self.clone())
    }

    /// Ends when the client has let an answer wait for so long.
    pub(super) async fn stalled(&self, longest: Duration) {
        loop {
            tokio::time::sleep(LOOK.min(longest)).await;
            let waits = |since: Arc<Since>| {
                let since = *since.lock().unwrap_or_else(PoisonError::into_inner);
                since.is_some_and(|since| since.elapsed() > longest)
            };
            if self.open().answers.iter().filter_map(Weak::upgrade).any(waits) {
                return;
            }
        }
    }

    /// Ends when no stream has been open for so long, or where there never was one, for as long as `silent`.
    pub(super) async fn idle(&self, longest: Duration, silent: Duration) {
        loop {
            tokio::time::sleep(LOOK.min(silent)).await;
            let open = self.open();
            let longest = if open.begun { longest } else { silent };
            if open.count == 0 && open.idle_since.elapsed() > longest {
                return;
            }
        }
    }
}

impl Stream {
    /// Follows its answer to the end.
    pub(super) fn follow(self, answer: Response) -> http::Response<Followed<<Response as Bodied>::Body>> {
        answer.map(|body| self.body(body))
    }

    fn body<B>(self, body: B) -> Followed<B> {
        let since = Arc::new(Mutex::new(Some(Instant::now())));
        let mut open = self.0.open();
        open.answers.retain(|answer| answer.strong_count() > 0);
        open.answers.push(Arc::downgrade(&since));
        drop(open);
        Followed { body, rest: Bytes::new(), since, _stream: self }
    }
}

/// The body of a response of warp, whose type has no public name.
pub(super) trait Bodied {
    /// That type.
    type Body;
}

impl<B> Bodied for http::Response<B> {
    type Body = B;
}

impl<B> Followed<B> {
    fn waits_for_client(&self, waits: bool) {
        *self.since.lock().unwrap_or_else(PoisonError::into_inner) = waits.then(Instant::now);
    }
}

impl<B: Body<Data = Bytes> + Unpin> Body for Followed<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        if self.rest.is_empty() {
            self.waits_for_client(false);
            match ready!(Pin::new(&mut self.body).poll_frame(cx)) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => self.rest = data,
                    Err(frame) => return Poll::Ready(Some(Ok(frame))),
                },
                ended => return Poll::Ready(ended),
            }
        }
        self.waits_for_client(true);
        let length = self.rest.len().min(PIECE_BYTES);
        Poll::Ready(Some(Ok(Frame::data(self.rest.split_to(length)))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let mut hint = self.body.size_hint();
        let rest = self.rest.len() as u64;
        if let Some(upper) = hint.upper() {
            hint.set_upper(upper + rest);
        }
        hint.set_lower(hint.lower() + rest);
        hint
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http_body_util::{BodyExt, Full, StreamBody};
    use std::convert::Infallible;

    #[tokio::test]
    async fn a_body_comes_in_pieces_and_whole() {
        let bytes = Bytes::from(vec![7; PIECE_BYTES * 2 + 5]);
        let mut body = Streams::new().begin().body(Full::new(bytes.clone()));
        let (mut lengths, mut whole) = (Vec::new(), Vec::new());
        assert_eq!(body.size_hint().exact(), Some(bytes.len() as u64));
        while let Some(frame) = body.frame().await {
            let data = frame.unwrap().into_data().unwrap();
            lengths.push(data.len());
            whole.extend_from_slice(&data);
            assert_eq!(body.size_hint().exact(), Some((bytes.len() - whole.len()) as u64));
        }
        assert_eq!(lengths, [PIECE_BYTES, PIECE_BYTES, 5]);
        assert!(whole == bytes && body.is_end_stream());
    }

    #[tokio::test]
    async fn only_an_answer_that_its_client_lets_wait_is_stalled() {
        let streams = Streams::new();
        let longest = Duration::from_millis(50);
        let stalled = || tokio::time::timeout(Duration::from_millis(400), streams.stalled(longest));
        // An answer that waits for the daemon, and one that has gone.
        let silent = futures_util::stream::pending::<Result<Frame<Bytes>, Infallible>>();
        let mut quiet = streams.begin().body(StreamBody::new(silent));
        drop(streams.begin().body(Full::new(Bytes::from_static(b"gone"))));
        let asked = |cx: &mut Context<'_>| Poll::Ready(Pin::new(&mut quiet).poll_frame(cx).is_pending());
        assert!(std::future::poll_fn(asked).await);
        assert!(stalled().await.is_err());
        let mut taken = streams.begin().body(Full::new(Bytes::from_static(b"taken")));
        taken.frame().await.unwrap().unwrap();
        assert!(stalled().await.is_ok());
    }

    #[tokio::test]
    async fn a_connection_is_idle_when_its_last_answer_is_gone_and_sooner_where_nothing_was_asked() {
        let streams = Streams::new();
        let wait = Duration::from_millis(300);
        let within = |longest: u64, silent: u64| {
            let idle = streams.idle(Duration::from_millis(longest), Duration::from_millis(silent));
            tokio::time::timeout(wait, idle)
        };
        assert!(within(10_000, 50).await.is_ok(), "nothing was asked");
        let open = streams.begin().body(Full::new(Bytes::from_static(b"open")));
        assert!(within(50, 50).await.is_err(), "an answer is open");
        drop(open);
        assert!(within(10_000, 50).await.is_err(), "it was open a moment ago");
        assert!(within(50, 50).await.is_ok());
    }
}
