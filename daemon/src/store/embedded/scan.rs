//! Verification of the journal: every checksum, every sequence, every link of the chain.

use super::codec::Hash;
use super::directory::At;
use super::disk::JOURNAL;
use super::head::{HEADER_BYTES, Head, Position};
use super::options::OpenError;
use super::places::Places;
use super::segment::{self, FORMAT, Reader, Step};
use std::collections::{BTreeMap, BTreeSet};

/// What a verification found.
#[derive(Debug)]
pub(super) struct Scan {
    /// The end of the right frames.
    pub(super) end: Head,
    /// What follows the end, if anything: the rest of a write that was never acknowledged.
    pub(super) torn: Option<&'static str>,
    /// A last file without a whole header and without frames, or the first file if it is missing.
    pub(super) unborn: Option<u64>,
    /// The last packed file, if there is one: a commit behind it was durable before it was packed.
    pub(super) packed: Option<u64>,
    /// The heads of the wanted sequences, where a frame ends with them.
    pub(super) anchors: BTreeMap<u64, Head>,
    pub(super) places: Places,
    /// Where the verification began.
    pub(super) start: Head,
}

/// How to verify.
pub(super) struct Scanner<'a> {
    pub(super) at: &'a At<'a>,
    pub(super) store: &'a Hash,
    /// Where the journal begins; files before are in an archive, or are left over from archiving.
    pub(super) begins: &'a Head,
    /// Sequences whose heads are wanted.
    pub(super) wanted: &'a BTreeSet<u64>,
    /// Verification ends with this sequence, if it gets so far.
    pub(super) until: u64,
    /// Breaks it off between two files.
    pub(super) stop: &'a dyn Fn() -> bool,
}

impl Scanner<'_> {
    fn pass(&self, scan: &mut Scan, head: Head) {
        scan.end = head;
        if self.wanted.contains(&head.sequence) {
            scan.anchors.insert(head.sequence, head);
        }
    }

    /// Verifies the journal from `start` to its end.
    pub(super) fn run(&self, start: Head) -> Result<Scan, OpenError> {
        let at = self.at;
        let mut segments = self.segments()?;
        if start.sequence > 0 && !segments.contains(&start.at.segment) {
            return Err(at.damaged(&segment::name(start.at.segment), "the file is missing".to_owned()));
        }
        let mut scan = Scan {
            end: start,
            torn: None,
            unborn: segments.is_empty().then_some(1),
            packed: None,
            anchors: BTreeMap::new(),
            places: Places::default(),
            start,
        };
        self.pass(&mut scan, start);
        let mut next = start.at.segment;
        while segments.last().is_some_and(|last| next <= *last) {
            let last = segments.last() == Some(&next);
            if !self.segment(&mut scan, next, last)? || (self.stop)() {
                break;
            }
            if last && scan.packed == Some(next) {
                // Beside a daemon that writes, it was not the last one any more when it was opened.
                segments = self.segments()?;
            }
            next += 1;
        }
        Ok(scan)
    }

    /// The journal files, none of which is missing between others.
    fn segments(&self) -> Result<Vec<u64>, OpenError> {
        let mut segments = self.at.io(JOURNAL, segment::segments(self.at.disk))?;
        let first = self.begins.at.segment;
        segments.retain(|segment| *segment >= first);
        match segments.iter().zip(first..).find(|(number, expected)| *number != expected) {
            Some((_, missing)) => {
                Err(self.at.damaged(&segment::name(missing), "the file is missing".to_owned()))
            }
            None => Ok(segments),
        }
    }

    /// Verifies one file; says whether the next one follows.
    fn segment(&self, scan: &mut Scan, segment: u64, last: bool) -> Result<bool, OpenError> {
        let at = self.at;
        let name = segment::name(segment);
        let begins = segment == scan.start.at.segment;
        let offset = if begins { scan.start.at.offset } else { HEADER_BYTES };
        if !self.has_header(scan, segment, last)? {
            scan.unborn = Some(segment);
            return Ok(false);
        }
        let open = at.io(&name, Reader::open(at.disk, self.store, Position { segment, offset }))?;
        let mut reader = open.ok_or_else(|| at.damaged(&name, "the file is missing".to_owned()))?;
        if reader.is_packed() {
            scan.packed = Some(segment);
        }
        if reader.bytes() < offset {
            let why = format!("it has {} bytes, and a checkpoint was made at byte {offset}", reader.bytes());
            return Err(at.damaged(&name, why));
        }
        scan.end.at = Position { segment, offset };
        loop {
            if scan.end.sequence >= self.until {
                return Ok(false);
            }
            let place = Position { segment, offset: reader.offset() };
            match at.io(&name, reader.next())? {
                Step::End => return Ok(true),
                Step::Frame(frame) => {
                    let follows = frame.first == scan.end.sequence + 1 && frame.before == scan.end.hash;
                    #[cfg(test)]
                    let follows = follows || at.disk.flaws().chain_ignored;
                    if !follows {
                        let why =
                            format!("the frame at byte {} does not follow the one before", place.offset);
                        return Err(at.damaged(&name, why));
                    }
                    scan.places.note(frame.first, place);
                    let after = Position { segment, offset: reader.offset() };
                    self.pass(scan, Head { sequence: frame.last(), hash: frame.hash, at: after });
                }
                Step::Bad { why, torn } => {
                    if !torn || !last || reader.is_packed() || at.io(&name, reader.find_behind())?.is_some() {
                        let place = format!("{why} at byte {}, and more was written behind it", place.offset);
                        return Err(at.damaged(&name, place));
                    }
                    scan.torn = Some(why);
                    return Ok(false);
                }
            }
        }
    }

    /// Verifies the header of a file. A last file without one, and without frames, was only being made.
    fn has_header(&self, scan: &Scan, segment: u64, last: bool) -> Result<bool, OpenError> {
        let at = self.at;
        let name = segment::name(segment);
        let open = at.io(&name, Reader::open(at.disk, self.store, Position { segment, offset: 0 }))?;
        let mut reader = open.ok_or_else(|| at.damaged(&name, "the file is missing".to_owned()))?;
        let Some(header) = at.io(&name, reader.header())? else {
            if last && !reader.is_packed() && at.io(&name, reader.find_behind())?.is_none() {
                return Ok(false);
            }
            return Err(at.damaged(&name, "its first bytes are not those of a journal file".to_owned()));
        };
        if header.format > FORMAT {
            let file = at.path(&name);
            let found = header.format;
            let known = FORMAT;
            return Err(OpenError::TooNew { file, found, known, program: None });
        }
        if header.segment != segment {
            return Err(at.damaged(&name, format!("it is the file number {} of the journal", header.segment)));
        }
        if segment == scan.start.at.segment && scan.start.at.offset > HEADER_BYTES {
            return Ok(true);
        }
        if header.first > scan.end.sequence + 1 {
            let before = segment::name(segment - 1);
            let end = scan.end.sequence;
            let first = header.first;
            let why = format!("it ends with commit {end}, but the next file begins with commit {first}");
            return Err(at.damaged(if segment > 1 { &before } else { &name }, why));
        }
        let follows = header.first == scan.end.sequence + 1 && header.before == scan.end.hash;
        #[cfg(test)]
        let follows = follows || at.disk.flaws().chain_ignored;
        if follows {
            Ok(true)
        } else {
            Err(at.damaged(&name, "it does not follow the file before".to_owned()))
        }
    }
}
