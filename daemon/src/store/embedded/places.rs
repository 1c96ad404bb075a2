//! The positions of some commits in the journal, for readers that begin in the middle.

use super::head::Position;

/// Places are noted this far apart.
const STEP_BYTES: u64 = 1024 * 1024;

/// The first commits of some frames and where these frames begin, ascending.
#[derive(Debug, Default)]
pub(super) struct Places(Vec<(u64, Position)>);

impl Places {
    /// Notes a frame, if it is far enough from the last one.
    pub(super) fn note(&mut self, first: u64, at: Position) {
        let far =
            |last: &(u64, Position)| last.1.segment != at.segment || at.offset >= last.1.offset + STEP_BYTES;
        if self.0.last().is_none_or(far) {
            self.0.push((first, at));
        }
    }

    /// These, and behind them the places of a later part of the journal.
    pub(super) fn then(mut self, later: Self) -> Self {
        self.0.extend(later.0);
        self
    }

    /// The last known place at or before a commit.
    pub(super) fn before(&self, sequence: u64) -> Option<Position> {
        let after = self.0.partition_point(|(first, _)| *first <= sequence);
        after.checked_sub(1).map(|at| self.0[at].1)
    }
}
