//! Locks by name, for work that should be done once: who comes later waits only for the same work.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// The names that are locked.
#[derive(Debug)]
pub struct NamedLocks<N>(Mutex<HashMap<N, watch::Receiver<()>>>);

/// A name that is locked until this is dropped.
#[derive(Debug)]
pub struct NamedLock<'l, N: Eq + Hash> {
    locks: &'l NamedLocks<N>,
    name: N,
    _lock: watch::Sender<()>,
}

/// The end of the lock of somebody else.
#[derive(Debug)]
pub struct Unlocked(watch::Receiver<()>);

impl<N> Default for NamedLocks<N> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<N: Clone + Eq + Hash> NamedLocks<N> {
    /// Locks a name, unless it is locked.
    pub fn try_lock(&self, name: &N) -> Result<NamedLock<'_, N>, Unlocked> {
        let mut names = self.names();
        if let Some(lock) = names.get(name) {
            return Err(Unlocked(lock.clone()));
        }
        let (lock, unlocked) = watch::channel(());
        names.insert(name.clone(), unlocked);
        Ok(NamedLock { locks: self, name: name.clone(), _lock: lock })
    }
}

impl<N> NamedLocks<N> {
    fn names(&self) -> MutexGuard<'_, HashMap<N, watch::Receiver<()>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<N: Eq + Hash> Drop for NamedLock<'_, N> {
    fn drop(&mut self) {
        // The others are told afterwards, when the sender ends.
        self.locks.names().remove(&self.name);
    }
}

impl Unlocked {
    /// Waits for it.
    pub async fn wait(mut self) {
        while self.0.changed().await.is_ok() {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[tokio::test]
    async fn a_name_is_waited_for_until_it_is_free_and_other_names_are_not() {
        let locks = NamedLocks::default();
        let first = locks.try_lock(&"a").unwrap();
        let [mut one, other] = [(); 2].map(|()| Box::pin(locks.try_lock(&"a").unwrap_err().wait()));
        assert!(tokio::time::timeout(Duration::from_millis(5), &mut one).await.is_err());
        assert!(locks.try_lock(&"b").is_ok());
        drop(first);
        one.await;
        let _again = locks.try_lock(&"a").unwrap();
        other.await;
        assert!(locks.try_lock(&"a").is_err());
    }
}
