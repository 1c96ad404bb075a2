//! Opening: what the files say is compared, torn ends are cut, and the index is brought up to the journal.
//!
//! The journal decides. Everything else that knows how far it went (the mark of the tail, the mark of a
//! clean stop, checkpoints, the index) is a claim: if the journal ends before one, acknowledged writes are
//! missing, and the engine refuses to open rather than to forget them.

use super::away::Away;
use super::begin::begin;
use super::checkpoint::{self, Checkpoint};
use super::claims::{Claim, claims, compare};
use super::codec::Hash;
use super::directory::At;
use super::disk::{Disk, JOURNAL};
use super::format::{establish, genesis};
use super::head::{CLEAN, HEADER_BYTES, Head, Position};
use super::journal::Journal;
use super::options::{OpenError, Options};
use super::packer;
use super::pairs::Pairs;
use super::places::Places;
use super::reach::Reach;
use super::replay::Replay;
use super::scan::{Scan, Scanner};
use super::segment::{self, Header};
use super::tree::Sick;
use crate::store::engine::Trouble;
use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// What was found on opening.
pub(super) struct Recovered {
    pub(super) store: Hash,
    /// The form of the data directory.
    pub(super) form: u32,
    pub(super) pairs: Pairs,
    /// Where the index is, if the disk has no space for it.
    pub(super) away: Option<Away>,
    pub(super) journal: Journal,
    /// Behind what the journal begins.
    pub(super) begins: Head,
    pub(super) scan: Scan,
    /// Whether the index is too large to be verified before opening.
    pub(super) index_unverified: bool,
    /// Bytes of the journal behind the newest checkpoint, and those that were compressed in it.
    pub(super) grown_bytes: u64,
    pub(super) checkpoint_bytes: u64,
    /// What was put right.
    pub(super) healed: Vec<Trouble>,
}

/// Opens everything, or returns why not.
pub(super) fn recover(options: &Options, disk: &Arc<dyn Disk>) -> Result<Recovered, OpenError> {
    let at = At { disk: &**disk, dir: &options.dir };
    let index_dir = options.dir.join("index");
    let (store, form) = establish(&at, &index_dir)?;
    remove_drafts(&at)?;
    let mut sick = None;
    let mut healed = Vec::new();
    let mut away = away(&at, &store)?;
    let found = if away.is_some() { Ok(None) } else { open_index(&index_dir, options) };
    let found = found.unwrap_or_else(|why| {
        sick = Some(why);
        None
    });
    let checkpoints = at.io(checkpoint::DIR, checkpoint::list(at.disk))?;
    let claims = claims(&at, found.as_ref().map(|(_, reach)| reach), &checkpoints)?;
    let wanted: BTreeSet<u64> = claims.iter().filter_map(|c| Some(c.head?.sequence)).collect();

    let journal_bytes = journal_bytes(&at, 0)?;
    let newest = checkpoints.first().map(|checkpoint| checkpoint.from);
    let begins = at.io(JOURNAL, begin(at.disk, store))?;
    let is_large = journal_bytes > options.verify_bytes;
    let checkpoint = newest.filter(|newest| is_large && newest.sequence >= begins.sequence);
    let reached = found.as_ref().map(|(_, reach)| reach.head);
    let reached = reached.filter(|head| is_large && head.sequence > begins.sequence);
    let stop = &|| false;
    let scanner = Scanner { at: &at, store: &store, begins: &begins, wanted: &wanted, until: u64::MAX, stop };
    let verification = Verification { scanner, claims: &claims };
    let all_needed = checkpoint.unwrap_or(begins);
    let mut scan = verification.run(reached, all_needed)?;

    warn_of_torn_end(&scan);
    let journal = at.io(JOURNAL, resume(disk, store, &scan, options.segment_bytes))?;
    let grown_bytes = match newest {
        None => journal_bytes,
        Some(head) => journal_bytes_after(&at, &head)?,
    };

    let replay = Replay { at: &at, disk, store, begins: &begins, scan: &scan };
    let accepted = found.map(|found| replay.accept(found, options.verify_bytes));
    let (pairs, index_unverified) = match accepted {
        Some(Ok(accepted)) => accepted,
        not => {
            let why = not.and_then(Result::err).or(sick);
            let is_missing = scan.end.sequence > 0 && away.is_none();
            healed.extend(why.or(is_missing.then(|| "it is missing".to_owned())).map(made_anew));
            if scan.start.sequence > all_needed.sequence {
                scan = verification.run_from(all_needed)?;
            }
            let replay = Replay { at: &at, disk, store, begins: &begins, scan: &scan };
            (rebuild(&replay, options, &checkpoints, &index_dir, &mut away)?, false)
        }
    };
    if !disk.is_read_only() {
        at.io(CLEAN, disk.remove(CLEAN))?;
    }
    let checkpoint_bytes = checkpoints.first().map_or(0, |checkpoint| checkpoint.plain_bytes);
    Ok(Recovered {
        store,
        form,
        pairs,
        away,
        journal,
        begins,
        scan,
        index_unverified,
        grown_bytes,
        checkpoint_bytes,
        healed,
    })
}

