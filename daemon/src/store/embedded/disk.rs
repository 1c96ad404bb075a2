//! Everything that journal, checkpoints and marks ask of a disk, so that a test can replace it.
//!
//! Names are relative to the data directory. Nothing is durable before `sync_data` (contents) and
//! `sync_dir` (names) have returned.

use crate::store::space;
use rustix::fs::{FallocateFlags, fallocate};
use std::fmt;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

/// The folder of the journal.
pub(super) const JOURNAL: &str = "journal";
/// Files are read in pieces of this length.
pub(super) const READ_BYTES: usize = 1024 * 1024;

/// Checks that a test takes out, to show that its proof notices.
#[cfg(test)]
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Flaws {
    pub(super) checksum_ignored: bool,
    pub(super) chain_ignored: bool,
    pub(super) moments_not_kept: bool,
}

/// A folder of files.
pub(super) trait Disk: Send + Sync + fmt::Debug {
    /// Makes a folder that is missing, for its owner alone. One that was there stays as it is.
    fn make_dir(&self, dir: &str) -> io::Result<()>;
    /// Opens a file that exists for reading and writing.
    fn open(&self, name: &str) -> io::Result<Option<Box<dyn DiskFile>>>;
    /// Makes a file anew, empty.
    fn create(&self, name: &str) -> io::Result<Box<dyn DiskFile>>;
    /// The names in a folder, in order; none if the folder is missing.
    fn list(&self, dir: &str) -> io::Result<Vec<String>>;
    /// Gives a file another name, in place of a file that has it.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;
    /// Removes a file, if it is there.
    fn remove(&self, name: &str) -> io::Result<()>;
    /// Makes the names in a folder durable.
    fn sync_dir(&self, dir: &str) -> io::Result<()>;
    /// Length of a file and when it was changed last, for figures alone: nothing is decided by them.
    fn look(&self, _name: &str) -> io::Result<(u64, SystemTime)> {
        Err(io::ErrorKind::Unsupported.into())
    }
    /// Whether nothing can be written at all. Then a start changes nothing, and everything else is refused.
    fn is_read_only(&self) -> bool {
        false
    }
    /// Bytes that may be written before what is kept back for the journal is touched.
    fn above_reserve(&self) -> u64;
    /// Which checks a test has taken out.
    #[cfg(test)]
    fn flaws(&self) -> Flaws {
        Flaws::default()
    }
}

/// An open file.
pub(super) trait DiskFile: Send + Sync {
    /// Reads into the whole buffer, or less at the end of the file.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize>;
    /// Writes everything.
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()>;
    /// Makes contents and length durable.
    fn sync_data(&self) -> io::Result<()>;
    /// Cuts the file, or fills it up with zeros.
    fn set_len(&self, bytes: u64) -> io::Result<()>;
    /// Takes space behind the end for what will be written there; the length stays.
    fn reserve(&self, from: u64, bytes: u64) -> io::Result<()>;
    /// Length in bytes.
    fn bytes(&self) -> io::Result<u64>;
}

/// Reads at most `bytes` from `offset` on.
pub(super) fn read_up_to(file: &dyn DiskFile, offset: u64, bytes: usize) -> io::Result<Vec<u8>> {
    let mut buffer = vec![0; bytes];
    let read = file.read_at(offset, &mut buffer)?;
    buffer.truncate(read);
    Ok(buffer)
}

/// Reads a whole small file, at most `bytes_max` of it.
pub(super) fn read_small(disk: &dyn Disk, name: &str, bytes_max: usize) -> io::Result<Option<Vec<u8>>> {
    disk.open(name)?.map(|file| read_up_to(&*file, 0, bytes_max)).transpose()
}

/// What a file is called until it is whole.
pub(super) fn draft_of(name: &str) -> String {
    format!("{name}.tmp")
}

/// Writes a file so that after a crash either the old one or the whole new one is there.
pub(super) fn replace(disk: &dyn Disk, dir: &str, name: &str, bytes: &[u8]) -> io::Result<()> {
    let draft = draft_of(name);
    let file = disk.create(&draft)?;
    file.write_at(0, bytes)?;
    file.sync_data()?;
    disk.rename(&draft, name)?;
    disk.sync_dir(dir)
}

