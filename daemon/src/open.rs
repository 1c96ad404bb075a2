//! Opening of the store that a configuration names.

use crate::clock::Clock;
use crate::config::Config;
use crate::ops::init;
use crate::start::StartError;
use crate::store::embedded::{Embedded, OpenError, Options};
use crate::store::key_file;
use crate::store::postgres::{self, Address, Postgres};
use crate::store::records::SPACES;
use crate::store::seed::{SYSTEM_ACTOR, Seeded, seed};
use crate::store::unlock::{UnlockError, unlock};
use crate::store::{Store, Tx};
use std::fmt;

/// Opens the store of a configuration, and writes what every store holds.
pub(crate) async fn open(config: &Config, clock: Clock) -> Result<(Store, Seeded), StartError> {
    key_file::check_place(&config.secret_key_file, &config.data_dir)
        .map_err(|error| StartError::Settings(error.to_string()))?;
    let strict = config.strict_references;
    let store = match &config.store {
        None => Store::new(open_embedded(config).await?, clock, strict),
        Some(address) => Store::new(open_postgres(config, address.clone()).await?, clock, strict),
    };
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

async fn open_embedded(config: &Config) -> Result<Embedded, StartError> {
    let mut options = Options::new(config.data_dir.clone());
    options.cache_bytes = config.cache_bytes;
    let opened = tokio::task::spawn_blocking(move || Embedded::open(options)).await.map_err(defect)?;
    opened.map_err(|error| match error {
        OpenError::Locked { .. } => StartError::Locked(error.to_string()),
        _ => StartError::Store(error.to_string()),
    })
}

async fn open_postgres(config: &Config, address: Address) -> Result<Postgres, StartError> {
    let mut options = postgres::Options::new(address, SPACES);
    options.connections_max = config.store_connections_max;
    let opened = tokio::task::spawn_blocking(move || Postgres::open(options)).await.map_err(defect)?;
    opened.map_err(|error| match error {
        postgres::OpenError::Address(_) => StartError::Settings(error.to_string()),
        _ => StartError::Store(error.to_string()),
    })
}
