//! Makes checkpoints beside readers and writer.

use super::checkpoint::{Draft, growth_after, remove_draft, remove_old};
use super::layout::SPACES_END;
use super::shared::Shared;
use crate::store::engine::{Range, Space};
use crate::store::space;
use std::io;
use std::sync::PoisonError;
use std::sync::atomic::Ordering::SeqCst;
use std::thread;
use std::time::Instant;

const PAGE_PAIRS: usize = 64;

/// Makes a checkpoint and keeps the last two. A failure here only makes a later rebuild slower.
pub(super) fn make(shared: &Shared) -> io::Result<()> {
    let _one_at_a_time = shared.checkpoint.lock().unwrap_or_else(PoisonError::into_inner);
    let made = dump(shared);
    if made.is_err() {
        // The disk may have no space for it; the journal needs what there is.
        let _ = remove_draft(&*shared.disk);
    }
    made
}

fn dump(shared: &Shared) -> io::Result<()> {
    let disk = &*shared.disk;
    if !shared.can_settle() {
        return Err(space::full());
    }
    // No checkpoint begins behind the tree of the index: what follows on it is what a start looks at.
    if !shared.settle().map_err(io::Error::other)? {
        return Err(space::full());
    }
    let reached = shared.index.pairs.reach().ok_or_else(|| io::Error::other("the index is not finished"))?;
    let from = reached.head;
    let grown_bytes = shared.grown_bytes.load(SeqCst);
    shared.form.raise(disk, &shared.store)?;
    let mut draft = Draft::begin(disk, &from)?;
    for space in (0..SPACES_END).map(|id| Space { id, name: "" }) {
        let mut left = Range::prefix(b"");
        loop {
            if shared.stopping.load(SeqCst) {
                return Err(io::Error::new(io::ErrorKind::Interrupted, "the store is closing"));
            }
            if !shared.has_room() {
                return Err(space::full());
            }
            let begun = Instant::now();
            let page = shared.index.scan(space, &left, false, PAGE_PAIRS).map_err(io::Error::other)?;
            let Some((last, _)) = page.last() else { break };
            left.from = [last.as_slice(), &[0]].concat();
            page.iter().try_for_each(|pair| draft.put(space.id, pair))?;
            // It is in no hurry, so others get as much of the processors and of the tree.
            thread::sleep(begun.elapsed());
        }
    }
    let plain_bytes = draft.end(disk, shared.head().sequence)?;
    shared.grown_bytes.fetch_sub(grown_bytes, SeqCst);
    shared.growth_bytes_max.fetch_max(growth_after(plain_bytes), SeqCst);
    remove_old(disk)
}
