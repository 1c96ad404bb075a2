//! Which customers may have a namesake: a table of hashes in memory.

use crate::domain::alike::Alike;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{PoisonError, RwLock};

/// Hashes of what customers are known by, each with a hash of the customer. Nothing is ever taken out: what
/// is found is looked at anyway.
#[derive(Debug, Default)]
pub(super) struct Marks {
    owners: RwLock<HashMap<u64, u32>>,
    hasher: RandomState,
}

/// The owner of a mark that several customers have, or had.
const SEVERAL: u32 = 0;

impl Marks {
    fn hashes(&self, alike: &Alike) -> Vec<u64> {
        alike.marks().iter().map(|mark| self.hasher.hash_one(mark)).collect()
    }

    fn owner(&self, identifier: &str) -> u32 {
        // Only whether it is the same one matters.
        (self.hasher.hash_one(identifier) >> 32) as u32 | 1
    }

    /// Notes what a customer is known by.
    pub(super) fn note(&self, identifier: &str, alike: &Alike) {
        let new = self.hashes(alike);
        let owner = self.owner(identifier);
        let mut owners = self.owners.write().unwrap_or_else(PoisonError::into_inner);
        for hash in new {
            owners
                .entry(hash)
                .and_modify(|known| *known = if *known == owner { owner } else { SEVERAL })
                .or_insert(owner);
        }
    }

    /// Whether another customer with some of it was noted; if not, there is no other.
    pub(super) fn has_other(&self, identifier: &str, alike: &Alike) -> bool {
        let wanted = self.hashes(alike);
        let owner = self.owner(identifier);
        let owners = self.owners.read().unwrap_or_else(PoisonError::into_inner);
        wanted.iter().any(|hash| owners.get(hash).is_some_and(|known| *known != owner))
    }
}
