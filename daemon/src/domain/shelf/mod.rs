//! The position of each record of a noun in its lists: in memory, so that a page costs what it shows.
//!
//! A record takes a slot. The orders are slots, sorted; that of the identifiers is always kept, that of
//! another column from when it is first requested. The searchable texts are stored one after the other, in
//! lower case. The store decides what is shown.

mod column;
mod key;
mod lines;
mod look;
mod new_column;
mod order;
mod places;
#[cfg(test)]
mod tests;

pub use column::Column;
pub use key::SortKey;
pub use lines::{lower, texts};
pub use look::{Found, Wanted};
pub use new_column::NewColumn;
pub use order::{Order, OtherKeys};

use lines::Lines;
use places::{leave_out, put_in};
use std::collections::BTreeMap;
use std::sync::atomic::AtomicU64;

/// What decides the position of a record in lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Its identifier.
    pub identifier: String,
    /// Its texts, as [`texts()`] puts them together.
    pub texts: String,
    /// Its group: a list shows one of them, or all.
    pub group: u8,
    /// Its key of each column whose order is kept, in the order of [`Shelf::columns`].
    pub keys: Vec<SortKey>,
}

#[derive(Debug)]
struct Slot {
    identifier: Box<str>,
    /// The line of its texts.
    line: usize,
}

/// All records of a noun.
#[derive(Debug, Default)]
pub struct Shelf {
    slots: Vec<Slot>,
    free: Vec<u32>,
    /// How many slots were given to another record, and for each of these how many it were by then.
    reuses: u64,
    reused: BTreeMap<u32, u64>,
    /// How often it was changed.
    changes: u64,
    by_identifier: Vec<u32>,
    /// The group of each slot, and how many records are of each.
    groups: Vec<u8>,
    sizes: BTreeMap<u8, usize>,
    columns: Vec<Column>,
    /// How often an order of a column was used.
    uses: AtomicU64,
    lines: Lines,
}

impl Shelf {
    /// Number of records.
    pub fn records(&self) -> usize {
        self.by_identifier.len()
    }

    /// Bytes in memory, what keys of columns hold beside themselves left out.
    pub fn bytes(&self) -> usize {
        let names: usize = self.slots.iter().map(|slot| slot.identifier.len()).sum();
        let columns: usize = self.columns.iter().map(Column::bytes).sum();
        names
            + self.slots.capacity() * size_of::<Slot>()
            + self.groups.capacity()
            + self.by_identifier.capacity() * 4
            + self.lines.bytes()
            + columns
    }

    /// The columns beside the identifier whose orders are kept.
    pub fn columns(&self) -> Vec<String> {
        self.columns.iter().map(|column| column.name.clone()).collect()
    }

    /// Whether a page in the order of a column can be provided.
    pub fn has(&self, column: Option<&str>) -> bool {
        column.is_none_or(|name| self.columns.iter().any(|column| column.name == name))
    }

    fn name(&self, slot: u32) -> &str {
        &self.slots[slot as usize].identifier
    }

    fn slot_of(&self, identifier: &str) -> Option<u32> {
        let found = self.by_identifier.binary_search_by(|slot| self.name(*slot).cmp(identifier));
        found.ok().map(|at| self.by_identifier[at])
    }

