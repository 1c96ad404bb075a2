//! The data directory as refusals name its files.

use super::disk::Disk;
use super::options::OpenError;
use std::io;
use std::path::{Path, PathBuf};

/// The data directory, for the sentences of refusals.
pub(super) struct At<'a> {
    pub(super) disk: &'a dyn Disk,
    pub(super) dir: &'a Path,
}

impl At<'_> {
    pub(super) fn path(&self, name: &str) -> PathBuf {
        if name.is_empty() { self.dir.to_owned() } else { self.dir.join(name) }
    }

    pub(super) fn io<T>(&self, name: &str, result: io::Result<T>) -> Result<T, OpenError> {
        result.map_err(|source| match source.kind() {
            // Only what is read says so, of bytes that were never written like that.
            io::ErrorKind::InvalidData => self.damaged(name, source.to_string()),
            _ => OpenError::Io { file: self.path(name), source },
        })
    }

    pub(super) fn damaged(&self, name: &str, why: String) -> OpenError {
        let way_out = "restore this file from a copy, or the whole data directory from a backup".to_owned();
        OpenError::Damaged { file: self.path(name), why, way_out }
    }
}
