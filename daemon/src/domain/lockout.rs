//! Too many failed attempts lock a login, or a drawer, for a growing time. Contract: `identity.md`
//! section 6.

use mfa_shared::time::Timestamp;
use serde::{Deserialize, Serialize};

/// Failures that lock a name or a drawer.
pub const FAILURES_MAX: usize = 5;
/// Failures that lock an address.
pub const FAILURES_OF_ADDRESS_MAX: usize = 30;
/// How long an address is known from which a user has logged in.
pub const KNOWN_SECONDS: i64 = 30 * 24 * 3600;
/// Within this time they lock.
pub const WINDOW_SECONDS: i64 = 15 * 60;
/// How long the locks last, one after the other; the last one repeats.
pub const LOCK_MINUTES: [i64; 7] = [1, 2, 4, 8, 16, 32, 60];
/// After this time without a failure the locks start at the first one again.
pub const FORGET_SECONDS: i64 = 24 * 3600;

/// The failed attempts of one login. A success, or a password set by someone else, starts a new one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Attempts {
    /// Failures since the last lock that still count.
    pub failures: Vec<Timestamp>,
    /// Locks so far.
    pub locks: u32,
    /// When the last lock ends.
    pub locked_until: Option<Timestamp>,
    /// When all of this expires: a day after the last failure.
    pub forgotten_from: Option<Timestamp>,
}

impl Attempts {
    /// The whole seconds until the lock ends, if there is one.
    pub fn locked_seconds(&self, now: Timestamp) -> Option<u32> {
        let left = self.locked_until?.millis() - now.millis();
        (left > 0).then(|| u32::try_from((left + 999) / 1000).unwrap_or(u32::MAX))
    }

    /// One more failure. An attempt during a lock does not count, because its password is not checked.
    #[must_use]
    pub fn failed(&self, now: Timestamp) -> Self {
        self.failed_of(now, FAILURES_MAX)
    }

    /// One more failure of as many as lock.
    #[must_use]
    pub fn failed_of(&self, now: Timestamp, failures_max: usize) -> Self {
        if self.locked_seconds(now).is_some() {
            return self.clone();
        }
        let mut after = if self.is_forgotten(now) { Self::default() } else { self.clone() };
        after.failures.retain(|failure| now.millis() - failure.millis() <= WINDOW_SECONDS * 1000);
        after.failures.push(now);
        after.forgotten_from = Some(now.plus_seconds(FORGET_SECONDS));
        if after.failures.len() >= failures_max {
            let step = usize::try_from(after.locks).unwrap_or(usize::MAX).min(LOCK_MINUTES.len() - 1);
            after.locked_until = Some(now.plus_seconds(LOCK_MINUTES[step] * 60));
            after.locks = after.locks.saturating_add(1);
            after.failures.clear();
        }
        after
    }

    /// Whether all of this has expired, so that it need not be kept.
    pub fn is_forgotten(&self, now: Timestamp) -> bool {
        self.forgotten_from.is_none_or(|from| now >= from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(1_900_000_000_000).plus_seconds(seconds)
    }

    fn fail(mut attempts: Attempts, times: impl IntoIterator<Item = i64>) -> Attempts {
        for time in times {
            attempts = attempts.failed(at(time));
        }
        attempts
    }

    #[test]
    fn the_fifth_failure_within_the_window_locks() {
        let four = fail(Attempts::default(), [0, 1, 2, 3]);
        assert_eq!(four.locked_seconds(at(3)), None);
        let five = four.failed(at(900));
        assert_eq!(five.locked_seconds(at(900)), Some(60));
        assert_eq!(five.locked_seconds(at(959)), Some(1));
        assert_eq!(five.locked_seconds(at(960)), None);
        assert_eq!(four.failed(at(901)).locked_seconds(at(901)), None);
    }

    #[test]
    fn attempts_during_a_lock_do_not_count() {
        let locked = fail(Attempts::default(), [0, 0, 0, 0, 0]);
        assert_eq!(fail(locked.clone(), [1, 2, 3, 4, 5, 59]), locked);
    }

    #[test]
    fn locks_grow_and_start_again_after_a_day_without_failure() {
        let mut attempts = Attempts::default();
        let mut now = 0;
        for minutes in [1, 2, 4, 8, 16, 32, 60, 60, 60] {
            attempts = fail(attempts, [now; 5]);
            assert_eq!(attempts.locked_seconds(at(now)), Some(minutes * 60));
            now += i64::from(minutes) * 60;
        }
        let last = now - 3600;
        let again = fail(attempts.clone(), [last + FORGET_SECONDS; 5]);
        assert_eq!(again.locked_seconds(at(last + FORGET_SECONDS)), Some(60));
        let still = fail(attempts, [last + FORGET_SECONDS - 1; 5]);
        assert_eq!(still.locked_seconds(at(last + FORGET_SECONDS - 1)), Some(3600));
    }
}
