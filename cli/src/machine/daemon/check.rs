//! Checks of a store.

use super::admin::StoreFlags;
use super::not_started;
use crate::command::cx::Cx;
use crate::command::verb::Verb;
use crate::failure::{Failure, Outcome, codes};
use crate::output::views;
use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};
use mfa_daemon::{Check, journal_begins};
use mfa_shared::fault::exit;
use serde_json::{Value, json};

/// What is checked.
#[derive(Debug, Clone, Copy)]
struct What(Check);

impl ValueEnum for What {
    fn value_variants<'a>() -> &'a [Self] {
        const { &[What(Check::Store), What(Check::Ledger), What(Check::References)] }
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let about = match self.0 {
            Check::Store => "The chain of the journal, every record and image against it, the audit trail",
            Check::Ledger => "Every amount of the ledger, computed again from the lines of its journal",
            Check::References => "Names of records that do not exist, and accounts of another kind",
        };
        Some(PossibleValue::new(self.0.name()).help(about))
    }
}

#[derive(Args)]
pub struct Run {
    /// What to check; everything by default
    #[arg(value_name = "WHAT")]
    what: Option<What>,
    #[command(flatten)]
    store: StoreFlags,
}

impl Verb for Run {
    const ABOUT: &'static str =
        "Check what a store holds, while the daemon is stopped; ends with 1 if something is wrong";
    const EXAMPLES: &'static [&'static str] = &[
        "mfa check",
        "mfa check references -o csv >dangling.csv",
        "mfa check ledger --data-dir /var/lib/mfa/store",
    ];
    const EXITS: &'static [i32] = &[exit::LOCKED];
    async fn run(self, cx: &Cx) -> Outcome {
        let config = self.store.config(cx)?;
        let checks = self.what.map_or(Check::ALL.to_vec(), |what| vec![what.0]);
        let progress = |check: Check, found: usize| {
            let came_to = if found == 0 { "all holds".to_owned() } else { findings(found) };
            cx.out.say(&format!("{}: {came_to}", check.name()));
        };
        if let Some(begins) = config.folder().and_then(journal_begins) {
            cx.out.say(&format!(
                "the journal begins with {begins}; what was before is in its archive and in the backups"
            ));
        }
        let found = mfa_daemon::check(&config, &checks, &progress).await.map_err(not_started)?;
        let rows: Vec<Value> = found.iter().map(row).collect();
        cx.out.show(&views::DEFECT, &Value::Array(rows))?;
        if found.is_empty() {
            return Ok(());
        }
        if cx.out.format.is_structured() {
            return Err(Failure::found(exit::FAILURE));
        }
        Err(Failure::new(codes::CHECK_FAILED, format!("the check has {}", findings(found.len()))))
    }
}

/// What a check has found, as a record.
pub fn row(found: &mfa_daemon::Found) -> Value {
    json!({
        "check": found.check.name(), "record": found.record, "field": found.field,
        "names": found.names, "detail": found.detail,
    })
}

fn findings(count: usize) -> String {
    format!("{count} {}", if count == 1 { "finding" } else { "findings" })
}
