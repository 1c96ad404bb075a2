//! The position of each record of a noun in its lists: in memory, so that a page costs what it shows.
//!
//! A record takes a slot. The orders are slots, sorted; that of the identifiers is always kept, that of
//! another column from when it is first requested. The searchable texts are stored one after the other, in
//! lower case. The store decides what is shown.

mod key;
mod lines;
#[cfg(test)]
mod tests;

pub use key::SortKey;
use lines::{Lines, Matching};
pub use lines::{lower, texts};

use std::cmp::Ordering;
use std::collections::BTreeMap;

/// Columns beside the identifiers whose orders are kept of one noun.
const COLUMNS_MAX: usize = 4;
/// So many changes of an order are made one by one; of more the rest of the order is written anew.
const ONE_BY_ONE: usize = 8;

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

/// Which part of a list is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted<'w> {
    /// The column, if it is not the identifier.
    pub column: Option<&'w str>,
    /// Whether the last one comes first.
    pub descending: bool,
    /// The group whose records are wanted; nothing for all of them.
    pub group: Option<u8>,
    /// What one text must contain, lower-cased.
    pub term: Option<&'w str>,
    /// Records before the first one that is asked for.
    pub passed: usize,
    /// Records that are wanted.
    pub size: usize,
}

/// The records of a page, each with its key, and how many there are in all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Identifier and key of the column that sorts.
    pub records: Vec<(String, SortKey)>,
    /// Records that match.
    pub total: usize,
}

#[derive(Debug)]
struct Slot {
    identifier: Box<str>,
    /// The line of its texts.
    line: usize,
}

/// The order of a column.
#[derive(Debug, Default)]
struct Column {
    name: String,
    /// The key of each slot.
    keys: Vec<SortKey>,
    order: Vec<u32>,
}

/// All records of a noun.
#[derive(Debug, Default)]
pub struct Shelf {
    slots: Vec<Slot>,
    free: Vec<u32>,
    by_identifier: Vec<u32>,
    /// The group of each slot, and how many records are of each.
    groups: Vec<u8>,
    sizes: BTreeMap<u8, usize>,
    columns: Vec<Column>,
    lines: Lines,
}

/// Removes the elements at these places, which are sorted.
fn leave_out(order: &mut Vec<u32>, places: &[usize]) {
    if places.len() <= ONE_BY_ONE {
        for place in places.iter().rev() {
            order.remove(*place);
        }
        return;
    }
    let mut at = 0;
    let mut next = places.iter().peekable();
    order.retain(|_| {
        let goes = next.next_if(|place| **place == at).is_some();
        at += 1;
        !goes
    });
}

/// Puts slots, which are sorted, where they belong.
fn put_in(order: &mut Vec<u32>, slots: &[u32], compare: impl Fn(u32, u32) -> Ordering) {
    let place = |order: &[u32], slot: u32| order.partition_point(|other| compare(*other, slot).is_lt());
    if slots.len() <= ONE_BY_ONE {
        for slot in slots {
            order.insert(place(order, *slot), *slot);
        }
        return;
    }
    // What comes before all of them stays where it is: nearly everything, where an order is made from its
    // beginning.
    let moved = order.split_off(place(order, slots[0]));
    order.reserve(slots.len() + moved.len());
    let mut rest = moved.as_slice();
    for slot in slots {
        let (before, behind) = rest.split_at(place(rest, *slot));
        order.extend_from_slice(before);
        order.push(*slot);
        rest = behind;
    }
    order.extend_from_slice(rest);
}

impl Shelf {
    /// Number of records.
    pub fn records(&self) -> usize {
        self.by_identifier.len()
    }

