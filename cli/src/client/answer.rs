//! What the daemon answered, and whether it was a daemon at all.

use mfa_shared::wire::AnswerKind;
use reqwest::Response;
use reqwest::header::{ETAG, HeaderMap, HeaderName, LOCATION};
use serde_json::Value;

/// The header by which the daemon names kinds of records that a search left out.
const LEFT_OUT: HeaderName = HeaderName::from_static("left-out");
/// The header by which it says up to which event it has looked.
const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");
/// The header by which it says that an answer was given before.
const REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");
/// The header of each of its answers.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// What the daemon answered.
#[derive(Debug)]
pub struct Reply {
    /// The body; `null` if it is missing.
    pub value: Value,
    /// The tag of the representation, for a conditional change.
    pub tag: Option<String>,
    /// The address of the record that was made.
    pub location: Option<String>,
    /// Kinds of records that a search left out because the caller may not read them.
    pub left_out: Option<String>,
    /// Up to which event the daemon has looked.
    pub last_event: Option<u64>,
    /// Whether it is the answer to an earlier request under the same key.
    pub replayed: bool,
}

impl Reply {
    /// What the headers of an answer say.
    pub(super) fn begun(headers: &HeaderMap) -> Self {
        let given = |name| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        Self {
            value: Value::Null,
            tag: given(ETAG),
            location: given(LOCATION),
            left_out: given(LEFT_OUT),
            last_event: given(LAST_EVENT).and_then(|number| number.parse().ok()),
            replayed: given(REPLAYED).is_some(),
        }
    }
}

/// Whether a daemon answered. Another server may well answer 200 to whatever it is asked, and a script would
/// take a change for made.
pub(super) fn is_of_daemon(response: &Response) -> bool {
    response.headers().contains_key(REQUEST_ID)
}

/// The body of an answer of this kind, if it is one.
pub(super) fn value(kind: AnswerKind, text: &str) -> Option<Value> {
    let value = if text.is_empty() { Value::Null } else { serde_json::from_str(text).ok()? };
    let fits = match kind {
        AnswerKind::List => value.is_array(),
        AnswerKind::Page => value.is_object(),
        AnswerKind::Json => !value.is_null() && !value.is_array(),
        _ => true,
    };
    fits.then_some(value)
}