/// What is put right where the index cannot be used.
fn made_anew(why: Sick) -> Trouble {
    tracing::warn!(why, "the index cannot be used and is made anew");
    Trouble { file: "index".to_owned(), why: format!("{why}; it was made anew from the journal") }
}

/// Removes what a stop in the middle of the work left unfinished.
fn remove_drafts(at: &At<'_>) -> Result<(), OpenError> {
    if at.disk.is_read_only() {
        return Ok(());
    }
    at.io(checkpoint::DIR, checkpoint::remove_draft(at.disk))?;
    at.io(JOURNAL, packer::remove_draft(at.disk))
}

fn warn_of_torn_end(scan: &Scan) {
    if let Some(why) = scan.torn {
        let file = segment::name(scan.end.at.segment);
        let byte = scan.end.at.offset;
        tracing::warn!(file, byte, why, "the unfinished end of the journal is cut off");
    }
}

/// Rebuilds the index: in its folder, or in memory where the disk has no space for it.
fn rebuild(
    replay: &Replay<'_>,
    options: &Options,
    checkpoints: &[Checkpoint],
    index_dir: &Path,
    away: &mut Option<Away>,
) -> Result<Pairs, OpenError> {
    let why = match away {
        Some(away) => return replay.rebuild(&away.index(), options, checkpoints),
        None => match replay.rebuild(index_dir, options, checkpoints) {
            Ok(pairs) => return Ok(pairs),
            Err(why) => why,
        },
    };
    // The disk had some space, but not enough for all of it.
    tracing::warn!(%why, "the index is made anew in memory");
    let instead = away.insert(replay.at.io("", Away::make(&replay.store))?);
    replay.rebuild(&instead.index(), options, checkpoints)
}

/// A place for the index where the disk takes nothing: to open it is to write to it.
fn away(at: &At<'_>, store: &Hash) -> Result<Option<Away>, OpenError> {
    Away::sweep(store);
    if at.disk.above_reserve() > 0 {
        return Ok(None);
    }
    let made = Away::make(store);
    if let Ok(away) = &made {
        let dir = away.place().display();
        let why = if at.disk.is_read_only() { "mounted for reading only" } else { "full" };
        tracing::warn!(%dir, "the disk of the store is {why}: the index is made anew in memory");
    }
    at.io("", made.map(Some))
}

/// The index as it is, if there is one; why it cannot be used, if it cannot be opened or does not know how
/// far it goes.
fn open_index(dir: &Path, options: &Options) -> Result<Option<(Pairs, Reach)>, Sick> {
    if !dir.exists() {
        return Ok(None);
    }
    let pairs = Pairs::open(dir, options.cache_bytes)?;
    let reach = pairs.reach().ok_or_else(|| "it is empty or was not finished".to_owned())?;
    Ok(Some((pairs, reach)))
}

