//! Locks by name, for work that should be done once: who comes later waits only for the same work.

use std::collections::HashSet;
use std::hash::Hash;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The names that are locked.
#[derive(Debug, Default)]
pub struct NamedLocks<N> {
    locked: Mutex<HashSet<N>>,
    freed: Condvar,
}

/// A name that is locked until this is dropped.
#[derive(Debug)]
pub struct NamedLock<'l, N: Eq + Hash> {
    locks: &'l NamedLocks<N>,
    name: N,
}

impl<N: Clone + Eq + Hash> NamedLocks<N> {
    /// Locks a name; `None` if it is not free within this time.
    pub fn lock(&self, name: &N, wait: Duration) -> Option<NamedLock<'_, N>> {
        let waited = self.freed.wait_timeout_while(self.names(), wait, |locked| locked.contains(name));
        let (mut locked, _) = waited.unwrap_or_else(PoisonError::into_inner);
        locked.insert(name.clone()).then(|| NamedLock { locks: self, name: name.clone() })
    }
}

impl<N> NamedLocks<N> {
    fn names(&self) -> MutexGuard<'_, HashSet<N>> {
        self.locked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<N: Eq + Hash> Drop for NamedLock<'_, N> {
    fn drop(&mut self) {
        self.locks.names().remove(&self.name);
        self.locks.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_waited_for_until_it_is_free_and_other_names_are_not() {
        let locks = NamedLocks::default();
        let first = locks.lock(&"a", Duration::ZERO).unwrap();
        assert!(locks.lock(&"a", Duration::from_millis(5)).is_none());
        assert!(locks.lock(&"b", Duration::ZERO).is_some());
        std::thread::scope(|threads| {
            let later = threads.spawn(|| locks.lock(&"a", Duration::from_secs(60)).is_some());
            drop(first);
            assert!(later.join().unwrap());
        });
        assert!(locks.lock(&"a", Duration::ZERO).is_some());
    }
}
