//! Lanes that connect when they are needed. A server allows all daemons together so many connections, and
//! each costs it memory: a daemon that has little to do holds few.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::time::Duration;
use tokio::sync::Notify;

/// How long a job waits before one more lane connects: most are taken sooner by a lane that becomes free.
const PATIENCE: Duration = Duration::from_millis(20);

/// The jobs and lanes of one queue.
#[derive(Debug, Default)]
pub(super) struct Reserve {
    /// Jobs that no lane has taken yet.
    waiting: AtomicUsize,
    /// Lanes that take the next job, or connect for it.
    free: AtomicUsize,
    /// Told whenever more jobs wait than lanes are free. What nobody hears counts once.
    called: Notify,
    closed: AtomicBool,
}

impl Reserve {
    /// A job has come.
    pub(super) fn come(&self) {
        self.waiting.fetch_add(1, SeqCst);
        self.call();
    }

    /// A lane, no longer free, has taken a job.
    pub(super) fn taken(&self) {
        self.waiting.fetch_sub(1, SeqCst);
        self.call();
    }

    /// Counts a lane as free until this is dropped.
    pub(super) fn free(&self) -> Free<'_> {
        self.free.fetch_add(1, SeqCst);
        Free(self)
    }

    /// Waits until one more lane is needed, and counts it as free; nothing once the store is closed.
    pub(super) async fn needed(&self) -> Option<Free<'_>> {
        loop {
            // From here on it hears what is told, so it misses no end.
            let called = self.called.notified();
            if self.closed.load(SeqCst) {
                return None;
            }
            called.await;
            tokio::time::sleep(PATIENCE).await;
            if self.lacks() {
                return Some(self.free());
            }
        }
    }

    /// Lets the lanes end that wait until they are needed.
    pub(super) fn close(&self) {
        self.closed.store(true, SeqCst);
        self.called.notify_waiters();
    }

    fn lacks(&self) -> bool {
        self.waiting.load(SeqCst) > self.free.load(SeqCst)
    }

    /// Calls a lane if one more is needed; also where one has lost its connection or found none. Both counts
    /// have their new value before they are compared, so of two changes at once the later sees the other.
    pub(super) fn call(&self) {
        if self.lacks() {
            self.called.notify_one();
        }
    }
}

/// A lane that waits for a job.
#[derive(Debug)]
pub(super) struct Free<'r>(&'r Reserve);

impl Drop for Free<'_> {
    fn drop(&mut self) {
        self.0.free.fetch_sub(1, SeqCst);
    }
}
