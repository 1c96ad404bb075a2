//! Every verb, one file for each noun.

mod actions;
mod api;
mod application_permissions;
mod applications;
mod apply;
mod audit;
mod auth;
mod background;
mod backup;
mod batch;
mod bulk;
mod cards;
mod complete;
mod config;
mod customers;
mod daemon;
mod day;
mod definitions;
mod dev;
mod dividends;
mod docs;
mod doctor;
mod employees;
mod events;
mod explain;
mod export;
mod find;
mod gateways;
mod groups;
mod history;
mod instances;
mod interest;
mod ledger;
mod login;
mod metrics;
mod offices;
mod portraits;
mod profile;
mod quickstart;
mod report;
mod roles;
mod scans;
mod second_factor;
mod service;
mod session;
mod sessions;
mod statement;
mod tellers;
mod tls;
mod topics;
mod troubleshooting;
mod users;
mod wait;
mod webhooks;

use crate::client::Client;
use crate::prefix;
use crate::tree::{self, Node, group, verb};
use mfa_shared::api::customers::{CustomerQuery, ListCustomers};
use mfa_shared::api::employees::{EmployeeQuery, ListEmployees};
use mfa_shared::api::ledger::{AccountQuery, ListLedgerAccounts};
use mfa_shared::api::offices::ListOffices;
use mfa_shared::endpoint::Endpoint;
use mfa_shared::wire::{Nothing, Query};
use serde_json::Value;

/// The program as clap knows it, with the topics of its help.
pub fn command() -> clap::Command {
    tree::command(NODES)
        .after_help(format!("Help topics, each shown by mfa help TOPIC:\n{}", topics::listed()))
}

/// The tree of commands, in the order in which help shows it.
pub const NODES: &[Node] = &[
    verb::<quickstart::Quickstart>("quickstart"),
    group("offices", "office", "Offices, their branches, addresses and external references", offices::VERBS),
    group("employees", "employee", "Employees and how they are reached", employees::VERBS),
    group("customers", "customer", "Customers and their lifecycle", customers::VERBS),
    group("cards", "card", "Identification cards of customers", cards::VERBS),
    group("gateways", "gateway", "Gateways for e-mail and short messages", gateways::VERBS),
    group("users", "user", "Users, their roles and passwords", users::VERBS),
    group("roles", "role", "Roles and what they allow", roles::VERBS),
    group("groups", "group", "Permittable groups: which endpoints a permission is about", groups::VERBS),
    group("applications", "application", "Applications, their keys and permissions", applications::VERBS),
    verb::<find::Find>("find"),
    verb::<login::Login>("login"),
    verb::<login::Logout>("logout"),
    verb::<login::Whoami>("whoami"),
    group("auth", "", "What somebody may do", auth::VERBS),
    group("profile", "profiles", "Daemons by name, with settings and logins of their own", profile::VERBS),
    group(
        "sessions",
        "session",
        "Sessions of users at the daemon, and the logins of this machine",
        sessions::VERBS,
    ),
    group(
        "second-factor",
        "",
        "The authenticator whose codes a login needs beside the password",
        second_factor::VERBS,
    ),
    group("actions", "action", "What ties charges to types of transaction", actions::VERBS),
    group(
        "products",
        "product definitions definition",
        "Products: what accounts are opened for",
        definitions::VERBS,
    ),
    group("accounts", "account instances instance", "Accounts of customers", instances::VERBS),
    verb::<statement::Print>("statement"),
    group("interest", "", "Interest: days that are run, what they accrue and pay", interest::VERBS),
    group("ledger", "", "The double-entry ledger", ledger::VERBS),
    group("report", "reports", "Reports by day and month, with plots", report::VERBS),
    verb::<apply::Apply>("apply"),
    verb::<apply::Diff>("diff"),
    verb::<export::Export>("export"),
    verb::<batch::Send>("batch"),
    group("teller", "tellers", "Tellers, their cash and the money at the counter", tellers::VERBS),
    group("day", "days", "Ends of the days of an office, and their reports", day::VERBS),
    group("audit", "", "The audit trail: who did what, and the proof that it is whole", audit::VERBS),
    group("events", "event", "What is changed, as it happens", events::VERBS),
    group("webhooks", "webhook", "Events that the daemon brings to an address", webhooks::VERBS),
    verb::<session::Status>("status"),
    verb::<session::Version>("version"),
    verb::<metrics::Metrics>("metrics"),
    verb::<doctor::Doctor>("doctor"),
    group(
        "daemon",
        "",
        "The daemon on this machine",
        &[
            verb::<daemon::Run>("run"),
            verb::<background::Start>("start"),
            verb::<background::Stop>("stop"),
            verb::<background::Restart>("restart"),
            verb::<background::Status>("status"),
            verb::<background::Logs>("logs"),
        ],
    ),
    group("tls", "certificate certificates", "Certificates of the daemon, for https: addresses", tls::VERBS),
    group("service", "", "The daemon as a service of systemd", service::VERBS),
    verb::<daemon::Init>("init"),
    group(
        "admin",
        "",
        "Work on the store itself, on its own machine",
        &[
            verb::<daemon::admin::RecoverUser>("recover-user"),
            verb::<daemon::admin::RotateKey>("rotate-key"),
            verb::<daemon::admin::AddAccount>("add-account"),
            verb::<daemon::archive::ArchiveJournal>("archive-journal"),
        ],
    ),
    group("backup", "backups", "Backups of the whole store, and the way back", backup::VERBS),
    verb::<daemon::check::Run>("check"),
    verb::<daemon::migrate::Migrate>("migrate"),
    verb::<dev::Dev>("dev"),
    group(
        "config",
        "",
        "Settings",
        &[
            verb::<config::ViewSettings>("view"),
            verb::<config::Path>("path"),
            verb::<config::Example>("example"),
        ],
    ),
    verb::<wait::Wait>("wait"),
    verb::<api::Api>("api"),
    verb::<explain::Explain>("explain"),
    verb::<topics::Help>("help"),
    verb::<docs::Completions>("completions"),
    verb::<complete::Complete>("complete"),
    verb::<docs::Commands>("commands"),
    verb::<docs::Docs>("docs"),
];

