//! Every command that is about no noun, and the tree of all commands.

pub mod api;
pub mod apply;
pub mod auth;
pub mod background;
pub mod backup;
pub mod batch;
pub mod complete;
pub mod config;
pub mod daemon;
pub mod dev;
pub mod docs;
pub mod doctor;
pub mod explain;
pub mod export;
pub mod find;
pub mod login;
pub mod metrics;
pub mod profile;
pub mod quickstart;
pub mod service;
pub mod session;
pub mod tls;
pub mod topics;
pub mod troubleshooting;
pub mod wait;

use crate::nouns::NOUNS;
use crate::nouns::accounts::statement;
use crate::tree::{self, Node, group, verb};
use crate::verbs;
use std::sync::LazyLock;

/// The program as clap knows it, with the topics of its help.
pub fn command() -> clap::Command {
    tree::command(nodes())
        .after_help(format!("Help topics, each shown by mfa help TOPIC:\n{}", topics::listed()))
}

/// The tree of commands, in the order in which help shows it.
pub fn nodes() -> &'static [Node] {
    static NODES: LazyLock<Vec<Node>> =
        LazyLock::new(|| NOUNS.iter().map(|noun| verbs::group(noun)).chain(OTHERS.iter().copied()).collect());
    &NODES
}

/// Commands that are about no noun.
const OTHERS: &[Node] = &[
    verb::<quickstart::Quickstart>("quickstart"),
    verb::<find::Find>("find"),
    verb::<login::Login>("login"),
    verb::<login::Logout>("logout"),
    verb::<login::Whoami>("whoami"),
    group("auth", "", "What somebody may do", auth::VERBS),
    group("profile", "profiles", "Daemons by name, with settings and logins of their own", profile::VERBS),
    verb::<statement::Print>("statement"),
    verb::<apply::Apply>("apply"),
    verb::<apply::Diff>("diff"),
    verb::<export::Export>("export"),
    verb::<batch::Send>("batch"),
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
