//! Customers who may be the same person: a table of hashes in memory names those who share a name and a day
//! of birth or a phone number, so that only they are read.

use super::Search;
use super::marks::Marks;
use super::records::known;
use crate::domain::alike::Alike;
use crate::store::{Store, Tx};
use mfa_shared::api::batch::DUPLICATES_MAX;
use mfa_shared::fault::Fault;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

/// What is not made by then takes long, because there are many customers.
const MADE_SOON: Duration = Duration::from_secs(1);
/// Customers that are read in one transaction.
const CHUNK: usize = 20;
/// Customers that are read for one new customer. More are read in vain only where hundreds had the same
/// phone once and have another one now.
const READ_MAX: usize = 1_000;

impl Search {
    /// Makes ready to look for customers who are like others: with several daemons by following what they
    /// have made, and once after the start. Where that takes long, nobody waits for it again and again.
    pub async fn ready_for_alike(self: &Arc<Self>, store: &Store) -> Result<(), Fault> {
        if self.made.load(SeqCst) {
            return if store.is_shared() { self.follow_to_the_end(store).await } else { Ok(()) };
        }
        let is_long = self.making.get().is_some_and(|begun| begun.elapsed() > MADE_SOON);
        if is_long { Ok(()) } else { self.follow_to_the_end(store).await }
    }

    /// Notes that a customer is there, so that others are compared with it.
    pub fn note_alike(&self, identifier: &str, alike: &Alike) {
        self.marks.note(identifier, alike);
    }

    /// Customers other than `own` that may be the same person, by identifier, at most [`DUPLICATES_MAX`].
    pub async fn alike(&self, store: &Store, own: &str, alike: &Alike) -> Result<Vec<String>, Fault> {
        let mut same = Vec::new();
        let mut after = String::new();
        for _ in 0..READ_MAX / CHUNK {
            let candidates = self.marks.others(own, alike, &after, CHUNK);
            let Some(last) = candidates.last() else { break };
            after.clone_from(last);
            let alike = alike.clone();
            let wanted = DUPLICATES_MAX - same.len();
            let look = move |tx: &mut Tx<'_>| those_like(tx, &alike, &candidates, wanted);
            same.extend(store.read_rehearsed(true, look).await?);
            if same.len() == DUPLICATES_MAX {
                break;
            }
        }
        Ok(same)
    }
}

/// New customers of whom nothing is stored or noted in the search, as those of a dry run: what they would be
/// known by.
#[derive(Debug, Default)]
pub struct Apart(Marks);

impl Apart {
    /// Adds one.
    pub fn add(&self, identifier: &str, alike: &Alike) {
        self.0.note(identifier, alike);
    }

    /// Those of them other than `own` that may be the same person, by identifier, at most
    /// [`DUPLICATES_MAX`].
    pub fn alike(&self, own: &str, alike: &Alike) -> Vec<String> {
        self.0.others(own, alike, "", DUPLICATES_MAX)
    }
}

/// The first of the candidates who are like a customer by what is stored of them.
fn those_like(
    tx: &mut Tx<'_>,
    alike: &Alike,
    candidates: &[String],
    wanted: usize,
) -> Result<Vec<String>, Fault> {
    let mut same = Vec::new();
    for identifier in candidates {
        let customer = known(tx, identifier)?;
        if customer.is_some_and(|customer| Alike::of(&customer).is_like(alike)) {
            same.push(identifier.clone());
            if same.len() == wanted {
                break;
            }
        }
    }
    Ok(same)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;
    use crate::store::embedded::{Embedded, Options};
    use mfa_shared::api::customers::Customer;
    use serde_json::json;

    fn customer(number: usize, phone: &str) -> Customer {
        serde_json::from_value(json!({
            "identifier": format!("c-{number:04}"), "type": "PERSON", "member": false,
            "contactDetails": [{ "type": "MOBILE", "group": "PRIVATE", "value": phone }],
            "currentState": "PENDING", "customValues": [],
            "createdBy": "test", "createdOn": "2026-01-01T00:00:00.000Z",
        }))
        .unwrap()
    }

    /// Customers who had a phone once, and behind them those who have it.
    fn alike_behind(stale: usize) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            let engine = Embedded::open(Options::new(folder.path().join("data"))).unwrap();
            let store = Store::new(engine, Clock::system(), false);
            let search = Search::default();
            let last = stale + 10;
            let put = move |tx: &mut Tx<'_>| {
                (0..=last)
                    .try_for_each(|number| tx.put(&customer(number, if number < stale { "2" } else { "1" })))
            };
            store.write("test", put).await.unwrap();
            // No search of the words can be made.
            search.turns.close();
            let one = Alike::of_phones(["1".to_owned()]);
            for number in 0..=last {
                let customer = customer(number, "1");
                search.note_alike(&customer.identifier, &one);
            }
            let new = customer(last, "1");
            let same = search.alike(&store, &new.identifier, &one).await.unwrap();
            store.close().await;
            same
        })
    }

    #[test]
    fn a_customer_like_thousands_of_others_costs_no_search_and_few_reads() {
        let five = |first: usize| (first..first + 5).map(|n| format!("c-{n:04}")).collect::<Vec<_>>();
        assert_eq!(alike_behind(0), five(0));
        assert_eq!(alike_behind(3), five(3));
        assert_eq!(alike_behind(READ_MAX - 5), five(READ_MAX - 5));
        assert!(alike_behind(READ_MAX).is_empty(), "more are read than are meant to be");
    }
}
