//! The packed form of a journal file that is closed: the same bytes in compressed blocks. It has the name of
//! the plain file and is read at its offsets, so other code does not know which of the two exists.
//!
//! It is a magic (8 bytes), the header of the plain file (64), the blocks, a table and the end. Each block is
//! a zstd frame of its own with the next MiB behind the header; the last one has what is left. The table
//! has the stored length (4) and the CRC-32 (4) of each block. The end is the length of the plain file (8), a
//! checksum of table and length (4), and a magic (8).

use super::codec::{Cursor, checked, length, put_checksum};
use super::disk::{DiskFile, READ_BYTES, read_up_to};
use super::head::HEADER_BYTES;
use std::io;
use std::sync::{Mutex, PoisonError};

const MAGIC: &[u8; 8] = b"MFApack1";
const END_MAGIC: &[u8; 8] = b"MFAptbl1";
/// Bytes before the first block.
const FRONT_BYTES: u64 = MAGIC.len() as u64 + HEADER_BYTES;
const ENTRY_BYTES: u64 = 4 + 4;
const END_BYTES: u64 = 8 + 4 + 8;
/// What one block holds: as much as is read at once. Blocks of a quarter of it take a fifth more space.
pub(super) const BLOCK_BYTES: usize = READ_BYTES;
/// What cannot be compressed grows a little.
const STORED_BYTES_MAX: usize = BLOCK_BYTES + 64 * 1024;
/// zstd's own default. The levels up to 9 save a tenth of the space at five times the time or more.
const LEVEL: i32 = 3;

/// What says that stored bytes are not what was written; see `recover::At::io`.
fn damaged(why: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

/// Bytes in a smaller form.
pub(super) fn compress(plain: &[u8]) -> io::Result<Vec<u8>> {
    zstd::bulk::compress(plain, LEVEL)
}

/// What was compressed, if it has this length. No more memory is taken than for that, whatever is stored.
pub(super) fn decompress(stored: &[u8], bytes: usize) -> Option<Vec<u8>> {
    zstd::bulk::decompress(stored, bytes).ok().filter(|plain| plain.len() == bytes)
}

/// Whether a file is packed.
pub(super) fn is_packed(file: &dyn DiskFile) -> io::Result<bool> {
    Ok(read_up_to(file, 0, MAGIC.len())? == MAGIC)
}

/// The header of the plain file, from the first bytes of a packed or a plain file.
pub(super) fn header(front: &[u8]) -> &[u8] {
    let header = front.strip_prefix(MAGIC).unwrap_or(front);
    &header[..header.len().min(HEADER_BYTES as usize)]
}

/// Enough of the beginning of a file for [`header`].
pub(super) fn front(file: &dyn DiskFile) -> io::Result<Vec<u8>> {
    read_up_to(file, 0, FRONT_BYTES as usize)
}

struct Block {
    at: u64,
    bytes: usize,
    checksum: u32,
}

/// A packed file that is read as the plain one was.
pub(super) struct Packed {
    file: Box<dyn DiskFile>,
    front: Vec<u8>,
    /// Length of the plain file.
    bytes: u64,
    blocks: Vec<Block>,
    /// The block that was read last: readers go on in the middle of one.
    last: Mutex<Option<(usize, Vec<u8>)>>,
}

impl Packed {
    /// Opens a file for which [`is_packed`] was true.
    pub(super) fn open(file: Box<dyn DiskFile>) -> io::Result<Self> {
        let cut = || damaged("its end is cut off or damaged".to_owned());
        let front = front(&*file)?;
        let end_at = file.bytes()?.checked_sub(END_BYTES).ok_or_else(cut)?;
        let end = read_up_to(&*file, end_at, END_BYTES as usize)?;
        let bytes = Cursor(&end).u64().filter(|_| end.ends_with(END_MAGIC)).ok_or_else(cut)?;
        let count = bytes.checked_sub(HEADER_BYTES).ok_or_else(cut)?.div_ceil(BLOCK_BYTES as u64);
        let table_bytes = count.checked_mul(ENTRY_BYTES).ok_or_else(cut)?;
        let table_at = end_at.checked_sub(table_bytes).filter(|at| *at >= FRONT_BYTES).ok_or_else(cut)?;
        let table_bytes = usize::try_from(table_bytes).map_err(|_| cut())?;
        let table = read_up_to(&*file, table_at, table_bytes + END_BYTES as usize - END_MAGIC.len())?;
        let mut table = Cursor(checked(&table).ok_or_else(cut)?);
        let mut at = FRONT_BYTES;
        let mut blocks = Vec::new();
        for _ in 0..count {
            let (bytes, checksum) = (table.u32().ok_or_else(cut)?, table.u32().ok_or_else(cut)?);
            blocks.push(Block { at, bytes: bytes as usize, checksum });
            at += u64::from(bytes);
        }
        if at != table_at || blocks.iter().any(|block| block.bytes > STORED_BYTES_MAX) {
            return Err(damaged("its table does not fit its blocks".to_owned()));
        }
        Ok(Self { file, front, bytes, blocks, last: Mutex::default() })
    }

    fn unpack(&self, number: usize) -> io::Result<Vec<u8>> {
        let block = &self.blocks[number];
        let stored = read_up_to(&*self.file, block.at, block.bytes)?;
        if stored.len() != block.bytes || crc32fast::hash(&stored) != block.checksum {
            return Err(damaged(format!("the checksum of the block at byte {} is wrong", block.at)));
        }
        let begins = HEADER_BYTES + (number * BLOCK_BYTES) as u64;
        let bytes = usize::try_from(self.bytes - begins).map_or(BLOCK_BYTES, |left| left.min(BLOCK_BYTES));
        let plain = decompress(&stored, bytes);
        plain.ok_or_else(|| damaged(format!("the block at byte {} cannot be unpacked", block.at)))
    }

    /// Copies what there is from one offset on up to the end of its block; says how much.
    fn copy(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let put = |from: Option<&[u8]>, buffer: &mut [u8]| {
            let from = from.unwrap_or_default();
            let bytes = from.len().min(buffer.len());
            buffer[..bytes].copy_from_slice(&from[..bytes]);
            bytes
        };
        let Some(behind) = offset.checked_sub(HEADER_BYTES) else {
            return Ok(put(header(&self.front).get(offset as usize..), buffer));
        };
        let Some(number) = usize::try_from(behind).ok().map(|at| at / BLOCK_BYTES) else { return Ok(0) };
        if number >= self.blocks.len() {
            return Ok(0);
        }
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let plain = match last.take().filter(|(held, _)| *held == number) {
            Some(held) => &last.insert(held).1,
            None => &last.insert((number, self.unpack(number)?)).1,
        };
        Ok(put(plain.get(behind as usize % BLOCK_BYTES..), buffer))
    }
}

fn read_only<T>() -> io::Result<T> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "a packed file is never changed"))
}

