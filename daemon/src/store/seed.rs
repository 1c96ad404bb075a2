//! What a fresh store holds.

use super::records::{StoreFacts, StoredAction};
use super::{Store, Tx};
use mfa_shared::api::actions::Action;
use mfa_shared::fault::Fault;

/// The actor of work that no caller asked for.
pub const SYSTEM_ACTOR: &str = "system";

/// The facts of a store that was just opened.
#[derive(Debug)]
pub struct Seeded {
    /// The facts.
    pub facts: StoreFacts,
    /// Whether the store was made now.
    pub fresh: bool,
}

/// Writes the seed if the store is fresh.
pub async fn seed(store: &Store) -> Result<Seeded, Fault> {
    let instance = crate::random::hex::<16>();
    store
        .write("seed", move |tx| {
            tx.set_actor(SYSTEM_ACTOR);
            if let Some(facts) = tx.get::<StoreFacts>(&["store"])? {
                return Ok(Seeded { facts, fresh: false });
            }
            let facts = StoreFacts {
                instance: instance.clone(),
                created_on: tx.now(),
                form: StoreFacts::FORM,
                program: Some(StoreFacts::PROGRAM.to_owned()),
            };
            tx.put(&facts)?;
            seed_actions(tx)?;
            Ok(Seeded { facts, fresh: true })
        })
        .await
}

/// The actions of a fresh store: identifier, name, type of transaction.
const ACTIONS: &[(&str, &str, &str)] = &[
    ("Open", "Account Opening", "ACCO"),
    ("Transfer", "Account Transfer", "ACCT"),
    ("Close", "Account Closing", "ACCC"),
    ("Deposit", "Cash Deposit", "CDPT"),
    ("Withdraw", "Cash Withdrawal", "CWDL"),
];

fn seed_actions(tx: &mut Tx<'_>) -> Result<(), Fault> {
    for (number, (identifier, name, transaction_type)) in (1..).zip(ACTIONS) {
        let action = Action {
            identifier: (*identifier).to_owned(),
            name: (*name).to_owned(),
            description: None,
            transaction_type: (*transaction_type).to_owned(),
        };
        tx.put(&StoredAction { number, action })?;
    }
    Ok(())
}
