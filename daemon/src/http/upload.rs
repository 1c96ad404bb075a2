//! Reading of multipart forms: as a stream, with limits and a deadline. The bytes of the image go to the
//! store as they arrive; of everything else no more is held than will be read.

use super::body;
use crate::hex::hexadecimal;
use crate::store::Store;
use crate::store::objects::Draft;
use crate::store::space;
use bytes::{Buf, Bytes};
use futures_util::{Stream, StreamExt};
use mfa_shared::fault::{self, Fault};
use mfa_shared::upload::{Arrived, ArrivedImage, ArrivedPart};
use multer::{Field, Multipart};
use sha2::{Digest, Sha256};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::task::{Context, Poll};
use std::time::Duration;
use warp::http::HeaderMap;
use warp::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};

/// Bytes of a request beside its image.
const REST_BYTES_MAX: u64 = 1_048_576;
/// Most bytes of a field that are held; a longer text breaks every rule.
const FIELD_BYTES_MAX: usize = 32 * 1024;
/// Bytes that are handed on at once.
const PIECE_BYTES: usize = 16 * 1024;
/// Most bytes that the head of a part, or what precedes the first part, may have.
const HELD_BYTES_MAX: u64 = 64 * 1024;

/// What an endpoint looks for in a form.
#[derive(Debug)]
pub struct Wanted {
    /// Name of the part with the image.
    pub part: &'static str,
    /// Names of the fields beside it.
    pub fields: Vec<&'static str>,
    /// Largest image.
    pub image_bytes_max: u64,
}

/// A form that has arrived.
#[derive(Debug)]
pub struct Received {
    /// What there is to look at.
    pub arrived: Arrived,
    /// Hash of all parts in their order: name, content type and bytes of each.
    pub digest: Vec<u8>,
}

/// Reads a form to its end. The draft is there where the form has exactly one image of a good size.
pub async fn read<S, B>(
    store: &Store,
    headers: &HeaderMap,
    body: S,
    wanted: Wanted,
    within: Duration,
) -> Result<(Received, Option<Draft>), Fault>
where
    S: Stream<Item = Result<B, &'static str>> + Send,
    B: Buf,
{
    let bytes_max = wanted.image_bytes_max.saturating_add(REST_BYTES_MAX);
    body::check_length(headers, bytes_max)?;
    body::check_coding(headers)?;
    let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let boundary = content_type.and_then(boundary);
    let meter = Arc::new(Meter::default());
    let mut metered = Metered { stream: Box::pin(body), meter: meter.clone(), bytes_max, rest: Bytes::new() };
    let mut reader = Reader::new(store, wanted, meter.clone());
    let reading = async {
        if let Some(boundary) = &boundary {
            reader.form(Multipart::new(&mut metered, boundary)).await?;
        }
        // What follows the form counts, too, and a body without a form is measured all the same.
        meter.held.store(0, SeqCst);
        while let Some(Ok(_)) = metered.next().await {
            meter.held.store(0, SeqCst);
        }
        Ok(())
    };
    match tokio::time::timeout(within, reading).await {
        Ok(read) => read?,
        Err(_) => reader.broken(format!("the body did not arrive within {} seconds", within.as_secs())),
    }
    if meter.over.load(SeqCst) {
        return Err(body::too_large(bytes_max));
    }
    if boundary.is_none() {
        let detail = "the body must be multipart/form-data with a boundary";
        return Err(Fault::new(fault::UNSUPPORTED_MEDIA_TYPE, detail));
    }
    if meter.cut.load(SeqCst) {
        reader.broken("the body was cut off before its end".to_owned());
    }
    Ok(reader.finish())
}

/// The boundary that a content type names. There may be space before its semicolon, which the reader of types
/// does not take.
fn boundary(content_type: &str) -> Option<String> {
    let (kind, parameters) = content_type.split_once(';')?;
    let boundary = multer::parse_boundary(format!("{};{parameters}", kind.trim_end())).ok();
    boundary.filter(|boundary| !boundary.is_empty())
}

/// What the stream and its reader share.
#[derive(Debug, Default)]
struct Meter {
    /// Bytes of the body so far.
    bytes: AtomicU64,
    /// Bytes since something of the form was understood.
    held: AtomicU64,
    /// The body has more bytes than it may have.
    over: AtomicBool,
    /// The connection broke.
    cut: AtomicBool,
    /// A piece was handed on, and the other side should look at it before it gets the next one.
    full: AtomicBool,
}

