//! Files of backups: written under another name, synced, read back, and only then named.

use super::BackupError;
use super::read::{Facts, Whole, open, whole};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

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
    folder: PathBuf,
}

impl Draft {
    /// Begins one in a folder. Only its owner may read it.
    pub fn begin(folder: &Path) -> io::Result<Self> {
        let file = tempfile::Builder::new().prefix(DRAFT.0).suffix(DRAFT.1).tempfile_in(folder)?;
        Ok(Self { file, folder: folder.to_owned() })
    }

    /// Writes the next bytes.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)
    }

    /// Syncs it, reads all of it back, and gives it its name, or one after its moment. A file that has the
    /// name already stays as it is.
    pub async fn finish(self, name: Option<&OsStr>) -> Result<(PathBuf, Facts), BackupError> {
        self.file.as_file().sync_all()?;
        let Whole { facts, .. } = read(self.file.path()).await?;
        let named = name.map_or_else(|| file_name(&facts).into(), OsStr::to_owned);
        let place = self.folder.join(named);
        self.file.persist_noclobber(&place).map_err(|error| error.error)?;
        File::open(&self.folder)?.sync_all()?;
        Ok((place, facts))
    }
}

/// Reads a backup from its first byte to its last, and verifies every frame, item and image.
pub async fn read(file: &Path) -> Result<Whole, BackupError> {
    let file = file.to_owned();
    let read = tokio::task::spawn_blocking(move || whole(open(&file)?)).await;
    read.unwrap_or_else(|_| Err(BackupError::Refused("the work broke off because of a defect".to_owned())))
}

/// The name of a file after the moment of its backup.
fn file_name(facts: &Facts) -> String {
    let moment = facts.trailer.moment.to_string();
    let (seconds, _) = moment.split_once('.').unwrap_or((&moment, ""));
    let stamp: String = seconds.chars().filter(char::is_ascii_alphanumeric).collect();
    format!("mfa-{stamp}Z.{SUFFIX}")
}
