//! Locks that one transaction may hold while it reads the store. While another one waits for them, it must
//! not hold up the writer, for whom the first may have to wait.

use super::held_up::HeldUp;
use super::tx::Tx;
use crate::domain::named_locks::{NamedLock, NamedLocks};
use mfa_shared::fault::{self, Fault};
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

/// What the reader of a store learns that cannot wait.
const HELD_UP: &str = "another request is making this list from the store; try again soon";
const RETRY_AFTER_S: u32 = 1;

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

    /// Locks the name of work that may take long. If another transaction has it, this one is refused:
    /// [`Store::read`](super::Store::read) waits while none is open, until the deadline of this one, and
    /// begins again.
    pub fn lock_name<'l, N: Clone + Eq + Hash>(
        &mut self,
        locks: &'l NamedLocks<N>,
        name: &N,
    ) -> Result<NamedLock<'l, N>, Fault> {
        locks.try_lock(name).map_err(|unlocked| {
            self.held_up = Some(HeldUp { unlocked, time: self.limits.time });
            Fault::new(fault::UNAVAILABLE, HELD_UP).retry_after(RETRY_AFTER_S)
        })
    }
}
