//! The pairs of the index in the tree of sled, and the sum of their hashes by which damage is found.
//!
//! sled may panic on damaged pages, so every call into it is caught. Everything here can be made anew from
//! checkpoint and journal.

use super::codec::{Cursor, Hash, checked, length, put_checksum};
use super::gap::{PATIENCE, between_readers};
use super::head::Head;
use super::layout::{META, Raw, chunk_key, chunks_of, is_meta, main_key, stored, whole_value};
use super::tree::{Sick, Tree, caught, take_space, text};
use crate::store::engine::{Pair, Range, Space};
use crate::store::layer::{Layer, Staged};
use sha2::{Digest, Sha256};
use sled::{Batch, IVec};
use std::fs;
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};

const AUDIT_PAGE_PAIRS: usize = 512;

/// How far the tree goes: it has everything up to one commit, and nothing from behind another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reach {
    /// The commit up to which everything is there.
    pub(super) head: Head,
    /// The last commit of which something may be there.
    pub(super) until: u64,
}

/// The state record of the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Meta {
    /// How far it goes.
    pub(super) reach: Reach,
    /// Sum of the hashes of all pairs.
    digest: u128,
}

/// A verification under way: the sum of the pairs before `from`, kept up to date by every batch.
#[derive(Debug, Default)]
struct Audit {
    from: Vec<u8>,
    sum: u128,
}

/// What is known of the tree besides its pairs.
#[derive(Debug, Default)]
struct Tally {
    digest: u128,
    audit: Option<Audit>,
    reach: Option<Reach>,
}

/// The tree with its sum.
#[derive(Debug)]
pub(super) struct Pairs {
    /// Written only while a batch is applied, so that a reader sees all of a batch or nothing.
    tree: RwLock<Tree>,
    dir: PathBuf,
    tally: Mutex<Tally>,
    /// Lets the next batch fail after it was applied, the worst that a failing batch can do.
    #[cfg(test)]
    pub(super) breaks: std::sync::atomic::AtomicBool,
}

/// A key of the tree with its new and its former value.
type Put = (Vec<u8>, Option<Vec<u8>>, Option<IVec>);

fn pair_hash(key: &[u8], value: &[u8]) -> u128 {
    let mut hasher = Sha256::new();
    hasher.update((key.len() as u64).to_le_bytes());
    hasher.update(key);
    hasher.update(value);
    let hash: Hash = hasher.finalize().into();
    Cursor(&hash).u128().unwrap_or_default()
}

fn raw(tree: &Tree, key: &[u8]) -> Result<Option<IVec>, Sick> {
    caught(|| tree.get(key).map_err(text))
}

fn raw_range(
    tree: &Tree,
    from: &[u8],
    to: Bound<&[u8]>,
    reverse: bool,
    limit: usize,
) -> Result<Vec<Raw>, Sick> {
    caught(|| {
        let range = tree.range::<&[u8], _>((Bound::Included(from), to));
        let pairs: Result<Vec<_>, _> =
            if reverse { range.rev().take(limit).collect() } else { range.take(limit).collect() };
        pairs.map_err(text)
    })
}

impl Reach {
    /// Everything up to a commit and nothing behind it.
    pub(super) fn exactly(head: Head) -> Self {
        Self { head, until: head.sequence }
    }
}

impl Meta {
    fn to_bytes(self) -> Vec<u8> {
        let mut out = Vec::new();
        self.reach.head.put(&mut out);
        out.extend_from_slice(&self.digest.to_le_bytes());
        out.extend_from_slice(&self.reach.until.to_le_bytes());
        put_checksum(&mut out);
        out
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut cursor = Cursor(checked(bytes)?);
        let head = Head::take(&mut cursor)?;
        let digest = cursor.u128()?;
        // A tree that was written before there was anything between the two says nothing of it.
        let until = cursor.u64().unwrap_or(head.sequence);
        Some(Self { reach: Reach { head, until }, digest })
    }
}

