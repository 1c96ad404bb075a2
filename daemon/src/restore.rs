//! Backups that are put back on the machine itself: into an empty place, or into that of another store.

use crate::audit;
use crate::clock::Clock;
use crate::config::Config;
use crate::open::{How, StartError, open_engine};
use crate::ops::audit as trail;
use crate::store::backup::BackupError;
use crate::store::backup::crypt::{BackupKeys, open};
use crate::store::backup::file::read as read_backup;
use crate::store::backup::moment::{ToMoment, Way};
use crate::store::backup::read::{Facts, Reader, Whole};
use crate::store::backup::restore::{Unfinished, WHOLE, Watch};
use crate::store::embedded::{Lock, Moment, OpenError, Past, PastError, check_owner};
use crate::store::key_file::{self, KeyFileError};
use crate::store::records::SealedWith;
use crate::store::seal::Keys;
use crate::store::seed::SYSTEM_ACTOR;
use crate::store::unlock::{lose_secrets, prove};
use crate::store::{Store, Tx};
use futures_util::future::LocalBoxFuture;
use mfa_shared::fault::DISK_FULL;
use rustix::fs::{AtFlags, CWD, RenameFlags, StatxAttributes, StatxFlags, renameat_with, statx};
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

/// What the name of the folder ends with in which a store is restored that takes the place of another.
const BESIDE: &str = ".restoring";

/// How a backup is put back.
#[derive(Debug, Clone, Default)]
pub struct RestoreHow {
    /// What opens the backup, where it is encrypted.
    pub keys: BackupKeys,
    /// The key file of the store, where it is not in its place yet.
    pub key_file: Option<PathBuf>,
    /// Go on without the key of the secrets.
    pub without_secrets: bool,
    /// Set the existing store aside.
    pub replace: bool,
    /// Go on to a later moment by the journal of the store.
    pub to_moment: Option<ToMoment>,
}

/// What was put back.
#[derive(Debug)]
pub struct Restored {
    /// What the backup says about itself.
    pub facts: Facts,
    /// The last commit that was restored from a journal.
    pub reached: Option<Moment>,
    /// Images that are in use at that moment and were found nowhere, by their SHA-256.
    pub missing_images: Vec<String>,
    /// What needs its secret again.
    pub lacks_secrets: Vec<String>,
    /// Where the store is that was there before.
    pub set_aside: Option<PathBuf>,
}

/// What is done with the secrets in a backup.
enum Secrets {
    /// The key is available, or none is needed.
    Kept,
    /// The key is available and is put in its place.
    Put(Keys),
    /// The key is not there.
    Lost,
}

/// Puts a backup back into an empty place, or into that of another store. All of it is verified first.
pub fn restore_backup<'a>(
    config: &'a Config,
    file: &'a Path,
    how: &'a RestoreHow,
    watch: Watch<'a>,
) -> LocalBoxFuture<'a, Result<Restored, StartError>> {
    Box::pin(async move {
        let mut whole = read_backup(file, &how.keys).await?;
        key_file::check_place(&config.secret_key_file, &config.data_dir).map_err(settings)?;
        let replaced = replaced(config, how)?;
        let way = match &how.to_moment {
            Some(to) => Some(way(config, to, &whole.facts, replaced.is_some())?),
            None => None,
        };
        if let Some(sealed_with) = way.as_ref().and_then(|way| way.sealed_with.clone()) {
            whole.sealed_with = sealed_with;
        }
        let secrets = secrets(&config.secret_key_file, how, &whole)?;
        let facts = whole.facts;
        let mut target = config.clone();
        if replaced.is_some() {
            check_exchange(&config.data_dir)?;
            target.data_dir = beside(&config.data_dir);
        }
        let store = open_target(&target).await?;
        let putting = Putting {
            place: target.shown_store(),
            beside: replaced.is_some(),
            facts: &facts,
            secrets: &secrets,
            key_file: &config.secret_key_file,
            way: way.as_ref(),
        };
        let put = putting.put(&store, open(file, &how.keys)?, watch).await;
        store.close().await;
        // Its folder is locked as long as the engine lives.
        drop(store);
        let (lacks_secrets, missing_images) = put?;
        let reached = way.map(|way| way.reached);
        let set_aside = match replaced {
            Some(_lock) => Some(exchange(&target.data_dir, &config.data_dir)?),
            None => None,
        };
        Ok(Restored { facts, reached, missing_images, lacks_secrets, set_aside })
    })
}

fn settings(error: KeyFileError) -> StartError {
    StartError::Settings(error.to_string())
}

