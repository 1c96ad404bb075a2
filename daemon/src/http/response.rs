//! A reply as a response of HTTP, with a body that may be sent piece by piece.

use super::reply::{Content, Reply};
use super::unread::Growing;
use crate::ops::list::{CHUNK_BYTES, Cursor, List};
use crate::store::{Store, Tx};
use bytes::Bytes;
use hyper::body::Body as _;
use mfa_shared::api::events::EVENT_STREAM;
use mfa_shared::fault::{self, Fault};
use std::sync::Arc;
use std::time::{Duration, Instant};
use warp::http::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use warp::http::{StatusCode, Version};
use warp::reply::Response;

/// Chunks of a stream that wait for a slow client.
pub(super) const CHUNKS_WAITING: usize = 2;

/// A body that is sent as fast as the client takes it.
pub(super) type Chunks = tokio::sync::mpsc::Receiver<Result<Bytes, Fault>>;

/// Where its chunks come from.
type Chunked = tokio::sync::mpsc::Sender<Result<Bytes, Fault>>;
/// Between two looks whether there is room for a chunk.
const ROOM_PAUSE: Duration = Duration::from_millis(200);

/// Chunks that a client must take at once, one after the other, before it gets more at once; and the most
/// parts of a list in one chunk. What the system itself holds of a connection is not yet taken.
const QUICK_CHUNKS: usize = 8;
const PARTS_MAX: usize = 5;
/// Where so much is read, a chunk ends, however few parts it has.
const QUICK_BYTES: usize = 4 * CHUNK_BYTES;
/// A chunk that is taken within this time is taken at once.
const QUICK: Duration = Duration::from_millis(500);

/// Reads a list chunk by chunk, as fast as the client takes them. Of a list whose client does not read, one
/// chunk is held beside the one that is being sent: thousands of such clients must not take all memory. What
/// the cursor holds takes its room until the stream ends.
pub(super) fn stream(store: Store, list: Arc<dyn List>, from: Cursor, room: Arc<Growing>) -> Chunks {
    let (sender, receiver) = tokio::sync::mpsc::channel(1);
    tokio::spawn(async move {
        let (mut cursor, mut quick, mut needed) = (from, 0, 0);
        while !matches!(cursor, Cursor::End) {
            let asked = Instant::now();
            let Ok(place) = sender.reserve().await else { break };
            let Some(held) = room_for(&room, needed, &sender).await else { break };
            quick = if asked.elapsed() < QUICK { quick + 1 } else { 0 };
            let parts = (1 + quick / QUICK_CHUNKS).min(PARTS_MAX);
            let (list, from) = (list.clone(), cursor.clone());
            let read = store.read(true, move |tx| read_parts(tx, &*list, from.clone(), parts)).await;
            if let Ok((lines, _)) = &read
                && held.grow_to(lines.len()).is_err()
            {
                // It is read again when there is room for it.
                needed = lines.len();
                continue;
            }
            needed = 0;
            let chunk = read.map(|(lines, next)| {
                cursor = next;
                // Without the room that it grew into.
                held.hold_bytes(Bytes::from(lines.into_boxed_slice()))
            });
            let failed = chunk.is_err();
            place.send(chunk);
            if failed {
                break;
            }
        }
    });
    receiver
}

/// The room that a chunk needs; none once the client has gone. A stream waits for it, as for its client.
async fn room_for(room: &Arc<Growing>, bytes: usize, sender: &Chunked) -> Option<Growing> {
    loop {
        if let Some(piece) = room.piece(bytes) {
            return Some(piece);
        }
        tokio::select! {
            () = sender.closed() => return None,
            () = tokio::time::sleep(ROOM_PAUSE) => {}
        }
    }
}

/// The next parts of a list, and the cursor after them.
fn read_parts(
    tx: &mut Tx<'_>,
    list: &dyn List,
    mut cursor: Cursor,
    parts: usize,
) -> Result<(Vec<u8>, Cursor), Fault> {
    let mut all = Vec::new();
    for _ in 0..parts {
        if matches!(cursor, Cursor::End) || all.len() >= QUICK_BYTES {
            break;
        }
        let (lines, next) = list.lines(tx, cursor)?;
        if all.is_empty() {
            all = lines;
        } else {
            all.extend(lines);
        }
        cursor = next;
    }
    Ok((all, cursor))
}

/// The response of a reply, with the body that is sent piece by piece, if there is one.
pub(super) fn respond(reply: Reply, stream: Option<Chunks>) -> Response {
    use warp::Reply as _;
    let mut response = match (stream, reply.content) {
        (Some(mut chunks), _) => {
            warp::reply::stream(futures_util::stream::poll_fn(move |cx| chunks.poll_recv(cx))).into_response()
        }
        (None, Content::Bytes(bytes)) => Response::new(bytes.into()),
        (None, _) => Response::new(Bytes::new().into()),
    };
    *response.status_mut() = status(reply.status);
    for (name, value) in
        reply.content_type.map(|t| ("content-type".to_owned(), t)).into_iter().chain(reply.headers)
    {
        set_header(&mut response, &name, &value);
    }
    response
}

