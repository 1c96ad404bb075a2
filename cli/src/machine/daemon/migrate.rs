//! A copy of a whole store.

use super::{address, not_started};
use crate::command::cx::Cx;
use crate::command::verb::Verb;
use crate::failure::{Failure, Outcome};
use crate::output::views;
use clap::Args;
use mfa_daemon::{Address, Config, Progress};
use mfa_shared::fault::exit;
use serde_json::json;

/// Approximate number of pairs between two progress reports of a copy.
const PROGRESS_PAIRS: u64 = 10_000;
/// Most pairs between two chances to report.
const PAGE_PAIRS_MAX: u64 = 256;
/// The same for images.
const PROGRESS_IMAGES: u64 = 500;

#[derive(Args)]
pub struct Migrate {
    /// The store to copy: a folder, or postgres://USER@HOST/DATABASE; see mfa help postgres
    #[arg(long, value_name = "DIR|URL")]
    from: String,
    /// Where to: an empty folder, or an empty database; an interrupted copy is continued
    #[arg(long, value_name = "DIR|URL")]
    to: String,
}

/// The configuration of a store that a flag names.
fn store(given: &str, flag: &str) -> Outcome<Config> {
    if Address::is_one(given) {
        let store = address(given, Some(flag))?.into();
        return Ok(Config { store, store_connections_max: 1, ..Config::new("") });
    }
    if given.contains("://") {
        return Err(Failure::usage(format!("{flag} is neither a folder nor postgres://USER@HOST/DATABASE")));
    }
    Ok(Config::new(given))
}

/// The message on the progress of a copy: now and then, and at the end of each part.
fn progress_line(progress: Progress) -> Option<String> {
    let (what, done, of, every) = match progress {
        Progress::Reading => return Some("reading the store".to_owned()),
        Progress::Comparing => return Some("comparing the copy with the store".to_owned()),
        Progress::Pairs(done, of) => ("pairs", done, of, PROGRESS_PAIRS),
        Progress::Images(done, of) => ("images", done, of, PROGRESS_IMAGES),
    };
    let step = if what == "pairs" { PAGE_PAIRS_MAX } else { 1 };
    let is_due = done == of || done / every > done.saturating_sub(step) / every;
    is_due.then(|| format!("{done} of {of} {what} copied"))
}

impl Verb for Migrate {
    const ABOUT: &'static str =
        "Copy a whole store into another engine, images included, and compare; no daemon may run";
    const EXAMPLES: &'static [&'static str] = &[
        "mfa migrate --from /var/lib/mfa/store --to postgres://mfa@db1,db2,db3/mfa",
        "mfa migrate --from postgres://mfa@db1/mfa --to ./store",
    ];
    const EXITS: &'static [i32] = &[exit::CONFLICT, exit::LOCKED];
    async fn run(self, cx: &Cx) -> Outcome {
        cx.out.check_columns(&views::STORE_COPY)?;
        let (from, to) = (store(&self.from, "--from")?, store(&self.to, "--to")?);
        let watch = |progress: Progress| {
            if let Some(line) = progress_line(progress) {
                cx.out.say(&line);
            }
        };
        let copied = mfa_daemon::migrate(&from, &to, &watch).await.map_err(not_started)?;
        let result = if copied.resumed > 0 { "copied, going on from before" } else { "copied" };
        cx.out
            .tip("secrets need the same key file; sessions, tokens and the journal stay with the old store");
        let record = json!({
            "identifier": to.shown_store(), "result": result, "pairs": copied.pairs, "images": copied.images,
            "resumed": copied.resumed, "sha256": copied.sha256,
        });
        cx.out.show(&views::STORE_COPY, &record)
    }
}
