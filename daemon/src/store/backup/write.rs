//! Making of a backup, beside the writers of the store.

use super::frames::{DATA, Framer, HEAD, MAGIC, RAW_BYTES_MAX, TRAILER};
use super::read::trail_head;
use super::{BackupError, FORMAT, Head, Trailer};
use crate::clock::{Clock, Deadline};
use crate::store::Store;
use crate::store::engine::{Change, Commit, Engine, Range, Space};
use crate::store::export::{ExportError, MARK, image, look, named, page, spaces, unknown};
use crate::store::figures::Own;
use crate::store::record::{Record, key, prefix};
use crate::store::records::{IMAGE_USES, LOCAL, SYSTEM, StoreFacts, StoreLine};
use bytes::Bytes;
use mfa_shared::fault::{self, Fault};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::sync::mpsc;

/// Commits that are read at once.
const COMMITS_AT_ONCE: usize = 64;
/// How often a shared engine is asked for commits that wait for an older one, and for how long.
const PAUSE: Duration = Duration::from_millis(20);
const PATIENCE: Duration = Duration::from_secs(60);

/// Where the bytes of a backup go. The receiver sets the pace, and nothing is held meanwhile.
pub type Sink = mpsc::Sender<Result<Bytes, Fault>>;

/// The receiver of the backup has gone.
fn gone() -> BackupError {
    BackupError::Io(std::io::ErrorKind::BrokenPipe.into())
}

impl Store {
    /// Writes a backup. Its last byte comes only if the backup is complete; a failure is sent to the sink.
    pub async fn back_up(&self, to: Sink) -> Result<(), BackupError> {
        let held = self.images.holds.begin();
        let written = write(&*self.engine, self.clock(), to.clone()).await;
        drop(held);
        self.remove_put_off().await;
        if let Err(error) = &written {
            let fault = match error {
                BackupError::Store(fault) => fault.clone(),
                other => Fault::new(fault::UNAVAILABLE, other.to_string()),
            };
            // The receiver may have gone.
            let _ = to.send(Err(fault)).await;
        }
        written
    }
}

/// Gathers items into frames, and counts them.
struct Writer {
    to: Sink,
    framer: Framer,
    raw: Vec<u8>,
    counted: Trailer,
}

fn length(bytes: &[u8]) -> [u8; 4] {
    // No engine takes values of 4 GiB.
    u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_le_bytes()
}

impl Writer {
    async fn send(&self, bytes: Vec<u8>) -> Result<(), BackupError> {
        self.to.send(Ok(bytes.into())).await.map_err(|_| gone())
    }

    /// One frame of its own.
    async fn frame(&mut self, kind: u8, raw: &[u8]) -> Result<usize, BackupError> {
        let frame = self.framer.frame(kind, raw)?;
        let bytes = frame.len();
        self.send(frame).await?;
        Ok(bytes)
    }

    /// Adds pieces of an item.
    async fn put(&mut self, pieces: &[&[u8]]) -> Result<(), BackupError> {
        for mut piece in pieces.iter().copied() {
            while !piece.is_empty() {
                let (now, later) = piece.split_at(piece.len().min(RAW_BYTES_MAX - self.raw.len()));
                self.raw.extend_from_slice(now);
                piece = later;
                if self.raw.len() == RAW_BYTES_MAX {
                    self.flush().await?;
                }
            }
        }
        Ok(())
    }

    async fn flush(&mut self) -> Result<(), BackupError> {
        if !self.raw.is_empty() {
            let raw = std::mem::take(&mut self.raw);
            self.frame(DATA, &raw).await?;
            self.raw = raw;
            self.raw.clear();
        }
        Ok(())
    }

    fn see(&mut self, space: Space, key: &[u8], value: Option<&[u8]>) -> Result<(), BackupError> {
        if let Some(head) = trail_head(space, key, value) {
            self.counted.audit_head = head?;
        }
        Ok(())
    }

    async fn pair(&mut self, space: Space, key: &[u8], value: &[u8]) -> Result<(), BackupError> {
        self.see(space, key, Some(value))?;
        self.counted.pairs += 1;
        self.put(&[b"p", &[space.id], &length(key), &length(value), key, value]).await
    }

