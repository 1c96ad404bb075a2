//! The tree of all commands, and what reads it: clap, help, completions, man pages, usage errors.

mod complete;
mod docs;
mod explain;
mod nodes;
mod topics;
mod troubleshooting;
pub mod usage;

pub use nodes::{command, nodes};

use crate::command::globals::Globals;
use crate::command::verb::{Leaf, Node, subcommand};
use crate::output::called;
use clap::{ArgMatches, Args, Command};

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
        match nodes.iter().find(|node| node.is_called(word)) {
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
    let names = |node: &'static Node| match node {
        Node::Leaf(leaf) => (leaf.name, ""),
        Node::Group { name, alias, .. } => (*name, *alias),
    };
    nodes().iter().map(names).flat_map(|(name, alias)| [name].into_iter().chain(alias.split_whitespace()))
}

/// Every name of the group that is called by a word.
pub fn called(nodes: &'static [Node], word: &str) -> Vec<&'static str> {
    let found = nodes.iter().find_map(|node| match node {
        Node::Group { name, alias, .. } if node.is_called(word) => Some((*name, *alias)),
        _ => None,
    });
    found.into_iter().flat_map(|(name, alias)| [name].into_iter().chain(alias.split_whitespace())).collect()
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
