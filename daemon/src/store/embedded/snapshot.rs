//! Reads of one moment, however long they take.
//!
//! A read of a record begins by holding the gate: nothing is published meanwhile, and nearly every read is
//! over before a commit could notice. One that takes longer pins its moment and lets go of the gate; a list,
//! whose thread gives way to others and must never be waited for, does so at once. From then on every group
//! that is published leaves the former values of what it changes with the youngest pinned moment; a read
//! sees those of its own moment and of all younger ones, the oldest first, over what is published. So a read
//! delays no write, a write delays no read, and without writes a long read costs nothing but its own work.

use super::gap::{PATIENCE, between_readers};
use super::head::Head;
use super::index::Index;
use super::shared::{Published, Shared, unavailable};
use super::tree::Sick;
use crate::store::engine::{Pair, Range, Space, View};
use crate::store::layer::{Layer, Staged};
use mfa_shared::fault::Fault;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLockReadGuard};
use std::time::{Duration, Instant};

/// Pairs that are read in one look.
const LOOK_PAIRS: usize = 256;
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
type Before = Vec<(Space, Vec<u8>, Staged)>;

fn before(index: &Index, changes: &Layer) -> Result<Before, Sick> {
    changes.iter().map(|(space, key, _)| Ok((space, key.clone(), index.get(space, key)?))).collect()
}

impl Pins {
    fn moments(&self) -> MutexGuard<'_, Moments> {
        self.moments.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_any(&self) -> bool {
        self.count.load(SeqCst) > 0
    }

    /// Pins the present moment. The caller holds the gate.
    fn add(&self) -> u64 {
        let mut moments = self.moments();
        moments.pinned += 1;
        let number = moments.pinned;
        moments.all.push(Moment { number, since: Instant::now(), former: Layer::default(), ended: None });
        self.count.store(moments.all.len(), SeqCst);
        number
    }

    /// Lets a moment go; the next older one still needs what was kept with it.
    fn remove(&self, number: u64) {
        let mut moments = self.moments();
        let at = moments.all.partition_point(|moment| moment.number < number);
        let gone = moments.all.remove(at);
        let older = at.checked_sub(1).and_then(|at| moments.all.get_mut(at));
        if let Some(older) = older.filter(|older| older.ended.is_none()) {
            older.former.put_below(gone.former);
        }
        self.count.store(moments.all.len(), SeqCst);
    }

    /// What a key had at a moment, if it was changed since.
    fn value(&self, number: u64, space: Space, key: &[u8]) -> Result<Option<Staged>, Fault> {
        let moments = self.moments();
        Ok(moments.since(number)?.iter().find_map(|moment| moment.former.get(space, key)).cloned())
    }

    /// What was changed in a range since a moment, as it was then.
    fn values(&self, number: u64, space: Space, range: &Range) -> Result<Layer, Fault> {
        let moments = self.moments();
        let mut values = Layer::default();
        for moment in moments.since(number)? {
            moment.former.range(space, range).for_each(|(key, value)| values.put_if_new(space, key, value));
        }
        Ok(values)
    }

    /// Leaves former values with the youngest moment, unless it has some of the key. The gate is closed.
    fn keep(&self, before: Result<Before, Sick>, bounds: &Bounds) {
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

impl Shared {
    /// Shows a group, which goes up to `head`, to readers, but not to those who read an earlier moment.
    pub(super) fn publish(&self, changes: &Layer, head: Head) {
        let watched = changes.touches(self.watched);
        let staged = changes.to_changes().collect();
        #[cfg(not(test))]
        let kept = true;
        #[cfg(test)]
        let kept = !self.disk.flaws().moments_not_kept;
        let mut former = None;
        // No one else publishes, so former values are looked up while the gate is open.
        let mut gate = loop {
            if kept && former.is_none() && self.pins.is_any() {
                former = Some(before(&self.index, changes));
            }
            let gate = between_readers(&self.gate, PATIENCE);
            // Another read may have pinned this moment in between.
            if !kept || former.is_some() || !self.pins.is_any() {
                break gate;
            }
        };
        if let Some(former) = former {
            self.pins.keep(former, &self.bounds);
        }
        self.index.publish(staged);
        if watched {
            self.version.fetch_add(1, SeqCst);
        }
        *gate = head;
    }
}

/// What a read is based on.
enum Stand<'a> {
    /// On what is published, which does not change while the gate is held.
    Held { _gate: RwLockReadGuard<'a, Head>, since: Instant },
    /// On a moment that may have passed, and how often the watched spaces had changed by then.
    Pinned { number: u64, version: Option<u64> },
}

/// A read of one moment.
pub(super) struct Snapshot<'a> {
    shared: &'a Shared,
    stand: Stand<'a>,
}

/// The part of a range in which there are these pairs and no others, of `wanted` at most.
fn seen(range: &Range, pairs: &[Pair], wanted: usize, reverse: bool) -> Range {
    let mut part = range.clone();
    if let Some((last, _)) = pairs.last().filter(|_| pairs.len() == wanted) {
        part.end_with(last, reverse);
    }
    part
}

impl<'a> Snapshot<'a> {
    /// Of the present moment.
    pub(super) fn new(shared: &'a Shared) -> Self {
        let gate = shared.hold();
        Self { shared, stand: Stand::Held { _gate: gate, since: Instant::now() } }
    }

