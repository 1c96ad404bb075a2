//! Files that are written: the program's own, and those that the user asked for.

use crate::failure::{Failure, Outcome};
use mfa_shared::fault::exit;
use std::fs::{self, DirBuilder, File, Permissions};
use std::io::{self, Error, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// The failure to write a file.
pub fn unwritable(path: &Path) -> impl Fn(Error) -> Failure + Copy {
    move |error| Failure::local(format!("cannot write {}: {error}", path.display()))
}

/// Writes a new file that only its owner can read and puts it into the place of the old one, so that no one
/// ever reads half of it.
pub fn replace(path: &Path, bytes: &[u8]) -> Outcome {
    make_folder(path)?;
    rename(path, bytes)
}

/// The same for a file that the user of a service reads: owner and mode of the old one stay, but for what its
/// mode lets everybody do.
pub fn replace_kept(path: &Path, bytes: &[u8]) -> Outcome {
    make_folder(path)?;
    let mut file = Pending::begin(path)?;
    file.keep_access(path)?;
    file.write_all(bytes).map_err(unwritable(path))?;
    file.keep()
}

/// The same for a file that is readable by all who may enter the folder.
pub fn replace_public(path: &Path, text: &str) -> Outcome {
    replace(path, text.as_bytes())?;
    Ok(fs::set_permissions(path, Permissions::from_mode(0o644))?)
}

/// Writes a file of the user, replacing an existing one. A device or a pipe takes the bytes as they come.
pub fn put(place: &Path, bytes: &[u8]) -> Outcome {
    if place.exists() && !place.is_file() {
        let opened = File::options().write(true).open(place);
        return opened.and_then(|mut file| file.write_all(bytes)).map_err(unwritable(place));
    }
    rename(place, bytes)
}

/// The same in a folder that may be missing.
pub fn save(place: &Path, bytes: &[u8]) -> Outcome {
    make_folder(place)?;
    put(place, bytes)
}

/// Refuses a place to which [`put`] could not write, before anything is done whose result it is to take.
pub fn check(place: &Path) -> Outcome {
    let failed = unwritable(place);
    if place.is_dir() {
        return Err(failed(ErrorKind::IsADirectory.into()));
    }
    if place.exists() && !place.is_file() {
        Ok(())
    } else {
        tempfile::tempfile_in(folder_of(place)).map(drop).map_err(failed)
    }
}

fn rename(place: &Path, bytes: &[u8]) -> Outcome {
    let mut file = Pending::begin(place)?;
    file.write_all(bytes).map_err(unwritable(place))?;
    file.keep()
}

/// A file of the user that is written piece by piece, and takes the place of the old one when it is whole.
/// Only its owner can read it. A device or a pipe takes the bytes as they come.
pub enum Pending {
    Beside(NamedTempFile, PathBuf),
    Device(File),
}

impl Pending {
    /// Begins a file; the old one stays as it is.
    pub fn begin(place: &Path) -> Outcome<Self> {
        let failed = unwritable(place);
        if place.is_dir() {
            return Err(failed(ErrorKind::IsADirectory.into()));
        }
        if place.exists() && !place.is_file() {
            return File::options().write(true).open(place).map(Self::Device).map_err(failed);
        }
        let file = tempfile::Builder::new().prefix(".mfa-").tempfile_in(folder_of(place));
        Ok(Self::Beside(file.map_err(failed)?, place.to_owned()))
    }

    /// Begins a file that takes no other's place.
    pub fn begin_new(place: &Path) -> Outcome<Self> {
        if place.symlink_metadata().is_ok() {
            return Err(taken(place));
        }
        Self::begin(place)
    }

    /// Gives the new file the owner and the mode of the old one, if there is one.
    fn keep_access(&self, place: &Path) -> Outcome {
        let (Self::Beside(file, _), Ok(old)) = (self, fs::metadata(place)) else { return Ok(()) };
        let file = file.as_file();
        let failed = |error: Error| {
            let what = format!("cannot keep the owner and mode of {}: {error}", place.display());
            Failure::local(what).hint("do it as root, with sudo")
        };
        let new = file.metadata().map_err(failed)?;
        if (new.uid(), new.gid()) != (old.uid(), old.gid()) {
            fchown(file, Some(old.uid()), Some(old.gid())).map_err(failed)?;
        }
        file.set_permissions(Permissions::from_mode(old.mode() & 0o770)).map_err(failed)
    }

    /// Puts the whole file into its place.
    pub fn keep(self) -> Outcome {
        match self {
            Self::Beside(file, place) => {
                file.persist(&place).map(drop).map_err(|error| unwritable(&place)(error.error))
            }
            Self::Device(_) => Ok(()),
        }
    }

    /// The same where no other file may be lost, also one that has come meanwhile. Then it is on the disk.
    pub fn keep_new(self) -> Outcome {
        let Self::Beside(file, place) = self else { return Ok(()) };
        file.as_file().sync_all().map_err(unwritable(&place))?;
        file.persist_noclobber(&place).map(drop).map_err(|error| match error.error.kind() {
            ErrorKind::AlreadyExists => taken(&place),
            _ => unwritable(&place)(error.error),
        })
    }
}

/// The failure to make a file where there is one.
fn taken(place: &Path) -> Failure {
    let what = format!("{} is there already, and is not replaced", place.display());
    Failure::new("file_exists", exit::CONFLICT, what).hint("name another file")
}

impl Write for Pending {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Beside(file, _) => file.write(bytes),
            Self::Device(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Beside(file, _) => file.flush(),
            Self::Device(file) => file.flush(),
        }
    }
}

fn make_folder(place: &Path) -> Outcome {
    DirBuilder::new().recursive(true).mode(0o700).create(folder_of(place)).map_err(unwritable(place))
}

/// The folder in which a file is.
pub fn folder_of(place: &Path) -> &Path {
    place.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."))
}
