//! Customers who may be the same person. For nearly every new customer, a table of hashes in memory shows
//! that no one is like it; only for the others are all customers searched.

use super::Search;
use crate::domain::alike::Alike;
use crate::domain::search::{Kind, Phrase};
use crate::store::{Store, Tx};
use mfa_shared::api::batch::DUPLICATES_MAX;
use mfa_shared::api::customers::Customer;
use mfa_shared::fault::Fault;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;

/// Customers that are looked at for one new customer; so many share a name and a day of birth nowhere.
const LOOKED_AT_MAX: usize = 1_000;

impl Search {
    /// Makes ready to look for customers who are like others: with several daemons by following what they
    /// have made, and once after the start.
    pub async fn ready_for_alike(&self, store: &Store) -> Result<(), Fault> {
        if store.is_shared() || !self.made.load(SeqCst) { self.follow(store).await } else { Ok(()) }
    }

    /// Customers other than `own` that may be the same person, by identifier, at most [`DUPLICATES_MAX`].
    /// `made` says that the customer is there now, so that the next one is compared with it.
    pub async fn alike(
        &self,
        store: &Store,
        own: &str,
        alike: Alike,
        made: bool,
    ) -> Result<Vec<String>, Fault> {
        let known = self.marks.has_other(own, &alike);
        if made {
            self.marks.note(own, &alike);
        }
        if !known {
            return Ok(Vec::new());
        }
        let mut candidates = BTreeSet::new();
        for text in alike.phrases() {
            let phrase = Arc::new(Phrase::parse(text));
            let (found, near) = self.find(store, &phrase, &[Kind::Customer], LOOKED_AT_MAX).await?;
            candidates.extend(found.into_iter().filter(|_| !near).map(|found| found.identifier));
        }
        candidates.remove(own);
        let look = move |tx: &mut Tx<'_>| {
            let mut same = Vec::new();
            for identifier in &candidates {
                // Enough are named: where many are alike, the others need not be read.
                if same.len() == DUPLICATES_MAX {
                    break;
                }
                let customer = tx.get::<Customer>(&[identifier])?;
                if customer.is_some_and(|customer| Alike::of(&customer).is_like(&alike)) {
                    same.push(identifier.clone());
                }
            }
            Ok(same)
        };
        store.read(true, look).await
    }
}
