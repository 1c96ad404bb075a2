//! Looking up a page of a list.

use super::Shelf;
use super::column::Column;
use super::key::SortKey;
use std::cmp::Ordering;
use std::ops::Range;

/// Records that contain a term are sorted by themselves where they are at most this part of all; where there
/// are more, the order of all is walked.
const FEW: usize = if cfg!(test) { 4 } else { 256 };

/// Which part of a list is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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

impl Shelf {
    /// The part of the list that is asked for; `None` where the order of its column is not kept.
    pub fn page(&self, wanted: &Wanted<'_>) -> Option<Found> {
        let column = self.known(wanted.column)?;
        let (slots, total) = self.look_up(column, wanted);
        let key = |slot: u32| column.map_or(SortKey::Null, |column| column.key(slot).clone());
        let records = slots.into_iter().map(|slot| (self.name(slot).to_owned(), key(slot))).collect();
        Some(Found { records, total })
    }

    /// The order of the column that is asked for, if one is; `None` where it is not kept.
    pub(super) fn known(&self, name: Option<&str>) -> Option<Option<&Column>> {
        let Some(name) = name else { return Some(None) };
        let column = self.columns.iter().find(|column| column.name == name)?;
        column.note_use(&self.uses);
        Some(Some(column))
    }

    /// The slots of the part that is asked for, and how many match in all.
    pub(super) fn look_up(&self, column: Option<&Column>, wanted: &Wanted<'_>) -> (Vec<u32>, usize) {
        let order = column.map_or(&self.by_identifier, |column| &column.order);
        let is_of = |slot: u32| wanted.group.is_none_or(|group| group == self.groups[slot as usize]);
        let found = wanted.term.filter(|term| !term.is_empty()).map(|term| {
            let mut found = self.lines.containing(term);
            found.retain(|slot| is_of(*slot));
            found
        });
        let total = match (&found, wanted.group) {
            (Some(found), _) => found.len(),
            (None, Some(group)) => self.sizes.get(&group).copied().unwrap_or(0),
            (None, None) => order.len(),
        };
        let range = wanted.passed.min(total)..wanted.passed.saturating_add(wanted.size).min(total);
        let slots = match found {
            _ if total == order.len() => part(order, column, wanted.descending, range),
            Some(found) if total <= order.len() / FEW => {
                sorted(found, range, |a, b| self.compare(column, wanted.descending, a, b))
            }
            Some(found) => {
                let mut is_found = vec![false; self.slots.len()];
                found.into_iter().for_each(|slot| is_found[slot as usize] = true);
                walked(order, column, wanted.descending, range, |slot| is_found[slot as usize])
            }
            None => walked(order, column, wanted.descending, range, is_of),
        };
        (slots, total)
    }

    /// Which of two slots comes first in a list.
    fn compare(&self, column: Option<&Column>, descending: bool, a: u32, b: u32) -> Ordering {
        let by_identifier = || self.name(a).cmp(self.name(b));
        match (column, descending) {
            (None, false) => by_identifier(),
            (None, true) => by_identifier().reverse(),
            (Some(column), false) => column.key(a).cmp(column.key(b)).then_with(by_identifier),
            (Some(column), true) => column.key(b).cmp(column.key(a)).then_with(by_identifier),
        }
    }
}

/// A part of slots once they are sorted; what is behind the part is not sorted.
fn sorted(mut slots: Vec<u32>, wanted: Range<usize>, compare: impl Fn(u32, u32) -> Ordering) -> Vec<u32> {
    if wanted.end < slots.len() {
        slots.select_nth_unstable_by(wanted.end, |a, b| compare(*a, *b));
        slots.truncate(wanted.end);
    }
    slots.sort_unstable_by(|a, b| compare(*a, *b));
    slots.split_off(wanted.start)
}

/// A part of those slots of an order that are shown.
fn walked(
    order: &[u32],
    column: Option<&Column>,
    descending: bool,
    wanted: Range<usize>,
    shown: impl Fn(u32) -> bool,
) -> Vec<u32> {
    let shown = |slot: &u32| shown(*slot);
    let (passed, size) = (wanted.start, wanted.len());
    match (descending, column) {
        (false, _) => order.iter().copied().filter(shown).skip(passed).take(size).collect(),
        (true, None) => order.iter().rev().copied().filter(shown).skip(passed).take(size).collect(),
        (true, Some(_)) => {
            let shown: Vec<_> = order.iter().copied().filter(shown).collect();
            part(&shown, column, descending, wanted)
        }
    }
}

/// A part of an order, from its beginning or from its end.
fn part(order: &[u32], column: Option<&Column>, descending: bool, wanted: Range<usize>) -> Vec<u32> {
    match (descending, column) {
        (false, _) => order[wanted].to_vec(),
        (true, None) => {
            let behind = order.len() - wanted.start;
            order[behind - wanted.len()..behind].iter().rev().copied().collect()
        }
        (true, Some(column)) => from_the_end(order, column, wanted),
    }
}

/// A part of an order from its end, in which equal keys keep the order of their identifiers.
fn from_the_end(order: &[u32], column: &Column, wanted: Range<usize>) -> Vec<u32> {
    let mut found = Vec::with_capacity(wanted.len());
    if wanted.is_empty() {
        return found;
    }
    let begin = column.key(order[order.len() - 1 - wanted.start]);
    let mut behind = order.partition_point(|slot| column.key(*slot) <= begin);
    let mut passed = wanted.start - (order.len() - behind);
    while found.len() < wanted.len() {
        let first = behind - equal_at_the_end(&order[..behind], column);
        let group = &order[first + passed..behind];
        found.extend_from_slice(&group[..group.len().min(wanted.len() - found.len())]);
        (behind, passed) = (first, 0);
    }
    found
}

/// How many at the end of an order have the key of the last one. Few as a rule, so it is looked for from
/// there in growing steps.
fn equal_at_the_end(order: &[u32], column: &Column) -> usize {
    let Some(last) = order.last().map(|slot| column.key(*slot)) else { return 0 };
    let is_before = |slot: &u32| column.key(*slot) < last;
    let (mut equal, mut step) = (1, 1);
    loop {
        let next = (equal + step).min(order.len());
        if next == equal || is_before(&order[order.len() - next]) {
            let unknown = &order[order.len() - next..order.len() - equal];
            return equal + unknown.len() - unknown.partition_point(is_before);
        }
        (equal, step) = (next, step * 2);
    }
}
