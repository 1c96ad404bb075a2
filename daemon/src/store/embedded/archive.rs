//! Moves closed journal files that a verified backup covers into a folder of their own.
//!
//! They are copied, synced, read back and named there; then the journal's new beginning is noted durably;
//! only then they are removed here. A kill at any point leaves the journal and the archive whole, and the
//! next run ends what was begun.

use super::begin;
use super::checkpoint;
use super::checkpointer;
use super::directory::At;
use super::disk::{Disk, JOURNAL, READ_BYTES, RealDisk, draft_of, read_up_to};
use super::feed::Feed;
use super::format::{self, Said};
use super::head::{HEADER_BYTES, Head, Position};
use super::look::time_behind;
use super::packed;
use super::past;
use super::scan::Scanner;
use super::segment::{self, Header, name};
use super::shared::Shared;
use crate::store::engine::{Archive, Archived, Commit, Visit};
use crate::store::space;
use mfa_shared::fault::{Fault, UNAVAILABLE};
use mfa_shared::time::Timestamp;
use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::sync::{Arc, PoisonError};

const DRAFT: &str = "journal/copy.tmp";

/// Why nothing, or not everything, was moved.
enum Failed {
    Refused(String),
    Disk(io::Error),
}

impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Self {
        Self::Disk(error)
    }
}

impl Failed {
    fn fault(self, out: &Path) -> Fault {
        match self {
            Self::Refused(why) => Fault::new(UNAVAILABLE, why),
            Self::Disk(error) => {
                let why = format!("the journal cannot be archived in {}: {error}", out.display());
                space::refusal(&error).unwrap_or_else(|| Fault::new(UNAVAILABLE, why))
            }
        }
    }
}

fn refused<T>(why: &str) -> Result<T, Failed> {
    Err(Failed::Refused(why.to_owned()))
}

/// Hands over every commit that the journal still has. What the archived files made comes first, as one
/// commit with the records of the oldest checkpoint.
pub(super) fn replay(shared: &Arc<Shared>, visit: &mut Visit) -> Result<(), Fault> {
    let begins = shared.begins();
    let mut after = 0;
    if begins.sequence > 0 {
        let unreadable = |why: String| Fault::new(UNAVAILABLE, format!("no checkpoint can be read: {why}"));
        let _kept = shared.checkpoint.lock().unwrap_or_else(PoisonError::into_inner);
        let checkpoints = checkpoint::list(&*shared.disk).map_err(|error| unreadable(error.to_string()))?;
        let oldest = checkpoints.into_iter().rfind(|kept| kept.from.sequence >= begins.sequence);
        let oldest = oldest.ok_or_else(|| unreadable("there is none".to_owned()))?;
        let put = |pairs: crate::store::layer::Layer| {
            let time = Timestamp::from_millis(0);
            let actor = String::new();
            let request = String::new();
            visit(Commit { time, actor, request, changes: pairs.into_changes().collect() });
            Ok(())
        };
        checkpoint::load(&*shared.disk, &oldest, put).map_err(unreadable)?;
        after = oldest.from.sequence;
    }
    for next in Feed::new(shared.clone(), after) {
        visit(next?.1);
    }
    Ok(())
}

/// Moves what may be moved.
pub(super) fn archive(shared: &Arc<Shared>, how: &Archive) -> Result<Archived, Fault> {
    archive_to(&RealDisk::new(&how.out), shared, how)
}

pub(super) fn archive_to(out: &dyn Disk, shared: &Arc<Shared>, how: &Archive) -> Result<Archived, Fault> {
    // After the verification that began with the opening, and after another one who archives.
    let _alone = shared.archiving.lock().unwrap_or_else(PoisonError::into_inner);
    let known = past::mark(shared.clone(), how.covered)?;
    if known.as_ref() != Some(&how.mark) {
        let why =
            format!("the backup is not one of this store: the journal has another commit {}", how.covered);
        return Err(Fault::new(UNAVAILABLE, why));
    }
    moved(out, shared, how).map_err(|failed| failed.fault(&how.out))
}

fn moved(out: &dyn Disk, shared: &Arc<Shared>, how: &Archive) -> Result<Archived, Failed> {
    // No file is packed and no checkpoint goes meanwhile.
    let _packing = shared.packer.working();
    if checkpoint::list(&*shared.disk)?.is_empty() {
        checkpointer::make(shared)?;
    }
    let _kept = shared.checkpoint.lock().unwrap_or_else(PoisonError::into_inner);
    let disk = &*shared.disk;
    shared.form.raise(disk, &shared.store)?;
    let begins = shared.begins();
    let next = next_begin(shared, how, &begins)?;
    let mut archived = Archived { begins: begins.sequence + 1, ..Archived::default() };
    let older: Vec<_> =
        segment::segments(disk)?.into_iter().filter(|segment| *segment < next.at.segment).collect();
    if older.is_empty() {
        return Ok(archived);
    }
    prepare(out, shared)?;
    for segment in &older {
        archived.bytes += copy(disk, out, *segment)?;
    }
    // Also the names of files that were there already: a run that was killed may have left them so.
    out.sync_dir(JOURNAL)?;
    begin::set(disk, &next)?;
    *shared.begins.lock().unwrap_or_else(PoisonError::into_inner) = next;
    for segment in &older {
        disk.remove(&name(*segment))?;
        archived.files += 1;
    }
    disk.sync_dir(JOURNAL)?;
    archived.begins = next.sequence + 1;
    Ok(archived)
}

