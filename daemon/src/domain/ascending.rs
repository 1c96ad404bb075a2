//! Ascending numbers in little memory. Of most numbers only the distance to the one before is kept, in one to
//! three bytes as a rule. They are in pieces; a copy shares those that are full, so it costs little to copy
//! many numbers and to add some.

use std::iter::successors;
use std::ops::Range;
use std::slice::Iter;
use std::sync::Arc;

/// Numbers in a full piece.
const PIECE_LENGTH: usize = 4_096;
/// Bytes of a full piece besides its distances: its place among the others, and what an `Arc` counts.
const PIECE_BYTES: usize = size_of::<Piece>() + 16;

/// Numbers, each added behind the last one.
#[derive(Debug, Clone, Default)]
pub struct Ascending {
    full: Vec<Piece>,
    /// The last ones, which do not fill a piece.
    open: Vec<u64>,
    /// What the full pieces take.
    bytes: usize,
}

/// A full piece.
#[derive(Debug, Clone)]
struct Piece {
    first: u64,
    /// For each number that follows, its distance to the one before: groups of seven bits, the lowest first,
    /// and the highest bit of a byte is set if more groups come.
    distances: Arc<[u8]>,
}

impl Ascending {
    /// Adds a number that is not below the last one.
    pub fn push(&mut self, number: u64) {
        self.open.push(number);
        if self.open.len() == PIECE_LENGTH {
            let piece = Piece::of(self.open[0], &self.open);
            self.bytes += PIECE_BYTES + piece.distances.len();
            self.full.push(piece);
            self.open = Vec::new();
        }
    }

    /// Gives back the memory that only more of them would need.
    pub fn shrink(&mut self) {
        self.open.shrink_to_fit();
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.full.len() * PIECE_LENGTH + self.open.len()
    }

    /// The memory that they take.
    pub fn bytes(&self) -> usize {
        self.bytes + size_of_val(&self.open[..])
    }

    /// The place of the first one that is not below a number.
    pub fn place_of(&self, number: u64) -> usize {
        let before = self.full.partition_point(|piece| piece.first < number).saturating_sub(1);
        let start = before * PIECE_LENGTH;
        start + self.at(start..self.count()).take_while(|kept| *kept < number).count()
    }

    /// Those at places that follow each other.
    pub fn at(&self, places: Range<usize>) -> impl Iterator<Item = u64> + '_ {
        let before = self.full.len().min(places.start / PIECE_LENGTH);
        let full = self.full[before..].iter().flat_map(Piece::numbers);
        let skipped = places.start - before * PIECE_LENGTH;
        full.chain(self.open.iter().copied()).skip(skipped).take(places.len())
    }
}

impl Piece {
    fn of(first: u64, numbers: &[u64]) -> Self {
        let mut distances = Vec::new();
        for pair in numbers.windows(2) {
            let mut left = pair[1].wrapping_sub(pair[0]);
            while left > 0x7f {
                distances.push(left as u8 | 0x80);
                left >>= 7;
            }
            distances.push(left as u8);
        }
        Self { first, distances: distances.into() }
    }

    fn numbers(&self) -> impl Iterator<Item = u64> + '_ {
        let mut bytes = self.distances.iter();
        successors(Some(self.first), move |number| Some(number.wrapping_add(next(&mut bytes)?)))
    }
}

/// The next distance.
fn next(bytes: &mut Iter<'_, u8>) -> Option<u64> {
    let mut distance = 0;
    for group in (0..u64::BITS).step_by(7) {
        let byte = bytes.next()?;
        distance |= u64::from(byte & 0x7f) << group;
        if byte & 0x80 == 0 {
            break;
        }
    }
    Some(distance)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// So many numbers, each so far from the one before.
    fn run() -> impl Strategy<Value = (usize, u64)> {
        let distance = prop_oneof![Just(1), 1u64..200, 100u64..50_000, 1u64..1 << 50];
        let count = prop_oneof![0..30usize, 0..2 * PIECE_LENGTH, Just(PIECE_LENGTH)];
        (count, distance)
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 40, max_shrink_iters: 200, ..ProptestConfig::default() })]
        #[test]
        fn they_are_what_a_plain_list_of_them_is(
            runs in proptest::collection::vec(run(), 1..5),
            first in prop_oneof![Just(0), 0u64..1_000_000],
            looks in proptest::collection::vec((any::<prop::sample::Index>(), 0usize..9_000, 0u64..3), 8),
        ) {
            let (mut numbers, mut plain, mut last) = (Ascending::default(), Vec::new(), first);
            for (count, distance) in runs {
                let (before, had) = (numbers.clone(), plain.len());
                for _ in 0..count {
                    last += distance;
                    numbers.push(last);
                    plain.push(last);
                }
                prop_assert!(before.at(0..had + 1).eq(plain[..had].iter().copied()), "a copy stays");
            }
            prop_assert_eq!(numbers.count(), plain.len());
            prop_assert!(numbers.at(0..plain.len()).eq(plain.iter().copied()));
            for (place, length, beside) in looks {
                let start = place.index(plain.len() + 1);
                let part = plain.iter().skip(start).take(length).copied();
                prop_assert!(numbers.at(start..start + length).eq(part), "{start}, {length}");
                let number = (plain.get(start).copied().unwrap_or(last) + beside).saturating_sub(1);
                prop_assert_eq!(numbers.place_of(number), plain.partition_point(|kept| *kept < number));
            }
        }
    }

    #[test]
    fn the_largest_numbers_are_kept_and_a_place_behind_the_last_has_none() {
        let mut numbers = Ascending::default();
        (0..PIECE_LENGTH).for_each(|at| numbers.push(if at == 0 { 0 } else { u64::MAX }));
        assert_eq!(numbers.at(0..3).collect::<Vec<_>>(), [0, u64::MAX, u64::MAX]);
        assert_eq!(numbers.place_of(u64::MAX), 1);
        assert_eq!(numbers.at(PIECE_LENGTH..usize::MAX).count(), 0);
        assert_eq!(numbers.at(9_999_999..usize::MAX).count(), 0);
    }

    #[test]
    fn near_numbers_take_a_byte_each_and_a_copy_shares_them() {
        let mut numbers = Ascending::default();
        (0..100 * PIECE_LENGTH as u64).for_each(|at| numbers.push(at * 100));
        let (bytes, count) = (numbers.bytes(), numbers.count());
        assert!(bytes.abs_diff(count) < count / 10, "{bytes} bytes for {count}");
        let copy = numbers.clone();
        assert!(copy.full.iter().zip(&numbers.full).all(|(a, b)| Arc::ptr_eq(&a.distances, &b.distances)));
    }
}
