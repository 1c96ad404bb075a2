//! The index: one tree of sled that serves every read, and that can always be made anew from checkpoint
//! and journal.
//!
//! sled may panic on damaged pages, and a range beside a writer is no snapshot; so every call into it is
//! caught, and readers hold the gate of `shared.rs` while a batch is not being applied.

use super::codec::{Cursor, Hash, checked, length, put_checksum};
use super::head::Head;
use super::layout::{META, Raw, chunk_key, chunks_of, is_meta, main_key, stored, whole_value};
use super::tree::{Sick, Tree, caught, text};
use crate::store::engine::{Change, Pair};
use sha2::{Digest, Sha256};
use sled::{Batch, IVec};
use std::collections::BTreeMap;
use std::fs;
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

const AUDIT_PAGE_PAIRS: usize = 512;

/// What the index says about itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Meta {
    /// The commit up to which it goes.
    pub(super) head: Head,
    /// Sum of the hashes of all pairs.
    pub(super) digest: u128,
}

/// A verification under way: the sum of the pairs before `from`, kept up to date by every batch.
#[derive(Debug, Default)]
struct Audit {
    from: Vec<u8>,
    sum: u128,
}

/// The index.
#[derive(Debug)]
pub(super) struct Index {
    db: Tree,
    dir: PathBuf,
    digest: Mutex<u128>,
    audit: Mutex<Option<Audit>>,
    /// The former values of a batch that failed half-way. Readers see these, since that batch is not
    /// acknowledged.
    undo: OnceLock<BTreeMap<Vec<u8>, Option<IVec>>>,
    /// Lets the next batch fail after it was applied, the worst that a failing batch can do.
    #[cfg(test)]
    pub(super) breaks: std::sync::atomic::AtomicBool,
}

/// A key of the tree with its new and its former value.
type Put = (Vec<u8>, Option<Vec<u8>>, Option<IVec>);

/// A batch before it is applied.
#[derive(Debug)]
pub(super) struct Plan(Vec<Put>);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn pair_hash(key: &[u8], value: &[u8]) -> u128 {
    let mut hasher = Sha256::new();
    hasher.update((key.len() as u64).to_le_bytes());
    hasher.update(key);
    hasher.update(value);
    let hash: Hash = hasher.finalize().into();
    Cursor(&hash).u128().unwrap_or_default()
}

impl Meta {
    fn to_bytes(self) -> Vec<u8> {
        let mut out = Vec::new();
        self.head.put(&mut out);
        out.extend_from_slice(&self.digest.to_le_bytes());
        put_checksum(&mut out);
        out
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut cursor = Cursor(checked(bytes)?);
        Some(Self { head: Head::take(&mut cursor)?, digest: cursor.u128()? })
    }
}

impl Index {
    /// Opens the index of a folder, or makes an empty one.
    pub(super) fn open(dir: &Path, cache_bytes: u64) -> Result<Self, Sick> {
        if dir.join("rebuild").exists() {
            return Err("it was marked as damaged".to_owned());
        }
        let db = Tree::open(dir, cache_bytes)?;
        let index = Self {
            db,
            dir: dir.to_owned(),
            digest: Mutex::new(0),
            audit: Mutex::new(None),
            undo: OnceLock::new(),
            #[cfg(test)]
            breaks: std::sync::atomic::AtomicBool::default(),
        };
        if let Some(meta) = index.meta()? {
            *lock(&index.digest) = meta.digest;
        }
        Ok(index)
    }

    /// What the index says about itself; `None` if it is empty or not finished.
    pub(super) fn meta(&self) -> Result<Option<Meta>, Sick> {
        let Some(bytes) = self.raw(META)? else { return Ok(None) };
        Meta::from_bytes(&bytes).map(Some).ok_or_else(|| "its mark is damaged".to_owned())
    }

    /// Size on the disk.
    pub(super) fn bytes(&self) -> Result<u64, Sick> {
        caught(|| self.db.size_on_disk().map_err(text))
    }

    /// Lets the next start make the index anew.
    pub(super) fn condemn(&self) {
        if let Err(error) = fs::write(self.dir.join("rebuild"), b"") {
            tracing::warn!(%error, "the index cannot be marked as damaged");
        }
    }

    /// Writes everything out and makes it durable.
    pub(super) fn close(&self) -> Result<(), Sick> {
        caught(|| self.db.flush().map_err(text))?;
        // sled's own flush leaves the last step to the system.
        let file = fs::File::open(self.dir.join("db")).and_then(|file| file.sync_all());
        file.map_err(|error| error.to_string())
    }

    /// The number of stored pairs, the one about the index itself included.
    #[cfg(test)]
    pub(super) fn pairs(&self) -> Result<usize, Sick> {
        caught(|| Ok(self.db.len()))
    }

    fn raw(&self, key: &[u8]) -> Result<Option<IVec>, Sick> {
        match self.undo.get().and_then(|undo| undo.get(key)) {
            Some(former) => Ok(former.clone()),
            None => caught(|| self.db.get(key).map_err(text)),
        }
    }

    fn raw_range(
        &self,
        from: &[u8],
        to: Bound<&[u8]>,
        reverse: bool,
        limit: usize,
    ) -> Result<Vec<Raw>, Sick> {
        let undo = self.undo.get();
        let take = limit.saturating_add(undo.map_or(0, BTreeMap::len));
        let pairs: Vec<Raw> = caught(|| {
            let range = self.db.range::<&[u8], _>((Bound::Included(from), to));
            let pairs: Result<Vec<_>, _> =
                if reverse { range.rev().take(take).collect() } else { range.take(take).collect() };
            pairs.map_err(text)
        })?;
        let Some(undo) = undo else { return Ok(pairs) };
        let mut pairs: BTreeMap<IVec, IVec> = pairs.into_iter().collect();
        for (key, former) in undo.range::<[u8], _>((Bound::Included(from), to)) {
            match former {
                Some(former) => pairs.insert(key.as_slice().into(), former.clone()),
                None => pairs.remove(&key[..]),
            };
        }
        let pairs = pairs.into_iter();
        Ok(if reverse { pairs.rev().take(limit).collect() } else { pairs.take(limit).collect() })
    }

