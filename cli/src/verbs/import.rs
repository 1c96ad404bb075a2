//! `mfa NOUN import`.

use crate::command::cx::Cx;
use crate::command::noun::Noun;
use crate::command::verb::{COMMON, Common, Node};
use crate::failure::{Failure, Outcome};
use crate::verbs::bulk::Bulk;
use crate::verbs::bulk::import::{Order, import};
use crate::verbs::bulk::send::Mode;
use crate::verbs::bulk::source::{Format, mapping};
use crate::verbs::bulk::template;
use clap::{Args, FromArgMatches};
use std::path::PathBuf;

#[derive(Args)]
struct Import {
    /// File of the rows, - for standard input
    #[arg(value_name = "FILE", required_unless_present = "template")]
    file: Option<String>,
    /// Print an empty table: what the columns mean, their names, and a row that works
    #[arg(long, conflicts_with_all = ["file", "resume", "atomic", "validate_only", "existing_only"])]
    template: bool,
    /// How the rows are written down; by default what the name of the file says, or its beginning
    #[arg(long, value_name = "csv|jsonl|json|yaml", hide_possible_values = true)]
    format: Option<Format>,
    /// Column of a field with another name, or of none; can be repeated
    #[arg(long, value_name = "COLUMN=FIELD", value_parser = mapping)]
    map: Vec<(String, String)>,
    /// Check every row at the daemon and change nothing
    #[arg(long, visible_alias = "dry-run")]
    validate_only: bool,
    /// What to do with a row whose record exists already
    #[arg(long, value_name = "MODE", default_value = "create")]
    mode: Mode,
    /// All rows or none; at most 1,000
    #[arg(long)]
    atomic: bool,
    /// Refuse a row that names a record which neither exists nor is made by a row before it
    #[arg(long)]
    existing_only: bool,
    /// Skip the rows that are done according to the report
    #[arg(long)]
    resume: bool,
    /// File of the report; by default beside the rows, FILE.report.csv
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// File of the rows that failed; by default beside the rows, FILE.failed.csv
    #[arg(long, value_name = "FILE")]
    failed: Option<PathBuf>,
}

pub(super) fn of(noun: &'static Noun) -> Option<Node> {
    let bulk = Bulk::of(noun)?;
    let common = Common {
        name: "import",
        about: format!("Make {} from the rows of a file: CSV, JSON lines, JSON or YAML", bulk.plural),
        examples: bulk.examples.iter().map(|line| (*line).to_owned()).collect(),
        bulk: true,
        flags: |_, command| Import::augment_args(command),
        run: |noun, _, matches, cx| {
            Box::pin(async move {
                let flags = Import::from_arg_matches(matches).map_err(|e| Failure::usage(e.to_string()))?;
                match Bulk::of(noun) {
                    Some(bulk) => flags.run(cx, bulk).await,
                    None => Ok(()),
                }
            })
        },
        ..COMMON
    };
    Some(common.of(noun))
}

impl Import {
    async fn run(self, cx: &Cx, noun: Bulk) -> Outcome {
        let Some(file) = self.file else {
            return cx.out.document("template", &template::text(noun));
        };
        let beside =
            |end: &str| PathBuf::from(format!("{}.{end}.csv", if file == "-" { "stdin" } else { &file }));
        let order = Order {
            report: self.report.unwrap_or_else(|| beside("report")),
            failed: self.failed.unwrap_or_else(|| beside("failed")),
            file,
            format: self.format,
            map: self.map,
            mode: self.mode,
            validate_only: self.validate_only,
            atomic: self.atomic,
            existing_only: self.existing_only,
            resume: self.resume,
        };
        import(cx, noun, order).await
    }
}
