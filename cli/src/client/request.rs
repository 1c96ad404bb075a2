//! A request: a row of the endpoint table with all that is sent, and the parcel that goes over the wire.

use mfa_shared::api::answers_secret;
use mfa_shared::endpoint::{Endpoint, Meta};
use mfa_shared::wire::{Body, Outgoing};
use reqwest::header::{HeaderMap, HeaderName};
use std::sync::Arc;

/// The header by which a change is only tried, and by which the daemon says that it was.
pub const DRY_RUN: HeaderName = HeaderName::from_static("dry-run");

/// Called with the number of bytes sent and the total.
pub type Watch = Arc<dyn Fn(u64, u64) + Send + Sync>;

/// How a request is sent.
#[derive(Clone, Default)]
pub struct Manner {
    /// The request has an idempotency key of its own.
    pub keyed: bool,
    /// Each of its parts has a key of its own, made from that of the command.
    pub parts_keyed: bool,
    /// What may have been done is not sent again.
    pub once: bool,
    /// It changes nothing, whatever its method is.
    pub reads: bool,
    /// Its answer is read as it comes, and not asked for again where it breaks off.
    pub flows: bool,
    /// It is part of longer work, which waits for as long as the daemon says.
    pub bulk: bool,
    /// Called with the progress of the body; such a body is sent piece by piece.
    pub watch: Option<Watch>,
    /// The body in the printed line of curl, where it is another one.
    pub printed: Option<Vec<u8>>,
}

/// A request, which may be sent more than once.
pub struct Request<'a> {
    pub meta: &'static Meta,
    pub params: Vec<&'a str>,
    pub outgoing: Outgoing,
    pub headers: HeaderMap,
    /// Only the headers of the answer are wanted.
    pub head_only: bool,
    /// The answer reports the result of a dry run, so that it does not end the command.
    pub reports: bool,
    /// How it is sent.
    pub manner: Manner,
}

impl<'a> Request<'a> {
    pub fn new<E: Endpoint>(endpoint: &'a E, body: &E::Body) -> Self {
        Self::of_row((&E::META, &endpoint.params()), body.write())
    }

    /// The same, whose answer is read as it comes.
    pub fn flowing(mut self) -> Self {
        self.manner.flows = true;
        self
    }

    pub fn of_row((meta, params): (&'static Meta, &[&'a str]), outgoing: Outgoing) -> Self {
        Self {
            meta,
            params: params.to_vec(),
            outgoing,
            headers: HeaderMap::new(),
            head_only: false,
            reports: false,
            // The daemon does not keep an answer with a secret, so it knows no repetition.
            manner: Manner { keyed: !answers_secret(meta), ..Manner::default() },
        }
    }
}

#[derive(Clone)]
pub struct Parcel {
    pub method: reqwest::Method,
    pub url: String,
    pub headers: HeaderMap,
    pub body: Option<(String, Vec<u8>)>,
    pub manner: Manner,
}

impl Parcel {
    /// Whether it changes something that a repetition could change twice.
    pub fn changes(&self) -> bool {
        let tried = self.headers.contains_key(DRY_RUN);
        !self.method.is_safe() && !self.manner.reads && !tried && !self.url.ends_with("/token")
    }
}
