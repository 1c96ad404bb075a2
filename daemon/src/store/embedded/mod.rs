//! The engine of one machine. This first form keeps everything in memory.

use super::engine::{Engine, Pair, Pending, Range, ReadWork, Space, View, WriteWork};
use mfa_shared::fault::Fault;
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// Where and how to open.
#[derive(Debug, Clone)]
pub struct Options {
    /// Folder of the store.
    pub dir: PathBuf,
    /// Memory for the cache.
    pub cache_bytes: u64,
}

impl Options {
    /// The defaults over a folder.
    pub fn new(dir: PathBuf) -> Self {
        Self { dir, cache_bytes: 0 }
    }
}

/// Why a store cannot be opened.
#[derive(Debug)]
pub enum OpenError {
    /// Another process has it.
    Locked {
        /// Its process.
        pid: Option<u32>,
    },
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("locked")
    }
}

type Map = BTreeMap<(u8, Vec<u8>), Vec<u8>>;

/// The engine.
#[derive(Debug, Clone, Default)]
pub struct Embedded(Arc<Mutex<Map>>);

impl Embedded {
    /// Opens it.
    pub fn open(_: Options) -> Result<Self, OpenError> {
        Ok(Self::default())
    }
}

impl View for Map {
    fn get(&mut self, space: Space, key: &[u8]) -> Result<Option<Vec<u8>>, Fault> {
        Ok(BTreeMap::get(self, &(space.id, key.to_vec())).cloned())
    }
    fn scan(&mut self, space: Space, range: &Range, reverse: bool, limit: usize) -> Result<Vec<Pair>, Fault> {
        let inside = self.range((space.id, range.from.clone())..);
        let inside = inside
            .take_while(|((id, key), _)| *id == space.id && range.to.as_ref().is_none_or(|to| key < to));
        let mut pairs: Vec<Pair> = inside.map(|((_, k), v)| (k.clone(), v.clone())).collect();
        if reverse {
            pairs.reverse();
        }
        pairs.truncate(limit);
        Ok(pairs)
    }
}

impl Engine for Embedded {
    fn read(&self, mut work: ReadWork, _: bool) -> Pending<()> {
        work(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        Box::pin(async { Ok(()) })
    }
    fn write(&self, mut work: WriteWork) -> Pending<()> {
        let mut map = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for change in work(&mut *map).map(|commit| commit.changes).unwrap_or_default() {
            match change.value {
                Some(value) => map.insert((change.space.id, change.key), value),
                None => map.remove(&(change.space.id, change.key)),
            };
        }
        Box::pin(async { Ok(()) })
    }
    fn write_fault(&self) -> Option<Fault> {
        None
    }
    fn close(&self) -> Pending<()> {
        Box::pin(async { Ok(()) })
    }
}
