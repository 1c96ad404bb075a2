//! Places of which each holder may take some, and all together some more.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Who has how many.
#[derive(Debug)]
struct Held<K> {
    all: usize,
    of: HashMap<K, usize>,
}

/// The places that are taken.
#[derive(Debug)]
pub struct Places<K>(Arc<Mutex<Held<K>>>);

/// One of them, until it is dropped.
#[derive(Debug)]
pub struct Place<K: Eq + Hash> {
    places: Places<K>,
    holder: K,
}

/// Who has as many places as there may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Full {
    /// The holder.
    OfHolder,
    /// All together.
    OfAll,
}

impl<K> Default for Places<K> {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(Held { all: 0, of: HashMap::new() })))
    }
}

impl<K> Clone for Places<K> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<K> Places<K> {
    fn held(&self) -> MutexGuard<'_, Held<K>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether nobody has one.
    #[cfg(test)]
    pub fn are_free(&self) -> bool {
        let held = self.held();
        held.all == 0 && held.of.is_empty()
    }
}

impl<K: Eq + Hash + Clone> Places<K> {
    /// A place for a holder, who may have so many of so many in all.
    pub fn take(&self, holder: K, of_holder: usize, in_all: usize) -> Result<Place<K>, Full> {
        let mut held = self.held();
        let own = held.of.get(&holder).copied().unwrap_or_default();
        if own >= of_holder {
            return Err(Full::OfHolder);
        }
        if held.all >= in_all {
            return Err(Full::OfAll);
        }
        held.all += 1;
        held.of.insert(holder.clone(), own + 1);
        drop(held);
        Ok(Place { places: self.clone(), holder })
    }
}

impl<K: Eq + Hash> Drop for Place<K> {
    fn drop(&mut self) {
        let mut held = self.places.held();
        held.all -= 1;
        if let Some(own) = held.of.get_mut(&self.holder) {
            *own -= 1;
            if *own == 0 {
                held.of.remove(&self.holder);
            }
        }
    }
}
