//! Every verb, one file for each noun.

mod complete;
mod config;
mod customers;
mod daemon;
mod docs;
mod employees;
mod offices;
mod quickstart;
mod service;
mod session;
mod tellers;
mod topics;

use crate::client::Client;
use crate::failure::Failure;
use crate::tree::{Node, group, verb};
use std::time::Duration;

/// The tree of commands, in the order in which help shows it.
pub const NODES: &[Node] = &[
    verb::<quickstart::Quickstart>("quickstart"),
    group("offices", "office", "Offices, their branches, addresses and external references", offices::VERBS),
    group("employees", "employee", "Employees and how they are reached", employees::VERBS),
    group("customers", "customer", "Customers and their lifecycle", customers::VERBS),
    group("teller", "tellers", "Tellers, their cash and the money at the counter", tellers::VERBS),
    verb::<session::Status>("status"),
    verb::<session::Version>("version"),
    group(
        "daemon",
        "",
        "The daemon on this machine",
        &[
            verb::<daemon::Run>("run"),
            verb::<service::Start>("start"),
            verb::<service::Stop>("stop"),
            verb::<service::Restart>("restart"),
            verb::<service::Status>("status"),
            verb::<service::Logs>("logs"),
        ],
    ),
    verb::<daemon::Init>("init"),
    group(
        "admin",
        "",
        "Work on the store itself, on its own machine",
        &[verb::<daemon::RecoverUser>("recover-user")],
    ),
    verb::<daemon::Dev>("dev"),
    group("config", "", "Settings", &[verb::<config::ViewSettings>("view"), verb::<config::Path>("path")]),
    verb::<topics::Explain>("explain"),
    verb::<topics::Help>("help"),
    verb::<docs::Completions>("completions"),
    verb::<complete::Complete>("complete"),
    verb::<docs::Commands>("commands"),
    verb::<docs::Docs>("docs"),
];

/// Longest wait for the list in which a mistyped identifier is looked for.
const SUGGESTION_TIMEOUT: Duration = Duration::from_millis(700);

/// The failure with near identifiers, where the daemon soon tells which there are.
pub async fn with_suggestion(client: &Client, failure: Failure) -> Failure {
    let Some((noun, typed)) = failure.missing.clone() else { return failure };
    let client = client.hasty(SUGGESTION_TIMEOUT);
    let mut known = Vec::new();
    // One wrong character leaves one half of the identifier as it is, so each half is looked for.
    let half = typed.chars().count().div_ceil(2);
    let halves: [String; 2] = [typed.chars().take(half).collect(), typed.chars().skip(half).collect()];
    for term in halves.iter().filter(|half| !half.is_empty()) {
        known.extend(identifiers(&client, &noun, term).await);
    }
    known.sort();
    known.dedup();
    let near = crate::input::nearest(&typed, known.iter().map(String::as_str));
    match near.first() {
        Some(near) => {
            let hint = format!("did you mean {near}? {}", failure.hint);
            failure.hint(hint)
        }
        None => failure,
    }
}

/// Identifiers of a noun that contain a text; none for a noun without a list.
async fn identifiers(client: &Client, noun: &str, term: &str) -> Vec<String> {
    match noun {
        "office" => offices::identifiers(client, term).await,
        "employee" => employees::identifiers(client, term).await,
        "customer" => customers::identifiers(client, term).await,
        _ => Vec::new(),
    }
}
