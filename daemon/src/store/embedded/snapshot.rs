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
use super::pins::before;
use super::shared::{Published, Shared};
use crate::store::engine::{Pair, Range, Space, View};
use crate::store::layer::Layer;
use mfa_shared::fault::Fault;
use std::sync::RwLockReadGuard;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Instant;

/// Pairs that are read in one look.
const LOOK_PAIRS: usize = 256;
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