/// A body in small pieces, one at a time, none beyond the limits.
struct Metered<S> {
    stream: Pin<Box<S>>,
    meter: Arc<Meter>,
    bytes_max: u64,
    rest: Bytes,
}

impl<S, B> Stream for Metered<S>
where
    S: Stream<Item = Result<B, &'static str>>,
    B: Buf,
{
    type Item = Result<Bytes, &'static str>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.meter.full.swap(false, SeqCst) {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        while self.rest.is_empty() {
            let mut chunk = match self.stream.as_mut().poll_next(cx) {
                Poll::Ready(Some(Ok(chunk))) => chunk,
                Poll::Ready(Some(Err(why))) => {
                    self.meter.cut.store(true, SeqCst);
                    return Poll::Ready(Some(Err(why)));
                }
                Poll::Ready(None) => return Poll::Ready(None),
                Poll::Pending => return Poll::Pending,
            };
            self.rest = chunk.copy_to_bytes(chunk.remaining());
            let more = self.rest.len() as u64;
            if self.meter.bytes.fetch_add(more, SeqCst) + more > self.bytes_max {
                self.meter.over.store(true, SeqCst);
                return Poll::Ready(Some(Err("the body is too large")));
            }
        }
        let bytes = PIECE_BYTES.min(self.rest.len());
        let piece = self.rest.split_to(bytes);
        if self.meter.held.fetch_add(bytes as u64, SeqCst) > HELD_BYTES_MAX {
            return Poll::Ready(Some(Err("the head of a part is too long")));
        }
        self.meter.full.store(true, SeqCst);
        Poll::Ready(Some(Ok(piece)))
    }
}

/// What was read so far.
struct Reader {
    wanted: Wanted,
    meter: Arc<Meter>,
    arrived: Arrived,
    parts: Sha256,
    draft: Option<Draft>,
    fresh: Option<Draft>,
}

impl Reader {
    fn new(store: &Store, wanted: Wanted, meter: Arc<Meter>) -> Self {
        let arrived = Arrived { image_bytes_max: wanted.image_bytes_max, ..Arrived::default() };
        Self { wanted, meter, arrived, parts: Sha256::new(), draft: None, fresh: Some(store.draft()) }
    }

    fn broken(&mut self, why: String) {
        self.arrived.broken.get_or_insert(why);
    }

    /// Reads the parts. What is wrong with the form is noted; a fault is the store's.
    async fn form(&mut self, mut form: Multipart<'_>) -> Result<(), Fault> {
        loop {
            match form.next_field().await {
                Ok(None) => return Ok(()),
                Ok(Some(field)) => {
                    self.meter.held.store(0, SeqCst);
                    if !self.part(field).await? {
                        return Ok(());
                    }
                }
                Err(error) => {
                    self.broken(format!("the form cannot be read: {}", words(&error)));
                    return Ok(());
                }
            }
        }
    }

    /// Reads a part; false if the form ends in it.
    async fn part(&mut self, mut field: Field<'_>) -> Result<bool, Fault> {
        let name = part_name(field.headers()).unwrap_or_default();
        let content_type = field.headers().get(CONTENT_TYPE);
        let content_type = content_type.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
        let is_image = name == self.wanted.part;
        let is_field = self.wanted.fields.contains(&name.as_str());
        let mut draft = if is_image { self.fresh.take() } else { None };
        let mut hasher = Sha256::new();
        let mut length = 0_u64;
        let mut text = Vec::new();
        loop {
            let piece = match field.chunk().await {
                Ok(Some(piece)) => piece,
                Ok(None) => break,
                Err(error) => {
                    self.broken(format!("the form cannot be read: {}", words(&error)));
                    return Ok(false);
                }
            };
            self.meter.held.store(0, SeqCst);
            hasher.update(&piece);
            length += piece.len() as u64;
            if is_field && text.len() <= FIELD_BYTES_MAX {
                text.extend_from_slice(&piece);
            }
            draft = draft.filter(|_| length <= self.wanted.image_bytes_max);
            if let Some(draft) = &mut draft {
                draft.push(&piece).await.map_err(|error| unwritable(&error))?;
            }
        }
        let hash = hasher.finalize();
        for part in [name.as_bytes(), content_type.as_deref().unwrap_or_default().as_bytes(), &hash] {
            self.parts.update((part.len() as u64).to_be_bytes());
            self.parts.update(part);
        }
        if is_image {
            self.arrived.parts_count += 1;
            let image = ArrivedImage { sha256: hexadecimal(&hash), length };
            self.arrived.part.get_or_insert(ArrivedPart { content_type, image });
            self.draft = self.draft.take().or(draft);
        } else if is_field && self.arrived.fields.iter().filter(|(n, _)| *n == name).count() < 2 {
            self.arrived.fields.push((name, String::from_utf8(text).ok()));
        }
        Ok(true)
    }

