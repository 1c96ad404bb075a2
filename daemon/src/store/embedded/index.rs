//! The index: what serves every read. It is a tree of sled, and over it, in memory, what was published
//! lately.
//!
//! To publish is to put changes into memory. They go into the tree later, many groups at once and beside
//! readers and writer: a record that changes all the time is then written there once. Until all of them are
//! in the tree, memory takes precedence over it, so no one sees the tree while it changes.

use super::head::Head;
use super::pairs::{Pairs, Planned};
use super::reach::Reach;
use super::tree::Sick;
use crate::store::engine::{Change, Pair, Range, Space};
use crate::store::layer::Layer;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::thread;
use std::time::Instant;

/// Items of the tree in a batch, of at most some thousand bytes each. Readers of the tree wait for a batch,
/// so it is short. Each one also costs two writes to the disk and wakes all threads of sled, so it is longer
/// where changes come faster than short ones go into the tree.
const BATCH_ITEMS: usize = 32;
const LONG_BATCH_ITEMS: usize = 256;
/// Keys in memory that a scan copies at once.
const COPIED_KEYS_MAX: usize = 512;
/// What is in memory at most, besides its keys, until it begins to go into the tree.
const RECENT_BYTES_MAX: usize = 32 * 1024 * 1024;
/// The writer waits for the tree when there is so many times as much.
const BEHIND_MAX: usize = 2;
/// What the file of the tree grows by at most, measured with keys in order and by chance, values of 0 to
/// 3,900 bytes that do not compress, and small changes in full blocks: for each byte and for each key that
/// goes into it, and besides.
const GROWTH_PER_BYTE: usize = 3;
const GROWTH_PER_KEY: usize = 2_048;
const GROWTH_BYTES: usize = 4 * 1024 * 1024;
/// For so many keys, or not many more bytes, space is taken at once.
const PART_KEYS: usize = 2_048;
const PART_BYTES: usize = 4 * 1024 * 1024;

/// What was published lately.
#[derive(Debug, Default)]
struct Recent {
    /// The last of it.
    fresh: Layer,
    /// What is on its way into the tree, and the commit up to which that goes.
    leaving: Option<(Arc<Layer>, Head)>,
}

/// The index of an open store.
#[derive(Debug)]
pub(super) struct Index {
    pub(super) pairs: Pairs,
    recent: RwLock<Recent>,
    /// Locked while changes go into the tree. Holds why that has failed; there is no retry then, because it
    /// is unknown what the tree contains and whether its sum is right.
    settling: Mutex<Option<Sick>>,
    /// Space on the disk without which nothing more goes into the tree.
    wanted_bytes: AtomicU64,
    keys_max: usize,
    /// Whether the store is closing, so that there is nobody to give way to.
    closing: AtomicBool,
    /// Whether something is in the tree; once that is so, nobody asks the tree, which may be busy.
    used: AtomicBool,
}

/// The last changes, for which space is taken at once, behind those before them.
fn last_part<'l, 'c>(changes: &'l [Planned<'c>]) -> (&'l [Planned<'c>], &'l [Planned<'c>]) {
    let mut sum = 0;
    let fits = |(_, key, value): &&Planned<'c>| {
        let before = sum;
        sum += key.len() + value.as_ref().map_or(0, Vec::len);
        before < PART_BYTES
    };
    let keys = changes.iter().rev().take(PART_KEYS).take_while(fits).count();
    changes.split_at(changes.len() - keys)
}

impl Index {
    /// Over a tree that is up to date. When `keys_max` keys have changed, it is brought up to date again.
    pub(super) fn new(pairs: Pairs, keys_max: usize) -> Self {
        Self {
            pairs,
            recent: RwLock::default(),
            settling: Mutex::default(),
            wanted_bytes: AtomicU64::new(GROWTH_BYTES as u64),
            keys_max,
            closing: AtomicBool::new(false),
            used: AtomicBool::new(false),
        }
    }

    /// Whether nothing has gone into the tree yet.
    pub(super) fn is_unused(&self) -> bool {
        if self.used.load(SeqCst) {
            return false;
        }
        let unused = self.pairs.reach().is_some_and(|reach| reach.head.sequence == 0);
        self.used.store(!unused, SeqCst);
        unused
    }

    /// Everything goes into the tree as fast as it can from now on.
    pub(super) fn begin_closing(&self) {
        self.closing.store(true, SeqCst);
    }

    fn recent(&self) -> RwLockReadGuard<'_, Recent> {
        self.recent.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn recent_mut(&self) -> RwLockWriteGuard<'_, Recent> {
        self.recent.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// The value of a key.
    pub(super) fn get(&self, space: Space, key: &[u8]) -> Result<Option<Vec<u8>>, Sick> {
        let recent = self.recent();
        let leaving = || recent.leaving.as_ref()?.0.get(space, key);
        if let Some(value) = recent.fresh.get(space, key).or_else(leaving) {
            return Ok(value.clone());
        }
        // The tree may have to wait for the disk, and nothing is published while memory is held.
        drop(recent);
        self.pairs.get(space, key)
    }

