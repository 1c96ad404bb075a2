//! The commits of a journal that is only read, each verified before it is handed over.

use super::codec::Hash;
use super::head::{HEADER_BYTES, Head, Position};
use super::past_files::Files;
use super::segment::{FORMAT, Reader, Step};
use crate::store::engine::Commit;
use std::collections::VecDeque;

/// What comes next in a journal.
pub(super) enum Next {
    /// A commit, with its sequence.
    Commit(u64, Commit),
    /// Nothing more; why not, if that is not simply its end.
    End(Option<String>),
}

/// The commits of a journal, one after the other.
pub(super) struct Commits<'p> {
    files: &'p Files,
    store: Hash,
    head: Head,
    last: u64,
    reader: Option<Reader>,
    waiting: VecDeque<(u64, Commit)>,
}

impl<'p> Commits<'p> {
    /// Begins behind `head`; `last` is the last file.
    pub(super) fn behind(files: &'p Files, store: Hash, head: Head, last: u64) -> Self {
        Self { files, store, head, last, reader: None, waiting: VecDeque::new() }
    }

    /// What comes next.
    pub(super) fn step(&mut self) -> Next {
        loop {
            if let Some((sequence, commit)) = self.waiting.pop_front() {
                return Next::Commit(sequence, commit);
            }
            let Position { segment, offset } = self.head.at;
            let damaged = |why: &str| format!("{} is damaged: {why}", self.files.path(segment));
            match self.frame() {
                Ok(Step::Frame(frame)) => {
                    let follows = frame.first == self.head.sequence + 1 && frame.before == self.head.hash;
                    if !follows {
                        let why = format!("the frame at byte {offset} does not follow the one before");
                        return Next::End(Some(damaged(&why)));
                    }
                    let at = Position { segment, offset: offset + frame.bytes };
                    self.head = Head { sequence: frame.last(), hash: frame.hash, at };
                    self.waiting = (frame.first..).zip(frame.commits).collect();
                }
                Ok(Step::End) if segment < self.last => {
                    self.head.at = Position { segment: segment + 1, offset: HEADER_BYTES };
                    self.reader = None;
                }
                Ok(Step::End) => return Next::End(None),
                Ok(Step::Bad { why, .. }) => {
                    return Next::End(Some(damaged(&format!("{why} at byte {offset}"))));
                }
                Err(why) => return Next::End(Some(damaged(&why))),
            }
        }
    }

    /// The next frame of the present file, whose header is verified first.
    fn frame(&mut self) -> Result<Step, String> {
        if let Some(reader) = &mut self.reader {
            return reader.next().map_err(|error| error.to_string());
        }
        let head = self.head;
        let opened = Reader::open(self.files, &self.store, head.at).map_err(|error| error.to_string())?;
        let mut reader = opened.ok_or("the file is missing")?;
        match reader.header().map_err(|error| error.to_string())? {
            // It was only being made when the machine stopped.
            None if head.at.segment == self.last && reader.bytes() <= HEADER_BYTES => return Ok(Step::End),
            None => return Err("its first bytes are not those of a journal file".to_owned()),
            Some(header) if header.format > FORMAT => {
                return Err("it was written by a later version of mfa: use that one".to_owned());
            }
            Some(header)
                if header.segment != head.at.segment
                    || header.first != head.sequence + 1
                    || header.before != head.hash =>
            {
                return Err("it does not follow the file before".to_owned());
            }
            Some(_) => {}
        }
        let step = reader.next().map_err(|error| error.to_string());
        self.reader = Some(reader);
        step
    }
}
