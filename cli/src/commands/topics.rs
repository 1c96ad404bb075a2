//! Help that belongs to no single command.

use super::NODES;
use crate::cx::Cx;
use crate::failure::{Failure, Outcome};
use crate::settings::TABLE;
use crate::tree::{self, Verb};
use crate::views;
use clap::Args;
use mfa_shared::fault::exit;
use serde_json::json;

/// Topics that are texts, each in a file of its own.
pub const TEXTS: &[(&str, &str)] = &[
    ("apply", include_str!("../help/apply.txt")),
    ("import", include_str!("../help/import.txt")),
    ("output", include_str!("../help/output.txt")),
    ("postgres", include_str!("../help/postgres.txt")),
    ("teller-day", include_str!("../help/teller-day.txt")),
];

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
    /// apply, exit-codes, environment, import, output, postgres, teller-day, or the words of a command
    #[arg(value_name = "TOPIC")]
    topic: Vec<String>,
}

/// What there is help for by one word.
pub fn names() -> Vec<String> {
    let topics = TEXTS.iter().map(|(name, _)| *name).chain(["exit-codes", "environment"]);
    topics.chain(tree::names(NODES, &[])).map(str::to_owned).collect()
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
                let settings = TABLE.iter().map(|s| json!({ "variable": s.variable(), "doc": s.doc }));
                let others = VARIABLES.iter().map(|(name, doc)| json!({ "variable": name, "doc": doc }));
                cx.out.show(&views::VARIABLE, &settings.chain(others).collect())
            }
            [topic] if let Some((_, text)) = TEXTS.iter().find(|(name, _)| name == topic) => {
                cx.out.document("help", text)
            }
            path => {
                let mut root = tree::command(NODES);
                root.build();
                let Some(command) = tree::descend(&root, path) else {
                    let what = format!("there is no topic or command \"{}\"", path.join(" "));
                    return Err(Failure::usage(what).hint("see: mfa --help"));
                };
                let text = command.clone().render_long_help();
                let colour = cx.out.screen.stdout_colour;
                cx.out.document("help", &if colour { text.ansi().to_string() } else { text.to_string() })
            }
        }
    }
}