    /// At most `limit` pairs of a range. What is published meanwhile may be among them; who must not see that
    /// holds the gate, or puts the former values over what is found.
    pub(super) fn scan(
        &self,
        space: Space,
        range: &Range,
        reverse: bool,
        limit: usize,
    ) -> Result<Vec<Pair>, Sick> {
        let mut left = range.clone();
        let mut found = Vec::new();
        loop {
            let wanted = limit - found.len();
            let recent = self.recent();
            let (fresh, part) = recent.fresh.part(space, &left, reverse, wanted.min(COPIED_KEYS_MAX));
            // What leaves memory later is still here, so nothing is missed on its way into the tree.
            let leaving = recent.leaving.as_ref().map(|(leaving, _)| leaving.clone());
            drop(recent);
            let mut tree = |range: &Range, limit: usize| self.pairs.scan(space, range, reverse, limit);
            let mut below = |range: &Range, limit: usize| match &leaving {
                Some(leaving) => leaving.scan(space, range, reverse, limit, &mut tree),
                None => tree(range, limit),
            };
            found.extend(fresh.scan(space, &part, reverse, wanted, &mut below)?);
            if part == left || found.len() == limit {
                return Ok(found);
            }
            left.pass_all(part, reverse);
        }
    }

    /// Shows changes to readers.
    pub(super) fn publish(&self, changes: Vec<Change>) {
        let mut recent = self.recent_mut();
        for change in changes {
            recent.fresh.put(change);
        }
    }

    /// Whether so much is in memory that it should go into the tree.
    pub(super) fn is_full(&self) -> bool {
        self.is_behind(1)
    }

    /// Whether the tree is so far behind that the writer has to wait for it.
    pub(super) fn is_overfull(&self) -> bool {
        self.is_behind(BEHIND_MAX)
    }

    fn is_behind(&self, times: usize) -> bool {
        let fresh = &self.recent().fresh;
        fresh.len() > self.keys_max * times || fresh.bytes() > RECENT_BYTES_MAX * times
    }

    /// Whether something can go into the tree, of the `room` that the disk has.
    pub(super) fn can_settle(&self, room: u64) -> bool {
        self.pairs.take_space(self.wanted_bytes.load(SeqCst), room)
    }

    /// Sends what was published, which goes up to `head`, on its way into the tree, unless something else
    /// still is. Says whether there is something new to settle. The caller holds the gate.
    pub(super) fn send_off(&self, head: Head) -> bool {
        let mut recent = self.recent_mut();
        if recent.leaving.is_some() || recent.fresh.is_empty() {
            return false;
        }
        recent.leaving = Some((Arc::new(std::mem::take(&mut recent.fresh)), head));
        true
    }

    /// Whether changes are on their way into the tree, but no one is settling them.
    pub(super) fn is_stuck(&self) -> bool {
        self.recent().leaving.is_some() && self.settling.try_lock().is_ok()
    }

    /// Brings what was sent off into the tree, and says whether all of it is there: the disk may have no
    /// `room` for it now. Memory has it until then, so readers see nothing of that, or of a failure.
    pub(super) fn settle(&self, room: impl Fn() -> u64) -> Result<bool, Sick> {
        let mut failed = self.settling.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(why) = &*failed {
            return Err(why.clone());
        }
        let Some((layer, head)) = self.recent().leaving.clone() else { return Ok(true) };
        let brought = self.bring(&layer, head, room);
        match &brought {
            Ok(true) => self.recent_mut().leaving = None,
            Ok(false) => {}
            Err(why) => *failed = Some(why.clone()),
        }
        brought
    }

