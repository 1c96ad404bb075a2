//! The keys of a store at its start: made with the store, proved on it, and brought up to date.

use super::key_file::{self, KeyFileError};
use super::record::{Record, key};
use super::seal::{ForEachKind, HoldsSecrets, Keys, Place};
use super::seed::SYSTEM_ACTOR;
use super::{Store, Tx};
use crate::secret::Secret;
use crate::store::records::{SealedWith, each_with_secrets};
use mfa_shared::api::audit::AuditRecord;
use mfa_shared::fault::{self, Fault};
use std::fmt;
use std::path::Path;

const PROOF: &str = "this is the key of the store";

/// Why the secrets of a store cannot be used.
#[derive(Debug)]
pub enum UnlockError {
    /// The key file.
    File(KeyFileError),
    /// The key file has other keys than those of the store.
    OtherKeys(String),
    /// The store.
    Store(Fault),
}

impl fmt::Display for UnlockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(error) => error.fmt(f),
            Self::OtherKeys(why) => f.write_str(why),
            Self::Store(fault) => f.write_str(&fault.detail),
        }
    }
}

impl std::error::Error for UnlockError {}

impl From<Fault> for UnlockError {
    fn from(fault: Fault) -> Self {
        Self::Store(fault)
    }
}

/// Gives a store its keys. A store that never had any gets them, and their file is made; secrets that are
/// encrypted with an older key are encrypted anew with the one in use.
pub async fn unlock(store: Store, file: &Path) -> Result<Store, UnlockError> {
    let before = store.read(false, |tx| tx.get::<SealedWith>(&["sealed-with"])).await?;
    let read = match before {
        Some(_) => key_file::read(file),
        None => key_file::read(file).or_else(|error| match error {
            KeyFileError::Missing(_) => key_file::make(file),
            other => Err(other),
        }),
    };
    let keys = read.map_err(UnlockError::File)?;
    if let Some(before) = &before {
        prove(&keys, before, file)?;
    }
    let up_to_date = before.is_some_and(|before| before.key_name == keys.in_use().name());
    let store = store.with_keys(keys);
    if !up_to_date {
        let count = store.write("keys", renew).await?;
        tracing::info!(secrets = count, "secrets are encrypted with the key in use");
    }
    Ok(store)
}

/// Whether a key file has the keys of the store that has this note of them.
pub fn prove(keys: &Keys, before: &SealedWith, file: &Path) -> Result<(), UnlockError> {
    let proved = keys.open(&Place::of(before, "proof"), &before.proof);
    if proved.is_some_and(|text| text.expose() == PROOF) {
        return Ok(());
    }
    let known = keys.all().iter().any(|key| key.name() == before.key_name);
    let what = if known { "another key of that name" } else { "other keys" };
    Err(UnlockError::OtherKeys(format!(
        "the secrets of the store are encrypted with key {}, and {} holds {what}; bring the right file back \
         from its copy",
        before.key_name,
        file.display()
    )))
}

/// Encrypts every secret with the key in use; how many there are.
fn renew(tx: &mut Tx<'_>) -> Result<usize, Fault> {
    tx.set_actor(SYSTEM_ACTOR);
    if let Some(before) = tx.get::<SealedWith>(&["sealed-with"])?
        && tx.keys()?.open(&Place::of(&before, "proof"), &before.proof).is_none()
    {
        let detail = "another daemon has given the store another key meanwhile";
        return Err(Fault::new(fault::UNAVAILABLE, detail));
    }
    let count = renew_all(tx)?;
    if tx.has::<SealedWith>(&["sealed-with"])? {
        let record = AuditRecord::of("RotateKey", tx.now());
        let actor = SYSTEM_ACTOR.to_owned();
        let origin = Some("local".to_owned());
        tx.audit(AuditRecord { actor, origin, request_id: "rotate-key".to_owned(), ..record });
    }
    let place = Place::new(SealedWith::SPACE, key(&["sealed-with"]), "proof");
    let keys = tx.keys()?;
    let key_name = keys.in_use().name().to_owned();
    let record = SealedWith { key_name, proof: keys.seal(&place, &Secret::new(PROOF)) };
    tx.put(&record)?;
    Ok(count)
}

/// Encrypts the secrets of every kind of record anew; how many there are.
fn renew_all(tx: &mut Tx<'_>) -> Result<usize, Fault> {
    let mut renewing = Renewing { tx, count: 0 };
    each_with_secrets(&mut renewing)?;
    Ok(renewing.count)
}

struct Renewing<'a, 't> {
    tx: &'a mut Tx<'t>,
    count: usize,
}

impl ForEachKind for Renewing<'_, '_> {
    type Error = Fault;
    fn kind<R: HoldsSecrets>(&mut self) -> Result<(), Fault> {
        self.count += renew_records::<R>(self.tx)?;
        Ok(())
    }
}

fn renew_records<R: HoldsSecrets>(tx: &mut Tx<'_>) -> Result<usize, Fault> {
    let mut count = 0;
    for mut record in tx.all::<R>(&[])? {
        let held: Vec<_> =
            record.secrets().into_iter().map(|(field, sealed)| (field, sealed.clone())).collect();
        for (field, sealed) in held {
            // A changed one is kept: it is refused at every use, and blocks nothing else.
            let Ok(secret) = tx.unseal(&record, field, &sealed) else { continue };
            let renewed = tx.seal(&record, field, &secret)?;
            for (name, place) in record.secrets() {
                if name == field {
                    place.clone_from(&renewed);
                    count += 1;
                }
            }
        }
        tx.put(&record)?;
    }
    Ok(count)
}

/// Takes leave of the key of the secrets: the next start gives the store another one, and what is encrypted
/// with this one stays closed. Returns the records that need their secret again.
pub fn lose_secrets(tx: &mut Tx<'_>) -> Result<Vec<String>, Fault> {
    if let Some(sealed) = tx.get::<SealedWith>(&["sealed-with"])? {
        tx.remove(&sealed);
    }
    let mut losing = Losing { tx, lacking: Vec::new() };
    each_with_secrets(&mut losing)?;
    Ok(losing.lacking)
}

struct Losing<'a, 't> {
    tx: &'a mut Tx<'t>,
    lacking: Vec<String>,
}

impl ForEachKind for Losing<'_, '_> {
    type Error = Fault;
    fn kind<R: HoldsSecrets>(&mut self) -> Result<(), Fault> {
        for mut record in self.tx.all::<R>(&[])? {
            if !record.secrets().is_empty() {
                self.lacking.push(record.called());
            }
        }
        Ok(())
    }
}