/// Refuses an answer whose end a client could not tell. Over HTTP/1.0 the end of the connection is that of
/// what has no length beforehand, so a list or a backup that breaks off would be taken for a whole one. A
/// stream of events has no end, and a number at each.
pub(super) fn with_an_end(response: Response, version: Version) -> Result<Response, Fault> {
    let is_of_events = response.headers().get(CONTENT_TYPE).is_some_and(|kind| kind == EVENT_STREAM);
    if version > Version::HTTP_10 || is_of_events || response.body().size_hint().exact().is_some() {
        return Ok(response);
    }
    let detail = "over HTTP/1.0 nobody can tell whether this answer came whole: ask for it over HTTP/1.1";
    Err(Fault::new(fault::HTTP_VERSION_TOO_OLD, detail))
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

#[cfg(test)]
mod tests {
    use super::super::room::OF_CLIENT_MAX;
    use super::super::unread::Unread;
    use super::*;
    use crate::clock::Clock;
    use crate::store::embedded::{Embedded, Options};
    use std::net::IpAddr;
    use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

    const PARTS: u64 = 100;

    /// A list whose parts are their numbers, and how many were read.
    #[derive(Default)]
    struct Numbers(AtomicU64);

    impl List for Numbers {
        fn page(&self, _: &mut Tx<'_>) -> Result<Vec<u8>, Fault> {
            Ok(Vec::new())
        }

        fn lines(&self, _: &mut Tx<'_>, cursor: Cursor) -> Result<(Vec<u8>, Cursor), Fault> {
            let at = if let Cursor::Span(left) = cursor { left.start } else { 0 };
            self.0.fetch_add(1, SeqCst);
            let next = if at + 1 < PARTS { Cursor::Span(at + 1..PARTS) } else { Cursor::End };
            Ok((format!("{at}\n").into_bytes(), next))
        }
    }

    #[tokio::test]
    async fn a_list_is_not_read_ahead_of_a_client_that_reads_slowly() {
        let dir = tempfile::tempdir().unwrap();
        let engine = Embedded::open(Options::new(dir.path())).unwrap();
        let store = Store::new(engine, Clock::system(), false);
        let list = Arc::<Numbers>::default();
        let room = || Unread::default().begin(IpAddr::from([192, 0, 2, 1]), usize::MAX);
        let mut chunks = stream(store.clone(), list.clone(), Cursor::Start, room());
        for taken in 1..=4 {
            tokio::time::sleep(QUICK + Duration::from_millis(300)).await;
            assert_eq!(list.0.load(SeqCst), taken);
            assert_eq!(chunks.recv().await.unwrap().unwrap(), format!("{}\n", taken - 1));
        }
        drop(chunks);
        // One that takes everything gets it in order, and soon more of it at once.
        let mut chunks = stream(store.clone(), list, Cursor::Start, room());
        let (mut count, mut all) = (0, Vec::new());
        while let Some(chunk) = chunks.recv().await {
            all.extend_from_slice(&chunk.unwrap());
            count += 1;
        }
        let expected: String = (0..PARTS).map(|number| format!("{number}\n")).collect();
        assert_eq!(String::from_utf8(all).unwrap(), expected);
        assert!(count < PARTS / 2, "{count} chunks");
        store.close().await;
    }

    /// A list of lines of a length.
    struct Long(usize);

    impl List for Long {
        fn page(&self, _: &mut Tx<'_>) -> Result<Vec<u8>, Fault> {
            Ok(Vec::new())
        }

        fn lines(&self, _: &mut Tx<'_>, _: Cursor) -> Result<(Vec<u8>, Cursor), Fault> {
            Ok((vec![b' '; self.0], Cursor::Start))
        }
    }

    #[tokio::test]
    async fn streams_of_long_records_that_are_not_read_take_no_more_than_the_part_of_their_client() {
        let dir = tempfile::tempdir().unwrap();
        let engine = Embedded::open(Options::new(dir.path())).unwrap();
        let store = Store::new(engine, Clock::system(), false);
        let unread = Unread::default();
        let begin = |client: u8, bytes: usize| {
            let room = unread.begin(IpAddr::from([192, 0, 2, client]), usize::MAX);
            stream(store.clone(), Arc::new(Long(bytes)), Cursor::Start, room)
        };
        let long = OF_CLIENT_MAX / 4;
        let mut unheeded: Vec<_> = (0..12).map(|_| begin(1, long)).collect();
        tokio::time::sleep(Duration::from_secs(2)).await;
        assert_eq!(unheeded.iter().filter(|chunks| !chunks.is_empty()).count(), 4);
        // Another client is not held up by them, nor what is short.
        assert_eq!(begin(2, long).recv().await.unwrap().unwrap().len(), long);
        assert_eq!(begin(1, 1_000).recv().await.unwrap().unwrap().len(), 1_000);
        // Each goes on when another one is read.
        let soon = Instant::now() + Duration::from_secs(60);
        while !unheeded.is_empty() {
            assert!(Instant::now() < soon, "{} streams stand still", unheeded.len());
            tokio::time::sleep(Duration::from_millis(20)).await;
            unheeded.retain(|chunks| chunks.is_empty());
        }
        store.close().await;
    }

    #[tokio::test]
    async fn what_a_stream_keeps_takes_room_until_its_client_is_gone() {
        let dir = tempfile::tempdir().unwrap();
        let engine = Embedded::open(Options::new(dir.path())).unwrap();
        let store = Store::new(engine, Clock::system(), false);
        let unread = Unread::default();
        let room = || unread.begin(IpAddr::from([192, 0, 2, 1]), usize::MAX);
        let (kept, refused) = (room(), room());
        kept.grow_to(OF_CLIENT_MAX).unwrap();
        let mut chunks = stream(store.clone(), Arc::<Numbers>::default(), Cursor::Start, kept);
        chunks.recv().await.unwrap().unwrap();
        let fault = refused.grow_to(OF_CLIENT_MAX).unwrap_err();
        assert_eq!((fault.kind.status, fault.retry_after.is_some()), (503, true));
        drop(chunks);
        let soon = Instant::now() + Duration::from_secs(10);
        while refused.grow_to(OF_CLIENT_MAX).is_err() {
            assert!(Instant::now() < soon, "the room was not given back");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        store.close().await;
    }
}
