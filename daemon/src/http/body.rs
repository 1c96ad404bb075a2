//! Reading of request bodies: as a stream, with a limit and a deadline.

use super::pace::Patience;
use super::room::{Full, Room, Taken};
use crate::domain::pace::Pace;
use bytes::Buf;
use futures_util::{Stream, StreamExt};
use mfa_shared::fault::{self, Fault};
use mfa_shared::node::Node;
use mfa_shared::wire::BodyKind;
use std::fmt::Display;
use std::net::IpAddr;
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;
use warp::http::HeaderMap;
use warp::http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, EXPECT, TRANSFER_ENCODING};

/// A body that is smaller takes no room: it fits into the buffers of a connection.
const COUNTED_BYTES: usize = 64 * 1024;
/// Most values of a JSON body. Taken apart, small ones take many times their bytes: about so many each.
const VALUES_MAX: usize = 100_000;
const VALUE_BYTES: usize = 128;
/// Most bytes of an unwanted body that are still read.
const DRAIN_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// Longest time for that.
const DRAIN_WITHIN: Duration = Duration::from_secs(1);

/// Refuses what can be refused before the body is read.
pub fn check_head(headers: &HeaderMap, kind: BodyKind, bytes_max: usize) -> Result<(), Fault> {
    // A form with an image is checked where it is read.
    if matches!(kind, BodyKind::None | BodyKind::Upload(_)) {
        return Ok(());
    }
    check_length(headers, bytes_max as u64)?;
    check_coding(headers)?;
    match headers.get(CONTENT_TYPE) {
        Some(value) if kind == BodyKind::Credentials => match essence(value.as_bytes()).as_str() {
            "application/json" | "application/x-www-form-urlencoded" => Ok(()),
            _ => {
                let detail = "the body must be application/x-www-form-urlencoded or application/json";
                Err(Fault::new(fault::UNSUPPORTED_MEDIA_TYPE, detail))
            }
        },
        Some(value) if kind == BodyKind::Json && !is_json(value.as_bytes()) => {
            let detail = "the body must be application/json, not another content type";
            Err(Fault::new(fault::UNSUPPORTED_MEDIA_TYPE, detail))
        }
        _ => Ok(()),
    }
}

/// A refusal with its fields in the order of the body.
pub fn in_order(fault: Fault, body: &[u8]) -> Fault {
    if fault.errors.len() < 2 {
        return fault;
    }
    match Node::parse(body) {
        Ok(body) => fault.in_order_of(&body),
        Err(_) => fault,
    }
}

/// Refuses a body whose declared length is too large.
pub fn check_length(headers: &HeaderMap, bytes_max: u64) -> Result<(), Fault> {
    match length(headers) {
        Some(length) if length > bytes_max => Err(too_large(bytes_max)),
        _ => Ok(()),
    }
}

/// Refuses a compressed body: nothing here unpacks one, and what it says would be passed over or misread.
pub fn check_coding(headers: &HeaderMap) -> Result<(), Fault> {
    let mut codings =
        headers.get_all(CONTENT_ENCODING).iter().flat_map(|value| value.as_bytes().split(|b| *b == b','));
    let plain =
        |coding: &[u8]| matches!(coding.trim_ascii().to_ascii_lowercase().as_slice(), b"" | b"identity");
    if codings.all(plain) {
        return Ok(());
    }
    let detail = "the body must be sent as it is, without Content-Encoding";
    Err(Fault::new(fault::UNSUPPORTED_MEDIA_TYPE, detail))
}

/// Refuses every transfer coding but `chunked`, once. hyper looks at the last word only, and hands the chunks
/// over as they are.
pub fn check_transfer(headers: &HeaderMap) -> Result<(), Fault> {
    let values = headers.get_all(TRANSFER_ENCODING).iter();
    let codings: Vec<_> =
        values.flat_map(|value| value.as_bytes().split(|b| *b == b',')).map(<[u8]>::trim_ascii).collect();
    let Some((last, before)) = codings.split_last() else { return Ok(()) };
    let is_chunked = |coding: &[u8]| coding.eq_ignore_ascii_case(b"chunked");
    if !is_chunked(last) || before.iter().any(|coding| coding.is_empty() || is_chunked(coding)) {
        let detail = "Transfer-Encoding must be chunked, and name it once";
        return Err(Fault::new(fault::AMBIGUOUS_REQUEST, detail));
    }
    if before.is_empty() {
        return Ok(());
    }
    let detail = "the body must be sent as it is: the only Transfer-Encoding is chunked";
    Err(Fault::new(fault::UNSUPPORTED_MEDIA_TYPE, detail))
}

/// Whether the headers say that the body is JSON; where they say nothing, they do not.
pub fn says_json(headers: &HeaderMap) -> bool {
    headers.get(CONTENT_TYPE).is_some_and(|value| is_json(value.as_bytes()))
}

/// A content type without its parameters.
fn essence(value: &[u8]) -> String {
    let text = String::from_utf8_lossy(value).to_ascii_lowercase();
    text.split(';').next().unwrap_or_default().trim().to_owned()
}

