//! What the proofs have in common: a data directory, and short words for work.

use super::super::disk::Disk;
use super::super::packer;
use super::super::{Embedded, OpenError, Options};
use crate::store::engine::{Change, Commit, Engine, Pair, Range, Space, View};
use mfa_shared::fault::Fault;
use mfa_shared::time::Timestamp;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

pub(super) const THINGS: Space = Space { id: 7, name: "things" };

pub(super) fn commit(changes: Vec<Change>) -> Commit {
    let (actor, request) = ("ada".to_owned(), "r-1".to_owned());
    Commit { time: Timestamp::from_millis(1_700_000_000_000), actor, request, changes }
}

pub(super) fn change(key: impl AsRef<[u8]>, value: Option<Vec<u8>>) -> Change {
    Change { space: THINGS, key: key.as_ref().to_vec(), value }
}

/// Small limits, so that a short script meets all of the files.
pub(super) fn options(dir: &Path) -> Options {
    let mut options = Options::new(dir);
    (options.cache_bytes, options.segment_bytes) = (1024 * 1024, 6_000);
    options.recent_keys = 5;
    // Tests that count the operations of a disk decide themselves when files are packed.
    options.packs = false;
    options
}

impl Embedded {
    /// Packs now what is closed of the journal.
    pub(super) fn pack(&self) -> std::io::Result<()> {
        packer::all(&self.shared)
    }
}

pub(super) fn open_on(dir: &Path, disk: Arc<dyn Disk>) -> Result<Embedded, OpenError> {
    Embedded::open_on(options(dir), disk)
}

pub(super) fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().expect("a runtime").block_on(future)
}

/// Writes without looking.
pub(super) fn write(engine: &Embedded, changes: Vec<Change>) -> Result<(), Fault> {
    block_on(engine.write(Box::new(move |_| Some(commit(changes.clone())))))
}

/// Reads with what `work` returns.
pub(super) fn read<T: Send + 'static>(
    engine: &Embedded,
    mut work: impl FnMut(&mut dyn View) -> Result<T, Fault> + Send + 'static,
) -> Result<T, Fault> {
    let slot = Arc::new(Mutex::new(None));
    let inner = slot.clone();
    let run = move |view: &mut dyn View| *inner.lock().expect("no panic") = Some(work(view));
    block_on(engine.read(Box::new(run), false))?;
    slot.lock().expect("no panic").take().expect("the work has run")
}

/// A store that was closed behind a checkpoint of its one record.
pub(super) fn close_with_checkpoint(dir: &Path) {
    let engine = Embedded::open(options(dir)).unwrap();
    write(&engine, vec![change("a", Some(b"from the journal".to_vec()))]).unwrap();
    engine.checkpoint().unwrap();
    block_on(engine.close()).unwrap();
}

/// Everything in the space.
pub(super) fn all(engine: &Embedded) -> Result<Vec<Pair>, Fault> {
    read(engine, |view| view.scan(THINGS, &Range::prefix(b""), false, usize::MAX))
}

pub(super) fn soon(mut what: impl FnMut() -> bool) -> bool {
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_secs(60) {
        if what() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    false
}
