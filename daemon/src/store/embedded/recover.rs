//! Opening: what the files say is compared, torn ends are cut, and the index is brought up to the journal.
//!
//! The journal decides. Everything else that knows how far it went (the mark of the tail, the mark of a
//! clean stop, checkpoints, the index) is a claim: if the journal ends before one, acknowledged writes are
//! missing, and the engine refuses to open rather than to forget them.

use super::checkpoint::{self, Checkpoint};
use super::codec::Hash;
use super::disk::Disk;
use super::feed::Frames;
use super::format::{establish, genesis};
use super::head::{CLEAN, Head, TAIL, read_mark};
use super::index::{self, Index, Meta, Sick};
use super::journal::{self, Journal};
use super::options::{OpenError, Options};
use super::scan::{Scan, Scanner};
use crate::store::engine::Change;
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const REPLAY_BYTES: u64 = 4 * 1024 * 1024;

/// The data directory, for the sentences of refusals.
pub(super) struct At<'a> {
    pub(super) disk: &'a dyn Disk,
    pub(super) dir: &'a Path,
}

impl At<'_> {
    pub(super) fn path(&self, name: &str) -> PathBuf {
        if name.is_empty() { self.dir.to_owned() } else { self.dir.join(name) }
    }

    pub(super) fn io<T>(&self, name: &str, result: io::Result<T>) -> Result<T, OpenError> {
        result.map_err(|source| OpenError::Io { file: self.path(name), source })
    }

    pub(super) fn damaged(&self, name: &str, why: String) -> OpenError {
        let way_out = "restore this file from a copy, or the whole data directory from a backup".to_owned();
        OpenError::Damaged { file: self.path(name), why, way_out }
    }
}

/// Something outside of the journal that knows how far it went.
struct Claim {
    who: String,
    sequence: u64,
    /// The head at that sequence, if the claim knows it.
    head: Option<Head>,
}

/// What was found on opening.
pub(super) struct Recovered {
    pub(super) store: Hash,
    pub(super) index: Index,
    pub(super) journal: Journal,
    pub(super) scan: Scan,
    /// Whether the index is too large to be verified before opening.
    pub(super) index_unverified: bool,
    /// Bytes of the journal behind the newest checkpoint, and its size.
    pub(super) grown_bytes: u64,
    pub(super) checkpoint_bytes: u64,
}

/// Opens everything, or says why not.
pub(super) fn recover(options: &Options, disk: &Arc<dyn Disk>) -> Result<Recovered, OpenError> {
    let at = At { disk: &**disk, dir: &options.dir };
    let index_dir = options.dir.join("index");
    let store = establish(&at, &index_dir)?;
    let found = open_index(&index_dir, options);
    let checkpoints = at.io(checkpoint::DIR, checkpoint::list(at.disk))?;
    let claims = claims(&at, found.as_ref().map(|(_, meta)| meta), &checkpoints)?;
    let wanted: BTreeSet<u64> = claims.iter().filter_map(|c| Some(c.head?.sequence)).collect();

    let journal_bytes = journal_bytes(&at, 0)?;
    let newest = checkpoints.first().map(|checkpoint| checkpoint.from);
    let start = newest.filter(|_| journal_bytes > options.verify_bytes).unwrap_or_else(|| genesis(store));
    let scanner = Scanner { at: &at, store: &store, wanted: &wanted, until: u64::MAX, stop: &|| false };
    let scan = scanner.run(start)?;
    compare(&at, &scan, &claims)?;

    let end = scan.end;
    if let Some(why) = scan.torn {
        let file = journal::name(end.at.segment);
        tracing::warn!(file, byte = end.at.offset, why, "the unfinished end of the journal is cut off");
    }
    let journal = at.io(journal::DIR, resume(disk, store, &scan, options.segment_bytes))?;
    let grown_bytes = match newest {
        None => journal_bytes,
        Some(head) => journal_bytes_after(&at, &head)?,
    };

    let replay = Replay { at: &at, disk, store, scan: &scan };
    let (index, index_unverified) = match found.and_then(|found| replay.accept(found, options.verify_bytes)) {
        Some(accepted) => accepted,
        None => (replay.rebuild(&index_dir, options, &checkpoints)?, false),
    };
    at.io(CLEAN, disk.remove(CLEAN))?;
    let checkpoint_bytes = checkpoints.first().map_or(0, |checkpoint| checkpoint.bytes);
    Ok(Recovered { store, index, journal, scan, index_unverified, grown_bytes, checkpoint_bytes })
}

