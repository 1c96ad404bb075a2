//! Dumps of the index, so that making it anew does not need the whole journal.
//!
//! A dump is taken page by page beside the writer, so it mixes the states from commit `from` to commit
//! `until`; replaying the journal after `from` puts that right, since every change is a plain put or
//! removal.
//!
//! A file is a header, blocks, a zero (4 bytes) and a trailer. A block is its length (4), a CRC-32 (4) of its
//! number and what follows, the length of the pairs (4) and the pairs, compressed. In the first form the
//! pairs themselves followed, and the trailer did not have their length.

use super::codec::{Cursor, checked, length, put_checksum, put_counted};
use super::disk::{Disk, DiskFile, read_up_to};
use super::frame::COMMIT_BYTES_MAX;
use super::head::Head;
use super::packed::{compress, decompress};
use super::tree::Sick;
use crate::store::engine::{Change, Pair, Space, Trouble};
use crate::store::layer::Layer;
use mfa_shared::time::Timestamp;
use std::io;
use std::time::SystemTime;

/// The folder.
pub(super) const DIR: &str = "checkpoint";
const DRAFT: &str = "checkpoint/tmp";
const SUFFIX: &str = ".dump";
const KEPT: usize = 2;
/// Version of the stored form; the first one is still read.
const FORMAT: u32 = 2;
const PLAIN_FORMAT: u32 = 1;
const MAGIC: &[u8; 8] = b"MFAdump1";
const END_MAGIC: &[u8; 8] = b"MFAdone1";
const HEADER_BYTES: usize = 8 + 4 + 56 + 8 + 4;
const TRAILER_BYTES: usize = 8 + 8 + 8 + 8 + 4;
const PLAIN_TRAILER_BYTES: usize = 8 + 8 + 8 + 4;
/// The next checkpoint follows when the journal has grown by so many times the last one: it only shortens the
/// making of a new index, which is rare, and the more often it is written the less is left for changes.
const GROWTH: u64 = 4;
/// A block ends with the pair that reaches this length.
const BLOCK_BYTES: usize = 256 * 1024;
/// No block is longer before it is compressed: no pair is longer than a commit.
const BLOCK_BYTES_MAX: usize = BLOCK_BYTES + COMMIT_BYTES_MAX;
/// No block is longer in the file; in the first form it had that many of the longest commits.
const STORED_BYTES_MAX: usize = 1024 * 1024 * 1024;

/// A checkpoint whose beginning and end are right; the blocks are verified when it is loaded.
#[derive(Debug, Clone)]
pub(super) struct Checkpoint {
    pub(super) name: String,
    /// Replay begins behind this commit.
    pub(super) from: Head,
    /// Replay must reach this commit.
    pub(super) until: u64,
    count: u64,
    form: u32,
    /// Size of the file.
    bytes: u64,
    /// What was in its blocks before they were compressed.
    pub(super) plain_bytes: u64,
}

/// Growth of the journal that asks for the next checkpoint, behind one with so many bytes in its blocks.
pub(super) fn growth_after(bytes: u64) -> u64 {
    bytes.saturating_mul(GROWTH)
}

fn header(from: &Head) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    out.extend_from_slice(&FORMAT.to_le_bytes());
    from.put(&mut out);
    out.extend_from_slice(&[0; 8]);
    put_checksum(&mut out);
    out
}

fn trailer(until: u64, count: u64, plain_bytes: u64) -> Vec<u8> {
    let mut out = END_MAGIC.to_vec();
    out.extend_from_slice(&until.to_le_bytes());
    out.extend_from_slice(&count.to_le_bytes());
    out.extend_from_slice(&plain_bytes.to_le_bytes());
    put_checksum(&mut out);
    out
}

/// The number is part of what is summed, so that blocks cannot change places.
fn block_checksum(number: u64, payload: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&number.to_le_bytes());
    hasher.update(payload);
    hasher.finalize()
}