    /// How often it was changed.
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// Updates records, each at most once; `None` where the record no longer exists.
    pub fn apply(&mut self, changes: Vec<(String, Option<Row>)>) {
        self.changes += 1;
        let known: Vec<_> = changes.iter().map(|(identifier, _)| self.slot_of(identifier)).collect();
        self.leave(&changes, &known);
        let mut added = Vec::new();
        let mut moved = vec![Vec::new(); self.columns.len()];
        for ((_, row), slot) in changes.into_iter().zip(known) {
            let Some(row) = row else {
                if let Some(slot) = slot {
                    self.empty(slot);
                }
                continue;
            };
            let keys = row.keys.clone();
            let slot = match slot {
                Some(slot) => {
                    self.renew(slot, row);
                    slot
                }
                None => {
                    let slot = self.fill(row);
                    added.push(slot);
                    slot
                }
            };
            for ((column, key), moved) in self.columns.iter_mut().zip(keys).zip(&mut moved) {
                column.keys.resize(column.keys.len().max(slot as usize + 1), SortKey::Null);
                column.keys[slot as usize] = key;
                moved.push(slot);
            }
        }
        let slots = &self.slots;
        let name = |slot: u32| &slots[slot as usize].identifier;
        added.sort_by(|a, b| name(*a).cmp(name(*b)));
        put_in(&mut self.by_identifier, &added, |a, b| name(a).cmp(name(b)));
        for (column, mut moved) in self.columns.iter_mut().zip(moved) {
            let keys = &column.keys;
            let compare =
                |a: u32, b: u32| keys[a as usize].cmp(&keys[b as usize]).then_with(|| name(a).cmp(name(b)));
            moved.sort_by(|a, b| compare(*a, *b));
            put_in(&mut column.order, &moved, compare);
        }
        if self.lines.are_mostly_dead() {
            self.compact();
        }
    }

    /// Leaves out the lines that count no more.
    fn compact(&mut self) {
        let slots = &mut self.slots;
        self.lines.compact(|slot, line| slots[slot as usize].line = line);
    }

    /// Takes what is gone out of the order of identifiers, and all that may move out of those of columns.
    fn leave(&mut self, changes: &[(String, Option<Row>)], known: &[Option<u32>]) {
        let gone =
            changes.iter().zip(known).filter(|((_, row), _)| row.is_none()).filter_map(|(_, slot)| *slot);
        let slots = &self.slots;
        let name = |slot: u32| &slots[slot as usize].identifier;
        let mut places: Vec<_> = gone
            .filter_map(|slot| self.by_identifier.binary_search_by(|other| name(*other).cmp(name(slot))).ok())
            .collect();
        places.sort_unstable();
        leave_out(&mut self.by_identifier, &places);
        for column in &mut self.columns {
            let keys = &column.keys;
            let place = |slot: &u32| {
                let compare = |other: &u32| {
                    let by_key = keys[*other as usize].cmp(&keys[*slot as usize]);
                    by_key.then_with(|| name(*other).cmp(name(*slot)))
                };
                column.order.binary_search_by(compare).ok()
            };
            let mut places: Vec<_> = known.iter().flatten().filter_map(place).collect();
            places.sort_unstable();
            leave_out(&mut column.order, &places);
        }
    }

    fn count_in(&mut self, group: u8) {
        *self.sizes.entry(group).or_default() += 1;
    }

    fn count_out(&mut self, group: u8) {
        self.sizes.entry(group).and_modify(|size| *size -= 1);
    }

    #[expect(clippy::expect_used, reason = "fewer records than a machine can hold")]
    fn fill(&mut self, row: Row) -> u32 {
        self.count_in(row.group);
        let slot = match self.free.pop() {
            Some(slot) => {
                self.reuses += 1;
                self.reused.insert(slot, self.reuses);
                slot
            }
            None => u32::try_from(self.slots.len()).expect("fewer records than a machine can hold"),
        };
        let line = self.lines.write(slot, &row.texts);
        let filled = Slot { identifier: row.identifier.into(), line };
        match self.slots.get_mut(slot as usize) {
            Some(empty) => *empty = filled,
            None => self.slots.push(filled),
        }
        self.groups.resize(self.slots.len(), 0);
        self.groups[slot as usize] = row.group;
        slot
    }

    fn renew(&mut self, slot: u32, row: Row) {
        let line = self.slots[slot as usize].line;
        let before = std::mem::replace(&mut self.groups[slot as usize], row.group);
        self.count_out(before);
        self.count_in(row.group);
        if self.lines.text(line) != row.texts.as_bytes() {
            self.lines.strike(line);
            self.slots[slot as usize].line = self.lines.write(slot, &row.texts);
        }
    }

    fn empty(&mut self, slot: u32) {
        self.count_out(self.groups[slot as usize]);
        self.lines.strike(self.slots[slot as usize].line);
        self.free.push(slot);
    }
}
