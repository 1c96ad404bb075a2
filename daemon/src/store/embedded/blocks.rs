//! Blocks: pairs that are neighbours share one item of the tree.
//!
//! sled puts at most 16 items into a page, however short they are, and each page takes some hundred bytes of
//! memory and a part of each start. With an item for each pair there were millions of pages.
//!
//! A block has the pairs from its key on, up to the key of the next item. The first block of a space begins
//! with the space itself, so each key belongs to a block. A pair that is alone and begins its block is
//! stored as all pairs were before there were blocks.

use super::codec::{Cursor, put_short, short};
use super::layout::KEY_BYTES_MAX;
use super::tree::Sick;
use std::cmp::Ordering;

/// Most pairs of a block.
const PAIRS_MAX: usize = 32;
/// Most bytes of a block of several pairs. A change of one of them writes all of them.
const BYTES_MAX: usize = 4_096;
/// The first byte of the value of a block; those of single pairs are in `layout`.
const BLOCK: u8 = 2;
/// Bytes of the three lengths of a pair: what its key shares with the one before, the rest of it, its value.
const LENGTHS_BYTES: usize = 6;

/// A key, with its space, and its value as it is stored.
pub(super) type Entry = (Vec<u8>, Vec<u8>);

/// A block taken apart, to be changed.
#[derive(Debug)]
pub(super) struct Block {
    from: Vec<u8>,
    entries: Vec<Entry>,
    /// Whether something was put behind its end.
    grew: bool,
}

/// The pairs of an item, one after the other.
pub(super) struct Pairs<'v> {
    key: Vec<u8>,
    left: Left<'v>,
}

/// What is left of an item.
enum Left<'v> {
    /// A single pair, if it was not taken yet.
    Single(Option<&'v [u8]>),
    /// The pairs of a block, and whether some were taken.
    Block(Cursor<'v>, bool),
}

impl<'v> Pairs<'v> {
    pub(super) fn of(from: &[u8], value: &'v [u8]) -> Self {
        let left = match value.strip_prefix(&[BLOCK]) {
            Some(pairs) => Left::Block(Cursor(pairs), false),
            None => Left::Single(Some(value)),
        };
        Self { key: from.to_vec(), left }
    }

    /// The key of the pair that was taken last.
    pub(super) fn key(&self) -> &[u8] {
        &self.key
    }

    /// Takes the next pair and returns its value; `None` behind the last one.
    pub(super) fn next(&mut self) -> Result<Option<&'v [u8]>, Sick> {
        match &mut self.left {
            Left::Single(value) => Ok(value.take()),
            Left::Block(left, true) if left.0.is_empty() => Ok(None),
            Left::Block(left, has_begun) => {
                let value = step(&mut self.key, left, *has_begun);
                *has_begun = true;
                value.map(Some).ok_or_else(|| "a block is damaged".to_owned())
            }
        }
    }
}

/// Reads the next pair. Each key comes behind the one before; the first one may be that of the block.
fn step<'v>(key: &mut Vec<u8>, left: &mut Cursor<'v>, has_begun: bool) -> Option<&'v [u8]> {
    let shared = usize::from(left.u16()?);
    let rest = left.short()?;
    let replaced = key.get(shared..)?;
    let is_in_order = if has_begun { rest > replaced } else { rest >= replaced };
    if !is_in_order || shared + rest.len() > 1 + KEY_BYTES_MAX {
        return None;
    }
    key.truncate(shared);
    key.extend_from_slice(rest);
    left.short()
}

/// The value of a key in the item in which it would be.
pub(super) fn find<'v>(from: &[u8], value: &'v [u8], key: &[u8]) -> Result<Option<&'v [u8]>, Sick> {
    let mut pairs = Pairs::of(from, value);
    while let Some(value) = pairs.next()? {
        match pairs.key().cmp(key) {
            Ordering::Less => {}
            Ordering::Equal => return Ok(Some(value)),
            Ordering::Greater => break,
        }
    }
    Ok(None)
}

/// The pairs of an item, in order.
pub(super) fn entries(from: &[u8], value: &[u8]) -> Result<Vec<Entry>, Sick> {
    let mut pairs = Pairs::of(from, value);
    let mut entries = Vec::with_capacity(PAIRS_MAX);
    while let Some(value) = pairs.next()? {
        entries.push((pairs.key().to_vec(), value.to_vec()));
    }
    Ok(entries)
}

fn bytes_of((key, value): &Entry) -> usize {
    key.len() + value.len() + LENGTHS_BYTES
}

/// The value of the item that begins with `from` and has these pairs.
fn joined(from: &[u8], entries: &[Entry]) -> Vec<u8> {
    if let [(key, value)] = entries
        && key == from
    {
        return value.clone();
    }
    let mut out = Vec::with_capacity(1 + entries.iter().map(bytes_of).sum::<usize>());
    out.push(BLOCK);
    let mut before = from;
    for (key, value) in entries {
        let shared = key.iter().zip(before).take_while(|(one, other)| one == other).count();
        out.extend_from_slice(&short(shared));
        put_short(&mut out, key.get(shared..).unwrap_or_default());
        put_short(&mut out, value);
        before = key;
    }
    out
}

impl Block {
    /// An item taken apart.
    pub(super) fn parse(from: &[u8], value: &[u8]) -> Result<Self, Sick> {
        Ok(Self { from: from.to_vec(), entries: entries(from, value)?, grew: false })
    }

    /// The first block of a space, before there is one.
    pub(super) fn first(space: u8) -> Self {
        Self { from: vec![space], entries: Vec::new(), grew: false }
    }

    /// The key of its item.
    pub(super) fn from(&self) -> &[u8] {
        &self.from
    }

