//! `import` and `export` of every noun that has them.

use crate::bulk::export::export;
use crate::bulk::import::{Order, import};
use crate::bulk::nouns::{self, Noun};
use crate::bulk::send::Mode;
use crate::bulk::source::{Format, mapping};
use crate::bulk::template;
use crate::cx::Cx;
use crate::failure::Outcome;
use crate::settings::Origin;
use crate::tree::Verb;
use clap::Args;
use std::marker::PhantomData;
use std::path::PathBuf;

/// A noun whose records come from files and go into files.
pub trait Bulk: Send + Sync + 'static {
    /// The noun.
    const NOUN: &'static Noun;
    /// What its import does.
    const IMPORT: &'static str;
    /// What its export does.
    const EXPORT: &'static str;
}

macro_rules! bulk {
    ($($marker:ident $noun:ident $plural:literal;)*) => {$(
        #[doc = concat!("The import and the export of ", $plural, ".")]
        pub struct $marker;

        impl Bulk for $marker {
            const NOUN: &'static Noun = &nouns::$noun;
            const IMPORT: &'static str =
                concat!("Make ", $plural, " from the rows of a file: CSV, JSON lines, JSON or YAML");
            const EXPORT: &'static str = concat!("Write all ", $plural, " in the columns of the import");
        }
    )*};
}

bulk! {
    Customers CUSTOMERS "customers";
    Offices OFFICES "offices";
    Employees EMPLOYEES "employees";
    Users USERS "users";
    Definitions DEFINITIONS "products";
    Instances INSTANCES "accounts";
    Cards CARDS "identification cards";
}

#[derive(Args)]
pub struct Import<N: Bulk> {
    /// File of the rows, - for standard input
    #[arg(value_name = "FILE", required_unless_present = "template")]
    file: Option<String>,
    /// Print an empty table: what the columns mean, their names, and a row that works
    #[arg(long, conflicts_with_all = ["file", "resume", "atomic", "validate_only", "existing_only"])]
    template: bool,
    /// How the rows are written down; by default what the name of the file says, or its beginning
    #[arg(long, value_name = "csv|jsonl|json|yaml", hide_possible_values = true)]
    format: Option<Format>,
    /// Column that is for another field than its name says, or for none; can be repeated
    #[arg(long, value_name = "COLUMN=FIELD", value_parser = mapping)]
    map: Vec<(String, String)>,
    /// Check every row at the daemon and change nothing
    #[arg(long, visible_alias = "dry-run")]
    validate_only: bool,
    /// What is done with a row whose record is there already
    #[arg(long, value_name = "MODE", default_value = "create")]
    mode: Mode,
    /// All rows or none; at most 1,000
    #[arg(long)]
    atomic: bool,
    /// Refuse a row that names a record which neither exists nor is made by a row before it
    #[arg(long)]
    existing_only: bool,
    /// Pass over the rows that the report says were done
    #[arg(long)]
    resume: bool,
    /// File of the report; by default beside the rows, FILE.report.csv
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// File of the rows that failed; by default beside the rows, FILE.failed.csv
    #[arg(long, value_name = "FILE")]
    failed: Option<PathBuf>,
    #[arg(skip)]
    noun: PhantomData<N>,
}

impl<N: Bulk> Verb for Import<N> {
    const ABOUT: &'static str = N::IMPORT;
    const EXAMPLES: &'static [&'static str] = N::NOUN.import_examples;
    const BULK: bool = true;
    async fn run(self, cx: &Cx) -> Outcome {
        let Some(file) = self.file else {
            return cx.out.document("template", &template::text(N::NOUN));
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
        import(cx, N::NOUN, order).await
    }
}

#[derive(Args)]
pub struct Export<N: Bulk> {
    /// File to write, which only you can read; stdout by default
    #[arg(long, value_name = "FILE")]
    out: Option<String>,
    #[arg(skip)]
    noun: PhantomData<N>,
}

impl<N: Bulk> Verb for Export<N> {
    const ABOUT: &'static str = N::EXPORT;
    const EXAMPLES: &'static [&'static str] = N::NOUN.export_examples;
    async fn run(self, cx: &Cx) -> Outcome {
        let (_, origin) = cx.settings.get("output");
        let chosen = (*origin != Origin::Default).then_some(cx.out.format);
        export(cx, N::NOUN, self.out.as_deref(), chosen).await
    }
}
