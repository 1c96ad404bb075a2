//! The commit journal: numbered files of frames, each chained to the one before by its hash.

use super::codec::{Cursor, Hash, checked, put_checksum};
use super::disk::{Disk, DiskFile, read_up_to};
use super::frame::{self, Frame};
use super::head::{Head, Position, TAIL, read_mark};
use std::io;
use std::sync::Arc;

/// The folder.
pub(super) const DIR: &str = "journal";
/// Version of the stored form of journal and checkpoints.
pub(super) const FORMAT: u32 = 1;
/// Bytes before the first frame of a file.
pub(super) const HEADER_BYTES: u64 = 64;
const MAGIC: &[u8; 8] = b"MFAjrnl1";
const READ_BYTES: usize = 1024 * 1024;

/// Name of a journal file.
pub(super) fn name(segment: u64) -> String {
    format!("{DIR}/{segment:08}.log")
}

/// The numbers of the journal files, ascending.
pub(super) fn segments(disk: &dyn Disk) -> io::Result<Vec<u64>> {
    let names = disk.list(DIR)?;
    let mut numbers: Vec<u64> = names.iter().filter_map(|n| n.strip_suffix(".log")?.parse().ok()).collect();
    numbers.sort_unstable();
    Ok(numbers)
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

    /// Reads a header; `None` if it is not whole.
    pub(super) fn read(file: &dyn DiskFile) -> io::Result<Option<Self>> {
        let mut bytes = [0; HEADER_BYTES as usize];
        let read = file.read_at(0, &mut bytes)?;
        Ok(checked(&bytes[..read]).and_then(|bytes| {
            let mut cursor = Cursor(bytes);
            if cursor.take(8)? != MAGIC {
                return None;
            }
            let (format, segment, first) = (cursor.u32()?, cursor.u64()?, cursor.u64()?);
            Some(Self { format, segment, first, before: cursor.hash()? })
        }))
    }
}

/// What stands at a place of a journal file.
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
        let Some(file) = disk.open(&name(at.segment))? else { return Ok(None) };
        let (bytes, buffer) = (file.bytes()?, Vec::new());
        Ok(Some(Self {
            file,
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
        Header::read(&*self.file)
    }

    /// Where the next frame begins.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// Length of the file.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
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

/// The end of the journal, where frames are appended.
#[derive(Debug)]
pub(super) struct Journal {
    disk: Arc<dyn Disk>,
    store: Hash,
    segment_bytes: u64,
    head: Head,
    file: Open,
    tail: Option<Open>,
}

struct Open(Box<dyn DiskFile>);

impl std::fmt::Debug for Open {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Open")
    }
}

/// Makes a journal file and makes it durable, name included.
pub(super) fn begin(disk: &dyn Disk, head: &Head, segment: u64) -> io::Result<Box<dyn DiskFile>> {
    let file = disk.create(&name(segment))?;
    file.write_at(0, &Header::after(head, segment).to_bytes())?;
    file.sync_data()?;
    disk.sync_dir(DIR)?;
    Ok(file)
}

impl Journal {
    /// Goes on behind `head`; whatever lies there is cut off.
    pub(super) fn resume(
        disk: Arc<dyn Disk>,
        store: Hash,
        head: Head,
        segment_bytes: u64,
    ) -> io::Result<Self> {
        let missing = || io::Error::new(io::ErrorKind::NotFound, "the last journal file is gone");
        let file = disk.open(&name(head.at.segment))?.ok_or_else(missing)?;
        if file.bytes()? > head.at.offset {
            file.set_len(head.at.offset)?;
        }
        // What was read may only be in the memory of the system: a killed process did not sync it, or its
        // sync failed, after which the system takes the pages for written. It counts from now on, so what
        // was never acknowledged is written once more.
        let known = read_mark(&*disk, TAIL)?.map(|tail| tail.at).filter(|at| at.segment == head.at.segment);
        let mut at = known.map_or(0, |at| at.offset);
        while at < head.at.offset {
            let bytes = usize::try_from(head.at.offset - at).map_or(READ_BYTES, |left| left.min(READ_BYTES));
            let again = read_up_to(&*file, at, bytes)?;
            if again.is_empty() {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            file.write_at(at, &again)?;
            at += again.len() as u64;
        }
        file.sync_data()?;
        let tail = match disk.open(TAIL)? {
            Some(tail) => tail,
            None => disk.create(TAIL)?,
        };
        head.write(&*tail)?;
        Ok(Self { disk, store, segment_bytes, head, file: Open(file), tail: Some(Open(tail)) })
    }

    /// The end.
    pub(super) fn head(&self) -> Head {
        self.head
    }

    /// Appends the commits of a group as one frame. When this returns without an error they are durable.
    /// After an error nothing may be appended any more: what a failed sync left behind is unknown, and
    /// another sync would say that all is well. Also says where the frame begins.
    pub(super) fn append(&mut self, count: u32, commits: &[u8]) -> io::Result<(Head, Position)> {
        if self.head.at.offset >= self.segment_bytes && self.head.at.offset > HEADER_BYTES {
            let segment = self.head.at.segment + 1;
            self.file = Open(begin(&*self.disk, &self.head, segment)?);
            self.head.at = Position { segment, offset: HEADER_BYTES };
        }
        let (bytes, hash) = frame::seal(&self.store, &self.head.hash, self.head.sequence + 1, count, commits);
        let place = self.head.at;
        self.file.0.write_at(place.offset, &bytes)?;
        self.file.0.sync_data()?;
        self.head.sequence += u64::from(count);
        self.head.hash = hash;
        self.head.at.offset += bytes.len() as u64;
        if let Some(tail) = &self.tail
            && let Err(error) = self.head.write(&*tail.0)
        {
            // Nothing is lost with it but the proof that this frame was acknowledged.
            tracing::warn!(file = TAIL, %error, "the mark cannot be written and is given up");
            self.tail = None;
        }
        Ok((self.head, place))
    }
}
