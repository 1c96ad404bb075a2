//! One file of the journal: a header, then frames, each chained to the one before by its hash.

use super::codec::{Cursor, Hash, checked, put_checksum};
use super::disk::{Disk, DiskFile, JOURNAL, READ_BYTES, read_up_to};
use super::frame::{self, Frame};
use super::head::{HEADER_BYTES, Head, Position};
use super::packed::{self, Packed};
use std::io;

/// Version of the stored form of a journal file.
pub(super) const FORMAT: u32 = 1;
const MAGIC: &[u8; 8] = b"MFAjrnl1";

/// Name of a journal file.
pub(super) fn name(segment: u64) -> String {
    format!("{JOURNAL}/{segment:08}.log")
}

/// The numbers of the journal files, ascending.
pub(super) fn segments(disk: &dyn Disk) -> io::Result<Vec<u64>> {
    let names = disk.list(JOURNAL)?;
    let number = |file: &String| {
        let number = file.strip_suffix(".log")?.parse().ok()?;
        (name(number) == format!("{JOURNAL}/{file}")).then_some(number)
    };
    let mut numbers: Vec<u64> = names.iter().filter_map(number).collect();
    numbers.sort_unstable();
    Ok(numbers)
}

/// Opens a journal file, so that it is read as it was written whether or not it was packed; `None` if it is
/// missing. Also says whether it was packed.
pub(super) fn open(disk: &dyn Disk, segment: u64) -> io::Result<Option<(Box<dyn DiskFile>, bool)>> {
    let Some(file) = disk.open(&name(segment))? else { return Ok(None) };
    Ok(Some(if packed::is_packed(&*file)? { (Box::new(Packed::open(file)?), true) } else { (file, false) }))
}

/// The length of all journal files, as they lie on the disk.
pub(super) fn bytes(disk: &dyn Disk) -> io::Result<u64> {
    segments(disk)?.into_iter().map(|segment| Ok(disk.look(&name(segment))?.0)).sum()
}

/// The first bytes of a journal file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) format: u32,
    pub(super) segment: u64,
    /// Sequence of the first commit.
    pub(super) first: u64,
    /// Hash of the last frame of the file before; in the first file, the identity of the store.
    pub(super) before: Hash,
}

impl Header {
    /// The header of the file that follows `head`.
    fn after(head: &Head, segment: u64) -> Self {
        Self { format: FORMAT, segment, first: head.sequence + 1, before: head.hash }
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        out.extend_from_slice(&self.format.to_le_bytes());
        out.extend_from_slice(&self.segment.to_le_bytes());
        out.extend_from_slice(&self.first.to_le_bytes());
        out.extend_from_slice(&self.before);
        put_checksum(&mut out);
        out
    }

    /// Reads the header of a journal file; `None` if the file is missing or its header is not whole.
    pub(super) fn read(disk: &dyn Disk, segment: u64) -> io::Result<Option<Self>> {
        let Some(file) = disk.open(&name(segment))? else { return Ok(None) };
        Ok(Self::from_bytes(packed::header(&packed::front(&*file)?)))
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut cursor = Cursor(checked(bytes)?);
        if cursor.take(8)? != MAGIC {
            return None;
        }
        let format = cursor.u32()?;
        let segment = cursor.u64()?;
        let first = cursor.u64()?;
        Some(Self { format, segment, first, before: cursor.hash()? })
    }
}

/// What a journal file holds at a place.
pub(super) enum Step {
    /// A right frame.
    Frame(Frame),
    /// Nothing more.
    End,
    /// Bytes that are no right frame.
    Bad {
        /// What is wrong with them.
        why: &'static str,
        /// Whether a write that was cut off explains them.
        torn: bool,
    },
}

/// Reads the frames of one file.
pub(super) struct Reader {
    file: Box<dyn DiskFile>,
    packed: bool,
    store: Hash,
    bytes: u64,
    offset: u64,
    buffer: Vec<u8>,
    buffer_at: u64,
    #[cfg(test)]
    flaws: super::disk::Flaws,
}