    /// Of the present moment, for a read that no one shall ever wait for.
    pub(super) fn pinned(shared: &'a Shared) -> Self {
        let mut snapshot = Self::new(shared);
        snapshot.let_go();
        snapshot
    }

    /// A look at what is published while the gate is held.
    fn held<T>(
        &mut self,
        since: Instant,
        look: impl FnOnce(&mut Published<'_>) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let seen = look(&mut Published(self.shared));
        if since.elapsed() > self.shared.bounds.hold {
            self.let_go();
        }
        seen
    }

    /// Pairs of the next part of a range, at most `limit`, and that part. What is published is looked at
    /// first: whatever comes into it until the former values are looked at is among these.
    fn part(
        &self,
        number: u64,
        space: Space,
        left: &Range,
        reverse: bool,
        limit: usize,
    ) -> Result<(Vec<Pair>, Range), Fault> {
        let wanted = LOOK_PAIRS.min(limit);
        let page = Published(self.shared).scan(space, left, reverse, wanted)?;
        let part = seen(left, &page, wanted, reverse);
        let former = self.shared.pins.values(number, space, &part)?;
        if former.is_empty() {
            return Ok((page, part));
        }
        let mut below = |range: &Range, limit: usize| {
            Ok(page.iter().filter(|(key, _)| range.has(key)).take(limit).cloned().collect())
        };
        Ok((former.scan(space, &part, reverse, limit, &mut below)?, part))
    }
}

impl Drop for Snapshot<'_> {
    fn drop(&mut self) {
        if let Stand::Pinned { number, .. } = self.stand {
            self.shared.pins.remove(number);
        }
    }
}

impl View for Snapshot<'_> {
    fn get(&mut self, space: Space, key: &[u8]) -> Result<Option<Vec<u8>>, Fault> {
        match self.stand {
            Stand::Held { since, .. } => self.held(since, |published| published.get(space, key)),
            Stand::Pinned { number, .. } => {
                // In this order: what is published in between has left its former value.
                let value = Published(self.shared).get(space, key)?;
                Ok(self.shared.pins.value(number, space, key)?.unwrap_or(value))
            }
        }
    }

    fn scan(&mut self, space: Space, range: &Range, reverse: bool, limit: usize) -> Result<Vec<Pair>, Fault> {
        let mut left = range.clone();
        let mut found = Vec::new();
        while !left.is_empty() && found.len() < limit {
            let wanted = limit - found.len();
            let (pairs, part) = match self.stand {
                Stand::Pinned { number, .. } => self.part(number, space, &left, reverse, wanted)?,
                Stand::Held { since, .. } => {
                    let wanted = LOOK_PAIRS.min(wanted);
                    let page = self.held(since, |published| published.scan(space, &left, reverse, wanted))?;
                    let part = seen(&left, &page, wanted, reverse);
                    (page, part)
                }
            };
            found.extend(pairs);
            if part == left {
                break;
            }
            left.pass_all(part, reverse);
        }
        Ok(found)
    }

    fn let_go(&mut self) {
        if matches!(self.stand, Stand::Held { .. }) {
            // The gate is let go of only when this has taken its place.
            let version = Published(self.shared).version();
            self.stand = Stand::Pinned { number: self.shared.pins.add(), version };
        }
    }

    fn watched(&self) -> &'static [Space] {
        self.shared.watched
    }

    fn version(&mut self) -> Option<u64> {
        match self.stand {
            Stand::Held { .. } => Published(self.shared).version(),
            Stand::Pinned { version, .. } => version,
        }
    }
}
