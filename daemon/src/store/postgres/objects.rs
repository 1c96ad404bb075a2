//! Images in a table of their own. Several daemons may share it, so what was kept within the last hour is
//! left alone: another one may be about to commit a record that names it.

use super::Entrance;
use super::commit::Ended;
use super::lane::Work;
use super::session::Session;
use super::trouble::unavailable;
use crate::store::engine::Pending;
use crate::store::objects::{Draft, Objects, Opened, hexadecimal};
use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::runtime::Runtime;
use tokio_postgres::types::ToSql;

const KEEP: &str = "insert into stored_objects (hash, bytes) values ($1, $2) \
    on conflict (hash) do update set kept_on = now()";
const OPEN: &str = "select bytes from stored_objects where hash = $1";
const REMOVE: &str = "delete from stored_objects where hash = $1 and kept_on < now() - interval '1 hour'";
const LIST: &str = "select hash from stored_objects where hash >= $1 and hash < $2 order by hash";

/// What is asked of the table.
#[derive(Debug)]
enum Question {
    Keep(String, Vec<u8>),
    Open(String),
    Remove(String),
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

/// Asks the table. Each question is one statement that commits by itself.
pub(super) fn run(session: &Session, runtime: &Runtime, errand: &Errand) -> Ended {
    let client = &session.client;
    let warnings = session.warnings();
    let query =
        |sql: &'static str, params: &[&(dyn ToSql + Sync)]| session.wait(runtime, client.query(sql, params));
    let asked = match &errand.question {
        Question::Keep(hash, bytes) => query(KEEP, &[hash, bytes]),
        Question::Open(hash) => query(OPEN, &[hash]),
        Question::Remove(hash) => query(REMOVE, &[hash]),
        Question::List(first) => {
            let first = hexadecimal(&[*first]);
            query(LIST, &[&first, &format!("{first}~")])
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
        Question::Keep(..) | Question::Remove(_) => {}
    }
    Ended { answer: Ok(()), usable: true }
}

/// The objects of a database.
#[derive(Debug)]
pub(super) struct TableObjects {
    entrance: Entrance,
    drafts: PathBuf,
}

impl TableObjects {
    /// The table, and a folder of this process for drafts.
    pub(super) fn new(entrance: Entrance) -> io::Result<Self> {
        let name = format!("mfa-{}", hexadecimal(&crate::random::bytes::<16>()));
        let drafts = std::env::temp_dir().join(name);
        fs::DirBuilder::new().mode(0o700).create(&drafts)?;
        Ok(Self { entrance, drafts })
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

impl Drop for TableObjects {
    fn drop(&mut self) {
        // Drafts remove themselves; whatever keeps the folder is cleared with the other temporary files.
        let _ = fs::remove_dir(&self.drafts);
    }
}

impl Objects for TableObjects {
    fn drafts(&self) -> &Path {
        &self.drafts
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

    fn remove(&self, hash: &str) -> Pending<()> {
        let asked = self.ask(Question::Remove(hash.to_owned()));
        Box::pin(async move { asked.await.map(drop) })
    }

    fn list(&self, first: u8) -> Pending<Vec<String>> {
        let asked = self.ask(Question::List(first));
        Box::pin(async move { Ok(asked.await?.hashes) })
    }
}
