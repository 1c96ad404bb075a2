//! What a verb is, and how it becomes a command of clap.
//!
//! Verbs are rows of constant tables. clap sees the flags of one only once it is typed, so that the number of
//! verbs costs no start-up time.

use super::cx::Cx;
use super::globals::{ChangeFlags, ListFlags};
use super::noun::{Noun, params};
use crate::failure::{Failure, Outcome};
use crate::output::views::View;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use mfa_shared::endpoint::{Meta, Method};
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
    /// Works even if the named profile does not exist.
    const MENDS_PROFILES: bool = false;
    /// Reports faults of the settings itself, and works without those that cannot be read.
    const FINDS_FAULTS: bool = false;
    /// Runs until it is stopped: it handles signals itself and gets a runtime of several threads.
    const SERVES: bool = false;
    /// Works on many records: it handles signals itself, gets a runtime of several threads, and may end with
    /// failures of some of them.
    const BULK: bool = false;
    /// Exit codes in addition to the usual ones and those of its endpoint.
    const EXITS: &'static [i32] = &[];
    fn run(self, cx: &Cx) -> impl Future<Output = Outcome>;
}

pub type Work<'a> = Pin<Box<dyn Future<Output = Outcome> + 'a>>;

/// What a verb takes, and what it does with it.
#[derive(Debug, Clone, Copy)]
enum Doing {
    /// A verb with a type of its own.
    Own(fn(Command) -> Command, for<'a> fn(&'a ArgMatches, &'a Cx) -> Work<'a>),
    /// A verb that many nouns have, with the parameters of its path.
    Common(&'static Noun, &'static [&'static str], Flags, CommonWork),
    /// A verb that shows what its endpoint answers about one record, of which this is a word.
    Shows(&'static Meta, &'static View, &'static str),
}

type Flags = fn(&'static Noun, Command) -> Command;
type CommonWork = for<'a> fn(&'static Noun, &'a [&'a str], &'a ArgMatches, &'a Cx) -> Work<'a>;

/// A verb as data.
#[derive(Debug, Clone, Copy)]
pub struct Leaf {
    /// What is typed.
    pub name: &'static str,
    /// Row of the endpoint table.
    pub endpoint: Option<&'static Meta>,
    pub about: &'static str,
    pub examples: &'static [&'static str],
    /// Left out of help and completions.
    pub hidden: bool,
    /// Fails if the named profile does not exist.
    pub needs_profile: bool,
    /// Fails if a setting cannot be read.
    pub needs_settings: bool,
    /// Runs until it is stopped, and handles signals itself.
    pub serves: bool,
    /// Works on many records, and handles signals itself.
    pub bulk: bool,
    /// Exit codes in addition to the usual ones and those of its endpoint.
    pub exits: &'static [i32],
    doing: Doing,
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
            needs_profile: true,
            needs_settings: true,
            serves: false,
            bulk: false,
            exits: &[],
            doing,
        }
    }
}

/// A verb that many nouns have, as it is for one of them.
pub struct Common {
    pub name: &'static str,
    pub endpoint: Option<&'static Meta>,
    pub about: String,
    pub examples: Vec<String>,
    pub bulk: bool,
    /// The parameters of the path of what it is about, which are its first arguments.
    pub path: Vec<&'static str>,
    /// Adds what else it takes.
    pub flags: Flags,
    /// Does the work, with the values of the path.
    pub run: CommonWork,
}

/// Most of them.
pub const COMMON: Common = Common {
    name: "",
    endpoint: None,
    about: String::new(),
    examples: Vec::new(),
    bulk: false,
    path: Vec::new(),
    flags: |_, command| command,
    run: |_, _, _, _| Box::pin(async { Ok(()) }),
};

impl Common {
    /// The verb of a noun. The tree of commands lives as long as the process, and its texts with it.
    pub fn of(self, noun: &'static Noun) -> Node {
        let examples = self.examples.into_iter().map(|line| &*line.leak());
        let doing = Doing::Common(noun, self.path.leak(), self.flags, self.run);
        let leaf = Leaf::of(self.name, examples.collect::<Vec<_>>().leak(), doing);
        Node::Leaf(Leaf { endpoint: self.endpoint, about: self.about.leak(), bulk: self.bulk, ..leaf })
    }
}

