//! The operations of a batch, each ready for the transaction.

use super::super::access::AccessRequest;
use super::super::body;
use super::super::head::Head;
use super::super::heavy::Secret;
use super::super::payload::Payload;
use super::super::request::{Request, tries_code};
use super::super::route::{Handler, Prepared, Route};
use super::super::state::State;
use crate::ops::listing::json;
use mfa_shared::api::answers_secret;
use mfa_shared::api::batch::{Batch, Operation, OperationMethod, PASSWORDS_MAX};
use mfa_shared::endpoint::{Method, split};
use mfa_shared::fault::{self, Fault};
use mfa_shared::identifier::shown;
use mfa_shared::node::Node;
use mfa_shared::wire::{AnswerKind, BodyKind};
use std::sync::Arc;
use warp::http::header::{HeaderName, HeaderValue};
use warp::http::{HeaderMap, Method as HttpMethod};

pub(super) struct Parts {
    pub(super) atomic: bool,
    pub(super) list: Vec<Part>,
}

/// One operation.
pub(super) struct Part {
    pub(super) method: Method,
    /// The path without its query string.
    pub(super) path: String,
    pub(super) request: Result<Arc<Request>, Fault>,
    /// The body that counts, which gives the order in which its fields are reported.
    body: Vec<u8>,
}

impl Parts {
    pub(super) fn prepare(
        state: &Arc<State>,
        head: &Head,
        asked: &AccessRequest,
        batch: Batch,
    ) -> Result<Self, Fault> {
        let part = |(place, operation)| Part::prepare(state, head, asked, place, operation);
        let list = (0..).zip(batch.operations).map(part).collect();
        let parts = Self { atomic: batch.atomic, list };
        if parts.secrets().count() > PASSWORDS_MAX {
            let what = format!("must have at most {PASSWORDS_MAX} operations with a password");
            return Err(Fault::field("/operations", "too_many", &what));
        }
        Ok(parts)
    }

    /// The answer to a batch with a key is kept, and what was read may be secret: so nothing is, and no
    /// secret is made that only the answer shows.
    pub(super) fn without_answers(mut self) -> Self {
        let shows = |part: &&mut Part| {
            part.method.reads() || part.request.as_ref().is_ok_and(|request| answers_secret(&request.meta))
        };
        for part in self.list.iter_mut().filter(shows) {
            let detail = "what reads, or is answered with a secret, cannot be part of a batch with an \
                          Idempotency-Key of its own";
            part.request = Err(Fault::new(fault::NOT_IN_BATCH, detail));
        }
        self
    }

    /// The operations with a password, which is hashed before the transaction begins.
    pub(super) fn secrets(&self) -> impl Iterator<Item = (&Request, &Arc<Secret>)> {
        self.list.iter().filter_map(|part| {
            let request = part.request.as_deref().ok()?;
            let Ok(Prepared { secret: Some(secret), .. }) = &request.prepared else { return None };
            Some((request, secret))
        })
    }
}

impl Part {
    pub(super) fn prepare(
        state: &Arc<State>,
        head: &Head,
        asked: &AccessRequest,
        place: i64,
        operation: Operation,
    ) -> Self {
        let (method, http) = match operation.method {
            OperationMethod::Get => (Method::Get, HttpMethod::GET),
            OperationMethod::Post => (Method::Post, HttpMethod::POST),
            OperationMethod::Put => (Method::Put, HttpMethod::PUT),
            OperationMethod::Delete => (Method::Delete, HttpMethod::DELETE),
        };
        let (path, query) = operation.path.split_once('?').unwrap_or((&operation.path, ""));
        let path = path.to_owned();
        let head = Head {
            method: http,
            path: path.clone(),
            query: query.to_owned(),
            headers: headers(&operation),
            request_id: head.request_id.clone(),
            origin: head.origin,
            noted: head.noted.clone(),
            place: Some(place),
        };
        let (request, body) = match prepare(state, &head, asked, method, operation.body) {
            Ok((request, body)) => (Ok(request), body),
            Err(fault) => (Err(fault), Vec::new()),
        };
        Self { method, path, request, body }
    }

    /// A refusal with its fields in the order of the body.
    pub(super) fn in_order(&self, fault: Fault) -> Fault {
        body::in_order(fault, &self.body)
    }
}

/// The headers of an operation.
fn headers(operation: &Operation) -> HeaderMap {
    let mut headers = HeaderMap::new();
    let given = [("idempotency-key", &operation.idempotency_key), ("if-match", &operation.if_match)];
    for (name, value) in given {
        // A line has no control characters, so it is the value of a header.
        if let Some(value) = value.as_ref().and_then(|value| HeaderValue::from_bytes(value.as_bytes()).ok()) {
            headers.insert(HeaderName::from_static(name), value);
        }
    }
    headers
}

fn prepare(
    state: &Arc<State>,
    head: &Head,
    asked: &AccessRequest,
    method: Method,
    body: Option<Node>,
) -> Result<(Arc<Request>, Vec<u8>), Fault> {
    let unknown = || Fault::new(fault::ROUTE_NOT_FOUND, format!("there is no path {}", shown(&head.path)));
    let found = split(&head.path).and_then(|segments| state.routes.find(segments)).ok_or_else(unknown)?;
    let Some(route) = found.route(method) else {
        let detail = format!("{method} is not possible on {}", shown(&head.path));
        return Err(Fault::new(fault::METHOD_NOT_ALLOWED, detail).allow(found.allow()));
    };
    let kind = route.meta.body.kind;
    let bytes = match body.filter(|_| kind != BodyKind::None) {
        None => Vec::new(),
        // Form parameters as text, as in a body of any type.
        Some(Node::Text(form)) if kind == BodyKind::Form => form.into_bytes(),
        Some(body) => json(&body),
    };
    let own = AccessRequest { meta: Some(route.meta), segments: found.segments.clone(), ..asked.clone() };
    let payload = Payload { bytes, ..Payload::default() };
    let request = Request::prepare(state, head, own, &found, route, &payload);
    if can_travel(route, &request) {
        Ok((request, payload.bytes))
    } else {
        Err(Fault::new(
            fault::NOT_IN_BATCH,
            format!("{method} {} cannot be part of a batch", route.meta.path),
        ))
    }
}

/// Whether an operation can be part of a batch: JSON in and out, nothing outside the transaction, and no
/// password that is compared, because an atomic batch would take the count of wrong ones back.
fn can_travel(route: &Route, request: &Request) -> bool {
    let compares = matches!(&request.prepared, Ok(Prepared { secret: Some(s), .. }) if s.compares());
    matches!(route.handler, Handler::Operation(_))
        && !matches!(route.meta.body.kind, BodyKind::Upload(_))
        && route.meta.answer.kind != AnswerKind::Image
        && !route.meta.path.starts_with("/token")
        && !compares
        && !tries_code(&route.meta)
}
