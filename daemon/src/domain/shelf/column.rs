//! The order of a column.

use super::key::SortKey;

/// The order of a column beside the identifier.
#[derive(Debug, Default)]
pub(super) struct Column {
    pub(super) name: String,
    /// The key of each slot.
    pub(super) keys: Vec<SortKey>,
    pub(super) order: Vec<u32>,
}

impl Column {
    /// Bytes in memory, what keys hold beside themselves left out.
    pub(super) fn bytes(&self) -> usize {
        self.keys.capacity() * size_of::<SortKey>() + self.order.capacity() * size_of::<u32>()
    }

    /// The key of a slot.
    pub(super) fn key(&self, slot: u32) -> &SortKey {
        &self.keys[slot as usize]
    }
}
