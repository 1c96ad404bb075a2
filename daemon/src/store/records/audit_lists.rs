//! The lists by which records of the audit trail are found.

use super::AUDIT_LISTS;
use crate::hex::hexadecimal;
use crate::store::engine::Space;
use crate::store::record::{Record, number, numbered};
use serde::de::Error as _;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::ops::Range;

/// Sequences in one piece of a list; only the last piece has fewer.
pub const LIST_LENGTH_MAX: usize = 128;
/// A longer name of a list is known by its hash.
const NAME_BYTES_MAX: usize = 200;
/// The first byte of the stored form; JSON, as earlier programs stored it, begins with another one.
const DIFFERENCES: u8 = 1;
/// Bytes of a key behind the name: a separator, and the place of the piece.
const PLACE_BYTES: usize = 9;

/// A piece of a list: the numbers of records that have something in common, in their order.
///
/// Each change adds to about ten lists, and the piece that a number is added to is written anew. So what the
/// key says is not stored, and each number is stored as the difference to the one before.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AuditList {
    /// What they have in common, as a key has it.
    pub name: String,
    /// Place of the piece in the list, from 0.
    pub piece: u64,
    /// The numbers.
    pub sequences: Vec<u64>,
}

impl AuditList {
    /// The name of a list of what has this value, of this kind. What cannot be part of a key is known by its
    /// hash.
    pub fn name(kind: char, value: &str) -> String {
        let has_control = if value.is_ascii() {
            value.bytes().any(|byte| byte.is_ascii_control())
        } else {
            value.contains(char::is_control)
        };
        if value.len() <= NAME_BYTES_MAX && !has_control {
            let mut name = String::with_capacity(value.len() + 2);
            name.push(kind);
            name.push(' ');
            name.push_str(value);
            return name;
        }
        let digest = Sha256::digest(value.as_bytes());
        format!("{kind}# {}", hexadecimal(&digest))
    }

    /// Its numbers at these places of the list.
    pub fn within(self, places: &Range<u64>) -> impl Iterator<Item = u64> + '_ {
        let first = self.piece * LIST_LENGTH_MAX as u64;
        (first..).zip(self.sequences).filter(|(place, _)| places.contains(place)).map(|(_, number)| number)
    }
}

impl Record for AuditList {
    const SPACE: Space = AUDIT_LISTS;
    fn key(&self) -> Vec<u8> {
        numbered(&[&self.name], self.piece)
    }
    fn stored(&self) -> Vec<u8> {
        let mut stored = Vec::with_capacity(4 + 2 * self.sequences.len());
        stored.push(DIFFERENCES);
        let mut before = 0;
        for sequence in &self.sequences {
            // Numbers ascend; in a doctored store they may not, and are what they are all the same.
            put(&mut stored, sequence.wrapping_sub(before));
            before = *sequence;
        }
        stored
    }
    fn read(key: &[u8], stored: &[u8]) -> serde_json::Result<Self> {
        let Some(mut left) = stored.strip_prefix(&[DIFFERENCES]) else {
            return serde_json::from_slice(stored);
        };
        let name = key.len().checked_sub(PLACE_BYTES).map(|end| &key[..end]);
        let name = name.and_then(|name| std::str::from_utf8(name).ok());
        let name = name.ok_or_else(|| serde_json::Error::custom("its key is no name and place"))?.to_owned();
        let mut sequences = Vec::with_capacity(left.len().min(LIST_LENGTH_MAX));
        let mut before = 0_u64;
        while !left.is_empty() {
            let difference =
                take(&mut left).ok_or_else(|| serde_json::Error::custom("a number is not whole"))?;
            before = before.wrapping_add(difference);
            sequences.push(before);
        }
        Ok(Self { name, piece: number(key), sequences })
    }
}

/// Appends a number, seven bits to a byte and the low ones first; all bytes but the last have the high bit.
fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Takes such a number away; `None` if it does not end, or is longer than any.
fn take(left: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..u64::BITS).step_by(7) {
        let (byte, behind) = left.split_first()?;
        *left = behind;
        let bits = u64::from(byte & 0x7f);
        number |= bits << shift;
        if *byte < 0x80 {
            return (bits << shift >> shift == bits).then_some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn piece(sequences: Vec<u64>) -> AuditList {
        AuditList { name: "r customer/c-001".to_owned(), piece: 7, sequences }
    }

    proptest! {
        #[test]
        fn every_piece_is_read_as_it_was_written(
            sequences in proptest::collection::vec(prop_oneof![0..1_000u64, any::<u64>()], 0..140),
        ) {
            let piece = piece(sequences);
            prop_assert_eq!(AuditList::read(&piece.key(), &piece.stored()).unwrap(), piece);
        }

        #[test]
        fn what_no_program_wrote_is_refused_or_read_and_no_panic(
            key in proptest::collection::vec(any::<u8>(), 0..20),
            stored in proptest::collection::vec(any::<u8>(), 0..20),
        ) {
            for stored in [stored.clone(), [&[DIFFERENCES], stored.as_slice()].concat()] {
                drop(AuditList::read(&key, &stored));
            }
        }
    }

    #[test]
    fn a_piece_of_an_earlier_program_is_read_and_what_is_written_is_a_fraction_of_it() {
        let piece = piece((0..100).map(|place| 1_000_000 + 9 * place).collect());
        let json = serde_json::to_vec(&piece).unwrap();
        assert_eq!(AuditList::read(&piece.key(), &json).unwrap(), piece);
        assert!(piece.stored().len() * 7 < json.len());
    }

    #[test]
    fn a_number_that_is_not_whole_or_too_long_is_refused() {
        for end in [&[0x80][..], &[0xff; 10], &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2]] {
            let stored = [&[DIFFERENCES, 5], end].concat();
            assert!(AuditList::read(&piece(Vec::new()).key(), &stored).is_err(), "{end:?}");
        }
        assert!(AuditList::read(b"short", &[DIFFERENCES, 5]).is_err());
    }
}
