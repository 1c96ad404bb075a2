//! One process per data directory.

use super::options::OpenError;
use crate::store::space::{is_full, is_refused_by_mount};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// The lock; it ends with this value or with the process, however that ends.
#[derive(Debug)]
pub struct Lock {
    file: File,
}

impl Drop for Lock {
    /// Said aloud, since a process that was started in this very moment has a copy of the file for a while.
    fn drop(&mut self) {
        let _ = self.file.unlock();
    }
}

impl Lock {
    /// Takes the lock, or names the process that holds it.
    pub fn take(dir: &Path) -> Result<Self, OpenError> {
        let path = dir.join("lock");
        let failed = |source| OpenError::Io { file: path.clone(), source };
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        let writable = options.open(&path);
        let is_read_only = writable.as_ref().is_err_and(is_refused_by_mount);
        // Two that only read may still not have it at the same time: the disk may be mounted anew.
        let opened = if is_read_only { File::open(&path) } else { writable };
        let mut file = opened.map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                // The holder writes its number after it has the lock, so it may be missing for a moment.
                let mut text = String::new();
                let pid = file.read_to_string(&mut text).ok().and_then(|_| text.trim().parse().ok());
                return Err(OpenError::Locked { file: path, pid });
            }
            Err(TryLockError::Error(source)) => return Err(failed(source)),
        }
        if is_read_only {
            return Ok(Self { file });
        }
        let written = file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id()));
        if let Err(error) = written.or_else(|error| if is_full(&error) { Ok(()) } else { Err(error) }) {
            return Err(failed(error));
        }
        Ok(Self { file })
    }
}
