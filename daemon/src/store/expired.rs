//! Where to look for records whose time is over, which are the first ones of an index by time.
//!
//! Who removes them leaves traces in the engine, over which a later scan has to pass until they are cleared
//! away: thousands on a busy day. So a look begins where the one before it found its first entry. Nothing is
//! before that, whether or not what was found there was removed in the end.

use super::engine::Space;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// One look of so many begins at the beginning: where a clock was set back, something may have come in there.
pub(super) const FROM_THE_BEGINNING_ONE_OF: u32 = 64;

/// Where looks begin, by the number of the index.
#[derive(Debug, Default)]
pub struct Expired(Mutex<BTreeMap<u8, Begin>>);

#[derive(Debug, Default)]
struct Begin {
    key: Vec<u8>,
    looks: u32,
}

impl Expired {
    fn all(&self) -> MutexGuard<'_, BTreeMap<u8, Begin>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The key at which the next look begins.
    pub(super) fn begin(&self, index: Space) -> Vec<u8> {
        let mut all = self.all();
        let begin = all.entry(index.id).or_default();
        begin.looks = (begin.looks + 1) % FROM_THE_BEGINNING_ONE_OF;
        if begin.looks == 0 { Vec::new() } else { begin.key.clone() }
    }

    /// Notes the first key that a look has found, or where it has ended.
    pub(super) fn note(&self, index: Space, key: Vec<u8>) {
        self.all().entry(index.id).or_default().key = key;
    }
}
