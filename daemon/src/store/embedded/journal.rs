//! The end of the journal, where the writer appends.

use super::codec::Hash;
use super::disk::{Disk, DiskFile, JOURNAL, READ_BYTES, read_up_to};
use super::frame;
use super::head::{HEADER_BYTES, Head, Position, TAIL, read_mark};
use super::segment::{self, name};
use crate::store::space;
use std::io;
use std::sync::Arc;

/// The file that the journal goes on in when the present one is full. It is open before it is needed, so a
/// process that may open no more files still begins it, and it gets its number when its header is durable.
const NEXT: &str = "journal/next";
/// Space that is taken behind the end of the journal.
const RESERVE_BYTES: u64 = 4 * 1024 * 1024;

/// The end of the journal, where frames are appended.
#[derive(Debug)]
pub(super) struct Journal {
    disk: Arc<dyn Disk>,
    store: Hash,
    segment_bytes: u64,
    head: Head,
    file: Open,
    /// Up to where space of the file is taken.
    reserved: u64,
    /// The next file; `None` if it could not be made, which is tried again when it is needed.
    next: Option<Open>,
    tail: Option<Open>,
}

/// Why a group was not appended.
#[derive(Debug)]
pub(super) enum Refused {
    /// Nothing of it is there, and the next group may be tried.
    TakenBack(io::Error),
    /// Nothing may be appended any more: what a failed sync left behind is unknown, and another sync would
    /// say that all is well.
    ForGood(io::Error),
}

struct Open(Box<dyn DiskFile>);

impl std::fmt::Debug for Open {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Open")
    }
}

impl Journal {
    /// Continues after `head`, and cuts off whatever follows. On a read-only disk nothing is appended either,
    /// so what follows does no harm.
    pub(super) fn resume(
        disk: Arc<dyn Disk>,
        store: Hash,
        head: Head,
        segment_bytes: u64,
    ) -> io::Result<Self> {
        let missing = || io::Error::new(io::ErrorKind::NotFound, "the last journal file is gone");
        let file = disk.open(&name(head.at.segment))?.ok_or_else(missing)?;
        if disk.is_read_only() {
            let file = Open(file);
            let reserved = 0;
            let next = None;
            let tail = None;
            return Ok(Self { disk, store, segment_bytes, head, file, reserved, next, tail });
        }
        if file.bytes()? > head.at.offset {
            file.set_len(head.at.offset)?;
        }
        // What was read may only be in the memory of the system: a killed process did not sync it, or its
        // sync failed, after which the system takes the pages for written. It counts from now on, so what was
        // never acknowledged is written again.
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
        let made = || disk.open(TAIL)?.map_or_else(|| disk.create(TAIL), Ok);
        let tail = match made().and_then(|tail| head.write(&*tail).map(|()| Open(tail))) {
            Err(error) if !space::is_full(&error) => return Err(error),
            made => made.ok(),
        };
        let next = disk.create(NEXT).ok().map(Open);
        Ok(Self { disk, store, segment_bytes, head, file: Open(file), reserved: 0, next, tail })
    }

    /// The end.
    pub(super) fn head(&self) -> Head {
        self.head
    }

    /// Appends the commits of a group as one frame. When this returns without an error they are durable.
    /// Also says where the frame begins.
    pub(super) fn append(&mut self, count: u32, commits: &[u8]) -> Result<(Head, Position), Refused> {
        if self.disk.is_read_only() {
            return Err(Refused::TakenBack(io::ErrorKind::ReadOnlyFilesystem.into()));
        }
        if self.head.at.offset >= self.segment_bytes && self.head.at.offset > HEADER_BYTES {
            self.follow()?;
        }
        let (bytes, hash) = frame::seal(&self.store, &self.head.hash, self.head.sequence + 1, count, commits);
        let place = self.head.at;
        self.reserve(place.offset + bytes.len() as u64);
        self.file.0.write_at(place.offset, &bytes).map_err(|error| self.take_back(error))?;
        self.file.0.sync_data().map_err(Refused::ForGood)?;
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

    /// Goes on in the next file. If that cannot be begun (no space, no file may be opened), the last one
    /// just becomes longer.
    fn follow(&mut self) -> Result<(), Refused> {
        let segment = self.head.at.segment + 1;
        let file = match self.prepare(segment) {
            Ok(file) => file,
            Err(error) => {
                tracing::warn!(%error, segment, "no further journal file can be made; the last one goes on");
                return Ok(());
            }
        };
        file.0.sync_data().map_err(Refused::ForGood)?;
        if let Err(error) = self.disk.rename(NEXT, &name(segment)) {
            tracing::warn!(%error, segment, "the next journal file gets no name; the last one goes on");
            let removed = self.disk.remove(&name(segment));
            return removed.and_then(|()| self.disk.sync_dir(JOURNAL)).map_err(Refused::ForGood);
        }
        self.disk.sync_dir(JOURNAL).map_err(Refused::ForGood)?;
        // Gives back the space behind its end.
        let _ = self.file.0.set_len(self.head.at.offset);
        (self.file, self.reserved) = (file, 0);
        self.head.at = Position { segment, offset: HEADER_BYTES };
        self.next = self.disk.create(NEXT).ok().map(Open);
        Ok(())
    }

    /// The next file with its header, under its name for the time before it counts.
    fn prepare(&mut self, segment: u64) -> io::Result<Open> {
        let file = match self.next.take() {
            Some(file) => file,
            None => Open(self.disk.create(NEXT)?),
        };
        segment::write_header(&*file.0, &self.head, segment)?;
        Ok(file)
    }

    /// Keeps space behind the end, so that others who fill the disk do not stop the journal at once.
    fn reserve(&mut self, end: u64) {
        if end + RESERVE_BYTES / 2 > self.reserved {
            let from = self.reserved.max(self.head.at.offset);
            let to = end + RESERVE_BYTES;
            // Without it, the write itself finds out whether there is space.
            if self.file.0.reserve(from, to - from).is_ok() {
                self.reserved = to;
            }
        }
    }

    /// Takes back what a refused write left, durably, so that the file ends with its last good frame.
    fn take_back(&mut self, error: io::Error) -> Refused {
        self.reserved = 0;
        let cut = self.file.0.set_len(self.head.at.offset).and_then(|()| self.file.0.sync_data());
        match cut {
            Ok(()) => Refused::TakenBack(error),
            Err(error) => Refused::ForGood(error),
        }
    }
}
