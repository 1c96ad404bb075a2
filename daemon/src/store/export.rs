//! A whole store as one stream of bytes that knows no engine. `mfa migrate` compares by it what it copied.
//!
//! Version 1, all numbers little-endian:
//!
//! | bytes | |
//! |---|---|
//! | `mfa export 1`, line feed | what this is, with its version |
//! | for each pair, in the order of space and key: | |
//! | 1 | the number of its space, never 0 |
//! | 4, 4 | the lengths of key and value |
//! | | the key, the value |
//! | 0 | the end of the pairs |
//! | 8 | how many there were |
//! | for each image that a record names, in the order of its hash: | |
//! | 1 | the number 1 |
//! | 32, 4 | the SHA-256 of its bytes, and their number |
//! | | the bytes |
//! | 0 | the end of the images |
//! | 8 | how many there were |
//! | 32 | the SHA-256 of everything before |
//!
//! Spaces in `LOCAL` are left out: sessions, tokens, remembered answers. So is the mark of a copy. A stream
//! that ends early, or whose counts or hash differ, is invalid.

use super::engine::{Engine, Pair, Range, Space, View};
use super::objects::Opened;
use super::records::{IMAGE_USES, LOCAL, SPACES, SYSTEM};
use crate::hex::hexadecimal;
use mfa_shared::fault::Fault;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fmt;
use std::io::Read;
use std::sync::{Arc, Mutex, PoisonError};

/// Key of the mark of an unfinished copy, in the space of the store's own records.
pub const MARK: &[u8] = b"migration";
/// Pairs that are read at once.
const PAGE_PAIRS: usize = 256;
const HEADER: &[u8] = b"mfa export 1\n";
const END: [u8; 1] = [0];
const IMAGE: [u8; 1] = [1];

/// What a stream holds and ends with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// Its pairs.
    pub pairs: u64,
    /// Its images.
    pub images: u64,
    /// The SHA-256 at its end, in hexadecimal digits.
    pub sha256: String,
}

/// Why there is no stream of a store.
#[derive(Debug)]
pub enum ExportError {
    /// The store is not whole.
    Broken(String),
    /// Its engine failed.
    Engine(Fault),
    /// The stream cannot be written.
    Write(std::io::Error),
}

impl fmt::Display for ExportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Broken(why) => f.write_str(why),
            Self::Engine(fault) => f.write_str(&fault.detail),
            Self::Write(error) => write!(f, "the stream cannot be written: {error}"),
        }
    }
}

impl From<Fault> for ExportError {
    fn from(fault: Fault) -> Self {
        Self::Engine(fault)
    }
}

/// The spaces of the stream, in its order.
pub(super) fn spaces() -> Vec<Space> {
    let mut spaces: Vec<_> = SPACES.iter().filter(|space| !LOCAL.contains(space)).copied().collect();
    spaces.sort();
    spaces
}

/// Why an engine cannot be copied whole: it has records of a kind that this program does not know, and would
/// leave out.
pub(super) async fn unknown(engine: &dyn Engine) -> Result<Option<&'static str>, Fault> {
    let has_some = |view: &mut dyn View| {
        // The last two are the engines' own.
        for id in (0..u8::MAX - 1).filter(|id| SPACES.iter().all(|space| space.id != *id)) {
            if !view.scan(Space { id, name: "" }, &Range::prefix(b""), false, 1)?.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    };
    let why = "the store has records that this version of mfa does not know, so no copy would be whole: \
               use the version that wrote them";
    Ok(look(engine, has_some).await?.then_some(why))
}

/// Looks at one state of an engine.
#[expect(clippy::expect_used, reason = "an engine that reports success has run the work")]
pub(super) async fn look<T: Send + 'static>(
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
    seen.expect("the work was run")
}

