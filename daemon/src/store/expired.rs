//! Where to look for records whose time is over, which are the first ones of an index by time.
//!
//! Who removes them leaves traces in the engine, over which a later scan has to pass until they are cleared
//! away: thousands on a busy day. So a look begins where the one before it found its first entry. Nothing is
//! before that, whether or not what was found there was removed in the end, unless a clock was set back.

use super::engine::Space;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// One look of so many begins an hour earlier, and one of so many at the beginning: where a clock was set
/// back, or is behind that of another machine, something may have come in there.
pub(super) const EARLIER_S: i64 = 3_600;
pub(super) const EARLIER_ONE_OF: u32 = 64;
const FROM_THE_BEGINNING_ONE_OF: u32 = 64 * EARLIER_ONE_OF;

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

    /// The key at which the next look begins; `earlier` is that of an hour before.
    pub(super) fn begin(&self, index: Space, earlier: Vec<u8>) -> Vec<u8> {
        let mut all = self.all();
        let begin = all.entry(index.id).or_default();
        begin.looks = (begin.looks + 1) % FROM_THE_BEGINNING_ONE_OF;
        match begin.looks {
            0 => Vec::new(),
            looks if looks.is_multiple_of(EARLIER_ONE_OF) => begin.key.clone().min(earlier),
            _ => begin.key.clone(),
        }
    }

    /// Notes the first key that a look has found, or where it has ended.
    pub(super) fn note(&self, index: Space, key: Vec<u8>) {
        self.all().entry(index.id).or_default().key = key;
    }
}