impl Pairs {
    /// Opens the tree of a folder, or makes an empty one.
    pub(super) fn open(dir: &Path, cache_bytes: u64) -> Result<Self, Sick> {
        if dir.join("rebuild").exists() {
            return Err("it was marked as damaged".to_owned());
        }
        let pairs = Self {
            tree: RwLock::new(Tree::open(dir, cache_bytes)?),
            dir: dir.to_owned(),
            tally: Mutex::default(),
            #[cfg(test)]
            breaks: std::sync::atomic::AtomicBool::default(),
        };
        if let Some(Meta { reach, digest }) = pairs.meta()? {
            *pairs.tally() = Tally { digest, audit: None, reach: Some(reach) };
        }
        Ok(pairs)
    }

    fn tally(&self) -> MutexGuard<'_, Tally> {
        self.tally.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tree(&self) -> RwLockReadGuard<'_, Tree> {
        self.tree.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The state record of the tree; `None` if it is empty or not finished.
    pub(super) fn meta(&self) -> Result<Option<Meta>, Sick> {
        let Some(bytes) = raw(&self.tree(), META)? else { return Ok(None) };
        Meta::from_bytes(&bytes).map(Some).ok_or_else(|| "its mark is damaged".to_owned())
    }

    /// How far the tree goes, if it is finished.
    pub(super) fn reach(&self) -> Option<Reach> {
        self.tally().reach
    }

    /// Size on the disk.
    pub(super) fn bytes(&self) -> Result<u64, Sick> {
        caught(|| self.tree().size_on_disk().map_err(text))
    }

    /// Makes sure that the tree can grow by so many bytes, of the `room` that the disk has.
    pub(super) fn take_space(&self, bytes: u64, room: u64) -> bool {
        take_space(&self.dir, bytes, room)
    }

    /// Makes the next start rebuild the index.
    pub(super) fn condemn(&self) {
        if let Err(error) = fs::write(self.dir.join("rebuild"), b"") {
            tracing::warn!(%error, "the index cannot be marked as damaged");
        }
    }

    /// Writes everything out and makes it durable.
    pub(super) fn close(&self) -> Result<(), Sick> {
        caught(|| self.tree().flush().map_err(text))?;
        // sled's own flush leaves the last step to the system.
        let file = fs::File::open(self.dir.join("db")).and_then(|file| file.sync_all());
        file.map_err(|error| error.to_string())
    }

    /// The number of stored pairs, the one about the tree itself included.
    #[cfg(test)]
    pub(super) fn count(&self) -> Result<usize, Sick> {
        caught(|| Ok(self.tree().len()))
    }

    /// The value of a key.
    pub(super) fn get(&self, space: Space, key: &[u8]) -> Result<Option<Vec<u8>>, Sick> {
        let tree = self.tree();
        let stored = raw(&tree, &main_key(space.id, key))?;
        stored.map(|stored| whole_value(space.id, key, &stored, |key| raw(&tree, key))).transpose()
    }

    /// At most `limit` pairs of a range.
    pub(super) fn scan(
        &self,
        Space { id, .. }: Space,
        range: &Range,
        reverse: bool,
        limit: usize,
    ) -> Result<Vec<Pair>, Sick> {
        let to = range.to.as_ref().map_or_else(|| vec![id.saturating_add(1)], |to| main_key(id, to));
        let tree = self.tree();
        let pairs = raw_range(&tree, &main_key(id, &range.from), Bound::Excluded(&to), reverse, limit)?;
        let whole = pairs.into_iter().map(|(key, stored)| {
            let key = key.get(1..).unwrap_or_default().to_vec();
            let value = whole_value(id, &key, &stored, |key| raw(&tree, key))?;
            Ok((key, value))
        });
        whole.collect()
    }

