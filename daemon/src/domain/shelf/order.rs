//! The order of a list at one moment, for a stream that goes on while records come and go.

use super::Shelf;
use super::column::Column;
use super::key::SortKey;
use super::look::Wanted;
use super::places::put_in;
use std::collections::BTreeMap;
use std::ops::Range;

/// The records of a list in the order of one moment: their slots, four bytes each.
#[derive(Debug)]
pub struct Order {
    slots: Vec<u32>,
    /// How many slots had been given to another record by then.
    reuses: u64,
}

/// Keys that some records have in an order in place of those on the shelf; without one, a record is left out.
pub type OtherKeys = BTreeMap<String, Option<SortKey>>;

impl Order {
    /// Number of records.
    pub fn records(&self) -> usize {
        self.slots.len()
    }

    /// Bytes in memory.
    pub fn bytes(&self) -> usize {
        self.slots.capacity() * size_of::<u32>()
    }
}

impl Shelf {
    /// The records of a list in its order; `None` where the order of its column is not kept.
    pub fn order(&self, wanted: &Wanted<'_>, others: &OtherKeys) -> Option<Order> {
        let column = self.known(wanted.column)?;
        let whole = Wanted { passed: 0, size: usize::MAX, ..*wanted };
        let (mut slots, _) = self.look_up(column, &whole);
        if let Some(column) = column.filter(|_| !others.is_empty()) {
            self.put_elsewhere(&mut slots, column, wanted.descending, others);
        }
        slots.shrink_to_fit();
        Some(Order { slots, reuses: self.reuses })
    }

    /// Moves the records with other keys to where these belong.
    fn put_elsewhere(&self, slots: &mut Vec<u32>, column: &Column, descending: bool, others: &OtherKeys) {
        let slot_of = |(name, key): (&String, _)| Some((self.slot_of(name)?, key));
        let others: BTreeMap<u32, &Option<SortKey>> = others.iter().filter_map(slot_of).collect();
        let mut moved = Vec::new();
        slots.retain(|slot| {
            let other = others.get(slot);
            moved.extend(other.and_then(|key| key.as_ref()).map(|_| *slot));
            other.is_none()
        });
        let key = |slot: u32| match others.get(&slot) {
            Some(Some(key)) => key,
            _ => column.key(slot),
        };
        let compare = |a: u32, b: u32| {
            let by_key = key(a).cmp(key(b));
            let by_key = if descending { by_key.reverse() } else { by_key };
            by_key.then_with(|| self.name(a).cmp(self.name(b)))
        };
        moved.sort_by(|a, b| compare(*a, *b));
        put_in(slots, &moved, compare);
    }

    /// The identifiers of a part of an order. One that was removed since may still be among them, or not.
    pub fn names(&self, order: &Order, part: Range<usize>) -> Vec<String> {
        // The slot of a record that was removed may have been given to another one, which has its own place.
        let is_same = |slot: &&u32| self.reused.get(*slot).is_none_or(|at| *at <= order.reuses);
        let part = part.start.min(order.slots.len())..part.end.min(order.slots.len());
        order.slots[part].iter().filter(is_same).map(|slot| self.name(*slot).to_owned()).collect()
    }
}
