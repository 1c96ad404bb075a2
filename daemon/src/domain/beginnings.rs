//! Where moments begin among numbered records that are in the order of time, in memory. Records are added
//! behind the last one only, so what was found stays right. It can be lost without harm.

use mfa_shared::time::Timestamp;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Most moments that are kept: days and months are what people ask for.
const KEPT_MAX: usize = 4_096;

/// The numbers of the first records of some moments or later.
#[derive(Debug, Default)]
pub struct Beginnings(Mutex<HashMap<Timestamp, u64>>);

impl Beginnings {
    fn kept(&self) -> MutexGuard<'_, HashMap<Timestamp, u64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of the first record of a moment or later, if it is known.
    pub fn get(&self, moment: Timestamp) -> Option<u64> {
        self.kept().get(&moment).copied()
    }

    /// Notes the number of such a record, which is there.
    pub fn note(&self, moment: Timestamp, number: u64) {
        let mut kept = self.kept();
        if kept.len() >= KEPT_MAX {
            kept.clear();
        }
        kept.insert(moment, number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_noted_is_known_and_has_a_bound() {
        let beginnings = Beginnings::default();
        for day in 0..3 * KEPT_MAX as i64 {
            let moment = Timestamp::from_millis(day * 86_400_000);
            assert_eq!(beginnings.get(moment), None);
            beginnings.note(moment, day.unsigned_abs());
            assert_eq!(beginnings.get(moment), Some(day.unsigned_abs()));
            assert!(beginnings.kept().len() <= KEPT_MAX);
        }
    }
}
