//! Events: what was changed, for those who listen. Contract: `audit.md` section 4.

use crate::fault::Fault;
use crate::query::{PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX, ParamDoc, Parameters, Params, bad, optional_param};
use crate::rule::*;
use crate::time::Timestamp;
use crate::wire::{Array, Query};
use crate::{endpoints, object};
use serde_json::json;

/// The type of a stream of events.
pub const EVENT_STREAM: &str = "text/event-stream";
/// Longest wait for an event.
pub const WAIT_SECONDS_MAX: u32 = 60;
/// No event has a higher number.
pub const EVENT_NUMBER_MAX: u64 = i64::MAX.unsigned_abs();
/// Kinds of what is changed beside those of [`super::kinds()`].
pub const OTHER_KINDS: [&str; 2] = ["interest", "ledger"];

object! {
    /// Something was changed. Its fields are read from the record, with the rights of the listener.
    pub struct Event {
        /// Number of its record in the audit trail.
        sequence: i64 = required(integer(1, i64::MAX)),
        /// When it happened.
        occurred_on: Timestamp = required(timestamp()),
        /// Name of the endpoint or of the command.
        operation: String = required(line(64)),
        /// The record that was changed: `customer/c-001`.
        resource: Option<String> = optional(line(8192)),
        /// Further records that the change concerns.
        affects: Vec<String> = required(list(line(8192), usize::MAX)),
        /// Who changed it.
        actor: String = required(line(256)),
        /// Identifier of the request.
        request_id: String = required(line(256)),
    }
}

/// Which events.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventQuery {
    /// Kinds of records; none means every kind.
    pub kinds: Vec<String>,
    /// Events after this number.
    pub after: Option<u64>,
    /// Most events of an array; null is 20.
    pub size: Option<u32>,
    /// How long an array waits for its first event; null is not at all.
    pub wait_seconds: Option<u32>,
}

impl EventQuery {
    /// Most events of an array.
    pub fn size(&self) -> usize {
        self.size.unwrap_or(PAGE_SIZE_DEFAULT) as usize
    }
}

/// A number in a query or a header, 0 or more.
pub fn position(name: &str, text: &str) -> Result<u64, Fault> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let number = text.parse().ok().filter(|number| digits && i64::try_from(*number).is_ok());
    number.ok_or_else(|| bad(name, text, "a number, 0 or more"))
}

/// The names of all kinds.
pub fn kinds() -> impl Iterator<Item = &'static str> {
    super::kinds::kinds().map(|kind| kind.name).chain(OTHER_KINDS)
}

/// The kind with a name in any letter case.
pub fn find_kind(name: &str) -> Option<&'static str> {
    kinds().find(|kind| kind.eq_ignore_ascii_case(name))
}

impl Parameters for EventQuery {
    fn read(params: &Params) -> Result<Self, Fault> {
        let mut kinds: Vec<String> = Vec::new();
        let given = params.pairs().iter().filter(|(name, kind)| name == "kind" && !kind.is_empty());
        for kind in given.flat_map(|(_, kind)| kind.split(',')) {
            let known = find_kind(kind);
            let known = known.ok_or_else(|| bad("kind", kind, "a kind of record, such as customer"))?;
            if !kinds.iter().any(|kind| kind == known) {
                kinds.push(known.to_owned());
            }
        }
        let after = params.one("after")?.filter(|text| !text.is_empty());
        let after = after.map(|text| position("after", text)).transpose()?;
        let size = params.integer("size", 1, PAGE_SIZE_MAX)?;
        Ok(Self { kinds, after, size, wait_seconds: params.integer("waitSeconds", 0, WAIT_SECONDS_MAX)? })
    }

    fn write(&self) -> Vec<(&'static str, String)> {
        let mut pairs: Vec<_> = self.kinds.iter().map(|kind| ("kind", kind.clone())).collect();
        pairs.extend(self.after.map(|after| ("after", after.to_string())));
        pairs.extend(self.size.map(|size| ("size", size.to_string())));
        pairs.extend(self.wait_seconds.map(|seconds| ("waitSeconds", seconds.to_string())));
        pairs
    }

    fn docs() -> Vec<ParamDoc> {
        let names: Vec<_> = kinds().collect();
        let kind = json!({ "type": "array", "items": { "type": "string", "enum": names } });
        let after = json!({ "type": "integer", "minimum": 0 });
        let size = json!({
            "type": "integer", "minimum": 1, "maximum": PAGE_SIZE_MAX, "default": PAGE_SIZE_DEFAULT
        });
        let wait = json!({ "type": "integer", "minimum": 0, "maximum": WAIT_SECONDS_MAX, "default": 0 });
        vec![
            optional_param("kind", "Events of records of this kind only; can be repeated.", kind),
            optional_param("after", "Events after this number.", after),
            optional_param("size", "Most events of an array.", size),
            optional_param("waitSeconds", "How long an array waits for its first event.", wait),
        ]
    }
}

endpoints! {
    application "events-v1";
    /// Hear what is changed, in the order of the changes: as an array, or as a stream of events.
    ListEvents {} Get "/events" Query<EventQuery> => Array<Event>;
}