/// A verb, or a group of them.
#[derive(Debug, Clone, Copy)]
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
    let doing = Doing::Own(flags_of::<V>, |matches, cx| {
        Box::pin(async move {
            let read = V::from_arg_matches(matches).map_err(|e| Failure::usage(e.to_string()))?;
            read.run(cx).await
        })
    });
    Node::Leaf(Leaf {
        endpoint: V::ENDPOINT,
        about: V::ABOUT,
        hidden: V::HIDDEN,
        needs_profile: !V::MENDS_PROFILES && !V::FINDS_FAULTS,
        needs_settings: !V::FINDS_FAULTS,
        serves: V::SERVES,
        bulk: V::BULK,
        exits: V::EXITS,
        ..Leaf::of(name, V::EXAMPLES, doing)
    })
}

/// A verb that shows what an endpoint answers about a record, of which `of` is a word; the path names it.
#[derive(Debug, Clone, Copy)]
pub struct Shows {
    name: &'static str,
    endpoint: &'static Meta,
    view: &'static View,
    of: &'static str,
}

/// A row for such a verb, which lacks its examples.
pub const fn shows(
    name: &'static str,
    endpoint: &'static Meta,
    view: &'static View,
    of: &'static str,
) -> Shows {
    Shows { name, endpoint, view, of }
}

impl Shows {
    /// The row with command lines that work.
    pub const fn examples(self, examples: &'static [&'static str]) -> Node {
        let doing = Doing::Shows(self.endpoint, self.view, self.of);
        let leaf = Leaf::of(self.name, examples, doing);
        Node::Leaf(Leaf { endpoint: Some(self.endpoint), about: self.endpoint.doc, ..leaf })
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
    let command = with_shared_flags(V::augment_args(command), V::ENDPOINT);
    // The comments of the structs that are flattened into a verb are no help for its users.
    let command = command.about(sentence(V::ABOUT)).long_about(None::<&str>).next_help_heading(None::<&str>);
    let method = V::ENDPOINT.map(|meta| meta.method);
    with_global_flags(method)(command)
}

/// The global flags that the help of a command shows: those that change much of what it does.
fn with_global_flags(method: Option<Method>) -> fn(Command) -> Command {
    match method {
        Some(Method::Get) => |command| showing(command, &["output", "columns", "jq"]),
        Some(Method::Delete) => |command| showing(command, &["output", "yes", "confirm"]),
        _ => |command| showing(command, &["output", "yes"]),
    }
}

fn showing(command: Command, ids: &[&str]) -> Command {
    command.mut_args(|arg| {
        if ids.contains(&arg.get_id().as_str()) && arg.is_global_set() { arg.hide(false) } else { arg }
    })
}

/// Adds the flags that all lists have, and those that all changes have.
fn with_shared_flags(mut command: Command, endpoint: Option<&Meta>) -> Command {
    if let Some(meta) = endpoint {
        if meta.answer.kind == AnswerKind::Page {
            command = ListFlags::augment_args(command);
            if !super::lists::has_term(meta) {
                command = command.mut_arg("term", |arg| arg.hide(true));
            }
        }
        if !meta.method.reads() {
            command = ChangeFlags::augment_args(command);
        }
    }
    command
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
                Doing::Common(noun, path, flags, _) => flags(noun, command.args(noun.arguments(path))),
                Doing::Shows(row, _, of) => command.args(params(row.path).map(|param| {
                    Arg::new(param).value_name("ID").help(format!("Identifier of the {of}")).required(true)
                })),
            };
            with_shared_flags(command, leaf.endpoint)
                .defer(with_global_flags(leaf.endpoint.map(|meta| meta.method)))
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
            Doing::Common(noun, path, _, run) => {
                Box::pin(async move { run(noun, &given(path.iter().copied(), matches), matches, cx).await })
            }
            Doing::Shows(row, view, _) => {
                Box::pin(async move { cx.show_row((row, &given(params(row.path), matches)), view).await })
            }
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

/// The values of the parameters of a path.
fn given(path: impl Iterator<Item = &'static str>, matches: &ArgMatches) -> Vec<&str> {
    path.filter_map(|param| matches.get_one::<String>(param)).map(String::as_str).collect()
}
