//! What a store made by an earlier program lacks: groups of later endpoints, with the rights of the starter
//! roles. And what it still holds and must not: remembered requests and failed logins from which a password
//! could be guessed or read.

use crate::ops::attempts;
use crate::ops::audit as trail;
use crate::ops::init;
use crate::store::engine::Range;
use crate::store::records::{IDEMPOTENCY, Remembered, StoreFacts, StoreSecret};
use crate::store::seed::SYSTEM_ACTOR;
use crate::store::tx::decode;
use crate::store::{Store, Tx};
use mfa_shared::fault::{self, Fault};

/// Answers that one transaction forgets when all of an earlier program are forgotten.
const FORGOTTEN_AT_ONCE: usize = 1000;

/// Upgrades a store to the form of this program; `back_up` is done first where its records are of an earlier
/// form.
pub(crate) async fn upgrade(
    store: &Store,
    back_up: impl AsyncFnOnce() -> Result<(), Fault>,
) -> Result<(), Fault> {
    let Err(fault) = bring_up(store, back_up).await else { return Ok(()) };
    let facts = store.read(false, facts).await?;
    // Then it is only served; the next start on a disk that takes changes makes up for it.
    let serves = facts.is_none_or(|facts| facts.form >= StoreFacts::SERVED);
    if serves && [fault::DISK_READ_ONLY, fault::DISK_FULL].contains(&fault.kind) {
        tracing::warn!(
            why = fault.detail.as_str(),
            "the store is served as it is, and upgraded by a later start"
        );
        Ok(())
    } else {
        Err(fault)
    }
}

fn facts(tx: &mut Tx<'_>) -> Result<Option<StoreFacts>, Fault> {
    tx.get::<StoreFacts>(&["store"])
}

/// Each step looks first whether there is anything to do, so the next start makes up for one that was killed.
async fn bring_up(store: &Store, back_up: impl AsyncFnOnce() -> Result<(), Fault>) -> Result<(), Fault> {
    let form = store.read(false, facts).await?.map_or(StoreFacts::FORM, |facts| facts.form);
    if form < StoreFacts::FORM {
        back_up().await?;
    }
    if store.read(false, init::lacks_later_groups).await? {
        let add = |tx: &mut Tx<'_>| {
            tx.set_actor(SYSTEM_ACTOR);
            init::add_later_groups(tx)?;
            trail::record_own(tx, "Migrate", "upgrade", None, Vec::new());
            Ok(())
        };
        store.write("upgrade", add).await?;
    }
    remove_guessable(store).await?;
    note_form(store).await
}

/// Once every step is done, the store says its form and which program it needs from now on. A form that a
/// later program has brought it to meanwhile stays.
async fn note_form(store: &Store) -> Result<(), Fault> {
    let says_less = |facts: &StoreFacts| {
        facts.form < StoreFacts::FORM || facts.form == StoreFacts::FORM && facts.program.is_none()
    };
    if !store.read(false, facts).await?.as_ref().is_some_and(says_less) {
        return Ok(());
    }
    let note = move |tx: &mut Tx<'_>| {
        tx.set_actor(SYSTEM_ACTOR);
        if let Some(facts) = facts(tx)?.filter(says_less) {
            let (form, program) = (StoreFacts::FORM, Some(StoreFacts::PROGRAM.to_owned()));
            tx.put(&StoreFacts { form, program, ..facts })?;
        }
        Ok(())
    };
    store.write("upgrade", note).await
}

/// The key under which earlier programs hashed requests goes last, so that an interrupted removal starts
/// again.
async fn remove_guessable(store: &Store) -> Result<(), Fault> {
    let old = |tx: &mut Tx<'_>| tx.get::<StoreSecret>(&[StoreSecret::IDEMPOTENCY]);
    if store.read(false, old).await?.is_none() {
        return Ok(());
    }
    let forgotten = forget_unkeyed(store).await?;
    let hide = |tx: &mut Tx<'_>| {
        tx.set_actor(SYSTEM_ACTOR);
        attempts::hide_names(tx)?;
        if let Some(secret) = tx.get::<StoreSecret>(&[StoreSecret::IDEMPOTENCY])? {
            tx.remove(&secret);
        }
        Ok(())
    };
    store.write("upgrade", hide).await?;
    tracing::warn!(
        forgotten,
        "an earlier version kept hashes of passwords that allow fast guesses; they are removed from the \
         store, but its journal and older copies still hold them: see CHANGELOG"
    );
    Ok(())
}

/// Forgets everything whose hash is not under a key of the key file, as earlier programs kept it.
async fn forget_unkeyed(store: &Store) -> Result<usize, Fault> {
    let find = |tx: &mut Tx<'_>| {
        let mut keys = Vec::new();
        tx.walk(IDEMPOTENCY, Range::prefix(&[]), &mut |key, value| {
            let remembered: Remembered = decode(IDEMPOTENCY, value)?;
            if !remembered.request.contains(':') {
                keys.push(key.to_vec());
            }
            Ok(true)
        })?;
        Ok(keys)
    };
    let keys = store.read(true, find).await?;
    for part in keys.chunks(FORGOTTEN_AT_ONCE) {
        let part = part.to_vec();
        let forget = move |tx: &mut Tx<'_>| {
            tx.set_actor(SYSTEM_ACTOR);
            for key in &part {
                if let Some(old) = tx.at::<Remembered>(key)? {
                    tx.remove(&old);
                }
            }
            Ok(())
        };
        store.write("upgrade", forget).await?;
    }
    Ok(keys.len())
}
