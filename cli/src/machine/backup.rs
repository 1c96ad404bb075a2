//! Backups: made from a running daemon or from a store without one, inspected, verified and restored.

mod create;
mod keys;
mod restore;

pub use create::scheduled;

use crate::command::cx::Cx;
use crate::command::verb::{Node, Verb, verb};
use crate::failure::{Failure, Outcome, codes};
use crate::input::prompt::interrupted;
use crate::machine::daemon::check::row;
use crate::machine::daemon::not_started;
use crate::machine::signals::Endings;
use crate::output::views;
use clap::Args;
pub use keys::KeyFlags;
use mfa_daemon::{
    BackupError, BackupFacts, Check, backup_facts, is_backup_name, store_and_moment, verify_backup,
};
use mfa_shared::fault::exit;
use serde_json::{Value, json};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Longest wait for the threads of a scratch store, and the pause between two looks.
const THREADS_END: Duration = Duration::from_secs(5);
const LOOK: Duration = Duration::from_millis(50);

pub const VERBS: &[Node] = &[
    verb::<create::Create>("create"),
    verb::<Verify>("verify"),
    verb::<List>("list"),
    verb::<Show>("show"),
    verb::<restore::Restore>("restore"),
];

/// A backup as it is shown.
fn shown(file: &str, state: &str, facts: &BackupFacts) -> Value {
    let BackupFacts { head, trailer, digest, bytes, encrypted } = facts;
    json!({
        "file": file, "state": state, "moment": trailer.moment, "bytes": bytes, "digest": digest,
        "encrypted": encrypted,
        "format": head.format, "form": head.form, "program": head.program, "instance": head.instance,
        "engine": head.engine, "begunOn": head.begun_on, "journalSequence": trailer.journal_sequence,
        "auditSequence": trailer.audit_head.as_ref().map(|head| head.sequence),
        "auditHash": trailer.audit_head.as_ref().map(|head| head.hash.clone()),
        "pairs": trailer.pairs, "changes": trailer.changes, "images": trailer.images,
        "imageBytes": trailer.image_bytes,
    })
}

/// Runs work that leaves nothing behind when it is interrupted.
async fn unless_interrupted<T>(work: impl Future<Output = Outcome<T>>) -> Outcome<T> {
    let mut endings = Endings::listen()?;
    tokio::select! {
        done = work => done,
        exit = endings.next() => Err(interrupted("interrupted; nothing of it was kept").exit(exit)),
    }
}

/// Removes the folder of a scratch store. After an interruption the store's threads may still write into it
/// for a moment.
async fn remove(folder: PathBuf) {
    let ended = Instant::now() + THREADS_END;
    while std::fs::remove_dir_all(&folder).is_err() && folder.exists() && Instant::now() < ended {
        tokio::time::sleep(LOOK).await;
    }
    tokio::time::sleep(LOOK).await;
    if folder.exists() {
        // Created again by the last of the threads.
        let _ = std::fs::remove_dir_all(&folder);
    }
}

/// Why a backup cannot be used.
fn unusable(file: &str, error: &BackupError) -> Failure {
    let failure = |kind: &codes::Kind| Failure::new(kind, format!("{file}: {error}"));
    match error {
        BackupError::Locked(_) => failure(codes::BACKUP_LOCKED).hint("see mfa help backup, \"Encryption\""),
        BackupError::Damaged(_) => {
            failure(codes::BACKUP_DAMAGED).hint("take another one: mfa backup list DIR")
        }
        BackupError::Io(io) if io.kind() == ErrorKind::NotFound => {
            Failure::new(codes::NO_FILE, format!("there is no file {file}"))
        }
        _ => failure(codes::BACKUP),
    }
}

#[derive(Args)]
pub struct Verify {
    /// The backup
    #[arg(value_name = "FILE")]
    file: String,
    #[command(flatten)]
    keys: KeyFlags,
}

