//! Errands under way that have an idempotency key. Until the first one has ended, there is no answer that a
//! repetition could get; so it waits for that one, and does not do the same work outside the store again.
//! What another daemon has under way is not known here.

use super::idempotency::Repeatable;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use tokio::sync::OwnedMutexGuard;

/// A token and a key.
type Name = (Option<String>, String);

/// The errands of a daemon.
#[derive(Debug, Default)]
pub struct UnderWay(Mutex<HashMap<Name, Weak<tokio::sync::Mutex<()>>>>);

/// The turn of a request; the next one with its token and key waits until it is dropped.
pub type Turn = OwnedMutexGuard<()>;

impl UnderWay {
    /// Waits until no other request with this token and key is under way.
    pub async fn enter(&self, token: Option<&str>, repeatable: &Repeatable) -> Turn {
        let turn = self.turn((token.map(str::to_owned), repeatable.key().to_owned()));
        turn.lock_owned().await
    }

    fn turn(&self, name: Name) -> Arc<tokio::sync::Mutex<()>> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|_, turn| turn.strong_count() > 0);
        let turn = all.get(&name).and_then(Weak::upgrade).unwrap_or_default();
        all.insert(name, Arc::downgrade(&turn));
        turn
    }
}
