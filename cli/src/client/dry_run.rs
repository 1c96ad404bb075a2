//! Changes that are only tried.

use super::{Client, Reply};
use crate::failure::{Failure, Outcome};
use mfa_shared::endpoint::{Meta, render};
use mfa_shared::fault::exit;
use reqwest::header::HeaderName;
use serde_json::json;

/// The header by which a change is only tried, and by which the daemon says that it was.
pub(super) const DRY_RUN: HeaderName = HeaderName::from_static("dry-run");

impl Client {
    /// How a dry run goes on: not at all, unless the answer itself tells what it comes to.
    pub(super) fn dry(
        &self,
        meta: &Meta,
        params: &[&str],
        reply: Reply,
        tried: bool,
        tells: bool,
    ) -> Outcome<Reply> {
        if !tried {
            let what = format!("the daemon at {} knows no dry runs, and has done what was asked", self.url);
            return Err(Failure::new("dry_run_ignored", exit::INCOMPATIBLE, what));
        }
        if tells {
            return Ok(reply);
        }
        let result = "would be accepted; nothing was changed";
        Err(Failure::dry_run(json!({
            "method": meta.method.as_str(), "path": render(meta.path, params), "result": result,
            "location": reply.location,
        })))
    }
}
