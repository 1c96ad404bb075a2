//! `mfa NOUN import`.

use crate::command::cx::Cx;
use crate::command::flags::read;
use crate::command::noun::Noun;
use crate::command::verb::{Leaf, Node};
use crate::failure::Outcome;
use crate::verbs::bulk::import::import;
use crate::verbs::bulk::order::{How, Order};
use crate::verbs::bulk::{Bulk, template};
use clap::Args;
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
    /// File of the report; by default beside the rows, FILE.report.csv (a dry run: FILE.report.dry-run.csv)
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// File of the rows that failed; by default beside the rows, FILE.failed.csv (FILE.failed.dry-run.csv)
    #[arg(long, value_name = "FILE")]
    failed: Option<PathBuf>,
}

pub(super) fn of(noun: &'static Noun) -> Option<Node> {
    let bulk = Bulk::of(noun)?;
    let about = format!("Make {} from the rows of a file: CSV, JSON lines, JSON or YAML", bulk.plural).leak();
    let leaf = Leaf::made("import", Vec::new(), Import::augment_args, move |_, matches, cx| {
        Box::pin(async move { read::<Import>(matches)?.run(cx, bulk).await })
    });
    Some(Node::Leaf(Leaf { about, examples: bulk.examples, bulk: true, ..leaf }))
}

impl Import {
    async fn run(self, cx: &Cx, noun: Bulk) -> Outcome {
        let Some(file) = self.file else {
            return cx.out.document("template", &template::text(noun));
        };
        let order = Order { file, how: self.how, report: self.report, failed: self.failed };
        import(cx, noun, order).await
    }
}
