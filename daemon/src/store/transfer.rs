//! A whole store from one engine into another one: page by page, with a mark of how far it has gone in the
//! target, then image by image. The copy is right if both engines have the same stream of [`super::export`],
//! to its last byte; only then the mark goes, and the target is a store.

use super::engine::{Change, Commit, Engine, Range, Space};
use super::export::{ExportError, MARK, export, image, look, named, page, spaces};
use super::objects::Draft;
use super::records::{SPACES, SYSTEM};
use super::seed::SYSTEM_ACTOR;
use crate::hex::hexadecimal;
use futures_util::stream::{self, StreamExt, TryStreamExt};
use mfa_shared::fault::Fault;
use mfa_shared::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::cell::Cell;
use std::fmt;
use std::io;

/// Key of the facts that every store has.
const FACTS: &[u8] = b"store";
/// Images that are on their way at once; they share the syncs of the disk.
const IMAGES_AT_ONCE: usize = 8;

/// How far a copy has gone; written together with the pairs that it counts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Mark {
    /// SHA-256 of the source's stream.
    source: String,
    space: u8,
    /// The last key, in hexadecimal digits.
    key: String,
    pairs: u64,
}

/// What was copied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transferred {
    /// Pairs in the stream.
    pub pairs: u64,
    /// Images in the stream.
    pub images: u64,
    /// Pairs and images that an earlier, interrupted copy had brought already.
    pub resumed: u64,
    /// SHA-256 at the end of the stream, in hexadecimal digits.
    pub sha256: String,
}

/// What a copy is about to do, or how far it has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// It reads the whole source.
    Reading,
    /// So many pairs of so many are there.
    Pairs(u64, u64),
    /// So many images of so many are there.
    Images(u64, u64),
    /// It reads the whole target, and compares.
    Comparing,
}

/// Hears of the progress.
pub type Watch<'a> = &'a dyn Fn(Progress);

/// Why a store was not copied.
#[derive(Debug)]
pub enum TransferError {
    /// The target holds something else, or the source is not whole.
    Refused(String),
    /// An engine failed; the copy can be gone on with.
    Engine(Fault),
}

impl fmt::Display for TransferError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(why) => f.write_str(why),
            Self::Engine(fault) => write!(f, "{}; the same command goes on with the copy", fault.detail),
        }
    }
}

impl std::error::Error for TransferError {}

impl From<Fault> for TransferError {
    fn from(fault: Fault) -> Self {
        Self::Engine(fault)
    }
}

impl From<ExportError> for TransferError {
    fn from(error: ExportError) -> Self {
        match error {
            ExportError::Engine(fault) => Self::Engine(fault),
            other => Self::Refused(other.to_string()),
        }
    }
}

fn refused(why: impl Into<String>) -> TransferError {
    TransferError::Refused(why.into())
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes().chunks(2);
    digits.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}

/// Copies everything, or continues an interrupted copy of the same store.
pub async fn transfer(
    from: &dyn Engine,
    to: &dyn Engine,
    now: Timestamp,
    watch: Watch<'_>,
) -> Result<Transferred, TransferError> {
    if look(from, |view| view.get(SYSTEM, FACTS)).await?.is_none() {
        return Err(refused("there is no store to copy"));
    }
    if look(from, |view| view.get(SYSTEM, MARK)).await?.is_some() {
        return Err(refused("the store to copy is itself an unfinished copy"));
    }
    watch(Progress::Reading);
    let whole = export(from, &mut io::sink()).await?;
    let mut mark = begin(to, &whole.sha256).await?;
    let (pairs_before, first) = (mark.pairs, mark.space);
    for space in spaces().into_iter().filter(|space| space.id >= first) {
        let here = mark.space == space.id && !mark.key.is_empty();
        let mut after = if here { from_hex(&mark.key) } else { None };
        loop {
            let page = page(from, space, after.as_deref()).await?;
            let Some((last, _)) = page.last() else { break };
            mark = Mark {
                source: mark.source,
                space: space.id,
                key: hexadecimal(last),
                pairs: mark.pairs + page.len() as u64,
            };
            after = Some(last.clone());
            let pairs_of_page = page.into_iter().map(|(key, value)| put(space, key, Some(value)));
            write(to, now, pairs_of_page, Some(&mark)).await?;
            watch(Progress::Pairs(mark.pairs, whole.pairs));
        }
    }
    let images_before = copy_images(from, to, whole.images, watch).await?;
    watch(Progress::Comparing);
    let arrived = export(to, &mut io::sink()).await?;
    if arrived != whole {
        let hashes = format!("its SHA-256 is {}, that of the store {}", arrived.sha256, whole.sha256);
        return Err(refused(format!("the copy differs: {hashes}; empty the target and begin again")));
    }
    write(to, now, std::iter::empty(), None).await?;
    let (pairs, images) = (whole.pairs, whole.images);
    Ok(Transferred { pairs, images, resumed: pairs_before + images_before, sha256: whole.sha256 })
}