impl DiskFile for Packed {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let mut read = 0;
        while read < buffer.len() {
            match self.copy(offset + read as u64, &mut buffer[read..])? {
                0 => break,
                bytes => read += bytes,
            }
        }
        Ok(read)
    }
    fn write_at(&self, _: u64, _: &[u8]) -> io::Result<()> {
        read_only()
    }
    fn sync_data(&self) -> io::Result<()> {
        self.file.sync_data()
    }
    fn set_len(&self, _: u64) -> io::Result<()> {
        read_only()
    }
    fn reserve(&self, _: u64, _: u64) -> io::Result<()> {
        read_only()
    }
    fn bytes(&self) -> io::Result<u64> {
        Ok(self.bytes)
    }
}

/// The next block of a file.
fn block(file: &dyn DiskFile, offset: u64, bytes: u64) -> io::Result<Vec<u8>> {
    let wanted = usize::try_from(bytes - offset).map_or(BLOCK_BYTES, |left| left.min(BLOCK_BYTES));
    let block = read_up_to(file, offset, wanted)?;
    if block.len() == wanted { Ok(block) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

/// Writes the packed form of a plain file, durably but for its name. `go_on` breaks it off with an error.
pub(super) fn pack(
    plain: &dyn DiskFile,
    draft: &dyn DiskFile,
    go_on: &dyn Fn() -> io::Result<()>,
) -> io::Result<()> {
    let bytes = plain.bytes()?;
    let mut table = Vec::new();
    let front = [&MAGIC[..], &read_up_to(plain, 0, HEADER_BYTES as usize)?].concat();
    draft.write_at(0, &front)?;
    let mut at = front.len() as u64;
    let mut offset = HEADER_BYTES;
    while offset < bytes {
        go_on()?;
        let block = block(plain, offset, bytes)?;
        let stored = compress(&block)?;
        draft.write_at(at, &stored)?;
        table.extend_from_slice(&length(stored.len()).to_le_bytes());
        table.extend_from_slice(&crc32fast::hash(&stored).to_le_bytes());
        (at, offset) = (at + stored.len() as u64, offset + block.len() as u64);
    }
    table.extend_from_slice(&bytes.to_le_bytes());
    put_checksum(&mut table);
    table.extend_from_slice(END_MAGIC);
    draft.write_at(at, &table)?;
    draft.sync_data()
}

/// Whether a packed file reads as a plain one, to the last byte.
pub(super) fn same(
    plain: &dyn DiskFile,
    packed: &dyn DiskFile,
    go_on: &dyn Fn() -> io::Result<()>,
) -> io::Result<bool> {
    let bytes = plain.bytes()?;
    let header = |file| read_up_to(file, 0, HEADER_BYTES as usize);
    if packed.bytes()? != bytes || header(plain)? != header(packed)? {
        return Ok(false);
    }
    let mut offset = HEADER_BYTES;
    while offset < bytes {
        go_on()?;
        let expected = block(plain, offset, bytes)?;
        if block(packed, offset, bytes)? != expected {
            return Ok(false);
        }
        offset += expected.len() as u64;
    }
    Ok(true)
}
