//! The tree of sled as a guest that is not trusted: its panics are caught, and its folder can be thrown away.

use super::panicked::panic_text;
use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;
use std::os::unix::fs::MetadataExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::{fs, io, thread};

/// A tree that was closed gives its file up sooner than this.
const PATIENCE: Duration = Duration::from_secs(10);

/// Threads that the store, the password checks and the first requests need.
const THREADS: usize = 16;

/// Why the index cannot answer.
pub(super) type Sick = String;

/// Runs a call into sled; its panics become a reason like its errors.
pub(super) fn caught<T>(call: impl FnOnce() -> Result<T, Sick>) -> Result<T, Sick> {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|panic| Err(panic_text(&*panic)))
}

/// What sled says.
pub(super) fn text(error: sled::Error) -> Sick {
    error.to_string()
}

/// The open tree. On damaged files it may panic while it closes, too.
#[derive(Debug)]
pub(super) struct Tree(Option<sled::Db>);

impl std::ops::Deref for Tree {
    type Target = sled::Db;
    #[expect(clippy::expect_used, reason = "it is taken out only when it is dropped")]
    fn deref(&self) -> &sled::Db {
        self.0.as_ref().expect("it is taken out only when it is dropped")
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        let db = self.0.take();
        if let Err(why) = caught(|| {
            drop(db);
            Ok(())
        }) {
            tracing::warn!(why, "the index could not be closed");
        }
    }
}

impl Tree {
    /// Opens the tree of a folder, or makes an empty one.
    pub(super) fn open(dir: &Path, cache_bytes: u64) -> Result<Self, Sick> {
        make_private(dir).and_then(|()| wait_for_file(dir)).map_err(|error| error.to_string())?;
        let config = sled::Config::new().path(dir).cache_capacity(cache_bytes).use_compression(false);
        caught(|| config.open().map_err(text)).map(|db| Self(Some(db)))
    }
}

/// Bytes of a block, as a file counts them.
const BLOCK_BYTES: u64 = 512;

/// More than is asked for is taken at once, where there is room for it.
const SPARE_BYTES: u64 = 4 * 1024 * 1024;

/// Takes space behind the end of the file of a tree, of the `room` that its disk has. An error of sled is
/// final, so it may only write where the disk cannot refuse any more. Says whether there are so many bytes.
pub(super) fn take_space(dir: &Path, bytes: u64, room: u64) -> bool {
    let take = || {
        let file = fs::OpenOptions::new().write(true).open(dir.join("db"))?;
        let now = file.metadata()?;
        let taken = (now.blocks() * BLOCK_BYTES).saturating_sub(now.len());
        if taken < bytes && bytes - taken <= room {
            let more = SPARE_BYTES.min(room - (bytes - taken));
            match fallocate(&file, FallocateFlags::KEEP_SIZE, now.len(), bytes + more) {
                Err(Errno::NOSPC | Errno::DQUOT) => return Ok(false),
                // Not every file system can; there the look at the room has to do.
                Ok(()) | Err(_) => return Ok(true),
            }
        }
        io::Result::Ok(taken >= bytes)
    };
    take().unwrap_or(bytes <= room)
}

/// Whether the system starts as many threads as the store and what serves over it begin with. Without them
/// sled panics, or waits for ever for a thread of its own, and neither has to do with the files.
pub(super) fn try_threads() -> io::Result<()> {
    let gate = Arc::new(Mutex::new(()));
    let closed = gate.lock().unwrap_or_else(PoisonError::into_inner);
    let start = |_| {
        let gate = gate.clone();
        thread::Builder::new().spawn(move || drop(gate.lock()))
    };
    let started: Vec<_> = (0..THREADS).map(start).collect();
    drop(closed);
    started.into_iter().try_for_each(|thread| thread.map(|thread| drop(thread.join())))
}

/// Waits until no one locks the file of the tree. The caller holds the data directory, so the lock can only
/// be left over from an earlier tree: threads of sled that are about to end, or a process that was started at
/// the moment of its closing and has a copy of the file for a while. sled does not wait for either.
fn wait_for_file(dir: &Path) -> io::Result<()> {
    let file = match fs::File::open(dir.join("db")) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        opened => opened?,
    };
    let begun = Instant::now();
    while let Err(fs::TryLockError::WouldBlock) = file.try_lock() {
        if begun.elapsed() > PATIENCE {
            break;
        }
        thread::sleep(Duration::from_millis(5));
    }
    // Said aloud, for the same reason.
    file.unlock()
}

/// Moves an index out of the way and deletes it; one that is deleted half-way is never opened.
pub(super) fn discard(dir: &Path) -> io::Result<()> {
    let stale = dir.with_extension("stale");
    if stale.exists() {
        fs::remove_dir_all(&stale)?;
    }
    if dir.exists() {
        fs::rename(dir, &stale)?;
        fs::remove_dir_all(&stale)?;
    }
    Ok(())
}

/// Makes the folder, closed to others, and clears what a kill in the middle of opening left behind: sled
/// refuses to open beside it, and nothing is lost with it.
fn make_private(dir: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::create_dir_all(dir)?;
    fs::set_permissions(dir, fs::Permissions::from_mode(0o700))?;
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "generating") {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}
