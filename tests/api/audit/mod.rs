//! The audit trail: `audit.md` sections 1 to 3.

mod chain;
mod doctored;
mod lists;
mod logins;
mod named;
mod refusals;
mod witness;

pub use chain::verify;
pub use witness::Witness;

use crate::support::world::{Seen, World};
use serde_json::Value;
use std::time::Duration;

/// A page of the trail, read by a permitted caller.
fn records(world: &World, query: &str) -> Vec<Value> {
    let page = match world.as_olga() {
        Some(token) => world.send(world.request("GET", &format!("/audit?{query}")).bearer_auth(token)),
        None => world.get(&format!("/audit?{query}")),
    };
    page.is(200).json()["records"].as_array().unwrap().clone()
}

/// The records of the request that was answered so.
fn of(world: &World, seen: &Seen) -> Vec<Value> {
    // What is recorded after an answer waits in the daemon that gave it, for less than a second.
    if world.config().store.postgres().is_some() {
        std::thread::sleep(Duration::from_millis(300));
    }
    records(world, &format!("requestId={}&sortDirection=ASC&size=1000", seen.header("x-request-id")))
}

/// The one record of the request that was answered so.
#[track_caller]
fn the(world: &World, seen: &Seen) -> Value {
    let found = of(world, seen);
    assert_eq!(found.len(), 1, "{found:?}");
    found[0].clone()
}
