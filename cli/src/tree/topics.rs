//! Help that belongs to no single command.

use super::{command, nodes, troubleshooting};
use crate::command::cx::Cx;
use crate::command::verb::Verb;
use crate::failure::{Failure, Outcome};
use crate::output::called::spoken;
use crate::output::{guide, views, wrap};
use crate::settings::TABLE;
use crate::tree;
use crate::verbs::apply::kinds::KINDS;
use crate::words::nearest;
use clap::Args;
use mfa_shared::fault::exit;
use serde_json::json;

/// A subject that belongs to no single command.
pub struct Topic {
    /// What is typed after `mfa help`.
    pub name: &'static str,
    /// What it is about, as the list of topics says it.
    about: &'static str,
    source: Source,
}

/// Where the help on a topic comes from.
enum Source {
    Text(&'static str),
    /// A guide of `docs/guides`, in Markdown.
    Guide(&'static str),
    /// The guide that is made from the list of codes.
    Codes,
    /// A table made from what the program knows.
    Table,
    /// The flags that every command takes.
    Flags,
}

const fn topic(name: &'static str, about: &'static str, text: &'static str) -> Topic {
    Topic { name, about, source: Source::Text(text) }
}

const fn table(name: &'static str, about: &'static str) -> Topic {
    Topic { name, about, source: Source::Table }
}

macro_rules! guide {
    ($name:literal, $about:literal) => {
        Topic {
            name: $name,
            about: $about,
            source: Source::Guide(include_str!(concat!("../../../docs/guides/", $name, ".md"))),
        }
    };
}

/// Every topic, in the order in which help lists them: guides, then what is looked up.
pub const TOPICS: &[Topic] = &[
    guide!("installation", "Packages, a tarball, an image, the source"),
    guide!("first-day", "From nothing to a deposit in ten minutes"),
    guide!("production", "A store and a daemon of your own"),
    guide!("access-control", "Who may do what"),
    guide!("onboarding", "A file of customers becomes records overnight"),
    guide!("moving-over", "From spreadsheets or from another system"),
    guide!("teller-day", "A day at a teller, from the first coin to the report"),
    guide!("month-end", "The end of a day and of a month, interest, figures"),
    guide!("audit-trail", "Who did what, and the proof that nothing was removed"),
    guide!("webhooks-and-events", "Other programs hear what is changed"),
    guide!("http-integration", "The interface from curl, Python and JavaScript"),
    guide!("backup-and-restore", "Backups, and the way back"),
    guide!("proxy-and-tls", "Other machines: certificates, a proxy, limits"),
    guide!("monitoring", "Prometheus, and what to look at"),
    guide!("several-machines", "Several daemons on PostgreSQL, and three nodes of it"),
    Topic {
        name: "troubleshooting",
        about: "What each error code means, and what to do",
        source: Source::Codes,
    },
    topic("import", "Records from files, and back", include_str!("../help/import.txt")),
    topic("apply", "An institution from files", include_str!("../help/apply.txt")),
    topic("output", "Formats of the output, columns and filters", include_str!("../help/output.txt")),
    topic("paper", "Statements, reports and receipts on paper", include_str!("../help/paper.txt")),
    topic("backup", "What is in a backup, and its format", include_str!("../help/backup.txt")),
    topic("tls", "Certificates and whom to trust", include_str!("../help/tls.txt")),
    topic("postgres", "The address of PostgreSQL and its settings", include_str!("../help/postgres.txt")),
    Topic { name: "flags", about: "The flags that every command takes", source: Source::Flags },
    table("exit-codes", "What the exit codes mean"),
    table("environment", "Variables that the program reads"),
];

impl Topic {
    /// The help in lines of a width; none for a table.
    fn shown(&self, width: u16) -> Option<String> {
        match self.source {
            Source::Text(text) => Some(wrap::wrapped(&spoken(&whole(text)), width)),
            Source::Guide(text) => Some(guide::plain(&spoken(text), width)),
            Source::Codes => Some(guide::plain(&spoken(&troubleshooting::guide()), width)),
            Source::Flags => Some(spoken(&tree::global_flags())),
            Source::Table => None,
        }
    }

    /// The text as it is written, where it is one.
    pub fn text(&self) -> Option<String> {
        match self.source {
            Source::Text(text) => Some(whole(text)),
            _ => None,
        }
    }
}

/// A text with the kinds of records that files describe, where it lists them.
fn whole(text: &str) -> String {
    let kinds: Vec<_> = KINDS.iter().map(|kind| kind.name).collect();
    text.replace("{kinds}", &kinds.join(", "))
}

/// Columns that a topic takes at most, as long lines are hard to read.
const WIDEST: u16 = 80;

/// Variables that are no settings.
const VARIABLES: &[(&str, &str)] = &[
    ("MFA_CONFIG", "the user's config file"),
    ("MFA_SYSTEM_CONFIG", "the system's config file"),
    ("PAGER", "program that shows what is longer than a screen, unless MFA_PAGER says another"),
    ("NO_COLOR", "no colour"),
    ("CLICOLOR_FORCE", "colour also where no terminal is"),
    ("COLUMNS", "width of tables where no terminal reports it"),
];

#[derive(Args)]
pub struct Help {
    /// A topic (mfa --help lists them) or the words of a command
    #[arg(value_name = "TOPIC")]
    topic: Vec<String>,
}

/// What there is help for by one word.
pub fn names() -> Vec<String> {
    TOPICS.iter().map(|topic| topic.name).chain(tree::names(nodes(), &[])).map(str::to_owned).collect()
}

/// The topics and what each is about, as `mfa --help` shows them.
pub fn listed() -> String {
    let width = TOPICS.iter().map(|topic| topic.name.len()).max().unwrap_or(0);
    let line = |topic: &Topic| format!("  {:width$}  {}\n", topic.name, topic.about);
    TOPICS.iter().map(line).collect()
}

/// The noun and the verb, where only one noun has a verb of this name.
fn noun_of(root: &clap::Command, verb: &str) -> Option<String> {
    let has = |noun: &&clap::Command| noun.get_subcommands().any(|own| own.get_name() == verb);
    let mut nouns = root.get_subcommands().filter(has);
    let noun = nouns.next()?.get_name();
    nouns.next().is_none().then(|| format!("{noun} {verb}"))
}

/// The words that were meant, where the last of them is unknown.
fn near(root: &clap::Command, path: &[&str]) -> Option<String> {
    let (last, before) = path.split_last()?;
    let names: Vec<_> = match before {
        [] => names(),
        _ => tree::descend(root, before)?.get_subcommands().map(|own| own.get_name().to_owned()).collect(),
    };
    let near =
        nearest(last, names.iter().map(String::as_str)).first().map(|near| [before, &[*near]].concat());
    near.map(|words| words.join(" ")).or_else(|| noun_of(root, last))
}

/// The help on a topic of this name, if it is a text.
fn shown(name: &str, width: u16) -> Option<String> {
    TOPICS.iter().find(|topic| topic.name == name)?.shown(width)
}

impl Verb for Help {
    const MENDS_SETTINGS: bool = true;
    const ABOUT: &'static str = "Show the help of a topic or of a command";
    const EXAMPLES: &'static [&'static str] =
        &["mfa help exit-codes", "mfa help first-day", "mfa help customers create"];
    async fn run(self, cx: &Cx) -> Outcome {
        let words: Vec<_> = self.topic.iter().map(String::as_str).collect();
        match words.as_slice() {
            ["exit-codes"] => {
                let rows =
                    exit::TABLE.iter().map(|(code, meaning)| json!({ "code": code, "meaning": meaning }));
                cx.out.show(&views::EXIT_CODE, &rows.collect())
            }
            ["environment"] => {
                let settings =
                    TABLE.iter().map(|s| json!({ "variable": s.variable(), "doc": spoken(s.doc) }));
                let others = VARIABLES.iter().map(|(name, doc)| json!({ "variable": name, "doc": doc }));
                cx.out.show(&views::VARIABLE, &settings.chain(others).collect())
            }
            [name] if let Some(text) = shown(name, cx.out.screen.width.min(WIDEST)) => {
                cx.out.document("help", &text)
            }
            path => {
                let mut root = command();
                root.build();
                let Some(command) = tree::descend(&root, path) else {
                    let what = format!("there is no topic or command \"{}\"", path.join(" "));
                    let near = near(&root, path);
                    let near =
                        near.map_or_else(String::new, |near| format!("did you mean mfa help {near}? "));
                    return Err(Failure::usage(what).hint(format!("{near}see: mfa --help")));
                };
                let text = command.clone().render_long_help();
                let colour = cx.out.screen.stdout_colour;
                let text = if colour { text.ansi().to_string() } else { text.to_string() };
                cx.out.document("help", &spoken(&text))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nouns;

    #[test]
    fn the_help_of_apply_names_every_kind_of_record() {
        let text =
            TOPICS.iter().find(|topic| topic.name == "apply").and_then(Topic::text).unwrap_or_default();
        let kinds = text.split("\nKinds: ").nth(1).unwrap_or_default().split('.').next().unwrap_or_default();
        let named: Vec<_> = kinds.split([' ', ',', '\n', '(', ')']).collect();
        for apply in nouns::all().iter().filter_map(|noun| noun.apply.as_ref()) {
            assert!(
                named.contains(&apply.kind),
                "cli/src/help/apply.txt lists the kinds without {}",
                apply.kind
            );
        }
    }
}
