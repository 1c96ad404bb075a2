//! Requests that could not be answered soon are refused at once (`domain/load.rs`): reads of one record,
//! lists and changes each by themselves, so that a disk that is slow to write holds up no read.

use crate::count::Counter;
use crate::domain::load::Load;
use mfa_shared::api::ledger::GetTrialBalance;
use mfa_shared::api::tellers::GetTellerBalance;
use mfa_shared::endpoint::{Endpoint, Meta};
use mfa_shared::fault::{self, Fault};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

const RETRY_AFTER_S: u32 = 1;
/// Reads of one record that take as long as lists: they go through all accounts, or all that a session has
/// moved.
const LONG_READS: [&str; 2] = [GetTrialBalance::META.name, GetTellerBalance::META.name];

/// What is counted together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// Reads of one record.
    Read,
    /// Lists and searches.
    List,
    /// Changes.
    Change,
}

impl Class {
    /// All of them, in the order of their numbers.
    pub const ALL: [Self; 3] = [Self::Read, Self::List, Self::Change];

    /// The class of an endpoint.
    pub fn of(meta: &Meta) -> Self {
        match meta.method.reads() {
            false => Self::Change,
            true if meta.lists() || LONG_READS.contains(&meta.name) => Self::List,
            true => Self::Read,
        }
    }

    /// The word by which metrics name it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::List => "list",
            Self::Change => "change",
        }
    }
}

/// The requests of a daemon.
#[derive(Debug)]
pub struct Loads {
    began: Instant,
    classes: [(Mutex<Load>, Counter); Class::ALL.len()],
}

impl Default for Loads {
    fn default() -> Self {
        Self { began: Instant::now(), classes: Default::default() }
    }
}

/// A request that was let in, until it is answered.
#[derive(Debug)]
pub struct Pass {
    loads: Arc<Loads>,
    class: Class,
}

impl Drop for Pass {
    fn drop(&mut self) {
        let now = self.loads.began.elapsed();
        self.loads.load(self.class).end(now);
    }
}

impl Loads {
    fn load(&self, class: Class) -> MutexGuard<'_, Load> {
        self.classes[class as usize].0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets a request in, or refuses it because it would wait too long.
    pub fn enter(self: &Arc<Self>, class: Class) -> Result<Pass, Fault> {
        if self.load(class).enter(self.began.elapsed()) {
            return Ok(Pass { loads: self.clone(), class });
        }
        self.classes[class as usize].1.one();
        let detail = "more requests wait than can be answered soon; send this one again in a second";
        Err(Fault::new(fault::UNAVAILABLE, detail).retry_after(RETRY_AFTER_S))
    }

    /// The requests that were refused so far, in the order of [`Class::ALL`].
    pub fn refused(&self) -> [u64; Class::ALL.len()] {
        self.classes.each_ref().map(|(_, refused)| refused.get())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mfa_shared::api::tellers::{GetTeller, ListTellers};

    #[test]
    fn a_read_that_grows_with_what_was_posted_counts_as_a_list() {
        let long = [GetTrialBalance::META, GetTellerBalance::META, ListTellers::META];
        assert_eq!(long.map(|meta| Class::of(&meta)), [Class::List; 3]);
        assert_eq!(Class::of(&GetTeller::META), Class::Read);
    }
}
