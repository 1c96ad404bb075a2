//! One transaction from its first question to the answer of its commit, as often as it takes.

use super::seen::{Place, Seen};
use super::session::{Session, spread};
use super::shared::Shared;
use super::trouble::{Trouble, unavailable};
use super::turns::{Beside, Writing};
use super::view::Snapshot;
use crate::store::engine::{Commit, ReadWork, WriteWork};
use futures_util::future::{join, join3};
use mfa_shared::fault::{Fault, INTERNAL};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant, SystemTime};
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

/// Runs work that only reads.
pub(super) fn read(session: &Session, runtime: &Runtime, seen: &Seen, work: &mut ReadWork) -> Ended {
    let mut view = Snapshot::new(session, runtime, BEGIN_READ);
    let done = catch_unwind(AssertUnwindSafe(|| work(&mut view)));
    let (begin, values) = view.end();
    seen.note(values);
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
    if writing.beside == Beside::OthersRehearsed && writing.attempt == 0 {
        writing.foreseen = shared.seen.rehearse(&mut writing.work);
    }
    let begin = if writing.beside == Beside::Anyone { BEGIN_WRITE_ON_SNAPSHOT } else { BEGIN_WRITE };
    loop {
        let Writing { work, foreseen, .. } = &mut *writing;
        match once(session, runtime, (begin, foreseen, &shared.seen), work) {
            Ok(answer) => return Ok(Ended { answer, usable: true }),
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

/// A pause of chance length, longer with each attempt.
pub(super) fn pause(attempt: u32) -> Duration {
    let most = (1u64 << attempt.min(10)).min(PAUSE_MAX_MS) * 1000;
    Duration::from_micros(u64::from_le_bytes(crate::random::bytes()) % most)
}

/// Runs it once. However it ends, no transaction is left open. What it read is foreseen from then on.
fn once(
    session: &Session,
    runtime: &Runtime,
    (begin, foreseen, seen): (&'static str, &mut Vec<Place>, &Seen),
    work: &mut WriteWork,
) -> Result<Result<(), Fault>, Trouble> {
    let mut view = Snapshot::new(session, runtime, begin);
    view.foresee(foreseen);
    let commit = catch_unwind(AssertUnwindSafe(|| work(&mut view)));
    let (begin, values) = view.end();
    *foreseen = values.keys().cloned().collect();
    seen.note(values);
    let begin = begin.inspect_err(|_| session.send("rollback"))?;
    match (commit, begin) {
        (Err(_), begin) => {
            if begin.is_none() {
                session.send("rollback");
            }
            Ok(Err(panicked()))
        }
        (Ok(None), Some(_)) => Ok(Ok(())),
        // What was read, and led to a refusal, counts only if the transaction ends well.
        (Ok(None), None) => session.wait(runtime, session.client.batch_execute("commit")).map(Ok),
        (Ok(Some(commit)), begin) => {
            let since = Instant::now();
            let sent = send(session, runtime, begin, &commit)?;
            session.counts.commits.note_time(since.elapsed());
            let written =
                commit.changes.into_iter().map(|change| ((change.space.id, change.key), change.value));
            seen.note(written.collect());
            Ok(sent)
        }
    }
}

/// Writes everything and commits, in one message.
fn send(
    session: &Session,
    runtime: &Runtime,
    begin: Option<&str>,
    commit: &Commit,
) -> Result<Result<(), Fault>, Trouble> {
    let changes = &commit.changes;
    let spreads: Vec<i64> = changes.iter().map(|c| spread(c.space.id, &c.key)).collect();
    let spaces: Vec<i16> = changes.iter().map(|c| i16::from(c.space.id)).collect();
    let keys: Vec<&[u8]> = changes.iter().map(|c| c.key.as_slice()).collect();
    let values: Vec<Option<&[u8]>> = changes.iter().map(|c| c.value.as_deref()).collect();
    let millis = Duration::from_millis(commit.time.millis().unsigned_abs());
    let time = SystemTime::UNIX_EPOCH + millis;
    let (actor, request) = (text(&commit.actor), text(&commit.request));
    let warnings = session.warnings();
    let client = &session.client;
    let params: [&(dyn tokio_postgres::types::ToSql + Sync); 8] =
        [&spreads, &spaces, &keys, &values, &session.journal_base, &time, &actor, &request];
    let removes = changes.iter().any(|change| change.value.is_none());
    let statement = if removes { &session.statements.write } else { &session.statements.put };
    let written = client.execute(statement, &params);
    let committed = client.batch_execute("commit");
    // The outer result is of the limit, the inner ones of each statement.
    let (written, committed) = session.wait(runtime, async {
        Ok(match begin {
            Some(begin) => {
                let (begun, written, committed) =
                    join3(client.batch_execute(begin), written, committed).await;
                (begun.and(written), committed)
            }
            None => join(written, committed).await,
        })
    })?;
    // If the statement failed, the server has made a rollback of the commit.
    written?;
    committed?;
    if session.warnings() != warnings {
        // The server warns when it gives up waiting for its standby: then the commit may get lost.
        return Ok(Err(unavailable("the database could not say whether the change is durable")));
    }
    Ok(Ok(()))
}

/// PostgreSQL stores no zero in texts.
fn text(text: &str) -> String {
    text.replace('\0', " ")
}
