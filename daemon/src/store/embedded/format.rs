//! The file `FORMAT`: which version wrote the data directory, and the identity of the store.
//!
//! The first journal file is made before it, and carries both, too: so a missing `FORMAT` beside a journal
//! is healed, and one beside nothing at all is a new store.

use super::checkpoint;
use super::codec::Hash;
use super::directory::At;
use super::disk::{Disk, JOURNAL, read_small, replace};
use super::head::{CLEAN, HEADER_BYTES, Head, Position, TAIL};
use super::options::OpenError;
use super::segment::{self, Header};
use std::io;
use std::path::Path;

/// The file.
pub(super) const NAME: &str = "FORMAT";
const TITLE: &str = "mfa data directory";
/// The form of a data directory that this program makes. It reads the earlier ones, see `upgrade`.
pub(super) const FORM: u32 = 2;

/// The end of an empty journal.
pub(super) fn genesis(store: Hash) -> Head {
    Head { sequence: 0, hash: store, at: Position { segment: 1, offset: HEADER_BYTES } }
}

fn render(store: &Hash, form: u32) -> String {
    let store: String = store.iter().map(|byte| format!("{byte:02x}")).collect();
    let program = env!("CARGO_PKG_VERSION");
    let text = format!("{TITLE}\nversion {form}\nstore {store}\nprogram {program}\n");
    format!("{text}checksum {:08x}\n", crc32fast::hash(text.as_bytes()))
}

/// Writes the file, durably.
pub(super) fn write(disk: &dyn Disk, store: &Hash, form: u32) -> io::Result<()> {
    replace(disk, "", NAME, render(store, form).as_bytes())
}

/// What `FORMAT` says.
pub(super) enum Said {
    /// The store, and the form of its directory.
    Known(Hash, u32),
    /// A later form, and the first program that wrote it.
    Later(u32, Option<String>),
}

/// Reads `FORMAT`; `None` if it is damaged. A later form keeps the first two lines, the line of the program
/// and the checksum.
fn parse(text: &str) -> Option<Said> {
    let (front, checksum) = text.rsplit_once("checksum ")?;
    if u32::from_str_radix(checksum.trim_end(), 16).ok()? != crc32fast::hash(front.as_bytes()) {
        return None;
    }
    let mut lines = front.lines();
    let form = lines.by_ref().find_map(|line| line.strip_prefix("version "))?.parse().ok()?;
    if !text.starts_with(TITLE) || form > FORM {
        let program = lines.find_map(|line| line.strip_prefix("program ")).map(str::to_owned);
        return text.starts_with(TITLE).then_some(Said::Later(form, program));
    }
    let digits = lines.next()?.strip_prefix("store ")?;
    let mut store = Hash::default();
    for (at, byte) in store.iter_mut().enumerate() {
        *byte = u8::from_str_radix(digits.get(2 * at..2 * at + 2)?, 16).ok()?;
    }
    Some(Said::Known(store, form))
}

/// What the file of a folder says, if it can be read.
pub(super) fn said(disk: &dyn Disk) -> io::Result<Option<Said>> {
    let text = read_small(disk, NAME, 4096)?;
    Ok(text.as_deref().and_then(|text| parse(std::str::from_utf8(text).ok()?)))
}

/// The form of a data directory, if it is an earlier one than that of this program.
pub fn earlier_form(dir: &Path) -> Option<u32> {
    let text = std::fs::read_to_string(dir.join(NAME)).ok()?;
    match parse(&text)? {
        Said::Known(_, form) if form < FORM => Some(form),
        _ => None,
    }
}

/// The form of the data directories of this program.
pub fn this_form() -> u32 {
    FORM
}

/// Says which store the data directory has, and its form; makes a new one in an empty directory.
pub(super) fn establish(at: &At<'_>, index: &Path) -> Result<(Hash, u32), OpenError> {
    let disk = at.disk;
    let text = at.io(NAME, read_small(disk, NAME, 4096))?;
    let said = text.as_deref().and_then(|text| parse(std::str::from_utf8(text).ok()?));
    match said {
        Some(Said::Known(store, form)) => return Ok((store, form)),
        Some(Said::Later(found, program)) => {
            return Err(OpenError::TooNew { file: at.path(NAME), found, known: FORM, program });
        }
        None => {}
    }
    at.io(JOURNAL, disk.make_dir(JOURNAL))?;
    let segments = at.io(JOURNAL, segment::segments(disk))?;
    if let Some(header) = at.io(&segment::name(1), Header::read(disk, 1))? {
        if header.format > segment::FORMAT {
            let file = at.path(&segment::name(1));
            let found = header.format;
            let known = segment::FORMAT;
            return Err(OpenError::TooNew { file, found, known, program: None });
        }
        tracing::warn!(file = NAME, "the file is missing or damaged and is written again from the journal");
        at.io(NAME, write(disk, &header.before, FORM))?;
        return Ok((header.before, FORM));
    }
    let mut others = at.io(checkpoint::DIR, disk.list(checkpoint::DIR))?;
    for mark in [TAIL, CLEAN] {
        let mark_bytes = at.io(mark, read_small(disk, mark, 1))?;
        others.extend(mark_bytes.map(|_| mark.to_owned()));
    }
    let unborn = match segments[..] {
        [] => true,
        // A first file without a whole header and without frames: its making was interrupted.
        [1] => {
            at.io(&segment::name(1), read_small(disk, &segment::name(1), 4096))?.map_or(0, |b| b.len())
                <= HEADER_BYTES as usize
        }
        _ => false,
    };
    if text.is_some() || !unborn || !others.is_empty() || index.exists() {
        return Err(at.damaged(NAME, "it cannot be read, and neither can the first journal file".to_owned()));
    }
    let mut store = Hash::default();
    let drawn = getrandom::fill(&mut store).map_err(io::Error::other);
    at.io(NAME, drawn)?;
    at.io(&segment::name(1), segment::begin(disk, &genesis(store), 1))?;
    at.io("", disk.sync_dir(""))?;
    at.io(NAME, write(disk, &store, FORM))?;
    Ok((store, FORM))
}
