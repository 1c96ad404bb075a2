//! Locks that one transaction may hold while it reads the store. While another one waits for them, it must
//! not hold up the writer, for whom the first may have to wait.

use super::tx::Tx;
use crate::domain::named_locks::{NamedLock, NamedLocks};
use mfa_shared::fault::Fault;
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

/// Whoever waits looks so often whether the deadline has passed.
const DEADLINE_LOOK: Duration = Duration::from_millis(50);

impl Tx<'_> {
    /// Locks a value.
    pub fn lock<'m, T>(&mut self, mutex: &'m Mutex<T>) -> MutexGuard<'m, T> {
        match mutex.try_lock() {
            Ok(locked) => locked,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => {
                self.let_go();
                mutex.lock().unwrap_or_else(PoisonError::into_inner)
            }
        }
    }

    /// Locks the name of work that may take long. It is waited for until the deadline of this transaction.
    pub fn lock_name<'l, N: Clone + Eq + Hash>(
        &mut self,
        locks: &'l NamedLocks<N>,
        name: &N,
    ) -> Result<NamedLock<'l, N>, Fault> {
        let mut wait = Duration::ZERO;
        loop {
            if let Some(locked) = locks.lock(name, wait) {
                return Ok(locked);
            }
            self.let_go();
            self.limits.in_time()?;
            wait = DEADLINE_LOOK;
        }
    }
}
