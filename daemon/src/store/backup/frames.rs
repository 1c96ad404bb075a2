//! The frames of a backup: compressed, each with a SHA-256 that is tied to the one before.

use super::{BackupError, damaged};
use crate::hex::hexadecimal;
use sha2::{Digest, Sha256};
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use zeroize::Zeroizing;

/// The first bytes of a backup.
pub const MAGIC: &[u8; 7] = b"mfab/1\n";
/// The first bytes of a backup with the key file of its store.
const KEY_MAGIC: &[u8; 11] = b"mfab-key/1\n";
/// No key file is longer.
const KEY_FILE_BYTES_MAX: usize = 65_536;
/// The last bytes.
pub const END_MAGIC: &[u8; 8] = b"mfab-end";
/// Bytes of a frame before they are compressed, at most.
pub const RAW_BYTES_MAX: usize = 256 * 1024;
/// Bytes of a frame in the file, at most: what cannot be compressed grows a little.
const STORED_BYTES_MAX: usize = RAW_BYTES_MAX + 64 * 1024;
const HEADER_BYTES: usize = 1 + 4 + 4 + 32;
const END_BYTES: usize = 8 + 8;
/// zstd's own default: fast, and the records of a store shrink to a fifth.
const LEVEL: i32 = 3;

/// The kind of the first frame, which holds the head.
pub const HEAD: u8 = b'H';
/// The kind of the frames that hold the items.
pub const DATA: u8 = b'D';
/// The kind of the last frame, which holds the trailer.
pub const TRAILER: u8 = b'T';

type Hash = [u8; 32];

fn hash_of(before: &Hash, fixed: &[u8], stored: &[u8]) -> Hash {
    Sha256::new().chain_update(before).chain_update(fixed).chain_update(stored).finalize().into()
}

/// Makes frames, one after the other.
#[derive(Debug, Default)]
pub struct Framer {
    before: Hash,
}

impl Framer {
    /// The bytes of the next frame.
    pub fn frame(&mut self, kind: u8, raw: &[u8]) -> std::io::Result<Vec<u8>> {
        let stored = zstd::bulk::compress(raw, LEVEL)?;
        let length = |bytes: usize| u32::try_from(bytes).unwrap_or(u32::MAX).to_le_bytes();
        let mut frame = vec![kind];
        frame.extend_from_slice(&length(stored.len()));
        frame.extend_from_slice(&length(raw.len()));
        self.before = hash_of(&self.before, &frame, &stored);
        frame.extend_from_slice(&self.before);
        frame.extend_from_slice(&stored);
        Ok(frame)
    }

    /// The bytes behind the last frame, which had this length.
    pub fn end(last_frame_bytes: usize) -> Vec<u8> {
        [&(last_frame_bytes as u64).to_le_bytes()[..], END_MAGIC].concat()
    }

    /// The SHA-256 of the last frame.
    pub fn digest(&self) -> String {
        hexadecimal(&self.before)
    }
}

/// Reads frames one after the other and verifies them.
#[derive(Debug)]
pub struct Frames<R> {
    from: R,
    before: Hash,
    number: u64,
    /// Bytes of the file that were read.
    offset: u64,
    /// The key file of the store, if the backup begins with it.
    key_file: Option<Zeroizing<Vec<u8>>>,
}

/// What precedes a backup that has the key file of its store.
pub fn key_file_prefix(bytes: &[u8]) -> Zeroizing<Vec<u8>> {
    let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_le_bytes();
    Zeroizing::new([&KEY_MAGIC[..], &length, bytes].concat())
}

impl<R: Read> Frames<R> {
    /// Begins to read a file.
    pub fn begin(mut from: R) -> Result<Self, BackupError> {
        let mut magic = [0; MAGIC.len()];
        let mut offset = MAGIC.len();
        let mut key_file = None;
        let mut read = fill(&mut from, &mut magic)?;
        if magic == KEY_MAGIC[..MAGIC.len()] {
            let bytes = key_file_of(&mut from)?;
            offset += KEY_MAGIC.len() + 4 + bytes.len();
            key_file = Some(bytes);
            read = fill(&mut from, &mut magic)?;
        }
        if magic != *MAGIC {
            return Err(damaged(match &magic[..read] {
                [] => "the file is empty".to_owned(),
                [b'm', b'f', b'a', b'b', b'/', ..] => {
                    "this is a backup of another format than mfab/1: use the version of mfa that made it"
                        .to_owned()
                }
                _ => "this is not a backup: it does not begin with mfab/1".to_owned(),
            }));
        }
        Ok(Self { from, before: [0; 32], number: 0, offset: offset as u64, key_file })
    }

    fn wrong(&self, why: &str) -> BackupError {
        damaged(format!("the backup is damaged: frame {} at byte {} {why}", self.number, self.offset))
    }