    /// Sets or removes the value of a key, and returns the former one.
    pub(super) fn put(&mut self, key: Vec<u8>, value: Option<Vec<u8>>) -> Option<Vec<u8>> {
        match (self.entries.binary_search_by(|(other, _)| other.cmp(&key)), value) {
            (Ok(at), Some(value)) => self.entries.get_mut(at).map(|(_, own)| std::mem::replace(own, value)),
            (Ok(at), None) => Some(self.entries.remove(at).1),
            (Err(at), Some(value)) => {
                self.grew |= at == self.entries.len();
                self.entries.insert(at, (key, value));
                None
            }
            (Err(_), None) => None,
        }
    }

    /// The items that have the pairs from now on; none if no pair is left. The first one begins where the
    /// block did.
    pub(super) fn into_items(self) -> Vec<Entry> {
        let bytes: usize = self.entries.iter().map(bytes_of).sum();
        let parts = bytes.div_ceil(BYTES_MAX).max(self.entries.len().div_ceil(PAIRS_MAX)).max(1);
        // What comes in order leaves full blocks behind; what comes in between leaves room in both halves.
        let (pairs_max, share) = if self.grew {
            (PAIRS_MAX, BYTES_MAX)
        } else {
            (self.entries.len().div_ceil(parts), bytes / parts)
        };
        let mut items = Vec::with_capacity(parts);
        let mut left = self.entries.as_slice();
        let mut from = self.from;
        while let Some((first, others)) = left.split_first() {
            if !items.is_empty() {
                from.clone_from(&first.0);
            }
            let mut sum = bytes_of(first);
            let fits = |entry: &&Entry| {
                let has_its_share = sum >= share;
                sum += bytes_of(entry);
                !has_its_share && sum <= BYTES_MAX
            };
            let count = 1 + others.iter().take(pairs_max - 1).take_while(fits).count();
            let (part, behind) = left.split_at(count);
            items.push((from.clone(), joined(&from, part)));
            left = behind;
        }
        items
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(number: u32) -> Vec<u8> {
        [&[7], &number.to_be_bytes()[..]].concat()
    }

    /// The items that a block becomes, each with the number of its pairs.
    fn counts(block: Block) -> Vec<usize> {
        let items = block.into_items();
        items.iter().map(|(from, value)| entries(from, value).unwrap().len()).collect()
    }

    #[test]
    fn pairs_in_order_leave_full_blocks_behind_and_one_in_between_leaves_two_halves() {
        let mut block = Block::first(7);
        for number in 0..40 {
            assert_eq!(block.put(key(2 * number), Some(vec![0; 9])), None);
        }
        let items = block.into_items();
        let [(from, first), (second, _)] = items.as_slice() else { panic!("{} items", items.len()) };
        assert_eq!((from.as_slice(), second), (&[7][..], &key(64)));
        let mut block = Block::parse(from, first).unwrap();
        assert_eq!(block.entries.len(), PAIRS_MAX);
        block.put(key(31), Some(vec![0; 9]));
        assert_eq!(counts(block), [17, 16]);
    }

    #[test]
    fn a_block_ends_by_its_bytes_and_a_long_pair_is_alone() {
        let mut block = Block::first(7);
        for number in 0..8 {
            block.put(key(number), Some(vec![0; 1_000]));
        }
        block.put(key(8), Some(vec![0; 4_001]));
        block.put(key(9), Some(vec![0; 100]));
        assert_eq!(counts(block), [4, 4, 1, 1]);
    }

    #[test]
    fn a_pair_alone_that_begins_its_block_is_stored_as_it_was_before_there_were_blocks() {
        let mut block = Block::parse(&key(1), &[0, 9]).unwrap();
        block.put(key(2), Some(vec![0, 8]));
        assert_eq!(block.put(key(2), None), Some(vec![0, 8]));
        assert_eq!(block.into_items(), [(key(1), vec![0, 9])]);
    }

    #[test]
    fn a_block_without_pairs_is_no_item() {
        let mut block = Block::parse(&key(1), &[0, 9]).unwrap();
        assert_eq!((block.put(key(1), None), block.put(key(1), None)), (Some(vec![0, 9]), None));
        assert!(block.into_items().is_empty());
    }

    #[test]
    fn a_block_that_is_cut_off_is_said_to_be_damaged() {
        let mut block = Block::first(7);
        (1..4).for_each(|number| drop(block.put(key(number), Some(vec![0, 1, 2]))));
        let (from, value) = block.into_items().pop().unwrap();
        let whole = (1..value.len()).filter(|end| entries(&from, value.get(..*end).unwrap()).is_ok());
        // Only between two pairs it is a block.
        assert_eq!(whole.count(), 2);
        assert!(find(&from, value.get(..value.len() - 1).unwrap(), &key(3)).is_err());
    }

    #[test]
    fn keys_that_are_not_in_order_or_too_long_are_damage() {
        let pair = |shared: usize, rest: &[u8]| {
            let mut out = short(shared).to_vec();
            put_short(&mut out, rest);
            put_short(&mut out, &[0]);
            out
        };
        let read = |pairs: &[Vec<u8>]| entries(&[7, 5], &[&[BLOCK], pairs.concat().as_slice()].concat());
        assert_eq!(read(&[pair(2, &[]), pair(2, &[0])]).unwrap().len(), 2);
        for pairs in [
            vec![],
            vec![pair(1, &[4])],
            vec![pair(2, &[]), pair(2, &[])],
            vec![pair(2, &[9]), pair(2, &[8])],
            vec![pair(3, &[])],
            vec![pair(2, &[0; KEY_BYTES_MAX])],
        ] {
            assert!(read(&pairs).is_err(), "{pairs:?}");
        }
    }
}
