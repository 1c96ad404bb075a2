//! The tree of all commands by sections, each noun with its verbs, and what reads it: clap, help,
//! completions, man pages, usage errors.

mod complete;
mod docs;
mod explain;
mod topics;
mod troubleshooting;
pub mod usage;

use crate::command::globals::Globals;
use crate::command::noun::Section;
use crate::command::verb::{Leaf, Node, group, subcommand, verb};
use crate::machine::*;
use crate::nouns::NOUNS;
use crate::nouns::accounts::statement;
use crate::output::called;
use crate::output::wrap::wrapped;
use crate::verbs::{self, api, apply, batch, find, wait};
use clap::{ArgMatches, Args, Command};
use std::sync::LazyLock;

/// The program as clap knows it, with the topics of its help.
pub fn command() -> Command {
    let mut listed = String::new();
    for (title, nodes) in sections() {
        listed += &format!("\n{title}:\n");
        let shown = nodes.iter().filter_map(|node| Some((node.name(), node.about()?)));
        listed.extend(shown.map(|(name, about)| format!("  {name:WIDTH$}  {about}\n")));
    }
    let topics = format!("Help topics, each shown by mfa help TOPIC:\n{}", topics::listed());
    let flags = "Flags of every command, such as --output and --profile: mfa help flags\n\
                 A command and its flags: mfa COMMAND --help\n";
    for_clap(nodes()).after_help(format!("{}\n{flags}\n{topics}", wrapped(listed.trim_start(), COLUMNS)))
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
            login::WHOAMI,
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
            verb::<archive::ArchiveJournal>("archive-journal"),
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

/// The whole tree for clap.
fn for_clap(nodes: &'static [Node]) -> Command {
    let root = Command::new(called::name())
        .version(env!("CARGO_PKG_VERSION"))
        .help_template("{about-with-newline}\n{before-help}{usage-heading} {usage}{after-help}")
        .before_help("Examples:\n  mfa quickstart\n  mfa customers list\n  mfa help output\n\n")
        .subcommand_required(true)
        .disable_help_subcommand(true)
        .max_term_width(100);
    Globals::augment_args(root)
        .mut_args(|arg| arg.hide(true))
        .about("Administer a microfinance institution")
        .long_about(None::<&str>)
        .next_help_heading(None::<&str>)
        .subcommands(nodes.iter().map(subcommand))
}

/// The leaf that was typed, with its flags.
#[expect(clippy::expect_used, reason = "clap accepts commands of this tree only, and no group by itself")]
pub fn find<'m>(nodes: &'static [Node], matches: &'m ArgMatches) -> (&'static Leaf, &'m ArgMatches) {
    let mut nodes = nodes;
    let mut matches = matches;
    loop {
        let (name, rest) = matches.subcommand().expect("a command was typed");
        matches = rest;
        match nodes.iter().find(|node| node.name() == name).expect("a command of the table") {
            Node::Leaf(leaf) => return (leaf, matches),
            Node::Group { nodes: deeper, .. } => nodes = deeper,
        }
    }
}

/// The command of a path in a tree that has been built.
pub fn descend<'a>(root: &'a Command, path: &[&str]) -> Option<&'a Command> {
    path.iter().try_fold(root, |command, name| command.find_subcommand(name))
}

/// The command that words lead to, as far as they do; flags and their values are skipped.
pub fn path(nodes: &'static [Node], words: &[&str]) -> Vec<&'static str> {
    let mut nodes = nodes;
    let mut path = Vec::new();
    for word in words {
        match nodes.iter().find(|node| node.words().any(|known| known == *word)) {
            Some(Node::Leaf(leaf)) => {
                path.push(leaf.name);
                break;
            }
            Some(Node::Group { name, nodes: deeper, .. }) => {
                path.push(*name);
                nodes = deeper;
            }
            None => {}
        }
    }
    path
}

/// The flags that every command takes, as help shows them.
pub fn global_flags() -> String {
    let command = Globals::augment_args(Command::new(called::name()))
        .next_help_heading(None::<&str>)
        .help_template("{options}")
        .max_term_width(100);
    command.clone().render_help().to_string()
}

/// The names that help shows after a path of names.
pub fn names(nodes: &'static [Node], path: &[&str]) -> Vec<&'static str> {
    let Some((first, rest)) = path.split_first() else {
        let shown = |node: &&Node| !matches!(node, Node::Leaf(leaf) if leaf.hidden);
        return nodes.iter().filter(shown).map(Node::name).collect();
    };
    let found = nodes.iter().find(|node| node.name() == *first);
    match found {
        Some(Node::Group { nodes, .. }) => names(nodes, rest),
        _ => Vec::new(),
    }
}

/// The words that commands begin with.
pub fn called_by() -> impl Iterator<Item = &'static str> {
    nodes().iter().flat_map(Node::words)
}

/// Every leaf under its full path, in the order of the tables.
pub fn leaves(nodes: &'static [Node]) -> Vec<(Vec<&'static str>, &'static Leaf)> {
    let mut found = Vec::new();
    for node in nodes {
        match node {
            Node::Leaf(leaf) => found.push((vec![leaf.name], leaf)),
            Node::Group { name, nodes, .. } => {
                found.extend(leaves(nodes).into_iter().map(|(mut path, leaf)| {
                    path.insert(0, name);
                    (path, leaf)
                }));
            }
        }
    }
    found
}
