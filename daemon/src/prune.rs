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
use mfa_shared::time::Date;
use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// What was removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pruned {
    /// How many records.
    pub records: u64,
    /// The number of the first record that is kept.
    pub first: u64,
}

/// Removes the records from before a day. The file must be a new one; nothing is removed before all of it is
/// on the disk.
pub fn prune_audit<'a>(
    config: &'a Config,
    day: Date,
    file: &'a Path,
) -> BoxFuture<'a, Result<Pruned, StartError>> {
    Box::pin(async move {
        let store = open_existing(config, Clock::system(), true).await?;
        let pruned = prune(&store, day, file).await;
        store.close().await;
        pruned
    })
}

async fn prune(store: &Store, day: Date, file: &Path) -> Result<Pruned, StartError> {
    // What is committed belongs to the trail before it is cut.
    audit::bring_to_an_end(store).await;
    let numbers = store.read(false, move |tx| trail::before(tx, day)).await.map_err(StartError::Refused)?;
    let pruned = Pruned { records: numbers.end - numbers.start, first: numbers.end };
    if pruned.records == 0 {
        return Ok(pruned);
    }
    let failed = |error| StartError::Settings(format!("{} cannot be written: {error}", file.display()));
    let options = OpenOptions::new().write(true).create_new(true).mode(0o600).open(file);
    let mut out = options.map_err(failed)?;
    let mut left = numbers.clone();
    while !left.is_empty() {
        let from = left.clone();
        let read = store.read(true, move |tx| trail::lines(tx, from.clone())).await;
        let (lines, rest) = read.map_err(StartError::Refused)?;
        out.write_all(&lines).map_err(failed)?;
        left = rest;
    }
    out.sync_all().map_err(failed)?;
    let cut = move |tx: &mut Tx<'_>| {
        tx.set_actor(SYSTEM_ACTOR);
        trail::cut(tx, &numbers, day)
    };
    store.write("audit-prune", cut).await.map_err(StartError::Refused)?;
    audit::bring_to_an_end(store).await;
    audit::clear(store).await.map_err(StartError::Refused)?;
    Ok(pruned)
}
