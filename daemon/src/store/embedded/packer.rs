//! Packs closed journal files beside the work, one after the other. A kill at any point leaves either the
//! plain or the packed file, and at most a draft that the next start removes.

use super::disk::{Disk, JOURNAL};
use super::head::HEADER_BYTES;
use super::packed::{Packed, is_packed, pack, same};
use super::segment::{self, name};
use super::shared::Shared;
use crate::store::space;
use rustix::process::nice;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;

const DRAFT: &str = "journal/pack.tmp";
/// How far the thread gives way to those that serve and write.
const NICE: i32 = 10;

/// Has closed files packed in the background, if there may be new ones.
pub(super) fn consider(shared: &Arc<Shared>) {
    let packer = &shared.packer;
    let last = last(shared);
    if !packer.wanted || packer.seen.swap(last, SeqCst) == last || packer.due.swap(true, SeqCst) {
        return;
    }
    shared.spawn("store-pack", |shared| {
        let _ = nice(NICE);
        shared.packer.due.store(false, SeqCst);
        match all(&shared) {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => {
                tracing::warn!(%error, "a closed journal file stays unpacked; the next try follows later");
            }
            _ => {}
        }
    });
}

/// The file with the last commit. That is durable, so no file before this one is ever written to again. The
/// next file may have been made already when a process was killed, and says nothing yet.
fn last(shared: &Shared) -> u64 {
    let at = shared.head().at;
    if at.offset > HEADER_BYTES { at.segment } else { at.segment - 1 }
}

/// Packs every closed file that is not packed yet. The error is the last one; other files are packed then.
pub(super) fn all(shared: &Shared) -> io::Result<()> {
    let _one_at_a_time = shared.packer.working();
    let disk = &*shared.disk;
    let last = last(shared);
    let mut outcome = Ok(());
    for segment in segment::segments(disk)?.into_iter().filter(|segment| *segment < last) {
        let Err(error) = one(shared, segment) else { continue };
        // The journal needs what space there is.
        let _ = remove_draft(disk);
        let stop = error.kind() == io::ErrorKind::Interrupted || space::is_full(&error);
        outcome = Err(error);
        if stop {
            break;
        }
    }
    outcome
}

/// Removes what is left of a packing that was never finished.
pub(super) fn remove_draft(disk: &dyn Disk) -> io::Result<()> {
    disk.remove(DRAFT)
}

/// Whether to continue work that takes space and time.
fn go_on(shared: &Shared) -> io::Result<()> {
    match () {
        () if shared.stopping.load(SeqCst) => {
            Err(io::Error::new(io::ErrorKind::Interrupted, "the store is closing"))
        }
        () if !shared.has_room() => Err(space::full()),
        () => Ok(()),
    }
}

fn one(shared: &Shared, segment: u64) -> io::Result<()> {
    let disk = &*shared.disk;
    let name = name(segment);
    let missing = || io::Error::new(io::ErrorKind::NotFound, format!("{name} is missing"));
    let plain = disk.open(&name)?.ok_or_else(missing)?;
    if is_packed(&*plain)? {
        return Ok(());
    }
    let go_on = || go_on(shared);
    go_on()?;
    // What does not shrink may become as long again, and a little more.
    if disk.above_reserve() / 2 < plain.bytes()? {
        return Err(space::full());
    }
    shared.form.raise(disk, &shared.store)?;
    pack(&*plain, &*disk.create(DRAFT)?, &go_on)?;
    let packed = Packed::open(disk.open(DRAFT)?.ok_or_else(missing)?)?;
    if !same(&*plain, &packed, &go_on)? {
        return Err(io::Error::other(format!("{name} does not read the same when it is packed")));
    }
    disk.rename(DRAFT, &name)?;
    disk.sync_dir(JOURNAL).inspect_err(|error| {
        // The next sync of the folder would say that all is well, also with the name of a file in use.
        tracing::error!(%error, "the journal's folder cannot be synced; writes are refused until a restart");
        shared.refuse_writes("the disk of the store has failed, so nothing can be written");
    })
}