    fn finish(mut self) -> (Received, Option<Draft>) {
        let broken = self.arrived.broken.as_deref().unwrap_or_default();
        self.parts.update(broken.as_bytes());
        let draft = self.draft.filter(|_| self.arrived.broken.is_none());
        (Received { arrived: self.arrived, digest: self.parts.finalize().to_vec() }, draft)
    }
}

/// The name of a part. multer finds `name=` inside a file name, too, so it is read here.
fn part_name(headers: &HeaderMap) -> Option<String> {
    let value = String::from_utf8_lossy(headers.get(CONTENT_DISPOSITION)?.as_bytes()).into_owned();
    let (_, mut rest) = value.split_once(';')?;
    loop {
        let (name, behind) = rest.split_once('=')?;
        let (value, behind) = parameter(behind.trim_start());
        // What stands between two semicolons without a value is passed over.
        let name = name.rsplit(';').next().unwrap_or_default().trim();
        if name.eq_ignore_ascii_case("name") {
            return Some(value);
        }
        rest = behind.split_once(';')?.1;
    }
}

/// The value with which a text begins, and what follows it.
fn parameter(text: &str) -> (String, &str) {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find(';').unwrap_or(text.len());
        return (text[..end].trim_end().to_owned(), &text[end..]);
    };
    let mut value = String::new();
    let mut rest = quoted.chars();
    while let Some(c) = rest.next() {
        match c {
            '"' => break,
            '\\' if rest.as_str().starts_with('"') => value.extend(rest.next()),
            c => value.push(c),
        }
    }
    (value, rest.as_str())
}

/// What is wrong with a form, without what a library would repeat of it.
fn words(error: &multer::Error) -> String {
    match error {
        multer::Error::StreamReadFailed(why) => why.to_string(),
        multer::Error::IncompleteFieldData { .. }
        | multer::Error::IncompleteStream
        | multer::Error::IncompleteHeaders => "it ends too early, or a boundary is wrong".to_owned(),
        _ => "the head of a part is malformed".to_owned(),
    }
}

fn unwritable(error: &std::io::Error) -> Fault {
    tracing::error!(%error, "the disk refuses the draft of an image");
    let other = || Fault::new(fault::UNAVAILABLE, "the disk of the store refuses an image");
    space::refusal(error).unwrap_or_else(other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use warp::http::HeaderValue;

    #[test]
    fn the_name_of_a_part_is_found_among_its_parameters() {
        for (value, expected) in [
            (r#"form-data; name="portrait""#, Some("portrait")),
            (r#"form-data; name=portrait ; filename=x"#, Some("portrait")),
            (r#"form-data; filename="x"; NAME="portrait""#, Some("portrait")),
            (r#"form-data; filename="a; name=other.png"; name="portrait""#, Some("portrait")),
            (r#"form-data; filename="a\"; name=\"other"; name="portrait""#, Some("portrait")),
            (r#"form-data; filename=name=other; name="portrait""#, Some("portrait")),
            (r#"form-data;filename*=UTF-8''a;name="a \"b\"""#, Some(r#"a "b""#)),
            (r#"form-data; flag; name="portrait""#, Some("portrait")),
            (r#"form-data; name="por"#, Some("por")),
            (r#"form-data; name=""#, Some("")),
            (r#"form-data; filename="name=portrait""#, None),
            ("form-data; name", None),
            ("form-data", None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(CONTENT_DISPOSITION, HeaderValue::from_str(value).unwrap());
            assert_eq!(part_name(&headers).as_deref(), expected, "{value}");
        }
        assert_eq!(part_name(&HeaderMap::new()), None);
    }
}
