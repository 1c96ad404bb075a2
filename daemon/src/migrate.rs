//! `mfa migrate`: a whole store from one engine into the other, without a daemon.

use crate::clock::Clock;
use crate::config::Config;
use crate::open::{How, StartError, open_embedded, open_postgres};
use crate::store::engine::Engine;
use crate::store::postgres::Address;
use crate::store::transfer::{Transferred, Watch, transfer};
use futures_util::future::LocalBoxFuture;
use std::path::PathBuf;

/// Where a store is.
#[derive(Debug, Clone)]
pub enum StorePlace {
    /// The embedded store in a folder.
    Folder(PathBuf),
    /// A PostgreSQL database.
    Postgres(Box<Address>),
}

/// Copies a store; the target must be empty, or hold the beginning of the same copy. No daemon may use
/// either meanwhile, which both engines see to.
pub fn migrate(
    from: StorePlace,
    to: StorePlace,
    watch: Watch<'_>,
) -> LocalBoxFuture<'_, Result<Transferred, StartError>> {
    Box::pin(async move {
        if let StorePlace::Folder(dir) = &from
            && !dir.join("FORMAT").exists()
        {
            return Err(StartError::Settings(format!("there is no store in {}", dir.display())));
        }
        let source = open(from).await?;
        let target = match open(to).await {
            Ok(target) => target,
            Err(error) => {
                close(&*source).await;
                return Err(error);
            }
        };
        let copied = transfer(&*source, &*target, Clock::system().now(), watch).await;
        close(&*source).await;
        close(&*target).await;
        copied.map_err(|error| StartError::Store(error.to_string()))
    })
}

async fn open(place: StorePlace) -> Result<Box<dyn Engine>, StartError> {
    match place {
        StorePlace::Folder(dir) => Ok(Box::new(open_embedded(&Config::new(dir), How::to_look()).await?)),
        StorePlace::Postgres(address) => {
            let mut config = Config::new("");
            config.store_connections_max = 1;
            Ok(Box::new(open_postgres(&config, *address, true).await?))
        }
    }
}

async fn close(engine: &dyn Engine) {
    if let Err(fault) = engine.close().await {
        tracing::error!(%fault, "a store did not close cleanly");
    }
}