/// Where the journal is to begin: every commit before is in the backup, and no checkpoint begins before.
fn next_begin(shared: &Shared, how: &Archive, begins: &Head) -> Result<Head, Failed> {
    let disk = &*shared.disk;
    let checkpoints = checkpoint::list(disk)?;
    for kept in &checkpoints {
        if let Err(why) = checkpoint::load(disk, kept, |_| Ok(())) {
            return refused(&format!(
                "{} is damaged ({why}), so older files are still needed: remove it, and try again",
                kept.name
            ));
        }
    }
    let Some(needed) = checkpoints.iter().map(|kept| kept.from.at.segment).min() else { return Ok(*begins) };
    let mut next = *begins;
    for segment in begins.at.segment + 1..=needed {
        let Some(header) = Header::read(disk, segment)? else { break };
        let at = Position { segment, offset: HEADER_BYTES };
        let head = Head { sequence: header.first - 1, hash: header.before, at };
        let is_old = match how.older_than {
            None => true,
            Some(limit) => time_behind(disk, &shared.store, &head)?.is_some_and(|time| time < limit),
        };
        if header.first > how.covered || !is_old {
            break;
        }
        next = head;
    }
    verify(shared, begins, &next)?;
    Ok(next)
}

/// Verifies what is to be moved, to the last byte.
fn verify(shared: &Shared, begins: &Head, next: &Head) -> Result<(), Failed> {
    let at = At { disk: &*shared.disk, dir: Path::new("") };
    let wanted = BTreeSet::from([next.sequence]);
    let stop = || false;
    let until = next.sequence;
    let scanner = Scanner { at: &at, store: &shared.store, begins, wanted: &wanted, until, stop: &stop };
    let scan = scanner.run(*begins).map_err(|error| Failed::Refused(error.to_string()))?;
    match scan.anchors.get(&next.sequence) {
        Some(head) if head.hash == next.hash => Ok(()),
        _ => refused("the older files of the journal do not lead to the newer ones: see mfa check store"),
    }
}

/// Makes the folder. One that is refused, since it is that of another store or of something else, stays as it
/// is.
fn prepare(out: &dyn Disk, shared: &Shared) -> Result<(), Failed> {
    match format::said(out)? {
        Some(Said::Known(store, _)) if store == shared.store => {}
        Some(_) => return refused("the archive is that of another store: name another folder"),
        None if !segment::segments(out)?.is_empty() => {
            return refused("the folder has journal files already, and does not say of which store");
        }
        None if !is_empty(out)? => {
            return refused(
                "the folder has other files, and no FORMAT as an archive has: name a new or empty folder",
            );
        }
        None => {
            out.make_dir("")?;
            format::write(out, &shared.store, format::FORM)?;
        }
    }
    out.make_dir(JOURNAL)?;
    out.remove(DRAFT)?;
    Ok(out.sync_dir("")?)
}

/// Whether a folder has nothing but what a file system has by itself, and the draft of a `FORMAT` that was
/// killed in the making.
fn is_empty(out: &dyn Disk) -> io::Result<bool> {
    let draft = draft_of(format::NAME);
    Ok(out.list("")?.iter().all(|name| *name == draft || name == "lost+found"))
}

/// Copies a file, unless it is there already; says how long it is.
fn copy(disk: &dyn Disk, out: &dyn Disk, segment: u64) -> Result<u64, Failed> {
    let name = name(segment);
    let found = out.open(&name)?;
    if is_there(disk, out, segment)? {
        // It may have been put there by hand, so that a power cut would still take it.
        found.map_or(Ok(()), |file| file.sync_data())?;
        return Ok(0);
    }
    if found.is_some() {
        return refused(&format!("the archive has another {name} than the journal: name another folder"));
    }
    let missing = || io::Error::new(io::ErrorKind::NotFound, format!("{name} is missing"));
    let from = disk.open(&name)?.ok_or_else(missing)?;
    let draft = out.create(DRAFT)?;
    let bytes = from.bytes()?;
    let mut at = 0;
    while at < bytes {
        let piece = read_up_to(&*from, at, READ_BYTES)?;
        if piece.is_empty() {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
        }
        draft.write_at(at, &piece)?;
        at += piece.len() as u64;
    }
    draft.sync_data()?;
    if !same(disk, out, &name, DRAFT)? {
        return refused(&format!("{name} does not read the same in the archive"));
    }
    out.rename(DRAFT, &name)?;
    // Before the next draft takes the name of this one.
    out.sync_dir(JOURNAL)?;
    Ok(bytes)
}

/// Whether the archive has a file, packed or not, that reads as the one here.
fn is_there(disk: &dyn Disk, out: &dyn Disk, segment: u64) -> io::Result<bool> {
    match (segment::open(disk, segment)?, segment::open(out, segment)?) {
        (Some((here, _)), Some((there, _))) => packed::same(&*here, &*there, &|| Ok(())),
        _ => Ok(false),
    }
}

/// Whether a file of the archive has the bytes of one here; not, if it is missing.
fn same(disk: &dyn Disk, out: &dyn Disk, name: &str, copy: &str) -> io::Result<bool> {
    let (Some(here), Some(there)) = (disk.open(name)?, out.open(copy)?) else { return Ok(false) };
    let bytes = here.bytes()?;
    let mut at = 0;
    if there.bytes()? != bytes {
        return Ok(false);
    }
    while at < bytes {
        let piece = read_up_to(&*here, at, READ_BYTES)?;
        if piece.is_empty() || read_up_to(&*there, at, READ_BYTES)? != piece {
            return Ok(false);
        }
        at += piece.len() as u64;
    }
    Ok(true)
}
