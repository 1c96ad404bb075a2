//! One transaction from its first question to the answer of its commit, as often as it takes.

use super::group::Member;
use super::seen::{Place, Seen};
use super::send::send;
use super::session::Session;
use super::shared::Shared;
use super::trouble::Trouble;
use super::turns::{Answer, Beside, Writing};
use super::view::{Ending, Snapshot};
use crate::store::engine::{Commit, Overlay, ReadWork, WriteWork};
use crate::store::joint::TOGETHER_MAX;
use mfa_shared::fault::{Fault, INTERNAL};
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

/// Said for each transaction: a setting of the server would also hold for its replication.
pub(super) const BEGIN_WRITE: &str = "begin isolation level serializable read write";
/// Conflicts with those alone who write the same records.
const BEGIN_WRITE_ON_SNAPSHOT: &str = "begin isolation level repeatable read read write";
/// One snapshot is all that reads need, and it never conflicts with writes.
const BEGIN_READ: &str = "begin isolation level repeatable read read only";
/// How long a transaction is run again after conflicts.
const CONFLICT_LIMIT: Duration = Duration::from_secs(8);
const PAUSE_MAX_MS: u64 = 50;
/// A group that has taken so long, or writes so much, takes no further changes.
const GROUP_TIME_MAX: Duration = Duration::from_millis(20);
const GROUP_BYTES_MAX: usize = 2 * 1024 * 1024;

/// How a job ended: its answer, and whether the connection can be used again.
pub(super) struct Ended {
    pub(super) answer: Result<(), Fault>,
    pub(super) usable: bool,
}

impl From<Trouble> for Ended {
    fn from(trouble: Trouble) -> Self {
        trouble.log();
        let usable = matches!(trouble, Trouble::Conflict | Trouble::Defect(_));
        Self { answer: Err(trouble.fault()), usable }
    }
}

fn panicked() -> Fault {
    Fault::new(INTERNAL, "the request broke off because of a defect")
}

/// Runs work that only reads, which may be that of many where it is not long.
pub(super) fn read(
    session: &Session,
    runtime: &Runtime,
    seen: &Seen,
    long: bool,
    work: &mut ReadWork,
) -> Ended {
    let mut view = Snapshot::new(session, runtime, BEGIN_READ);
    let done = catch_unwind(AssertUnwindSafe(|| work(&mut view)));
    let Ending { begin, values, .. } = view.end();
    seen.note(values, if long { 1 } else { TOGETHER_MAX });
    match begin {
        Ok(None) => session.send("commit"),
        Ok(Some(_)) => {}
        Err(trouble) => {
            session.send("rollback");
            return trouble.into();
        }
    }
    Ended { answer: done.map_err(|_| panicked()), usable: true }
}

/// Runs work that writes. After a conflict it is run again, and after several ones alone: transactions that
/// all need the same record would only hinder each other, and one that takes long would lose to short ones
/// for ever. What an attempt has read is asked for at once by the next one. Work that has to wait for its
/// turn comes back, so that it holds no connection meanwhile.
pub(super) fn write(
    session: &Session,
    runtime: &Runtime,
    shared: &Shared,
    mut writing: Box<Writing>,
) -> Result<Ended, Box<Writing>> {
    writing.tried_for();
    let begin = if writing.beside == Beside::Anyone { BEGIN_WRITE_ON_SNAPSHOT } else { BEGIN_WRITE };
    loop {
        let in_turn = writing.is_alone();
        let Writing { work, foreseen, .. } = &mut *writing;
        let how = How { begin, in_turn, foreseen, shared };
        let (outcome, read) = once(session, runtime, &how, &mut [work]);
        *foreseen = read;
        match outcome {
            Ok(answers) => {
                return Ok(Ended { answer: answers.into_iter().collect(), usable: true });
            }
            Err(Trouble::Conflict) if writing.tried_for() < CONFLICT_LIMIT => {
                session.counts.retries.one();
                std::thread::sleep(pause(writing.attempt));
            }
            Err(trouble) => return Ok(trouble.into()),
        }
        if !writing.goes_on(&shared.turns) {
            return Err(writing);
        }
    }
}

