//! What a fresh store holds before anybody works with it.

use super::Store;
use super::records::{StoreFacts, StoreSecret};
use mfa_shared::fault::Fault;

/// Who did what nobody asked for.
pub const SYSTEM_ACTOR: &str = "system";

/// The facts of a store that was just opened.
#[derive(Debug)]
pub struct Seeded {
    /// The facts.
    pub facts: StoreFacts,
    /// Secret of the keyed hashes of remembered requests.
    pub secret: String,
    /// Whether the store was made now.
    pub fresh: bool,
}

/// Writes the seed if the store is fresh.
pub async fn seed(store: &Store) -> Result<Seeded, Fault> {
    let (instance, secret) = (random_hex::<16>(), random_hex::<32>());
    store
        .write("seed", move |tx| {
            let secret = match tx.get::<StoreSecret>(&[StoreSecret::IDEMPOTENCY])? {
                Some(stored) => stored.secret,
                None => {
                    let name = StoreSecret::IDEMPOTENCY.to_owned();
                    tx.put(&StoreSecret { name, secret: secret.clone() })?;
                    secret.clone()
                }
            };
            tx.set_actor(SYSTEM_ACTOR);
            if let Some(facts) = tx.get::<StoreFacts>(&["store"])? {
                return Ok(Seeded { facts, secret, fresh: false });
            }
            let facts = StoreFacts { instance: instance.clone(), created_on: tx.now() };
            tx.put(&facts)?;
            Ok(Seeded { facts, secret, fresh: true })
        })
        .await
}

fn random_hex<const N: usize>() -> String {
    let bytes: [u8; N] = crate::random::bytes();
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