/// The data directory on the real disk.
#[derive(Debug)]
pub(super) struct RealDisk {
    root: PathBuf,
    /// Whether it was mounted for reading only when the store was opened.
    read_only: bool,
    /// The folder of the journal.
    journal: Mutex<Option<fs::File>>,
}

impl RealDisk {
    pub(super) fn new(root: &Path) -> Self {
        Self { root: root.to_owned(), read_only: space::is_read_only(root), journal: Mutex::default() }
    }
}

/// Makes a folder and those above it, where they are missing, for their owner alone. Their names are durable.
pub(super) fn make_missing(dir: &Path) -> io::Result<()> {
    let missing: Vec<&Path> = dir.ancestors().take_while(|path| !path.exists()).collect();
    DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
    // Without this, a power cut could take the whole new folder, names of folders first.
    for parent in missing.iter().filter_map(|path| path.parent()) {
        let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
        fs::File::open(parent)?.sync_all()?;
    }
    Ok(())
}

fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true).mode(0o600);
    options
}

fn found<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

impl Disk for RealDisk {
    fn make_dir(&self, dir: &str) -> io::Result<()> {
        if dir.is_empty() {
            return make_missing(&self.root);
        }
        DirBuilder::new().recursive(true).mode(0o700).create(self.root.join(dir))
    }
    fn open(&self, name: &str) -> io::Result<Option<Box<dyn DiskFile>>> {
        let file = found(options().write(!self.read_only).open(self.root.join(name)))?;
        Ok(file.map(|file| Box::new(file) as Box<dyn DiskFile>))
    }
    fn create(&self, name: &str) -> io::Result<Box<dyn DiskFile>> {
        Ok(Box::new(options().create(true).truncate(true).open(self.root.join(name))?))
    }
    fn list(&self, dir: &str) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in found(fs::read_dir(self.root.join(dir)))?.into_iter().flatten() {
            names.extend(entry?.file_name().into_string());
        }
        names.sort();
        Ok(names)
    }
    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        fs::rename(self.root.join(from), self.root.join(to))
    }
    fn remove(&self, name: &str) -> io::Result<()> {
        found(fs::remove_file(self.root.join(name))).map(|_| ())
    }
    fn sync_dir(&self, dir: &str) -> io::Result<()> {
        if dir != JOURNAL {
            return fs::File::open(self.root.join(dir))?.sync_all();
        }
        // Held open: a process that has no file left to open must still be able to sync this.
        let mut journal = self.journal.lock().unwrap_or_else(PoisonError::into_inner);
        match &*journal {
            Some(held) => held.sync_all(),
            None => journal.insert(fs::File::open(self.root.join(dir))?).sync_all(),
        }
    }
    fn look(&self, name: &str) -> io::Result<(u64, SystemTime)> {
        let seen = fs::metadata(self.root.join(name))?;
        Ok((seen.len(), seen.modified()?))
    }
    fn is_read_only(&self) -> bool {
        self.read_only
    }
    fn above_reserve(&self) -> u64 {
        if self.read_only { 0 } else { space::above_reserve(&self.root) }
    }
}

impl DiskFile for fs::File {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let mut read = 0;
        while read < buffer.len() {
            match FileExt::read_at(self, &mut buffer[read..], offset + read as u64) {
                Ok(0) => break,
                Ok(bytes) => read += bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(read)
    }
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.write_all_at(bytes, offset)
    }
    fn sync_data(&self) -> io::Result<()> {
        fs::File::sync_data(self)
    }
    fn set_len(&self, bytes: u64) -> io::Result<()> {
        fs::File::set_len(self, bytes)
    }
    fn reserve(&self, from: u64, bytes: u64) -> io::Result<()> {
        Ok(fallocate(self, FallocateFlags::KEEP_SIZE, from, bytes)?)
    }
    fn bytes(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }
}
