//! The way from a backup to a later moment: what the journal of its store has done since.
//!
//! The journal is verified as far as the moment before anything is written. An image is not in it: those that
//! are in use at the moment are taken from the backup, and the ones that came later from the folder of the
//! old store. What was replaced or removed there since is gone from the folder, and is listed as missing.

use super::BackupError;
use super::read::Facts;
use super::restore::{Waiting, Watch};
use crate::hex::hexadecimal;
use crate::store::Store;
use crate::store::embedded::{Moment, Past, PastError, Until};
use crate::store::engine::{Change, Commit, Engine};
use crate::store::export::{MARK, named};
use crate::store::record::{Record, key};
use crate::store::records::{LOCAL, SPACES, SYSTEM, SealedWith, StoreFacts};
use mfa_shared::time::Timestamp;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

/// The moment to go on to, and the folders with the journal.
#[derive(Debug, Clone)]
pub struct ToMoment {
    /// The moment.
    pub until: Until,
    /// The folder of the old store, its journal, its archive, or some of them.
    pub journal: Vec<PathBuf>,
}

/// A verified journal from the end of a backup to the moment.
#[derive(Debug)]
pub struct Way {
    past: Past,
    from: u64,
    /// The last commit.
    pub reached: Moment,
    /// The last change of the key of the secrets on the way, if there was one.
    pub sealed_with: Option<Option<SealedWith>>,
}

impl From<PastError> for BackupError {
    fn from(error: PastError) -> Self {
        Self::Refused(error.to_string())
    }
}

/// Refuses what this program cannot read, and notes a new key of the secrets.
fn look(commit: &Commit, sealed_with: &mut Option<Option<SealedWith>>) -> Result<(), String> {
    for Change { space, key: place, value } in &commit.changes {
        if !SPACES.contains(space) {
            return Err("the journal holds records that this version of mfa does not know".to_owned());
        }
        if *space == SYSTEM
            && *place == key(&["store"])
            && let Some(facts) = value
        {
            let facts = serde_json::from_slice::<StoreFacts>(facts).ok();
            if !facts.is_some_and(|facts| StoreFacts::reads(facts.form)) {
                return Err("the journal goes on with records that a later version of mfa wrote".to_owned());
            }
        }
        if *space == SealedWith::SPACE && *place == key(&["sealed-with"]) {
            let sealed = value.as_ref().map(|value| serde_json::from_slice(value)).transpose();
            let wrong = |_| "the note of the key of the secrets cannot be read".to_owned();
            *sealed_with = Some(sealed.map_err(wrong)?);
        }
    }
    Ok(())
}

impl Way {
    /// Verifies the journal from the end of the backup to the moment. The caller holds the lock of `held`.
    pub fn find(facts: &Facts, to: &ToMoment, held: Option<&Path>) -> Result<Self, PastError> {
        let from = facts.trailer.journal_sequence;
        let Some(mark) = &facts.trailer.journal else {
            return Err(PastError::Refused(match facts.head.engine.as_str() {
                "postgres" => {
                    "the backup was made of a store in PostgreSQL, which goes to a moment by its own \
                               archive: see mfa help backup-and-restore"
                        .to_owned()
                }
                _ => {
                    "the backup does not say to which journal it belongs: take one that was made by a later \
                      version of mfa, or restore it without --until"
                        .to_owned()
                }
            }));
        };
        if let Until::Sequence(until) = to.until
            && until < from
        {
            return Err(PastError::Refused(format!(
                "commit {until} is before the backup, which ends with commit {from}: take an earlier backup \
                 (mfa backup list DIR)"
            )));
        }
        let past = Past::open(&to.journal, held)?;
        let mut sealed_with = None;
        let reached = past.reach(from, mark, to.until, &mut |commit| look(commit, &mut sealed_with))?;
        Ok(Self { past, from, reached, sealed_with })
    }

    /// The commits of the way.
    pub(super) fn commits(
        &self,
    ) -> Result<impl Iterator<Item = Result<(u64, Commit), PastError>> + '_, PastError> {
        self.past.commits(self.from, self.reached.sequence)
    }

    /// Makes the changes of the journal behind the backup that was put back.
    pub async fn follow(&self, to: &dyn Engine, now: Timestamp, watch: Watch<'_>) -> Result<(), BackupError> {
        let mut waiting = Waiting::default();
        let mut done = 0;
        for next in self.commits()? {
            for mut change in next?.1.changes {
                let is_mark = change.space == SYSTEM && change.key == MARK;
                let known = SPACES.iter().find(|space| **space == change.space);
                let Some(space) = known.filter(|space| !is_mark && !LOCAL.contains(space)) else { continue };
                change.space = *space;
                waiting.add(change);
                done += 1;
                watch(done);
            }
            if waiting.is_full() {
                waiting.write(to, now).await?;
            }
        }
        waiting.write(to, now).await?;
        Ok(())
    }

    /// Brings the images that are in use and were not in the backup; which ones are missing.
    pub async fn bring_images(&self, to: &dyn Engine) -> Result<Vec<String>, BackupError> {
        let mut waiting = Waiting::default();
        let mut missing = Vec::new();
        for first in 0..=u8::MAX {
            let there = to.objects().list(first).await?;
            for hash in named(to, first).await?.into_iter().filter(|hash| !there.contains(hash)) {
                let bytes = self.past.image(&hash).and_then(|file| std::fs::read(file).ok());
                match bytes.filter(|bytes| hexadecimal(&Sha256::digest(bytes)) == hash) {
                    Some(bytes) => waiting.add_image(bytes, to).await?,
                    None => missing.push(hash),
                }
            }
        }
        waiting.keep(to).await?;
        Ok(missing)
    }
}

impl Store {
    /// Goes on to the moment behind a backup that was put back; which images are missing.
    pub async fn follow(&self, way: &Way, watch: Watch<'_>) -> Result<Vec<String>, BackupError> {
        way.follow(&*self.engine, self.clock().now(), watch).await?;
        way.bring_images(&*self.engine).await
    }
}
