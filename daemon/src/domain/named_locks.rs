//! Locks by name, for work that should be done once: who comes later waits only for the same work.

use std::collections::HashMap;
use std::hash::Hash;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// The names that are locked.
#[derive(Debug)]
pub struct NamedLocks<N>(Mutex<HashMap<N, Arc<Waiters>>>);

/// Who waits for the end of a lock; none once it has ended.
type Waiters = Mutex<Option<Vec<Waker>>>;

/// A name that is locked until this is dropped.
#[derive(Debug)]
pub struct NamedLock<'l, N: Eq + Hash> {
    locks: &'l NamedLocks<N>,
    name: N,
    waiters: Arc<Waiters>,
}

/// The end of the lock of somebody else, which can be waited for.
#[derive(Debug)]
pub struct Unlocked(Arc<Waiters>);

impl<N> Default for NamedLocks<N> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<N: Clone + Eq + Hash> NamedLocks<N> {
    /// Locks a name, unless it is locked.
    pub fn try_lock(&self, name: &N) -> Result<NamedLock<'_, N>, Unlocked> {
        let mut locked = held(&self.0);
        if let Some(waiters) = locked.get(name) {
            return Err(Unlocked(waiters.clone()));
        }
        let waiters = Arc::new(Mutex::new(Some(Vec::new())));
        locked.insert(name.clone(), waiters.clone());
        Ok(NamedLock { locks: self, name: name.clone(), waiters })
    }
}

impl<N: Eq + Hash> Drop for NamedLock<'_, N> {
    fn drop(&mut self) {
        held(&self.locks.0).remove(&self.name);
        // Only now, so that those who are woken find it free.
        let waiters = held(&self.waiters).take();
        waiters.into_iter().flatten().for_each(Waker::wake);
    }
}

impl Future for Unlocked {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut waiters = held(&self.0);
        let Some(waiters) = waiters.as_mut() else { return Poll::Ready(()) };
        if !waiters.iter().any(|waiter| waiter.will_wake(cx.waker())) {
            waiters.push(cx.waker().clone());
        }
        Poll::Pending
    }
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
    use std::task::Wake;

    /// Counts how often it is woken.
    #[derive(Default)]
    struct Woken(AtomicUsize);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, SeqCst);
        }
    }

    #[test]
    fn a_name_is_waited_for_until_it_is_free_and_other_names_are_not() {
        let locks = NamedLocks::default();
        let first = locks.try_lock(&"a").unwrap();
        let woken = [(); 2].map(|()| Arc::new(Woken::default()));
        let mut waiting = [(); 2].map(|()| locks.try_lock(&"a").unwrap_err());
        let mut poll = |at: usize| {
            let waker = Waker::from(woken[at].clone());
            Pin::new(&mut waiting[at]).poll(&mut Context::from_waker(&waker))
        };
        for at in [0, 1, 0, 1] {
            assert!(poll(at).is_pending());
        }
        assert!(locks.try_lock(&"b").is_ok());
        drop(first);
        assert_eq!(woken.each_ref().map(|woken| woken.0.load(SeqCst)), [1, 1]);
        let _again = locks.try_lock(&"a").unwrap();
        assert!(poll(0).is_ready() && poll(1).is_ready(), "what they waited for is over");
        assert!(locks.try_lock(&"a").is_err());
    }
}
