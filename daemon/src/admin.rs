//! What is done to a store on its own machine and never over the network, while no daemon runs: the reset of
//! a lost password, a change of the key of secrets, accounts beforehand.

use crate::clock::Clock;
use crate::config::Config;
use crate::init::{checked, hash, made_up};
use crate::open::{StartError, open_existing};
use crate::ops::audit as trail;
use crate::ops::{init, ledger};
use crate::store::seed::SYSTEM_ACTOR;
use crate::store::unlock::unlock;
use crate::store::{Store, Tx, key_file};
use futures_util::future::BoxFuture;
use mfa_shared::api::ledger::{AccountKind, LedgerAccount, NewLedgerAccount};
use mfa_shared::fault::Fault;
use std::path::Path;

/// Sets the lost password of a user to a made-up one, which is returned; the user must change it.
pub fn recover_user<'a>(config: &'a Config, user: &'a str) -> BoxFuture<'a, Result<String, StartError>> {
    Box::pin(async move {
        let password = made_up();
        let name = user.to_owned();
        let hash = hash(&password)?;
        let recover = move |tx: &mut Tx<'_>| {
            init::recover(tx, &name, &hash)?;
            let changes = vec![trail::secret_changed("/password")];
            trail::record_own(tx, "RecoverUser", "recover-user", Some(format!("user/{name}")), changes);
            Ok(())
        };
        change(config, "recover-user", recover).await?;
        Ok(password)
    })
}

/// Adds a ledger account beforehand, so that strict references find it.
pub fn add_account<'a>(
    config: &'a Config,
    identifier: &'a str,
    kind: AccountKind,
) -> BoxFuture<'a, Result<LedgerAccount, StartError>> {
    Box::pin(async move {
        let new = checked::<NewLedgerAccount>(&[("identifier", identifier), ("kind", kind.as_str())]);
        let new = new.map_err(StartError::Refused)?;
        let add = move |tx: &mut Tx<'_>| {
            let account = ledger::add_account(tx, &new)?;
            let resource = format!("ledger/{}", account.identifier);
            let changes = vec![trail::made(&account)];
            trail::record_own(tx, "AddAccount", "add-account", Some(resource), changes);
            Ok(account)
        };
        change(config, "add-account", add).await
    })
}

/// Does one thing to a store, as one transaction.
async fn change<T: Send + 'static>(
    config: &Config,
    what: &str,
    mut work: impl FnMut(&mut Tx<'_>) -> Result<T, Fault> + Send + 'static,
) -> Result<T, StartError> {
    let store = open_existing(config, Clock::system(), false).await?;
    let done = store
        .write(what, move |tx| {
            tx.set_actor(SYSTEM_ACTOR);
            work(tx)
        })
        .await;
    store.close().await;
    done.map_err(StartError::Refused)
}

/// What a change of the key did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rotated {
    /// Name of the key that is in use now; the older ones stay in the file, for older backups.
    pub key_name: String,
}

/// Makes a new key and encrypts every secret with it. No daemon of the store may run, since it would know
/// the new key only after its next start; both engines see to that. What is interrupted is finished by the
/// next start, because the file holds new and old keys at every moment, and all secrets change in one
/// transaction.
pub fn rotate_key(config: &Config) -> BoxFuture<'_, Result<Rotated, StartError>> {
    Box::pin(async move {
        // Opening proves that the keys are the right ones before there is another.
        let store = open_existing(config, Clock::system(), true).await?;
        let rotated = rotate(&store, &config.secret_key_file).await;
        store.close().await;
        rotated
    })
}

async fn rotate(store: &Store, file: &Path) -> Result<Rotated, StartError> {
    let keys = key_file::add(file).map_err(|error| StartError::Settings(error.to_string()))?;
    let renewed = unlock(store.clone(), file).await;
    renewed.map_err(|error| StartError::Store(error.to_string()))?;
    Ok(Rotated { key_name: keys.in_use().name().to_owned() })
}
