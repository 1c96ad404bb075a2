//! Bringing the index up to the journal, or rebuilding it.

use super::checkpoint::{self, Checkpoint};
use super::codec::Hash;
use super::directory::At;
use super::disk::Disk;
use super::feed::Frames;
use super::format::genesis;
use super::head::Head;
use super::options::{OpenError, Options};
use super::pairs::Pairs;
use super::reach::Reach;
use super::scan::Scan;
use super::tree::{self, Sick};
use crate::store::layer::Layer;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// The journal is applied in batches of about this length, and of about so many keys: each of them may change
/// another block of the index.
const REPLAY_BYTES: usize = 4 * 1024 * 1024;
const REPLAY_KEYS: usize = 1 << 14;

/// The verified journal, to be applied.
pub(super) struct Replay<'a> {
    pub(super) at: &'a At<'a>,
    pub(super) disk: &'a Arc<dyn Disk>,
    pub(super) store: Hash,
    pub(super) begins: &'a Head,
    pub(super) scan: &'a Scan,
}

impl Replay<'_> {
    /// Brings the index up to the journal, unless it belongs to another one or is not what was written.
    /// Says whether it is still to be verified.
    pub(super) fn accept(
        &self,
        (pairs, reach): (Pairs, Reach),
        verify_bytes: u64,
    ) -> Result<(Pairs, bool), Sick> {
        let head = reach.head;
        if self.scan.anchors.get(&head.sequence).is_none_or(|anchor| *anchor != head) {
            return Err("it belongs to another journal".to_owned());
        }
        let large = pairs.bytes()? > verify_bytes;
        if !large && !pairs.audit()? {
            return Err("its pairs are not those that were written".to_owned());
        }
        self.follow(&pairs, head, true)?;
        Ok((pairs, large))
    }

    /// Applies the frames from `head` to the end of the journal. Unless `marked`, the index does not say
    /// how far it goes before all of them are in it.
    fn follow(&self, pairs: &Pairs, head: Head, marked: bool) -> Result<(), Sick> {
        let mut frames = Frames::new(self.disk.clone(), self.store, head.at);
        let mut head = head;
        let mut changes = Layer::default();
        loop {
            let frame = frames.next(self.scan.end.at).map_err(|t| format!("{}: {}", t.file, t.why))?;
            let done = frame.is_none();
            if let Some(frame) = frame {
                head = Head { sequence: frame.last(), hash: frame.hash, at: frames.at() };
                for change in frame.commits.into_iter().flat_map(|commit| commit.changes) {
                    changes.put(change);
                }
            }
            if done || changes.bytes() > REPLAY_BYTES || changes.len() > REPLAY_KEYS {
                let head = if done { self.scan.end } else { head };
                pairs.apply(&changes, (done || marked).then(|| Reach::exactly(head)))?;
                changes = Layer::default();
            }
            if done {
                return Ok(());
            }
        }
    }

    /// Rebuilds the index: from the newest checkpoint that is whole, from the one before, or from the
    /// journal alone.
    pub(super) fn rebuild(
        &self,
        dir: &Path,
        options: &Options,
        checkpoints: &[Checkpoint],
    ) -> Result<Pairs, OpenError> {
        let mut why = String::new();
        let usable = |checkpoint: &&Checkpoint| {
            self.scan.anchors.get(&checkpoint.from.sequence) == Some(&checkpoint.from)
        };
        // Without its older files the journal alone does not say how everything began.
        let whole = (self.begins.sequence == 0).then_some(None);
        if whole.is_none() {
            why =
                "no checkpoint is whole, and the older files of the journal are in their archive: put them \
                   back into the folder journal, and start again"
                    .to_owned();
        }
        for base in checkpoints.iter().filter(usable).map(Some).chain(whole) {
            let name = base.map(|checkpoint| checkpoint.name.as_str());
            self.at.io("index", tree::discard(dir))?;
            match self.build(dir, options.cache_bytes, base) {
                Ok(pairs) => {
                    tracing::info!(checkpoint = name, "the index was made anew");
                    return Ok(pairs);
                }
                Err(sick) => why = sick,
            }
            tracing::warn!(checkpoint = name, why, "the index cannot be made from this");
        }
        // A part of it is of no use, and may have taken the last space of the disk.
        self.at.io("index", tree::discard(dir))?;
        Err(OpenError::Io { file: dir.to_owned(), source: io::Error::other(why) })
    }

    fn build(&self, dir: &Path, cache_bytes: u64, base: Option<&Checkpoint>) -> Result<Pairs, Sick> {
        let pairs = Pairs::open(dir, cache_bytes)?;
        let from = match base {
            None => genesis(self.store),
            Some(checkpoint) => {
                checkpoint::load(&**self.disk, checkpoint, |changes| pairs.apply(&changes, None))?;
                checkpoint.from
            }
        };
        self.follow(&pairs, from, false)?;
        Ok(pairs)
    }
}
