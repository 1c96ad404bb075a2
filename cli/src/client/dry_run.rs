//! Changes that are only tried.

use crate::failure::Failure;
use mfa_shared::fault::exit;
use reqwest::header::HeaderName;
use serde_json::json;

/// The header by which a change is only tried, and by which the daemon says that it was.
pub(super) const DRY_RUN: HeaderName = HeaderName::from_static("dry-run");

/// A daemon that does not know the header has made the change.
pub(super) fn ignored(url: &str) -> Failure {
    let what = format!("the daemon at {url} knows no dry runs, and has done what was asked");
    Failure::new("dry_run_ignored", exit::INCOMPATIBLE, what)
}

/// How a command ends whose change was tried and is a good one.
pub(super) fn would_be_accepted(method: &str, path: &str, location: Option<String>) -> Failure {
    let result = "would be accepted; nothing was changed";
    Failure::dry_run(json!({ "method": method, "path": path, "result": result, "location": location }))
}
