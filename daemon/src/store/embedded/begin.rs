//! Where the journal of a data directory begins: with the first commit, or behind files that are in an
//! archive.
//!
//! The mark is durable before the first of these files is removed. Whatever was removed by then, the rest is
//! whole from the mark on; and as long as all files are there, or are put back, the journal begins at its
//! first commit.

use super::codec::Hash;
use super::disk::{Disk, JOURNAL, read_small, replace};
use super::format::genesis;
use super::head::{Head, read_mark};
use super::segment;
use std::io;

/// The mark: the head behind which the journal goes on.
const NAME: &str = "journal/begin";

/// The head behind which the journal begins; that of an empty journal, if nothing was archived.
pub(super) fn begin(disk: &dyn Disk, store: Hash) -> io::Result<Head> {
    let whole =
        segment::segments(disk)?.into_iter().zip(1..).take_while(|(number, expected)| number == expected);
    let whole = whole.count() as u64;
    let Some(mark) = read_mark(disk, NAME)? else {
        return match read_small(disk, NAME, 1)? {
            Some(_) => Err(io::Error::new(io::ErrorKind::InvalidData, format!("{NAME} cannot be read"))),
            None => Ok(genesis(store)),
        };
    };
    Ok(if whole >= mark.at.segment { genesis(store) } else { mark })
}

/// Sets the mark, durably.
pub(super) fn set(disk: &dyn Disk, head: &Head) -> io::Result<()> {
    replace(disk, JOURNAL, NAME, &head.to_mark())
}