/// The next page behind a key; the mark is no part of a store.
pub(super) async fn page(
    engine: &dyn Engine,
    space: Space,
    after: Option<&[u8]>,
) -> Result<Vec<Pair>, Fault> {
    let from = after.map_or_else(Vec::new, |after| [after, &[0]].concat());
    let range = Range { from, to: None };
    let mut pairs = look(engine, move |view| view.scan(space, &range, false, PAGE_PAIRS)).await?;
    pairs.retain(|(key, _)| space != SYSTEM || key != MARK);
    Ok(pairs)
}

/// The hashes that begin with a byte, of images that records name.
pub(super) async fn named(engine: &dyn Engine, first: u8) -> Result<BTreeSet<String>, Fault> {
    let range = Range::prefix(hexadecimal(&[first]).as_bytes());
    let entries = look(engine, move |view| view.scan(IMAGE_USES, &range, false, usize::MAX)).await?;
    let hash = |(entry, _): Pair| entry.split(|byte| *byte == 0).next().map(<[u8]>::to_vec);
    let hashes = entries.into_iter().filter_map(hash);
    Ok(hashes.filter_map(|hash| String::from_utf8(hash).ok()).collect())
}

/// The bytes of an image, which must be those of its name.
pub(super) async fn image(engine: &dyn Engine, hash: &str) -> Result<Vec<u8>, ExportError> {
    let broken = |what: &str| ExportError::Broken(format!("image {hash} is {what}: see mfa check store"));
    let opened = engine.objects().open(hash).await?.ok_or_else(|| broken("missing"))?;
    let read = tokio::task::spawn_blocking(move || match opened {
        Opened::Bytes(bytes) => Ok(bytes.to_vec()),
        Opened::File(mut file) => {
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes).map(|_| bytes)
        }
    });
    let bytes = read.await.ok().and_then(Result::ok).ok_or_else(|| broken("not readable"))?;
    if hexadecimal(&Sha256::digest(&bytes)) == hash { Ok(bytes) } else { Err(broken("damaged")) }
}

/// Length in the stream. No engine takes values of 4 GiB.
fn length(bytes: &[u8]) -> [u8; 4] {
    u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_le_bytes()
}

/// Writes pieces of a stream and adds them to its hash.
struct Sink<'w> {
    to: &'w mut (dyn std::io::Write + Send),
    hash: Sha256,
}

impl Sink<'_> {
    fn put(&mut self, pieces: &[&[u8]]) -> Result<(), ExportError> {
        for piece in pieces {
            self.hash.update(piece);
            self.to.write_all(piece).map_err(ExportError::Write)?;
        }
        Ok(())
    }
}

/// Writes the stream of a store. No one may write to the store meanwhile.
pub async fn export(
    engine: &dyn Engine,
    to: &mut (dyn std::io::Write + Send),
) -> Result<Summary, ExportError> {
    let mut sink = Sink { to, hash: Sha256::new() };
    let mut pairs = 0u64;
    let mut images = 0u64;
    if let Some(why) = unknown(engine).await? {
        return Err(ExportError::Broken(why.to_owned()));
    }
    sink.put(&[HEADER])?;
    for space in spaces() {
        let mut after: Option<Vec<u8>> = None;
        loop {
            let page = page(engine, space, after.as_deref()).await?;
            let Some((last, _)) = page.last() else { break };
            after = Some(last.clone());
            for (key, value) in &page {
                sink.put(&[&[space.id], &length(key), &length(value), key, value])?;
            }
            pairs += page.len() as u64;
        }
    }
    sink.put(&[&END, &pairs.to_le_bytes()])?;
    for first in 0..=u8::MAX {
        for hash in named(engine, first).await? {
            let bytes = image(engine, &hash).await?;
            sink.put(&[&IMAGE, &Sha256::digest(&bytes), &length(&bytes), &bytes])?;
            images += 1;
        }
    }
    sink.put(&[&END, &images.to_le_bytes()])?;
    let hash = sink.hash.clone().finalize();
    sink.to.write_all(&hash).map_err(ExportError::Write)?;
    Ok(Summary { pairs, images, sha256: hexadecimal(&hash) })
}
