//! The values of items of the tree, compressed: the records of a block are much alike, and what a start
//! reads of the tree, and a page of it on the disk and in memory, is a few times shorter for it.
//!
//! Values that were decompressed lately stay in memory. What is read again and again, such as the roles and
//! the office of everyone who works, is not decompressed again.

use super::codec::{Cursor, length};
use super::tree::Sick;
use sled::IVec;
use std::cell::RefCell;
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use zstd::bulk::{Compressor, Decompressor};

/// First byte of a compressed value. The length of the plain one follows, in four bytes.
const COMPRESSED: u8 = 3;
/// Shorter values, and those that are longer than any, are left as they are.
const BYTES_MIN: usize = 256;
/// The fastest of zstd's usual levels. The usual one takes some tenths more time, for a hundredth of the
/// space.
const LEVEL: i32 = 1;
/// No value is longer; a damaged length must not take memory.
const PLAIN_BYTES_MAX: usize = 1 << 13;
/// So many values stay in memory, of at most a few thousand bytes each.
const PLACES: usize = 4_096;

thread_local! {
    // Making one takes longer than using it.
    static COMPRESSOR: RefCell<Option<Compressor<'static>>> = const { RefCell::new(None) };
    static DECOMPRESSOR: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
}

/// The stored form of a value: compressed, where that is shorter.
pub(super) fn compress(plain: Vec<u8>) -> Vec<u8> {
    if !(BYTES_MIN..=PLAIN_BYTES_MAX).contains(&plain.len()) {
        return plain;
    }
    let stored = COMPRESSOR.with_borrow_mut(|own| {
        let compressor = match own.take() {
            Some(compressor) => own.insert(compressor),
            None => own.insert(Compressor::new(LEVEL)?),
        };
        compressor.compress(&plain)
    });
    match stored {
        Ok(stored) if stored.len() + 5 < plain.len() => {
            [&[COMPRESSED], &length(plain.len()).to_le_bytes()[..], &stored].concat()
        }
        Ok(_) | Err(_) => plain,
    }
}

/// `None` if the value is not compressed.
fn decompress(stored: &[u8]) -> Option<Result<Vec<u8>, Sick>> {
    let mut cursor = Cursor(stored.strip_prefix(&[COMPRESSED])?);
    let bytes = cursor.u32().and_then(|bytes| usize::try_from(bytes).ok());
    let bytes = bytes.filter(|bytes| *bytes <= PLAIN_BYTES_MAX);
    let plain = bytes.and_then(|bytes| {
        let plain = DECOMPRESSOR.with_borrow_mut(|own| {
            let decompressor = match own.take() {
                Some(decompressor) => own.insert(decompressor),
                None => own.insert(Decompressor::new()?),
            };
            decompressor.decompress(cursor.0, bytes)
        });
        plain.ok().filter(|plain| plain.len() == bytes)
    });
    Some(plain.ok_or_else(|| "a compressed value is damaged".to_owned()))
}

/// A value that is not compressed, or not any more.
#[derive(Debug, Clone)]
pub(super) enum Plain {
    Stored(IVec),
    Opened(Arc<Vec<u8>>),
}

impl Deref for Plain {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        match self {
            Self::Stored(value) => value,
            Self::Opened(value) => value,
        }
    }
}

/// A value as it is stored, and what it is.
type Known = (IVec, Arc<Vec<u8>>);

/// Values that were decompressed lately. Each has one place, by its checksum, and is compared before it is
/// used: so nothing has to be forgotten when the tree changes.
#[derive(Debug)]
pub(super) struct Opened(Box<[Mutex<Option<Known>>]>);

impl Default for Opened {
    fn default() -> Self {
        Self((0..PLACES).map(|_| Mutex::default()).collect())
    }
}

impl Opened {
    fn place(&self, stored: &IVec) -> MutexGuard<'_, Option<Known>> {
        let place = usize::try_from(crc32fast::hash(stored)).unwrap_or_default() % PLACES;
        self.0[place].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a stored value is, from memory, or to be in memory from now on.
    pub(super) fn open(&self, stored: IVec) -> Result<Plain, Sick> {
        let opened = self.known(stored.clone())?;
        if let Plain::Opened(plain) = &opened {
            let mut place = self.place(&stored);
            if place.as_ref().is_none_or(|(own, _)| *own != stored) {
                *place = Some((stored, plain.clone()));
            }
        }
        Ok(opened)
    }

    /// What a stored value is, from memory if it is there: for those who are about to change it.
    pub(super) fn known(&self, stored: IVec) -> Result<Plain, Sick> {
        if stored.first() != Some(&COMPRESSED) {
            return Ok(Plain::Stored(stored));
        }
        let known =
            self.place(&stored).as_ref().filter(|(own, _)| *own == stored).map(|(_, plain)| plain.clone());
        known.map_or_else(|| open_once(stored), |plain| Ok(Plain::Opened(plain)))
    }
}

/// What a stored value is, without a place in memory for it: for those who go through many.
pub(super) fn open_once(stored: IVec) -> Result<Plain, Sick> {
    match decompress(&stored) {
        None => Ok(Plain::Stored(stored)),
        Some(plain) => plain.map(|plain| Plain::Opened(Arc::new(plain))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text(number: u8) -> Vec<u8> {
        (0..40).flat_map(|line| format!("line {line} of {number}; ").into_bytes()).collect()
    }

    #[test]
    fn what_is_short_or_gets_no_shorter_is_left_as_it_is() {
        let mut by_chance = vec![0; 2_000];
        getrandom::fill(&mut by_chance).unwrap();
        for plain in [vec![0; BYTES_MIN - 1], vec![0; PLAIN_BYTES_MAX + 1], by_chance] {
            assert_eq!(compress(plain.clone()), plain);
        }
        assert!(compress(text(1)).len() < text(1).len() / 4);
    }

    #[test]
    fn a_value_is_opened_once_and_another_one_in_its_place_is_another() {
        let opened = Opened::default();
        let stored: Vec<IVec> = (0..50).map(|number| compress(text(number)).into()).collect();
        for _ in 0..2 {
            for (number, stored) in (0..).zip(&stored) {
                assert_eq!(&*opened.open(stored.clone()).unwrap(), text(number));
            }
        }
        let places = opened.0.iter().filter_map(|place| place.lock().unwrap().clone());
        assert!((40..=50).contains(&places.count()));
        let Plain::Opened(plain) = opened.open(stored[7].clone()).unwrap() else {
            panic!("it is compressed")
        };
        let Plain::Opened(again) = opened.open(stored[7].clone()).unwrap() else {
            panic!("it is compressed")
        };
        assert!(Arc::ptr_eq(&plain, &again));
    }

    proptest! {
        #[test]
        fn every_value_comes_back_and_a_damaged_one_is_no_panic(
            plain in proptest::collection::vec(prop_oneof![9 => Just(7u8), 1 => any::<u8>()], 0..5_000),
            place in any::<proptest::sample::Index>(),
            bit in 0u8..8,
        ) {
            // The first byte of a value says what it is.
            let plain = [&[0], plain.as_slice()].concat();
            let mut stored = compress(plain.clone());
            prop_assert_eq!(&*open_once(stored.clone().into()).unwrap(), plain.as_slice());
            let at = place.index(stored.len());
            stored[at] ^= 1 << bit;
            drop(open_once(stored.into()));
        }
    }

    #[test]
    fn a_length_that_no_value_has_takes_no_memory() {
        let mut stored = compress(text(1));
        stored[1..5].copy_from_slice(&length(PLAIN_BYTES_MAX + 1).to_le_bytes());
        assert!(open_once(stored.into()).is_err());
    }
}