fn ends(name: &str, file: &dyn DiskFile) -> io::Result<Option<Checkpoint>> {
    let bytes = file.bytes()?;
    let header = read_up_to(file, 0, HEADER_BYTES)?;
    let begin = || {
        let mut cursor = Cursor(checked(&header)?.strip_prefix(MAGIC)?);
        Some((cursor.u32()?, Head::take(&mut cursor)?))
    };
    let Some((form, from)) = begin() else { return Ok(None) };
    let trailer_bytes = match form {
        FORMAT => TRAILER_BYTES,
        PLAIN_FORMAT => PLAIN_TRAILER_BYTES,
        _ => return Ok(None),
    };
    let trailer = read_up_to(file, bytes.saturating_sub(trailer_bytes as u64), trailer_bytes)?;
    Ok((|| {
        let mut cursor = Cursor(checked(&trailer)?.strip_prefix(END_MAGIC)?);
        let (until, count) = (cursor.u64()?, cursor.u64()?);
        let plain_bytes = if form == FORMAT { cursor.u64()? } else { bytes };
        Some(Checkpoint { name: name.to_owned(), from, until, count, form, bytes, plain_bytes })
    })())
}

fn names(disk: &dyn Disk) -> io::Result<Vec<String>> {
    let names = disk.list(DIR)?.into_iter().filter(|name| name.ends_with(SUFFIX));
    Ok(names.map(|name| format!("{DIR}/{name}")).collect())
}

/// The checkpoints, newest first. Damaged ones are left out: the one before, or the whole journal, serves.
pub(super) fn list(disk: &dyn Disk) -> io::Result<Vec<Checkpoint>> {
    let mut checkpoints = Vec::new();
    for name in names(disk)?.into_iter().rev() {
        match disk.open(&name)?.map(|file| ends(&name, &*file)).transpose()?.flatten() {
            Some(checkpoint) => checkpoints.push(checkpoint),
            None => tracing::warn!(file = name, "the checkpoint is damaged and is not used"),
        }
    }
    checkpoints.sort_by_key(|checkpoint| std::cmp::Reverse(checkpoint.from.sequence));
    Ok(checkpoints)
}

/// When the last checkpoint was made.
pub(super) fn last_made(disk: &dyn Disk) -> Option<Timestamp> {
    let newest = names(disk).ok()?.pop()?;
    let since = disk.look(&newest).ok()?.1.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    Some(Timestamp::from_millis(i64::try_from(since.as_millis()).ok()?))
}

/// What is not right about the checkpoints. None of it harms: an older one, or the whole journal, serves.
pub(super) fn damaged(disk: &dyn Disk) -> io::Result<Vec<Trouble>> {
    let whole = list(disk)?;
    let mut found = Vec::new();
    for file in names(disk)? {
        let loaded = match whole.iter().find(|checkpoint| checkpoint.name == file) {
            Some(checkpoint) => load(disk, checkpoint, |_| Ok(())),
            None => Err("its beginning or its end is damaged".to_owned()),
        };
        found.extend(loaded.err().map(|why| Trouble { file, why }));
    }
    Ok(found)
}

/// Hands over the pairs of a checkpoint, page by page.
pub(super) fn load(
    disk: &dyn Disk,
    checkpoint: &Checkpoint,
    mut put: impl FnMut(Layer) -> Result<(), Sick>,
) -> Result<(), Sick> {
    let io = |error: io::Error| error.to_string();
    let file = disk.open(&checkpoint.name).map_err(io)?.ok_or("the file is missing")?;
    let mut offset = HEADER_BYTES as u64;
    let mut count = 0;
    for number in 0.. {
        let head = read_up_to(&*file, offset, 8).map_err(io)?;
        let mut cursor = Cursor(&head);
        let bytes = cursor.u32().ok_or("it is cut off")? as usize;
        if bytes == 0 {
            break;
        }
        if bytes > STORED_BYTES_MAX || bytes as u64 > checkpoint.bytes {
            return Err(format!("the block at byte {offset} has an impossible length"));
        }
        let payload = read_up_to(&*file, offset + 8, bytes).map_err(io)?;
        if payload.len() != bytes || cursor.u32() != Some(block_checksum(number, &payload)) {
            return Err(format!("the checksum of the block at byte {offset} is wrong"));
        }
        let pairs = if checkpoint.form == FORMAT { unpack(&payload) } else { Some(payload) };
        let changes = pairs.and_then(|pairs| open_block(&pairs));
        let changes = changes.ok_or_else(|| format!("the block at byte {offset} cannot be read"))?;
        count += changes.len() as u64;
        put(changes)?;
        offset += 8 + bytes as u64;
    }
    if count == checkpoint.count { Ok(()) } else { Err("pairs are missing".to_owned()) }
}