/// Whether the key of the secrets is available, checked before anything is written.
fn secrets(place: &Path, how: &RestoreHow, whole: &Whole) -> Result<Secrets, StartError> {
    let Some(sealed) = &whole.sealed_with else { return Ok(Secrets::Kept) };
    let given = how.key_file.as_deref().unwrap_or(place);
    let proved = |file: &Path| {
        let keys = key_file::read(file).map_err(|error| error.to_string())?;
        prove(&keys, sealed, file).map_err(|error| error.to_string())?;
        Ok::<_, String>(keys)
    };
    let found = proved(given).or_else(|why| match &whole.key_file {
        Some(bytes) if how.key_file.is_none() => key_in_it(bytes, sealed),
        _ => Err(why),
    });
    match found {
        Ok(keys) if !place.exists() => Ok(Secrets::Put(keys)),
        Ok(_) => match proved(place) {
            Ok(_) => Ok(Secrets::Kept),
            Err(why) => Err(StartError::Settings(format!(
                "the key file {} is in the place of that of the restored store ({why}): move it away \
                 first, or name another place in secret_key_file",
                place.display()
            ))),
        },
        Err(_) if how.without_secrets => Ok(Secrets::Lost),
        Err(why) => Err(StartError::Settings(format!(
            "{why}; or name the file with --key-file; or restore the rest with --without-secrets"
        ))),
    }
}

/// The key that the backup brings itself.
fn key_in_it(bytes: &[u8], sealed: &SealedWith) -> Result<Keys, String> {
    let place = Path::new("the key file in the backup");
    let keys = key_file::of_bytes(bytes, place).map_err(|error| error.to_string())?;
    prove(&keys, sealed, place).map_err(|error| error.to_string())?;
    Ok(keys)
}

/// The lock of the store that is to be replaced, if there is one.
fn replaced(config: &Config, how: &RestoreHow) -> Result<Option<Lock>, StartError> {
    match config.folder() {
        None if how.replace => Err(StartError::Settings(
            "a database is not replaced: restore into an empty one (createdb), or into another schema \
             (postgres://.../DATABASE?schema=NAME), and let the daemon use that"
                .to_owned(),
        )),
        Some(folder) if how.replace && folder.join("FORMAT").exists() => {
            let lock = check_owner(folder).and_then(|()| Lock::take(folder));
            Ok(Some(lock.map_err(|error| match error {
                OpenError::Locked { .. } => StartError::Locked(error.to_string()),
                _ => StartError::Store(error.to_string()),
            })?))
        }
        _ => Ok(None),
    }
}

fn beside(dir: &Path) -> PathBuf {
    let mut name = dir.components().as_path().as_os_str().to_owned();
    name.push(BESIDE);
    name.into()
}

async fn open_target(config: &Config) -> Result<Store, StartError> {
    let engine = open_engine(config, How { alone: true, ..How::default() }).await?;
    Ok(Store::over(engine, Clock::system(), config.strict_references))
}

/// The verified journal from the backup to the moment. `locked` says that the place of the restore is locked.
fn way(config: &Config, to: &ToMoment, facts: &Facts, locked: bool) -> Result<Way, StartError> {
    let place = &config.data_dir;
    if config.folder().is_some() && !locked && to.journal.iter().any(|dir| Past::is_in(dir, place)) {
        return Err(StartError::Settings(format!(
            "{} has the journal and is the place of the restored store: add --replace, which sets the old \
             store aside, or name another place with --data-dir",
            place.display()
        )));
    }
    let held = locked.then_some(place.as_path());
    Way::find(facts, to, held).map_err(|error| match error {
        PastError::Locked(why) => StartError::Locked(why),
        PastError::Refused(why) => StartError::Store(why),
    })
}

/// What is put back.
struct Putting<'a> {
    /// Where to.
    place: String,
    /// Whether that is beside a store that is to be replaced.
    beside: bool,
    facts: &'a Facts,
    secrets: &'a Secrets,
    /// The place of the key of the secrets.
    key_file: &'a Path,
    way: Option<&'a Way>,
}

