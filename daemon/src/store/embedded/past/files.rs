//! The files of a journal that is only read, and the folders that they lie in.

use super::super::codec::Hash;
use super::super::disk::{Disk, DiskFile};
use super::super::format;
use super::super::options::OpenError;
use super::super::segment::{DIR, Header};
use super::{PastError, refused};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The journal files of several folders, as those of one that is only read.
#[derive(Debug, Default)]
pub(super) struct Files(pub(super) BTreeMap<String, PathBuf>);

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
    let whole = folder.join(DIR);
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

/// The store whose journal lies in a folder, by its own words.
pub(super) fn identity(root: &Path, files: &Files) -> Result<Option<Hash>, PastError> {
    let file = (format::NAME.to_owned(), root.join(format::NAME));
    match format::said(&Files(BTreeMap::from([file]))) {
        Ok(Some(Ok(store))) => return Ok(Some(store)),
        Ok(Some(Err(newer))) => {
            let (file, known) = (root.join(format::NAME), format::FORM);
            return refused(OpenError::TooNew { file, found: newer.0, known, program: newer.1 }.to_string());
        }
        Ok(None) | Err(_) => {}
    }
    // The first file of all names it, too.
    Ok(Header::read(files, 1).ok().flatten().map(|header| header.before))
}
