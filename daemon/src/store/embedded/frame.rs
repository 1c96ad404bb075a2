//! The stored form of a group of commits: one frame of the journal.
//!
//! A frame is magic, length and checksum, then the hash of the frame before, the first sequence, the number
//! of commits and the commits. The checksum also covers the identity of the store, which no client knows, so
//! that no one can store a value that looks like a frame.

use super::codec::{Cursor, Hash, hash, length, put_counted};
use crate::store::engine::{Change, Commit, Space};
use mfa_shared::time::Timestamp;

const MAGIC: [u8; 4] = *b"MFAf";
/// Bytes before the payload.
pub(super) const HEAD_BYTES: usize = 12;
/// One commit is not longer than this in its stored form.
pub(super) const COMMIT_BYTES_MAX: usize = 64 * 1024 * 1024;
/// No frame is longer: it has one commit above the limit of a group at most.
pub(super) const PAYLOAD_BYTES_MAX: usize = COMMIT_BYTES_MAX + 1024 * 1024;
const NO_VALUE: u8 = 0;
const VALUE: u8 = 1;

/// The commits of one group.
#[derive(Debug)]
pub(super) struct Frame {
    /// Hash of the frame before.
    pub(super) before: Hash,
    /// Hash of this frame.
    pub(super) hash: Hash,
    /// Sequence of the first commit.
    pub(super) first: u64,
    pub(super) commits: Vec<Commit>,
    /// Length of the whole frame.
    pub(super) bytes: u64,
}

impl Frame {
    /// Sequence of the last commit.
    pub(super) fn last(&self) -> u64 {
        self.first + self.commits.len() as u64 - 1
    }
}

/// Appends one commit.
pub(super) fn put_commit(out: &mut Vec<u8>, sequence: u64, commit: &Commit) {
    out.extend_from_slice(&sequence.to_le_bytes());
    out.extend_from_slice(&commit.time.millis().to_le_bytes());
    put_counted(out, commit.actor.as_bytes());
    put_counted(out, commit.request.as_bytes());
    out.extend_from_slice(&length(commit.changes.len()).to_le_bytes());
    for change in &commit.changes {
        out.push(change.space.id);
        put_counted(out, &change.key);
        match &change.value {
            None => out.push(NO_VALUE),
            Some(value) => {
                out.push(VALUE);
                put_counted(out, value);
            }
        }
    }
}

fn take_commit(cursor: &mut Cursor<'_>, sequence: u64) -> Option<Commit> {
    if cursor.u64()? != sequence {
        return None;
    }
    let time = Timestamp::from_millis(cursor.i64()?);
    let (actor, request) = (cursor.text()?, cursor.text()?);
    let mut changes = Vec::new();
    for _ in 0..cursor.u32()? {
        let space = Space { id: cursor.byte()?, name: "" };
        let key = cursor.counted()?.to_vec();
        let value = match cursor.byte()? {
            NO_VALUE => None,
            VALUE => Some(cursor.counted()?.to_vec()),
            _ => return None,
        };
        changes.push(Change { space, key, value });
    }
    Some(Commit { time, actor, request, changes })
}

fn checksum(store: &Hash, payload: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(store);
    hasher.update(&length(payload.len()).to_le_bytes());
    hasher.update(payload);
    hasher.finalize()
}

/// The bytes of a frame and its hash.
pub(super) fn seal(store: &Hash, before: &Hash, first: u64, count: u32, commits: &[u8]) -> (Vec<u8>, Hash) {
    let mut out = Vec::with_capacity(HEAD_BYTES + before.len() + 8 + 4 + commits.len());
    out.resize(HEAD_BYTES, 0);
    out.extend_from_slice(before);
    out.extend_from_slice(&first.to_le_bytes());
    out.extend_from_slice(&count.to_le_bytes());
    out.extend_from_slice(commits);
    let payload = &out[HEAD_BYTES..];
    let bytes = length(payload.len());
    let checksum = checksum(store, payload);
    let hash = hash(payload);
    out[..4].copy_from_slice(&MAGIC);
    out[4..8].copy_from_slice(&bytes.to_le_bytes());
    out[8..12].copy_from_slice(&checksum.to_le_bytes());
    (out, hash)
}

/// Length of the payload that a frame head announces, and its checksum.
pub(super) fn head(bytes: &[u8]) -> Option<(usize, u32)> {
    let mut cursor = Cursor(bytes);
    if cursor.take(4)? != MAGIC {
        return None;
    }
    let payload_bytes = usize::try_from(cursor.u32()?).ok()?;
    (payload_bytes <= PAYLOAD_BYTES_MAX).then_some((payload_bytes, cursor.u32()?))
}

/// Whether a payload is intact.
pub(super) fn is_right(store: &Hash, payload: &[u8], expected: u32) -> bool {
    checksum(store, payload) == expected
}

/// Takes a payload apart.
pub(super) fn open(payload: &[u8]) -> Option<Frame> {
    let mut cursor = Cursor(payload);
    let before = cursor.hash()?;
    let first = cursor.u64()?;
    let count = cursor.u32()?;
    let mut commits = Vec::new();
    for at in 0..u64::from(count) {
        commits.push(take_commit(&mut cursor, first.checked_add(at)?)?);
    }
    let whole = cursor.0.is_empty() && !commits.is_empty();
    let bytes = (HEAD_BYTES + payload.len()) as u64;
    whole.then(|| Frame { before, hash: hash(payload), first, commits, bytes })
}

/// Where in `bytes` a right frame begins, if anywhere. Used behind a bad frame: what was torn by a lost
/// power supply has nothing behind it, because no group is written before the one before is synced.
pub(super) fn find(store: &Hash, bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    while let Some(step) = bytes[at..].windows(4).position(|window| window == MAGIC) {
        at += step;
        if let Some((payload_bytes, checksum)) = head(&bytes[at..])
            && let Some(payload) = bytes[at + HEAD_BYTES..].get(..payload_bytes)
            && is_right(store, payload, checksum)
        {
            return Some(at);
        }
        at += 1;
    }
    None
}
