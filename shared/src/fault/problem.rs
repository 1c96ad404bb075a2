//! A fault on the wire.

use super::Fault;
use crate::identifier::shown;
use crate::path::split;
use crate::permission::Permission;
use crate::rule::{FIELD_ERRORS_MAX, FieldError};
use serde::{Deserialize, Serialize};

/// The body of every failure, `application/problem+json` (RFC 9457).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Problem {
    /// `urn:mfa:problem:` and the code.
    #[serde(rename = "type")]
    pub kind: String,
    /// Fixed text of the code.
    pub title: String,
    /// HTTP status.
    pub status: u16,
    /// What is the case.
    pub detail: String,
    /// Stable slug.
    pub code: String,
    /// Request path as sent, without query string.
    pub instance: String,
    /// Equal to `X-Request-Id`.
    pub request_id: String,
    /// Bad fields.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<FieldError>,
    /// Seconds, equal to `Retry-After`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<u32>,
    /// Permissions that the caller lacks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<Vec<Permission>>,
    /// OAuth 2.0 error word, at `POST /token`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// How far a message to a gateway came: `connect`, `tls`, `sign_in` or `send`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stage: Option<String>,
    /// The status of SMTP or HTTP with which the gateway refused; null where it said none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gateway_code: Option<Option<u16>>,
    /// The operation for which a whole batch was refused, counted from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<usize>,
}

impl Problem {
    /// The body for a fault.
    pub fn new(fault: &Fault, instance: &str, request_id: &str) -> Self {
        Self {
            kind: format!("urn:mfa:problem:{}", fault.kind.code),
            title: fault.kind.title.to_owned(),
            status: fault.kind.status,
            detail: quoted(fault, instance),
            code: fault.kind.code.to_owned(),
            instance: instance.to_owned(),
            request_id: request_id.to_owned(),
            errors: fault.errors.iter().take(FIELD_ERRORS_MAX).cloned().collect(),
            retry_after: fault.retry_after,
            missing: fault.missing.clone(),
            error: fault.error.map(str::to_owned),
            stage: fault.gateway.as_ref().map(|gateway| gateway.stage.to_owned()),
            gateway_code: fault.gateway.as_ref().map(|gateway| gateway.code),
            operation: fault.operation,
        }
    }
}

/// The detail, in which what the path names and nothing has is cut. Names of what exists stay as they are.
pub(super) fn quoted(fault: &Fault, path: &str) -> String {
    let mut detail = fault.detail.clone();
    if matches!(fault.kind.status, 404 | 405) {
        let names = split(path).unwrap_or_default();
        for name in names.iter().map(String::as_str).chain([path]) {
            let cut = shown(name);
            if cut != name {
                detail = detail.replace(name, &cut);
            }
        }
    }
    if !detail.contains(char::is_control) {
        return detail;
    }
    let escaped = |c: char| if c.is_control() { c.escape_unicode().collect() } else { String::from(c) };
    detail.chars().map(escaped).collect()
}
