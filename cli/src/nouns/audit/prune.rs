//! Cutting the audit trail.

use crate::command::cx::Cx;
use crate::command::verb::Verb;
use crate::failure::{Failure, Outcome, codes};
use crate::input::date;
use crate::machine::daemon::admin::StoreFlags;
use crate::machine::daemon::not_started;
use crate::output::views;
use crate::settings::files::unwritable;
use clap::Args;
use mfa_daemon::{PruneError, prune_audit};
use mfa_shared::fault::exit;
use mfa_shared::time::Date;
use serde_json::json;
use std::path::Path;

#[derive(Args)]
pub struct Prune {
    /// The first day that is kept, in UTC
    #[arg(long, value_name = "DATE", value_parser = date)]
    before: Date,
    /// New file for the records that are removed, one a line
    #[arg(long, value_name = "FILE")]
    out: String,
    #[command(flatten)]
    store: StoreFlags,
}

impl Verb for Prune {
    const ABOUT: &'static str =
        "Move audit records from before a day into a file, while the daemon is stopped";
    const EXAMPLES: &'static [&'static str] = &[
        "mfa audit prune --before 2020-01-01 --out trail-2019.ndjson --confirm 2020-01-01",
        "mfa audit prune --before 2020-01-01 --out /srv/trail.ndjson --confirm 2020-01-01 -o json",
    ];
    const EXITS: &'static [i32] = &[exit::CONFLICT, exit::LOCKED];
    async fn run(self, cx: &Cx) -> Outcome {
        let config = self.store.config(cx)?;
        let day = self.before.to_string();
        cx.out.check_columns(&views::PRUNED)?;
        let what = format!("remove the audit trail from before {day}");
        cx.prompt.in_store(&config.shown_store()).before_destroying(&what, &day)?;
        let file = Path::new(&self.out);
        let pruned = prune_audit(&config, self.before, file).await.map_err(|error| match error {
            PruneError::Store(error) => not_started(error),
            PruneError::Exists => {
                let what = format!("{} is there already", self.out);
                Failure::new(codes::FILE_EXISTS, what).hint("name another file: --out FILE")
            }
            PruneError::File(error) => unwritable(file)(error)
                .hint("nothing was removed from the trail; make room or name another file, then repeat it"),
        })?;
        cx.out.tip(&match pruned.records {
            0 => format!("there is no record from before {day}"),
            count => format!("{count} records removed; they are in {}", self.out),
        });
        cx.out.show(&views::PRUNED, &json!({ "records": pruned.records, "first": pruned.first }))
    }
}
