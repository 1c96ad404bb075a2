//! Opening of the store that a configuration names.

use crate::clock::Clock;
use crate::config::Config;
use crate::ops::init;
use crate::start::StartError;
use crate::store::embedded::{Embedded, OpenError, Options};
use crate::store::export;
use crate::store::key_file;
use crate::store::postgres::{self, Address, Postgres};
use crate::store::records::{SPACES, SYSTEM};
use crate::store::seed::{SYSTEM_ACTOR, Seeded, seed};
use crate::store::unlock::{UnlockError, unlock};
use crate::store::{Store, Tx};
use std::fmt;

/// Opens the store of a configuration, and writes what every store holds.
pub(crate) async fn open(config: &Config, clock: Clock) -> Result<(Store, Seeded), StartError> {
    open_for(config, clock, false).await
}

/// As [`open`], and nobody else uses the store meanwhile, as it always is with the embedded engine.
pub(crate) async fn open_alone(config: &Config, clock: Clock) -> Result<(Store, Seeded), StartError> {
    open_for(config, clock, true).await
}

async fn open_for(config: &Config, clock: Clock, alone: bool) -> Result<(Store, Seeded), StartError> {
    key_file::check_place(&config.secret_key_file, &config.data_dir)
        .map_err(|error| StartError::Settings(error.to_string()))?;
    let strict = config.strict_references;
    let store = match &config.store {
        None => Store::new(open_embedded(config).await?, clock, strict),
        Some(address) => {
            let engine = open_postgres(config, address.clone(), alone).await?;
            Store::new(engine, clock, strict)
        }
    };
    let mark = store.read(false, |tx| tx.value(SYSTEM, export::MARK)).await;
    if mark.map_err(|fault| StartError::Store(fault.detail.clone()))?.is_some() {
        store.close().await;
        let why = "the store is an unfinished copy of another one: run the same mfa migrate again";
        return Err(StartError::Store(why.to_owned()));
    }
    let store = match unlock(store.clone(), &config.secret_key_file).await {
        Ok(unlocked) => unlocked,
        Err(error) => {
            store.close().await;
            return Err(match error {
                UnlockError::Store(_) => StartError::Store(error.to_string()),
                UnlockError::File(_) | UnlockError::OtherKeys(_) => StartError::Settings(error.to_string()),
            });
        }
    };
    let seeded = seed(&store).await.map_err(|fault| StartError::Store(fault.detail.clone()))?;
    let seed = |tx: &mut Tx<'_>| {
        tx.set_actor(SYSTEM_ACTOR);
        init::seed(tx)
    };
    store.write("seed", seed).await.map_err(|fault| StartError::Store(fault.detail.clone()))?;
    Ok((store, seeded))
}

fn defect(error: impl fmt::Display) -> StartError {
    StartError::Store(format!("the store cannot be opened: {error}"))
}

/// Opens the embedded engine.
pub(crate) async fn open_embedded(config: &Config) -> Result<Embedded, StartError> {
    let mut options = Options::new(config.data_dir.clone());
    options.cache_bytes = config.cache_bytes;
    let opened = tokio::task::spawn_blocking(move || Embedded::open(options)).await.map_err(defect)?;
    opened.map_err(|error| match error {
        OpenError::Locked { .. } => StartError::Locked(error.to_string()),
        _ => StartError::Store(error.to_string()),
    })
}

/// Opens the engine on PostgreSQL.
pub(crate) async fn open_postgres(
    config: &Config,
    address: Address,
    alone: bool,
) -> Result<Postgres, StartError> {
    let mut options = postgres::Options::new(address, SPACES);
    (options.connections_max, options.alone) = (config.store_connections_max, alone);
    let opened = tokio::task::spawn_blocking(move || Postgres::open(options)).await.map_err(defect)?;
    opened.map_err(|error| match error {
        postgres::OpenError::Address(_) => StartError::Settings(error.to_string()),
        postgres::OpenError::InUse(_) => StartError::Locked(error.to_string()),
        _ => StartError::Store(error.to_string()),
    })
}
