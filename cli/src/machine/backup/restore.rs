//! Putting a backup back.

use super::keys::KeyFlags;
use super::unusable;
use crate::command::cx::Cx;
use crate::command::verb::Verb;
use crate::failure::Outcome;
use crate::machine::daemon::admin::StoreFlags;
use crate::machine::daemon::not_started;
use crate::output::views;
use clap::Args;
use mfa_daemon::store::embedded::Until;
use mfa_daemon::{RestoreHow, ToMoment, backup_facts, restore_backup};
use mfa_shared::fault::exit;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Items between two progress reports.
const PROGRESS_ITEMS: u64 = 50_000;

#[derive(Args)]
pub struct Restore {
    /// The backup
    #[arg(value_name = "FILE")]
    file: String,
    #[command(flatten)]
    store: StoreFlags,
    #[command(flatten)]
    keys: KeyFlags,
    /// The key file of the secrets, where it is not beside the store
    #[arg(long, value_name = "FILE")]
    key_file: Option<PathBuf>,
    /// Restore without the secrets where the key file is lost, and list the records that need theirs again
    #[arg(long)]
    without_secrets: bool,
    /// Replace the existing store, which is set aside under a dated name
    #[arg(long)]
    replace: bool,
    /// Replay the journal up to this moment (2026-11-24T14:03:00Z) or to the commit of this number
    #[arg(long, value_name = "TIMESTAMP|SEQUENCE", requires = "journal")]
    until: Option<Until>,
    /// With --until: the folder of the old store, or the archive of its journal; can be repeated
    #[arg(long, value_name = "DIR", requires = "until")]
    journal: Vec<PathBuf>,
}

impl Verb for Restore {
    const ABOUT: &'static str =
        "Restore a backup into an empty store, while the daemon is stopped; all sessions end";
    const EXAMPLES: &'static [&'static str] = &[
        "mfa backup restore nightly.mfab --data-dir /var/lib/mfa/store",
        "mfa backup restore nightly.mfab --store postgres://mfa@db1/mfa",
        "mfa backup restore nightly.mfab --data-dir /var/lib/mfa/store --replace --yes",
        "mfa backup restore b.mfab --data-dir new --until 2026-11-24T14:03:00Z --journal /var/lib/mfa/store",
    ];
    const EXITS: &'static [i32] = &[exit::NOT_FOUND, exit::LOCKED];
    async fn run(self, cx: &Cx) -> Outcome {
        let Self { file, store, keys, key_file, without_secrets, replace, until, journal } = self;
        let config = store.config(cx)?;
        cx.out.check_columns(&views::RESTORED)?;
        let keys = keys.read(cx, Path::new(&file))?;
        backup_facts(Path::new(&file), &keys).map_err(|error| unusable(&file, &error))?;
        let target = config.shown_store();
        if replace {
            cx.prompt.in_store(&target).before_destroying("replace the store", &target)?;
        }
        let watch = |done: u64| {
            if done.is_multiple_of(PROGRESS_ITEMS) {
                cx.out.say(&format!("{done} records and images restored"));
            }
        };
        let to_moment = until.map(|until| ToMoment { until, journal });
        let how = RestoreHow { keys, key_file, without_secrets, replace, to_moment };
        let restored = restore_backup(&config, Path::new(&file), &how, &watch).await.map_err(not_started)?;
        for lacking in &restored.lacks_secrets {
            cx.out.insist(&format!("{lacking} needs its secret again"));
        }
        for hash in &restored.missing_images {
            cx.out.insist(&format!("image {hash} is missing: it was replaced or removed since"));
        }
        cx.out.tip("everybody has to log in again");
        let facts = &restored.facts;
        let record = json!({
            "identifier": target, "result": "restored",
            "moment": restored.reached.map_or(facts.trailer.moment, |last| last.time),
            "journalSequence": restored.reached.map_or(facts.trailer.journal_sequence, |last| last.sequence),
            "missingImages": restored.missing_images,
            "digest": facts.digest, "lacksSecrets": restored.lacks_secrets,
            "setAside": restored.set_aside.map(|place| place.display().to_string()),
        });
        cx.out.show(&views::RESTORED, &record)
    }
}
