//! Changes that share a transaction. Each change by itself costs the database a transaction, and two that
//! need the same record conflict. So the changes of one record that come while others are under way wait for
//! each other, and run together: one after the other in one transaction, each on what those before it have
//! left. Each is a commit of its own in the journal. One group is under way at a time, and another one beside
//! it only where it takes long.

use super::statements::PLACES;
use super::trouble::unavailable;
use super::turns::{Answer, Writing};
use mfa_shared::fault::Fault;
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;

/// Most groups that are under way at once, where they take long.
const LEADERS_MAX: usize = 8;
/// So often a change runs in a group that conflicts with others; then it goes by itself.
const ATTEMPTS_MAX: u32 = 3;
/// How many changes may wait for a group.
const WAITING_MAX: usize = 4096;

/// A change that runs with others.
pub(super) struct Member {
    number: u64,
    pub(super) writing: Box<Writing>,
    pub(super) answer: oneshot::Sender<Answer>,
}

impl Member {
    /// Has it go by itself.
    pub(super) fn send_on(self) {
        let _ = self.answer.send(Answer::Waits(self.writing));
    }
}

/// A change that waits for its answer.
pub(super) struct Added {
    /// By which it is known.
    pub(super) number: u64,
    pub(super) answer: oneshot::Receiver<Answer>,
    /// Whether nobody leads a group as yet.
    pub(super) needs_leader: bool,
}

/// The changes that wait for a group.
#[derive(Default)]
pub(super) struct Groups(Mutex<Waiting>);

struct Waiting {
    members: VecDeque<Member>,
    /// How many lead one group after the other, as long as changes wait.
    leaders: usize,
    /// How many go together at present: fewer after conflicts, which large groups have more of.
    most: usize,
    added: u64,
}

impl Default for Waiting {
    fn default() -> Self {
        Self { members: VecDeque::new(), leaders: 0, most: PLACES, added: 0 }
    }
}

impl Waiting {
    fn put_first(&mut self, members: Vec<Member>) {
        members.into_iter().rev().for_each(|member| self.members.push_front(member));
    }
}

impl Groups {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many changes wait.
    pub(super) fn len(&self) -> usize {
        self.waiting().members.len()
    }

    /// Has a change wait for the next group.
    pub(super) fn add(&self, writing: Box<Writing>) -> Result<Added, Fault> {
        let mut waiting = self.waiting();
        if waiting.members.len() >= WAITING_MAX {
            return Err(unavailable("too many requests wait for the database"));
        }
        let (answer, answered) = oneshot::channel();
        let number = waiting.added;
        waiting.added += 1;
        waiting.members.push_back(Member { number, writing, answer });
        let needs_leader = waiting.leaders == 0;
        waiting.leaders += usize::from(needs_leader);
        Ok(Added { number, answer: answered, needs_leader })
    }

    /// Takes back a change that no group has taken yet.
    pub(super) fn take_back(&self, number: u64) -> bool {
        let mut waiting = self.waiting();
        let before = waiting.members.len();
        waiting.members.retain(|member| member.number != number);
        waiting.members.len() < before
    }

    /// Whether there is to be another leader, since the others take long.
    pub(super) fn another(&self) -> bool {
        let mut waiting = self.waiting();
        let needed = !waiting.members.is_empty() && waiting.leaders < LEADERS_MAX;
        waiting.leaders += usize::from(needed);
        needed
    }

    /// Whether a leader goes on.
    pub(super) fn goes_on(&self) -> bool {
        let mut waiting = self.waiting();
        let goes_on = !waiting.members.is_empty();
        waiting.leaders -= usize::from(!goes_on);
        goes_on
    }

    /// The next group.
    pub(super) fn next(&self) -> Vec<Member> {
        let mut waiting = self.waiting();
        let count = waiting.members.len().min(waiting.most);
        waiting.members.drain(..count).collect()
    }

    /// Notes that a group went well, and has those wait again that did not get their turn.
    pub(super) fn went_well(&self, rest: Vec<Member>) {
        let mut waiting = self.waiting();
        waiting.most = PLACES.min(waiting.most + waiting.most / 4 + 1);
        waiting.put_first(rest);
    }

    /// Has those wait again that did not get their turn.
    pub(super) fn wait_again(&self, rest: Vec<Member>) {
        self.waiting().put_first(rest);
    }

    /// Has a group that conflicted with others try again, as smaller ones, or each change by itself; and
    /// those that did not get their turn.
    pub(super) fn conflicted(&self, group: Vec<Member>, rest: Vec<Member>) {
        let mut waiting = self.waiting();
        waiting.most = (waiting.most / 2).max(1);
        waiting.put_first(rest);
        let (mut again, mut alone) = (Vec::new(), Vec::new());
        for mut member in group {
            member.writing.attempt += 1;
            if member.writing.attempt < ATTEMPTS_MAX { again.push(member) } else { alone.push(member) }
        }
        waiting.put_first(again);
        drop(waiting);
        alone.into_iter().for_each(Member::send_on);
    }

    /// Refuses all that waits.
    pub(super) fn refuse(&self, fault: &Fault) {
        let members = std::mem::take(&mut self.waiting().members);
        for member in members {
            let _ = member.answer.send(Answer::Done(Err(fault.clone())));
        }
    }
}
