//! Changes that are only tried.

use super::Client;
use crate::failure::{Failure, Outcome};
use mfa_shared::endpoint::Endpoint;
use mfa_shared::fault::exit;
use reqwest::header::HeaderName;
use serde_json::json;

/// The header by which a change is only tried, and by which the daemon says that it was.
pub(super) const DRY_RUN: HeaderName = HeaderName::from_static("dry-run");

impl Client {
    /// Lets the daemon try a change, whatever the flags say; the keys of the changes that follow stay theirs.
    pub async fn try_out<E: Endpoint>(&self, endpoint: &E, body: &E::Body) -> Outcome {
        let trial =
            Self { dry_run: true, idempotency_key: None, changes: Default::default(), ..self.clone() };
        match trial.send(endpoint, body).await {
            Err(failure) if failure.dry_run.is_none() => Err(failure),
            _ => Ok(()),
        }
    }
}

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
