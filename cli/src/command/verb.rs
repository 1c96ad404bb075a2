//! What a verb is, and how it becomes a command of clap.
//!
//! Verbs are rows of constant tables. clap sees the flags of one only once it is typed, so that the number of
//! verbs costs no start-up time.

pub use super::sends::{changes, removes, shows};

use super::cx::Cx;
use super::flags::read;
use super::globals::{ChangeFlags, ListFlags};
use super::sends::Sends;
use crate::failure::Outcome;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use mfa_shared::endpoint::{Meta, Method, path_params};
use mfa_shared::wire::AnswerKind;
use std::future::Future;
use std::pin::Pin;

/// How the name, the purpose and the flags of a command are laid out in its help.
const TEMPLATE: &str = "{about-with-newline}\n{before-help}{usage-heading} {usage}\n\n{all-args}{after-help}";

/// One command: its flags are the struct, its work is `run`.
pub trait Verb: Args + FromArgMatches {
    /// The endpoint that it sends, if it sends one.
    const ENDPOINT: Option<&'static Meta> = None;
    /// What it does; by default what the endpoint says.
    const ABOUT: &'static str = match Self::ENDPOINT {
        Some(meta) => meta.doc,
        None => "",
    };
    /// Two or more command lines that work as written.
    const EXAMPLES: &'static [&'static str];
    /// Left out of help and completions.
    const HIDDEN: bool = false;
    /// Works even if the named profile does not exist or a setting cannot be read, and warns of that.
    const MENDS_SETTINGS: bool = false;
    /// The same, but reports such faults itself.
    const FINDS_FAULTS: bool = false;
    /// Runs until it is stopped: it handles signals itself and gets a runtime of several threads.
    const SERVES: bool = false;
    /// Exit codes in addition to the usual ones and those of its endpoint.
    const EXITS: &'static [i32] = &[];
    fn run(self, cx: &Cx) -> impl Future<Output = Outcome>;
}

pub type Work<'a> = Pin<Box<dyn Future<Output = Outcome> + 'a>>;

