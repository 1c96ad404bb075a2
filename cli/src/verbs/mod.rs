//! What is the same for all nouns: verbs that each noun has which has their endpoints, and commands that go
//! through all nouns.

pub mod api;
pub mod apply;
pub mod asks;
pub mod batch;
pub mod bulk;
mod commands;
mod create;
mod delete;
mod edit;
mod export;
pub mod find;
mod get;
mod history;
mod import;
mod list;
pub mod suggest;
mod update;
pub mod wait;

use crate::command::noun::Noun;
use crate::command::verb::Node;

/// Makes a verb for a noun, where the noun has what it needs.
type Of = fn(&'static Noun) -> Option<Node>;

/// The verbs that help shows first, in this order; own ones take the place of those that nouns share.
const FIRST: &[(&str, Of)] = &[
    ("list", list::of),
    ("get", get::of),
    ("history", history::of),
    ("create", create::of),
    ("update", update::of),
    ("edit", edit::of),
    ("delete", delete::of),
];

/// The group of a noun: the verbs that all nouns have, its own ones, and the nouns inside it.
pub fn group(noun: &'static Noun) -> Node {
    let own = |name: &str| noun.verbs.iter().find(|node| node.name() == name).copied();
    let first = FIRST
        .iter()
        .filter_map(|(name, of)| own(name).or_else(|| of(noun).filter(|node| !is_sent(noun, node))));
    let more = noun.verbs.iter().filter(|node| !FIRST.iter().any(|(name, _)| *name == node.name())).copied();
    let parts = noun.parts.iter().map(|part| group(part));
    let bulk = [import::of(noun), export::of(noun)].into_iter().flatten();
    let nodes: Vec<_> = first.chain(commands::of(noun)).chain(more).chain(parts).chain(bulk).collect();
    Node::Group { name: noun.name(), alias: noun.alias, about: noun.about, nodes: nodes.leak() }
}

/// Whether one of the noun's own verbs sends the endpoint of a common one under a different name.
fn is_sent(noun: &Noun, other: &Node) -> bool {
    let endpoint = |node: &Node| match node {
        Node::Leaf(leaf) if leaf.name != "history" && leaf.name != "edit" => {
            leaf.endpoint.map(|meta| meta.name)
        }
        _ => None,
    };
    endpoint(other).is_some_and(|sent| noun.verbs.iter().any(|node| endpoint(node) == Some(sent)))
}

/// A command line of a verb of a noun.
fn line(noun: &Noun, verb: &str, rest: &str) -> String {
    format!("mfa {} {verb} {rest}", noun.typed).trim_end().to_owned()
}

/// Two examples: a command line, and the same as JSON.
fn twice(noun: &Noun, verb: &str, rest: &str) -> &'static [&'static str] {
    let line = line(noun, verb, rest);
    pair([line.clone(), format!("{line} -o json")])
}

/// Two examples. They live as long as the tree of commands, which is as long as the process.
fn pair(lines: [String; 2]) -> &'static [&'static str] {
    lines.map(|line| &*line.leak()).to_vec().leak()
}
