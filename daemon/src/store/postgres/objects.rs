//! Images in a table of their own, which several daemons may share.
//!
//! A transaction that begins to use an image reads its row, and a removal reads the uses, both serializable:
//! of two at the same moment only one commits. What was kept within the last hour is left alone by a sweep,
//! since another daemon may be about to commit a record that names it.

use super::Entrance;
use super::commit::{BEGIN_WRITE, Ended, pause};
use super::drafts::DraftsFolder;
use super::lane::Work;
use super::session::Session;
use super::trouble::{Trouble, unavailable};
use crate::hex::hexadecimal;
use crate::store::engine::Pending;
use crate::store::objects::{Draft, Objects, Opened, UsedBy};
use futures_util::future::{join3, join5};
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::runtime::Runtime;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Error, Row, Statement};

const HELD: &str = "select 1 from stored_objects where hash = $1";
const KEEP: &str = "insert into stored_objects (hash, bytes) values ($1, $2) \
    on conflict (hash) do update set kept_on = now(), bytes = excluded.bytes";
const OPEN: &str = "select bytes from stored_objects where hash = $1";
const REMOVE: &str = "delete from stored_objects \
    where hash = $1 and ($2::boolean or kept_on < now() - interval '1 hour') \
    and not exists (select 1 from stored_records where space = $3 and key >= $4 and key < $5)";
const LIST: &str = "select hash from stored_objects where hash >= $1 and hash < $2 order by hash";

/// How often a removal is tried again after a conflict.
const REMOVALS_MAX: u32 = 8;

/// What is asked of the table.
#[derive(Debug)]
enum Question {
    Keep(String, Vec<u8>),
    Open(String),
    Remove(String, UsedBy),
    List(u8),
}

/// What the table answered: bytes, or hashes.
#[derive(Debug, Default)]
struct Answer {
    bytes: Option<Vec<u8>>,
    hashes: Vec<String>,
}

/// A question with the place for its answer.
pub(super) struct Errand {
    question: Question,
    slot: Arc<Mutex<Answer>>,
}

/// The statements about images.
#[derive(Debug)]
pub(super) struct ObjectStatements {
    /// Whether there is one, for a transaction that uses it.
    pub(super) held: Statement,
    keep: Statement,
    open: Statement,
    remove: Statement,
    list: Statement,
}

impl ObjectStatements {
    /// Prepares them all in one message.
    pub(super) async fn prepare(client: &Client) -> Result<Self, Error> {
        let prepared = join5(
            client.prepare(HELD),
            client.prepare(KEEP),
            client.prepare(OPEN),
            client.prepare(REMOVE),
            client.prepare(LIST),
        );
        let (held, keep, open, remove, list) = prepared.await;
        Ok(Self { held: held?, keep: keep?, open: open?, remove: remove?, list: list? })
    }
}

/// Asks the table. Each question is one statement that commits by itself, or a transaction of one.
pub(super) fn run(session: &Session, runtime: &Runtime, errand: &Errand) -> Ended {
    let (client, statements) = (&session.client, &session.statements.objects);
    let warnings = session.warnings();
    let query = |statement: &Statement, params: &[&(dyn ToSql + Sync)]| {
        session.wait(runtime, client.query(statement, params))
    };
    let asked = match &errand.question {
        Question::Keep(hash, bytes) => query(&statements.keep, &[hash, bytes]),
        Question::Open(hash) => query(&statements.open, &[hash]),
        Question::Remove(hash, used_by) => remove(session, runtime, hash, used_by),
        Question::List(first) => {
            let first = hexadecimal(&[*first]);
            query(&statements.list, &[&first, &format!("{first}~")])
        }
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
        Question::List(_) => answer.hashes = rows.iter().map(|row| row.get(0)).collect(),
        Question::Keep(..) | Question::Remove(..) => {}
    }
    Ended { answer: Ok(()), usable: true }
}

/// Removes an image that nothing uses. After conflicts it is left to the next sweep.
fn remove(session: &Session, runtime: &Runtime, hash: &str, by: &UsedBy) -> Result<Vec<Row>, Trouble> {
    let (client, space) = (&session.client, i16::from(by.space.id));
    let to = by.range.to.as_deref().unwrap_or_default();
    let params: [&(dyn ToSql + Sync); 5] = [&hash, &by.young, &space, &by.range.from, &to];
    for attempt in 0.. {
        // The outer result is of the limit, the inner ones of each statement.
        let (begun, removed, committed) = session.wait(runtime, async {
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

/// The objects of a database.
#[derive(Debug)]
pub(super) struct TableObjects {
    entrance: Entrance,
    drafts: DraftsFolder,
}

impl TableObjects {
    /// The table, and a folder of this process for drafts.
    pub(super) fn new(entrance: Entrance) -> io::Result<Self> {
        Ok(Self { entrance, drafts: DraftsFolder::make(&std::env::temp_dir())? })
    }

    fn ask(&self, question: Question) -> Pending<Answer> {
        let slot = Arc::<Mutex<Answer>>::default();
        let done = self.entrance.submit(Work::Object(Errand { question, slot: slot.clone() }), false);
        Box::pin(async move {
            done.await?;
            Ok(std::mem::take(&mut *slot.lock().unwrap_or_else(PoisonError::into_inner)))
        })
    }
}

impl Objects for TableObjects {
    fn drafts(&self) -> &Path {
        self.drafts.path()
    }

    fn keep(&self, draft: Draft) -> Pending<()> {
        let entrance = self.entrance.clone();
        Box::pin(async move {
            let hash = draft.hash();
            let read = tokio::task::spawn_blocking(move || draft.read()).await;
            let bytes = read.unwrap_or_else(|_| Err(io::Error::other("the daemon is stopping")));
            let bytes = bytes.map_err(|error| {
                tracing::error!(%error, "the draft of an image cannot be read");
                unavailable("the draft of the image cannot be read")
            })?;
            let slot = Arc::default();
            entrance.submit(Work::Object(Errand { question: Question::Keep(hash, bytes), slot }), false).await
        })
    }

    fn open(&self, hash: &str) -> Pending<Option<Opened>> {
        let asked = self.ask(Question::Open(hash.to_owned()));
        Box::pin(async move { Ok(asked.await?.bytes.map(|bytes| Opened::Bytes(bytes.into()))) })
    }

    fn remove(&self, hash: &str, used_by: UsedBy) -> Pending<()> {
        let asked = self.ask(Question::Remove(hash.to_owned(), used_by));
        Box::pin(async move { asked.await.map(drop) })
    }

    fn list(&self, first: u8) -> Pending<Vec<String>> {
        let asked = self.ask(Question::List(first));
        Box::pin(async move { Ok(asked.await?.hashes) })
    }
}
