//! Closed journal files on their way into an archive, of a store without a daemon.

use crate::clock::Clock;
use crate::config::Config;
use crate::open::StartError;
use crate::open::{How, open_to_look};
use crate::store::backup::crypt::BackupKeys;
use crate::store::backup::file::{is_named, read as read_backup, store_and_moment};
use crate::store::backup::store_name;
use crate::store::engine::Archived;
use crate::store::records::{StoreFacts, StoreLine};
use crate::store::{Store, Tx};
use futures_util::future::LocalBoxFuture;
use std::fs;
use std::path::{Path, PathBuf};

/// What was moved, and by which backup it is covered.
#[derive(Debug)]
pub struct ArchivedJournal {
    /// What was moved.
    pub moved: Archived,
    /// The backup.
    pub backup: PathBuf,
}

/// Moves journal files of a store without a daemon that a backup covers. That is verified first: the one that
/// is named, or the newest one of the store in the folder of the setting `backup_dir`.
pub fn archive_journal<'a>(
    config: &'a Config,
    out: &'a Path,
    backup: Option<&'a Path>,
    keys: &'a BackupKeys,
) -> LocalBoxFuture<'a, Result<ArchivedJournal, StartError>> {
    Box::pin(async move {
        if config.folder().is_none() {
            let why = "the journal of a store in PostgreSQL has no files that could be archived";
            return Err(StartError::Settings(why.to_owned()));
        }
        if is_inside(out, &config.data_dir) {
            let (out, dir) = (out.display(), config.data_dir.display());
            return Err(StartError::Settings(format!(
                "{out} is in the store {dir}, whose journal files would be removed: name a folder elsewhere"
            )));
        }
        let store = open_to_look(config, Clock::system(), How::to_look()).await?;
        let archived = of_store(&store, config, out, backup, keys).await;
        store.close().await;
        archived
    })
}

async fn of_store(
    store: &Store,
    config: &Config,
    out: &Path,
    backup: Option<&Path>,
    keys: &BackupKeys,
) -> Result<ArchivedJournal, StartError> {
    let name = |tx: &mut Tx<'_>| {
        let facts = tx.get::<StoreFacts>(&["store"])?;
        let line = tx.get::<StoreLine>(StoreLine::KEY)?.map(|line| line.line);
        Ok(store_name(&facts.map(|facts| facts.instance).unwrap_or_default(), line.as_deref()))
    };
    let name = store.read(false, name).await.map_err(StartError::Refused)?;
    let found = || newest(&config.backups.as_ref()?.dir, &name);
    let none = || {
        StartError::Settings(
            "there is no backup of this store in backup_dir: make one (mfa backup create), and name it with \
             --backup FILE"
                .to_owned(),
        )
    };
    let backup = backup.map(Path::to_owned).or_else(found).ok_or_else(none)?;
    let whole = read_backup(&backup, keys).await;
    let facts = whole.map_err(|error| StartError::Store(format!("{}: {error}", backup.display())))?.facts;
    let moved = store.archive_journal(&facts, out, None).await.map_err(StartError::Refused)?;
    Ok(ArchivedJournal { moved, backup })
}

/// Whether an archive would be in the folder of the store, whatever links lead there.
fn is_inside(out: &Path, data_dir: &Path) -> bool {
    let real = |path: &Path| path.ancestors().find_map(|path| path.canonicalize().ok());
    let places = [out.to_owned(), out.join("journal")].map(|place| std::path::absolute(place).ok());
    let mut places = places.into_iter().flatten().filter_map(|place| real(&place));
    data_dir.canonicalize().is_ok_and(|dir| places.any(|place| place.starts_with(&dir)))
}

/// The newest backup of a store in a folder.
fn newest(dir: &Path, wanted: &str) -> Option<PathBuf> {
    let paths = fs::read_dir(dir).ok()?.flatten().map(|entry| entry.path()).filter(|path| is_named(path));
    let own = paths.filter_map(|path| {
        let (of, moment) = store_and_moment(&path)?;
        (of == wanted).then_some((moment, path))
    });
    own.max().map(|(_, path)| path)
}
