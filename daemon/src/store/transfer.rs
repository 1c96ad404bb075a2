//! A whole store from one engine into another one.
//!
//! Both are looked at as one stream that knows no engine, version 1: the line `mfa export 1`; then for each
//! pair, in the order of space and key, the number of its space (one byte), the length of the key and of
//! the value (four bytes each, little-endian), the key and the value; then a zero byte (no space has that
//! number), the count of pairs (eight bytes, little-endian) and the SHA-256 of everything before it. Spaces
//! in `LOCAL` are left out. The copy is right if both engines have the same stream, to its last byte.

use super::engine::{Change, Commit, Engine, Pair, Range, Space, View};
use super::records::{LOCAL, SPACES, SYSTEM};
use super::seed::SYSTEM_ACTOR;
use mfa_shared::fault::Fault;
use mfa_shared::time::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// Key of the mark of an unfinished copy, in the space of the store's own records.
pub const MARK: &[u8] = b"migration";
/// Key of the facts that every store has.
const FACTS: &[u8] = b"store";
/// Pairs that are read and written at once.
const PAGE_PAIRS: usize = 256;
const HEADER: &[u8] = b"mfa export 1\n";

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
    /// Pairs that an earlier, interrupted copy had brought already.
    pub resumed: u64,
    /// SHA-256 at the end of the stream, in hexadecimal digits.
    pub sha256: String,
}

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

fn refused(why: impl Into<String>) -> TransferError {
    TransferError::Refused(why.into())
}

/// The spaces of the stream, in its order.
fn spaces() -> Vec<Space> {
    let mut spaces: Vec<_> = SPACES.iter().filter(|space| !LOCAL.contains(space)).copied().collect();
    spaces.sort();
    spaces
}

async fn look<T: Send + 'static>(
    engine: &dyn Engine,
    mut work: impl FnMut(&mut dyn View) -> Result<T, Fault> + Send + 'static,
) -> Result<T, Fault> {
    let slot = Arc::new(Mutex::new(None));
    let filled = slot.clone();
    let work = move |view: &mut dyn View| {
        *filled.lock().unwrap_or_else(PoisonError::into_inner) = Some(work(view));
    };
    engine.read(Box::new(work), true).await?;
    let seen = slot.lock().unwrap_or_else(PoisonError::into_inner).take();
    // An engine that reports success has run the work.
    seen.expect("the work was run")
}

/// The next page behind a key; the mark is no part of a store.
async fn page(engine: &dyn Engine, space: Space, after: Option<&[u8]>) -> Result<Vec<Pair>, Fault> {
    let from = after.map_or_else(Vec::new, |after| [after, &[0]].concat());
    let range = Range { from, to: None };
    let mut pairs = look(engine, move |view| view.scan(space, &range, false, PAGE_PAIRS)).await?;
    pairs.retain(|(key, _)| space != SYSTEM || key != MARK);
    Ok(pairs)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes().chunks(2);
    digits.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}

/// Length in the stream. No engine takes values of 4 GiB.
fn length(bytes: &[u8]) -> [u8; 4] {
    u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_le_bytes()
}

/// The last bytes of an engine's stream: its SHA-256, and the count of pairs before.
async fn digest(engine: &dyn Engine) -> Result<(String, u64), Fault> {
    let (mut hash, mut count) = (Sha256::new_with_prefix(HEADER), 0u64);
    for space in spaces() {
        let mut after: Option<Vec<u8>> = None;
        loop {
            let pairs = page(engine, space, after.as_deref()).await?;
            for (key, value) in &pairs {
                hash.update([space.id]);
                hash.update(length(key));
                hash.update(length(value));
                hash.update(key);
                hash.update(value);
            }
            count += pairs.len() as u64;
            match pairs.last() {
                Some((last, _)) => after = Some(last.clone()),
                None => break,
            }
        }
    }
    hash.update([0]);
    hash.update(count.to_le_bytes());
    Ok((hex(&hash.finalize()), count))
}

/// Copies everything, or goes on where an interrupted copy of the same store ended. `progress` hears of
/// each page how many pairs of how many are there.
pub async fn transfer(
    from: &dyn Engine,
    to: &dyn Engine,
    now: Timestamp,
    progress: &dyn Fn(u64, u64),
) -> Result<Transferred, TransferError> {
    if look(from, |view| view.get(SYSTEM, FACTS)).await?.is_none() {
        return Err(refused("there is no store to copy"));
    }
    if look(from, |view| view.get(SYSTEM, MARK)).await?.is_some() {
        return Err(refused("the store to copy is itself an unfinished copy"));
    }
    let (sha256, pairs) = digest(from).await?;
    let mut mark = begin(to, &sha256).await?;
    let (resumed, first) = (mark.pairs, mark.space);
    for space in spaces().into_iter().filter(|space| space.id >= first) {
        let here = mark.space == space.id && !mark.key.is_empty();
        let mut after = if here { from_hex(&mark.key) } else { None };
        loop {
            let page = page(from, space, after.as_deref()).await?;
            let Some((last, _)) = page.last() else { break };
            mark = Mark {
                source: mark.source,
                space: space.id,
                key: hex(last),
                pairs: mark.pairs + page.len() as u64,
            };
            after = Some(last.clone());
            let pairs_of_page = page.into_iter().map(|(key, value)| put(space, key, Some(value)));
            write(to, now, pairs_of_page, Some(&mark)).await?;
            progress(mark.pairs, pairs);
        }
    }
    let (arrived, _) = digest(to).await?;
    if arrived != sha256 {
        let why = format!("the copy differs: its SHA-256 is {arrived}, that of the store {sha256}");
        return Err(refused(format!("{why}; empty the target and begin again")));
    }
    write(to, now, std::iter::empty(), None).await?;
    Ok(Transferred { pairs, resumed, sha256 })
}

/// Where to begin: at the start of an empty target, or where the mark says.
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
async fn write(
    to: &dyn Engine,
    time: Timestamp,
    changes: impl Iterator<Item = Change>,
    mark: Option<&Mark>,
) -> Result<(), Fault> {
    // A mark has string keys only.
    let mark = mark.map(|mark| serde_json::to_vec(mark).expect("a mark is JSON"));
    let mut changes: Vec<_> = changes.chain([put(SYSTEM, MARK.to_vec(), mark)]).collect();
    changes.sort_by(|a, b| (a.space, &a.key).cmp(&(b.space, &b.key)));
    let commit = Commit { time, actor: SYSTEM_ACTOR.to_owned(), request: "migrate".to_owned(), changes };
    to.write(Box::new(move |_| Some(commit.clone()))).await
}
