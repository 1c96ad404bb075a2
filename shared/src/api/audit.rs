//! The audit trail: who did what, and what it was before. Contract: `audit.md` sections 1 to 3.

use crate::fault::Fault;
use crate::node::Node;
use crate::object::nested;
use crate::query::Listed;
use crate::query::{
    PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX, Paging, ParamDoc, Parameters, Params, bad, optional_param,
};
use crate::rule::*;
use crate::time::{DateRange, Timestamp};
use crate::wire::{Json, Nothing, Page, Query};
use crate::{endpoints, object, words};
use serde_json::json;

/// What the hash of the record before the first one is taken for.
pub const NO_HASH: &str = "0000000000000000000000000000000000000000000000000000000000000000";
/// Shown in place of a secret.
pub const COVER: &str = "***";

words! {
    /// The outcome of what a record is about.
    pub enum AuditOutcome {
        /// It was done.
        Done = "DONE",
        /// It was refused.
        Refused = "REFUSED",
        /// It was tried and did not succeed.
        Failed = "FAILED",
    }
}

object! {
    /// A field that is another one now.
    pub struct AuditChange {
        /// Its place, as a JSON pointer into the record; empty for the whole record.
        field: String = required(line(8192)),
        /// What it was; null where it was not there.
        before: Option<Node> = optional(any()),
        /// What it is; null where it is no longer there.
        after: Option<Node> = optional(any()),
    }

    /// One thing that was done, or refused.
    pub struct AuditRecord {
        /// Its number: 1, 2, 3 and so on, in the order of the commits; null until it is sealed.
        sequence: Option<i64> = optional(integer(1, i64::MAX)),
        /// When it happened.
        occurred_on: Timestamp = required(timestamp()),
        /// The user; `application:` and its identifier, `guest`, `system` or `unknown` where there is none.
        actor: String = required(line(256)),
        /// The application that signed in.
        application: Option<String> = optional(line(64)),
        /// Address of the caller; `local` for commands on the machine.
        origin: Option<String> = optional(line(64)),
        /// Identifier of the request.
        request_id: String = required(line(256)),
        /// Place in the batch, from 0.
        batch_index: Option<i64> = optional(integer(0, i64::MAX)),
        /// Name of the endpoint or of the command.
        operation: String = required(line(64)),
        /// Method of the request.
        method: Option<String> = optional(line(8)),
        /// Path of the request without its query.
        path: Option<String> = optional(line(8192)),
        /// The record that it is about: `customer/c-001`.
        resource: Option<String> = optional(line(8192)),
        /// Further records that it concerns.
        affects: Vec<String> = required(list(line(8192), usize::MAX)),
        /// How it ended.
        outcome: AuditOutcome = required(word()),
        /// Status of the answer.
        status: Option<i64> = optional(integer(100, 599)),
        /// Code of the refusal.
        code: Option<String> = optional(line(64)),
        /// What is another one now.
        changes: Vec<AuditChange> = required(list(nested(), usize::MAX)),
        /// Hash of the record before; null until it is sealed.
        previous_hash: Option<String> = optional(line(64)),
        /// SHA-256 of the line of this record up to this field; null until it is sealed.
        hash: Option<String> = optional(line(64)),
    }

    /// The end of the audit trail.
    pub struct AuditHead {
        /// Number of the last sealed record.
        sequence: i64 = required(integer(1, i64::MAX)),
        /// Its hash.
        hash: String = required(line(64)),
        /// When it happened.
        occurred_on: Timestamp = required(timestamp()),
    }
}

impl AuditRecord {
    /// A record of something that was done, with nothing else said yet.
    pub fn of(operation: &str, occurred_on: Timestamp) -> Self {
        Self {
            sequence: None,
            occurred_on,
            actor: "guest".to_owned(),
            application: None,
            origin: None,
            request_id: String::new(),
            batch_index: None,
            operation: operation.to_owned(),
            method: None,
            path: None,
            resource: None,
            affects: Vec::new(),
            outcome: AuditOutcome::Done,
            status: None,
            code: None,
            changes: Vec::new(),
            previous_hash: None,
            hash: None,
        }
    }

    /// The line that is hashed, up to the hash itself.
    #[expect(
        clippy::expect_used,
        reason = "records have string keys only, so there is nothing that JSON could not hold"
    )]
    pub fn hashed_part(&self) -> Vec<u8> {
        let mut line = serde_json::to_vec(self).expect("records are JSON");
        let rest = match &self.hash {
            None => ",\"hash\":null}".len(),
            Some(hash) => ",\"hash\":\"\"}".len() + hash.len(),
        };
        line.truncate(line.len() - rest);
        line
    }
}

impl Listed for AuditRecord {
    const PLURAL: &'static str = "records";
    const COLUMNS: &'static [&'static str] = &["sequence"];
}

/// Which records of the audit trail, and which part of them; the newest first unless asked for otherwise.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditQuery {
    /// Which part; neither a column nor a term.
    pub paging: Paging<AuditRecord>,
    /// What happened on these days.
    pub dates: Option<DateRange>,
    /// What this user did.
    pub actor: Option<String>,
    /// This operation only.
    pub operation: Option<String>,
    /// What ended like this.
    pub outcome: Option<AuditOutcome>,
    /// What this record, or everything under it (`customer/*`), is concerned by.
    pub resource: Option<String>,
    /// What this request did.
    pub request_id: Option<String>,
    /// Records after this number.
    pub after: Option<i64>,
}

