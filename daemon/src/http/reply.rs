//! What an operation returned, as an answer on the wire.

use super::tag;
use crate::ops::audit::Trail;
use crate::ops::days::{ALREADY_ENDED, Ended};
use crate::ops::instances::Instances;
use crate::ops::interest::{RunAccepted, Runs};
use crate::ops::ledger::Entries;
use crate::ops::list::List;
use crate::ops::listing::{Listing, json};
use crate::ops::rows::Rows;
use crate::ops::{ShownImage, Stored};
use crate::store::Tx;
use crate::store::record::Record;
use bytes::Bytes;
use mfa_shared::api::audit::AuditRecord;
use mfa_shared::api::days::GetOfficeDay;
use mfa_shared::api::instances::Instance;
use mfa_shared::api::interest::{InterestRun, ListInterestRuns};
use mfa_shared::endpoint::Endpoint;
use mfa_shared::endpoint::{AcceptedAt, CreatedAt};
use mfa_shared::fault::Fault;
use mfa_shared::object::Object;
use mfa_shared::query::Listed;
use mfa_shared::upload::ImageBytes;
use mfa_shared::wire::{
    Accepted, Answer, Array, Done, JSON_TYPE, Json, JsonFlag, JsonOrNone, NDJSON_TYPE, Names, Page,
};
use serde::Serialize;
use std::fmt;
use std::sync::Arc;

/// The header that says whether an answer may be kept.
pub const CACHE_CONTROL: &str = "cache-control";

/// A successful answer.
#[derive(Debug)]
pub struct Reply {
    /// HTTP status.
    pub status: u16,
    /// Content type, where there is a body.
    pub content_type: Option<String>,
    /// Further headers.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub content: Content,
}

/// The body of an answer.
pub enum Content {
    /// All of it; what never changes is shared by all answers.
    Bytes(Bytes),
    /// The elements of an array, each as JSON.
    Elements(Vec<Vec<u8>>),
    /// A list that is still to be read.
    List(Arc<dyn List>),
    /// An image that is still to be read, by its hash.
    Image(String),
}

impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Content::Bytes(bytes) => write!(f, "{} bytes", bytes.len()),
            Content::Elements(elements) => write!(f, "{} elements", elements.len()),
            Content::List(_) => f.write_str("a list"),
            Content::Image(hash) => write!(f, "image {hash}"),
        }
    }
}

impl Reply {
    /// An answer without a body.
    pub fn empty(status: u16) -> Self {
        Self { status, content_type: None, headers: Vec::new(), content: Content::Bytes(Bytes::new()) }
    }

    /// 200 with a JSON text.
    pub fn json(bytes: impl Into<Bytes>) -> Self {
        let content = Content::Bytes(bytes.into());
        Self { content_type: Some(JSON_TYPE.to_owned()), content, ..Self::empty(200) }
    }

    /// 304 in place of this answer, with its caching header only.
    pub fn unchanged(mut self) -> Self {
        self.headers.retain(|(name, _)| name == CACHE_CONTROL);
        Self { headers: self.headers, ..Self::empty(304) }
    }

    fn list(content: Content) -> Self {
        Self { content_type: Some(JSON_TYPE.to_owned()), content, ..Self::empty(200) }
    }

    /// The bytes of the body; a list has none before it is read.
    pub fn bytes(&self) -> &[u8] {
        match &self.content {
            Content::Bytes(bytes) => bytes,
            Content::Elements(_) | Content::List(_) | Content::Image(_) => &[],
        }
    }

    /// The strong tag of the representation; that of an image is the hash of its bytes.
    pub fn tag(&self, tx: &Tx<'_>) -> Result<String, Fault> {
        match &self.content {
            Content::Image(hash) => Ok(format!("\"{hash}\"")),
            _ => tx.tag(self.bytes()),
        }
    }

    /// Reads a list in the transaction of its request: as one JSON text, or, for `lines`, as far as that
    /// needs no memory for the whole of it.
    pub fn read(mut self, tx: &mut Tx<'_>, lines: bool) -> Result<Self, Fault> {
        self.content = match self.content {
            Content::List(list) if lines => Content::List(list),
            Content::List(list) => Content::Bytes(list.page(tx)?.into()),
            Content::Elements(elements) => Content::Bytes(joined(&elements, lines).into()),
            content @ (Content::Bytes(_) | Content::Image(_)) => return Ok(Self { content, ..self }),
        };
        if lines {
            self.content_type = Some(NDJSON_TYPE.to_owned());
        }
        Ok(self)
    }
}

fn joined(elements: &[Vec<u8>], lines: bool) -> Vec<u8> {
    let (open, between, close) = if lines { ("", "\n", "\n") } else { ("[", ",", "]") };
    let body = elements.join(between.as_bytes());
    let close = if lines && elements.is_empty() { "" } else { close };
    [open.as_bytes(), &body, close.as_bytes()].concat()
}