    /// Bytes in memory, what keys of columns hold beside themselves left out.
    pub fn bytes(&self) -> usize {
        let names: usize = self.slots.iter().map(|slot| slot.identifier.len()).sum();
        let orders =
            self.columns.iter().map(|c| c.keys.capacity() * size_of::<SortKey>() + c.order.capacity() * 4);
        names
            + self.slots.capacity() * size_of::<Slot>()
            + self.groups.capacity()
            + self.by_identifier.capacity() * 4
            + self.lines.bytes()
            + orders.sum::<usize>()
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

    /// Keeps the order of one more column, from the key of each record; a record without one has none. The
    /// column that was asked for first is forgotten when there are too many.
    pub fn add_column(&mut self, name: &str, mut keys: BTreeMap<String, SortKey>) {
        let mut of_slots = vec![SortKey::Null; self.slots.len()];
        for slot in &self.by_identifier {
            of_slots[*slot as usize] = keys.remove(self.name(*slot)).unwrap_or(SortKey::Null);
        }
        let mut order = self.by_identifier.clone();
        // The sort is stable, so equal ones stay in the order of their identifiers.
        order.sort_by(|a, b| of_slots[*a as usize].cmp(&of_slots[*b as usize]));
        self.columns.retain(|column| column.name != name);
        if self.columns.len() >= COLUMNS_MAX {
            self.columns.remove(0);
        }
        self.columns.push(Column { name: name.to_owned(), keys: of_slots, order });
    }

    /// Updates records, each at most once; `None` where the record no longer exists.
    pub fn apply(&mut self, changes: Vec<(String, Option<Row>)>) {
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
            Some(slot) => slot,
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

    /// The part of the list that is asked for; `None` where the order of its column is not kept.
    pub fn page(&self, wanted: &Wanted<'_>) -> Option<Found> {
        let column = match wanted.column {
            None => None,
            Some(name) => Some(self.columns.iter().find(|column| column.name == name)?),
        };
        let order = column.map_or(&self.by_identifier, |column| &column.order);
        let matching =
            wanted.term.map_or(Matching::All, |term| self.lines.containing(term, self.slots.len()));
        let is_of = |group: u8| wanted.group.is_none_or(|wanted| wanted == group);
        let shown = |slot: &u32| matching.has(*slot) && is_of(self.groups[*slot as usize]);
        // The total is counted slot by slot, as they lie in memory, and the order is walked only to the page.
        let total = match &matching {
            Matching::All => match wanted.group {
                None => order.len(),
                Some(group) => self.sizes.get(&group).copied().unwrap_or(0),
            },
            Matching::Only(found) if wanted.group.is_some() => {
                found.iter().zip(&self.groups).filter(|(found, group)| **found && is_of(**group)).count()
            }
            Matching::Only(found) => found.iter().filter(|found| **found).count(),
        };
        let range = wanted.passed.min(total)..wanted.passed.saturating_add(wanted.size).min(total);
        let walked = |slots: &mut dyn Iterator<Item = u32>| -> Vec<u32> {
            slots.filter(shown).skip(range.start).take(range.len()).collect()
        };
        let slots = match (wanted.descending, column) {
            (true, Some(column)) => {
                let key = |slot: u32| &column.keys[slot as usize];
                if total == order.len() {
                    descending(order, range, key)
                } else {
                    descending(&order.iter().copied().filter(shown).collect::<Vec<_>>(), range, key)
                }
            }
            (false, _) if total == order.len() => order[range].to_vec(),
            (true, None) if total == order.len() => {
                order[total - range.end..total - range.start].iter().rev().copied().collect()
            }
            (false, _) => walked(&mut order.iter().copied()),
            (true, None) => walked(&mut order.iter().rev().copied()),
        };
        let key = |slot: &u32| column.map_or(SortKey::Null, |column| column.keys[*slot as usize].clone());
        let records = slots.iter().map(|slot| (self.name(*slot).to_owned(), key(slot))).collect();
        Some(Found { records, total })
    }
}

/// A part of a sequence from its end, in which equal elements keep the order of their identifiers.
fn descending<'k>(
    sequence: &[u32],
    wanted: std::ops::Range<usize>,
    key: impl Fn(u32) -> &'k SortKey,
) -> Vec<u32> {
    let mut found = Vec::with_capacity(wanted.len());
    let mut at = wanted.start;
    while at < wanted.end {
        let last = key(sequence[sequence.len() - 1 - at]);
        let first = sequence.partition_point(|slot| key(*slot) < last);
        let behind = sequence.partition_point(|slot| key(*slot) <= last);
        let passed = at - (sequence.len() - behind);
        let group = &sequence[first + passed..behind];
        let taken = group.len().min(wanted.end - at);
        found.extend_from_slice(&group[..taken]);
        at += taken;
    }
    found
}
