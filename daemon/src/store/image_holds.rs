//! Images that stay while a backup is made, though no record names them any more: else those who replace
//! images faster than they are read would move the moment of the backup on for ever.
//!
//! Within a process a count says that a backup is made. Daemons that share a store tell each other by a
//! record, which ends by itself if its daemon dies. What was put off goes soon after the backup, or else with
//! a sweep.

use super::records::ImageHold;
use super::tx::Tx;
use mfa_shared::fault::Fault;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How many backups this process makes, and which images were to be removed meanwhile.
#[derive(Debug, Default)]
pub(super) struct ImageHolds {
    count: AtomicUsize,
    put_off: Mutex<BTreeSet<String>>,
}

/// Keeps images where they are.
#[derive(Debug)]
pub(super) struct Held<'h>(&'h ImageHolds);

impl ImageHolds {
    pub(super) fn begin(&self) -> Held<'_> {
        self.count.fetch_add(1, SeqCst);
        Held(self)
    }

    /// Whether a backup is made here.
    pub(super) fn are_held(&self) -> bool {
        self.count.load(SeqCst) > 0
    }

    /// Puts removals off until no backup is made.
    pub(super) fn put_off(&self, hashes: Vec<String>) {
        self.removals().extend(hashes);
    }

    /// The removals that were put off, once no backup is made here.
    pub(super) fn take(&self) -> Vec<String> {
        if self.are_held() {
            return Vec::new();
        }
        std::mem::take(&mut *self.removals()).into_iter().collect()
    }

    fn removals(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.put_off.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.0.count.fetch_sub(1, SeqCst);
    }
}

/// Whether a daemon makes a backup of a store that several share.
pub(super) fn are_held(tx: &mut Tx<'_>) -> Result<bool, Fault> {
    let now = tx.now();
    Ok(tx.all::<ImageHold>(&[])?.iter().any(|hold| hold.until > now))
}