    async fn change(&mut self, change: &Change) -> Result<(), BackupError> {
        let Change { space, key, value } = change;
        self.see(*space, key, value.as_deref())?;
        self.counted.changes += 1;
        match value {
            Some(value) => self.put(&[b"c", &[space.id], &length(key), &length(value), key, value]).await,
            None => self.put(&[b"r", &[space.id], &length(key), key]).await,
        }
    }

    async fn image(&mut self, bytes: &[u8]) -> Result<(), BackupError> {
        self.counted.images += 1;
        self.counted.image_bytes += bytes.len() as u64;
        self.put(&[b"i", &Sha256::digest(bytes), &length(bytes), bytes]).await
    }
}

/// A backup that is being made.
struct Making<'e> {
    engine: &'e dyn Engine,
    clock: &'e Clock,
    writer: Writer,
    /// The last commit that is in it.
    at: u64,
    /// The last commit that will be in it.
    upto: u64,
    /// Images that were not there any more when they were asked for.
    missing: BTreeSet<String>,
}

pub(super) async fn write(engine: &dyn Engine, clock: &Clock, to: Sink) -> Result<(), BackupError> {
    let facts = look(engine, |view| view.get(SYSTEM, &key(&["store"]))).await?;
    let facts = facts.and_then(|facts| serde_json::from_slice::<StoreFacts>(&facts).ok());
    let unfinished = look(engine, |view| view.get(SYSTEM, MARK)).await?.is_some();
    let Some(facts) = facts.filter(|_| !unfinished) else {
        return Err(BackupError::Refused("there is no whole store to back up".to_owned()));
    };
    if let Some(why) = unknown(engine).await? {
        return Err(BackupError::Refused(why.to_owned()));
    }
    let line = look(engine, |view| view.get(StoreLine::SPACE, &key(StoreLine::KEY))).await?;
    let head = Head {
        format: FORMAT.to_owned(),
        form: facts.form,
        program: env!("CARGO_PKG_VERSION").to_owned(),
        instance: facts.instance,
        line: line.and_then(|line| serde_json::from_slice::<StoreLine>(&line).ok()).map(|line| line.line),
        engine: engine_name(engine),
        begun_on: clock.now(),
    };
    let counted = Trailer {
        moment: head.begun_on,
        journal_sequence: 0,
        journal: None,
        audit_head: None,
        pairs: 0,
        changes: 0,
        images: 0,
        image_bytes: 0,
    };
    let writer = Writer { to, framer: Framer::default(), raw: Vec::with_capacity(RAW_BYTES_MAX), counted };
    // Every commit up to here is seen by every page that is read from now on.
    let at = engine.changed_since(None, 0, &[]).await?.followed.place();
    let mut making = Making { engine, clock, writer, at, upto: at, missing: BTreeSet::new() };
    making.writer.send(MAGIC.to_vec()).await?;
    // A head and a trailer have string keys only.
    let head = serde_json::to_vec(&head).unwrap_or_default();
    making.writer.frame(HEAD, &head).await?;
    making.pairs().await?;
    making.set_moment().await?;
    for first in 0..=u8::MAX {
        for hash in named(engine, first).await? {
            making.image(&hash).await?;
        }
    }
    making.follow().await?;
    making.end().await
}

fn engine_name(engine: &dyn Engine) -> String {
    match engine.figures().own {
        Own::Embedded { .. } => "embedded".to_owned(),
        Own::Postgres { .. } => "postgres".to_owned(),
    }
}