/// Whether a content type is `application/json` or `application/*+json`, with any parameters.
fn is_json(value: &[u8]) -> bool {
    let essence = essence(value);
    let Some(subtype) = essence.strip_prefix("application/") else { return false };
    subtype == "json" || subtype.strip_suffix("+json").is_some_and(|before| !before.is_empty())
}

/// A body that is broken off when it comes too slowly.
pub fn paced<S, B, E>(body: S, pace: Pace) -> impl Stream<Item = Result<B, &'static str>>
where
    S: Stream<Item = Result<B, E>>,
    B: Buf,
{
    let mut body = Box::pin(body);
    let mut patience = Patience::new(pace);
    futures_util::stream::poll_fn(move |cx| match body.as_mut().poll_next(cx) {
        Poll::Ready(next) => {
            patience.moved(next.as_ref().and_then(|n| n.as_ref().ok()).map_or(0, |n| n.remaining() as u64));
            Poll::Ready(next.map(|next| next.map_err(|_| "the body was cut off before its end")))
        }
        Poll::Pending => patience.poll_over(cx).map(|()| Some(Err("the body came too slowly"))),
    })
}

/// Reads a body of at most `bytes_max` bytes; a body that does not arrive in time is a broken one. What is
/// not small takes room as it arrives, so that nobody fills the memory with bodies that never end.
pub async fn read<S, B, E>(
    stream: S,
    bytes_max: usize,
    within: Duration,
    (arriving, from): (&Room, IpAddr),
) -> Result<(Vec<u8>, Option<Taken>), Fault>
where
    S: Stream<Item = Result<B, E>>,
    B: Buf,
    E: Display,
{
    let mut stream = pin!(stream);
    let collect = async {
        let mut body = Vec::new();
        let mut taken: Option<Taken> = None;
        while let Some(chunk) = stream.next().await {
            let broken = |why: E| Fault::new(fault::MALFORMED_BODY, why.to_string());
            let mut chunk = chunk.map_err(broken)?;
            if body.len() + chunk.remaining() > bytes_max {
                return Err(too_large(bytes_max as u64));
            }
            let arrived = body.len() + chunk.remaining();
            if let Some(taken) = &mut taken {
                taken.grow(chunk.remaining()).map_err(no_room)?;
            } else if arrived >= COUNTED_BYTES {
                taken = Some(arriving.take(from, arrived).map_err(no_room)?);
            }
            while chunk.has_remaining() {
                let part = chunk.chunk();
                body.extend_from_slice(part);
                chunk.advance(part.len());
            }
        }
        Ok((body, taken))
    };
    match tokio::time::timeout(within, collect).await {
        Ok(read) => read,
        Err(_) => {
            let detail = format!("the body did not arrive within {} seconds", within.as_secs());
            Err(Fault::new(fault::MALFORMED_BODY, detail))
        }
    }
}

/// Takes room for what a JSON body becomes when it is taken apart, and refuses one of too many values.
pub fn hold_values(
    json: &[u8],
    taken: &mut Option<Taken>,
    (arriving, from): (&Room, IpAddr),
) -> Result<(), Fault> {
    let values = count_values(json);
    if values > VALUES_MAX {
        let detail = format!("the body must have at most {VALUES_MAX} JSON values");
        return Err(Fault::new(fault::BODY_TOO_LARGE, detail));
    }
    let bytes = values * VALUE_BYTES;
    match taken {
        Some(taken) => taken.grow(bytes).map_err(no_room)?,
        None if bytes >= COUNTED_BYTES => *taken = Some(arriving.take(from, bytes).map_err(no_room)?),
        None => {}
    }
    Ok(())
}

/// How many values a JSON text has: the first, one behind each comma, and the first in each list and object.
fn count_values(json: &[u8]) -> usize {
    let (mut count, mut in_text, mut escaped, mut opened) = (1, false, false, false);
    for byte in json {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_text => escaped = true,
            b'"' => in_text = !in_text,
            _ if in_text || byte.is_ascii_whitespace() => continue,
            b'[' | b'{' => {
                count += 1;
                opened = true;
                continue;
            }
            b',' => count += 1,
            b']' | b'}' if opened => count -= 1,
            _ => {}
        }
        opened = false;
    }
    count
}

fn no_room(full: Full) -> Fault {
    let whose = if full == Full::OfAll { "clients wait" } else { "your address waits" };
    let detail = format!(
        "the bodies of requests for which {whose} take all the memory there is for them; send this request \
         again soon"
    );
    Fault::new(fault::UNAVAILABLE, detail).retry_after(1)
}

/// Reads the rest of an unread body, if it is small and arrives soon. A client that is still sending when its
/// connection closes would see a reset instead of the answer.
pub async fn drain<S, B, E>(mut stream: Pin<&mut S>, headers: &HeaderMap)
where
    S: Stream<Item = Result<B, E>>,
    B: Buf,
{
    // A client that asked whether to send takes the answer for a no.
    if headers.contains_key(EXPECT) || length(headers).is_some_and(|length| length > DRAIN_BYTES_MAX) {
        return;
    }
    let drain = async {
        let mut bytes = 0;
        while let Some(Ok(chunk)) = stream.next().await {
            bytes += chunk.remaining() as u64;
            if bytes > DRAIN_BYTES_MAX {
                break;
            }
        }
    };
    // What comes later is not worth waiting for.
    let _ = tokio::time::timeout(DRAIN_WITHIN, drain).await;
}

