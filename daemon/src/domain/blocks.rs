//! An index of many lines of text: which blocks of lines contain which four-byte sequences. Control
//! characters count as spaces there, so that a block can be asked for words and for beginnings of words.
//!
//! A search scans only the blocks that contain every four-byte sequence of its text, so a rare name costs a
//! scan of a few blocks even among a million lines. Sequences share slots, so a block may turn out not to
//! contain the text; a block that contains it is never left out.

use std::ops::Range;

/// No text has this byte.
pub const NO_MARK: u8 = 0xff;

/// A block with this many bytes is full. Smaller in tests, so that a few lines fill several.
const BLOCK_BYTES: usize = if cfg!(test) { 64 } else { 1 << 14 };
/// Bytes of a sequence.
const GRAM: usize = 4;
const SLOT_BITS: u32 = 15;
/// Blocks of a page, one for each bit of a slot.
const PAGE: usize = 64;

/// For each slot, which of 64 blocks contain one of its sequences.
type Page = Box<[u64]>;

/// The blocks of a text. The byte behind a `MARK` counts as a space, too: what is written there is no part of
/// the words.
#[derive(Debug, Default)]
pub struct Blocks<const MARK: u8 = NO_MARK> {
    /// Where each block begins.
    starts: Vec<usize>,
    pages: Vec<Page>,
    /// Where the last block ends.
    end: usize,
}

/// The slots of all sequences of a text.
fn slots<const MARK: u8>(text: &[u8]) -> impl Iterator<Item = usize> {
    text.windows(GRAM).enumerate().map(|(at, gram)| {
        let number = gram.iter().fold(0u32, |number, byte| number << u8::BITS | u32::from(*byte.max(&b' ')));
        let is_marked = at > 0 && text[at - 1] == MARK;
        let number = if is_marked { u32::from(b' ') << 24 | number & 0xff_ffff } else { number };
        // Multiplied by 2^32 over the golden ratio, what differs in any byte spreads over the upper bits.
        let spread = number.wrapping_mul(0x9e37_79b9);
        (spread >> (u32::BITS - SLOT_BITS)) as usize
    })
}

impl<const MARK: u8> Blocks<MARK> {
    /// Indexes a line that is appended to the text, including its line end.
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
            for slot in slots::<MARK>(line) {
                page[slot] |= bit;
            }
        }
    }

    /// The parts of a section of the text that can contain all of these texts, in order; for texts of less
    /// than four bytes, all of it. The section begins and ends with whole lines.
    pub fn of<T: AsRef<[u8]>>(
        &self,
        texts: &[T],
        within: Range<usize>,
    ) -> impl Iterator<Item = Range<usize>> + use<'_, T, MARK> {
        let wanted: Vec<usize> = texts.iter().flat_map(|text| slots::<MARK>(text.as_ref())).collect();
        // The block in which the section begins, and the first one behind it.
        let first = self.starts.partition_point(|start| *start <= within.start).saturating_sub(1);
        let behind = self.starts.partition_point(|start| *start < within.end);
        let pages = first / PAGE..behind.div_ceil(PAGE);
        pages
            .flat_map(move |number| {
                let page = &self.pages[number];
                let mut has = wanted.iter().fold(u64::MAX, |has, slot| has & page[*slot]);
                std::iter::from_fn(move || {
                    let block = number * PAGE + has.trailing_zeros() as usize;
                    // Takes away the lowest bit.
                    let left = (has != 0).then(|| has & (has - 1))?;
                    has = left;
                    Some(block)
                })
            })
            .filter(move |block| (first..behind).contains(block))
            .map(move |block| {
                let end = self.starts.get(block + 1).copied().unwrap_or(self.end);
                self.starts[block].max(within.start)..end.min(within.end)
            })
    }

    /// Removes the lines from a place on.
    pub fn truncate(&mut self, end: usize) {
        let kept = self.starts.partition_point(|start| *start < end);
        self.starts.truncate(kept);
        self.pages.truncate(kept.div_ceil(PAGE));
        let kept = kept % PAGE;
        if let Some(page) = self.pages.last_mut().filter(|_| kept != 0) {
            page.iter_mut().for_each(|slot| *slot &= (1 << kept) - 1);
        }
        self.end = end;
    }

    /// Bytes in memory.
    pub fn bytes(&self) -> usize {
        self.starts.capacity() * size_of::<usize>() + self.pages.len() * size_of::<u64>() * (1 << SLOT_BITS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A text of so many lines with its blocks, and where each line begins.
    fn column(count: usize) -> (Blocks, String, Vec<usize>) {
        let (mut blocks, mut column, mut starts) = (<Blocks>::default(), String::new(), Vec::new());
        for number in 0..count {
            let line = format!("the name of number {number:05}\n");
            blocks.push(line.as_bytes());
            starts.push(column.len());
            column.push_str(&line);
        }
        (blocks, column, starts)
    }

    #[test]
    fn only_blocks_that_can_contain_the_text_are_scanned() {
        let (blocks, column, _) = column(20_000);
        let all = column.len();
        for (text, most) in
            [("number 01234", 1_000), ("19999\n", 1_000), ("name of", all), ("99", all), ("zzzzz", 0)]
        {
            let parts: Vec<_> = blocks.of(&[text], 0..all).collect();
            assert!(parts.is_sorted_by(|a, b| a.end <= b.start), "{text}");
            let found: usize = parts.iter().map(|part| column[part.clone()].matches(text).count()).sum();
            assert_eq!(found, column.matches(text).count(), "{text}");
            let looked: usize = parts.iter().map(Range::len).sum();
            assert!(looked <= most, "{text}: {looked} of {all} bytes");
        }
    }

    #[test]
    fn a_section_is_searched_wherever_it_begins_and_lines_that_were_removed_are_not() {
        let (mut blocks, mut column, starts) = column(500);
        let check = |blocks: &Blocks, column: &str| {
            let ends = starts.iter().filter(|start| **start <= column.len());
            for section in ends.clone().step_by(7).zip(ends.skip(3).step_by(11)) {
                let within = *section.0..*section.1.max(section.0);
                let parts: Vec<_> = blocks.of(&["number 00"], within.clone()).collect();
                assert!(parts.iter().all(|part| within.start <= part.start && part.end <= within.end));
                let found: usize =
                    parts.iter().map(|part| column[part.clone()].matches("number 00").count()).sum();
                assert_eq!(found, column[within.clone()].matches("number 00").count(), "{within:?}");
            }
        };
        check(&blocks, &column);
        for left in [470, 469, 300, 1, 0] {
            column.truncate(starts[left]);
            blocks.truncate(starts[left]);
            check(&blocks, &column);
            assert_eq!(blocks.of(&["number 00499"], 0..column.len()).count(), 0, "{left}");
            for line in ["another line\n", "and one\n"] {
                column.push_str(line);
                blocks.push(line.as_bytes());
            }
            let found = blocks.of(&["another line"], 0..column.len());
            assert_eq!(found.map(|part| column[part].matches("another line").count()).sum::<usize>(), 1);
            column.truncate(starts[left]);
            blocks.truncate(starts[left]);
        }
    }
}
