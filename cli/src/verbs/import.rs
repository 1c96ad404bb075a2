//! `mfa NOUN import`.

use crate::command::cx::Cx;
use crate::command::noun::Noun;
use crate::command::verb::{COMMON, Common, Node};
use crate::failure::{Failure, Outcome};
use crate::verbs::bulk::Bulk;
use crate::verbs::bulk::import::{How, Order, import};
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
    #[command(flatten)]
    how: How,
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
            how: self.how,
        };
        import(cx, noun, order).await
    }
}
