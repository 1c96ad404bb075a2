//! Numbers and lengths in stored bytes, read without trust: damaged bytes give `None`, never a panic.

use sha2::{Digest, Sha256};

/// SHA-256.
pub(super) type Hash = [u8; 32];

/// The hash of some bytes.
pub(super) fn hash(bytes: &[u8]) -> Hash {
    Sha256::digest(bytes).into()
}

/// Takes stored bytes apart from the front.
pub(super) struct Cursor<'a>(pub(super) &'a [u8]);

impl<'a> Cursor<'a> {
    pub(super) fn take(&mut self, bytes: usize) -> Option<&'a [u8]> {
        let (front, rest) = self.0.split_at_checked(bytes)?;
        self.0 = rest;
        Some(front)
    }
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }
    pub(super) fn byte(&mut self) -> Option<u8> {
        self.array::<1>().map(|[byte]| byte)
    }
    pub(super) fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }
    pub(super) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }
    pub(super) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }
    pub(super) fn u128(&mut self) -> Option<u128> {
        self.array().map(u128::from_le_bytes)
    }
    pub(super) fn i64(&mut self) -> Option<i64> {
        self.array().map(i64::from_le_bytes)
    }
    pub(super) fn hash(&mut self) -> Option<Hash> {
        self.array()
    }
    /// Bytes behind their length.
    pub(super) fn counted(&mut self) -> Option<&'a [u8]> {
        let bytes = self.u32()?;
        self.take(usize::try_from(bytes).ok()?)
    }
    /// A few bytes behind their length.
    pub(super) fn short(&mut self) -> Option<&'a [u8]> {
        let bytes = self.u16()?;
        self.take(usize::from(bytes))
    }
    /// Text behind its length.
    pub(super) fn text(&mut self) -> Option<String> {
        String::from_utf8(self.counted()?.to_vec()).ok()
    }
}

/// The length in front of counted bytes. Nothing that long is ever stored, see `frame::COMMIT_BYTES_MAX`.
pub(super) fn length(bytes: usize) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

/// Appends bytes behind their length.
pub(super) fn put_counted(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(&length(bytes.len()).to_le_bytes());
    out.extend_from_slice(bytes);
}

/// A length in two bytes, for keys and for values in one piece: neither is longer.
pub(super) fn short(bytes: usize) -> [u8; 2] {
    u16::try_from(bytes).unwrap_or(u16::MAX).to_le_bytes()
}

/// Appends a few bytes behind their length.
pub(super) fn put_short(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(&short(bytes.len()));
    out.extend_from_slice(bytes);
}

/// Appends the checksum of everything before it.
pub(super) fn put_checksum(out: &mut Vec<u8>) {
    let checksum = crc32fast::hash(out);
    out.extend_from_slice(&checksum.to_le_bytes());
}

/// The bytes before a right checksum.
pub(super) fn checked(bytes: &[u8]) -> Option<&[u8]> {
    let (front, checksum) = bytes.split_last_chunk::<4>()?;
    (crc32fast::hash(front) == u32::from_le_bytes(*checksum)).then_some(front)
}
