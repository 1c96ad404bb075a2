//! The folder in which a process keeps uploads that are on their way into the database.
//!
//! Its process holds a lock on it, so the next one on this machine can detect what a killed one has left.

use crate::hex::hexadecimal;
use rustix::fs::{FlockOperation, Mode, OFlags, flock, fstat};
use rustix::process::geteuid;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

const PREFIX: &str = "mfa-drafts-";
/// Until it is locked it has a name that no one looks for.
const UNLOCKED: &str = ".mfa-drafts-";

/// A folder for drafts, locked and removed with this value.
#[derive(Debug)]
pub(super) struct DraftsFolder {
    path: PathBuf,
    /// Holds the lock.
    _folder: File,
}

impl DraftsFolder {
    /// Makes one, and removes those of processes that have ended.
    pub(super) fn make(parent: &Path) -> io::Result<Self> {
        remove_abandoned(parent);
        let name = hexadecimal(&crate::random::bytes::<16>());
        let (before, path) =
            (parent.join(format!("{UNLOCKED}{name}")), parent.join(format!("{PREFIX}{name}")));
        fs::DirBuilder::new().mode(0o700).create(&before)?;
        let folder = lock(&before)?;
        fs::rename(&before, &path)?;
        Ok(Self { path, _folder: folder })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for DraftsFolder {
    fn drop(&mut self) {
        // Drafts remove themselves; one that is still written to keeps the folder until the next start.
        let _ = fs::remove_dir(&self.path);
    }
}

/// Locks a folder of this user; an error where another process has it.
fn lock(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = rustix::fs::open(path, flags, Mode::empty())?;
    if fstat(&folder)?.st_uid != geteuid().as_raw() {
        return Err(io::Error::other("it belongs to another user"));
    }
    flock(&folder, FlockOperation::NonBlockingLockExclusive)?;
    Ok(folder.into())
}

fn remove_abandoned(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    for entry in entries.flatten() {
        let is_drafts = entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX));
        // Its process lives as long as the lock is held.
        if is_drafts && let Ok(_folder) = lock(&entry.path()) {
            let removed = fs::remove_dir_all(entry.path());
            tracing::info!(folder = %entry.path().display(), ?removed, "half uploads of a killed daemon");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_of_an_ended_process_is_removed_and_of_a_living_one_kept() {
        let parent = tempfile::tempdir().unwrap();
        let living = DraftsFolder::make(parent.path()).unwrap();
        fs::write(living.path().join("half"), "upload").unwrap();
        // No one holds this one.
        let abandoned = parent.path().join(format!("{PREFIX}0123"));
        fs::create_dir(&abandoned).unwrap();
        fs::write(abandoned.join("half"), "upload").unwrap();
        let foreign = parent.path().join("mfa-other");
        fs::create_dir(&foreign).unwrap();
        let next = DraftsFolder::make(parent.path()).unwrap();
        assert!(living.path().join("half").exists() && foreign.exists() && !abandoned.exists());
        let path = next.path().to_owned();
        drop(next);
        assert!(!path.exists());
        // What a process leaves behind at its end goes with the next start.
        let left = living.path().to_owned();
        drop(living);
        assert!(left.join("half").exists());
        drop(DraftsFolder::make(parent.path()).unwrap());
        assert!(!left.exists());
    }
}
