//! What a transaction writes: all its commits, in one message.

use super::known::Known;
use super::session::{Session, spread};
use super::trouble::{Trouble, unavailable};
use crate::store::engine::{Change, Commit};
use futures_util::future::{OptionFuture, join, join4};
use mfa_shared::fault::Fault;
use std::collections::HashMap;
use std::time::{Duration, SystemTime};
use tokio::runtime::Runtime;
use tokio_postgres::Error;
use tokio_postgres::types::ToSql;

/// What a record has afterwards, or its removal, if it is there.
const LASTS: i16 = 0;
/// The removal of what an earlier commit of the transaction has put.
const REMOVES: i16 = 1;
/// What a later commit of the transaction takes the place of: a value, or such a removal.
const PASSES: i16 = 2;
/// The same for the removal of what is perhaps there.
const PASSES_IF_THERE: i16 = 3;

/// A change, the number of its commit from 1 on, and what becomes of it.
type Fated<'c> = (i16, &'c Change, i16);

/// The changes of commits that follow each other. The removal of what one of them has removed is left out.
fn fated<'c>(commits: &'c [Commit]) -> Vec<Fated<'c>> {
    let of = |(part, commit): (i16, &'c Commit)| commit.changes.iter().map(move |change| (part, change));
    let changes = (1..).zip(commits).flat_map(of);
    if commits.len() == 1 {
        return changes.map(|(part, change)| (part, change, LASTS)).collect();
    }
    let mut fated: Vec<Fated<'_>> = Vec::new();
    // Where the last change of a record is.
    let mut last: HashMap<(u8, &[u8]), usize> = HashMap::new();
    for (part, change) in changes {
        let place = (change.space.id, change.key.as_slice());
        let mut fate = LASTS;
        if let Some((_, before, before_fate)) = last.get(&place).and_then(|at| fated.get_mut(*at)) {
            match (&before.value, &change.value) {
                (None, None) => continue,
                (None, Some(_)) if *before_fate == LASTS => *before_fate = PASSES_IF_THERE,
                (None | Some(_), Some(_)) => *before_fate = PASSES,
                (Some(_), None) => (*before_fate, fate) = (PASSES, REMOVES),
            }
        }
        last.insert(place, fated.len());
        fated.push((part, change, fate));
    }
    fated
}

/// What went wrong, and whether it is certain that nothing was changed.
pub(super) struct Broken {
    pub(super) trouble: Trouble,
    pub(super) undone: bool,
}

impl Broken {
    /// Perhaps everything was committed.
    fn unknown(trouble: Trouble) -> Self {
        Self { undone: false, trouble }
    }

    /// By a statement before the commit: if the server has refused it, nothing was committed.
    fn before_commit(error: Error) -> Self {
        Self { undone: error.code().is_some(), trouble: error.into() }
    }
}

/// What begins the transaction, if it has not begun, and what gives back the turn of its daemon, if it has
/// it.
pub(super) type Around<'a> = (Option<&'a str>, Option<&'a str>);

/// Writes everything and commits. The outer result is of the transaction, and names its last commit; the
/// inner one says that nobody knows whether it lasts.
pub(super) fn send(
    session: &Session,
    runtime: &Runtime,
    (begin, give_back): Around<'_>,
    commits: &[Commit],
) -> Result<Result<Option<Known>, Fault>, Broken> {
    let changes = fated(commits);
    let spreads: Vec<i64> = changes.iter().map(|(_, c, _)| spread(c.space.id, &c.key)).collect();
    let spaces: Vec<i16> = changes.iter().map(|(_, c, _)| i16::from(c.space.id)).collect();
    let keys: Vec<&[u8]> = changes.iter().map(|(_, c, _)| c.key.as_slice()).collect();
    let values: Vec<Option<&[u8]>> = changes.iter().map(|(_, c, _)| c.value.as_deref()).collect();
    let parts: Vec<i16> = changes.iter().map(|(part, ..)| *part).collect();
    let fates: Vec<i16> = changes.iter().map(|(.., fate)| *fate).collect();
    let times: Vec<SystemTime> = commits.iter().map(time).collect();
    let actors: Vec<String> = commits.iter().map(|commit| text(&commit.actor)).collect();
    let requests: Vec<String> = commits.iter().map(|commit| text(&commit.request)).collect();
    let warnings = session.warnings();
    let (client, statements, base) = (&session.client, &session.statements, &session.journal_base);
    let records: [&(dyn ToSql + Sync); 4] = [&spreads, &spaces, &keys, &values];
    let only = match (&times[..], &actors[..], &requests[..]) {
        ([time], [actor], [request]) if values.iter().all(Option::is_some) => Some((time, actor, request)),
        _ => None,
    };
    let (statement, rest): (_, Vec<&(dyn ToSql + Sync)>) = match only {
        Some((time, actor, request)) => (&statements.put, vec![base, time, actor, request]),
        None => (&statements.write, vec![&parts, &fates, base, &times, &actors, &requests]),
    };
    let params = [&records[..], &rest].concat();
    let begun = OptionFuture::from(begin.map(|begin| client.batch_execute(begin)));
    let written = client.query(statement, &params);
    let committed = client.batch_execute("commit");
    let given_back = OptionFuture::from(give_back.map(|give_back| client.batch_execute(give_back)));
    // The outer result is of the limit, the inner ones of each statement. That of the turn changes nothing: a
    // commit that was answered stays, and a connection that is lost gives back what it had.
    let ended =
        session.wait_commit(runtime, async { Ok(join4(begun, written, committed, given_back).await) });
    let (begun, written, committed, _) = ended.map_err(Broken::unknown)?;
    // If a statement was refused, the server has made a rollback of the commit.
    begun.transpose().map_err(Broken::before_commit)?;
    let written = written.map_err(Broken::before_commit)?;
    committed.map_err(|error| Broken::unknown(error.into()))?;
    if session.warnings() != warnings {
        // The server warns when it gives up waiting for its standby: then the commit may get lost.
        return Ok(Err(unavailable("the database could not say whether the change is durable")));
    }
    let (Some(time), Some(request)) = (times.last(), requests.last()) else { return Ok(Ok(None)) };
    let last = written.iter().filter_map(|row| row.try_get(0).ok()).max();
    Ok(Ok(last.map(|sequence| Known { sequence, time: *time, request: request.clone() })))
}

/// Commits a transaction that writes nothing.
pub(super) fn finish(session: &Session, runtime: &Runtime, give_back: Option<&str>) -> Result<(), Broken> {
    let committed = session.client.batch_execute("commit");
    let given_back = OptionFuture::from(give_back.map(|give_back| session.client.batch_execute(give_back)));
    let ended = session.wait(runtime, async { join(committed, given_back).await.0 });
    // Whether it was committed or not, it has changed nothing.
    ended.map_err(|trouble| Broken { trouble, undone: true })
}

fn time(commit: &Commit) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_millis(commit.time.millis().unsigned_abs())
}

/// PostgreSQL stores no zero in texts.
fn text(text: &str) -> String {
    text.replace('\0', " ")
}