/// What a verb takes, and what it does with it.
#[derive(Clone, Copy)]
pub enum Doing {
    /// A verb with a type of its own.
    Own(fn(Command) -> Command, for<'a> fn(&'a ArgMatches, &'a Cx) -> Work<'a>),
    /// A verb that was made for a noun: its arguments, what adds its flags, and its work.
    Made(&'static [Arg], &'static AddFlags, &'static MadeWork),
    /// A verb that sends one request.
    Sends(Sends),
}

type AddFlags = dyn Fn(Command) -> Command + Sync;
/// The work of a verb that was made, with the values of its arguments.
type MadeWork = dyn for<'a> Fn(&'a [&'a str], &'a ArgMatches, &'a Cx) -> Work<'a> + Sync;

/// A verb as data.
#[derive(Clone, Copy)]
pub struct Leaf {
    /// What is typed.
    pub name: &'static str,
    /// Row of the endpoint table.
    pub endpoint: Option<&'static Meta>,
    pub about: &'static str,
    pub examples: &'static [&'static str],
    /// Left out of help and completions.
    pub hidden: bool,
    /// Fails if the named profile does not exist or a setting cannot be read.
    pub needs_settings: bool,
    /// Reports such faults itself.
    pub finds_faults: bool,
    /// Runs until it is stopped, and handles signals itself.
    pub serves: bool,
    /// Works on many records: it handles signals itself, gets a runtime of several threads, and may end with
    /// failures of some of them.
    pub bulk: bool,
    /// Exit codes in addition to the usual ones and those of its endpoint.
    pub exits: &'static [i32],
    pub doing: Doing,
}

impl Leaf {
    /// A verb without anything special.
    const fn of(name: &'static str, examples: &'static [&'static str], doing: Doing) -> Self {
        Self {
            name,
            endpoint: None,
            about: "",
            examples,
            hidden: false,
            needs_settings: true,
            finds_faults: false,
            serves: false,
            bulk: false,
            exits: &[],
            doing,
        }
    }

    /// A verb that is made for a noun: its arguments, what adds its flags, and its work with the values of
    /// the arguments. It lives as long as the tree of commands, which is as long as the process.
    pub fn made<F, W>(name: &'static str, arguments: Vec<Arg>, flags: F, work: W) -> Self
    where
        F: Fn(Command) -> Command + Sync + 'static,
        W: for<'a> Fn(&'a [&'a str], &'a ArgMatches, &'a Cx) -> Work<'a> + Sync + 'static,
    {
        let doing = Doing::Made(arguments.leak(), Box::leak(Box::new(flags)), Box::leak(Box::new(work)));
        Self::of(name, &[], doing)
    }
}

/// A verb, or a group of them.
#[derive(Clone, Copy)]
pub enum Node {
    Leaf(Leaf),
    /// A noun, or a part of one.
    Group {
        name: &'static str,
        /// Other words for it, separated by spaces.
        alias: &'static str,
        about: &'static str,
        /// What follows.
        nodes: &'static [Node],
    },
}

/// A row of a table of verbs.
pub const fn verb<V: Verb + 'static>(name: &'static str) -> Node {
    let doing =
        Doing::Own(flags_of::<V>, |matches, cx| Box::pin(async move { read::<V>(matches)?.run(cx).await }));
    Node::Leaf(Leaf {
        endpoint: V::ENDPOINT,
        about: V::ABOUT,
        hidden: V::HIDDEN,
        needs_settings: !V::MENDS_SETTINGS && !V::FINDS_FAULTS,
        finds_faults: V::FINDS_FAULTS,
        serves: V::SERVES,
        exits: V::EXITS,
        ..Leaf::of(name, V::EXAMPLES, doing)
    })
}

impl Sends {
    /// A row for such a verb, with command lines that work.
    pub const fn examples(self, examples: &'static [&'static str]) -> Node {
        let leaf = Leaf::of(self.name, examples, Doing::Sends(self));
        Node::Leaf(Leaf { endpoint: Some(self.endpoint), about: self.about, ..leaf })
    }
}

/// A row for a group of verbs.
pub const fn group(
    name: &'static str,
    alias: &'static str,
    about: &'static str,
    nodes: &'static [Node],
) -> Node {
    Node::Group { name, alias, about, nodes }
}

fn flags_of<V: Verb>(command: Command) -> Command {
    let command = with_list_flags(V::augment_args(command), V::ENDPOINT);
    // The comments of the structs that are flattened into a verb are no help for its users.
    let command = command.about(sentence(V::ABOUT)).long_about(None::<&str>).next_help_heading(None::<&str>);
    let method = V::ENDPOINT.map(|meta| meta.method);
    with_shared_flags(method)(command)
}

/// Adds the flags that all changes have, and shows in the help of a command the global flags that change much
/// of what it does.
fn with_shared_flags(method: Option<Method>) -> fn(Command) -> Command {
    match method {
        Some(Method::Get) => |command| showing(command, &["output", "columns", "jq"]),
        Some(Method::Delete) => |command| showing(with_change_flags(command), &["output", "yes", "confirm"]),
        Some(Method::Post | Method::Put) => |command| showing(with_change_flags(command), &["output", "yes"]),
        None => |command| showing(command, &["output", "yes"]),
    }
}

fn showing(command: Command, ids: &[&str]) -> Command {
    command.mut_args(|arg| {
        if ids.contains(&arg.get_id().as_str()) && arg.is_global_set() { arg.hide(false) } else { arg }
    })
}

/// Adds the flags that all lists have.
fn with_list_flags(command: Command, endpoint: Option<&Meta>) -> Command {
    let Some(list) = endpoint.filter(|meta| meta.answer.kind == AnswerKind::Page) else { return command };
    let command = ListFlags::augment_args(command);
    if super::lists::has_term(list) { command } else { command.mut_arg("term", |arg| arg.hide(true)) }
}

/// Adds the flags that all changes have, where they are not there yet.
fn with_change_flags(command: Command) -> Command {
    if command.get_arguments().any(|arg| arg.get_id() == "dry_run") {
        return command;
    }
    let about = command.get_about().cloned().unwrap_or_default();
    ChangeFlags::augment_args(command).about(about).long_about(None::<&str>).next_help_heading(None::<&str>)
}

/// A verb or a group for clap.
pub fn subcommand(node: &'static Node) -> Command {
    match node {
        Node::Leaf(leaf) => {
            let examples: String = leaf.examples.iter().map(|line| format!("  {line}\n")).collect();
            let command = Command::new(leaf.name)
                .about(sentence(leaf.about))
                .help_template(TEMPLATE)
                .before_help(format!("Examples:\n{examples}\n"))
                .after_help("Flags of every command: mfa help flags")
                .hide(leaf.hidden);
            let command = match leaf.doing {
                Doing::Own(flags, _) => return command.defer(flags),
                Doing::Made(arguments, flags, _) => flags(command.args(arguments)),
                Doing::Sends(sends) => sends.add(command),
            };
            with_list_flags(command, leaf.endpoint)
                .defer(with_shared_flags(leaf.endpoint.map(|meta| meta.method)))
                .about(sentence(leaf.about))
                .long_about(None::<&str>)
                .next_help_heading(None::<&str>)
        }
        Node::Group { name, alias, about, nodes } => {
            let group = Command::new(*name)
                .about(*about)
                .subcommand_required(true)
                .subcommands(nodes.iter().map(subcommand));
            group.visible_aliases(alias.split_whitespace())
        }
    }
}

/// A sentence as help shows it: without the final period.
fn sentence(about: &'static str) -> &'static str {
    about.strip_suffix('.').unwrap_or(about)
}

impl Node {
    pub fn name(&self) -> &'static str {
        match self {
            Node::Leaf(leaf) => leaf.name,
            Node::Group { name, .. } => name,
        }
    }

    /// Every word for it, the name first.
    pub fn words(&self) -> impl Iterator<Item = &'static str> {
        let alias = if let Node::Group { alias, .. } = self { alias } else { "" };
        std::iter::once(self.name()).chain(alias.split_whitespace())
    }

