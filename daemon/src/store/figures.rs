//! What an engine counts and measures about itself, for monitoring.

use crate::count::Counted;
use mfa_shared::time::Timestamp;

/// Bounds of the duration of a commit, in microseconds: a fast disk syncs in less than one millisecond.
pub(super) const COMMIT_MICROS: &[u64] = &[
    250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000,
    10_000_000,
];

/// The figures of an engine.
#[derive(Debug, Clone)]
pub struct Figures {
    /// How long commits took, in microseconds.
    pub commits: Counted,
    /// Transactions that wait.
    pub waiting: u64,
    /// What only one kind of engine has.
    pub own: Own,
}

/// What only one kind of engine has.
#[derive(Debug, Clone)]
pub enum Own {
    /// The embedded engine.
    Embedded {
        /// How many transactions became durable together.
        groups: Counted,
        /// Size of the journal, if the disk says it.
        journal_bytes: Option<u64>,
        /// Size of the index on the disk, if the disk says it.
        index_bytes: Option<u64>,
        /// What the journal has grown by since a checkpoint was made, or could not be made.
        grown_bytes: u64,
        /// Growth at which the next checkpoint is made.
        growth_bytes_max: u64,
        /// When the last checkpoint was made, if there is one.
        checkpoint: Option<Timestamp>,
    },
    /// PostgreSQL.
    Postgres {
        /// Messages that were sent and answered.
        round_trips: u64,
        /// Transactions that were retried after a conflict.
        retries: u64,
        /// Connections at present.
        connections: u64,
    },
}
