//! What is to be imported and how, and the line that does it again.

use super::Bulk;
use super::mapping::{Mapping, mapping};
use super::send::Mode;
use super::source::Format;
use crate::words::{quoted, quoted_path};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// How rows are imported.
#[derive(Args)]
pub struct How {
    /// How the rows are written down; by default what the name of the file says, or its beginning
    #[arg(long, value_name = "csv|jsonl|json|yaml", hide_possible_values = true)]
    pub format: Option<Format>,
    /// Column of a field with another name, or of none, or @FILE with such lines; can be repeated
    #[arg(long, value_name = "COLUMN=FIELD", value_parser = mapping)]
    pub map: Vec<Mapping>,
    /// Check every row at the daemon and change nothing, not even the report of an import before
    #[arg(long, visible_alias = "dry-run")]
    pub validate_only: bool,
    /// What to do with a row whose record exists already
    #[arg(long, value_name = "MODE", default_value = "create")]
    pub mode: Mode,
    /// All rows or none; at most 1,000
    #[arg(long)]
    pub atomic: bool,
    /// Refuse a row that names a record which neither exists nor is made by a row before it
    #[arg(long)]
    pub existing_only: bool,
    /// Skip the rows that are done according to the report
    #[arg(long)]
    pub resume: bool,
}

/// What is to be imported, and how.
pub struct Order {
    /// The file, `-` for standard input.
    pub file: String,
    pub how: How,
    /// Where the report goes, if not beside the rows.
    pub report: Option<PathBuf>,
    /// Where the failed rows are written, if not beside them.
    pub failed: Option<PathBuf>,
}

impl Order {
    /// The file of the report that `--resume` reads.
    pub fn report(&self) -> PathBuf {
        self.report.clone().unwrap_or_else(|| self.beside("report"))
    }

    /// The files that this run writes: its report and its failed rows. A dry run has files of its own, so
    /// that the report of an import stays what it is resumed from.
    pub fn written(&self) -> (PathBuf, PathBuf) {
        let failed = self.failed.clone().unwrap_or_else(|| self.beside("failed"));
        let own = |path: PathBuf| match path.extension().and_then(|end| end.to_str()) {
            _ if !self.how.validate_only => path,
            Some(end) => path.with_extension(format!("dry-run.{end}")),
            None => path.with_extension("dry-run"),
        };
        (own(self.report()), own(failed))
    }

    /// The line that imports the same file in the same way, with the files of the run before.
    pub fn again(&self, noun: Bulk) -> String {
        let mut line = self.line(noun, &self.file);
        if let Some(format) = self.how.format.and_then(|format| format.to_possible_value()) {
            line.push_str(&format!(" --format {}", format.get_name()));
        }
        for (flag, path) in [("--report", &self.report), ("--failed", &self.failed)] {
            if let Some(path) = path {
                line.push_str(&format!(" {flag} {}", quoted_path(path)));
            }
        }
        line
    }

    fn beside(&self, end: &str) -> PathBuf {
        let file = if self.file == "-" { "stdin" } else { &self.file };
        PathBuf::from(format!("{file}.{end}.csv"))
    }

    /// The line that imports a file in the same way.
    pub fn line(&self, noun: Bulk, file: &str) -> String {
        let mut words = vec!["mfa".to_owned(), noun.name.to_owned(), "import".to_owned(), quoted(file)];
        words.extend(self.how.map.iter().flat_map(|one| ["--map".to_owned(), quoted(&one.given())]));
        if self.how.mode != Mode::Create {
            let word = self.how.mode.to_possible_value().map(|word| word.get_name().to_owned());
            words.extend(["--mode".to_owned()].into_iter().chain(word));
        }
        let flags = [
            (self.how.validate_only, "--validate-only"),
            (self.how.atomic, "--atomic"),
            (self.how.existing_only, "--existing-only"),
        ];
        words.extend(flags.into_iter().filter(|(set, _)| *set).map(|(_, flag)| flag.to_owned()));
        words.join(" ")
    }
}
