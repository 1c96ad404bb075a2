//! How keys and values lie in the index: a space byte before each key, and long values in pieces, because
//! sled puts what is longer than a page into files of their own that it neither syncs nor gives back.

use sled::IVec;

/// A pair as the index has it.
pub(super) type Raw = (IVec, IVec);

/// Space of the pieces of long values.
const CHUNKS: u8 = 0xff;
/// Key of the state record of the index.
pub(super) const META: &[u8] = &[0xfe, 1];
/// Its key before there were blocks. A program of then does not find the record of an index with blocks,
/// and makes the index anew.
pub(super) const META_BEFORE: &[u8] = &[0xfe];
/// Spaces from here on belong to the engine.
pub(super) const SPACES_END: u8 = 0xfe;
/// Keys are not longer than this.
pub(super) const KEY_BYTES_MAX: usize = 1_024;
/// A value up to this length is stored in one piece.
pub(super) const CHUNK_BYTES: usize = 4_000;
const WHOLE: u8 = 0;
const SPLIT: u8 = 1;

pub(super) fn is_meta(key: &[u8]) -> bool {
    key == META || key == META_BEFORE
}

/// Where a value, or the number of its pieces, is stored.
pub(super) fn main_key(space: u8, key: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(key.len() + 1);
    out.push(space);
    out.extend_from_slice(key);
    out
}

/// Where a piece is stored. The number has a fixed length, so no two keys share a piece.
pub(super) fn chunk_key(space: u8, key: &[u8], number: u32) -> Vec<u8> {
    [&[CHUNKS, space], key, &number.to_be_bytes()].concat()
}

/// The stored form of a value, and its pieces.
pub(super) fn stored(value: &[u8]) -> (Vec<u8>, Vec<&[u8]>) {
    if value.len() <= CHUNK_BYTES {
        return ([&[WHOLE], value].concat(), Vec::new());
    }
    let chunks: Vec<&[u8]> = value.chunks(CHUNK_BYTES).collect();
    let count = super::codec::length(chunks.len());
    ([&[SPLIT][..], &count.to_be_bytes()].concat(), chunks)
}

/// How many pieces a stored value has.
pub(super) fn chunks_of(stored: &[u8]) -> u32 {
    match stored.split_first() {
        Some((&SPLIT, count)) => count.try_into().map_or(0, u32::from_be_bytes),
        _ => 0,
    }
}

/// Puts a value together again.
pub(super) fn whole_value(
    space: u8,
    key: &[u8],
    stored: &[u8],
    chunk: impl Fn(&[u8]) -> Result<Option<IVec>, String>,
) -> Result<Vec<u8>, String> {
    match stored.split_first() {
        Some((&WHOLE, value)) => Ok(value.to_vec()),
        Some((&SPLIT, _)) => {
            let mut value = Vec::new();
            for number in 0..chunks_of(stored) {
                let piece = chunk(&chunk_key(space, key, number))?;
                value.extend_from_slice(&piece.ok_or("a piece of a value is missing")?);
            }
            Ok(value)
        }
        _ => Err("a value has an unknown form".to_owned()),
    }
}
