//! The order of a column.

use super::key::SortKey;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The order of a column beside the identifier.
#[derive(Debug, Default)]
pub struct Column {
    pub(super) name: String,
    /// The key of each slot.
    pub(super) keys: Vec<SortKey>,
    pub(super) order: Vec<u32>,
    /// When it was used last, counted in uses of columns.
    used: AtomicU64,
}

impl Column {
    /// A column with the key of each slot, in the order of the keys; equal ones in the given order.
    pub(super) fn sorted(name: &str, keys: Vec<SortKey>, mut order: Vec<u32>) -> Self {
        order.sort_by(|a, b| keys[*a as usize].cmp(&keys[*b as usize]));
        Self { name: name.to_owned(), keys, order, used: AtomicU64::default() }
    }

    /// Bytes in memory, what keys hold beside themselves left out.
    pub(super) fn bytes(&self) -> usize {
        self.keys.capacity() * size_of::<SortKey>() + self.order.capacity() * size_of::<u32>()
    }

    /// The key of a slot.
    pub(super) fn key(&self, slot: u32) -> &SortKey {
        &self.keys[slot as usize]
    }

    /// Notes that it is used; `uses` counts those of all columns.
    pub(super) fn note_use(&self, uses: &AtomicU64) {
        self.used.store(uses.fetch_add(1, Relaxed) + 1, Relaxed);
    }

    /// When it was used last.
    pub(super) fn used(&self) -> u64 {
        self.used.load(Relaxed)
    }
}