/// The verification of the journal, and of what is known of its end.
struct Verification<'a> {
    scanner: Scanner<'a>,
    claims: &'a [Claim],
}

impl Verification<'_> {
    /// Verifies a long journal from the file on in which the index ends, and any other from `all_needed` on.
    /// What is before is verified after opening, beside those who work. Where the index is wrong about the
    /// journal, what is found from `all_needed` on counts.
    fn run(&self, reached: Option<Head>, all_needed: Head) -> Result<Scan, OpenError> {
        let quick = reached.and_then(|head| beginning(self.scanner.at, &head));
        match quick.filter(|start| start.sequence > all_needed.sequence).map(|start| self.run_from(start)) {
            Some(Ok(scan)) => Ok(scan),
            Some(Err(_)) | None => self.run_from(all_needed),
        }
    }

    fn run_from(&self, start: Head) -> Result<Scan, OpenError> {
        let Scanner { at, begins, .. } = self.scanner;
        let mut scan = self.scanner.run(start)?;
        compare(at, &scan, self.claims)?;
        scan.places = places_before(at, begins, &scan.start)?.then(scan.places);
        Ok(scan)
    }
}

/// The beginning of the journal file in which a head is. Where it begins that file, of the one before, which
/// says, if it was packed, that there was a commit in this one.
fn beginning(at: &At<'_>, head: &Head) -> Option<Head> {
    let segment = if head.at.offset > HEADER_BYTES { head.at.segment } else { head.at.segment - 1 };
    let header = Header::read(at.disk, segment).ok()??;
    let begins = Position { segment, offset: HEADER_BYTES };
    Some(Head { sequence: header.first.checked_sub(1)?, hash: header.before, at: begins })
}

/// The beginnings of the files that were not verified on opening.
fn places_before(at: &At<'_>, begins: &Head, start: &Head) -> Result<Places, OpenError> {
    let mut places = Places::default();
    for segment in begins.at.segment..=start.at.segment {
        let name = segment::name(segment);
        if start.sequence > 0
            && let Some(header) = at.io(&name, Header::read(at.disk, segment))?
        {
            places.note(header.first, Position { segment, offset: HEADER_BYTES });
        }
    }
    Ok(places)
}

/// The length of the journal as it was written.
fn journal_bytes(at: &At<'_>, from_segment: u64) -> Result<u64, OpenError> {
    let mut bytes = 0;
    for segment in at.io(JOURNAL, segment::segments(at.disk))? {
        let name = segment::name(segment);
        if segment >= from_segment
            && let Some((file, _)) = at.io(&name, segment::open(at.disk, segment))?
        {
            bytes += at.io(&name, file.bytes())?;
        }
    }
    Ok(bytes)
}

fn journal_bytes_after(at: &At<'_>, head: &Head) -> Result<u64, OpenError> {
    Ok(journal_bytes(at, head.at.segment)?.saturating_sub(head.at.offset))
}

/// Cuts what is behind the end and opens the journal there.
fn resume(disk: &Arc<dyn Disk>, store: Hash, scan: &Scan, segment_bytes: u64) -> io::Result<Journal> {
    if disk.is_read_only() {
        return Journal::resume(disk.clone(), store, scan.end, segment_bytes);
    }
    match scan.unborn {
        None => {}
        Some(1) => {
            disk.make_dir(JOURNAL)?;
            segment::begin(&**disk, &genesis(store), 1)?;
            disk.sync_dir("")?;
        }
        Some(segment) => disk.remove(&segment::name(segment))?,
    }
    // A file that a killed process made may not have a durable name yet.
    disk.sync_dir(JOURNAL)?;
    Journal::resume(disk.clone(), store, scan.end, segment_bytes)
}