impl Making<'_> {
    async fn pairs(&mut self) -> Result<(), BackupError> {
        for space in spaces() {
            let mut after: Option<Vec<u8>> = None;
            loop {
                let page = page(self.engine, space, after.as_deref()).await?;
                let Some((last, _)) = page.last() else { break };
                after = Some(last.clone());
                for (key, value) in &page {
                    self.writer.pair(space, key, value).await?;
                }
            }
        }
        Ok(())
    }

    /// The moment is now: the backup goes up to the last commit that anybody can see.
    async fn set_moment(&mut self) -> Result<(), BackupError> {
        self.writer.counted.moment = self.clock.now();
        self.upto = self.engine.last_commit().await?.max(self.at);
        Ok(())
    }

    /// Adds an image; one that is not there any more moves the moment behind the commit that ended its use.
    async fn image(&mut self, hash: &str) -> Result<(), BackupError> {
        if let Some(bytes) = self.read_image(hash).await? {
            self.missing.remove(hash);
            return self.writer.image(&bytes).await;
        }
        self.missing.insert(hash.to_owned());
        self.set_moment().await
    }

    async fn read_image(&self, hash: &str) -> Result<Option<Vec<u8>>, BackupError> {
        let read = match self.engine.objects().open(hash).await? {
            None => return Ok(None),
            Some(_) => image(self.engine, hash).await,
        };
        match read {
            Ok(bytes) => Ok(Some(bytes)),
            // It may have been removed between the two looks.
            Err(ExportError::Broken(_)) if self.engine.objects().open(hash).await?.is_none() => Ok(None),
            Err(ExportError::Broken(why)) => Err(BackupError::Refused(why)),
            Err(ExportError::Engine(fault)) => Err(fault.into()),
            Err(ExportError::Write(error)) => Err(error.into()),
        }
    }

    /// Adds what was committed from the first page up to the moment.
    async fn follow(&mut self) -> Result<(), BackupError> {
        let mut patience = Deadline::after(PATIENCE);
        while self.at < self.upto {
            let commits = self.engine.commits_since(self.at, COMMITS_AT_ONCE).await?;
            if commits.is_empty() {
                // On a shared engine an older transaction is still under way.
                if patience.has_passed() {
                    let why =
                        "a transaction in the database has been under way for a minute; try again later";
                    return Err(Fault::new(fault::UNAVAILABLE, why).into());
                }
                tokio::time::sleep(PAUSE).await;
            } else {
                patience = Deadline::after(PATIENCE);
            }
            for (sequence, commit) in commits {
                if sequence > self.upto {
                    return Ok(());
                }
                self.commit(&commit).await?;
                self.at = sequence;
            }
        }
        Ok(())
    }

    async fn commit(&mut self, commit: &Commit) -> Result<(), BackupError> {
        for change in &commit.changes {
            let is_mark = change.space == SYSTEM && change.key == MARK;
            if is_mark || LOCAL.contains(&change.space) {
                continue;
            }
            self.writer.change(change).await?;
            if change.space == IMAGE_USES && change.value.is_some() {
                let hash = change.key.split(|byte| *byte == 0).next().unwrap_or_default();
                self.image(&String::from_utf8_lossy(hash)).await?;
            }
        }
        Ok(())
    }

    /// Refuses to end with an image that a record names and that is not there.
    async fn check_missing(&self) -> Result<(), BackupError> {
        for hash in &self.missing {
            let range = Range::prefix(&prefix(&[hash]));
            let used = look(self.engine, move |view| view.scan(IMAGE_USES, &range, false, 1)).await?;
            if !used.is_empty() && self.engine.objects().open(hash).await?.is_none() {
                let why = format!("image {hash} is missing: see mfa check store");
                return Err(BackupError::Refused(why));
            }
        }
        Ok(())
    }

    async fn end(mut self) -> Result<(), BackupError> {
        self.check_missing().await?;
        self.writer.put(&[b"."]).await?;
        self.writer.flush().await?;
        self.writer.counted.journal_sequence = self.upto;
        self.writer.counted.journal = self.engine.journal_mark(self.upto).await?;
        let trailer = serde_json::to_vec(&self.writer.counted).unwrap_or_default();
        let bytes = self.writer.frame(TRAILER, &trailer).await?;
        let digest = self.writer.framer.digest();
        self.writer.send(Framer::end(bytes)).await?;
        tracing::info!(digest, pairs = self.writer.counted.pairs, "a backup was made");
        Ok(())
    }
}