impl Reader {
    /// Opens a file; `None` if it is missing.
    pub(super) fn open(disk: &dyn Disk, store: &Hash, at: Position) -> io::Result<Option<Self>> {
        let Some((file, packed)) = open(disk, at.segment)? else { return Ok(None) };
        let bytes = file.bytes()?;
        let buffer = Vec::new();
        Ok(Some(Self {
            file,
            packed,
            store: *store,
            bytes,
            offset: at.offset,
            buffer,
            buffer_at: 0,
            #[cfg(test)]
            flaws: disk.flaws(),
        }))
    }

    pub(super) fn header(&self) -> io::Result<Option<Header>> {
        Ok(Header::from_bytes(&read_up_to(&*self.file, 0, HEADER_BYTES as usize)?))
    }

    /// Whether the file is packed, so that a commit in a later file is known to have been durable.
    pub(super) fn is_packed(&self) -> bool {
        self.packed
    }

    /// Where the next frame begins.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// Length of the file.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Reads nothing from this offset on.
    pub(super) fn end_at(&mut self, offset: u64) {
        self.bytes = self.bytes.min(offset);
    }

    /// At most `bytes` bytes from the offset on.
    fn peek(&mut self, bytes: usize) -> io::Result<&[u8]> {
        let left = usize::try_from(self.bytes.saturating_sub(self.offset)).unwrap_or(usize::MAX);
        let bytes = bytes.min(left);
        let have =
            usize::try_from(self.offset - self.buffer_at).ok().filter(|at| at + bytes <= self.buffer.len());
        let at = match have {
            Some(at) => at,
            None => {
                self.buffer.resize(bytes.max(READ_BYTES).min(left), 0);
                let read = self.file.read_at(self.offset, &mut self.buffer)?;
                self.buffer.truncate(read);
                self.buffer_at = self.offset;
                0
            }
        };
        Ok(&self.buffer[at..self.buffer.len().min(at + bytes)])
    }

    /// The next frame.
    pub(super) fn next(&mut self) -> io::Result<Step> {
        let bad = |why, torn| Ok(Step::Bad { why, torn });
        let head = self.peek(frame::HEAD_BYTES)?;
        if head.is_empty() {
            return Ok(Step::End);
        }
        let Some((payload_bytes, checksum)) = frame::head(head) else {
            return bad("there is no frame", true);
        };
        let store = self.store;
        #[cfg(test)]
        let flaws = self.flaws;
        let whole = self.peek(frame::HEAD_BYTES + payload_bytes)?;
        let Some(payload) = whole.get(frame::HEAD_BYTES..).filter(|payload| payload.len() == payload_bytes)
        else {
            return bad("the frame is cut off", true);
        };
        let right = frame::is_right(&store, payload, checksum);
        #[cfg(test)]
        let right = right || flaws.checksum_ignored;
        if !right {
            return bad("the checksum of the frame is wrong", true);
        }
        match frame::open(payload) {
            Some(frame) => {
                self.offset += frame.bytes;
                Ok(Step::Frame(frame))
            }
            None => bad("the frame has a right checksum but cannot be read", false),
        }
    }

    /// Where behind the offset the next right frame begins, if there is one.
    pub(super) fn find_behind(&mut self) -> io::Result<Option<u64>> {
        let left = usize::try_from(self.bytes.saturating_sub(self.offset)).unwrap_or(usize::MAX);
        let (store, offset) = (self.store, self.offset);
        let rest = self.peek(left)?;
        Ok(rest.get(1..).and_then(|rest| frame::find(&store, rest)).map(|at| offset + 1 + at as u64))
    }
}

/// Writes the header of the file that follows `head`; it is not durable yet.
pub(super) fn write_header(file: &dyn DiskFile, head: &Head, segment: u64) -> io::Result<()> {
    file.write_at(0, &Header::after(head, segment).to_bytes())
}

/// Makes a journal file and makes it durable, name included.
pub(super) fn begin(disk: &dyn Disk, head: &Head, segment: u64) -> io::Result<()> {
    let file = disk.create(&name(segment))?;
    write_header(&*file, head, segment)?;
    file.sync_data()?;
    disk.sync_dir(JOURNAL)
}
