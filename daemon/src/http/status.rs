//! The endpoints that look at the process: without a token, and without a transaction of a caller.

use super::reply::Reply;
use super::route::Look;
use super::state::{Phase, State, stopping};
use super::{docs, openapi};
use crate::config::Auth;
use crate::ops::listing::json;
use mfa_shared::api::system::{Health, INTERFACE_VERSION, Version};
use mfa_shared::fault::Fault;

/// Answers a look at the process.
pub async fn answer(state: &State, look: Look) -> Result<Reply, Fault> {
    match look {
        Look::Live => Ok(up()),
        Look::Ready => ready(state),
        Look::Version => Ok(version(state).await),
        Look::OpenApi => Ok(Reply::json(openapi::described(state.config.auth == Auth::On))),
        Look::Docs => Ok(docs::page_for_people()),
    }
}

fn ready(state: &State) -> Result<Reply, Fault> {
    let fault = match state.phase() {
        Phase::Serving => state.store.write_fault().or_else(|| state.store.pressing_fault()),
        Phase::Draining | Phase::Stopping => Some(stopping()),
    };
    fault.map_or_else(|| Ok(up()), Err)
}

fn up() -> Reply {
    Reply::json(json(&Health { status: "up".to_owned() }))
}

async fn version(state: &State) -> Reply {
    Reply::json(json(&Version {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        instance: format!("urn:mfa:instance:{}", state.instance),
        interface: INTERFACE_VERSION,
        auth: state.config.auth.as_str().to_owned(),
        initialised: state.has_users().await,
        backup_failed_on: state.backup_failed(),
        damaged_images: i64::try_from(state.store.damaged_images()).ok().filter(|count| *count > 0),
    }))
}
