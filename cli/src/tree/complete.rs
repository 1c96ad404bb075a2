//! Completion. The scripts of the shells ask the program, so they stay small and know identifiers.

mod scripts;
mod values;

pub use scripts::{SCRIPTS, script};

use super::{command, nodes};
use crate::command::cx::Cx;
use crate::command::verb::{Leaf, Verb};
use crate::failure::Outcome;
use crate::output::{escaped, views};
use crate::tree;
use clap::{Arg, Args, Command};
use mfa_shared::endpoint::Meta;
use serde_json::{Value, json};

/// Means the names of files, which the scripts can find themselves.
const FILES: &str = ":files";

/// A word that may be typed, and what it means.
type Candidate = (String, String);

#[derive(Args)]
pub struct Complete {
    /// The words after mfa; the last one is being typed
    #[arg(value_name = "WORD", trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<String>,
}

impl Verb for Complete {
    const ABOUT: &'static str = "Print what may be typed next";
    const EXAMPLES: &'static [&'static str] =
        &["mfa complete -- customers ''", "mfa complete -o json -- offices list --"];
    const HIDDEN: bool = true;
    async fn run(self, cx: &Cx) -> Outcome {
        let mut root = command();
        root.build();
        let (typed, before) = match self.words.split_last() {
            Some((typed, before)) => (typed.as_str(), before),
            None => ("", &[][..]),
        };
        let mut found = candidates(cx, &root, before, typed).await;
        found.retain(|(value, _)| value.ends_with(FILES) || value.starts_with(typed));
        // A shell shows them as they come.
        let record = |(value, help): Candidate| json!({ "value": escaped(&value), "help": escaped(&help) });
        let records: Vec<Value> = found.into_iter().map(record).collect();
        cx.out.show(&views::CANDIDATE, &json!(records))
    }
}

/// What was typed before the word that is being typed.
struct Line<'a> {
    command: &'a Command,
    /// The verb, where it was typed already, and the names that lead to it.
    leaf: Option<&'static Leaf>,
    path: Vec<&'static str>,
    positionals: Vec<&'a String>,
    /// Flags that brought a value.
    given: Vec<(&'a Arg, &'a str)>,
    /// The flag that waits for one.
    waiting: Option<&'a Arg>,
}

impl<'a> Line<'a> {
    fn read(root: &'a Command, words: &'a [String]) -> Self {
        let own: Vec<_> = words.iter().map(String::as_str).collect();
        let path = tree::path(nodes(), &own);
        let leaf = tree::leaves(nodes()).into_iter().find(|(other, _)| *other == path).map(|(_, leaf)| leaf);
        let (positionals, given) = (Vec::new(), Vec::new());
        let mut line = Self { command: root, leaf, path, positionals, given, waiting: None };
        for word in words {
            if let Some(flag) = line.waiting.take() {
                line.given.push((flag, word));
            } else if word.starts_with('-') && word.len() > 1 {
                let (name, value) = word.split_once('=').map_or((word.as_str(), None), |(n, v)| (n, Some(v)));
                let found = flag(line.command, name).filter(|flag| flag.get_action().takes_values());
                match (found, value) {
                    (Some(flag), Some(value)) => line.given.push((flag, value)),
                    (flag, _) => line.waiting = flag,
                }
            } else if let Some(deeper) = line.command.find_subcommand(word) {
                line.command = deeper;
            } else {
                line.positionals.push(word);
            }
        }
        line
    }

    /// The endpoint of the verb.
    fn meta(&self) -> Option<&'static Meta> {
        self.leaf?.endpoint
    }

    /// The value of a flag, or of a positional word, by the name of the argument.
    fn given(&self, name: &str) -> Option<String> {
        let flag = self.given.iter().find(|(flag, _)| flag.get_id() == name).map(|(_, value)| *value);
        let place = || self.command.get_positionals().position(|arg| arg.get_id() == name);
        flag.or_else(|| self.positionals.get(place()?).map(|word| word.as_str())).map(str::to_owned)
    }
}

/// The flag that a word is.
fn flag<'a>(command: &'a Command, word: &str) -> Option<&'a Arg> {
    command.get_arguments().find(|arg| match word.strip_prefix("--") {
        Some(long) => arg.get_long() == Some(long),
        None => arg.get_short().is_some_and(|short| word == format!("-{short}")),
    })
}

async fn candidates(cx: &Cx, root: &Command, before: &[String], typed: &str) -> Vec<Candidate> {
    let line = Line::read(root, before);
    if let Some(flag) = line.waiting {
        return values::of(cx, &line, flag, typed).await;
    }
    if let Some((name, value)) = typed.split_once('=').filter(|_| typed.starts_with("--")) {
        let Some(flag) = flag(line.command, name) else { return Vec::new() };
        let found = values::of(cx, &line, flag, value).await;
        return found.into_iter().map(|(value, help)| (format!("{name}={value}"), help)).collect();
    }
    if typed.starts_with('-') {
        let shown = line.command.get_arguments().filter(|arg| arg.is_global_set() || !arg.is_hide_set());
        let flag = |arg: &Arg| Some((format!("--{}", arg.get_long()?), first_line(arg.get_help())));
        return shown.filter_map(flag).collect();
    }
    let subcommands = line.command.get_subcommands().filter(|command| !command.is_hide_set());
    let mut found: Vec<_> =
        subcommands.map(|command| (command.get_name().to_owned(), first_line(command.get_about()))).collect();
    let positionals: Vec<_> = line.command.get_positionals().collect();
    let several = positionals.last().filter(|arg| arg.get_num_args().is_some_and(|n| n.max_values() > 1));
    if let Some(positional) = positionals.get(line.positionals.len()).or(several) {
        found.extend(values::of(cx, &line, positional, typed).await);
    }
    found
}

fn first_line(text: Option<&clap::builder::StyledStr>) -> String {
    text.map(|text| text.to_string().lines().next().unwrap_or_default().to_owned()).unwrap_or_default()
}
