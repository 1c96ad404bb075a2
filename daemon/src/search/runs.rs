//! The order of the lines in a column: runs of lines that are sorted by label, and behind them a tail of
//! lines as they were written.
//!
//! Finds of the same rank are answered by label. So a search for a common name ends early in each run: no
//! line behind the first ones that have it can be among the best.

use super::line::label;
use std::cmp::Ordering;
use std::ops::Range;

/// Bytes of a run, at most: while it is sorted, for a fifth of a second, no one searches. Fewer in tests.
const RUN_BYTES_MAX: usize = if cfg!(test) { 512 } else { 32 << 20 };
/// Unsorted bytes behind the runs, at most.
pub const UNSORTED_MAX: usize = 1 << 20;
/// The same while the column is made, before anyone searches: most of a run, so that it is sorted once.
pub const UNSORTED_WHILE_MADE: usize = RUN_BYTES_MAX / 4 * 3;

/// Where the runs of a column are.
#[derive(Debug, Default)]
pub struct Runs {
    /// Where each one ends; it begins where the one before ends.
    ends: Vec<usize>,
}

impl Runs {
    fn starts(&self) -> impl DoubleEndedIterator<Item = usize> {
        [0].into_iter().chain(self.ends.iter().copied())
    }

    /// The parts of a column that ends at `end`, in order, and whether they are sorted: the runs, then the
    /// tail.
    pub fn parts(&self, end: usize) -> impl Iterator<Item = (Range<usize>, bool)> {
        let sorted = self.starts().zip(&self.ends).map(|(start, end)| (start..*end, true));
        sorted.chain([(self.tail()..end, false)])
    }

    fn tail(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }

    /// From where on lines have to be sorted so that no more than so many bytes are unsorted. A run that is
    /// no longer than what is behind it is sorted together with it: so runs stay few, and no line is sorted
    /// often.
    pub fn unsorted_from(&self, end: usize, unsorted_max: usize) -> Option<usize> {
        let mut from = self.tail();
        if end - from <= unsorted_max {
            return None;
        }
        for start in self.starts().rev().skip(1) {
            if from - start > end - from || end - start > RUN_BYTES_MAX {
                break;
            }
            from = start;
        }
        Some(from)
    }

    /// Forgets the runs from a place on.
    pub fn truncate(&mut self, from: usize) {
        self.ends.retain(|end| *end <= from);
    }

    /// Notes that a run ends here.
    pub fn push(&mut self, end: usize) {
        self.ends.push(end);
    }
}

/// A line that is sorted.
#[derive(Debug)]
pub struct Sorted {
    /// The key of its record.
    pub key: u64,
    /// Where it is in the text, with its end.
    pub place: Range<usize>,
    /// The first bytes of its label as a number, so that few lines are looked up in the text.
    first: u128,
    is_longer: bool,
}

impl Sorted {
    /// The line at this place of a text.
    pub fn new(text: &[u8], place: Range<usize>, key: u64) -> Self {
        let label = label(&text[place.clone()]);
        let mut first = [0; size_of::<u128>()];
        let shown = label.len().min(first.len());
        first[..shown].copy_from_slice(&label[..shown]);
        Self { key, place, first: u128::from_be_bytes(first), is_longer: label.len() > shown }
    }
}

/// Sorts lines of a text, of which each run is as long as it may be. What is returned are the runs.
pub fn sort<'l>(text: &[u8], mut lines: &'l mut [Sorted]) -> Vec<&'l [Sorted]> {
    let mut runs = Vec::new();
    while !lines.is_empty() {
        let mut bytes = 0;
        let fits = |line: &&Sorted| {
            bytes += line.place.len();
            bytes <= RUN_BYTES_MAX
        };
        let count = lines.iter().take_while(fits).count().max(1);
        let (run, rest) = lines.split_at_mut(count);
        run.sort_unstable_by(|a, b| {
            let whole = |line: &Sorted| label(&text[line.place.clone()]);
            // Labels have no zero bytes, so short ones are compared wholly by their first bytes.
            let is_longer = a.is_longer || b.is_longer;
            a.first
                .cmp(&b.first)
                .then_with(|| if is_longer { whole(a).cmp(whole(b)) } else { Ordering::Equal })
        });
        runs.push(&*run);
        lines = rest;
    }
    runs
}
