//! The files of a journal that is only read, and the folders that they lie in.

use super::codec::Hash;
use super::disk::{Disk, DiskFile, JOURNAL};
use super::format::{self, Said};
use super::options::OpenError;
use super::segment::{self, Header};
use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Why a journal cannot be followed.
#[derive(Debug)]
pub enum PastError {
    /// Somebody has the store open.
    Locked(String),
    /// The files are not those that are needed, or do not go so far.
    Refused(String),
}

impl fmt::Display for PastError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Locked(why) | Self::Refused(why) => f.write_str(why),
        }
    }
}

pub(super) fn refused<T>(why: String) -> Result<T, PastError> {
    Err(PastError::Refused(why))
}

/// The journal files of several folders, as those of one that is only read.
#[derive(Debug, Default)]
pub(super) struct Files(pub(super) BTreeMap<String, PathBuf>);

impl Files {
    /// The path of a journal file.
    pub(super) fn path(&self, segment: u64) -> String {
        let name = segment::name(segment);
        self.0.get(&name).map_or(name, |path| path.display().to_string())
    }
}

fn never<T>() -> io::Result<T> {
    Err(io::ErrorKind::ReadOnlyFilesystem.into())
}

impl Disk for Files {
    fn make_dir(&self, _: &str) -> io::Result<()> {
        never()
    }
    fn open(&self, name: &str) -> io::Result<Option<Box<dyn DiskFile>>> {
        let opened = self.0.get(name).map(fs::File::open).transpose()?;
        Ok(opened.map(|file| Box::new(file) as Box<dyn DiskFile>))
    }
    fn create(&self, _: &str) -> io::Result<Box<dyn DiskFile>> {
        never()
    }
    fn list(&self, dir: &str) -> io::Result<Vec<String>> {
        let names = self.0.keys().filter_map(|name| name.strip_prefix(dir)?.strip_prefix('/'));
        Ok(names.map(str::to_owned).collect())
    }
    fn rename(&self, _: &str, _: &str) -> io::Result<()> {
        never()
    }
    fn remove(&self, _: &str) -> io::Result<()> {
        never()
    }
    fn sync_dir(&self, _: &str) -> io::Result<()> {
        never()
    }
    fn is_read_only(&self) -> bool {
        true
    }
    fn above_reserve(&self) -> u64 {
        0
    }
}

/// The folder of a store, and that of its journal.
pub(super) fn places(folder: &Path) -> (PathBuf, PathBuf) {
    let whole = folder.join(JOURNAL);
    if whole.is_dir() {
        return (folder.to_owned(), whole);
    }
    let absolute = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let above = absolute.parent().filter(|above| above.join(format::NAME).exists());
    (above.map_or_else(|| folder.to_owned(), Path::to_owned), folder.to_owned())
}

/// Whether two paths lead to the same folder.
pub(super) fn same_folder(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

/// The store that a folder says its journal belongs to.
pub(super) fn identity(root: &Path, files: &Files) -> Result<Option<Hash>, PastError> {
    let file = (format::NAME.to_owned(), root.join(format::NAME));
    match format::said(&Files(BTreeMap::from([file]))) {
        Ok(Some(Said::Known(store, _))) => return Ok(Some(store)),
        Ok(Some(Said::Later(found, program))) => {
            let file = root.join(format::NAME);
            let known = format::FORM;
            return refused(OpenError::TooNew { file, found, known, program }.to_string());
        }
        Ok(None) | Err(_) => {}
    }
    // The first file of all names it, too.
    Ok(Header::read(files, 1).ok().flatten().map(|header| header.before))
}
