//! Backups on the machine itself: made of a store without a daemon, and verified.

use crate::check::{Check, Found, run};
use crate::clock::Clock;
use crate::config::Config;
use crate::open::{How, StartError, open_to_look};
use crate::store::Store;
use crate::store::backup::BackupError;
use crate::store::backup::crypt::{BackupKeys, open};
use crate::store::backup::file::read as read_backup;
use crate::store::backup::read::{Facts, Reader, Whole, facts};
use crate::store::embedded::{Embedded, Options};
use bytes::Bytes;
use futures_util::future::{BoxFuture, LocalBoxFuture};
use mfa_shared::fault::{DISK_FULL, Fault};
use std::path::Path;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// Pieces of a backup that wait to be written.
const PIECES_WAITING: usize = 4;

impl From<BackupError> for StartError {
    fn from(error: BackupError) -> Self {
        StartError::Store(error.to_string())
    }
}

/// A backup that is made of a store without a daemon.
#[derive(Debug)]
pub struct LocalBackup {
    pieces: mpsc::Receiver<Result<Bytes, Fault>>,
    making: JoinHandle<()>,
}

impl LocalBackup {
    /// The next bytes; none behind the last ones, and then the store is closed.
    pub async fn next(&mut self) -> Result<Option<Bytes>, StartError> {
        match self.pieces.recv().await {
            Some(piece) => piece.map(Some).map_err(|fault| StartError::Store(fault.detail.clone())),
            None => {
                let broken = |_| StartError::Store("the backup broke off because of a defect".to_owned());
                (&mut self.making).await.map_err(broken)?;
                Ok(None)
            }
        }
    }
}

/// Begins a backup of the store of a configuration.
pub fn back_up(config: &Config) -> BoxFuture<'_, Result<LocalBackup, StartError>> {
    Box::pin(async move {
        let store = open_to_look(config, Clock::system(), How::to_look()).await?;
        let (sender, pieces) = mpsc::channel(PIECES_WAITING);
        let making = tokio::spawn(async move {
            // The receiver of the pieces learns of a failure.
            let _ = store.back_up(sender).await;
            store.close().await;
        });
        Ok(LocalBackup { pieces, making })
    })
}

/// What a backup says about itself, without reading its contents.
pub fn backup_facts(file: &Path, keys: &BackupKeys) -> Result<Facts, BackupError> {
    facts(file, keys)
}

/// What is in a backup.
#[derive(Debug)]
pub struct Verified {
    /// What it says of itself.
    pub facts: Facts,
    /// What `mfa check` finds in it.
    pub found: Vec<Found>,
}

/// Verifies a backup as [`read_backup`] does, and then all that `mfa check` knows: on a scratch store in an
/// empty folder, which the caller removes afterwards.
pub fn verify_backup<'a>(
    file: &'a Path,
    keys: &'a BackupKeys,
    scratch: &'a Path,
    progress: &'a dyn Fn(Check, usize),
) -> LocalBoxFuture<'a, Result<Verified, StartError>> {
    Box::pin(async move {
        let Whole { facts, .. } = read_backup(file, keys).await?;
        let options = Options { packs: false, ..Options::new(scratch.join("store")) };
        let engine = Embedded::open(options);
        let engine = engine.map_err(|error| StartError::Store(error.to_string()))?;
        let store = Store::new(engine, Clock::system(), false);
        let checked = async {
            let mut reader = Reader::begin(open(file, keys)?)?;
            let put = store.put_back(&mut reader, &facts.digest, &|_| {}).await;
            put.map_err(|error| not_tried(error, scratch))?;
            store.sweep_all_images().await.map_err(StartError::Refused)?;
            run(&store, &Check::ALL, progress).await
        };
        let checked = checked.await;
        store.close().await;
        Ok(Verified { facts, found: checked? })
    })
}

/// Why a backup could not be put back for a verification.
fn not_tried(error: BackupError, scratch: &Path) -> StartError {
    match error {
        BackupError::Store(fault) if fault.kind == DISK_FULL => StartError::Store(format!(
            "the disk of {} is full, where a verification puts the backup back: make space, or name a folder \
             on another disk in TMPDIR",
            scratch.display()
        )),
        error => error.into(),
    }
}
