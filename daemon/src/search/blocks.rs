//! Where a text may be: the column in blocks of lines, and for every four bytes the blocks that have them.
//!
//! A text is looked for only in the blocks that have all its fours, so a name that few people have costs a
//! look at a few blocks, with a million lines as well. Fours share slots, so a block may turn out not to have
//! a text; a block that has it is always among those that are looked through.

use std::ops::Range;

/// Bytes of lines from which on a new block begins. Smaller in tests, so that a few lines make several.
const BLOCK_BYTES: usize = if cfg!(test) { 64 } else { 1 << 14 };
/// Bytes that are looked up together.
const GRAM: usize = 4;
const SLOT_BITS: u32 = 15;
/// Blocks of a page: one for each bit of a slot.
const PAGE: usize = 64;

/// For each slot the blocks, out of 64, that have one of its fours.
type Page = Box<[u64]>;

/// The blocks of a column.
#[derive(Debug, Default)]
pub struct Blocks {
    /// Where each block begins.
    starts: Vec<usize>,
    pages: Vec<Page>,
    /// Where the last block ends.
    end: usize,
}

/// The slots of the fours of a text.
fn slots(text: &[u8]) -> impl Iterator<Item = usize> {
    text.windows(GRAM).map(|gram| {
        let number = gram.iter().fold(0u32, |number, byte| number << u8::BITS | u32::from(*byte));
        // Multiplied by 2^32 over the golden ratio, what differs in any byte spreads over the upper bits.
        let spread = number.wrapping_mul(0x9e37_79b9);
        (spread >> (u32::BITS - SLOT_BITS)) as usize
    })
}

impl Blocks {
    /// Notes a line that is written at the end of the column, with all that ends it.
    pub fn push(&mut self, line: &[u8]) {
        if self.starts.last().is_none_or(|start| self.end - start >= BLOCK_BYTES) {
            if self.starts.len().is_multiple_of(PAGE) {
                self.pages.push(vec![0; 1 << SLOT_BITS].into_boxed_slice());
            }
            self.starts.push(self.end);
        }
        self.end += line.len();
        let bit = 1 << ((self.starts.len() - 1) % PAGE);
        if let Some(page) = self.pages.last_mut() {
            for slot in slots(line) {
                page[slot] |= bit;
            }
        }
    }

    /// The parts of the column that may have a text, in order. A text shorter than a four may be anywhere.
    pub fn of(&self, text: &[u8]) -> impl Iterator<Item = Range<usize>> {
        let wanted: Vec<usize> = slots(text).collect();
        self.pages.iter().enumerate().flat_map(move |(number, page)| {
            let mut has = wanted.iter().fold(u64::MAX, |has, slot| has & page[*slot]);
            std::iter::from_fn(move || {
                let block = number * PAGE + has.trailing_zeros() as usize;
                // Takes away the lowest bit.
                let left = (has != 0).then(|| has & (has - 1))?;
                has = left;
                let start = *self.starts.get(block)?;
                Some(start..self.starts.get(block + 1).copied().unwrap_or(self.end))
            })
        })
    }

    /// Bytes in memory.
    pub fn bytes(&self) -> usize {
        self.starts.capacity() * size_of::<usize>() + self.pages.len() * size_of::<u64>() * (1 << SLOT_BITS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_only_looked_for_where_it_may_be() {
        let mut blocks = Blocks::default();
        let lines: Vec<String> = (0..20_000).map(|n| format!("the name of number {n:05}\n")).collect();
        let column = lines.concat();
        lines.iter().for_each(|line| blocks.push(line.as_bytes()));
        let all = column.len();
        for (text, most) in
            [("number 01234", 1_000), ("19999\n", 1_000), ("name of", all), ("99", all), ("zzzzz", 0)]
        {
            let parts: Vec<_> = blocks.of(text.as_bytes()).collect();
            assert!(parts.is_sorted_by(|a, b| a.end <= b.start), "{text}");
            let found: usize = parts.iter().map(|part| column[part.clone()].matches(text).count()).sum();
            assert_eq!(found, column.matches(text).count(), "{text}");
            let looked: usize = parts.iter().map(Range::len).sum();
            assert!(looked <= most, "{text}: {looked} of {all} bytes");
        }
    }
}
