//! The pairs of the index in the tree of sled, and the sum of their hashes by which damage is found.
//!
//! sled may panic on damaged pages, so every call into it is caught. Everything here can be made anew from
//! checkpoint and journal.

use super::blocks::{self, Block};
use super::codec::{Cursor, Hash, length};
use super::compressed::{Opened, compress, open_once};
use super::gap::{PATIENCE, between_readers};
use super::layout::{META, META_BEFORE, Raw, chunk_key, chunks_of, is_meta, main_key, stored, whole_value};
use super::reach::{Meta, Reach};
use super::tree::{Sick, Tree, caught, take_space, text};
use crate::store::engine::{Pair, Range, Space};
use crate::store::layer::{Layer, Staged};
use sha2::{Digest, Sha256};
use sled::{Batch, IVec};
use std::fs;
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};

/// Few in tests, so that there is work between two pages.
const AUDIT_PAGE_ITEMS: usize = if cfg!(test) { 4 } else { 128 };

/// Who scans for no more than this may well ask again. A checkpoint, which goes through all, asks for more.
const FEW_PAIRS: usize = 32;

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
    /// Whether the state record is still where it was before there were blocks.
    is_earlier: bool,
}

/// The tree with its sum.
#[derive(Debug)]
pub(super) struct Pairs {
    /// Written only while a batch is applied, so that a reader sees all of a batch or nothing.
    tree: RwLock<Tree>,
    dir: PathBuf,
    opened: Opened,
    tally: Mutex<Tally>,
    /// Lets the next batch fail after it was applied, the worst that a failing batch can do.
    #[cfg(test)]
    pub(super) breaks: std::sync::atomic::AtomicBool,
}

/// A key of the tree with its new and its former value.
type Put = (Vec<u8>, Option<Vec<u8>>, Option<IVec>);

/// A change that is to go into the tree.
pub(super) type Planned<'c> = (Space, &'c Vec<u8>, &'c Staged);

/// A block that a batch changes, with the former value of its item.
struct Changed {
    block: Block,
    former: Option<IVec>,
}

impl Changed {
    fn into_puts(self) -> impl Iterator<Item = Put> {
        let from = self.block.from().to_vec();
        let mut items = self.block.into_items().into_iter();
        let first = (from, items.next().map(|(_, item)| compress(item)), self.former);
        [first].into_iter().chain(items.map(|(key, item)| (key, Some(compress(item)), None)))
    }
}

