//! Reads of one moment, however long they take.
//!
//! A read begins by holding the gate: nothing is published meanwhile, and nearly every read is over before a
//! commit could notice. One that takes longer pins its moment and lets go of the gate. From then on every
//! group that is published leaves the former values of what it changes with each pin, and the read sees these
//! over what is published. So a read delays no write, a write delays no read, and without writes a long read
//! costs nothing but its own work.

use super::head::Head;
use super::index::Index;
use super::shared::{Published, Shared, unavailable};
use super::tree::Sick;
use crate::store::engine::{Pair, Range, Space, View};
use crate::store::layer::{Layer, Staged};
use mfa_shared::fault::Fault;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLockReadGuard};
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

/// What was changed since a moment, as it was then.
#[derive(Debug, Default)]
struct Former {
    values: Layer,
    /// Why no more of it is kept.
    ended: Option<Fault>,
}

impl Former {
    fn end(&mut self, why: &str) {
        self.values = Layer::default();
        self.ended.get_or_insert_with(|| unavailable(why));
    }
}

/// A moment that is being read.
#[derive(Debug)]
struct Pin {
    since: Instant,
    /// How often the watched spaces had changed by then.
    version: Option<u64>,
    /// Changed only while the gate is closed, read only while it is held.
    former: Mutex<Former>,
}

impl Pin {
    fn former(&self) -> MutexGuard<'_, Former> {
        self.former.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The moments that are being read, the oldest first.
#[derive(Debug, Default)]
pub(super) struct Pins {
    pins: Mutex<Vec<Arc<Pin>>>,
    count: AtomicUsize,
}

/// The keys of a group as they were before it.
type Before = Vec<(Space, Vec<u8>, Staged)>;

fn before(index: &Index, changes: &Layer) -> Result<Before, Sick> {
    changes.iter().map(|(space, key, _)| Ok((space, key.clone(), index.get(space, key)?))).collect()
}

impl Pins {
    fn pins(&self) -> MutexGuard<'_, Vec<Arc<Pin>>> {
        self.pins.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_any(&self) -> bool {
        self.count.load(SeqCst) > 0
    }

    /// Pins the present moment. The caller holds the gate.
    fn add(&self, version: Option<u64>) -> Arc<Pin> {
        let pin = Arc::new(Pin { since: Instant::now(), version, former: Mutex::default() });
        let mut pins = self.pins();
        pins.push(pin.clone());
        self.count.store(pins.len(), SeqCst);
        pin
    }

    fn remove(&self, gone: &Arc<Pin>) {
        let mut pins = self.pins();
        pins.retain(|pin| !Arc::ptr_eq(pin, gone));
        self.count.store(pins.len(), SeqCst);
    }

    /// Leaves former values with every pin that has none of the key yet. The gate is closed.
    fn keep(&self, before: Result<Before, Sick>, bounds: &Bounds) {
        let before = match before {
            Ok(before) => before,
            Err(why) => {
                let end = |pin: &Arc<Pin>| pin.former().end(&format!("the moment could not be kept: {why}"));
                return self.pins().iter().for_each(end);
            }
        };
        let mut bytes = 0;
        for pin in self.pins().iter().rev() {
            let mut former = pin.former();
            if former.ended.is_some() {
                continue;
            }
            for (space, key, value) in &before {
                former.values.put_if_new(*space, key, value);
            }
            bytes += former.values.bytes();
            if pin.since.elapsed() > bounds.age {
                former.end(&format!(
                    "the read takes more than {} seconds while others write: {ASK_FOR_LESS}",
                    bounds.age.as_secs()
                ));
            } else if bytes > bounds.bytes {
                former.end(&format!(
                    "so much is written beside the read that its moment cannot be kept: {ASK_FOR_LESS}"
                ));
            }
        }
    }

    /// Bytes of the former values.
    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        self.pins().iter().map(|pin| pin.former().values.bytes()).sum()
    }
}

impl Shared {
    /// Shows a group, which goes up to `head`, to readers, but not to those who read an earlier moment.
    pub(super) fn publish(&self, changes: &Layer, head: Head) {
        let watched = changes.touches(self.watched);
        // No one else publishes, so this is looked up before the gate is closed.
        let former = self.pins.is_any().then(|| before(&self.index, changes));
        let staged = changes.to_changes().collect();
        let mut gate = self.gate.write().unwrap_or_else(PoisonError::into_inner);
        #[cfg(not(test))]
        let kept = true;
        #[cfg(test)]
        let kept = !self.disk.flaws().moments_not_kept;
        // Another read may have pinned this moment in between.
        if kept && self.pins.is_any() {
            let former = former.unwrap_or_else(|| before(&self.index, changes));
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
    /// On a moment that may have passed.
    Pinned(Arc<Pin>),
}

/// A read of one moment.
pub(super) struct Snapshot<'a> {
    shared: &'a Shared,
    stand: Stand<'a>,
}

impl<'a> Snapshot<'a> {
    /// Of the present moment.
    pub(super) fn new(shared: &'a Shared) -> Self {
        let gate = shared.hold();
        Self { shared, stand: Stand::Held { _gate: gate, since: Instant::now() } }
    }

    /// One look at the moment, with what was changed since.
    fn look<T>(
        &mut self,
        look: impl FnOnce(&mut Published<'_>, &Layer) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let mut published = Published(self.shared);
        match &self.stand {
            Stand::Held { since, .. } => {
                let seen = look(&mut published, &Layer::default());
                if since.elapsed() > self.shared.bounds.hold {
                    self.let_go();
                }
                seen
            }
            Stand::Pinned(pin) => {
                let _gate = self.shared.hold();
                let former = pin.former();
                match &former.ended {
                    Some(fault) => Err(fault.clone()),
                    None => look(&mut published, &former.values),
                }
            }
        }
    }
}

impl Drop for Snapshot<'_> {
    fn drop(&mut self) {
        if let Stand::Pinned(pin) = &self.stand {
            self.shared.pins.remove(pin);
        }
    }
}

impl View for Snapshot<'_> {
    fn get(&mut self, space: Space, key: &[u8]) -> Result<Option<Vec<u8>>, Fault> {
        self.look(|published, former| match former.get(space, key) {
            Some(value) => Ok(value.clone()),
            None => published.get(space, key),
        })
    }

    fn scan(&mut self, space: Space, range: &Range, reverse: bool, limit: usize) -> Result<Vec<Pair>, Fault> {
        let mut left = range.clone();
        let mut found = Vec::new();
        loop {
            let wanted = LOOK_PAIRS.min(limit - found.len());
            let page = self.look(|published, former| {
                let mut below = |range: &Range, limit: usize| published.scan(space, range, reverse, limit);
                former.scan(space, &left, reverse, wanted, &mut below)
            })?;
            let ended = page.len() < wanted;
            found.extend(page);
            let Some((last, _)) = found.last().filter(|_| !ended && found.len() < limit) else {
                return Ok(found);
            };
            left.pass(last, reverse);
        }
    }

    fn let_go(&mut self) {
        if matches!(self.stand, Stand::Held { .. }) {
            // The gate is let go of only when this has taken its place.
            self.stand = Stand::Pinned(self.shared.pins.add(Published(self.shared).version()));
        }
    }

    fn watched(&self) -> &'static [Space] {
        self.shared.watched
    }

    fn version(&mut self) -> Option<u64> {
        match &self.stand {
            Stand::Held { .. } => Published(self.shared).version(),
            Stand::Pinned(pin) => pin.version,
        }
    }
}
