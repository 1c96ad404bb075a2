//! The commands by sections: each noun with its verbs, and the commands that are about no noun.

use super::{complete, docs, explain, topics};
use crate::command::noun::Section;
use crate::command::verb::{Node, group, verb};
use crate::machine::*;
use crate::nouns::NOUNS;
use crate::nouns::accounts::statement;
use crate::output::wrap::wrapped;
use crate::verbs::{self, api, apply, batch, find, wait};
use std::sync::LazyLock;

/// The program as clap knows it, with the topics of its help.
pub fn command() -> clap::Command {
    let mut listed = String::new();
    for (title, nodes) in sections() {
        listed += &format!("\n{title}:\n");
        let shown = nodes.iter().filter_map(|node| Some((node.name(), node.about()?)));
        listed.extend(shown.map(|(name, about)| format!("  {name:WIDTH$}  {about}\n")));
    }
    let topics = format!("Help topics, each shown by mfa help TOPIC:\n{}", topics::listed());
    let flags = "Flags of every command, such as --output and --profile: mfa help flags\n\
                 A command and its flags: mfa COMMAND --help\n";
    super::for_clap(nodes())
        .after_help(format!("{}\n{flags}\n{topics}", wrapped(listed.trim_start(), COLUMNS)))
}

/// Columns of the names of commands, and of the list of them.
const WIDTH: usize = 15;
const COLUMNS: u16 = 80;

/// The commands by sections: the nouns of each first.
fn sections() -> impl Iterator<Item = (&'static str, Vec<Node>)> {
    Section::ALL.into_iter().map(|(section, title)| {
        let nouns = NOUNS.iter().filter(move |noun| noun.section == section).map(|noun| verbs::group(noun));
        let others =
            OTHERS.iter().filter(|(of, _)| *of == section).flat_map(|(_, nodes)| nodes.iter().copied());
        (title, nouns.chain(others).collect())
    })
}

/// The tree of commands, in the order in which help shows it.
pub fn nodes() -> &'static [Node] {
    static NODES: LazyLock<Vec<Node>> = LazyLock::new(|| sections().flat_map(|(_, nodes)| nodes).collect());
    &NODES
}

/// Commands that are about no noun.
const OTHERS: &[(Section, &[Node])] = &[
    (Section::People, &[verb::<find::Find>("find")]),
    (Section::Money, &[verb::<statement::Print>("statement")]),
    (
        Section::Access,
        &[
            verb::<login::Login>("login"),
            verb::<login::Logout>("logout"),
            verb::<login::Whoami>("whoami"),
            group("auth", "", "What a user may do", auth::VERBS),
            group(
                "profile",
                "profiles",
                "Daemons by name, with settings and logins of their own",
                profile::VERBS,
            ),
        ],
    ),
    (Section::Machine, MACHINE),
    (
        Section::Tools,
        &[
            verb::<apply::commands::Apply>("apply"),
            verb::<apply::commands::Diff>("diff"),
            verb::<apply::whole::Export>("export"),
            verb::<batch::Send>("batch"),
            verb::<wait::Wait>("wait"),
            verb::<api::Api>("api"),
            verb::<explain::Explain>("explain"),
            verb::<topics::Help>("help"),
            verb::<docs::Completions>("completions"),
            verb::<complete::Complete>("complete"),
            verb::<docs::Commands>("commands"),
            verb::<docs::Docs>("docs"),
        ],
    ),
];

/// Commands about the daemon and its machine.
const MACHINE: &[Node] = &[
    verb::<quickstart::Quickstart>("quickstart"),
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
];