impl Putting<'_> {
    /// Puts everything back and ends the restore; what needs its secret again, and which images are missing.
    async fn put(
        &self,
        store: &Store,
        from: impl Read,
        watch: Watch<'_>,
    ) -> Result<(Vec<String>, Vec<String>), StartError> {
        let digest = &self.facts.digest;
        // An unfinished restore to another moment is another restore.
        let name = match self.way {
            Some(way) => format!("{digest}@{}", way.reached.sequence),
            None => digest.clone(),
        };
        let mut reader = Reader::begin(from)?;
        let put = store.put_back(&mut reader, &name, watch).await;
        put.map_err(|error| self.not_put(error))?;
        if reader.facts().digest != *digest {
            return Err(StartError::Store("the backup was changed while it was restored".to_owned()));
        }
        let missing = match self.way {
            Some(way) => store.follow(way, watch).await?,
            None => Vec::new(),
        };
        // Whatever may fail comes before the mark goes, so that the same command can be given again.
        store.sweep_all_images().await.map_err(StartError::Refused)?;
        if let Secrets::Put(keys) = self.secrets {
            key_file::put(self.key_file, keys).map_err(settings)?;
        }
        let place = store.place().await.map_err(StartError::Refused)?.place();
        let journal = if store.is_shared() { place } else { 0 };
        let reached = self.way.map(|way| way.reached);
        let digest = digest.clone();
        let moment = reached.map_or(self.facts.trailer.moment, |last| last.time);
        let lost = matches!(self.secrets, Secrets::Lost);
        let end = move |tx: &mut Tx<'_>| {
            tx.set_actor(SYSTEM_ACTOR);
            let lacking = if lost { lose_secrets(tx)? } else { Vec::new() };
            trail::restored(tx, journal, &digest, moment, reached.map(|last| last.sequence))?;
            tx.remove(&Unfinished { restore: digest.clone() });
            Ok(lacking)
        };
        let lacking = store.write("restore", end).await.map_err(StartError::Refused)?;
        audit::bring_to_an_end(store).await;
        Ok((lacking, missing))
    }

    /// Why nothing could be put back. Beside a store that is to be replaced it is another one, which holds
    /// what may go.
    fn not_put(&self, error: BackupError) -> StartError {
        let place = &self.place;
        match error {
            BackupError::Store(fault) if fault.kind == DISK_FULL => StartError::Store(format!(
                "the disk of {place} is full: make space and give the same command again, which goes on, or \
                 remove {place}, which holds the beginning of the restored store"
            )),
            BackupError::Taken(what) if what == WHOLE && self.beside => StartError::Store(format!(
                "{place} holds a store already, perhaps that of a restore that could not exchange the \
                 folders at its end; look at it (mfa check --data-dir {place}), and move it into its place \
                 yourself, or remove it and restore again"
            )),
            BackupError::Taken(what) => StartError::Store(format!("{place} holds {what}")),
            error => error.into(),
        }
    }
}

/// The folder that has another one.
fn parent(place: &Path) -> &Path {
    place.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Tries with empty folders whether two of them can be exchanged beside a store, before anything is written:
/// at the end of a restore it is too late to name another place.
fn check_exchange(place: &Path) -> Result<(), StartError> {
    let parent = parent(place);
    let tried = || {
        let pair = [tempfile::tempdir_in(parent)?, tempfile::tempdir_in(parent)?];
        renameat_with(CWD, pair[0].path(), CWD, pair[1].path(), RenameFlags::EXCHANGE)?;
        // The folder that a disk is mounted on cannot take another place.
        let facts = statx(CWD, place, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::empty())?;
        if facts.stx_attributes.contains(StatxAttributes::MOUNT_ROOT) {
            Err(std::io::ErrorKind::CrossesDevices.into())
        } else {
            Ok(())
        }
    };
    tried().map_err(|error: std::io::Error| {
        let place = place.display();
        StartError::Store(format!(
            "the store {place} cannot be replaced in one step: {error}; restore into another folder \
             (--data-dir), and let the daemon use that"
        ))
    })
}

/// Lets the new store take the place of the old one in one step, and gives the old one a dated name.
fn exchange(new: &Path, place: &Path) -> Result<PathBuf, StartError> {
    let failed = |what: &str, error: std::io::Error| {
        StartError::Store(format!("{what}: {error}; the restored store is in {}", new.display()))
    };
    let exchanged = renameat_with(CWD, new, CWD, place, RenameFlags::EXCHANGE);
    exchanged.map_err(|e| failed("the folders cannot be exchanged", e.into()))?;
    let stamp = Clock::system().now().to_string();
    let stamp: String = stamp.chars().filter(|c| c.is_ascii_alphanumeric()).collect();
    let mut aside = place.components().as_path().as_os_str().to_owned();
    aside.push(format!(".replaced-{stamp}"));
    let aside = PathBuf::from(aside);
    let renamed = fs::rename(new, &aside).and_then(|()| File::open(parent(place))?.sync_all());
    let what = format!("the new store is in its place, but the old one is still called {}", new.display());
    renamed.map_err(|error| StartError::Store(format!("{what}: {error}")))?;
    Ok(aside)
}
