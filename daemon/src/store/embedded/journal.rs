//! The end of the journal, where the writer appends.

use super::codec::Hash;
use super::disk::{Disk, DiskFile, read_up_to};
use super::frame;
use super::head::{Head, Position, TAIL, read_mark};
use super::segment::{HEADER_BYTES, READ_BYTES, begin, name};
use std::io;
use std::sync::Arc;

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
