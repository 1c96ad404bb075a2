//! Images and the records that name them: bytes before record, removal after the last use.

use super::engine::{Change, View};
use super::objects::{Draft, Objects};
use super::records::IMAGE_USES;
use mfa_shared::fault::{self, Fault};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::{RwLock, RwLockWriteGuard, Semaphore};

/// Drafts that are made durable at once; more wait, and share the disk's next sync.
const KEPT_AT_ONCE: usize = 64;
/// Seconds after which a damaged image may have been repaired.
const DAMAGED_RETRY_SECONDS: u32 = 3600;
/// Damaged images that are counted.
const DAMAGED_MAX: usize = 10_000;
/// Bytes of a hash at the beginning of an entry of the index of uses.
const HASH_BYTES: usize = 64;

/// The images of a store.
#[derive(Debug)]
pub struct Images {
    pub(super) objects: Arc<dyn Objects>,
    /// Held for reading from before an object is kept until the record that names it is decided, for
    /// writing while objects without a record are removed. So nothing is removed that is about to be named.
    pub(super) gate: RwLock<()>,
    keeps: Semaphore,
    /// Those that were found damaged and were not uploaded again since.
    damaged: Mutex<BTreeSet<String>>,
}

/// What a transaction did to the uses of images.
#[derive(Debug, Default)]
pub(super) struct Uses {
    pub(super) begun: BTreeSet<String>,
    pub(super) ended: BTreeSet<String>,
}

impl Uses {
    /// Reads it from the changes.
    pub(super) fn of(changes: &[Change]) -> Self {
        let mut uses = Self::default();
        for change in changes.iter().filter(|change| change.space == IMAGE_USES) {
            let hash = hash_of(&change.key);
            if change.value.is_some() {
                uses.begun.insert(hash)
            } else {
                uses.ended.insert(hash)
            };
        }
        uses
    }

    /// Whether all that is used now is there, and stays there if the transaction commits.
    pub(super) fn are_there(&self, view: &mut dyn View) -> Result<bool, Fault> {
        for hash in &self.begun {
            if !view.holds_object(hash)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

fn hash_of(entry: &[u8]) -> String {
    String::from_utf8_lossy(&entry[..entry.len().min(HASH_BYTES)]).into_owned()
}

/// The fault of an image that cannot be shown. A retry does not help before it was repaired.
pub fn damaged(hash: &str, what: &str) -> Fault {
    let way_out = "upload it again, or restore the store from a backup";
    let detail = format!("image {hash} is damaged: {what}; {way_out}");
    Fault::new(fault::IMAGE_DAMAGED, detail).retry_after(DAMAGED_RETRY_SECONDS)
}

impl Images {
    /// The images over the objects of an engine.
    pub fn new(objects: Arc<dyn Objects>) -> Self {
        Self {
            objects,
            gate: RwLock::new(()),
            keeps: Semaphore::new(KEPT_AT_ONCE),
            damaged: Mutex::default(),
        }
    }

    /// Where the bytes lie.
    pub(super) fn objects(&self) -> &dyn Objects {
        &*self.objects
    }

    /// Keeps images from coming and going while the guard lives.
    pub(super) async fn gate(&self) -> RwLockWriteGuard<'_, ()> {
        self.gate.write().await
    }

    #[expect(clippy::expect_used, reason = "the semaphore is never closed")]
    pub(super) async fn keep(&self, draft: Draft) -> Result<(), Fault> {
        let _permit = self.keeps.acquire().await.expect("an open semaphore");
        let hash = draft.hash();
        self.objects.keep(draft).await?;
        self.damaged().remove(&hash);
        Ok(())
    }

    pub(super) fn damaged(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.damaged.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a damaged image, and logs it the first time.
    pub(super) fn note(&self, hash: &str, fault: Fault) -> Fault {
        let mut damaged = self.damaged();
        if fault.kind.code == fault::IMAGE_DAMAGED.code
            && damaged.len() < DAMAGED_MAX
            && damaged.insert(hash.to_owned())
        {
            tracing::error!(
                detail = fault.detail,
                "an image is not served; mfa check store names its records"
            );
        }
        fault
    }
}