/// The index as it is, if it can be opened and knows how far it goes.
fn open_index(dir: &Path, options: &Options) -> Option<(Index, Meta)> {
    if !dir.exists() {
        return None;
    }
    let opened = Index::open(dir, options.cache_bytes).and_then(|index| {
        let meta = index.meta()?.ok_or_else(|| "it is empty or was not finished".to_owned())?;
        Ok((index, meta))
    });
    opened.inspect_err(|why| tracing::warn!(why, "the index cannot be used and is made anew")).ok()
}

fn claims(at: &At<'_>, index: Option<&Meta>, checkpoints: &[Checkpoint]) -> Result<Vec<Claim>, OpenError> {
    let mut claims = Vec::new();
    for name in [TAIL, CLEAN] {
        if let Some(head) = at.io(name, read_mark(at.disk, name))? {
            claims.push(Claim { who: name.to_owned(), sequence: head.sequence, head: Some(head) });
        }
    }
    for checkpoint in checkpoints {
        let (who, sequence) = (checkpoint.name.clone(), checkpoint.until);
        claims.push(Claim { who: who.clone(), sequence, head: None });
        claims.push(Claim { who, sequence: checkpoint.from.sequence, head: Some(checkpoint.from) });
    }
    if let Some(Meta { head, .. }) = index {
        claims.push(Claim { who: "index".to_owned(), sequence: head.sequence, head: Some(*head) });
    }
    Ok(claims)
}

/// Refuses a journal that ends before a claim, or that is another one.
fn compare(at: &At<'_>, scan: &Scan, claims: &[Claim]) -> Result<(), OpenError> {
    let end = scan.end;
    for claim in claims {
        if claim.sequence > end.sequence {
            let (who, said) = (&claim.who, claim.sequence);
            let wanted = claim.head.map_or(end.at.segment, |head| head.at.segment).max(end.at.segment);
            let (sequence, byte) = (end.sequence, end.at.offset);
            let why = match scan.torn {
                _ if wanted > end.at.segment => {
                    format!("it is missing or empty, but {who} knows commit {said}")
                }
                Some(torn) => format!("{torn} at byte {byte}, but {who} knows commit {said}"),
                None => {
                    format!("it ends with commit {sequence} at byte {byte}, but {who} knows commit {said}")
                }
            };
            return Err(at.damaged(&journal::name(wanted), why));
        }
        let Some(head) = claim.head.filter(|head| head.sequence >= scan.start.sequence) else { continue };
        let same = scan.anchors.get(&head.sequence).is_some_and(|anchor| anchor.hash == head.hash);
        #[cfg(test)]
        let same = same || at.disk.flaws().chain_ignored;
        if !same && [TAIL, CLEAN].contains(&claim.who.as_str()) {
            let why = format!("commit {} is not the one that {} knows", head.sequence, claim.who);
            return Err(at.damaged(&journal::name(head.at.segment), why));
        }
    }
    Ok(())
}

fn journal_bytes(at: &At<'_>, from_segment: u64) -> Result<u64, OpenError> {
    let mut bytes = 0;
    for segment in at.io(journal::DIR, journal::segments(at.disk))? {
        let name = journal::name(segment);
        if segment >= from_segment
            && let Some(file) = at.io(&name, at.disk.open(&name))?
        {
            bytes += at.io(&name, file.bytes())?;
        }
    }
    Ok(bytes)
}

fn journal_bytes_after(at: &At<'_>, head: &Head) -> Result<u64, OpenError> {
    Ok(journal_bytes(at, head.at.segment)?.saturating_sub(head.at.offset))
}

