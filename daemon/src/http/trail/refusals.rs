//! What is recorded in the audit trail after the answer: refusals, failed logins, reads of sensitive data.

use crate::http::head::Head;
use crate::http::noted::{Known, Noted};
use crate::http::state::State;
use crate::http::trail::Trail;
use crate::ops::callers::APPLICATION;
use mfa_shared::api::audit::AuditOutcome;
use mfa_shared::api::backup::GetBackup;
use mfa_shared::api::portraits::GetPortrait;
use mfa_shared::api::scans::GetScanImage;
use mfa_shared::api::tellers::UnlockDrawer;
use mfa_shared::api::tokens::CreateToken;
use mfa_shared::endpoint::{Endpoint, Meta};
use mfa_shared::fault::Fault;
use mfa_shared::kind::resource;
use mfa_shared::wire::NDJSON_TYPE;
use warp::http::Method;
use warp::http::header::CONTENT_TYPE;
use warp::reply::Response;

/// Reads that show an image of a person or of their papers, or everything.
const LOOKS: [&str; 3] = [GetPortrait::META.name, GetScanImage::META.name, GetBackup::META.name];
/// Refusals of a login that say something about the caller; others mean that the request is not a login.
const LOGIN_REFUSED: [&str; 7] = [
    "login_failed",
    "too_many_attempts",
    "second_factor_required",
    "second_factor_invalid",
    "refresh_token_invalid",
    "assertion_invalid",
    "scope_not_covered",
];
/// Refusals of a drawer that say that somebody was not let in.
const DRAWER_REFUSED: [&str; 3] = ["wrong_drawer_password", "not_assigned_employee", "too_many_attempts"];

/// Records how a request ended, where its transaction could not.
pub fn ended(state: &State, head: &Head, meta: Meta, params: &[String], answer: Result<&Response, &Fault>) {
    let trail = || Trail::of(head, meta, params, None);
    let now = state.store.clock().now();
    match answer {
        Err(fault) if !head.noted.is_audited() => {
            let Some(known) = refused(meta, &head.noted, fault) else { return };
            let mut record = trail().refused(&known, now, fault.kind.status, fault.kind.code);
            if meta.name == CreateToken::META.name && known.name != "unknown" {
                record.resource = Some(match known.application {
                    Some(application) => resource("application", &[application]),
                    None => resource("user", &[known.name]),
                });
            }
            state.auditor.add(record);
        }
        Ok(response) if head.method == Method::GET && response.status() == 200 => {
            let lines = response.headers().get(CONTENT_TYPE).is_some_and(|kind| kind == NDJSON_TYPE);
            let known = head.noted.known().filter(|_| lines || LOOKS.contains(&meta.name));
            if let Some(known) = known {
                let mut record = trail().refused(known, now, 200, "");
                (record.outcome, record.code) = (AuditOutcome::Done, None);
                state.auditor.add(record);
            }
        }
        _ => {}
    }
}

/// Who was refused, if it is recorded.
fn refused(meta: Meta, noted: &Noted, fault: &Fault) -> Option<Known> {
    let code = fault.kind.code;
    if meta.name == CreateToken::META.name {
        let name = noted.named().unwrap_or("unknown").to_owned();
        let application = name.strip_prefix(APPLICATION).map(str::to_owned);
        return LOGIN_REFUSED.contains(&code).then_some(Known { name, application });
    }
    let locked_out = meta.name == UnlockDrawer::META.name && DRAWER_REFUSED.contains(&code);
    let known = noted.known()?;
    (fault.kind.status == 403 || locked_out).then(|| known.clone())
}
