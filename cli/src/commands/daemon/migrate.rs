//! A copy of a whole store.

use super::{address, not_started};
use crate::cx::Cx;
use crate::failure::{Failure, Outcome};
use crate::tree::Verb;
use crate::views;
use clap::Args;
use mfa_daemon::{Address, StorePlace};
use serde_json::json;
use std::path::PathBuf;

/// A copy tells its progress about so often.
const PROGRESS_PAIRS: u64 = 10_000;
/// Pairs between two chances to tell it, at most.
const PAGE_PAIRS_MAX: u64 = 256;

#[derive(Args)]
pub struct Migrate {
    /// The store to copy: a folder, or postgres://USER@HOST/DATABASE without a password
    #[arg(long, value_name = "DIR|URL")]
    from: String,
    /// Where to: an empty folder, or an empty database
    #[arg(long, value_name = "DIR|URL")]
    to: String,
}

fn place(given: &str, flag: &str) -> Outcome<StorePlace> {
    if Address::is_one(given) {
        return address(given, Some(flag)).map(|found| StorePlace::Postgres(Box::new(found)));
    }
    if given.contains("://") {
        return Err(Failure::usage(format!("{flag} is neither a folder nor postgres://USER@HOST/DATABASE")));
    }
    Ok(StorePlace::Folder(PathBuf::from(given)))
}

impl Verb for Migrate {
    const ABOUT: &'static str =
        "Copy a whole store into another engine and compare the two; no daemon may run";
    const EXAMPLES: &'static [&'static str] = &[
        "mfa migrate --from /var/lib/mfa --to postgres://mfa@db1,db2,db3/mfa",
        "mfa migrate --from postgres://mfa@db1/mfa --to ./store",
    ];
    async fn run(self, cx: &Cx) -> Outcome {
        let (from, to) = (place(&self.from, "--from")?, place(&self.to, "--to")?);
        let target = match &to {
            StorePlace::Folder(dir) => dir.display().to_string(),
            StorePlace::Postgres(address) => address.to_string(),
        };
        let progress = |done: u64, of: u64| {
            if done == of || (done / PROGRESS_PAIRS) > (done.saturating_sub(PAGE_PAIRS_MAX) / PROGRESS_PAIRS)
            {
                cx.out.say(&format!("{done} of {of} pairs copied"));
            }
        };
        let copied = mfa_daemon::migrate(from, to, &progress).await.map_err(not_started)?;
        let result = if copied.resumed > 0 { "copied, going on from before" } else { "copied" };
        cx.out
            .tip("secrets need the same key file; sessions, tokens and the journal stay with the old store");
        let record = json!({
            "identifier": target, "result": result, "pairs": copied.pairs, "resumed": copied.resumed,
            "sha256": copied.sha256,
        });
        cx.out.show(&views::STORE_COPY, &record)
    }
}
