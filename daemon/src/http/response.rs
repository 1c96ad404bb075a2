//! A reply as a response of HTTP, with a body that may be sent piece by piece.

use super::reply::{Content, Reply};
use crate::ops::listing::{Cursor, List};
use crate::store::Store;
use bytes::Bytes;
use mfa_shared::fault::Fault;
use std::sync::Arc;
use warp::http::StatusCode;
use warp::http::header::{HeaderName, HeaderValue};
use warp::reply::Response;

/// Chunks of a stream that wait for a slow client.
pub(super) const CHUNKS_WAITING: usize = 2;

/// A body that is sent as fast as the client takes it.
pub(super) type Chunks = tokio::sync::mpsc::Receiver<Result<Bytes, Fault>>;

/// Reads a list chunk by chunk, as fast as the client takes them.
pub(super) fn stream(store: Store, list: Arc<dyn List>) -> Chunks {
    let (sender, receiver) = tokio::sync::mpsc::channel(CHUNKS_WAITING);
    tokio::spawn(async move {
        let mut cursor = Cursor::Start;
        while !matches!(cursor, Cursor::End) {
            let list = list.clone();
            let from = cursor.clone();
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
