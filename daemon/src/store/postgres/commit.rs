//! One transaction from its first question to the answer of its commit, as often as it takes.

use super::seen::{Place, Seen};
use super::send::{Broken, finish, send};
use super::session::Session;
use super::shared::Shared;
use super::trouble::Trouble;
use super::turns::{Answer, Beside, Writing};
use super::view::{Ending, Snapshot, Waited};
use crate::store::engine::{Commit, ReadWork, WriteWork};
use crate::store::overlay::Overlay;
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
/// As many reads are taken to go together, as to what is noted of what they have seen.
const JOINT_READS: usize = 8;
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
    seen.note(values, if long { 1 } else { JOINT_READS });
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
        let Outcome { answers, read, .. } = once(session, runtime, &how, &mut [work]);
        *foreseen = read;
        match answers.map_err(|broken| broken.trouble) {
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

/// Runs the next group of changes. One that conflicts with others runs again as smaller groups; and where
/// anything else goes wrong that has changed nothing, each change finds out by itself whether that was its
/// own.
pub(super) fn write_group(session: &Session, runtime: &Runtime, shared: &Shared) -> Ended {
    let mut group = shared.groups.next();
    let foreseen: HashSet<&Place> = group.iter().flat_map(|member| &member.writing.foreseen).collect();
    let foreseen: Vec<Place> = foreseen.into_iter().cloned().collect();
    let how = How { begin: BEGIN_WRITE, in_turn: true, foreseen: &foreseen, shared };
    let mut works: Vec<&mut WriteWork> = group.iter_mut().map(|member| &mut member.writing.work).collect();
    let Outcome { answers, ran, .. } = once(session, runtime, &how, &mut works);
    let rest = group.split_off(ran.min(group.len()));
    match answers {
        Ok(answers) => {
            for (member, answer) in group.into_iter().zip(answers) {
                let _ = member.answer.send(Answer::Done(answer));
            }
            shared.groups.went_well(rest);
        }
        Err(Broken { trouble: Trouble::Conflict, .. }) => {
            session.counts.retries.one();
            shared.groups.conflicted(group, rest);
        }
        Err(Broken { trouble, undone }) => {
            let is_alone = group.len() == 1;
            let ended = Ended::from(trouble);
            for member in group {
                if undone && !is_alone {
                    member.send_on();
                } else {
                    let _ = member.answer.send(Answer::Done(ended.answer.clone()));
                }
            }
            shared.groups.wait_again(rest);
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

/// What came of works in one transaction.
struct Outcome {
    /// The answers to those that ran.
    answers: Result<Vec<Result<(), Fault>>, Broken>,
    /// How many have run, the first of them.
    ran: usize,
    /// What was read.
    read: Vec<Place>,
}

/// Runs works once, in one transaction. However it ends, no transaction is left open.
fn once(session: &Session, runtime: &Runtime, how: &How<'_>, works: &mut [&mut WriteWork]) -> Outcome {
    let in_turn = how.in_turn && how.shared.waits_for_turn();
    let mut view = Snapshot::new(session, runtime, how.begin).in_turn(in_turn);
    view.foresee(how.foreseen);
    let (answers, commits) = decide(&mut view, works);
    let ran = answers.len();
    let Ending { begin, waited, values } = view.end();
    let read = values.keys().cloned().collect();
    how.shared.seen.note(values, works.len());
    if waited == Some(Waited::InVain) {
        how.shared.miss_turn();
    }
    let give_back = waited.map(|_| session.in_turn.give_back.as_str());
    let answers = match (begin, commits.is_empty()) {
        (Err(trouble), _) => {
            ["rollback"].into_iter().chain(give_back).for_each(|sql| session.send(sql));
            Err(Broken { trouble, undone: true })
        }
        (Ok(Some(_)), true) => Ok(answers),
        // What was read, and led to a refusal, counts only if the transaction ends well.
        (Ok(None), true) => finish(session, runtime, give_back).map(|()| answers),
        (Ok(begin), false) => {
            let since = Instant::now();
            send(session, runtime, (begin, give_back), &commits).map(|sent| {
                let sent = sent.map(|last| last.into_iter().for_each(|last| how.shared.known.note(last)));
                commits.iter().for_each(|_| session.counts.commits.note_time(since.elapsed()));
                let written = commits.into_iter().flat_map(|commit| commit.changes);
                let written = written.map(|change| ((change.space.id, change.key), change.value));
                how.shared.seen.note(written.collect(), works.len());
                answers.into_iter().map(|answer| answer.and(sent.clone())).collect()
            })
        }
    };
    Outcome { answers, ran, read }
}

/// Runs works one after the other, each on what those before it have left; no further ones where they have
/// taken long or write much.
fn decide(view: &mut Snapshot<'_>, works: &mut [&mut WriteWork]) -> (Vec<Result<(), Fault>>, Vec<Commit>) {
    let since = Instant::now();
    let (mut answers, mut commits) = (Vec::new(), Vec::new());
    let mut group = Overlay::new(view);
    let mut works = works.iter_mut().peekable();
    while let Some(work) = works.next() {
        let is_full = since.elapsed() > GROUP_TIME_MAX || group.bytes() > GROUP_BYTES_MAX;
        if is_full && !answers.is_empty() {
            break;
        }
        let commit = catch_unwind(AssertUnwindSafe(|| work(&mut group)));
        answers.push(commit.as_ref().map(drop).map_err(|_| panicked()));
        if let Ok(Some(commit)) = commit {
            // Nobody looks at what the last one leaves, which may be a batch of thousands.
            if works.peek().is_some() {
                commit.changes.iter().for_each(|change| group.stage(change.clone()));
            }
            commits.push(commit);
        }
    }
    (answers, commits)
}
