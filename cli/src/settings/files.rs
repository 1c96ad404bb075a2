//! Files that are written: the program's own, and those that the user asked for.

use crate::failure::{Failure, Outcome, codes};
use rustix::process::geteuid;
use std::fs::{self, DirBuilder, File, Permissions, TryLockError};
use std::io::{self, Error, ErrorKind, Write, stdout};
use std::os::fd::AsFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tempfile::NamedTempFile;

/// How long to wait before a lock that another command has is asked for again.
const LOCK_LOOK: Duration = Duration::from_millis(20);

/// The failure to write a file.
pub fn unwritable(path: &Path) -> impl Fn(Error) -> Failure + Copy {
    move |error| Failure::local(format!("cannot write {}: {error}", path.display()))
}

/// Writes a new file that only its owner can read and puts it into the place of the old one, so that no one
/// ever reads half of it. Its folder may be missing.
pub fn replace(path: &Path, bytes: &[u8]) -> Outcome {
    make_folder(path)?;
    put(path, bytes)
}

/// The same for a file that the user of a service reads: owner and mode of the old one stay, but for what its
/// mode lets everybody do.
pub fn replace_kept(path: &Path, bytes: &[u8]) -> Outcome {
    make_folder(path)?;
    let mut file = Pending::begin(path)?;
    file.keep_access()?;
    file.write_all(bytes).map_err(unwritable(path))?;
    file.keep()
}

/// The same for a file that is readable by all who may enter the folder.
pub fn replace_public(path: &Path, text: &str) -> Outcome {
    make_folder(path)?;
    let mut file = Pending::begin(path)?;
    file.write_all(text.as_bytes()).map_err(unwritable(path))?;
    // Before it has its name: whoever may write to the folder could put a link there meanwhile.
    if let Pending::Beside(file, _) = &file {
        file.as_file().set_permissions(Permissions::from_mode(0o644)).map_err(unwritable(path))?;
    }
    file.keep()
}

/// Writes a file of the user, replacing an existing one. A device or a pipe takes the bytes as they come.
pub fn put(place: &Path, bytes: &[u8]) -> Outcome {
    let mut file = Pending::begin(place)?;
    file.write_all(bytes).map_err(unwritable(place))?;
    file.keep()
}

/// Writes a file of the user that takes no other's place, whole or not at all.
pub fn put_new(place: &Path, bytes: &[u8]) -> Outcome {
    let mut file = Pending::begin_new(place)?;
    file.write_all(bytes).map_err(unwritable(place))?;
    file.keep_new()
}

/// Refuses a place to which [`put`] could not write, before anything is done whose result it is to take.
pub fn check(place: &Path) -> Outcome {
    let failed = unwritable(place);
    match end_of(place).map_err(failed)? {
        End::File(place) => tempfile::tempfile_in(folder_of(&place)).map(drop).map_err(failed),
        End::Device(_) => Ok(()),
    }
}

/// Where a place leads.
enum End {
    /// To a file that another one may replace, or to none.
    File(PathBuf),
    /// To what takes bytes as they come: a device, a pipe, or what this process has open already, as it has
    /// `/dev/stdout`.
    Device(PathBuf),
}

/// Most links that lead from one to the next, as on Linux.
const LINKS_MAX: usize = 40;

/// Follows the links of a place to its end, so that they stay links.
fn end_of(place: &Path) -> io::Result<End> {
    let found = match fs::metadata(place) {
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        // It fails for links in a loop, and for those that the system does not follow for safety.
        found => Some(found?),
    };
    if found.as_ref().is_some_and(fs::Metadata::is_dir) {
        return Err(ErrorKind::IsADirectory.into());
    }
    let mut end = place.to_owned();
    for _ in 0..LINKS_MAX {
        if is_descriptor(&end) {
            return Ok(End::Device(end));
        }
        let Ok(next) = fs::read_link(&end) else { break };
        if !is_trusted(&end)? {
            return Ok(End::File(end));
        }
        end = folder_of(&end).join(next);
    }
    let replaceable = found.is_none_or(|found| found.is_file());
    Ok(if replaceable { End::File(end) } else { End::Device(place.to_owned()) })
}

/// Whether a link is of this user or of root. One of somebody else, who may write to the folder, is replaced
/// and not followed: it would have root overwrite any file.
fn is_trusted(link: &Path) -> io::Result<bool> {
    let owner = link.symlink_metadata()?.uid();
    Ok(owner == 0 || owner == geteuid().as_raw())
}

/// Whether a path is that of a descriptor of this process, which looks like a link to the open file.
fn is_descriptor(path: &Path) -> bool {
    let real = |folder: &Path| folder.canonicalize().ok();
    real(Path::new("/proc/self/fd")).is_some_and(|folder| real(folder_of(path)) == Some(folder))
}

/// Opens what takes bytes as they come.
fn opened(device: &Path) -> io::Result<File> {
    // Others may write to the same output before and after, and it may be a socket.
    if is_descriptor(device) && device.ends_with("1") {
        return Ok(stdout().as_fd().try_clone_to_owned()?.into());
    }
    File::options().append(true).open(device)
}

/// A file of the user that is written piece by piece, and takes the place of the old one when it is whole.
/// Only its owner can read it. A link stays a link. A device or a pipe takes the bytes as they come.
pub enum Pending {
    Beside(NamedTempFile, PathBuf),
    Device(File),
}

impl Pending {
    /// Begins a file; the old one stays as it is.
    pub fn begin(place: &Path) -> Outcome<Self> {
        let failed = unwritable(place);
        match end_of(place).map_err(failed)? {
            End::File(place) => {
                let file = tempfile::Builder::new().prefix(".mfa-").tempfile_in(folder_of(&place));
                Ok(Self::Beside(file.map_err(failed)?, place))
            }
            End::Device(place) => opened(&place).map(Self::Device).map_err(failed),
        }
    }

    /// Begins a file that takes no other's place.
    pub fn begin_new(place: &Path) -> Outcome<Self> {
        if place.symlink_metadata().is_ok() {
            return Err(taken(place));
        }
        Self::begin(place)
    }

    /// Gives the new file the owner and the mode of the old one, if there is one. A link is none: it is here
    /// only where it is not followed.
    fn keep_access(&self) -> Outcome {
        let Self::Beside(file, place) = self else { return Ok(()) };
        let Some(old) = place.symlink_metadata().ok().filter(fs::Metadata::is_file) else { return Ok(()) };
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

fn taken(place: &Path) -> Failure {
    let what = format!("{} is there already, and is not replaced", place.display());
    Failure::new(codes::FILE_EXISTS, what).hint("name another file")
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

/// Takes the lock of a file; where another command has it, after the wait for it, which is no longer than
/// `patience`. `None` where that one has it still. The lock ends with the value.
pub async fn lock(path: &Path, patience: Duration) -> Outcome<Option<File>> {
    let failed = |error| Failure::local(format!("cannot lock {}: {error}", path.display()));
    make_folder(path)?;
    let opened = File::options().create(true).truncate(false).write(true).mode(0o600).open(path);
    let file = opened.map_err(failed)?;
    let began = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(Some(file)),
            Err(TryLockError::WouldBlock) if began.elapsed() >= patience => return Ok(None),
            // The system is not left to wait: another task of this thread may have the lock, and has to go on
            // to end it.
            Err(TryLockError::WouldBlock) => tokio::time::sleep(LOCK_LOOK).await,
            Err(TryLockError::Error(error)) => return Err(failed(error)),
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
