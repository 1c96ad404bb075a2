//! The only place that reads the time.

use mfa_shared::time::Timestamp;
use rustix::time::{ClockId, Timespec, clock_gettime};
use std::sync::atomic::{AtomicI64, Ordering::SeqCst};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// A deadline, independent of changes to the system clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Deadline(Instant);

impl Deadline {
    /// So long from now.
    pub fn after(time: Duration) -> Self {
        Self(Instant::now() + time)
    }

    /// How long it is until then.
    pub fn left(self) -> Duration {
        self.0.saturating_duration_since(Instant::now())
    }

    /// Whether it has come.
    pub fn has_passed(self) -> bool {
        Instant::now() >= self.0
    }
}

/// When the machine was started, in microseconds since 1970 as its clock is set now.
pub fn machine_started_micros() -> Option<u64> {
    let micros = |time: Timespec| time.tv_sec.checked_mul(1_000_000)?.checked_add(time.tv_nsec / 1000);
    let since_start = micros(clock_gettime(ClockId::Boottime))?;
    u64::try_from(micros(clock_gettime(ClockId::Realtime))? - since_start).ok()
}

/// A source of the present moment: the system's clock, or one that a test sets.
#[derive(Debug, Clone, Default)]
pub struct Clock(Option<Arc<AtomicI64>>);

impl Clock {
    /// The system's clock.
    pub fn system() -> Self {
        Self(None)
    }

    /// A clock that only [`Clock::advance`] moves.
    pub fn fixed(at: Timestamp) -> Self {
        Self(Some(Arc::new(AtomicI64::new(at.millis()))))
    }

    /// Whether it is one that a test sets.
    pub fn is_fixed(&self) -> bool {
        self.0.is_some()
    }

    /// The present moment.
    pub fn now(&self) -> Timestamp {
        match &self.0 {
            Some(millis) => Timestamp::from_millis(millis.load(SeqCst)),
            None => {
                let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
            }
        }
    }

    /// Time since some moment, independent of changes to the system clock.
    pub fn elapsed(&self) -> Duration {
        static START: LazyLock<Instant> = LazyLock::new(Instant::now);
        match &self.0 {
            Some(millis) => Duration::from_millis(u64::try_from(millis.load(SeqCst)).unwrap_or(0)),
            None => START.elapsed(),
        }
    }

    /// Moves a fixed clock; the system's clock is not changed.
    pub fn advance(&self, seconds: i64) {
        if let Some(millis) = &self.0 {
            millis.fetch_add(seconds * 1000, SeqCst);
        }
    }
}
