//! Reading the journal from some commit on.

use super::codec::Hash;
use super::disk::Disk;
use super::frame::Frame;
use super::head::{HEADER_BYTES, Position};
use super::segment::{Reader, Step, name};
use super::shared::Shared;
use crate::store::engine::{Commit, Trouble};
use mfa_shared::fault::{Fault, UNAVAILABLE};
use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

/// Frames one after the other, over the ends of files.
pub(super) struct Frames {
    disk: Arc<dyn Disk>,
    store: Hash,
    at: Position,
    reader: Option<Reader>,
}

impl Frames {
    pub(super) fn new(disk: Arc<dyn Disk>, store: Hash, at: Position) -> Self {
        Self { disk, store, at, reader: None }
    }

    /// Behind the last frame.
    pub(super) fn at(&self) -> Position {
        self.at
    }

    /// The next frame, before `end`.
    pub(super) fn next(&mut self, end: Position) -> Result<Option<Frame>, Trouble> {
        while self.at < end {
            let trouble = |why: String| Trouble { file: name(self.at.segment), why };
            let reader = match &mut self.reader {
                Some(reader) if reader.offset() < reader.bytes() => reader,
                // Opened anew at its known end, a file that has grown meanwhile shows its new length.
                slot => {
                    let opened = Reader::open(&*self.disk, &self.store, self.at);
                    let opened = opened.map_err(|error| trouble(error.to_string()))?;
                    let mut opened = opened.ok_or_else(|| trouble("the file is missing".to_owned()))?;
                    // After the end there may be half a frame that is still being written.
                    if self.at.segment == end.segment {
                        opened.end_at(end.offset);
                    }
                    slot.insert(opened)
                }
            };
            let step = reader.next().map_err(|error| trouble(error.to_string()))?;
            match step {
                Step::Frame(frame) => {
                    self.at.offset = reader.offset();
                    return Ok(Some(frame));
                }
                Step::Bad { why, .. } => return Err(trouble(format!("{why} at byte {}", self.at.offset))),
                Step::End if self.at.segment < end.segment => {
                    self.at = Position { segment: self.at.segment + 1, offset: HEADER_BYTES };
                    self.reader = None;
                }
                Step::End => return Err(trouble(format!("the file ends at byte {}", self.at.offset))),
            }
        }
        Ok(None)
    }
}

/// The committed transactions from some sequence on, up to those that were committed when it is read.
pub struct Feed {
    shared: Arc<Shared>,
    frames: Frames,
    after: u64,
    waiting: VecDeque<(u64, Commit)>,
    failed: bool,
}

impl fmt::Debug for Feed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Feed").field("after", &self.after).finish_non_exhaustive()
    }
}

impl Feed {
    pub(super) fn new(shared: Arc<Shared>, after: u64) -> Self {
        let at = shared.place_before(after.saturating_add(1));
        let frames = Frames::new(shared.disk.clone(), shared.store, at);
        Self { shared, frames, after, waiting: VecDeque::new(), failed: false }
    }
}

impl Iterator for Feed {
    type Item = Result<(u64, Commit), Fault>;

    fn next(&mut self) -> Option<Self::Item> {
        let begins = self.shared.begins().sequence;
        if self.after < begins && !self.failed && self.waiting.is_empty() {
            self.failed = true;
            let why =
                format!("the journal begins with commit {}; the older ones are in its archive", begins + 1);
            return Some(Err(Fault::new(UNAVAILABLE, why)));
        }
        while self.waiting.is_empty() && !self.failed {
            let end = self.shared.head().at;
            match self.frames.next(end) {
                Ok(None) => return None,
                Ok(Some(frame)) => {
                    let commits = (frame.first..).zip(frame.commits);
                    self.waiting.extend(commits.filter(|(sequence, _)| *sequence > self.after));
                }
                Err(trouble) => {
                    self.failed = true;
                    tracing::error!(file = trouble.file, why = trouble.why, "the journal cannot be read");
                    return Some(Err(Fault::new(UNAVAILABLE, "the journal cannot be read at present")));
                }
            }
        }
        let (sequence, commit) = self.waiting.pop_front()?;
        self.after = sequence;
        Some(Ok((sequence, commit)))
    }
}
