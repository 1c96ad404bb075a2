//! Opening of the store that a configuration names.

use crate::audit;
use crate::clock::Clock;
use crate::config::{Config, StorePlace};
use crate::ops::init;
use crate::store::backup::restore::Unfinished;
use crate::store::embedded::{Embedded, OpenError, Options};
use crate::store::engine::Engine;
use crate::store::export;
use crate::store::key_file;
use crate::store::postgres::{self, Address, Postgres};
use crate::store::records::{IDENTITY, SPACES, SYSTEM, StoreFacts};
use crate::store::seed::{SYSTEM_ACTOR, Seeded, seed};
use crate::store::unlock::{UnlockError, unlock};
use crate::store::{Store, Tx};
use crate::upgrade::upgrade;
use crate::upgrade_backup::{back_up_before, back_up_records_before};
use mfa_shared::fault::Fault;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// Why a store was not opened, or a daemon did not start.
#[derive(Debug)]
pub enum StartError {
    /// Another process holds the data directory.
    Locked(String),
    /// The store cannot be opened.
    Store(String),
    /// The address cannot be listened on.
    Listen(String),
    /// The settings do not go together.
    Settings(String),
    /// What was to be done to the store is not possible.
    Refused(Fault),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Locked(why) | Self::Store(why) | Self::Listen(why) | Self::Settings(why) => {
                f.write_str(why)
            }
            Self::Refused(fault) => f.write_str(&fault.detail),
        }
    }
}

impl std::error::Error for StartError {}

/// Opens the store of a configuration, creates it if it is missing, and writes what every store holds.
pub(crate) async fn open(config: &Config, clock: Clock) -> Result<(Store, Seeded), StartError> {
    let backed_up = back_up_before(config, &clock).await.map_err(StartError::Store)?;
    let store = plain(config, clock, How::default()).await?;
    let unlocked = unlock(store.clone(), &config.secret_key_file).await;
    let store = or_close(&store, unlocked.map_err(locked_up)).await?;
    let upgraded = upgraded(&store, config, backed_up).await.map_err(refused);
    or_close(&store, upgraded).await?;
    let seeded = seed(&store).await.map_err(refused)?;
    let seed = |tx: &mut Tx<'_>| {
        tx.set_actor(SYSTEM_ACTOR);
        init::seed(tx)
    };
    store.write("seed", seed).await.map_err(refused)?;
    Ok((store, seeded))
}

/// Prepares a store for the trail, and upgrades it. What has just been backed up is not backed up again.
async fn upgraded(store: &Store, config: &Config, backed_up: bool) -> Result<(), Fault> {
    audit::begin(store).await?;
    let back_up = async || if backed_up { Ok(()) } else { back_up_records_before(store, config).await };
    upgrade(store, back_up).await
}

/// How an engine is opened.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct How {
    /// No one else uses the store meanwhile, as is always the case with the embedded engine.
    pub(crate) alone: bool,
    /// Its files are verified to the last byte first.
    pub(crate) whole: bool,
    /// A directory of an earlier form stays in that form, because no backup of it has been made.
    pub(crate) keeps_form: bool,
    /// It is not made where there is none.
    pub(crate) existing: bool,
    /// The time comes from a test, and need not be that of the database.
    pub(crate) time_of_test: bool,
}

impl How {
    /// Without any upgrade.
    pub(crate) fn to_look() -> Self {
        Self { keeps_form: true, ..Self::default() }
    }
}

/// Opens the store of a configuration as [`open`] does, but never makes one.
pub(crate) async fn open_existing(config: &Config, clock: Clock, alone: bool) -> Result<Store, StartError> {
    let backed_up = back_up_before(config, &clock).await.map_err(StartError::Store)?;
    let store = open_to_look(config, clock, How { alone, ..How::default() }).await?;
    let unlocked = unlock(store.clone(), &config.secret_key_file).await;
    let store = or_close(&store, unlocked.map_err(locked_up)).await?;
    let upgraded = upgraded(&store, config, backed_up).await.map_err(refused);
    or_close(&store, upgraded).await?;
    Ok(store)
}

/// Opens an existing store, without its keys and without a change to any record.
pub(crate) async fn open_to_look(config: &Config, clock: Clock, how: How) -> Result<Store, StartError> {
    there(config)?;
    let store = plain(config, clock, How { existing: true, ..how }).await?;
    match store.read(false, |tx| tx.has::<StoreFacts>(&["store"])).await.map_err(refused) {
        Ok(true) => Ok(store),
        not => or_close(&store, not.and_then(|_| Err(no_store(config)))).await,
    }
}