    /// The next frame: its kind and what is in it.
    pub fn next_frame(&mut self) -> Result<(u8, Vec<u8>), BackupError> {
        let mut header = [0; HEADER_BYTES];
        if fill(&mut self.from, &mut header)? < HEADER_BYTES {
            return Err(self.wrong("is cut off"));
        }
        let (fixed, hash) = header.split_at(9);
        let length = |at: usize| {
            let bytes = fixed[at..at + 4].first_chunk().copied().unwrap_or_default();
            u32::from_le_bytes(bytes) as usize
        };
        let (stored_bytes, raw_bytes) = (length(1), length(5));
        if stored_bytes > STORED_BYTES_MAX || raw_bytes > RAW_BYTES_MAX {
            return Err(self.wrong("has an impossible length"));
        }
        let mut stored = vec![0; stored_bytes];
        if fill(&mut self.from, &mut stored)? < stored_bytes {
            return Err(self.wrong("is cut off"));
        }
        let expected = hash_of(&self.before, fixed, &stored);
        if expected != hash {
            return Err(self.wrong("does not have the SHA-256 that it should have"));
        }
        let raw = zstd::bulk::decompress(&stored, raw_bytes);
        let raw = raw.ok().filter(|raw| raw.len() == raw_bytes);
        let raw = raw.ok_or_else(|| self.wrong("cannot be decompressed"))?;
        self.before = expected;
        self.number += 1;
        self.offset += (HEADER_BYTES + stored_bytes) as u64;
        Ok((header[0], raw))
    }

    /// Verifies that only the end follows the last frame.
    pub fn finish(&mut self, last_frame_at: u64) -> Result<(), BackupError> {
        let mut end = [0; END_BYTES + 1];
        let read = fill(&mut self.from, &mut end)?;
        let expected = Framer::end(usize::try_from(self.offset - last_frame_at).unwrap_or(usize::MAX));
        match read {
            END_BYTES if end[..END_BYTES] == expected => Ok(()),
            read if read < END_BYTES => Err(damaged("the backup is damaged: its end is cut off")),
            END_BYTES => Err(damaged("the backup is damaged: its end does not match")),
            _ => Err(damaged("the backup is damaged: something follows behind its end")),
        }
    }

    /// The key file of the store, if the backup begins with it.
    pub fn key_file(&self) -> Option<&Zeroizing<Vec<u8>>> {
        self.key_file.as_ref()
    }

    /// Bytes that were read so far.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The SHA-256 of the last frame.
    pub fn digest(&self) -> String {
        hexadecimal(&self.before)
    }
}

/// The key file at the beginning of a backup, behind as many bytes as [`MAGIC`] has.
fn key_file_of(from: &mut impl Read) -> Result<Zeroizing<Vec<u8>>, BackupError> {
    const REST: usize = KEY_MAGIC.len() - MAGIC.len();
    let wrong = || damaged("the backup is damaged: the key file at its beginning is not whole");
    let mut rest = [0; REST + 4];
    let read = fill(from, &mut rest)?;
    let (magic, length) = rest.split_at(REST);
    let length = u32::from_le_bytes(length.first_chunk().copied().unwrap_or_default()) as usize;
    if read < rest.len() || *magic != KEY_MAGIC[MAGIC.len()..] || length > KEY_FILE_BYTES_MAX {
        return Err(wrong());
    }
    let mut bytes = Zeroizing::new(vec![0; length]);
    if fill(from, &mut bytes)? == length { Ok(bytes) } else { Err(wrong()) }
}

/// Fills a buffer as far as there are bytes.
fn fill(from: &mut impl Read, buffer: &mut [u8]) -> std::io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match from.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(bytes) => filled += bytes,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// What is in the last frame of a file, and its SHA-256, without a look at those before it.
pub fn last_frame(mut from: impl Read + Seek) -> Result<(Vec<u8>, String), BackupError> {
    let cut_off = || damaged("the backup is damaged: its end is cut off");
    let bytes = from.seek(SeekFrom::End(0))?;
    let end_at = bytes.checked_sub(END_BYTES as u64).ok_or_else(cut_off)?;
    from.seek(SeekFrom::Start(end_at))?;
    let mut end = [0; END_BYTES];
    fill(&mut from, &mut end)?;
    let (length, magic) = end.split_at(8);
    let length = u64::from_le_bytes(length.first_chunk().copied().unwrap_or_default());
    let fits = length >= HEADER_BYTES as u64 && length <= (HEADER_BYTES + STORED_BYTES_MAX) as u64;
    let at = end_at.checked_sub(length).filter(|_| fits && magic == END_MAGIC).ok_or_else(cut_off)?;
    from.seek(SeekFrom::Start(at))?;
    let mut frame = vec![0; usize::try_from(length).unwrap_or_default()];
    if fill(&mut from, &mut frame)? < frame.len() || frame[0] != TRAILER {
        return Err(cut_off());
    }
    let (header, stored) = frame.split_at(HEADER_BYTES);
    let raw = zstd::bulk::decompress(stored, RAW_BYTES_MAX).map_err(|_| cut_off())?;
    Ok((raw, hexadecimal(&header[9..])))
}