/// What an item adds to the sum.
pub(super) fn pair_hash(key: &[u8], value: &[u8]) -> u128 {
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

/// The item in which a key of a space is, or would be. There is none before the first key of the space.
fn item(tree: &Tree, space: u8, main: &[u8]) -> Result<Option<Raw>, Sick> {
    caught(|| tree.range::<&[u8], _>([space].as_slice()..=main).next_back().transpose().map_err(text))
}

/// The items of a range; a panic of sled ends them like an error.
fn caught_items(
    mut items: impl Iterator<Item = sled::Result<Raw>>,
) -> impl Iterator<Item = Result<Raw, Sick>> {
    std::iter::from_fn(move || caught(|| items.next().transpose().map_err(text)).transpose())
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
            opened: Opened::default(),
            tally: Mutex::default(),
            #[cfg(test)]
            breaks: std::sync::atomic::AtomicBool::default(),
        };
        if let Some((Meta { reach, digest }, is_earlier)) = pairs.meta()? {
            *pairs.tally() = Tally { digest, audit: None, reach: Some(reach), is_earlier };
        }
        Ok(pairs)
    }

    fn tally(&self) -> MutexGuard<'_, Tally> {
        self.tally.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tree(&self) -> RwLockReadGuard<'_, Tree> {
        self.tree.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The state record of the tree, and whether it is where it was before there were blocks; `None` if the
    /// tree is empty or not finished.
    fn meta(&self) -> Result<Option<(Meta, bool)>, Sick> {
        let tree = self.tree();
        let now = raw(&tree, META)?;
        let is_earlier = now.is_none();
        let Some(bytes) = now.map_or_else(|| raw(&tree, META_BEFORE), |now| Ok(Some(now)))? else {
            return Ok(None);
        };
        let meta = Meta::from_bytes(&bytes).ok_or_else(|| "its mark is damaged".to_owned())?;
        Ok(Some((meta, is_earlier)))
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
        caught(|| {
            let count = |item: sled::Result<Raw>| {
                let (key, item) = item.map_err(text)?;
                let is_block = key.first().is_some_and(|space| *space < super::layout::SPACES_END);
                Ok(if is_block { blocks::entries(&key, &open_once(item)?)?.len() } else { 1 })
            };
            self.tree().iter().map(count).sum()
        })
    }

    /// The value of a key.
    pub(super) fn get(&self, space: Space, key: &[u8]) -> Result<Option<Vec<u8>>, Sick> {
        let tree = self.tree();
        let main = main_key(space.id, key);
        let Some((from, item)) = item(&tree, space.id, &main)? else { return Ok(None) };
        let item = self.opened.open(item)?;
        let stored = blocks::find(&from, &item, &main)?;
        stored.map(|stored| whole_value(space.id, key, stored, |key| raw(&tree, key))).transpose()
    }

    /// At most `limit` pairs of a range.
    pub(super) fn scan(
        &self,
        Space { id, .. }: Space,
        range: &Range,
        reverse: bool,
        limit: usize,
    ) -> Result<Vec<Pair>, Sick> {
        let first = main_key(id, &range.from);
        let end = range.to.as_ref().map_or_else(|| vec![id.saturating_add(1)], |to| main_key(id, to));
        let tree = self.tree();
        let mut found = Vec::new();
        if limit == 0 {
            return Ok(found);
        }
        // Says whether that was the last pair that is wanted.
        let mut take = |main: &[u8], stored: &[u8]| -> Result<bool, Sick> {
            let key = main.get(1..).unwrap_or_default().to_vec();
            let value = whole_value(id, &key, stored, |key| raw(&tree, key))?;
            found.push((key, value));
            Ok(found.len() == limit)
        };
        let open = |item| if limit <= FEW_PAIRS { self.opened.open(item) } else { open_once(item) };
        if reverse {
            let items = tree.range::<&[u8], _>(&[id][..]..&end).rev();
            'items: for item in caught_items(items) {
                let (from, item) = item?;
                let entries = blocks::entries(&from, &open(item)?)?;
                for (key, stored) in entries.iter().rev().skip_while(|(key, _)| *key >= end) {
                    if *key < first || take(key, stored)? {
                        break 'items;
                    }
                }
            }
        } else {
            let begin = item(&tree, id, &first)?;
            let behind = begin.as_ref().map_or_else(
                || Bound::Included(first.as_slice().into()),
                |(from, _)| Bound::Excluded(from.clone()),
            );
            // Most ranges end in the item in which they begin; only others descend the tree once more.
            let behind =
                caught_items(tree.range::<IVec, _>((behind, Bound::Excluded(end.as_slice().into()))));
            'items: for item in begin.map(Ok).into_iter().chain(behind) {
                let (from, item) = item?;
                let item = open(item)?;
                let mut pairs = blocks::Pairs::of(&from, &item);
                while let Some(stored) = pairs.next()? {
                    let key = pairs.key();
                    if key < first.as_slice() {
                        continue;
                    }
                    if key >= end.as_slice() || take(key, stored)? {
                        break 'items;
                    }
                }
            }
        }
        Ok(found)
    }

    /// Applies changes as one batch. With a reach, the tree says from then on that it goes so far.
    pub(super) fn apply(&self, changes: &Layer, reach: Option<Reach>) -> Result<(), Sick> {
        self.apply_last(&changes.iter().collect::<Vec<_>>(), usize::MAX, reach).map(drop)
    }

    /// Applies the last of some changes, which are in the order of the tree, as one batch: those of as many
    /// items as said, and of the rest of the last block. Returns the changes before them.
    pub(super) fn apply_last<'l, 'c>(
        &self,
        changes: &'l [Planned<'c>],
        items_max: usize,
        reach: Option<Reach>,
    ) -> Result<&'l [Planned<'c>], Sick> {
        let mut tally = self.tally();
        let mut batch = Batch::default();
        let mut sum = tally.digest;
        let (puts, before) = self.plan(changes, items_max)?;
        for (key, value, former) in puts {
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
            if tally.is_earlier {
                batch.remove(META_BEFORE);
            }
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
        tally.is_earlier &= reach.is_none();
        Ok(before)
    }

    /// What a batch does to the tree, and the changes before it. The last change says which block is next:
    /// the changes before it, down to where the block begins, belong there, too. So each block is looked for
    /// once, which takes sled longer than anything else in here.
    fn plan<'l, 'c>(
        &self,
        changes: &'l [Planned<'c>],
        items_max: usize,
    ) -> Result<(Vec<Put>, &'l [Planned<'c>]), Sick> {
        let tree = self.tree();
        let mut puts = Vec::new();
        let mut left = changes;
        while let Some((Space { id, .. }, key, _)) = left.last().filter(|_| puts.len() < items_max) {
            let item = item(&tree, *id, &main_key(*id, key))?;
            let mut changed = self.take_apart(item, *id)?;
            let in_block = |(space, key, _): &&Planned<'_>| {
                let (first, from) = changed.block.from().split_first().unwrap_or((id, &[]));
                space.id == *first && key.as_slice() >= from
            };
            let count = left.iter().rev().take_while(in_block).count();
            let (before, own) = left.split_at(left.len() - count);
            for (Space { id, .. }, key, value) in own {
                let (stored, chunks) = value.as_ref().map(|value| stored(value)).unzip();
                let chunks = chunks.unwrap_or_default();
                let former = changed.block.put(main_key(*id, key), stored);
                let former_chunks = former.map_or(0, |former| chunks_of(&former));
                for number in 0..former_chunks.max(length(chunks.len())) {
                    let key = chunk_key(*id, key, number);
                    let former = raw(&tree, &key)?;
                    puts.push((key, chunks.get(number as usize).map(|chunk| chunk.to_vec()), former));
                }
            }
            puts.extend(changed.into_puts());
            left = before;
        }
        Ok((puts, left))
    }

    /// The block that an item is; without one, the first block of the space.
    fn take_apart(&self, item: Option<Raw>, space: u8) -> Result<Changed, Sick> {
        let Some((from, former)) = item else {
            return Ok(Changed { block: Block::first(space), former: None });
        };
        let block = Block::parse(&from, &self.opened.known(former.clone())?)?;
        Ok(Changed { block, former: Some(former) })
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
        let page: Vec<Raw> = caught(|| {
            let items = self.tree().range(audit.from.as_slice()..).take(AUDIT_PAGE_ITEMS);
            items.collect::<sled::Result<_>>().map_err(text)
        })?;
        let Some((last, _)) = page.last() else {
            return Ok(Some(audit.sum == tally.digest));
        };
        audit.from = [last.as_ref(), &[0]].concat();
        let items = page.iter().filter(|(key, _)| !is_meta(key));
        audit.sum = items.fold(audit.sum, |sum, (key, value)| sum.wrapping_add(pair_hash(key, value)));
        tally.audit = Some(audit);
        Ok(None)
    }
}
