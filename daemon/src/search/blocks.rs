//! An index of the column: which blocks of lines contain which four-byte sequences.
//!
//! A search scans only the blocks that contain every four-byte sequence of its text, so a rare name costs a
//! scan of a few blocks even among a million lines. Sequences share slots, so a block may turn out not to
//! contain the text; a block that contains it is never left out.

use std::ops::Range;

/// A block with this many bytes is full. Smaller in tests, so that a few lines fill several.
const BLOCK_BYTES: usize = if cfg!(test) { 64 } else { 1 << 14 };
/// Bytes of a sequence.
const GRAM: usize = 4;
const SLOT_BITS: u32 = 15;
/// Blocks of a page, one for each bit of a slot.
const PAGE: usize = 64;

/// For each slot, which of 64 blocks contain one of its sequences.
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

/// The slots of all sequences of a text.
fn slots(text: &[u8]) -> impl Iterator<Item = usize> {
    text.windows(GRAM).map(|gram| {
        let number = gram.iter().fold(0u32, |number, byte| number << u8::BITS | u32::from(*byte));
        // Multiplied by 2^32 over the golden ratio, what differs in any byte spreads over the upper bits.
        let spread = number.wrapping_mul(0x9e37_79b9);
        (spread >> (u32::BITS - SLOT_BITS)) as usize
    })
}

impl Blocks {
    /// Indexes a line that is appended to the column, including its line end.
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

    /// The parts of the column that can contain a text, in order; for a text of less than four bytes, all.
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
    fn only_blocks_that_can_contain_the_text_are_scanned() {
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