    fn bring(&self, layer: &Layer, head: Head, room: impl Fn() -> u64) -> Result<bool, Sick> {
        // A tree of an open store is finished, so it says how far it goes.
        let before = self.pairs.reach().map_or(head, |reach| reach.head);
        let all: Vec<Planned<'_>> = layer.iter().collect();
        let mut left = all.as_slice();
        while !left.is_empty() {
            let (before_it, part) = last_part(left);
            left = before_it;
            let bytes = part.iter().map(|(_, _, value)| value.as_ref().map_or(0, Vec::len)).sum::<usize>();
            let grows = bytes * GROWTH_PER_BYTE + part.len() * GROWTH_PER_KEY + GROWTH_BYTES;
            self.wanted_bytes.store(grows as u64, SeqCst);
            if !self.can_settle(room()) {
                return Ok(false);
            }
            let on_the_way = Reach { head: before, until: head.sequence };
            let mut rest = part;
            while !rest.is_empty() {
                let hurry = self.is_full() || self.closing.load(SeqCst);
                let items = if hurry { LONG_BATCH_ITEMS } else { BATCH_ITEMS };
                let begun = Instant::now();
                rest = self.pairs.apply_last(rest, items, Some(on_the_way))?;
                // As long as memory has room, others get as much of the processors and of the tree.
                if !hurry {
                    thread::sleep(begun.elapsed());
                }
            }
        }
        self.wanted_bytes.store(GROWTH_BYTES as u64, SeqCst);
        self.pairs.apply(&Layer::default(), Some(Reach::exactly(head)))?;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::embedded::codec::Hash;
    use crate::store::embedded::head::Position;

    const SPACE: Space = Space { id: 7, name: "things" };
    /// Of a part for which space is taken, and of some that are left for another one.
    const KEYS: usize = PART_KEYS + 777;
    const LONG_BYTES: usize = 512 * 1024;

    fn changes(keys: usize) -> Vec<Change> {
        let value = |number: usize| Some(vec![7; if number.is_multiple_of(100) { LONG_BYTES } else { 9 }]);
        let change = |number: usize| Change {
            space: SPACE,
            key: (number as u64).to_be_bytes().to_vec(),
            value: value(number),
        };
        (0..keys).map(change).collect()
    }

    #[test]
    fn all_that_leaves_memory_is_in_the_tree_after_short_and_after_long_batches() {
        for (more, closing) in [(0, false), (20, false), (0, true)] {
            let folder = tempfile::tempdir().unwrap();
            let index = Index::new(Pairs::open(folder.path(), 1 << 20).unwrap(), 10);
            let head = Head { sequence: 1, hash: Hash::default(), at: Position { segment: 1, offset: 0 } };
            index.publish(changes(KEYS));
            assert!(index.send_off(head));
            index.publish(changes(more));
            if closing {
                index.begin_closing();
            }
            assert_eq!(index.is_full(), more > 0);
            assert_eq!(index.settle(|| u64::MAX), Ok(true));
            for Change { space, key, value } in changes(KEYS) {
                assert_eq!(index.pairs.get(space, &key).unwrap(), value, "{key:?} {more} {closing}");
            }
            assert_eq!(index.pairs.reach(), Some(Reach::exactly(head)));
            assert!(index.pairs.audit().unwrap());
        }
    }

    fn layer(changes: Vec<Change>) -> Layer {
        let mut layer = Layer::default();
        changes.into_iter().for_each(|change| drop(layer.put(change)));
        layer
    }

    #[test]
    fn space_is_taken_for_so_many_of_the_last_changes_or_for_so_many_bytes() {
        let short = Layer::default();
        assert!(last_part(&short.iter().collect::<Vec<_>>()).1.is_empty());
        let layer = layer(changes(KEYS));
        let all: Vec<_> = layer.iter().collect();
        let (before, part) = last_part(&all);
        // Eight long values, the first of which begins below the bound, are as many bytes as that.
        let first_long =
            all.iter().rev().filter(|(_, _, value)| value.as_ref().unwrap().len() > 9).nth(7).unwrap();
        assert_eq!(part.first().unwrap().1, first_long.1);
        assert_eq!(before.len() + part.len(), KEYS);
        let plain: Vec<_> = (0..KEYS as u64).map(|number| number.to_be_bytes().to_vec()).collect();
        let value = Some(vec![7; 9]);
        let plain: Vec<_> = plain.iter().map(|key| (SPACE, key, &value)).collect();
        assert_eq!(last_part(&plain).1.len(), PART_KEYS);
    }

    #[test]
    fn a_batch_takes_the_last_changes_up_to_where_a_block_begins() {
        let folder = tempfile::tempdir().unwrap();
        let pairs = Pairs::open(folder.path(), 1 << 20).unwrap();
        let number = |changes: &[Planned<'_>]| changes.len();
        let plain = |step: u64, value: u8| -> Vec<Change> {
            let key = |number: u64| (number * step).to_be_bytes().to_vec();
            (0..400 / step)
                .map(|number| Change { space: SPACE, key: key(number), value: Some(vec![value; 9]) })
                .collect()
        };
        let first = layer(plain(4, 1));
        let all: Vec<_> = first.iter().collect();
        assert_eq!(number(pairs.apply_last(&all, 1, None).unwrap()), 0, "there is one block for all of them");
        let second = layer(plain(1, 2));
        let all: Vec<_> = second.iter().collect();
        let mut left = all.as_slice();
        let mut batches = Vec::new();
        while !left.is_empty() {
            let before = pairs.apply_last(left, 1, None).unwrap();
            batches.push(left.len() - before.len());
            left = before;
        }
        // The last block of the hundred had the four that were left, and the others 32 each.
        assert_eq!(batches, [16, 128, 128, 128]);
        assert!(second.iter().all(|(_, key, value)| pairs.get(SPACE, key).unwrap() == *value));
    }
}
