//! The moments that are being read, with the values that were changed since.

use super::index::Index;
use super::refusal::unavailable;
use super::tree::Sick;
use crate::store::engine::{Range, Space};
use crate::store::layer::{Layer, Staged};
use mfa_shared::fault::Fault;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What a caller can do whose moment was not kept.
const ASK_FOR_LESS: &str = "ask for a page or a shorter period, or export";

/// What a read may cost others.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// It holds the gate for no longer than this and one look.
    pub hold: Duration,
    /// Its moment is kept for so long.
    pub age: Duration,
    /// The former values that are kept for all reads are at most so many bytes.
    pub bytes: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        let hold = Duration::from_millis(1);
        let age = Duration::from_secs(60);
        Self { hold, age, bytes: 128 * 1024 * 1024 }
    }
}

/// A moment that is being read.
#[derive(Debug)]
struct Moment {
    number: u64,
    since: Instant,
    /// What was changed before the next younger moment, as it was then.
    former: Layer,
    /// Why no more of it is kept.
    ended: Option<Fault>,
}

impl Moment {
    fn end(&mut self, why: &str) {
        self.former = Layer::default();
        self.ended.get_or_insert_with(|| unavailable(why));
    }
}

/// The moments that are being read, the oldest first.
#[derive(Debug, Default)]
struct Moments {
    all: Vec<Moment>,
    /// How many there were.
    pinned: u64,
}

impl Moments {
    /// Those that a read of one of them sees, its own first.
    fn since(&self, number: u64) -> Result<&[Moment], Fault> {
        let at = self.all.partition_point(|moment| moment.number < number);
        let since = self.all.get(at..).unwrap_or_default();
        since.first().and_then(|own| own.ended.clone()).map_or(Ok(since), Err)
    }
}

/// What is kept for reads.
#[derive(Debug, Default)]
pub(super) struct Pins {
    moments: Mutex<Moments>,
    count: AtomicUsize,
}

/// The keys of a group as they were before it.
pub(super) type Before = Vec<(Space, Vec<u8>, Staged)>;

/// What a group changes, as it was before.
pub(super) fn before(index: &Index, changes: &Layer) -> Result<Before, Sick> {
    changes.iter().map(|(space, key, _)| Ok((space, key.clone(), index.get(space, key)?))).collect()
}

impl Pins {
    fn moments(&self) -> MutexGuard<'_, Moments> {
        self.moments.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn is_any(&self) -> bool {
        self.count.load(SeqCst) > 0
    }

    /// Pins the present moment. The caller holds the gate.
    pub(super) fn add(&self) -> u64 {
        let mut moments = self.moments();
        moments.pinned += 1;
        let number = moments.pinned;
        moments.all.push(Moment { number, since: Instant::now(), former: Layer::default(), ended: None });
        self.count.store(moments.all.len(), SeqCst);
        number
    }

    /// Lets a moment go; the next older one still needs what was kept with it.
    pub(super) fn remove(&self, number: u64) {
        let mut moments = self.moments();
        let at = moments.all.partition_point(|moment| moment.number < number);
        let mut gone = moments.all.remove(at);
        let older = at.checked_sub(1).and_then(|at| moments.all.get_mut(at));
        if let Some(older) = older.filter(|older| older.ended.is_none()) {
            older.former.put_below(std::mem::take(&mut gone.former));
        }
        self.count.store(moments.all.len(), SeqCst);
        // To free many values takes longer than a publication may wait.
        drop(moments);
        drop(gone);
    }

    /// What a key had at a moment, if it was changed since.
    pub(super) fn value(&self, number: u64, space: Space, key: &[u8]) -> Result<Option<Staged>, Fault> {
        let moments = self.moments();
        Ok(moments.since(number)?.iter().find_map(|moment| moment.former.get(space, key)).cloned())
    }

    /// What was changed in a range since a moment, as it was then.
    pub(super) fn values(&self, number: u64, space: Space, range: &Range) -> Result<Layer, Fault> {
        let moments = self.moments();
        let mut values = Layer::default();
        for moment in moments.since(number)? {
            moment.former.range(space, range).for_each(|(key, value)| values.put_if_new(space, key, value));
        }
        Ok(values)
    }

    /// Leaves former values with the youngest moment, unless it has some of the key. The gate is closed.
    pub(super) fn keep(&self, before: Result<Before, Sick>, bounds: &Bounds) {
        let mut moments = self.moments();
        let before = match before {
            Ok(before) => before,
            Err(why) => {
                let why = format!("the moment could not be kept: {why}");
                return moments.all.iter_mut().for_each(|moment| moment.end(&why));
            }
        };
        if let Some(youngest) = moments.all.last_mut().filter(|youngest| youngest.ended.is_none()) {
            before.iter().for_each(|(space, key, value)| youngest.former.put_if_new(*space, key, value));
        }
        let mut bytes = 0;
        let mut ends = None;
        for moment in moments.all.iter_mut().rev() {
            bytes += moment.former.bytes();
            if moment.since.elapsed() > bounds.age {
                ends.get_or_insert_with(|| {
                    let age = bounds.age.as_secs();
                    format!("the read takes more than {age} seconds while others write: {ASK_FOR_LESS}")
                });
            } else if bytes > bounds.bytes {
                ends.get_or_insert_with(|| {
                    format!(
                        "so much is written beside the read that its moment cannot be kept: {ASK_FOR_LESS}"
                    )
                });
            }
            // Those that are older need what was kept with this one.
            if let Some(why) = &ends {
                moment.end(why);
            }
        }
    }

    /// Bytes of the former values.
    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        self.moments().all.iter().map(|moment| moment.former.bytes()).sum()
    }
}
