//! What is done before a data directory of an earlier form is opened, or records of an earlier form become
//! those of this program: a backup of the store, and a record in the trail.

use crate::audit;
use crate::clock::Clock;
use crate::config::Config;
use crate::ops::audit::{made_of, record_own};
use crate::store::backup::BackupError;
use crate::store::backup::crypt::{EncryptTo, Seal};
use crate::store::backup::file::{Draft, SUFFIX};
use crate::store::embedded::{Embedded, Options, earlier_form, this_form};
use crate::store::export::MARK;
use crate::store::records::{SYSTEM, StoreFacts};
use crate::store::seed::SYSTEM_ACTOR;
use crate::store::space::{self, is_read_only};
use crate::store::{Store, Tx};
use mfa_shared::fault::{self, Fault};
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use tokio::sync::mpsc;

/// Pieces of the backup that wait to be written.
const PIECES_WAITING: usize = 4;
/// What the name of the folder ends with in which the backup is, where no setting names another one.
const BESIDE: &str = ".before-upgrade";
/// The field of the record in the trail that says the form of the records.
const RECORD_FORM: &str = "/recordForm";

/// Makes a backup of a store whose directory the next opening brings into a later form, and notes that in its
/// trail. One that is killed on the way is begun again by the next start. Says whether it was done.
pub(crate) async fn back_up_before(config: &Config, clock: &Clock) -> Result<bool, String> {
    let Some(place) = config.folder() else { return Ok(false) };
    let Some(form) = earlier_form(place).filter(|_| !is_read_only(place)) else { return Ok(false) };
    let options = Options { packs: false, raises: false, ..Options::new(place) };
    let opened = tokio::task::spawn_blocking(move || Embedded::open(options)).await;
    // The next open reports why it cannot be opened.
    let Ok(Ok(engine)) = opened else { return Ok(false) };
    let store = Store::new(engine, clock.clone(), config.strict_references);
    tracing::info!(form, "the data directory is of an earlier form");
    let done = prepared(&store, config, ("/dataDirectoryForm", this_form())).await;
    store.close().await;
    done.map_err(|fault| fault.detail.clone())
}

/// The same for an open store on this machine whose records are of an earlier form. A database that several
/// daemons share is backed up by its own means.
pub(crate) async fn back_up_records_before(store: &Store, config: &Config) -> Result<(), Fault> {
    let Some(place) = config.folder() else { return Ok(()) };
    if is_read_only(place) {
        return Err(space::disk_read_only());
    }
    // Its record could not be written, so each start would make another one.
    if space::above_reserve(place) == 0 {
        return Err(space::disk_full());
    }
    prepared(store, config, (RECORD_FORM, StoreFacts::FORM)).await.map(drop)
}

async fn prepared(store: &Store, config: &Config, (field, form): (&'static str, u32)) -> Result<bool, Fault> {
    let form_of_whole = |tx: &mut Tx<'_>| {
        let unfinished = tx.value(SYSTEM, MARK)?.is_some();
        let form = tx.get::<StoreFacts>(&["store"])?.map(|facts| facts.form);
        Ok(form.filter(|form| !unfinished && StoreFacts::reads(*form)))
    };
    let Some(records) = store.read(false, form_of_whole).await? else { return Ok(false) };
    let mut facts = vec![(field, form.to_string())];
    if field != RECORD_FORM && records < StoreFacts::FORM {
        facts.push((RECORD_FORM, StoreFacts::FORM.to_string()));
    }
    if config.upgrade_backup {
        let (file, digest) = make(store, config).await.map_err(|error| {
            let why = format!(
                "the store is of an earlier version, and no backup could be made in {} before its upgrade: \
                 {error}; fix that, name another folder in backup_dir, or go on without \
                 (upgrade_backup = false)",
                folder(config).display()
            );
            let by_disk = match &error {
                BackupError::Io(error) => space::refusal(error),
                _ => None,
            };
            Fault::new(by_disk.map_or(fault::UNAVAILABLE, |by_disk| by_disk.kind), why)
        })?;
        tracing::info!(file = %file.display(), "a backup was made before the store is upgraded");
        facts.extend([("/backup", file.display().to_string()), ("/digest", digest)]);
    }
    audit::begin(store).await?;
    let record = move |tx: &mut Tx<'_>| {
        tx.set_actor(SYSTEM_ACTOR);
        let changes = facts.iter().map(|(field, text)| made_of(field, text)).collect();
        record_own(tx, "Migrate", "upgrade", None, changes);
        Ok::<_, Fault>(())
    };
    store.write("upgrade", record).await?;
    audit::bring_to_an_end(store).await;
    Ok(true)
}

/// The folder of the backup.
fn folder(config: &Config) -> PathBuf {
    let beside = || {
        let mut name = config.data_dir.components().as_path().as_os_str().to_owned();
        name.push(BESIDE);
        name.into()
    };
    config.backups.as_ref().map_or_else(beside, |schedule| schedule.dir.clone())
}

async fn make(store: &Store, config: &Config) -> Result<(PathBuf, String), BackupError> {
    let dir = folder(config);
    DirBuilder::new().recursive(true).mode(0o700).create(&dir)?;
    let encrypt_to = config.backups.as_ref().map(|schedule| schedule.encrypt_to.clone()).unwrap_or_default();
    let seal = (!encrypt_to.is_empty()).then(|| Seal { to: EncryptTo::Keys(encrypt_to), key_file: None });
    let mut draft = Draft::begin(&dir, seal.as_ref())?;
    let (sender, mut pieces) = mpsc::channel::<Result<_, Fault>>(PIECES_WAITING);
    let source = store.clone();
    let making = tokio::spawn(async move { source.back_up(sender).await });
    while let Some(piece) = pieces.recv().await {
        draft.write(&piece?)?;
    }
    let broken = |_| BackupError::Refused("the work broke off because of a defect".to_owned());
    making.await.map_err(broken)??;
    let stamp: String = store.clock().now().to_string();
    let stamp: String = stamp.chars().filter(char::is_ascii_alphanumeric).collect();
    // Not the name of a daily one, so that it is not thinned out with them.
    let end = if seal.is_some() { ".age" } else { "" };
    let name = format!("before-upgrade-{stamp}.{SUFFIX}{end}");
    let (file, facts) = draft.finish(Some(Path::new(&name).as_os_str())).await?;
    Ok((file, facts.digest))
}
