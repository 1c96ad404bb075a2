//! What a transaction may take: time for reading, and memory for what is read.

use super::tx::Tx;
use crate::clock::Deadline;
use mfa_shared::fault::{self, Fault};
use std::fmt;
use std::sync::Arc;

/// How long reading may go on, and what a caller learns when that is not enough.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limit {
    deadline: Deadline,
    too_long: &'static str,
}

/// Room in memory for an answer that comes into being.
pub trait AnswerRoom: fmt::Debug + Send + Sync {
    /// Takes so many bytes more, or refuses.
    fn grow(&self, bytes: usize) -> Result<(), Fault>;
}

impl Tx<'_> {
    /// Does work that reads and must not go on for ever: a walk behind the deadline is refused with the words
    /// of `too_long`.
    pub fn until<T>(
        &mut self,
        deadline: Deadline,
        too_long: &'static str,
        work: impl FnOnce(&mut Self) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let outer = self.limit.replace(Limit { deadline, too_long });
        let done = work(self);
        self.limit = outer;
        done
    }

    /// Refuses to go on behind the deadline.
    pub fn in_time(&self) -> Result<(), Fault> {
        match self.limit.filter(|limit| limit.deadline.has_passed()) {
            Some(limit) => Err(Fault::new(fault::UNAVAILABLE, limit.too_long)),
            None => Ok(()),
        }
    }

    /// What is read takes room here.
    pub fn set_room(&mut self, room: Arc<dyn AnswerRoom>) {
        self.room = Some(room);
    }

    /// Takes room for so many bytes more of the answer.
    pub fn answer_grows(&self, bytes: usize) -> Result<(), Fault> {
        self.room.as_ref().map_or(Ok(()), |room| room.grow(bytes))
    }
}
