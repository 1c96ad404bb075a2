//! The time of this machine.

use std::time::{SystemTime, UNIX_EPOCH};

/// The present second by the clock of this machine.
pub fn now_seconds() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}
