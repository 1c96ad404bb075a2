//! A look at the journal from outside: every frame of every file, without the lock, beside a daemon that
//! may be writing.

use super::claims::{claims, compare};
use super::disk::RealDisk;
use super::format::genesis;
use super::head::Position;
use super::options::OpenError;
use super::recover::At;
use super::scan::Scanner;
use super::segment::{self, HEADER_BYTES, Header, Reader, Step};
use crate::store::engine::Space;
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Instant;

/// What a look at a journal came to.
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
    let files = at.io(segment::DIR, segment::segments(&disk))?.len();
    let first = segment::name(1);
    let Some(header) = at.io(&first, Header::read(&disk, 1))? else {
        return Err(at.damaged(
            &first,
            "it is missing, or its first bytes are not those of a journal file".to_owned(),
        ));
    };
    let stop = || Instant::now() > deadline;
    let scanner = Scanner { at: &at, store: &header.before, wanted: &wanted, until: u64::MAX, stop: &stop };
    let scan = scanner.run(genesis(header.before))?;
    let whole = usize::try_from(scan.end.at.segment).is_ok_and(|last| last >= files) || !stop();
    if whole {
        compare(&at, &scan, &claims)?;
    }
    Ok(JournalSeen { files, commits: scan.end.sequence, whole })
}

/// The last value of a key that the journal holds, as far as its frames can be read before `deadline`.
pub fn last_value(dir: &Path, space: Space, key: &[u8], deadline: Instant) -> Option<Vec<u8>> {
    let disk = RealDisk::new(dir);
    let store = Header::read(&disk, 1).ok()??.before;
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
