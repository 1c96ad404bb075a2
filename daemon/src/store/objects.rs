//! Where the bytes of images lie: beside the records, so that they burden neither journal nor index.
//!
//! A record names an image by its SHA-256, and the store keeps this in order: the object is durable before
//! the record that names it commits, and it is removed only after the last such record is gone. What a
//! crash leaves in between is an object without a record, which the next start sweeps away.

use super::keys::{Pending, Range, Space};
use crate::hex::hexadecimal;
use bytes::Bytes;
use sha2::{Digest, Sha256};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write as _};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

/// Bytes of a draft that wait in memory; an image up to this size is written once, when it is kept.
const WAITING_BYTES_MAX: usize = 32 * 1024;
/// Bytes of an image that are read at once.
const PIECE_BYTES: usize = 64 * 1024;
/// Characters of a hash.
const HASH_LENGTH: usize = 64;

/// The objects of an engine, each under the SHA-256 of its bytes in lower-case hexadecimal.
///
/// An engine that several daemons share keeps objects in its database. There, [`Objects::keep`] notes the
/// time even if the object is there already, a removal and a transaction that begins to use the object
/// exclude each other, and what was kept within the last hour is left alone by a sweep: another daemon may
/// be about to commit a record that names it.
pub trait Objects: Send + Sync + std::fmt::Debug + 'static {
    /// A folder of this process for drafts.
    fn drafts(&self) -> &Path;
    /// Makes a draft an object. When this returns without a fault, the object is durable.
    fn keep(&self, draft: Draft) -> Pending<()>;
    /// Opens an object; what is removed later stays readable through what was opened.
    fn open(&self, hash: &str) -> Pending<Option<Opened>>;
    /// Removes an object, if it exists and nothing uses it. The caller has checked the latter; an engine that
    /// several daemons share checks again, in the same transaction.
    fn remove(&self, hash: &str, used_by: UsedBy) -> Pending<()>;
    /// The objects whose hash begins with this byte, in order.
    fn list(&self, first: u8) -> Pending<Vec<String>>;
    /// The bytes with which hashes of objects begin, and maybe more, in any order: there is nothing to list
    /// for the others.
    fn firsts(&self) -> Pending<Vec<u8>>;
}

/// Where the uses of an object are stored, and whether it may have been kept a moment ago.
#[derive(Debug, Clone)]
pub struct UsedBy {
    /// The space.
    pub space: Space,
    /// The keys.
    pub range: Range,
    /// Whether also a young object is removed: its last use has just ended.
    pub young: bool,
}

/// The bytes of an object.
#[derive(Debug)]
pub enum Opened {
    /// All of them.
    Bytes(Bytes),
    /// In a file.
    File(File),
}

/// Whether a text is a hash, so that it can be a name on disk.
pub fn is_hash(text: &str) -> bool {
    text.len() == HASH_LENGTH && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

/// The SHA-256 and the number of bytes.
pub fn hash_and_length(mut image: impl Read) -> io::Result<(String, u64)> {
    let mut hasher = Sha256::new();
    let mut length = 0;
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        match image.read(&mut piece)? {
            0 => return Ok((hexadecimal(&hasher.finalize()), length)),
            bytes => {
                hasher.update(&piece[..bytes]);
                length += bytes as u64;
            }
        }
    }
}

/// Bytes on their way into the store. A draft that is dropped leaves nothing behind.
pub struct Draft {
    file: Arc<DraftFile>,
    waiting: Vec<u8>,
    length: u64,
    hasher: Sha256,
}

impl std::fmt::Debug for Draft {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Draft").field("length", &self.length).finish_non_exhaustive()
    }
}

/// The file of a draft. Its writer holds it, so it is removed after the last write.
#[derive(Debug)]
struct DraftFile {
    path: PathBuf,
    begun: AtomicBool,
}

impl DraftFile {
    fn append(&self, bytes: &[u8]) -> io::Result<()> {
        self.begun.store(true, SeqCst);
        if super::space::above_reserve(self.path.parent().unwrap_or(&self.path)) < bytes.len() as u64 {
            return Err(super::space::full());
        }
        // The file is closed in between: a thousand slow uploads shall not hold a thousand open files.
        OpenOptions::new().append(true).create(true).mode(0o600).open(&self.path)?.write_all(bytes)
    }
}

impl Drop for DraftFile {
    fn drop(&mut self) {
        // A draft that was kept has another name by now.
        if self.begun.load(SeqCst) {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

impl Draft {
    /// An empty draft in a folder for drafts.
    pub fn new(dir: &Path) -> Self {
        let path = dir.join(hexadecimal(&crate::random::bytes::<16>()));
        let file = Arc::new(DraftFile { path, begun: AtomicBool::new(false) });
        Self { file, waiting: Vec::new(), length: 0, hasher: Sha256::new() }
    }

    /// Adds bytes at the end.
    pub async fn push(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.hasher.update(bytes);
        self.length += bytes.len() as u64;
        self.waiting.extend_from_slice(bytes);
        if self.waiting.len() <= WAITING_BYTES_MAX {
            return Ok(());
        }
        let file = self.file.clone();
        let bytes = std::mem::take(&mut self.waiting);
        let written = tokio::task::spawn_blocking(move || file.append(&bytes)).await;
        written.unwrap_or_else(|_| Err(io::Error::other("the daemon is stopping")))
    }

    /// Number of its bytes.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// The SHA-256 of its bytes.
    pub fn hash(&self) -> String {
        hexadecimal(&self.hasher.clone().finalize())
    }

    /// Writes what still waits, and hands over the path. The file must be given another name before the
    /// draft is dropped.
    pub fn write_out(&mut self) -> io::Result<&Path> {
        let bytes = std::mem::take(&mut self.waiting);
        if !bytes.is_empty() {
            self.file.append(&bytes)?;
        }
        Ok(&self.file.path)
    }

    /// All of its bytes.
    pub fn read(&self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        if self.file.begun.load(SeqCst) {
            File::open(&self.file.path)?.read_to_end(&mut bytes)?;
        }
        bytes.extend_from_slice(&self.waiting);
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(dir: &Path) -> usize {
        std::fs::read_dir(dir).unwrap().count()
    }

    #[tokio::test]
    async fn a_draft_is_its_bytes_whatever_the_pieces_and_leaves_nothing_behind() {
        let dir = tempfile::tempdir().unwrap();
        let bytes: Vec<u8> = (0..200_000_u32).flat_map(u32::to_le_bytes).collect();
        for piece in [1_000, 32 * 1024, 32 * 1024 + 1, bytes.len()] {
            let mut draft = Draft::new(dir.path());
            for chunk in bytes.chunks(piece) {
                draft.push(chunk).await.unwrap();
            }
            assert_eq!((draft.length(), names(dir.path())), (bytes.len() as u64, 1));
            assert_eq!(draft.read().unwrap(), bytes);
            assert_eq!(draft.hash(), hexadecimal(&Sha256::digest(&bytes)));
            assert!(is_hash(&draft.hash()) && !is_hash("../../etc/passwd") && !is_hash(&"A".repeat(64)));
            drop(draft);
            assert_eq!(names(dir.path()), 0);
        }
        let mut small = Draft::new(dir.path());
        small.push(b"small").await.unwrap();
        assert_eq!((names(dir.path()), small.read().unwrap()), (0, b"small".to_vec()));
        assert_eq!(std::fs::read(small.write_out().unwrap()).unwrap(), b"small");
    }
}
