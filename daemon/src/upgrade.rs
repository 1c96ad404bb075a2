//! What a store made by an earlier program still holds and must not: remembered requests and failed logins
//! from which a password could be guessed or read.

use crate::http::idempotency;
use crate::ops::login;
use crate::store::records::StoreSecret;
use crate::store::seed::SYSTEM_ACTOR;
use crate::store::{Store, Tx};
use mfa_shared::fault::Fault;

/// Removes it from a store. The key under which earlier programs hashed requests goes last, so that an
/// interrupted removal starts again.
pub(crate) async fn upgrade(store: &Store) -> Result<(), Fault> {
    let old = |tx: &mut Tx<'_>| tx.get::<StoreSecret>(&[StoreSecret::IDEMPOTENCY]);
    if store.read(false, old).await?.is_none() {
        return Ok(());
    }
    let forgotten = idempotency::forget_unkeyed(store).await?;
    let hide = |tx: &mut Tx<'_>| {
        tx.set_actor(SYSTEM_ACTOR);
        login::hide_names(tx)?;
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
