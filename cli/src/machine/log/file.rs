//! The log file of a daemon in the background. When it has become long it is put aside, in the place of the
//! one before, and the daemon goes on in another one.

use crate::failure::Outcome;
use crate::settings::state_dir;
use rustix::fs::{fstat, stat};
use rustix::stdio::{dup2_stderr, dup2_stdout};
use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io::{self, stderr};
use std::path::{Path, PathBuf};

/// Bytes after which it is put aside.
const BYTES_MAX: u64 = 64 * 1024 * 1024;

/// A log file that this process writes on stderr.
#[derive(Debug)]
pub(super) struct LogFile(PathBuf);

/// Where the daemon of a port logs that runs in the background.
pub fn log_file(port: u16) -> Outcome<PathBuf> {
    Ok(state_dir()?.join(format!("daemon-{port}.log")))
}

/// What was logged before the present file.
pub fn former(log: &Path) -> PathBuf {
    with_end(log, ".1")
}

fn with_end(file: &Path, end: &str) -> PathBuf {
    let mut name = OsString::from(file);
    name.push(end);
    name.into()
}

impl LogFile {
    /// The file at a path, if stderr is written there.
    pub(super) fn of_stderr(path: PathBuf) -> Option<Self> {
        let file = Self(path);
        file.is_stderr().ok()?.then_some(file)
    }

    fn is_stderr(&self) -> io::Result<bool> {
        let (written, named) = (fstat(stderr())?, stat(&self.0)?);
        Ok((written.st_dev, written.st_ino) == (named.st_dev, named.st_ino))
    }

    /// Puts the file aside where it is long. Where that fails, it is tried again after the next lines, which
    /// are written to the file as it is.
    pub(super) fn bound(&self) -> io::Result<()> {
        let bytes = u64::try_from(fstat(stderr())?.st_size).unwrap_or_default();
        if bytes < BYTES_MAX {
            return Ok(());
        }
        let new = |path: &Path| OpenOptions::new().create(true).append(true).open(path);
        // Another daemon of the same port, which is about to end, may have done it.
        let next = if self.is_stderr().unwrap_or(false) {
            let fresh = with_end(&self.0, ".new");
            let next = new(&fresh)?;
            fs::rename(&self.0, former(&self.0))?;
            fs::rename(&fresh, &self.0)?;
            next
        } else {
            new(&self.0)?
        };
        dup2_stdout(&next)?;
        Ok(dup2_stderr(&next)?)
    }
}
