//! Reading of a backup, item by item. Nothing of a frame is handed over before its SHA-256 was compared.

use super::crypt::{self, BackupKeys, is_encrypted};
use super::frames::{DATA, Frames, HEAD, TRAILER, last_frame};
use super::{BackupError, FORMAT, Head, TrailHead, Trailer, damaged};
use crate::hex::hexadecimal;
use crate::store::engine::{Change, Pair, Space};
use crate::store::record::Record;
use crate::store::records::{AuditEnd, LOCAL, SPACES, SealedWith, StoreFacts};
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};
use std::fs;
use std::io::Read;
use std::path::Path;
use zeroize::Zeroizing;

/// No key, value or image is longer.
const PIECE_BYTES_MAX: usize = 256 * 1024 * 1024;

/// Something that a backup holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// A record, or an entry of an index.
    Pair(Space, Pair),
    /// What happened to a key while the pairs were read.
    Change(Change),
    /// An image: its hash and its bytes.
    Image(String, Vec<u8>),
}

/// A backup that is read.
#[derive(Debug)]
pub struct Reader<R> {
    frames: Frames<R>,
    head: Head,
    raw: Vec<u8>,
    at: usize,
    last: Option<(Space, Vec<u8>)>,
    counted: Trailer,
    /// Whether an image or a change has come, behind which there are no pairs.
    behind_pairs: bool,
}

/// What a backup says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// At its beginning.
    pub head: Head,
    /// At its end.
    pub trailer: Trailer,
    /// The digest of all of it.
    pub digest: String,
    /// Bytes of the file.
    pub bytes: u64,
    /// Whether it is encrypted.
    pub encrypted: bool,
}

/// What was learned from a whole backup.
#[derive(Debug, Clone, PartialEq)]
pub struct Whole {
    /// What it says of itself.
    pub facts: Facts,
    /// The key with which its secrets are encrypted, if it has any.
    pub sealed_with: Option<SealedWith>,
    /// The key file of its store, if it is in it.
    pub key_file: Option<Zeroizing<Vec<u8>>>,
}

fn json<T: DeserializeOwned>(bytes: &[u8], what: &str) -> Result<T, BackupError> {
    serde_json::from_slice(bytes)
        .map_err(|_| damaged(format!("the backup is damaged: its {what} cannot be read")))
}

fn head<R: Read>(frames: &mut Frames<R>) -> Result<Head, BackupError> {
    let (kind, raw) = frames.next_frame()?;
    let head: Head = json(&raw, "head")?;
    if kind != HEAD || head.format != FORMAT {
        return Err(damaged("the backup is damaged: it does not begin with its head"));
    }
    Ok(head)
}

/// What a backup says about itself, without reading its contents.
pub fn facts(file: &Path, keys: &BackupKeys) -> Result<Facts, BackupError> {
    let mut open = crypt::open(file, keys)?;
    let head = head(&mut Frames::begin(&mut open)?)?;
    let (raw, digest) = last_frame(open)?;
    let bytes = fs::metadata(file)?.len();
    let encrypted = is_encrypted(file)?;
    Ok(Facts { head, trailer: json(&raw, "trailer")?, digest, bytes, encrypted })
}

/// Reads a file from its first byte to its last.
pub fn whole_file(file: &Path, keys: &BackupKeys) -> Result<Whole, BackupError> {
    let mut read = whole(crypt::open(file, keys)?)?;
    (read.facts.bytes, read.facts.encrypted) = (fs::metadata(file)?.len(), is_encrypted(file)?);
    Ok(read)
}

/// Reads a backup from its first byte to its last.
pub fn whole(from: impl Read) -> Result<Whole, BackupError> {
    let mut reader = Reader::begin(from)?;
    let sealed_key = crate::store::record::key(&["sealed-with"]);
    let mut sealed_with = None;
    while let Some(item) = reader.next_item()? {
        if let Item::Pair(space, (key, value)) = &item
            && *space == SealedWith::SPACE
            && *key == sealed_key
        {
            sealed_with = Some(json(value, "note of the key of its secrets")?);
        }
    }
    let key_file = reader.frames.key_file().cloned();
    Ok(Whole { facts: reader.facts(), sealed_with, key_file })
}

impl<R: Read> Reader<R> {
    /// Begins to read, and refuses what this program cannot read.
    pub fn begin(from: R) -> Result<Self, BackupError> {
        let mut frames = Frames::begin(from)?;
        let head = head(&mut frames)?;
        if !StoreFacts::reads(head.form) {
            return Err(BackupError::Refused(format!(
                "the records of the backup are of form {}, and this program reads {}: use mfa {}, \
                 which made it",
                head.form,
                StoreFacts::forms_read(),
                head.program
            )));
        }
        let counted = Trailer {
            moment: head.begun_on,
            journal_sequence: 0,
            journal: None,
            audit_head: None,
            pairs: 0,
            changes: 0,
            images: 0,
            image_bytes: 0,
        };
        Ok(Self { frames, head, raw: Vec::new(), at: 0, last: None, counted, behind_pairs: false })
    }

    /// Its head.
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// What is known behind the last item.
    pub fn facts(&self) -> Facts {
        let (head, trailer) = (self.head.clone(), self.counted.clone());
        let digest = self.frames.digest();
        let bytes = self.frames.offset() + 16;
        Facts { head, trailer, digest, bytes, encrypted: false }
    }

