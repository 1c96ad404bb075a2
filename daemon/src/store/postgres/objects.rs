//! Images in a table of their own, which several daemons may share.
//!
//! A transaction that begins to use an image reads its row, and a removal reads the uses, both serializable:
//! of two at the same moment only one commits. What was kept within the last hour is left alone by a sweep,
//! since another daemon may be about to commit a record that names it.

use super::drafts::DraftsFolder;
use super::entrance::Entrance;
use super::lane::Work;
use super::questions::{Answer, Errand, Question};
use super::trouble::unavailable;
use crate::store::engine::Pending;
use crate::store::objects::{Draft, Objects, Opened, UsedBy};
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

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

    fn firsts(&self) -> Pending<Vec<u8>> {
        let asked = self.ask(Question::Firsts);
        Box::pin(async move {
            let begun = asked.await?.hashes;
            Ok(begun.iter().filter_map(|first| u8::from_str_radix(first, 16).ok()).collect())
        })
    }
}
