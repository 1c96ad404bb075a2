//! The order of one more column, which is made while others list and change.

use super::Shelf;
use super::column::Column;
use super::key::SortKey;
use super::places::put_in;
use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock};

/// Columns beside the identifiers whose orders are kept of one noun.
const COLUMNS_MAX: usize = 4;
/// Records whose keys are put in at once, while nothing can be changed.
const AT_ONCE: usize = if cfg!(test) { 7 } else { 5_000 };

/// A column as it was at some moment, for [`Shelf::fitted`].
#[derive(Debug)]
pub struct NewColumn(Column);

impl NewColumn {
    /// Sorts records by their keys; a record without one has none. The shelf is held for moments only.
    pub fn of(shelf: &RwLock<Shelf>, name: &str, mut keys: BTreeMap<String, SortKey>) -> Self {
        let reading = || shelf.read().unwrap_or_else(PoisonError::into_inner);
        let order = reading().by_identifier.clone();
        let slots = order.iter().max().map_or(0, |last| *last as usize + 1);
        let mut of_slots = vec![SortKey::Null; slots];
        for part in order.chunks(AT_ONCE) {
            let shelf = reading();
            for slot in part {
                of_slots[*slot as usize] = keys.remove(shelf.name(*slot)).unwrap_or(SortKey::Null);
            }
        }
        Self(Column::sorted(name, of_slots, order))
    }
}

impl Shelf {
    /// A column as it is now. `changed` has every record that was put or removed since before the keys of the
    /// column were read, each with the key that it has now.
    pub fn fitted(&self, column: NewColumn, changed: BTreeMap<String, SortKey>) -> Column {
        let NewColumn(mut column) = column;
        column.keys.resize(self.slots.len(), SortKey::Null);
        let mut is_stale = vec![false; self.slots.len()];
        self.free.iter().for_each(|slot| is_stale[*slot as usize] = true);
        let mut moved = Vec::new();
        for (name, key) in changed {
            if let Some(slot) = self.slot_of(&name) {
                is_stale[slot as usize] = true;
                column.keys[slot as usize] = key;
                moved.push(slot);
            }
        }
        column.order.retain(|slot| !is_stale[*slot as usize]);
        let keys = &column.keys;
        let compare = |a: u32, b: u32| {
            keys[a as usize].cmp(&keys[b as usize]).then_with(|| self.name(a).cmp(self.name(b)))
        };
        moved.sort_by(|a, b| compare(*a, *b));
        put_in(&mut column.order, &moved, compare);
        column
    }

    /// Keeps the order of a column, in place of the one that was used least lately where there are too many;
    /// that one is returned, since it takes a while to give back its memory.
    pub fn keep(&mut self, column: Column) -> Option<Column> {
        column.note_use(&self.uses);
        let same = self.columns.iter().position(|kept| kept.name == column.name);
        let least = || (0..self.columns.len()).min_by_key(|at| self.columns[*at].used());
        let place = same.or_else(|| if self.columns.len() < COLUMNS_MAX { None } else { least() });
        let gone = place.map(|place| self.columns.remove(place));
        self.columns.push(column);
        gone
    }
}
