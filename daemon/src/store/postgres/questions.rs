//! What is asked of the table of images, and how a connection answers it.

use super::commit::{BEGIN_WRITE, Ended, pause};
use super::session::Session;
use super::trouble::{Trouble, unavailable};
use crate::hex::hexadecimal;
use crate::store::objects::UsedBy;
use futures_util::future::join3;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::runtime::Runtime;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Row, Statement};

/// How often a removal is tried again after a conflict.
const REMOVALS_MAX: u32 = 8;

/// What is asked of the table.
#[derive(Debug)]
pub(super) enum Question {
    Keep(String, Vec<u8>),
    Open(String),
    Remove(String, UsedBy),
    List(u8),
    Firsts,
}

/// Goes from one beginning to the next by the index, so its time does not grow with the images. Asked once in
/// hours, so no connection prepares it. `union` ends it, whatever the table holds.
const FIRSTS: &str = "
with recursive firsts(first) as (
    select left(min(hash), 2) from stored_objects
    union
    select (select left(min(hash), 2) from stored_objects where hash >= first || '~') from firsts
    where first is not null
) select first from firsts where first is not null";

impl Question {
    /// Whether the answer comes with a commit.
    pub(super) fn commits(&self) -> bool {
        matches!(self, Self::Keep(..) | Self::Remove(..))
    }
}

/// What the table answered: bytes, or hashes or how they begin.
#[derive(Debug, Default)]
pub(super) struct Answer {
    pub(super) bytes: Option<Vec<u8>>,
    pub(super) hashes: Vec<String>,
}

/// A question with the place for its answer.
pub(super) struct Errand {
    pub(super) question: Question,
    pub(super) slot: Arc<Mutex<Answer>>,
}

/// Asks the table. Each question is one statement that commits by itself, or a transaction of one.
pub(super) fn run(session: &Session, runtime: &Runtime, errand: &Errand) -> Ended {
    let (client, statements) = (&session.client, &session.statements.objects);
    let warnings = session.warnings();
    let query = |statement: &Statement, params: &[&(dyn ToSql + Sync)]| {
        session.wait(runtime, client.query(statement, params))
    };
    let asked = match &errand.question {
        Question::Keep(hash, bytes) => {
            session.wait_commit(runtime, client.query(&statements.keep, &[hash, bytes]))
        }
        Question::Open(hash) => query(&statements.open, &[hash]),
        Question::Remove(hash, used_by) => remove(session, runtime, hash, used_by),
        Question::List(first) => {
            let first = hexadecimal(&[*first]);
            query(&statements.list, &[&first, &format!("{first}~")])
        }
        Question::Firsts => session.wait(runtime, client.query(FIRSTS, &[])),
    };
    let rows = match asked {
        Ok(rows) => rows,
        Err(trouble) => return trouble.into(),
    };
    if matches!(errand.question, Question::Keep(..)) && session.warnings() != warnings {
        // The server warns when it gives up waiting for its standby: then the image may get lost.
        let fault = unavailable("the database could not say whether the image is durable");
        return Ended { answer: Err(fault), usable: true };
    }
    let mut answer = errand.slot.lock().unwrap_or_else(PoisonError::into_inner);
    match &errand.question {
        Question::Open(_) => answer.bytes = rows.first().map(|row| row.get(0)),
        Question::List(_) | Question::Firsts => answer.hashes = rows.iter().map(|row| row.get(0)).collect(),
        Question::Keep(..) | Question::Remove(..) => {}
    }
    Ended { answer: Ok(()), usable: true }
}

/// Removes an image that nothing uses. After conflicts it is left to the next sweep.
fn remove(session: &Session, runtime: &Runtime, hash: &str, by: &UsedBy) -> Result<Vec<Row>, Trouble> {
    let client = &session.client;
    let space = i16::from(by.space.id);
    let to = by.range.to.as_deref().unwrap_or_default();
    let params: [&(dyn ToSql + Sync); 5] = [&hash, &by.young, &space, &by.range.from, &to];
    for attempt in 0.. {
        // The outer result is of the limit, the inner ones of each statement.
        let (begun, removed, committed) = session.wait_commit(runtime, async {
            let removed = client.query(&session.statements.objects.remove, &params);
            Ok(join3(client.batch_execute(BEGIN_WRITE), removed, client.batch_execute("commit")).await)
        })?;
        match begun.and(removed).and_then(|rows| committed.map(|()| rows)).map_err(Trouble::from) {
            Err(Trouble::Conflict) if attempt < REMOVALS_MAX => {
                session.counts.retries.one();
                std::thread::sleep(pause(attempt));
            }
            outcome => return outcome,
        }
    }
    Ok(Vec::new())
}
