//! What the daemon answered, and whether it was a daemon at all.

use super::doubt::Doubt;
use mfa_shared::wire::AnswerKind;
use reqwest::header::{ETAG, HeaderMap, HeaderName, LOCATION};
use serde_json::Value;

/// The header by which the daemon names kinds of records that a search left out.
const LEFT_OUT: HeaderName = HeaderName::from_static("left-out");
/// The header by which it says up to which event it has looked.
const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");
/// The header by which it says that an answer was given before.
const REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");

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
    /// What the tries of the request leave open.
    pub(super) doubt: Option<Doubt>,
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
            doubt: None,
        }
    }
}

/// The body of an answer of this kind, if it is one.
pub(super) fn value(kind: AnswerKind, text: &str) -> Option<Value> {
    let value = if text.is_empty() { Value::Null } else { serde_json::from_str(text).ok()? };
    let fits = match kind {
        AnswerKind::Accepted | AnswerKind::Created | AnswerKind::Done => value.is_null(),
        AnswerKind::List => value.is_array(),
        AnswerKind::Page => value.is_object(),
        AnswerKind::Json => !value.is_null() && !value.is_array(),
        _ => true,
    };
    fits.then_some(value)
}
