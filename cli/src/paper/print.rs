//! How the user asks for a paper, and where it goes.

use super::letterhead::Letterhead;
use super::size::SIZES;
use super::{Paper, Size, html, pdf};
use crate::command::cx::Cx;
use crate::failure::{Failure, Outcome};
use crate::output::views;
use crate::settings::files;
use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};
use serde_json::json;
use std::io::{IsTerminal, stdout};
use std::path::Path;

/// The setting of the size of most papers.
const SIZE: &str = "paper";

/// In which form a paper is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    /// Lines of text
    Text,
    /// A page for a browser
    Html,
    /// Pages for a printer
    Pdf,
}

impl Form {
    /// The form that the name of a file says.
    fn of_name(file: &str) -> Option<Self> {
        match Path::new(file).extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "pdf" => Some(Self::Pdf),
            "html" | "htm" => Some(Self::Html),
            _ => None,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Html => "html",
            Self::Pdf => "pdf",
        }
    }
}

// The flags that ask for a paper: each of them alone does. They go last in the flags of a verb.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Paper options (mfa help paper)")]
pub struct PaperFlags {
    /// Print a paper in this form; by default the one that the name of --out says, else text
    #[arg(long, value_name = "text|html|pdf", hide_possible_values = true)]
    print: Option<Form>,
    /// Print a paper of this size: a4, a5 or 80mm; 80 or 40 columns [env: MFA_PAPER]
    #[arg(long, value_name = "SIZE", value_parser = words(), ignore_case = true, hide_possible_values = true)]
    paper: Option<String>,
    /// Print a paper into this file, in place of what it holds; - for standard output
    #[arg(long, value_name = "FILE")]
    out: Option<String>,
}

/// The words for the sizes.
fn words() -> PossibleValuesParser {
    PossibleValuesParser::new(SIZES.iter().map(|(word, _)| *word))
}

impl PaperFlags {
    /// Whether the user asks for a paper.
    pub fn ask(&self) -> bool {
        self.print.is_some() || self.paper.is_some() || self.out.is_some()
    }

    /// Refuses what cannot be printed, before anything is asked of the daemon.
    pub fn check(&self, cx: &Cx) -> Outcome {
        self.check_on(cx, SIZE)
    }

    /// The same where another setting says the size.
    pub fn check_on(&self, cx: &Cx, setting: &str) -> Outcome {
        self.size(cx, setting)?;
        Letterhead::of(&cx.settings)?;
        if self.form() == Form::Pdf && self.file().is_none() && stdout().is_terminal() {
            return Err(Failure::usage("a PDF is not text")
                .hint("save it: --out FILE.pdf; or look at its text: --print text"));
        }
        self.file().map_or(Ok(()), |file| files::check(Path::new(file)))
    }

    pub fn print(&self, cx: &Cx, paper: &Paper) -> Outcome {
        self.print_on(cx, SIZE, paper)
    }

    /// The same where another setting says the size.
    pub fn print_on(&self, cx: &Cx, setting: &str, paper: &Paper) -> Outcome {
        let form = self.form();
        let size = self.size(cx, setting)?;
        let guarded = paper.guarded();
        let bytes = match form {
            Form::Text => paper.text(size.columns()).into_bytes(),
            Form::Html => html::page(&guarded, size).into_bytes(),
            Form::Pdf => {
                let printed = pdf::printed(&guarded, size)?;
                warn_of_missing(cx, &printed.missing);
                printed.bytes
            }
        };
        match self.file() {
            Some(file) => {
                files::put(Path::new(file), &bytes)?;
                cx.out.tip(&format!("saved in {file}"));
                let (form, size) = (form.word(), size.word());
                let record = json!({ "file": file, "form": form, "paper": size, "bytes": bytes.len() });
                cx.out.show(&views::PAPER, &record)
            }
            None if form == Form::Pdf => cx.out.bytes(&bytes),
            None => cx.out.document(paper.name, &String::from_utf8_lossy(&bytes)),
        }
    }

    fn form(&self) -> Form {
        let named = || self.out.as_deref().and_then(Form::of_name);
        self.print.or_else(named).unwrap_or(Form::Text)
    }

    fn size(&self, cx: &Cx, setting: &str) -> Outcome<Size> {
        cx.settings.choice(setting, self.paper.as_deref(), SIZES)
    }

    /// The file that was named; none for stdout.
    fn file(&self) -> Option<&str> {
        self.out.as_deref().filter(|file| !["-", "/dev/stdout"].contains(file))
    }
}

/// Says which characters the letters of a PDF lack.
fn warn_of_missing(cx: &Cx, missing: &[char]) {
    if missing.is_empty() {
        return;
    }
    let characters: String = missing.iter().collect();
    cx.out.warn(&format!(
        "a PDF of this program has no letters for {characters}: it shows \u{fffd} in their place; \
         --print html shows them"
    ));
}