/// Identifiers of a noun that contain a text; none for a noun without a list. What lies in an office is
/// looked for in this one, and in all of them where it is empty.
pub async fn identifiers(client: &Client, noun: &str, office: &str, term: &str) -> Vec<String> {
    match noun {
        "office" => offices::identifiers(client, term).await,
        "employee" => employees::identifiers(client, term).await,
        "customer" => customers::identifiers(client, term).await,
        "user" => users::identifiers(client, term).await,
        "role" => roles::identifiers(client, term).await,
        "group" => groups::identifiers(client, term).await,
        "webhook" => webhooks::identifiers(client, term).await,
        "application" => applications::identifiers(client, term).await,
        "definition" => definitions::identifiers(client, term).await,
        "account" => ledger::identifiers(client, term).await,
        "teller" => tellers::codes(client, office, term).await,
        "profile" => profile::identifiers(),
        "topic" => topics::names(),
        _ => Vec::new(),
    }
}

/// Identifiers of a noun that begin with a text, at any number of records.
pub async fn beginning(client: &Client, noun: &str, office: &str, typed: &str) -> Vec<String> {
    match noun {
        "office" => prefix::identifiers(client, &ListOffices {}, typed, Query).await,
        "employee" => {
            let query = |paging| Query(EmployeeQuery { paging, office: None });
            prefix::identifiers(client, &ListEmployees {}, typed, query).await
        }
        "customer" => {
            let query = |paging| Query(CustomerQuery { paging, include_closed: true });
            prefix::identifiers(client, &ListCustomers {}, typed, query).await
        }
        "account" => {
            let query = |paging| Query(AccountQuery { paging, kind: None });
            prefix::identifiers(client, &ListLedgerAccounts {}, typed, query).await
        }
        noun => identifiers(client, noun, office, typed).await,
    }
}

/// Identifiers of a plain array, of records or of names, that contain a text.
async fn named<E: Endpoint<Body = Nothing>>(client: &Client, endpoint: E, term: &str) -> Vec<String> {
    let Ok(reply) = client.send(&endpoint, &Nothing).await else { return Vec::new() };
    let records = reply.value.as_array().cloned().unwrap_or_default();
    let name = |record: &Value| record.as_str().or(record["identifier"].as_str()).map(str::to_owned);
    let term = term.to_lowercase();
    records.iter().filter_map(name).filter(|name| name.to_lowercase().contains(&term)).collect()
}
