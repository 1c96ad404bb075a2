//! `mfa audit prune`: the audit trail is cut on its own machine, while no daemon runs, after what is removed
//! was written into a file.

use crate::audit;
use crate::clock::Clock;
use crate::config::Config;
use crate::open::{StartError, open_existing};
use crate::ops::audit as trail;
use crate::store::seed::SYSTEM_ACTOR;
use crate::store::{Store, Tx};
use futures_util::future::BoxFuture;
use mfa_shared::fault::Fault;
use mfa_shared::time::Date;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use tempfile::NamedTempFile;

/// What was removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pruned {
    /// How many records.
    pub records: u64,
    /// The number of the first record that is kept.
    pub first: u64,
}

/// Why records could not be removed.
#[derive(Debug)]
pub enum PruneError {
    /// The store cannot be opened or changed.
    Store(StartError),
    /// The file is there already.
    Exists,
    /// The file cannot be written; it was removed.
    File(io::Error),
}

impl From<Fault> for PruneError {
    fn from(fault: Fault) -> Self {
        Self::Store(StartError::Refused(fault))
    }
}

impl From<io::Error> for PruneError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::AlreadyExists => Self::Exists,
            _ => Self::File(error),
        }
    }
}

/// Removes the records from before a day. The file must be a new one; nothing is removed before all of it is
/// on the disk.
pub fn prune_audit<'a>(
    config: &'a Config,
    day: Date,
    file: &'a Path,
) -> BoxFuture<'a, Result<Pruned, PruneError>> {
    Box::pin(async move {
        let store = open_existing(config, Clock::system(), true).await.map_err(PruneError::Store)?;
        let pruned = prune(&store, day, file).await;
        store.close().await;
        pruned
    })
}

async fn prune(store: &Store, day: Date, file: &Path) -> Result<Pruned, PruneError> {
    // What is committed belongs to the trail before it is cut.
    audit::bring_to_an_end(store).await;
    let numbers = store.read(false, move |tx| trail::before(tx, day)).await?;
    let pruned = Pruned { records: numbers.end - numbers.start, first: numbers.end };
    if pruned.records == 0 {
        return Ok(pruned);
    }
    // It gets its name when it is whole, so that no part of one is in the way of the next run.
    if file.symlink_metadata().is_ok() {
        return Err(PruneError::Exists);
    }
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut out = NamedTempFile::new_in(folder)?;
    let mut left = numbers.clone();
    while !left.is_empty() {
        let from = left.clone();
        let (lines, rest) = store.read(true, move |tx| trail::lines(tx, from.clone())).await?;
        out.as_file_mut().write_all(&lines)?;
        left = rest;
    }
    out.as_file().sync_all()?;
    out.persist_noclobber(file).map_err(|error| error.error)?;
    // Its name must outlive a loss of power, too.
    File::open(folder).and_then(|folder| folder.sync_all()).inspect_err(|_| {
        let _ = fs::remove_file(file);
    })?;
    let cut = move |tx: &mut Tx<'_>| {
        tx.set_actor(SYSTEM_ACTOR);
        trail::cut(tx, &numbers, day)
    };
    store.write("audit-prune", cut).await?;
    audit::bring_to_an_end(store).await;
    audit::clear(store).await?;
    Ok(pruned)
}