    /// The value of a key.
    pub(super) fn get(&self, space: u8, key: &[u8]) -> Result<Option<Vec<u8>>, Sick> {
        let stored = self.raw(&main_key(space, key))?;
        stored.map(|stored| whole_value(space, key, &stored, |key| self.raw(key))).transpose()
    }

    /// At most `limit` pairs of a space, from `from` on, before `to`.
    pub(super) fn scan(
        &self,
        space: u8,
        from: &[u8],
        to: Option<&[u8]>,
        reverse: bool,
        limit: usize,
    ) -> Result<Vec<Pair>, Sick> {
        let to = to.map_or_else(|| vec![space.saturating_add(1)], |to| main_key(space, to));
        let pairs = self.raw_range(&main_key(space, from), Bound::Excluded(&to), reverse, limit)?;
        let whole = pairs.into_iter().map(|(key, stored)| {
            let key = key.get(1..).unwrap_or_default().to_vec();
            let value = whole_value(space, &key, &stored, |key| self.raw(key))?;
            Ok((key, value))
        });
        whole.collect()
    }

    /// Applies changes as one batch; of several changes of a key, the last counts. With a head, the index
    /// says from then on that it goes so far.
    pub(super) fn apply<'a>(
        &self,
        changes: impl IntoIterator<Item = &'a Change>,
        head: Option<Head>,
    ) -> Result<(), Sick> {
        self.apply_plan(self.plan(changes)?, head)
    }

    /// What a batch will do. Nothing else may be applied between this and [`Index::apply_plan`].
    pub(super) fn plan<'a>(&self, changes: impl IntoIterator<Item = &'a Change>) -> Result<Plan, Sick> {
        let changes = changes.into_iter().map(|c| ((c.space.id, &c.key), c.value.as_deref()));
        let changes: BTreeMap<(u8, &Vec<u8>), Option<&[u8]>> = changes.collect();
        let mut plan = Plan(Vec::new());
        for ((space, key), value) in changes {
            let main = main_key(space, key);
            let former = self.raw(&main)?;
            let (stored, chunks) = value.map_or((None, Vec::new()), |value| {
                let (stored, chunks) = stored(value);
                (Some(stored), chunks)
            });
            let former_chunks = former.as_ref().map_or(0, |former| chunks_of(former));
            for number in 0..former_chunks.max(length(chunks.len())) {
                let key = chunk_key(space, key, number);
                let former = self.raw(&key)?;
                plan.0.push((key, chunks.get(number as usize).map(|chunk| chunk.to_vec()), former));
            }
            plan.0.push((main, stored, former));
        }
        Ok(plan)
    }

    /// Applies a planned batch.
    pub(super) fn apply_plan(&self, plan: Plan, head: Option<Head>) -> Result<(), Sick> {
        let (mut digest, mut audit) = (lock(&self.digest), lock(&self.audit));
        let (mut batch, mut undo, mut sum) = (Batch::default(), BTreeMap::new(), *digest);
        for (key, value, former) in plan.0 {
            let gone = former.as_ref().map_or(0, |former| pair_hash(&key, former));
            let come = value.as_ref().map_or(0, |value| pair_hash(&key, value));
            let change = come.wrapping_sub(gone);
            sum = sum.wrapping_add(change);
            if let Some(audit) = audit.as_mut().filter(|audit| key < audit.from) {
                audit.sum = audit.sum.wrapping_add(change);
            }
            match value {
                Some(value) => batch.insert(key.as_slice(), value),
                None => batch.remove(key.as_slice()),
            }
            undo.insert(key, former);
        }
        if let Some(head) = head {
            batch.insert(META, Meta { head, digest: sum }.to_bytes());
        }
        let applied = caught(|| self.db.apply_batch(batch).map_err(text));
        #[cfg(test)]
        let applied = match self.breaks.swap(false, std::sync::atomic::Ordering::SeqCst) {
            true => Err("a test breaks it".to_owned()),
            false => applied,
        };
        match &applied {
            Ok(()) => *digest = sum,
            Err(_) => drop(self.undo.set(undo)),
        }
        applied
    }

    /// Verifies all of the index at once.
    pub(super) fn audit(&self) -> Result<bool, Sick> {
        loop {
            if let Some(right) = self.audit_page()? {
                return Ok(right);
            }
        }
    }

    /// Verifies the next page of the index. `Some` says whether all of it, now done, is what was written.
    pub(super) fn audit_page(&self) -> Result<Option<bool>, Sick> {
        let mut slot = lock(&self.audit);
        let mut audit = slot.take().unwrap_or_default();
        let page = self.raw_range(&audit.from, Bound::Unbounded, false, AUDIT_PAGE_PAIRS)?;
        let Some((last, _)) = page.last() else {
            return Ok(Some(audit.sum == *lock(&self.digest)));
        };
        audit.from = [last.as_ref(), &[0]].concat();
        let pairs = page.iter().filter(|(key, _)| !is_meta(key));
        audit.sum = pairs.fold(audit.sum, |sum, (key, value)| sum.wrapping_add(pair_hash(key, value)));
        *slot = Some(audit);
        Ok(None)
    }
}