/// The pairs of a compressed block.
fn unpack(payload: &[u8]) -> Option<Vec<u8>> {
    let mut cursor = Cursor(payload);
    let bytes = cursor.u32()? as usize;
    (bytes <= BLOCK_BYTES_MAX).then(|| decompress(cursor.0, bytes)).flatten()
}

fn open_block(payload: &[u8]) -> Option<Layer> {
    let mut cursor = Cursor(payload);
    let mut changes = Layer::default();
    while !cursor.0.is_empty() {
        let space = Space { id: cursor.byte()?, name: "" };
        let (key, value) = (cursor.counted()?.to_vec(), cursor.counted()?.to_vec());
        changes.put(Change { space, key, value: Some(value) });
    }
    Some(changes)
}

/// A checkpoint that is being written.
pub(super) struct Draft {
    from: u64,
    file: Box<dyn DiskFile>,
    offset: u64,
    blocks: u64,
    count: u64,
    /// The pairs of the next block.
    pairs: Vec<u8>,
    plain_bytes: u64,
}

impl Draft {
    /// Begins one of the state behind a commit.
    pub(super) fn begin(disk: &dyn Disk, from: &Head) -> io::Result<Self> {
        disk.make_dir(DIR)?;
        disk.sync_dir("")?;
        let file = disk.create(DRAFT)?;
        let mut draft = Self {
            from: from.sequence,
            file,
            offset: 0,
            blocks: 0,
            count: 0,
            pairs: Vec::new(),
            plain_bytes: 0,
        };
        draft.append(&header(from))?;
        Ok(draft)
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_at(self.offset, bytes)?;
        self.offset += bytes.len() as u64;
        Ok(())
    }

    /// Adds a pair.
    pub(super) fn put(&mut self, space: u8, (key, value): &Pair) -> io::Result<()> {
        self.pairs.push(space);
        put_counted(&mut self.pairs, key);
        put_counted(&mut self.pairs, value);
        self.count += 1;
        if self.pairs.len() < BLOCK_BYTES { Ok(()) } else { self.end_block() }
    }

    fn end_block(&mut self) -> io::Result<()> {
        let pairs = std::mem::take(&mut self.pairs);
        if pairs.is_empty() {
            return Ok(());
        }
        let payload = [&length(pairs.len()).to_le_bytes()[..], &compress(&pairs)?].concat();
        let mut out = length(payload.len()).to_le_bytes().to_vec();
        out.extend_from_slice(&block_checksum(self.blocks, &payload).to_le_bytes());
        out.extend_from_slice(&payload);
        self.blocks += 1;
        self.plain_bytes += pairs.len() as u64;
        self.append(&out)
    }

    /// Ends it with the commit that was the last one by then, and gives it its name. Returns the bytes of its
    /// pairs before they were compressed.
    pub(super) fn end(mut self, disk: &dyn Disk, until: u64) -> io::Result<u64> {
        self.end_block()?;
        let trailer = trailer(until, self.count, self.plain_bytes);
        self.append(&[&0u32.to_le_bytes()[..], &trailer].concat())?;
        self.file.sync_data()?;
        disk.rename(DRAFT, &format!("{DIR}/{:020}{SUFFIX}", self.from))?;
        disk.sync_dir(DIR)?;
        Ok(self.plain_bytes)
    }
}

/// Removes all checkpoints but the last two.
pub(super) fn remove_old(disk: &dyn Disk) -> io::Result<()> {
    names(disk)?.iter().rev().skip(KEPT).try_for_each(|old| disk.remove(old))
}

/// Removes what is left of a checkpoint that was never finished.
pub(super) fn remove_draft(disk: &dyn Disk) -> io::Result<()> {
    disk.remove(DRAFT)
}
