//! Putting a backup back into an empty engine.
//!
//! The target has a mark from the first commit on, and no daemon and no command opens a store with that mark.
//! The commit that ends the restore removes it. Restoring the same backup again over its own unfinished
//! restore gives the same result, so an interrupted restore is simply started again.

use super::read::{Item, Reader};
use super::{BackupError, Head};
use crate::store::Store;
use crate::store::engine::{Change, Commit, Engine, Range, Space};
use crate::store::export::{MARK, look};
use crate::store::objects::Draft;
use crate::store::record::Record;
use crate::store::records::{SPACES, SYSTEM};
use crate::store::seed::SYSTEM_ACTOR;
use futures_util::future::try_join_all;
use mfa_shared::fault::Fault;
use mfa_shared::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::Read;

/// Changes and bytes that one commit takes.
const CHANGES_AT_ONCE: usize = 2_000;
const BYTES_AT_ONCE: usize = 512 * 1024;
/// Images, and bytes of images, that are on their way at once; they share the syncs of the disk.
const IMAGES_AT_ONCE: usize = 16;
const IMAGE_BYTES_AT_ONCE: usize = 4 * 1024 * 1024;

/// What a target holds that is no unfinished restore.
pub const WHOLE: &str = "a store already; name another place, or see --replace";

/// The mark of an unfinished restore, in the place of the mark of an unfinished copy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Unfinished {
    /// The digest of the backup.
    pub restore: String,
}

impl Record for Unfinished {
    const SPACE: Space = SYSTEM;
    fn key(&self) -> Vec<u8> {
        MARK.to_vec()
    }
}

/// Hears how many items were put back.
pub type Watch<'a> = &'a dyn Fn(u64);

/// What waits to be written.
#[derive(Default)]
pub(super) struct Waiting {
    changes: BTreeMap<(Space, Vec<u8>), Option<Vec<u8>>>,
    bytes: usize,
    images: Vec<Vec<u8>>,
    image_bytes: usize,
}

/// Refuses a target that holds anything but the beginning of the same restore.
pub async fn check_target(to: &dyn Engine, digest: &str) -> Result<(), BackupError> {
    if let Some(mark) = look(to, |view| view.get(SYSTEM, MARK)).await? {
        return match serde_json::from_slice::<Unfinished>(&mark) {
            Ok(mark) if mark.restore == digest => Ok(()),
            Ok(_) => Err(BackupError::Taken("the unfinished restore of another backup; remove it first")),
            Err(_) => Err(BackupError::Taken("an unfinished copy of a store; remove it first")),
        };
    }
    for space in SPACES {
        let range = Range::prefix(b"");
        let space = *space;
        if !look(to, move |view| view.scan(space, &range, false, 1)).await?.is_empty() {
            return Err(BackupError::Taken(WHOLE));
        }
    }
    Ok(())
}

/// Puts everything back; the mark stays.
pub async fn put_back(
    reader: &mut Reader<impl Read>,
    to: &dyn Engine,
    digest: &str,
    now: Timestamp,
    watch: Watch<'_>,
) -> Result<Head, BackupError> {
    check_target(to, digest).await?;
    let mark = Unfinished { restore: digest.to_owned() };
    let mut waiting = Waiting::default();
    let value = serde_json::to_vec(&mark).unwrap_or_default();
    waiting.add(Change { space: SYSTEM, key: mark.key(), value: Some(value) });
    waiting.write(to, now).await?;
    let mut done = 0;
    while let Some(item) = reader.next_item()? {
        match item {
            Item::Pair(space, (key, value)) => waiting.add(Change { space, key, value: Some(value) }),
            Item::Change(change) => waiting.add(change),
            Item::Image(_, bytes) => waiting.add_image(bytes, to).await?,
        }
        if waiting.is_full() {
            waiting.write(to, now).await?;
        }
        done += 1;
        watch(done);
    }
    waiting.write(to, now).await?;
    waiting.keep(to).await?;
    Ok(reader.head().clone())
}

impl Waiting {
    pub(super) fn add(&mut self, change: Change) {
        self.bytes += change.key.len() + change.value.as_ref().map_or(0, Vec::len);
        self.changes.insert((change.space, change.key), change.value);
    }

    /// Whether there is enough for a commit.
    pub(super) fn is_full(&self) -> bool {
        self.changes.len() >= CHANGES_AT_ONCE || self.bytes >= BYTES_AT_ONCE
    }

    /// Adds an image, and keeps those that wait when there are enough of them.
    pub(super) async fn add_image(&mut self, bytes: Vec<u8>, to: &dyn Engine) -> Result<(), BackupError> {
        self.image_bytes += bytes.len();
        self.images.push(bytes);
        if self.images.len() >= IMAGES_AT_ONCE || self.image_bytes >= IMAGE_BYTES_AT_ONCE {
            self.keep(to).await?;
        }
        Ok(())
    }

    pub(super) async fn write(&mut self, to: &dyn Engine, time: Timestamp) -> Result<(), Fault> {
        self.bytes = 0;
        let changes = std::mem::take(&mut self.changes).into_iter();
        let changes = changes.map(|((space, key), value)| Change { space, key, value });
        let changes: Vec<_> = changes.collect();
        if changes.is_empty() {
            return Ok(());
        }
        let commit = Commit { time, actor: SYSTEM_ACTOR.to_owned(), request: "restore".to_owned(), changes };
        to.write(Box::new(move |_| Some(commit.clone()))).await
    }

    pub(super) async fn keep(&mut self, to: &dyn Engine) -> Result<(), BackupError> {
        self.image_bytes = 0;
        let objects = to.objects();
        let keeps = std::mem::take(&mut self.images).into_iter().map(|bytes| {
            let objects = objects.clone();
            async move {
                let mut draft = Draft::new(objects.drafts());
                draft.push(&bytes).await?;
                objects.keep(draft).await.map_err(BackupError::from)
            }
        });
        try_join_all(keeps).await.map(drop)
    }
}

impl Store {
    /// Puts a backup back into the engine, which then still has its mark.
    pub async fn put_back(
        &self,
        reader: &mut Reader<impl Read>,
        digest: &str,
        watch: Watch<'_>,
    ) -> Result<Head, BackupError> {
        put_back(reader, &*self.engine, digest, self.clock().now(), watch).await
    }
}
