//! Help that belongs to no single command.

use super::{NODES, command};
use crate::called::spoken;
use crate::cx::Cx;
use crate::failure::{Failure, Outcome};
use crate::output::wrap;
use crate::settings::TABLE;
use crate::tree::{self, Verb};
use crate::views;
use clap::Args;
use mfa_shared::fault::exit;
use serde_json::json;

/// A subject that belongs to no single command.
pub struct Topic {
    /// What is typed after `mfa help`.
    pub name: &'static str,
    /// What it is about, as the list of topics says it.
    about: &'static str,
    /// The help; the topics without one are tables made from what the program knows.
    pub text: Option<&'static str>,
}

const fn topic(name: &'static str, about: &'static str, text: &'static str) -> Topic {
    Topic { name, about, text: Some(text) }
}

const fn table(name: &'static str, about: &'static str) -> Topic {
    Topic { name, about, text: None }
}

/// Every topic, in the order in which help lists them.
pub const TOPICS: &[Topic] = &[
    topic(
        "teller-day",
        "A day at a teller, from the first coin to the report",
        include_str!("../help/teller-day.txt"),
    ),
    topic("import", "Records from files, and back", include_str!("../help/import.txt")),
    topic("apply", "An institution from files", include_str!("../help/apply.txt")),
    topic("output", "Formats of the output, columns and filters", include_str!("../help/output.txt")),
    topic("paper", "Statements, reports and receipts on paper", include_str!("../help/paper.txt")),
    topic(
        "backup",
        "Backups, what is in them, and how they are restored",
        include_str!("../help/backup.txt"),
    ),
    topic("tls", "Encrypted connections: certificates and whom to trust", include_str!("../help/tls.txt")),
    topic("postgres", "Several daemons on one PostgreSQL", include_str!("../help/postgres.txt")),
    table("exit-codes", "What the exit codes mean"),
    table("environment", "Variables that the program reads"),
];

/// Columns that a topic takes at most, as long lines are hard to read.
const WIDEST: u16 = 100;

/// Variables that are no settings.
const VARIABLES: &[(&str, &str)] = &[
    ("MFA_CONFIG", "the user's config file"),
    ("MFA_SYSTEM_CONFIG", "the system's config file"),
    ("PAGER", "program that shows what is longer than a screen, unless MFA_PAGER says another"),
    ("NO_COLOR", "no colour"),
    ("CLICOLOR_FORCE", "colour also where no terminal is"),
    ("COLUMNS", "width of tables where no terminal tells it"),
];

#[derive(Args)]
pub struct Help {
    /// A topic (mfa --help lists them) or the words of a command
    #[arg(value_name = "TOPIC")]
    topic: Vec<String>,
}

/// What there is help for by one word.
pub fn names() -> Vec<String> {
    TOPICS.iter().map(|topic| topic.name).chain(tree::names(NODES, &[])).map(str::to_owned).collect()
}

/// The topics and what each is about, as `mfa --help` shows them.
pub fn listed() -> String {
    let width = TOPICS.iter().map(|topic| topic.name.len()).max().unwrap_or(0);
    let line = |topic: &Topic| format!("  {:width$}  {}\n", topic.name, topic.about);
    TOPICS.iter().map(line).collect()
}

impl Verb for Help {
    const MENDS_PROFILES: bool = true;
    const ABOUT: &'static str = "Show the help of a topic or of a command";
    const EXAMPLES: &'static [&'static str] = &["mfa help exit-codes", "mfa help customers create"];
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
            [name] if let Some(text) = TOPICS.iter().find(|t| t.name == *name).and_then(|t| t.text) => {
                cx.out.document("help", &wrap::wrapped(&spoken(text), cx.out.screen.width.min(WIDEST)))
            }
            path => {
                let mut root = command();
                root.build();
                let Some(command) = tree::descend(&root, path) else {
                    let what = format!("there is no topic or command \"{}\"", path.join(" "));
                    return Err(Failure::usage(what).hint("see: mfa --help"));
                };
                let text = command.clone().render_long_help();
                let colour = cx.out.screen.stdout_colour;
                let text = if colour { text.ansi().to_string() } else { text.to_string() };
                cx.out.document("help", &spoken(&text))
            }
        }
    }
}