    /// Applies changes as one batch. With a reach, the tree says from then on that it goes so far.
    pub(super) fn apply(&self, changes: &Layer, reach: Option<Reach>) -> Result<(), Sick> {
        self.apply_some(changes.iter(), reach)
    }

    /// Applies some changes, each of another key, as one batch.
    pub(super) fn apply_some<'c>(
        &self,
        changes: impl Iterator<Item = (Space, &'c Vec<u8>, &'c Staged)>,
        reach: Option<Reach>,
    ) -> Result<(), Sick> {
        let mut tally = self.tally();
        let mut batch = Batch::default();
        let mut sum = tally.digest;
        for (key, value, former) in self.plan(changes)? {
            // What was on its way before the disk was full is there already.
            if value.as_deref() == former.as_deref() {
                continue;
            }
            let gone = former.as_ref().map_or(0, |former| pair_hash(&key, former));
            let come = value.as_ref().map_or(0, |value| pair_hash(&key, value));
            let change = come.wrapping_sub(gone);
            sum = sum.wrapping_add(change);
            if let Some(audit) = tally.audit.as_mut().filter(|audit| key < audit.from) {
                audit.sum = audit.sum.wrapping_add(change);
            }
            match value {
                Some(value) => batch.insert(key, value),
                None => batch.remove(key),
            }
        }
        if let Some(reach) = reach {
            batch.insert(META, Meta { reach, digest: sum }.to_bytes());
        }
        let tree = between_readers(&self.tree, PATIENCE);
        let applied = caught(|| tree.apply_batch(batch).map_err(text));
        #[cfg(test)]
        let applied = if self.breaks.swap(false, std::sync::atomic::Ordering::SeqCst) {
            Err("a test breaks it".to_owned())
        } else {
            applied
        };
        applied?;
        (tally.digest, tally.reach) = (sum, reach.or(tally.reach));
        Ok(())
    }

    /// What a batch does to the tree.
    fn plan<'c>(
        &self,
        changes: impl Iterator<Item = (Space, &'c Vec<u8>, &'c Staged)>,
    ) -> Result<Vec<Put>, Sick> {
        let tree = self.tree();
        let mut puts = Vec::new();
        for (Space { id, .. }, key, value) in changes {
            let main = main_key(id, key);
            let former = raw(&tree, &main)?;
            let (stored, chunks) = value.as_ref().map_or((None, Vec::new()), |value| {
                let (stored, chunks) = stored(value);
                (Some(stored), chunks)
            });
            let former_chunks = former.as_ref().map_or(0, |former| chunks_of(former));
            for number in 0..former_chunks.max(length(chunks.len())) {
                let key = chunk_key(id, key, number);
                let former = raw(&tree, &key)?;
                puts.push((key, chunks.get(number as usize).map(|chunk| chunk.to_vec()), former));
            }
            puts.push((main, stored, former));
        }
        Ok(puts)
    }

    /// Verifies all of the tree at once.
    pub(super) fn audit(&self) -> Result<bool, Sick> {
        loop {
            if let Some(right) = self.audit_page()? {
                return Ok(right);
            }
        }
    }

    /// Verifies the next page of the tree. `Some` says whether all of it, now done, is what was written.
    pub(super) fn audit_page(&self) -> Result<Option<bool>, Sick> {
        let mut tally = self.tally();
        let mut audit = tally.audit.take().unwrap_or_default();
        let page = raw_range(&self.tree(), &audit.from, Bound::Unbounded, false, AUDIT_PAGE_PAIRS)?;
        let Some((last, _)) = page.last() else {
            return Ok(Some(audit.sum == tally.digest));
        };
        audit.from = [last.as_ref(), &[0]].concat();
        let pairs = page.iter().filter(|(key, _)| !is_meta(key));
        audit.sum = pairs.fold(audit.sum, |sum, (key, value)| sum.wrapping_add(pair_hash(key, value)));
        tally.audit = Some(audit);
        Ok(None)
    }
}