impl Verb for Verify {
    const ABOUT: &'static str =
        "Verify every frame, record and image of a backup, and run every mfa check on it";
    const EXAMPLES: &'static [&'static str] =
        &["mfa backup verify nightly.mfab", "mfa backup verify /srv/backups/nightly.mfab -o json"];
    const SERVES: bool = true;
    const EXITS: &'static [i32] = &[exit::NOT_FOUND];
    async fn run(self, cx: &Cx) -> Outcome {
        let file = &self.file;
        // Damage is reported with the name of the file, before any work on a scratch store.
        let keys = self.keys.read(cx, Path::new(file))?;
        mfa_daemon::read_backup(Path::new(file), &keys).await.map_err(|error| unusable(file, &error))?;
        let progress =
            |check: Check, found: usize| cx.out.say(&format!("{}: {found} findings", check.name()));
        let no_room = |error| Failure::local(format!("there is no room for a scratch store: {error}"));
        let mut scratch = None;
        // Made only when an interruption is already listened for.
        let verified = unless_interrupted(async {
            let made = tempfile::Builder::new().prefix("mfa-verify-").tempdir().map_err(no_room)?;
            let folder = scratch.insert(made).path();
            verify_backup(Path::new(file), &keys, folder, &progress).await.map_err(not_started)
        })
        .await;
        if let Some(scratch) = scratch {
            remove(scratch.keep()).await;
        }
        let verified = verified?;
        // Dangling references were in the store as well.
        let (dangling, found): (Vec<_>, Vec<_>) =
            verified.found.iter().partition(|found| found.check == Check::References);
        if !dangling.is_empty() {
            let count = dangling.len();
            cx.out.warn(&format!(
                "it names {count} records that do not exist, as its store did: mfa check references"
            ));
        }
        if found.is_empty() {
            return cx.out.show(&views::BACKUP, &shown(file, "whole", &verified.facts));
        }
        cx.out.show(&views::DEFECT, &found.iter().map(|found| row(found)).collect())?;
        if cx.out.format.is_structured() {
            return Err(Failure::found(exit::FAILURE));
        }
        let message = format!("{file} is intact, but its store has {} findings", found.len());
        Err(Failure::new(codes::CHECK_FAILED, message))
    }
}

#[derive(Args)]
pub struct List {
    /// Folder of the backups
    #[arg(value_name = "DIR", default_value = ".")]
    dir: String,
    #[command(flatten)]
    keys: KeyFlags,
}

impl Verb for List {
    const ABOUT: &'static str = "List the backups in a folder by what they say about themselves, without \
                                 verifying them";
    const EXAMPLES: &'static [&'static str] =
        &["mfa backup list /srv/backups", "mfa backup list /srv/backups -o json"];
    const EXITS: &'static [i32] = &[exit::NOT_FOUND];
    async fn run(self, cx: &Cx) -> Outcome {
        let failed = |error: std::io::Error| match error.kind() {
            ErrorKind::NotFound => Failure::new(codes::NO_FILE, format!("there is no folder {}", self.dir)),
            _ => Failure::local(format!("cannot read {}: {error}", self.dir)),
        };
        let mut files = Vec::new();
        for entry in std::fs::read_dir(&self.dir).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            if is_backup_name(&path) {
                files.push(path);
            }
        }
        files.sort();
        let keys = self.keys.given()?;
        let row = |path: &PathBuf| {
            let file = path.display().to_string();
            match backup_facts(path, &keys) {
                Ok(facts) => shown(&file, "not verified", &facts),
                Err(BackupError::Locked(_)) if self.keys.are_none() => {
                    let (instance, moment) = store_and_moment(path).unzip();
                    let bytes = std::fs::metadata(path).map(|facts| facts.len()).ok();
                    json!({
                        "file": file, "state": "encrypted", "moment": moment, "bytes": bytes,
                        "encrypted": true, "instance": instance,
                    })
                }
                Err(error) => {
                    json!({ "file": file, "state": Failure::local(error.to_string()).message.clone() })
                }
            }
        };
        cx.out.show(&views::BACKUP, &files.iter().map(row).collect())
    }
}

#[derive(Args)]
pub struct Show {
    /// The backup
    #[arg(value_name = "FILE")]
    file: String,
    #[command(flatten)]
    keys: KeyFlags,
}

impl Verb for Show {
    const ABOUT: &'static str = "Show what a backup says about itself, without verifying it";
    const EXAMPLES: &'static [&'static str] =
        &["mfa backup show nightly.mfab", "mfa backup show nightly.mfab -o json"];
    const EXITS: &'static [i32] = &[exit::NOT_FOUND];
    async fn run(self, cx: &Cx) -> Outcome {
        let keys = self.keys.read(cx, Path::new(&self.file))?;
        let facts = backup_facts(Path::new(&self.file), &keys);
        let facts = facts.map_err(|error| unusable(&self.file, &error))?;
        cx.out.show(&views::BACKUP_FACTS, &shown(&self.file, "not verified", &facts))
    }
}
