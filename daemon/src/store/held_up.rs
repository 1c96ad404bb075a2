//! What a transaction waits for once it has ended, to begin again.

use super::limits::Time;
use crate::clock::Deadline;
use crate::domain::named_locks::Unlocked;
use mfa_shared::fault::Fault;

/// The work of somebody else that a transaction has to wait for, and how long it may.
#[derive(Debug)]
pub(super) struct HeldUp {
    pub(super) unlocked: Unlocked,
    pub(super) time: Option<Time>,
}

impl HeldUp {
    /// Waits until that work is done, or refuses to wait any longer. Until when it could have waited.
    pub(super) async fn over(self) -> Result<Option<Deadline>, Fault> {
        let Self { unlocked, time } = self;
        match time {
            None => unlocked.await,
            Some(time) => {
                let waited = tokio::time::timeout(time.deadline.left(), unlocked).await;
                waited.map_err(|_| time.passed())?;
            }
        }
        Ok(time.map(|time| time.deadline))
    }
}
