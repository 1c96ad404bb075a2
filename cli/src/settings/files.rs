//! Files that are written: the program's own, and those that the user asked for.

use crate::failure::{Failure, Outcome};
use std::fs::{DirBuilder, File};
use std::io::Write;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

/// Writes what the user asked for to a place that they named. A device or a pipe takes bytes as they come,
/// and is never replaced by a file.
pub fn save(path: &Path, bytes: &[u8]) -> Outcome {
    if !path.exists() || path.is_file() {
        return replace(path, bytes);
    }
    let failed = |error: std::io::Error| Failure::local(format!("cannot write {}: {error}", path.display()));
    File::options().write(true).open(path).and_then(|mut file| file.write_all(bytes)).map_err(failed)
}

/// Writes a new file that only its owner can read and puts it into the place of the old one, so that no one
/// ever reads half of it.
pub fn replace(path: &Path, bytes: &[u8]) -> Outcome {
    let failed = |error: std::io::Error| Failure::local(format!("cannot write {}: {error}", path.display()));
    let folder = folder_of(path);
    DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed)?;
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    file.write_all(bytes).map_err(failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}

/// Refuses a place to which [`put`] could not write, before anything is done whose result it is to take.
pub fn check(place: &Path) -> Outcome {
    let failed = |error: std::io::Error| Failure::local(format!("cannot write {}: {error}", place.display()));
    if place.is_dir() {
        return Err(failed(std::io::ErrorKind::IsADirectory.into()));
    }
    if place.exists() && !place.is_file() {
        Ok(())
    } else {
        tempfile::tempfile_in(folder_of(place)).map(drop).map_err(failed)
    }
}

fn folder_of(place: &Path) -> &Path {
    place.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."))
}

/// Writes a file of the user, replacing an existing one. A device or a pipe takes the bytes as they come.
pub fn put(place: &Path, bytes: &[u8]) -> Outcome {
    let failed = |error: std::io::Error| Failure::local(format!("cannot write {}: {error}", place.display()));
    if place.exists() && !place.is_file() {
        return File::options()
            .write(true)
            .open(place)
            .and_then(|mut file| file.write_all(bytes))
            .map_err(failed);
    }
    let mut file = tempfile::Builder::new().prefix(".mfa-").tempfile_in(folder_of(place)).map_err(failed)?;
    file.write_all(bytes).map_err(failed)?;
    file.persist(place).map(drop).map_err(|error| failed(error.error))
}
