//! What is remembered for the batches of a caller beyond what they have changed. A change leaves as much in
//! the audit trail as its result in the remembered answer; a refusal leaves nothing, but is remembered with
//! the rest of its batch. Without this bound, anybody with a login could fill the disk with refusals.

use mfa_shared::fault::{self, Fault};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long an answer is remembered.
const DAY_MILLIS: u64 = 24 * 60 * 60 * 1_000;
const DAY: Duration = Duration::from_millis(DAY_MILLIS);
/// Bytes of an answer that each change pays for.
const OF_CHANGE: usize = 1_024;

/// What is remembered of each caller.
#[derive(Debug)]
pub struct Kept {
    bytes_a_day: u64,
    /// The moment at which there is room for all of a day again.
    free_at: Mutex<HashMap<String, Duration>>,
}

impl Kept {
    /// Nothing yet; a day has room for so many bytes of each caller.
    pub fn new(bytes_a_day: u64) -> Self {
        Self { bytes_a_day, free_at: Mutex::default() }
    }

    fn all(&self) -> MutexGuard<'_, HashMap<String, Duration>> {
        self.free_at.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Refuses a batch whose answer would be remembered, where the caller has no room left.
    pub fn check(&self, caller: &str, now: Duration) -> Result<(), Fault> {
        let free_at = self.all().get(caller).copied().unwrap_or_default();
        let over = free_at.saturating_sub(now).saturating_sub(DAY);
        if over.is_zero() {
            return Ok(());
        }
        let detail = "too many refusals are remembered with the answers to your batches of a day: send this \
                      one without an Idempotency-Key of its own, and its operations with one each";
        let seconds = u32::try_from(over.as_secs()).unwrap_or(u32::MAX).saturating_add(1);
        Err(Fault::new(fault::TOO_MANY_REQUESTS, detail).retry_after(seconds))
    }

    /// Notes an answer of so many bytes to a batch that has made so many changes.
    pub fn note(&self, caller: &str, bytes: usize, changes: usize, now: Duration) {
        let beyond = bytes.saturating_sub(changes * OF_CHANGE);
        if beyond == 0 {
            return;
        }
        let mut all = self.all();
        all.retain(|_, free_at| *free_at > now);
        let free_at = all.entry(caller.to_owned()).or_insert(now);
        *free_at += Duration::from_millis(DAY_MILLIS * beyond as u64 / self.bytes_a_day);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_has_room_for_many_refusals_of_each_caller_and_changes_need_none() {
        let (kept, now) = (Kept::new(864_000_000), Duration::from_secs(1_000));
        for _ in 0..3_000 {
            kept.note("import", 300_000, 300, now);
        }
        kept.check("import", now).unwrap();
        let mut batches = 0;
        while kept.check("ama", now).is_ok() {
            kept.note("ama", 1_001_024, 1, now);
            batches += 1;
        }
        assert_eq!(batches, 865);
        let refused = kept.check("ama", now).unwrap_err();
        assert_eq!((refused.kind, refused.retry_after), (fault::TOO_MANY_REQUESTS, Some(101)));
        kept.check("esi", now).unwrap();
        kept.check("ama", now + Duration::from_secs(101)).unwrap();
        // Who has all of it again is not counted any more.
        kept.note("esi", 5_000, 0, now + 3 * DAY);
        assert_eq!(kept.all().len(), 1);
    }
}