/// Runs the next group of changes. One that conflicts with others runs again as smaller groups; and where the
/// database refuses a statement, each change finds out by itself whether that was its own.
pub(super) fn write_group(session: &Session, runtime: &Runtime, shared: &Shared) -> Ended {
    let mut group = shared.groups.next();
    let foreseen: HashSet<Place> =
        group.iter_mut().flat_map(|member| std::mem::take(&mut member.writing.foreseen)).collect();
    let foreseen: Vec<Place> = foreseen.into_iter().collect();
    let how = How { begin: BEGIN_WRITE, in_turn: true, foreseen: &foreseen, shared };
    let mut works: Vec<&mut WriteWork> = group.iter_mut().map(|member| &mut member.writing.work).collect();
    let (outcome, _) = once(session, runtime, &how, &mut works);
    match outcome {
        Ok(answers) => {
            let rest = group.split_off(answers.len());
            for (member, answer) in group.into_iter().zip(answers) {
                let _ = member.answer.send(Answer::Done(answer));
            }
            shared.groups.went_well(rest);
        }
        Err(Trouble::Conflict) => {
            session.counts.retries.one();
            shared.groups.conflicted(group);
        }
        Err(Trouble::Defect(_)) if group.len() > 1 => group.into_iter().for_each(Member::send_on),
        Err(trouble) => {
            let ended = Ended::from(trouble);
            for member in group {
                let _ = member.answer.send(Answer::Done(ended.answer.clone()));
            }
            return ended;
        }
    }
    Ended { answer: Ok(()), usable: true }
}

/// A pause of chance length, longer with each attempt.
pub(super) fn pause(attempt: u32) -> Duration {
    let most = (1u64 << attempt.min(10)).min(PAUSE_MAX_MS) * 1000;
    Duration::from_micros(u64::from_le_bytes(crate::random::bytes()) % most)
}

/// How a transaction is run.
struct How<'h> {
    begin: &'static str,
    /// Whether it waits for the turn of its daemon.
    in_turn: bool,
    /// What it is known to read.
    foreseen: &'h [Place],
    shared: &'h Shared,
}

/// What came of works in one transaction: the answers to the first of them, and what was read.
type Outcome = (Result<Vec<Result<(), Fault>>, Trouble>, Vec<Place>);

/// Runs works once, in one transaction. However it ends, no transaction is left open.
fn once(session: &Session, runtime: &Runtime, how: &How<'_>, works: &mut [&mut WriteWork]) -> Outcome {
    let mut view = Snapshot::new(session, runtime, how.begin).in_turn(how.in_turn);
    view.foresee(how.foreseen);
    let (answers, commits) = decide(&mut view, works);
    let Ending { begin, has_turn, values } = view.end();
    let read = values.keys().cloned().collect();
    how.shared.seen.note(values, works.len());
    let give_back = has_turn.then_some(session.in_turn.give_back.as_str());
    let end = |sql| {
        session.send(sql);
        give_back.into_iter().for_each(|sql| session.send(sql));
    };
    let outcome = match (begin, commits.is_empty()) {
        (Err(trouble), _) => {
            end("rollback");
            Err(trouble)
        }
        (Ok(Some(_)), true) => Ok(answers),
        // What was read, and led to a refusal, counts only if the transaction ends well.
        (Ok(None), true) => {
            let committed = session.wait(runtime, session.client.batch_execute("commit"));
            give_back.into_iter().for_each(|sql| session.send(sql));
            committed.map(|()| answers)
        }
        (Ok(begin), false) => {
            let since = Instant::now();
            send(session, runtime, (begin, give_back), &commits).map(|sent| {
                let sent = sent.map(|last| last.into_iter().for_each(|last| how.shared.note_known(last)));
                commits.iter().for_each(|_| session.counts.commits.note_time(since.elapsed()));
                let written = commits.into_iter().flat_map(|commit| commit.changes);
                let written = written.map(|change| ((change.space.id, change.key), change.value));
                how.shared.seen.note(written.collect(), works.len());
                answers.into_iter().map(|answer| answer.and(sent.clone())).collect()
            })
        }
    };
    (outcome, read)
}

/// Runs works one after the other, each on what those before it have left; no further ones where they have
/// taken long or write much.
fn decide(view: &mut Snapshot<'_>, works: &mut [&mut WriteWork]) -> (Vec<Result<(), Fault>>, Vec<Commit>) {
    let since = Instant::now();
    let (mut answers, mut commits) = (Vec::new(), Vec::new());
    let mut group = Overlay::new(view);
    for work in works {
        let is_full = since.elapsed() > GROUP_TIME_MAX || group.bytes() > GROUP_BYTES_MAX;
        if is_full && !answers.is_empty() {
            break;
        }
        let commit = catch_unwind(AssertUnwindSafe(|| work(&mut group)));
        answers.push(commit.as_ref().map(drop).map_err(|_| panicked()));
        if let Ok(Some(commit)) = commit {
            commit.changes.iter().for_each(|change| group.stage(change.clone()));
            commits.push(commit);
        }
    }
    (answers, commits)
}
