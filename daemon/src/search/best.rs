//! The best finds of a search, of which only as many are kept as are wanted.

use super::line::{Candidate, is_behind};
use crate::domain::search::{Found, Rank};
use std::collections::BinaryHeap;

/// The best finds so far.
#[derive(Debug)]
pub(super) struct Best {
    limit: usize,
    /// The worst one first.
    finds: BinaryHeap<Found>,
}

impl Best {
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, finds: BinaryHeap::with_capacity(limit + 1) }
    }

    /// Keeps a find if it is among the best ones.
    pub(super) fn keep(&mut self, find: &Candidate<'_>) {
        if self.finds.len() < self.limit || self.finds.peek().is_some_and(|worst| find.is_before(worst)) {
            self.push(find.to_found());
        }
    }

    /// A line is looked at again where it contains several of the texts that are looked for.
    fn push(&mut self, find: Found) {
        if self.finds.iter().any(|kept| kept.kind == find.kind && kept.identifier == find.identifier) {
            return;
        }
        self.finds.push(find);
        if self.finds.len() > self.limit {
            self.finds.pop();
        }
    }

    /// Keeps the best of both.
    pub(super) fn join(&mut self, others: Self) {
        others.finds.into_iter().for_each(|find| self.push(find));
    }

    /// Whether no find of this rank in a line with this label can be among the best ones.
    pub(super) fn is_too_late(&self, rank: Rank, label: &[u8]) -> bool {
        let is_full = self.finds.len() == self.limit;
        is_full && self.finds.peek().is_some_and(|worst| is_behind(rank, label, worst))
    }

    /// All of them, best first.
    pub(super) fn into_sorted(self) -> Vec<Found> {
        self.finds.into_sorted_vec()
    }
}
