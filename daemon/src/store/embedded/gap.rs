//! Gaps between readers. A writer that waits in the queue of a lock keeps out every reader behind it until
//! the last one before it is done, and that one may be waiting for the disk, or for a processor.

use std::sync::{PoisonError, RwLock, RwLockWriteGuard, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

/// How long a writer of the store looks for a gap before it takes its place in the queue.
pub(super) const PATIENCE: Duration = Duration::from_millis(2);
/// The time between two looks.
const PAUSE: Duration = Duration::from_micros(20);

/// The write side of a lock that readers hold for moments, taken between two of them if a gap comes soon.
pub(super) fn between_readers<T>(lock: &RwLock<T>, patience: Duration) -> RwLockWriteGuard<'_, T> {
    let begun = Instant::now();
    while begun.elapsed() < patience {
        match lock.try_write() {
            Ok(guard) => return guard,
            Err(TryLockError::Poisoned(poisoned)) => return poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => thread::sleep(PAUSE),
        }
    }
    lock.write().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn readers_come_in_while_a_writer_waits_for_a_gap_and_it_has_the_first_one() {
        let lock = RwLock::new(0);
        let (begun, has_begun) = mpsc::channel();
        thread::scope(|scope| {
            let first = lock.read().unwrap();
            scope.spawn(|| {
                begun.send(()).unwrap();
                *between_readers(&lock, Duration::from_secs(60)) = 1;
            });
            has_begun.recv().unwrap();
            thread::sleep(Duration::from_millis(50));
            assert_eq!(lock.try_read().map(|seen| *seen).ok(), Some(0));
            drop(first);
        });
        assert_eq!(lock.into_inner().unwrap(), 1);
    }

    #[test]
    fn a_writer_that_finds_no_gap_takes_its_place_in_the_queue() {
        let lock = RwLock::new(0);
        thread::scope(|scope| {
            let first = lock.read().unwrap();
            let writer = scope.spawn(|| *between_readers(&lock, Duration::ZERO) = 1);
            while lock.try_read().is_ok() {
                thread::sleep(Duration::from_millis(1));
            }
            drop(first);
            writer.join().unwrap();
        });
        assert_eq!(lock.into_inner().unwrap(), 1);
    }
}