    fn wrong(&self, why: &str) -> BackupError {
        damaged(format!("the backup is damaged before byte {}: {why}", self.frames.offset()))
    }

    /// The next bytes of the items, over the ends of frames.
    fn take(&mut self, count: usize) -> Result<Vec<u8>, BackupError> {
        if count > PIECE_BYTES_MAX {
            return Err(self.wrong("something in it is longer than anything may be"));
        }
        let mut taken = Vec::new();
        while taken.len() < count {
            if self.at == self.raw.len() {
                let (kind, raw) = self.frames.next_frame()?;
                if kind != DATA || raw.is_empty() {
                    return Err(self.wrong("its items end too early"));
                }
                (self.raw, self.at) = (raw, 0);
            }
            let end = self.raw.len().min(self.at + count - taken.len());
            taken.extend_from_slice(&self.raw[self.at..end]);
            self.at = end;
        }
        Ok(taken)
    }

    fn byte(&mut self) -> Result<u8, BackupError> {
        Ok(self.take(1)?[0])
    }

    fn length(&mut self) -> Result<usize, BackupError> {
        let bytes = self.take(4)?;
        Ok(u32::from_le_bytes(bytes.first_chunk().copied().unwrap_or_default()) as usize)
    }

    fn space(&mut self) -> Result<Space, BackupError> {
        let id = self.byte()?;
        let known = SPACES.iter().find(|space| space.id == id && !LOCAL.contains(space));
        known.copied().ok_or_else(|| self.wrong("it holds records that no backup holds"))
    }

    /// A key and its value.
    fn pair(&mut self) -> Result<Pair, BackupError> {
        let (key, value) = (self.length()?, self.length()?);
        Ok((self.take(key)?, self.take(value)?))
    }

    /// The next item; none behind the last one, and then all of the file is verified.
    pub fn next_item(&mut self) -> Result<Option<Item>, BackupError> {
        let kind = self.byte()?;
        self.behind_pairs |= kind != b'p';
        Ok(Some(match kind {
            b'p' => {
                let (space, (key, value)) = (self.space()?, self.pair()?);
                let place = (space, key.clone());
                if self.behind_pairs || self.last.as_ref().is_some_and(|last| *last >= place) {
                    return Err(self.wrong("its records are not in order"));
                }
                self.last = Some(place);
                self.counted.pairs += 1;
                self.see_trail(space, &key, Some(&value))?;
                Item::Pair(space, (key, value))
            }
            b'c' => {
                let (space, (key, value)) = (self.space()?, self.pair()?);
                self.change(space, key, Some(value))?
            }
            b'r' => {
                let space = self.space()?;
                let length = self.length()?;
                let key = self.take(length)?;
                self.change(space, key, None)?
            }
            b'i' => self.image()?,
            b'.' => return self.end().map(|()| None),
            _ => return Err(self.wrong("it holds something of an unknown kind")),
        }))
    }

    fn change(&mut self, space: Space, key: Vec<u8>, value: Option<Vec<u8>>) -> Result<Item, BackupError> {
        self.counted.changes += 1;
        self.see_trail(space, &key, value.as_deref())?;
        Ok(Item::Change(Change { space, key, value }))
    }

    fn image(&mut self) -> Result<Item, BackupError> {
        let hash = hexadecimal(&self.take(32)?);
        let length = self.length()?;
        let bytes = self.take(length)?;
        if hexadecimal(&Sha256::digest(&bytes)) != hash {
            return Err(self.wrong(&format!("image {hash} has other bytes than it should have")));
        }
        self.counted.images += 1;
        self.counted.image_bytes += bytes.len() as u64;
        Ok(Item::Image(hash, bytes))
    }

    /// Notes the last record of the audit trail.
    fn see_trail(&mut self, space: Space, key: &[u8], value: Option<&[u8]>) -> Result<(), BackupError> {
        if let Some(head) = trail_head(space, key, value) {
            self.counted.audit_head = head?;
        }
        Ok(())
    }

    /// Compares the trailer with what was read.
    fn end(&mut self) -> Result<(), BackupError> {
        if self.at != self.raw.len() {
            return Err(self.wrong("something follows behind its last item"));
        }
        let at = self.frames.offset();
        let (kind, raw) = self.frames.next_frame()?;
        if kind != TRAILER {
            return Err(self.wrong("something follows behind its last item"));
        }
        let trailer: Trailer = json(&raw, "trailer")?;
        let (moment, journal_sequence) = (trailer.moment, trailer.journal_sequence);
        let journal = trailer.journal.clone();
        let counted = Trailer { moment, journal_sequence, journal, ..self.counted.clone() };
        if trailer != counted {
            return Err(self.wrong("it holds something else than its trailer says"));
        }
        self.counted = trailer;
        self.frames.finish(at)
    }
}

/// The end of the audit trail, if a change is about it.
pub(super) fn trail_head(
    space: Space,
    key: &[u8],
    value: Option<&[u8]>,
) -> Option<Result<Option<TrailHead>, BackupError>> {
    if space != AuditEnd::SPACE || key != crate::store::record::key(AuditEnd::KEY) {
        return None;
    }
    let head = |end: AuditEnd| TrailHead { sequence: end.sequence, hash: end.hash };
    Some(value.map(|value| json::<AuditEnd>(value, "note of the audit trail").map(head)).transpose())
}
