//! Images and the records that name them: bytes before record, removal after the last use.

use super::engine::{Change, Range, View};
use super::image_holds::ImageHolds;
use super::objects::{Draft, Objects};
use super::record::prefix;
use super::records::IMAGE_USES;
use super::tx::Tx;
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
/// Uses that are read at once.
const USES_AT_ONCE: usize = 500;
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
    pub(super) holds: ImageHolds,
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

/// The keys under which the uses of an image are stored.
pub(super) fn uses_of(hash: &str) -> Range {
    Range::prefix(&prefix(&[hash]))
}

/// Those of some images, in order, that no record names. Their uses are read in the order of the keys, as
/// many at once as there are images left: one message to a database for hundreds where each has a use or two,
/// and no more than one for each where they lie far apart or have thousands.
pub(super) fn unnamed(tx: &mut Tx<'_>, hashes: &[String]) -> Result<Vec<String>, Fault> {
    let mut unnamed = Vec::new();
    let mut left = hashes;
    while let (Some(first), Some(last)) = (left.first(), left.last()) {
        let at_once = left.len().min(USES_AT_ONCE);
        let range = Range { from: uses_of(first).from, to: uses_of(last).to };
        let uses = tx.scan(IMAGE_USES, &range, false, at_once)?;
        let named: BTreeSet<_> = uses.iter().map(|(entry, _)| hash_of(entry)).collect();
        // Behind the last use that was read, nothing is known yet.
        let end = match named.last() {
            Some(end) if uses.len() == at_once => left.partition_point(|hash| hash <= end),
            _ => left.len(),
        };
        unnamed.extend(left[..end].iter().filter(|hash| !named.contains(*hash)).cloned());
        left = &left[end..];
    }
    Ok(unnamed)
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
            holds: ImageHolds::default(),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::objects::hash_and_length;
    use crate::store::overlay::tests::Map;
    use crate::store::record::key;
    use mfa_shared::time::Timestamp;
    use proptest::prelude::*;

    fn image(number: usize) -> String {
        hash_and_length(&number.to_le_bytes()[..]).unwrap().0
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]
        #[test]
        fn an_image_without_a_record_is_found_wherever_its_neighbours_are(
            uses in proptest::collection::vec((0..2_000_usize, 1..4_usize), 0..1_500),
            (often, times) in (0..2_000_usize, 0..3_000_usize),
            asked in proptest::collection::btree_set(0..2_000_usize, 0..1_500),
        ) {
            let used = |image: &String, by: usize| (key(&[image, "scan", &by.to_string()]), Vec::new());
            let uses = uses.into_iter().chain([(often, times)]);
            let mut view = Map(uses
                .flat_map(|(number, times)| (0..times).map(move |by| (number, by)))
                .map(|(number, by)| used(&image(number), by))
                .collect());
            let mut asked: Vec<_> = asked.into_iter().map(image).collect();
            asked.sort();
            let mut tx = Tx::new(&mut view, Timestamp::from_millis(0), false);
            let found = unnamed(&mut tx, &asked).unwrap();
            let one_by_one: Vec<_> =
                asked.into_iter().filter(|hash| !tx.any(IMAGE_USES, &[hash]).unwrap()).collect();
            prop_assert_eq!(found, one_by_one);
        }
    }
}