/// Opens the engine, without keys.
async fn plain(config: &Config, clock: Clock, how: How) -> Result<Store, StartError> {
    key_file::check_place(&config.secret_key_file, &config.data_dir)
        .map_err(|error| StartError::Settings(error.to_string()))?;
    let strict = config.strict_references;
    let engine = open_engine(config, How { time_of_test: clock.is_fixed(), ..how }).await?;
    let store = Store::over(engine, clock, strict).with_receivers(config.receivers());
    let readable = store.read(false, readable).await.map_err(refused);
    or_close(&store, readable.and_then(|readable| readable.map_err(StartError::Store))).await?;
    Ok(store)
}

/// Whether the records of a store are whole and of the form that this program reads; if not, why.
fn readable(tx: &mut Tx<'_>) -> Result<Result<(), String>, Fault> {
    if let Some(mark) = tx.value(SYSTEM, export::MARK)? {
        let why = match serde_json::from_slice::<Unfinished>(&mark) {
            Ok(_) => "the store is an unfinished restore: run the same mfa backup restore again",
            Err(_) => "the store is an unfinished copy of another one: run the same mfa migrate again",
        };
        return Ok(Err(why.to_owned()));
    }
    let Some(facts) = tx.get::<StoreFacts>(&["store"])? else { return Ok(Ok(())) };
    if StoreFacts::reads(facts.form) {
        return Ok(Ok(()));
    }
    let needed = facts.program.map_or_else(
        || "the version of mfa that wrote it".to_owned(),
        |version| format!("mfa {version} or a later version"),
    );
    Ok(Err(format!(
        "the records of the store are of form {}, and mfa {} reads {}: use {needed}",
        facts.form,
        StoreFacts::PROGRAM,
        StoreFacts::forms_read()
    )))
}

/// The outcome of opening a store; after a failure it is closed.
async fn or_close<T>(store: &Store, outcome: Result<T, StartError>) -> Result<T, StartError> {
    if outcome.is_err() {
        store.close().await;
    }
    outcome
}

/// Refuses a data directory without a store.
fn there(config: &Config) -> Result<(), StartError> {
    let holds = |folder: &Path| folder.join("FORMAT").exists() || folder.join("journal").exists();
    if config.folder().is_none_or(holds) { Ok(()) } else { Err(no_store(config)) }
}

fn no_store(config: &Config) -> StartError {
    StartError::Settings(format!("there is no store in {}; mfa init makes one", config.shown_store()))
}

fn refused(fault: Fault) -> StartError {
    StartError::Store(fault.detail.clone())
}

fn locked_up(error: UnlockError) -> StartError {
    match error {
        UnlockError::Store(_) => StartError::Store(error.to_string()),
        UnlockError::File(_) | UnlockError::OtherKeys(_) => StartError::Settings(error.to_string()),
    }
}

fn defect(error: impl fmt::Display) -> StartError {
    StartError::Store(format!("the store cannot be opened: {error}"))
}

/// Opens the engine of the store that a configuration names.
pub(crate) async fn open_engine(config: &Config, how: How) -> Result<Arc<dyn Engine>, StartError> {
    Ok(match &config.store {
        StorePlace::Embedded => Arc::new(open_embedded(config, how).await?),
        StorePlace::Postgres(address) => Arc::new(open_postgres(config, Address::clone(address), how).await?),
    })
}

/// Opens the embedded engine, and verifies all of it first where that is asked for.
async fn open_embedded(config: &Config, how: How) -> Result<Embedded, StartError> {
    let mut options = Options::new(config.data_dir.clone());
    (options.cache_bytes, options.watched) = (config.cache_bytes, IDENTITY);
    if how.whole {
        options.verify_bytes = u64::MAX;
    }
    if how.keeps_form {
        (options.raises, options.packs) = (false, false);
    }
    let opened = tokio::task::spawn_blocking(move || Embedded::open(options)).await.map_err(defect)?;
    opened.map_err(|error| match error {
        OpenError::Locked { .. } => StartError::Locked(error.to_string()),
        OpenError::Occupied { .. } => StartError::Settings(error.to_string()),
        _ => StartError::Store(error.to_string()),
    })
}

/// Opens the engine on PostgreSQL.
async fn open_postgres(config: &Config, address: Address, how: How) -> Result<Postgres, StartError> {
    let mut options = postgres::Options::new(address, SPACES);
    (options.connections_max, options.alone) = (config.store_connections_max, how.alone);
    options.clock = (!how.time_of_test).then(Clock::system);
    options.makes = !how.existing;
    let opened = tokio::task::spawn_blocking(move || Postgres::open(options)).await.map_err(defect)?;
    opened.map_err(|error| match error {
        postgres::OpenError::Address(_) => StartError::Settings(error.to_string()),
        postgres::OpenError::InUse(_) => StartError::Locked(error.to_string()),
        postgres::OpenError::Missing => no_store(config),
        _ => StartError::Store(error.to_string()),
    })
}