impl Default for AuditQuery {
    fn default() -> Self {
        let mut paging = Paging::default();
        paging.descending = true;
        Self {
            paging,
            dates: None,
            actor: None,
            operation: None,
            outcome: None,
            resource: None,
            request_id: None,
            after: None,
        }
    }
}

impl AuditQuery {
    /// The whole trail, the oldest record first, as it is verified.
    pub fn ascending() -> Self {
        Self { paging: Paging::default(), ..Self::default() }
    }
}

impl Parameters for AuditQuery {
    fn read(params: &Params) -> Result<Self, Fault> {
        let descending = params.choice("sortDirection", &["ASC", "DESC"])? != Some(0);
        let mut paging = Paging::read_part(params)?;
        paging.descending = descending;
        let dates = params.date_range("dateRange")?;
        let text = |name: &str| Ok(params.one(name)?.filter(|text| !text.is_empty()).map(str::to_owned));
        let outcome = match params.one("outcome")?.filter(|text| !text.is_empty()) {
            None => None,
            Some(given) => Some(
                AuditOutcome::find(given).ok_or_else(|| bad("outcome", given, "DONE, REFUSED or FAILED"))?,
            ),
        };
        let after = match params.one("after")?.filter(|text| !text.is_empty()) {
            None => None,
            Some(given) => {
                let number = given.parse().ok().filter(|number: &i64| *number >= 0);
                let digits = given.bytes().all(|byte| byte.is_ascii_digit());
                Some(number.filter(|_| digits).ok_or_else(|| bad("after", given, "a number, 0 or more"))?)
            }
        };
        let actor = text("actor")?;
        let operation = text("operation")?;
        let resource = text("resource")?;
        let request_id = text("requestId")?;
        Ok(Self { paging, dates, actor, operation, outcome, resource, request_id, after })
    }

    fn write(&self) -> Vec<(&'static str, String)> {
        let page = self.paging.page_index;
        let size = self.paging.size;
        let ascending = (!self.paging.descending).then(|| "ASC".to_owned());
        let pairs = [
            ("dateRange", self.dates.map(|dates| dates.to_string())),
            ("actor", self.actor.clone()),
            ("operation", self.operation.clone()),
            ("outcome", self.outcome.map(|outcome| outcome.to_string())),
            ("resource", self.resource.clone()),
            ("requestId", self.request_id.clone()),
            ("after", self.after.map(|number| number.to_string())),
            ("pageIndex", page.map(|n| n.to_string())),
            ("size", size.map(|n| n.to_string())),
            ("sortDirection", ascending),
        ];
        pairs.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
    }

    fn docs() -> Vec<ParamDoc> {
        let page = json!({ "type": "integer", "minimum": 0, "maximum": i32::MAX, "default": 0 });
        let size = json!({
            "type": "integer", "minimum": 1, "maximum": PAGE_SIZE_MAX, "default": PAGE_SIZE_DEFAULT
        });
        let direction = json!({ "type": "string", "enum": ["ASC", "DESC"], "default": "DESC" });
        let text = json!({ "type": "string" });
        let outcomes = ["DONE", "REFUSED", "FAILED"];
        let under = "What this record is concerned by: customer/c-001; customer/* for everything under it.";
        vec![
            optional_param("dateRange", "Days: YYYY-MM-DD..YYYY-MM-DD.", DateRange::schema()),
            optional_param("actor", "What this user did.", text.clone()),
            optional_param("operation", "Name of an operation, such as CreateCustomer.", text.clone()),
            optional_param("outcome", "How it ended.", json!({ "type": "string", "enum": outcomes })),
            optional_param("resource", under, text.clone()),
            optional_param("requestId", "What this request did.", text),
            optional_param("after", "Records after this number.", json!({ "type": "integer", "minimum": 0 })),
            optional_param("pageIndex", "Pages to pass over.", page),
            optional_param("size", "Elements of a page.", size),
            optional_param("sortDirection", "Oldest or newest first.", direction),
        ]
    }
}

endpoints! {
    application "audit-v1";
    /// List the records of the audit trail, the newest first.
    ListAudit {} Get "/audit" Query<AuditQuery> => Page<AuditRecord>;
    /// Read a record of the audit trail.
    GetAuditRecord { sequence } Get "/audit/{sequence}" Nothing => Json<AuditRecord>,
        tag GetAuditRecord;
    /// Read the number and the hash of the last record of the audit trail.
    GetAuditHead {} Get "/audit/head" Nothing => Json<AuditHead>, tag GetAuditHead;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hashed_part_is_the_line_up_to_its_hash() {
        let mut record = AuditRecord::of("CreateCustomer", Timestamp::from_millis(0));
        record.hash = Some("ab".to_owned());
        let line = serde_json::to_string(&record).unwrap();
        let (part, rest) = line.split_once(",\"hash\":").unwrap();
        assert_eq!(rest, "\"ab\"}");
        assert_eq!(record.hashed_part(), part.as_bytes());
        assert!(
            part.starts_with("{\"sequence\":null,\"occurredOn\":\"")
                && part.ends_with("\"previousHash\":null")
        );
    }
}
