//! Which customers share a name and a day of birth, or a phone number: a table of hashes in memory.

use crate::domain::alike::Alike;
use std::collections::{BTreeSet, HashMap};
use std::hash::{BuildHasher, RandomState};
use std::sync::{PoisonError, RwLock};

/// What customers are known by, or were. Nothing is ever taken out: who shares a mark is looked at anyway.
#[derive(Debug, Default)]
pub(super) struct Marks {
    table: RwLock<Table>,
    hasher: RandomState,
}

/// Customers by number, so that an identifier is held once for all marks of its customer.
#[derive(Debug, Default)]
struct Table {
    owners: HashMap<u64, Owners>,
    /// The customers of each mark that several share, by identifier.
    shared: Vec<Vec<u32>>,
    /// All identifiers, one behind the other, and where each one ends.
    text: String,
    ends: Vec<usize>,
}

/// Who has a mark.
#[derive(Debug, Clone, Copy)]
enum Owners {
    One(u32),
    /// A place in [`Table::shared`].
    Several(u32),
}

impl Marks {
    fn hashes(&self, alike: &Alike) -> Vec<u64> {
        alike.marks().iter().map(|mark| self.hasher.hash_one(mark)).collect()
    }

    /// Notes what a customer is known by.
    pub(super) fn note(&self, identifier: &str, alike: &Alike) {
        let hashes = self.hashes(alike);
        // Who follows the store notes most of them a second time.
        if !self.table.read().unwrap_or_else(PoisonError::into_inner).knows(identifier, &hashes) {
            self.table.write().unwrap_or_else(PoisonError::into_inner).note(identifier, &hashes);
        }
    }

    /// The first customers other than `own` who share a mark with it or did so once, by identifier, that come
    /// after `after`.
    pub(super) fn others(&self, own: &str, alike: &Alike, after: &str, limit: usize) -> Vec<String> {
        let hashes = self.hashes(alike);
        let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
        let mut found = BTreeSet::new();
        for hash in &hashes {
            let others = table.owners_after(*hash, after).filter(|other| *other != own);
            found.extend(others.take(limit));
        }
        found.into_iter().take(limit).map(str::to_owned).collect()
    }
}

impl Table {
    fn identifier(&self, number: u32) -> &str {
        let number = number as usize;
        let start = if number == 0 { 0 } else { self.ends[number - 1] };
        &self.text[start..self.ends[number]]
    }

    /// The number of a customer who is not known yet, or whose marks are all new. `None` beyond four thousand
    /// million customers, who are then not compared.
    fn number(&mut self, identifier: &str) -> Option<u32> {
        let number = u32::try_from(self.ends.len()).ok()?;
        self.text.push_str(identifier);
        self.ends.push(self.text.len());
        Some(number)
    }

    /// Where a customer is, or belongs, among those who share a mark.
    fn place(&self, sharing: &[u32], identifier: &str) -> Result<usize, usize> {
        sharing.binary_search_by(|number| self.identifier(*number).cmp(identifier))
    }

    /// The number of a customer by this mark.
    fn known(&self, hash: u64, identifier: &str) -> Option<u32> {
        match *self.owners.get(&hash)? {
            Owners::One(number) => Some(number).filter(|number| self.identifier(*number) == identifier),
            Owners::Several(at) => {
                let sharing = &self.shared[at as usize];
                self.place(sharing, identifier).ok().map(|place| sharing[place])
            }
        }
    }

    fn knows(&self, identifier: &str, hashes: &[u64]) -> bool {
        hashes.iter().all(|hash| self.known(*hash, identifier).is_some())
    }

    fn note(&mut self, identifier: &str, hashes: &[u64]) {
        let known: Vec<_> = hashes.iter().map(|hash| self.known(*hash, identifier)).collect();
        if known.iter().all(Option::is_some) {
            return;
        }
        let Some(own) = known.iter().flatten().next().copied().or_else(|| self.number(identifier)) else {
            return;
        };
        for (hash, known) in hashes.iter().zip(known) {
            if known.is_none() {
                self.add(*hash, own);
            }
        }
    }

    fn add(&mut self, hash: u64, own: u32) {
        match self.owners.get(&hash).copied() {
            None => {
                self.owners.insert(hash, Owners::One(own));
            }
            Some(Owners::One(other)) => {
                let mut sharing = vec![other, own];
                sharing.sort_by(|one, two| self.identifier(*one).cmp(self.identifier(*two)));
                let Ok(at) = u32::try_from(self.shared.len()) else { return };
                self.shared.push(sharing);
                self.owners.insert(hash, Owners::Several(at));
            }
            Some(Owners::Several(at)) => {
                let mut sharing = std::mem::take(&mut self.shared[at as usize]);
                if let Err(place) = self.place(&sharing, self.identifier(own)) {
                    sharing.insert(place, own);
                }
                self.shared[at as usize] = sharing;
            }
        }
    }

    /// Who has a mark, by identifier.
    fn owners_after<'a>(&'a self, hash: u64, after: &str) -> impl Iterator<Item = &'a str> + use<'a> {
        let sharing: &[u32] = match self.owners.get(&hash) {
            None => &[],
            Some(Owners::One(number)) => std::slice::from_ref(number),
            Some(Owners::Several(at)) => &self.shared[*at as usize],
        };
        let first = sharing.partition_point(|number| self.identifier(*number) <= after);
        sharing[first..].iter().map(|number| self.identifier(*number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A customer who is known by these numbers.
    fn alike(phones: &BTreeSet<u8>) -> Alike {
        Alike::of_phones(phones.iter().map(u8::to_string))
    }

    fn phones() -> impl Strategy<Value = BTreeSet<u8>> {
        proptest::collection::btree_set(0..5u8, 0..4)
    }

    proptest! {
        #[test]
        fn those_who_share_a_mark_are_found_in_order_page_by_page(
            noted in proptest::collection::vec((0..30u8, phones()), 0..60),
            own in 0..30u8, wanted in phones(), limit in 1usize..4,
        ) {
            let marks = Marks::default();
            let name = |number: u8| format!("c-{number}");
            for (number, phones) in &noted {
                marks.note(&name(*number), &alike(phones));
            }
            let expected: BTreeSet<_> = noted
                .iter()
                .filter(|(number, phones)| *number != own && !phones.is_disjoint(&wanted))
                .map(|(number, _)| name(*number))
                .collect();
            let (mut found, mut after) = (Vec::new(), String::new());
            loop {
                let page = marks.others(&name(own), &alike(&wanted), &after, limit);
                prop_assert!(page.len() <= limit);
                let Some(last) = page.last() else { break };
                after.clone_from(last);
                found.extend(page);
            }
            prop_assert_eq!(found, Vec::from_iter(expected));
        }
    }
}
