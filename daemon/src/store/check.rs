//! Whether the records match the journal, in whichever engine.

use super::Store;
use super::engine::{Change, Pair, Range, Space};
use super::records::SPACES;
use mfa_shared::fault::Fault;
use sha2::{Digest, Sha256};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

/// Records that are compared at once. The journal and all records are read again for as many more, and two
/// hashes of each lie in memory meanwhile: 140 MiB.
const COMPARED_AT_ONCE: u64 = 3_000_000;
/// Records that are read at once.
const PAGE_PAIRS: usize = 1_000;

/// Something that does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The record, such as `entry 17` or `account 4000`.
    pub subject: String,
    /// What is the case.
    pub detail: String,
}

/// A key with its space.
type Key = (u8, Vec<u8>);
/// The first half of a SHA-256 hash.
type Mark = [u8; 16];

/// Stands for a value.
fn mark(value: &[u8]) -> Mark {
    Sha256::digest(value).first_chunk().copied().unwrap_or_default()
}

/// Stands for a key.
fn name((space, key): &Key) -> Mark {
    Sha256::new()
        .chain_update([*space])
        .chain_update(key)
        .finalize()
        .first_chunk()
        .copied()
        .unwrap_or_default()
}

/// One of several equal parts of all keys.
#[derive(Debug, Clone, Copy)]
struct Part {
    number: u64,
    of: u64,
}

impl Part {
    fn has(self, name: &Mark) -> bool {
        let first = name.first_chunk().copied().map_or(0, u64::from_le_bytes);
        first % self.of == self.number
    }
}

impl Store {
    /// Plays the journal again and compares the result with every record. Nothing may be written
    /// meanwhile.
    pub async fn check_journal(&self) -> Result<Vec<Finding>, Fault> {
        let mut count = 0;
        self.each(|_| count += 1).await?;
        let of = count / COMPARED_AT_ONCE + 1;
        let mut findings = Vec::new();
        for number in 0..of {
            self.compare(Part { number, of }, &mut findings).await?;
        }
        Ok(findings)
    }

    async fn compare(&self, part: Part, findings: &mut Vec<Finding>) -> Result<(), Fault> {
        let mut marks = self.journal_marks(part).await?;
        let mut find = |(space, key): &Key, what: &str| {
            let space = SPACES.iter().find(|s| s.id == *space).map_or("an unknown space", |s| s.name);
            let key = String::from_utf8_lossy(key).replace('\0', " ");
            findings.push(Finding { subject: format!("record {key} of {space}"), detail: what.to_owned() });
        };
        self.each(|(key, value)| {
            let name = name(&key);
            if !part.has(&name) {
                return;
            }
            match marks.remove(&name) {
                None => find(&key, "is not in the journal"),
                Some(marks) if marks != mark(&value) => find(&key, "differs from what the journal says"),
                Some(_) => {}
            }
        })
        .await?;
        if !marks.is_empty() {
            let missing = self.journal_keys(marks.into_keys().collect()).await?;
            missing.iter().for_each(|key| find(key, "is in the journal and missing among the records"));
        }
        Ok(())
    }

    /// The keys in the journal that have these names.
    async fn journal_keys(&self, names: HashSet<Mark>) -> Result<BTreeSet<Key>, Fault> {
        let keys = Arc::new(Mutex::new(BTreeSet::new()));
        let filled = keys.clone();
        self.engine
            .replay(Box::new(move |commit| {
                let changed = commit.changes.into_iter().map(|change| (change.space.id, change.key));
                let mut keys = filled.lock().unwrap_or_else(PoisonError::into_inner);
                keys.extend(changed.filter(|key| names.contains(&name(key))));
            }))
            .await?;
        Ok(std::mem::take(&mut *keys.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    /// What the journal says of the records of a part.
    async fn journal_marks(&self, part: Part) -> Result<HashMap<Mark, Mark>, Fault> {
        let marks = Arc::new(Mutex::new(HashMap::new()));
        let filled = marks.clone();
        self.engine
            .replay(Box::new(move |commit| {
                let mut marks = filled.lock().unwrap_or_else(PoisonError::into_inner);
                for Change { space, key, value } in commit.changes {
                    let name = name(&(space.id, key));
                    match value {
                        _ if !part.has(&name) => {}
                        Some(value) => drop(marks.insert(name, mark(&value))),
                        None => drop(marks.remove(&name)),
                    }
                }
            }))
            .await?;
        Ok(std::mem::take(&mut *marks.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    /// Visits every record.
    async fn each(&self, mut visit: impl FnMut((Key, Vec<u8>))) -> Result<(), Fault> {
        // Spaces of a later version of this program are not known by name, but compared all the same.
        for id in 0..u8::MAX - 1 {
            let mut range = Range { from: Vec::new(), to: None };
            loop {
                let page = self.page(Space { id, name: "" }, range.clone()).await?;
                let Some((last, _)) = page.last() else { break };
                range.from = [last.as_slice(), &[0]].concat();
                page.into_iter().for_each(|(key, value)| visit(((id, key), value)));
            }
        }
        Ok(())
    }

    async fn page(&self, space: Space, range: Range) -> Result<Vec<Pair>, Fault> {
        self.read(true, move |tx| tx.scan(space, &range, false, PAGE_PAIRS)).await
    }
}
