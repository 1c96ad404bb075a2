//! The file `FORMAT`: which version wrote the data directory, and the identity of the store.
//!
//! The first journal file is made before it, and carries both, too: so a missing `FORMAT` beside a journal
//! is healed, and one beside nothing at all is a new store.

use super::checkpoint;
use super::codec::Hash;
use super::disk::{read_small, replace};
use super::head::{CLEAN, Head, Position, TAIL};
use super::options::OpenError;
use super::recover::At;
use super::segment::{self, FORMAT, HEADER_BYTES, Header};
use std::path::Path;

const NAME: &str = "FORMAT";
const TITLE: &str = "mfa data directory";

/// The end of an empty journal.
pub(super) fn genesis(store: Hash) -> Head {
    Head { sequence: 0, hash: store, at: Position { segment: 1, offset: HEADER_BYTES } }
}

fn render(store: &Hash) -> String {
    let store: String = store.iter().map(|byte| format!("{byte:02x}")).collect();
    let text = format!("{TITLE}\nversion {FORMAT}\nstore {store}\n");
    format!("{text}checksum {:08x}\n", crc32fast::hash(text.as_bytes()))
}

/// What `FORMAT` says; `None` if it is damaged. A later version keeps the first two lines and the checksum.
fn parse(text: &str) -> Option<Result<Hash, u32>> {
    let (front, checksum) = text.rsplit_once("checksum ")?;
    if u32::from_str_radix(checksum.trim_end(), 16).ok()? != crc32fast::hash(front.as_bytes()) {
        return None;
    }
    let mut lines = front.lines();
    let version = lines.by_ref().find_map(|line| line.strip_prefix("version "))?.parse().ok()?;
    if !text.starts_with(TITLE) || version > FORMAT {
        return text.starts_with(TITLE).then_some(Err(version));
    }
    let digits = lines.next()?.strip_prefix("store ")?;
    let mut store = Hash::default();
    for (at, byte) in store.iter_mut().enumerate() {
        *byte = u8::from_str_radix(digits.get(2 * at..2 * at + 2)?, 16).ok()?;
    }
    Some(Ok(store))
}

/// Says which store the data directory has, and makes a new one in an empty directory.
pub(super) fn establish(at: &At<'_>, index: &Path) -> Result<Hash, OpenError> {
    let disk = at.disk;
    let text = at.io(NAME, read_small(disk, NAME, 4096))?;
    let said = text.as_deref().and_then(|text| parse(std::str::from_utf8(text).ok()?));
    match said {
        Some(Ok(store)) => return Ok(store),
        Some(Err(found)) => return Err(OpenError::TooNew { file: at.path(NAME), found, known: FORMAT }),
        None => {}
    }
    at.io(segment::DIR, disk.make_dir(segment::DIR))?;
    let segments = at.io(segment::DIR, segment::segments(disk))?;
    if let Some(header) = first_header(at)? {
        if header.format > FORMAT {
            let file = at.path(&segment::name(1));
            return Err(OpenError::TooNew { file, found: header.format, known: FORMAT });
        }
        tracing::warn!(file = NAME, "the file is missing or damaged and is written again from the journal");
        at.io(NAME, replace(disk, "", NAME, render(&header.before).as_bytes()))?;
        return Ok(header.before);
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
    let drawn = getrandom::fill(&mut store).map_err(std::io::Error::other);
    at.io(NAME, drawn)?;
    at.io(&segment::name(1), segment::begin(disk, &genesis(store), 1))?;
    at.io("", disk.sync_dir(""))?;
    at.io(NAME, replace(disk, "", NAME, render(&store).as_bytes()))?;
    Ok(store)
}

fn first_header(at: &At<'_>) -> Result<Option<Header>, OpenError> {
    let name = segment::name(1);
    let Some(file) = at.io(&name, at.disk.open(&name))? else { return Ok(None) };
    at.io(&name, Header::read(&*file))
}
