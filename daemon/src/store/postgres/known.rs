//! The commits that a daemon knows to be there, by which it notices that a server lacks some. A server that
//! takes over gives the same numbers again, so a commit is known by its moment and its request as well.

use super::statements::LACKING;
use mfa_shared::time::Timestamp;
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;
use tokio_postgres::{Client, Error};

/// How many are kept, and asked for: commits become durable in another order than that of their numbers.
const KEPT_MAX: usize = 16;

/// A commit of the journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Known {
    pub(super) sequence: i64,
    pub(super) time: SystemTime,
    pub(super) request: String,
}

/// The last commits that were acknowledged or seen.
#[derive(Debug, Default)]
pub(super) struct KnownCommits(Mutex<VecDeque<Known>>);

impl KnownCommits {
    /// Notes a commit that is there to stay.
    pub(super) fn note(&self, commit: Known) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.contains(&commit) {
            return;
        }
        kept.push_back(commit);
        if kept.len() > KEPT_MAX {
            kept.pop_front();
        }
    }

    /// Which of them a server lacks, in words.
    pub(super) async fn lacking(&self, client: &Client) -> Result<Option<String>, Error> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let sequences: Vec<i64> = kept.iter().map(|known| known.sequence).collect();
        let times: Vec<SystemTime> = kept.iter().map(|known| known.time).collect();
        let requests: Vec<&str> = kept.iter().map(|known| known.request.as_str()).collect();
        let row = client.query_opt(LACKING, &[&sequences, &times, &requests]).await?;
        Ok(row.map(|row| {
            let (time, request): (SystemTime, String) = (row.get(0), row.get(1));
            format!(
                "the database has lost changes that were acknowledged: that of request {request} at {} is no \
                 longer in its journal, as after a failover to a server that did not have it. Start the \
                 daemon again, which reads everything anew, and look for what was done since then",
                Timestamp::from_millis(millis(time))
            )
        }))
    }
}

/// Milliseconds since 1970.
pub(super) fn millis(time: SystemTime) -> i64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
