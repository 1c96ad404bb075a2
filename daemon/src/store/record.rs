//! What makes a type a stored record: its space, its key, its index entries.

use super::engine::Space;
use mfa_shared::time::Timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A stored record.
///
/// The stored form is JSON, except for what a daemon writes many times for each change. Where it equals the
/// form on the wire, a read hands the stored bytes on as they are, so fields of such a type change only
/// together with a migration: a record of an earlier program would be read without a field that was added,
/// also an optional one, while lists show it as null.
pub trait Record: Serialize + DeserializeOwned + Send + Sync + 'static {
    /// Where these records are stored.
    const SPACE: Space;
    /// The key; see [`key`].
    fn key(&self) -> Vec<u8>;
    /// The entries of its indexes: space, and the parts before the record's own key. They are kept in step
    /// with the record by every write.
    fn index(&self) -> Vec<(Space, Vec<u8>)> {
        Vec::new()
    }
    /// The stored form, which need not repeat what the key says.
    fn stored(&self) -> Vec<u8> {
        json(self)
    }
    /// Reads the stored form; also that of earlier programs.
    fn read(_key: &[u8], stored: &[u8]) -> serde_json::Result<Self> {
        serde_json::from_slice(stored)
    }
}

/// Most records have no longer JSON, which then does not grow step by step.
const JSON_BYTES: usize = 1_024;

#[expect(
    clippy::expect_used,
    reason = "records have string keys only, so there is nothing that JSON could not hold"
)]
fn json<R: Record>(record: &R) -> Vec<u8> {
    let mut json = Vec::with_capacity(JSON_BYTES);
    serde_json::to_writer(&mut json, record).expect("records are JSON");
    json
}

/// The byte between the parts of a key. No text that is part of a key holds control characters.
const SEPARATOR: u8 = 0;

/// A key of several parts: it sorts by the first, then by the second, each in code point order.
pub fn key(parts: &[&str]) -> Vec<u8> {
    let mut key = Vec::with_capacity(parts.iter().map(|p| p.len() + 1).sum());
    for (i, part) in parts.iter().enumerate() {
        if i > 0 {
            key.push(SEPARATOR);
        }
        key.extend_from_slice(part.as_bytes());
    }
    key
}

/// The first bytes of every key that has these parts and more.
pub fn prefix(parts: &[&str]) -> Vec<u8> {
    let mut prefix = key(parts);
    if !parts.is_empty() {
        prefix.push(SEPARATOR);
    }
    prefix
}

/// A moment as the part of a key: moments sort by time.
pub fn moment(at: Timestamp) -> String {
    format!("{:020}", at.millis().max(0))
}

/// A key under `parts` that counts: records sort in the order of their numbers.
pub fn numbered(parts: &[&str], number: u64) -> Vec<u8> {
    let mut key = prefix(parts);
    key.extend_from_slice(&number.to_be_bytes());
    key
}

/// The number at the end of a counting key.
pub fn number(key: &[u8]) -> u64 {
    let tail = key.len().checked_sub(8).map(|at| &key[at..]);
    tail.and_then(|tail| tail.try_into().ok()).map_or(0, u64::from_be_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_parts_sort_part_by_part_and_numbers_count() {
        assert!(key(&["a", "z"]) < key(&["a b", "a"]));
        assert!(key(&["a"]).starts_with(b"a") && !key(&["ab", "x"]).starts_with(&prefix(&["a"])));
        assert!(numbered(&["c"], 9) < numbered(&["c"], 10));
        assert_eq!(number(&numbered(&["c"], 300)), 300);
    }
}