/// Cuts what is behind the end and opens the journal there.
fn resume(disk: &Arc<dyn Disk>, store: Hash, scan: &Scan, segment_bytes: u64) -> io::Result<Journal> {
    match scan.unborn {
        None => {}
        Some(1) => drop(journal::begin(&**disk, &genesis(store), 1)?),
        Some(segment) => disk.remove(&journal::name(segment))?,
    }
    // A file that a killed process made may not have a durable name yet.
    disk.sync_dir(journal::DIR)?;
    Journal::resume(disk.clone(), store, scan.end, segment_bytes)
}

struct Replay<'a> {
    at: &'a At<'a>,
    disk: &'a Arc<dyn Disk>,
    store: Hash,
    scan: &'a Scan,
}

impl Replay<'_> {
    /// Brings the index up to the journal, unless it belongs to another one or is not what was written.
    /// Says whether it is still to be verified.
    fn accept(&self, (index, meta): (Index, Meta), verify_bytes: u64) -> Option<(Index, bool)> {
        let head = meta.head;
        let accepted = (|| {
            if self.scan.anchors.get(&head.sequence).is_none_or(|anchor| *anchor != head) {
                return Err("it belongs to another journal".to_owned());
            }
            let large = index.bytes()? > verify_bytes;
            if !large && !index.audit()? {
                return Err("its pairs are not those that were written".to_owned());
            }
            self.follow(&index, head, true)?;
            Ok(large)
        })();
        match accepted {
            Ok(large) => Some((index, large)),
            Err(why) => {
                tracing::warn!(why, "the index is not used and is made anew");
                None
            }
        }
    }

    /// Applies the frames from `head` to the end of the journal. Unless `marked`, the index does not say
    /// how far it goes before all of them are in it.
    fn follow(&self, index: &Index, head: Head, marked: bool) -> Result<(), Sick> {
        let mut frames = Frames::new(self.disk.clone(), self.store, head.at);
        let (mut head, mut changes, mut bytes) = (head, Vec::<Change>::new(), 0);
        loop {
            let frame = frames.next(self.scan.end.at).map_err(|t| format!("{}: {}", t.file, t.why))?;
            let done = frame.is_none();
            if let Some(frame) = frame {
                head = Head { sequence: frame.last(), hash: frame.hash, at: frames.at() };
                bytes += frame.bytes;
                changes.extend(frame.commits.into_iter().flat_map(|commit| commit.changes));
            }
            if done || bytes > REPLAY_BYTES {
                let head = if done { self.scan.end } else { head };
                index.apply(&changes, (done || marked).then_some(head))?;
                (changes, bytes) = (Vec::new(), 0);
            }
            if done {
                return Ok(());
            }
        }
    }

    /// Makes the index anew: from the newest checkpoint that is whole, from the one before, or from the
    /// journal alone.
    fn rebuild(&self, dir: &Path, options: &Options, checkpoints: &[Checkpoint]) -> Result<Index, OpenError> {
        let mut why = String::new();
        let usable = |checkpoint: &&Checkpoint| {
            self.scan.anchors.get(&checkpoint.from.sequence) == Some(&checkpoint.from)
        };
        for base in checkpoints.iter().filter(usable).map(Some).chain([None]) {
            let name = base.map(|checkpoint| checkpoint.name.as_str());
            self.at.io("index", index::discard(dir))?;
            match self.build(dir, options.cache_bytes, base) {
                Ok(index) => {
                    tracing::info!(checkpoint = name, "the index was made anew");
                    return Ok(index);
                }
                Err(sick) => why = sick,
            }
            tracing::warn!(checkpoint = name, why, "the index cannot be made from this");
        }
        Err(OpenError::Io { file: dir.to_owned(), source: io::Error::other(why) })
    }

    fn build(&self, dir: &Path, cache_bytes: u64, base: Option<&Checkpoint>) -> Result<Index, Sick> {
        let index = Index::open(dir, cache_bytes)?;
        let from = match base {
            None => genesis(self.store),
            Some(checkpoint) => {
                checkpoint::load(&**self.disk, checkpoint, |changes| index.apply(&changes, None))?;
                checkpoint.from
            }
        };
        self.follow(&index, from, false)?;
        Ok(index)
    }
}
