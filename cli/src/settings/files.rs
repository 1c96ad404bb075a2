//! Files that are written: the program's own, and those that the user asked for.

use crate::failure::{Failure, Outcome};
use std::fs::{self, DirBuilder, File, Permissions};
use std::io::{Error, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::Path;

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
    let failed = unwritable(place);
    let mut file = tempfile::Builder::new().prefix(".mfa-").tempfile_in(folder_of(place)).map_err(failed)?;
    file.write_all(bytes).map_err(failed)?;
    file.persist(place).map(drop).map_err(|error| failed(error.error))
}

fn make_folder(place: &Path) -> Outcome {
    DirBuilder::new().recursive(true).mode(0o700).create(folder_of(place)).map_err(unwritable(place))
}

/// The folder in which a file is.
pub fn folder_of(place: &Path) -> &Path {
    place.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."))
}
