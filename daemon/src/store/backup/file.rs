//! Files of backups: written under another name, synced, read back, and only then named.

use super::BackupError;
use super::crypt::{AGE_SUFFIX, BackupKeys, Seal, SealWriter};
use super::read::{Facts, Whole, facts, whole_file};
use crate::store::key_file::of_bytes;
use crate::store::unlock::prove;
use futures_util::future::BoxFuture;
use mfa_shared::time::Timestamp;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// What the names begin with that are given by the moment.
const PREFIX: &str = "mfa-";
/// What the names of backups end with.
pub const SUFFIX: &str = "mfab";

/// What the names of drafts begin and end with.
const DRAFT: (&str, &str) = (".backup-", ".part");

/// Whether a file of this name is a draft.
pub fn is_draft(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    name.starts_with(DRAFT.0) && name.ends_with(DRAFT.1)
}

/// A backup that has no name yet; without one it goes with this value.
#[derive(Debug)]
pub struct Draft {
    file: NamedTempFile,
    writer: SealWriter<File>,
    encrypted: bool,
    folder: PathBuf,
}

impl Draft {
    /// Begins one in a folder. Only its owner may read it.
    pub fn begin(folder: &Path, seal: Option<&Seal>) -> io::Result<Self> {
        let file = tempfile::Builder::new().prefix(DRAFT.0).suffix(DRAFT.1).tempfile_in(folder)?;
        let writer = SealWriter::begin(file.as_file().try_clone()?, seal)?;
        Ok(Self { file, writer, encrypted: seal.is_some(), folder: folder.to_owned() })
    }

    /// Writes the next bytes.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.writer.write(bytes)
    }

    /// Syncs it, reads all of it back, and gives it its name, or one after its moment. A file that has the
    /// name already stays as it is.
    pub fn finish(self, name: Option<&OsStr>) -> BoxFuture<'_, Result<(PathBuf, Facts), BackupError>> {
        Box::pin(async move {
            let keys = self.writer.finish()?;
            self.file.as_file().sync_all()?;
            let whole = read(self.file.path(), &keys).await?;
            check_key_file(whole.key_file.as_deref().map(Vec::as_slice), &whole)?;
            let facts = Facts { encrypted: self.encrypted, ..whole.facts };
            let names = match name {
                Some(name) => vec![name.to_owned()],
                None => own_names(&facts).map(OsString::from).to_vec(),
            };
            let place = persist(self.file, &self.folder, &names)?;
            File::open(&self.folder)?.sync_all()?;
            Ok((place, facts))
        })
    }
}

/// Gives a file the first of these names that is free.
fn persist(mut file: NamedTempFile, folder: &Path, names: &[OsString]) -> io::Result<PathBuf> {
    let mut taken = io::Error::from(io::ErrorKind::AlreadyExists);
    for name in names {
        let place = folder.join(name);
        match file.persist_noclobber(&place) {
            Ok(_) => return Ok(place),
            Err(refused) if refused.error.kind() == io::ErrorKind::AlreadyExists => {
                (file, taken) = (refused.file, refused.error);
            }
            Err(refused) => return Err(refused.error),
        }
    }
    Err(taken)
}

/// Reads a backup from its first byte to its last, and verifies every frame, item and image.
pub fn read<'a>(file: &'a Path, keys: &'a BackupKeys) -> BoxFuture<'a, Result<Whole, BackupError>> {
    Box::pin(async move {
        let file = file.to_owned();
        let keys = keys.clone();
        let read = tokio::task::spawn_blocking(move || whole_file(&file, &keys)).await;
        read.unwrap_or_else(|_| {
            Err(BackupError::Refused("the work broke off because of a defect".to_owned()))
        })
    })
}

/// Refuses the key file of another store.
pub fn check_key_file(key_file: Option<&[u8]>, whole: &Whole) -> Result<(), BackupError> {
    let (Some(bytes), Some(sealed)) = (key_file, &whole.sealed_with) else { return Ok(()) };
    let place = Path::new("the key file that was put in");
    let refused = |why: String| BackupError::Refused(why);
    let keys = of_bytes(bytes, place).map_err(|error| refused(error.to_string()))?;
    prove(&keys, sealed, place).map_err(|error| refused(error.to_string()))
}

/// The names that a backup may be given. A second one within one second has milliseconds in its name.
fn own_names(facts: &Facts) -> [String; 2] {
    [false, true].map(|millis| file_name(facts, millis))
}

/// The name of a file after the moment of its backup. An encrypted one also has its store in the name, since
/// no one can look into it.
fn file_name(facts: &Facts, millis: bool) -> String {
    let moment = facts.trailer.moment.to_string();
    let (seconds, _) = moment.split_once('.').unwrap_or((&moment, ""));
    let shown = if millis { moment.trim_end_matches('Z') } else { seconds };
    let stamp: String = shown.chars().filter(char::is_ascii_alphanumeric).collect();
    if facts.encrypted {
        format!("{PREFIX}{stamp}Z-{}.{SUFFIX}.{AGE_SUFFIX}", facts.head.store())
    } else {
        format!("{PREFIX}{stamp}Z.{SUFFIX}")
    }
}

/// Whether a file has the name of a backup.
pub fn is_named(file: &Path) -> bool {
    let name = file.file_name().map(OsStr::to_string_lossy).unwrap_or_default();
    let ends = [format!(".{SUFFIX}"), format!(".{SUFFIX}.{AGE_SUFFIX}")];
    !name.starts_with('.') && ends.iter().any(|end| name.ends_with(end))
}

/// The store and the moment of a backup: by its name if it is encrypted.
pub fn store_and_moment(file: &Path) -> Option<(String, Timestamp)> {
    let name = file.file_name()?.to_str()?;
    if !name.starts_with(PREFIX) {
        return None;
    }
    of_encrypted(name).or_else(|| readable(file).map(|facts| of_facts(&facts)))
}

/// The same where the file still has the name that it was given. A copy, a link and what somebody has named
/// are not to be thinned out.
pub fn store_and_moment_of_own_name(file: &Path) -> Option<(String, Timestamp)> {
    let name = file.file_name()?.to_str()?;
    if !file.symlink_metadata().is_ok_and(|found| found.is_file()) {
        return None;
    }
    of_encrypted(name).or_else(|| {
        let facts = readable(file).filter(|facts| own_names(facts).iter().any(|own| own == name))?;
        Some(of_facts(&facts))
    })
}

fn readable(file: &Path) -> Option<Facts> {
    facts(file, &BackupKeys::default()).ok()
}

fn of_facts(facts: &Facts) -> (String, Timestamp) {
    (facts.head.store(), facts.trailer.moment)
}

/// What the name of an encrypted backup says.
fn of_encrypted(name: &str) -> Option<(String, Timestamp)> {
    let rest = name.strip_prefix(PREFIX)?.strip_suffix(&format!(".{SUFFIX}.{AGE_SUFFIX}"))?;
    let (stamp, instance) = rest.split_once('-').filter(|(stamp, _)| stamp.is_ascii())?;
    let part = |range: std::ops::Range<usize>| stamp.get(range);
    let (day, time) = (part(0..8)?, part(9..15)?);
    let (year, month, date) = (&day[..4], &day[4..6], &day[6..]);
    let (hour, minute, second) = (&time[..2], &time[2..4], &time[4..]);
    let moment = format!("{year}-{month}-{date}T{hour}:{minute}:{second}.000Z");
    Some((instance.to_owned(), Timestamp::parse(&moment)?))
}