/// What an operation may return for an endpoint that answers `A`.
pub trait IntoReply<A: Answer> {
    /// The answer.
    fn into_reply(self) -> Reply;
}

impl<E: Endpoint> IntoReply<CreatedAt<E>> for CreatedAt<E> {
    fn into_reply(self) -> Reply {
        Reply { headers: vec![("location".to_owned(), self.0.path())], ..Reply::empty(201) }
    }
}

impl IntoReply<Accepted> for Accepted {
    fn into_reply(self) -> Reply {
        Reply::empty(202)
    }
}

impl IntoReply<Done> for Done {
    fn into_reply(self) -> Reply {
        Reply::empty(200)
    }
}

impl IntoReply<JsonFlag> for JsonFlag {
    fn into_reply(self) -> Reply {
        Reply::json(json(&self.0))
    }
}

impl IntoReply<Names> for Names {
    fn into_reply(self) -> Reply {
        Reply::list(Content::Elements(self.0.iter().map(json).collect()))
    }
}

impl IntoReply<AcceptedAt<ListInterestRuns>> for RunAccepted {
    fn into_reply(self) -> Reply {
        let mut reply = Reply::empty(202);
        let place = format!("{}?date={}", ListInterestRuns {}.path(), self.0);
        reply.headers.push(("location".to_owned(), place));
        reply
    }
}

impl IntoReply<AcceptedAt<GetOfficeDay>> for Ended {
    fn into_reply(self) -> Reply {
        let mut reply = self.at.into_reply();
        if self.before {
            reply.headers.push((ALREADY_ENDED.to_owned(), "true".to_owned()));
        }
        reply
    }
}

impl<E: Endpoint> IntoReply<AcceptedAt<E>> for AcceptedAt<E> {
    fn into_reply(self) -> Reply {
        let mut reply = Reply::empty(202);
        reply.headers.push(("location".to_owned(), self.0.path()));
        reply
    }
}

impl<T: Object + Serialize> IntoReply<Json<T>> for Json<T> {
    fn into_reply(self) -> Reply {
        Reply::json(json(&self.0))
    }
}

impl<T: Object> IntoReply<Json<T>> for Stored<T> {
    fn into_reply(self) -> Reply {
        Reply::json(self.bytes)
    }
}

impl<T: Object + Serialize> IntoReply<JsonOrNone<T>> for JsonOrNone<T> {
    fn into_reply(self) -> Reply {
        self.0.map_or_else(|| Reply::empty(204), |value| Reply::json(json(&value)))
    }
}

impl<T: Object + Serialize> IntoReply<Array<T>> for Array<T> {
    fn into_reply(self) -> Reply {
        Reply::list(Content::Elements(self.0.iter().map(json).collect()))
    }
}

impl<R: Record, T: Object + Serialize + Send + Sync> IntoReply<Array<T>> for Rows<R, T> {
    fn into_reply(self) -> Reply {
        Reply::list(Content::List(Arc::new(self)))
    }
}

impl<R: Record> IntoReply<Names> for Rows<R, String> {
    fn into_reply(self) -> Reply {
        Reply::list(Content::List(Arc::new(self)))
    }
}

impl<R: Record, T: Listed> IntoReply<Page<T>> for Listing<R, T> {
    fn into_reply(self) -> Reply {
        Reply::list(Content::List(Arc::new(self)))
    }
}

impl IntoReply<ImageBytes> for ShownImage {
    fn into_reply(self) -> Reply {
        let Self(image) = self;
        let headers = vec![
            ("content-length".to_owned(), image.length.to_string()),
            ("last-modified".to_owned(), tag::http_date(image.uploaded_on)),
            (CACHE_CONTROL.to_owned(), "private, no-cache".to_owned()),
            // The bytes are uploads: no browser may run them.
            ("content-security-policy".to_owned(), "sandbox; default-src 'none'".to_owned()),
        ];
        let content_type = Some(image.content_type.as_str().to_owned());
        Reply { status: 200, content_type, headers, content: Content::Image(image.sha256) }
    }
}

impl<T: Listed> IntoReply<Page<T>> for Entries<T> {
    fn into_reply(self) -> Reply {
        Reply::list(Content::List(Arc::new(self)))
    }
}

impl IntoReply<Array<Instance>> for Instances {
    fn into_reply(self) -> Reply {
        Reply::list(Content::List(match self {
            Self::Rows(rows) => Arc::new(rows),
            Self::Containing(found) => Arc::new(found),
        }))
    }
}

impl IntoReply<Page<InterestRun>> for Runs {
    fn into_reply(self) -> Reply {
        Reply::list(Content::List(Arc::new(self)))
    }
}

impl IntoReply<Page<AuditRecord>> for Trail {
    fn into_reply(self) -> Reply {
        Reply::list(Content::List(Arc::new(self)))
    }
}