/// Copies the images that are not there yet; how many were.
async fn copy_images(
    from: &dyn Engine,
    to: &dyn Engine,
    all: u64,
    watch: Watch<'_>,
) -> Result<u64, TransferError> {
    let objects = to.objects();
    let done = Cell::new(0);
    let mut before = 0;
    for first in 0..=u8::MAX {
        let there = objects.list(first).await?;
        let (there, missing): (Vec<_>, Vec<_>) =
            named(from, first).await?.into_iter().partition(|hash| there.contains(hash));
        before += there.len() as u64;
        done.set(done.get() + there.len() as u64);
        let copies = missing.iter().map(|hash| async {
            let mut draft = Draft::new(objects.drafts());
            let cannot = |error| refused(format!("an image cannot be written: {error}"));
            draft.push(&image(from, hash).await?).await.map_err(cannot)?;
            objects.keep(draft).await?;
            done.set(done.get() + 1);
            watch(Progress::Images(done.get(), all));
            Ok::<_, TransferError>(())
        });
        stream::iter(copies).buffer_unordered(IMAGES_AT_ONCE).try_collect::<()>().await?;
    }
    Ok(before)
}

/// Where to begin: at the start of an empty target, or at its mark.
async fn begin(to: &dyn Engine, source: &str) -> Result<Mark, TransferError> {
    let mark = look(to, |view| view.get(SYSTEM, MARK)).await?;
    if let Some(mark) = mark {
        let mark: Mark = serde_json::from_slice(&mark)
            .map_err(|_| refused("the mark of an unfinished copy in the target cannot be read"))?;
        if mark.source != source {
            let why = "the target holds an unfinished copy of another store, or of this one before a change";
            return Err(refused(format!("{why}; empty it first")));
        }
        return Ok(mark);
    }
    for space in SPACES {
        let range = Range::prefix(b"");
        let space = *space;
        if !look(to, move |view| view.scan(space, &range, false, 1)).await?.is_empty() {
            return Err(refused("the target holds a store already; give an empty one"));
        }
    }
    Ok(Mark { source: source.to_owned(), space: 0, key: String::new(), pairs: 0 })
}

fn put(space: Space, key: Vec<u8>, value: Option<Vec<u8>>) -> Change {
    Change { space, key, value }
}

/// Writes pairs together with the mark, or removes the mark.
#[expect(clippy::expect_used, reason = "a mark has string keys only")]
async fn write(
    to: &dyn Engine,
    time: Timestamp,
    changes: impl Iterator<Item = Change>,
    mark: Option<&Mark>,
) -> Result<(), Fault> {
    let mark = mark.map(|mark| serde_json::to_vec(mark).expect("a mark is JSON"));
    let mut changes: Vec<_> = changes.chain([put(SYSTEM, MARK.to_vec(), mark)]).collect();
    changes.sort_by(|a, b| (a.space, &a.key).cmp(&(b.space, &b.key)));
    let commit = Commit { time, actor: SYSTEM_ACTOR.to_owned(), request: "migrate".to_owned(), changes };
    to.write(Box::new(move |_| Some(commit.clone()))).await
}