/// Whether a request has a body, by its headers.
pub fn is_announced(headers: &HeaderMap) -> bool {
    headers.contains_key(TRANSFER_ENCODING) || length(headers).is_some_and(|length| length > 0)
}

fn length(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH).and_then(|v| v.to_str().ok()?.parse().ok())
}

/// The fault of a body that is too long.
pub fn too_large(bytes_max: u64) -> Fault {
    Fault::new(fault::BODY_TOO_LARGE, format!("the body must have at most {bytes_max} bytes"))
}

/// The fault of a batch whose answer would be too long.
pub fn too_much_read(bytes_max: usize) -> Fault {
    let detail = format!("the operations of a batch can read at most {bytes_max} bytes in all");
    Fault::new(fault::BODY_TOO_LARGE, detail)
}

#[cfg(test)]
mod tests {
    use super::super::room::OF_CLIENT_MAX;
    use super::*;
    use futures_util::stream;

    #[tokio::test]
    async fn a_body_takes_room_until_it_is_let_go_and_small_ones_none() {
        const LONG: usize = 4 * COUNTED_BYTES;
        let (room, from) = (Room::default(), IpAddr::from([192, 0, 2, 1]));
        let receive = |pieces: Vec<&'static [u8]>| {
            let pieces = stream::iter(pieces.into_iter().map(Ok::<_, String>));
            read(pieces, LONG, Duration::from_secs(5), (&room, from))
        };
        let piece: &'static [u8] = &[b' '; COUNTED_BYTES];
        let (bytes, taken) = receive(vec![piece; 4]).await.unwrap();
        assert_eq!((bytes.len(), room.is_free()), (LONG, false));
        drop(taken);
        assert!(receive(vec![&piece[1..]]).await.unwrap().1.is_none());
        assert_eq!(receive(vec![piece; 5]).await.unwrap_err().kind, fault::BODY_TOO_LARGE);
        assert!(room.is_free());
        // What one client still sends leaves it no more than a little.
        let sending = room.take(from, OF_CLIENT_MAX - COUNTED_BYTES).unwrap();
        assert_eq!(receive(vec![piece]).await.unwrap().0.len(), COUNTED_BYTES);
        let refused = receive(vec![piece; 2]).await.unwrap_err();
        assert_eq!((refused.kind, refused.detail.contains("your address waits")), (fault::UNAVAILABLE, true));
        drop(sending);
        let other = room.take(IpAddr::from([192, 0, 2, 2]), OF_CLIENT_MAX).unwrap();
        assert_eq!(receive(vec![piece; 2]).await.unwrap().0.len(), 2 * COUNTED_BYTES);
        drop(other);
        assert!(room.is_free());
    }

    #[test]
    fn a_json_body_takes_room_for_its_values() {
        let (room, from) = (Room::default(), IpAddr::from([192, 0, 2, 1]));
        let list = |values: usize| format!("[{}0]", "0,".repeat(values - 2)).into_bytes();
        let hold = |json: &[u8]| {
            let mut taken = None;
            hold_values(json, &mut taken, (&room, from)).map(|()| taken)
        };
        assert!(hold(&list(COUNTED_BYTES / VALUE_BYTES - 1)).unwrap().is_none());
        let full = room.take(from, OF_CLIENT_MAX - COUNTED_BYTES).unwrap();
        let held = hold(&list(COUNTED_BYTES / VALUE_BYTES)).unwrap();
        assert_eq!(hold(&list(1_000)).unwrap_err().kind, fault::UNAVAILABLE);
        drop((full, held));
        assert!(room.is_free() && hold(&list(VALUES_MAX)).unwrap().is_some());
        assert_eq!(hold(&list(VALUES_MAX + 1)).unwrap_err().kind, fault::BODY_TOO_LARGE);
    }

    #[test]
    fn values_are_counted_and_the_signs_in_texts_are_not() {
        for (json, count) in [
            ("1", 1),
            ("[1,2]", 3),
            (r#"{"a":1,"b":{"c":[true]}}"#, 5),
            (r#"["[,{"]"#, 2),
            (r#"["\",",\\",","]"#, 4),
            ("[{},[ ],[[\n]]]", 5),
        ] {
            assert_eq!(count_values(json.as_bytes()), count, "{json}");
        }
    }

    #[test]
    fn json_is_recognised_by_its_essence() {
        for good in ["application/json", "Application/JSON; charset=utf-8", "application/merge-patch+json"] {
            assert!(is_json(good.as_bytes()), "{good}");
        }
        for bad in ["text/json", "application/jsonl", "application/+json", "", "application/xml", "json"] {
            assert!(!is_json(bad.as_bytes()), "{bad}");
        }
    }
}
