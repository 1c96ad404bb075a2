//! What a transaction may take: time for reading, and memory for what is read.

use crate::clock::Deadline;
use mfa_shared::fault::{self, Fault};
use std::fmt;
use std::sync::Arc;

/// The limits of a transaction.
#[derive(Debug, Default)]
pub struct Limits {
    pub(super) time: Option<Time>,
    /// Ends every one of its times: it is the last of several tries.
    pub(super) latest: Option<Deadline>,
    /// Where what is read for the answer takes room.
    pub room: Option<Arc<dyn AnswerRoom>>,
}

/// How long reading may go on, and what a caller learns when that is not enough.
#[derive(Debug, Clone, Copy)]
pub(super) struct Time {
    pub(super) deadline: Deadline,
    pub(super) too_long: &'static str,
}

/// Room in memory for an answer that comes into being.
pub trait AnswerRoom: fmt::Debug + Send + Sync {
    /// Takes so many bytes more, or refuses.
    fn grow(&self, bytes: usize) -> Result<(), Fault>;
}

impl Time {
    /// What a caller learns once it has passed.
    pub(super) fn passed(self) -> Fault {
        Fault::new(fault::UNAVAILABLE, self.too_long)
    }
}

impl Limits {
    /// Refuses to go on behind the deadline.
    pub fn in_time(&self) -> Result<(), Fault> {
        match self.time.filter(|time| time.deadline.has_passed()) {
            Some(time) => Err(time.passed()),
            None => Ok(()),
        }
    }

    /// Takes room for so many bytes more of the answer.
    pub fn answer_grows(&self, bytes: usize) -> Result<(), Fault> {
        self.room.as_ref().map_or(Ok(()), |room| room.grow(bytes))
    }
}
