//! How slow a client may be.

use std::time::Duration;

/// Most bytes that count for later. Windows of TCP open in steps of up to this size, so that a slow reader
/// shows nothing for a while and then much at once.
pub const CREDIT_BYTES: u64 = 128 * 1024;

/// How slow a client may be.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    /// Time that it has before its bytes count.
    pub grace: Duration,
    /// Bytes for each second after that.
    pub bytes_a_second: u64,
}

impl Pace {
    /// The time that so many bytes are worth.
    pub fn worth(self, bytes: u64) -> Duration {
        Duration::from_micros(bytes.saturating_mul(1_000_000) / self.bytes_a_second.max(1))
    }

    /// Longest wait for any progress.
    pub fn longest(self) -> Duration {
        self.grace + self.worth(CREDIT_BYTES)
    }
}
