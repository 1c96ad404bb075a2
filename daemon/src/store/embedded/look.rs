//! A look at the journal from outside: every frame of every file, without the lock, beside a daemon that
//! may be writing.

use super::begin::begin;
use super::claims::{claims, compare};
use super::codec::Hash;
use super::directory::At;
use super::disk::{Disk, JOURNAL, RealDisk};
use super::format::{self, Said};
use super::head::{HEADER_BYTES, Head, Position};
use super::options::OpenError;
use super::past::Moment;
use super::scan::Scanner;
use super::segment::{self, Header, Reader, Step};
use crate::store::engine::Space;
use mfa_shared::time::Timestamp;
use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::time::Instant;

/// The result of a look at a journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JournalSeen {
    /// Its files.
    pub files: usize,
    /// The last commit that was seen.
    pub commits: u64,
    /// Whether every file was looked at before the time was over.
    pub whole: bool,
}

/// Looks at every frame of the journal in a data directory, until `deadline` at most.
pub fn look_at_journal(dir: &Path, deadline: Instant) -> Result<JournalSeen, OpenError> {
    let disk = RealDisk::new(dir);
    let at = At { disk: &disk, dir };
    // What is claimed is read first: the journal only grows meanwhile.
    let claims = claims(&at, None, &[])?;
    let wanted: BTreeSet<u64> = claims.iter().filter_map(|claim| Some(claim.head?.sequence)).collect();
    let files = at.io(JOURNAL, segment::segments(&disk))?.len();
    let Some(store) = store_of(&disk) else {
        return Err(at.damaged(
            &segment::name(1),
            "it is missing, or its first bytes are not those of a journal file".to_owned(),
        ));
    };
    let stop = || Instant::now() > deadline;
    let begins = at.io(JOURNAL, begin(&disk, store))?;
    let scanner =
        Scanner { at: &at, store: &store, begins: &begins, wanted: &wanted, until: u64::MAX, stop: &stop };
    let scan = match scanner.run(begins) {
        // Beside it, a daemon has put older files into the archive.
        Err(_) if at.io(JOURNAL, begin(&disk, store))? != begins => {
            return look_at_journal(dir, deadline);
        }
        scan => scan?,
    };
    let last = at.io(JOURNAL, segment::segments(&disk))?.last().copied().unwrap_or_default();
    let whole = scan.end.at.segment >= last || !stop();
    if whole {
        compare(&at, &scan, &claims)?;
    }
    Ok(JournalSeen { files, commits: scan.end.sequence, whole })
}

/// The identity of the store, by the file that says so or by the first journal file.
fn store_of(disk: &RealDisk) -> Option<Hash> {
    match format::said(disk) {
        Ok(Some(Said::Known(store, _))) => Some(store),
        _ => Some(Header::read(disk, 1).ok()??.before),
    }
}

/// The number and the time of the first commit that the journal in a folder still has, if the older ones are
/// in an archive.
pub fn journal_begins(dir: &Path) -> Option<Moment> {
    let disk = RealDisk::new(dir);
    let store = store_of(&disk)?;
    let begins = begin(&disk, store).ok().filter(|begins| begins.sequence > 0)?;
    let time = time_behind(&disk, &store, &begins).ok().flatten()?;
    Some(Moment { sequence: begins.sequence + 1, time })
}

/// When the first commit behind a head was decided.
pub(super) fn time_behind(disk: &dyn Disk, store: &Hash, head: &Head) -> io::Result<Option<Timestamp>> {
    let Some(mut reader) = Reader::open(disk, store, head.at)? else { return Ok(None) };
    match reader.next()? {
        Step::Frame(frame) => Ok(frame.commits.first().map(|commit| commit.time)),
        Step::End | Step::Bad { .. } => Ok(None),
    }
}

/// The last value of a key that the journal holds, as far as its frames can be read before `deadline`.
pub fn last_value(dir: &Path, space: Space, key: &[u8], deadline: Instant) -> Option<Vec<u8>> {
    let disk = RealDisk::new(dir);
    let store = store_of(&disk)?;
    let mut last = None;
    for segment in segment::segments(&disk).ok()? {
        let at = Position { segment, offset: HEADER_BYTES };
        let Ok(Some(mut reader)) = Reader::open(&disk, &store, at) else { break };
        while let Ok(Step::Frame(frame)) = reader.next() {
            let changes = frame.commits.into_iter().flat_map(|commit| commit.changes);
            let mut own = changes.filter(|change| change.space.id == space.id && change.key == key);
            last = own.next_back().map_or(last, |change| change.value);
        }
        if Instant::now() > deadline {
            break;
        }
    }
    last
}
