//! Moving of old journal files out of the store.

use crate::command::cx::Cx;
use crate::command::verb::Verb;
use crate::failure::Outcome;
use crate::machine::backup::KeyFlags;
use crate::machine::daemon::admin::StoreFlags;
use crate::machine::daemon::not_started;
use crate::output::views;
use clap::Args;
use mfa_daemon::archive_journal;
use mfa_shared::fault::exit;
use serde_json::json;
use std::path::PathBuf;

#[derive(Args)]
pub struct ArchiveJournal {
    /// Folder of the archive; made if it is missing
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// The backup that covers what is moved [default: the newest one in backup_dir]
    #[arg(long, value_name = "FILE")]
    backup: Option<PathBuf>,
    #[command(flatten)]
    keys: KeyFlags,
    #[command(flatten)]
    store: StoreFlags,
}

impl Verb for ArchiveJournal {
    const ABOUT: &'static str =
        "Move journal files that a backup covers into an archive, while the daemon is stopped";
    const EXAMPLES: &'static [&'static str] = &[
        "mfa admin archive-journal --out /srv/journal --backup /srv/backups/nightly.mfab",
        "mfa admin archive-journal --out /srv/journal --data-dir /var/lib/mfa/store -o json",
    ];
    const EXITS: &'static [i32] = &[exit::LOCKED];
    async fn run(self, cx: &Cx) -> Outcome {
        let Self { out, backup, keys, store } = self;
        let config = store.config(cx)?;
        cx.out.check_columns(&views::ARCHIVED_JOURNAL)?;
        let keys = match &backup {
            Some(file) => keys.read(cx, file)?,
            None => keys.given()?,
        };
        let archived = archive_journal(&config, &out, backup.as_deref(), &keys).await.map_err(not_started)?;
        if archived.moved.files == 0 {
            cx.out.tip("no closed journal file is covered by the backup");
        }
        let record = json!({
            "identifier": out.display().to_string(), "files": archived.moved.files,
            "bytes": archived.moved.bytes, "journalBegins": archived.moved.begins,
            "backup": archived.backup.display().to_string(),
        });
        cx.out.show(&views::ARCHIVED_JOURNAL, &record)
    }
}
