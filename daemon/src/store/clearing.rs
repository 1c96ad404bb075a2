//! Transactions that clear away records whose time is over.

use super::engine::{Range, Space};
use super::expired::{EARLIER_S, Expired};
use super::record::{Record, key, moment};
use super::tx::Tx;
use mfa_shared::fault::Fault;
use mfa_shared::time::Timestamp;
use std::sync::Arc;

impl Tx<'_> {
    /// The same transaction with what is known of expired records.
    pub fn with_expired(mut self, expired: Arc<Expired>) -> Self {
        self.expired = Some(expired);
        self
    }

    /// Up to `limit` records that an index by time has before a moment, the earliest first. One that came in
    /// before others that were found already may be found by a later look only.
    pub fn expired<R: Record>(
        &mut self,
        index: Space,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<R>, Fault> {
        let known = self.expired.clone();
        let earlier = key(&[&moment(until.plus_seconds(-EARLIER_S))]);
        let until = moment(until);
        let end = key(&[&until]);
        // Where the clock was set back, the look before may have ended behind this moment.
        let from =
            known.as_ref().map(|known| known.begin(index, earlier)).unwrap_or_default().min(end.clone());
        let entries = self.scan(index, &Range { from, to: Some(end.clone()) }, false, limit)?;
        if let Some(known) = known {
            known.note(index, entries.first().map_or(end, |(first, _)| first.clone()));
        }
        let skipped = until.len() + 1;
        self.fetch(entries.into_iter().map(|(entry, _)| entry[skipped.min(entry.len())..].to_vec()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::engine::Change;
    use crate::store::expired::EARLIER_ONE_OF;
    use crate::store::overlay::tests::Map;
    use crate::store::records::{LOGIN_ATTEMPTS_BY_TIME, StoredAttempts};
    use std::collections::BTreeMap;

    /// A store with one space for records and index.
    struct Store {
        map: Map,
        known: Arc<Expired>,
    }

    fn at(second: i64) -> Timestamp {
        Timestamp::from_millis(second * 1_000)
    }

    impl Store {
        /// What was tried under a name is forgotten from a second on.
        fn put(&mut self, name: &str, second: i64) {
            let (failures, name, forgotten_from) = (Vec::new(), name.to_owned(), at(second));
            let attempts = StoredAttempts { name, failures, locks: 0, locked_until: None, forgotten_from };
            let mut tx = Tx::new(&mut self.map, at(0), false);
            tx.put(&attempts).unwrap();
            let changes = tx.into_changes();
            self.keep(changes);
        }

        fn keep(&mut self, changes: Vec<Change>) {
            for change in changes {
                match change.value {
                    Some(value) => self.map.0.insert(change.key, value),
                    None => self.map.0.remove(&change.key),
                };
            }
        }

        /// Finds two names at most that are forgotten before a second, and removes them if that is committed.
        fn clear(&mut self, second: i64, commits: bool) -> Vec<String> {
            let mut tx = Tx::new(&mut self.map, at(second), false).with_expired(self.known.clone());
            let found = tx.expired::<StoredAttempts>(LOGIN_ATTEMPTS_BY_TIME, at(second), 2).unwrap();
            found.iter().for_each(|attempts| tx.remove(attempts));
            let changes = if commits { tx.into_changes() } else { Vec::new() };
            self.keep(changes);
            found.into_iter().map(|attempts| attempts.name).collect()
        }
    }

    #[test]
    fn what_is_over_is_found_in_turn_and_again_if_it_was_not_removed() {
        let mut store = Store { map: Map(BTreeMap::new()), known: Arc::default() };
        for (name, second) in [("x-a", 1), ("x-b", 2), ("x-c", 3), ("x-d", 9)] {
            store.put(name, second);
        }
        assert_eq!(store.clear(5, false), ["x-a", "x-b"]);
        assert_eq!(store.clear(5, true), ["x-a", "x-b"]);
        assert_eq!(store.clear(5, true), ["x-c"]);
        assert_eq!(store.clear(5, true), [""; 0]);
        store.put("x-e", 6);
        assert_eq!(store.clear(10, true), ["x-e", "x-d"]);
    }

    #[test]
    fn a_clock_that_was_set_back_finds_nothing_and_goes_on_from_there() {
        let mut store = Store { map: Map(BTreeMap::new()), known: Arc::default() };
        store.put("x-a", 5);
        assert_eq!(store.clear(1_000, true), ["x-a"]);
        assert_eq!(store.clear(1_000, true), [""; 0]);
        store.put("x-b", 8);
        assert_eq!(store.clear(7, true), [""; 0]);
        assert_eq!(store.clear(9, true), ["x-b"]);
    }

    #[test]
    fn what_comes_in_before_what_was_found_is_found_in_the_end() {
        let mut store = Store { map: Map(BTreeMap::new()), known: Arc::default() };
        store.put("x-a", 5);
        assert_eq!(store.clear(9, true), ["x-a"]);
        store.put("x-b", 1);
        let looks: Vec<_> = (0..EARLIER_ONE_OF).map(|_| store.clear(9, true)).collect();
        assert_eq!(looks[0], [""; 0], "traces of what was removed are not passed over again");
        assert_eq!(looks.concat(), ["x-b"]);
    }
}