    /// What it does or is about, where help shows it.
    pub fn about(&self) -> Option<&'static str> {
        match self {
            Node::Leaf(leaf) => (!leaf.hidden).then(|| sentence(leaf.about)),
            Node::Group { about, .. } => Some(about),
        }
    }
}

impl Leaf {
    /// Reads the flags and does the work.
    pub fn run<'a>(&self, matches: &'a ArgMatches, cx: &'a Cx) -> Work<'a> {
        match self.doing {
            Doing::Own(_, run) => run(matches, cx),
            Doing::Made(arguments, _, work) => Box::pin(async move {
                let given = given(arguments.iter().map(|argument| argument.get_id().as_str()), matches);
                work(&given, matches, cx).await
            }),
            Doing::Sends(sends) => Box::pin(async move {
                sends.run(&given(path_params(sends.endpoint.path), matches), matches, cx).await
            }),
        }
    }

    /// Whether it lists page by page and has the flags of a list.
    pub fn lists(&self) -> bool {
        self.endpoint.is_some_and(|meta| meta.answer.kind == AnswerKind::Page)
    }

    /// Whether it changes something and has the flags of a change.
    pub fn changes(&self) -> bool {
        self.endpoint.is_some_and(|meta| !meta.method.reads())
    }
}

/// The values of arguments that are texts, as far as they were given.
fn given(arguments: impl Iterator<Item = &'static str>, matches: &ArgMatches) -> Vec<&str> {
    arguments.filter_map(|id| matches.get_one::<String>(id)).map(String::as_str).collect()
}
