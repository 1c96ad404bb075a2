//! How far the journal goes, and the small files that say so from outside of it.

use super::codec::{Cursor, Hash, checked, put_checksum};
use super::disk::{Disk, DiskFile, read_small};
use std::io;

/// Bytes before the first frame of a journal file.
pub(super) const HEADER_BYTES: u64 = 64;

/// A place in the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Position {
    /// Number of the journal file, from 1 on.
    pub(super) segment: u64,
    /// Byte offset in it.
    pub(super) offset: u64,
}

/// The end of the journal after some commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Head {
    /// Sequence of the last commit; 0 before the first.
    pub(super) sequence: u64,
    /// Hash of the frame with that commit; the identity of the store before the first.
    pub(super) hash: Hash,
    /// Behind that frame.
    pub(super) at: Position,
}

const MAGIC: &[u8; 8] = b"MFAhead1";
const MARK_BYTES: usize = 8 + 8 + 32 + 8 + 8 + 4;
/// Written after every sync of the journal, never synced itself: outlives the process, and is only ever
/// behind after a power cut. So it distinguishes a damaged last frame from one that was never acknowledged.
pub(super) const TAIL: &str = "journal/tail";
/// Left by a clean stop.
pub(super) const CLEAN: &str = "clean";

impl Head {
    pub(super) fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.sequence.to_le_bytes());
        out.extend_from_slice(&self.hash);
        out.extend_from_slice(&self.at.segment.to_le_bytes());
        out.extend_from_slice(&self.at.offset.to_le_bytes());
    }

    pub(super) fn take(cursor: &mut Cursor<'_>) -> Option<Self> {
        let sequence = cursor.u64()?;
        let hash = cursor.hash()?;
        let at = Position { segment: cursor.u64()?, offset: cursor.u64()? };
        Some(Self { sequence, hash, at })
    }

    /// The whole content of a mark.
    pub(super) fn to_mark(self) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        self.put(&mut out);
        put_checksum(&mut out);
        out
    }

    /// Overwrites an open mark.
    pub(super) fn write(&self, file: &dyn DiskFile) -> io::Result<()> {
        file.write_at(0, &self.to_mark())
    }
}

/// Reads a mark. A missing or damaged one says nothing: what it protects against is damage elsewhere.
pub(super) fn read_mark(disk: &dyn Disk, name: &str) -> io::Result<Option<Head>> {
    let Some(bytes) = read_small(disk, name, MARK_BYTES + 1)? else { return Ok(None) };
    let head = checked(&bytes).and_then(|bytes| {
        let mut cursor = Cursor(bytes);
        (cursor.take(8)? == MAGIC).then(|| Head::take(&mut cursor))?
    });
    if head.is_none() && !bytes.is_empty() {
        tracing::warn!(file = name, "the mark is damaged and is not considered");
    }
    Ok(head)
}
