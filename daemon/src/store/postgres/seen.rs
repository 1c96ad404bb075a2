//! What was last seen of records, by which it is foreseen what a transaction will ask for.
//!
//! A change reads its records one after the other, and each question costs a message to the database and one back. So
//! work that allows it is rehearsed: run once on what was last seen, only to learn which records it reads. The
//! transaction then asks for all of them in its first message, and the work runs on what the database answers. A
//! rehearsal that goes astray, since something has changed meanwhile, costs questions and nothing else.

use crate::store::engine::{Pair, Range, Space, View, WriteWork};
use mfa_shared::fault::{Fault, UNAVAILABLE};
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Memory for what was seen; behind it all is forgotten and begins anew.
const SEEN_BYTES_MAX: usize = 16 * 1024 * 1024;
/// What a place takes besides its key and value.
const PLACE_BYTES: usize = 96;
/// A transaction that has asked for more was no ordinary change.
const NOTED_MAX: usize = 64;

/// A space by its number, and a key.
pub(super) type Place = (u8, Vec<u8>);

/// Values by their places; `None` where there was nothing.
pub(super) type Values = HashMap<Place, Option<Vec<u8>>>;

#[derive(Debug, Default)]
struct Kept {
    values: Values,
    bytes: usize,
}

/// What was last seen of records.
#[derive(Debug, Default)]
pub(super) struct Seen(Mutex<Kept>);

impl Seen {
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes what a transaction has seen, unless it looked at many records.
    pub(super) fn note(&self, values: Values) {
        if values.len() > NOTED_MAX {
            return;
        }
        let mut kept = self.kept();
        for (place, value) in values {
            let bytes = place.1.len() + value.as_ref().map_or(0, Vec::len) + PLACE_BYTES;
            if kept.bytes + bytes > SEEN_BYTES_MAX {
                *kept = Kept::default();
            }
            if bytes <= SEEN_BYTES_MAX {
                kept.bytes += bytes;
                kept.values.insert(place, value);
            }
        }
    }

    /// The places that work asks for, as far as what was last seen leads it.
    pub(super) fn rehearse(&self, work: &mut WriteWork) -> Vec<Place> {
        let mut view = Rehearsal { seen: self, asked: Vec::new() };
        // What it makes of it does not matter.
        let _ = catch_unwind(AssertUnwindSafe(|| work(&mut view)));
        view.asked
    }
}

/// The store as it was last seen.
struct Rehearsal<'s> {
    seen: &'s Seen,
    asked: Vec<Place>,
}

impl View for Rehearsal<'_> {
    fn get(&mut self, space: Space, key: &[u8]) -> Result<Option<Vec<u8>>, Fault> {
        let place = (space.id, key.to_vec());
        let value = self.seen.kept().values.get(&place).cloned().flatten();
        if self.asked.len() < NOTED_MAX && !self.asked.contains(&place) {
            self.asked.push(place);
        }
        Ok(value)
    }

    /// What a range has now cannot be guessed, and something made of a wrong guess could be kept in memory.
    fn scan(&mut self, _: Space, _: &Range, _: bool, _: usize) -> Result<Vec<Pair>, Fault> {
        Err(Fault::new(UNAVAILABLE, "a range cannot be foreseen"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPACE: Space = Space { id: 7, name: "things" };

    fn place(key: &str) -> Place {
        (SPACE.id, key.into())
    }

    fn work(of: impl Fn(&mut dyn View) -> Result<(), Fault> + Send + 'static) -> WriteWork {
        Box::new(move |view| {
            let _ = of(view);
            None
        })
    }

    #[test]
    fn a_rehearsal_goes_on_by_what_was_seen_and_ends_at_a_range() {
        let seen = Seen::default();
        seen.note(Values::from([(place("user"), Some(b"role".to_vec()))]));
        let mut chain = work(|view| {
            let role = view.get(SPACE, b"user")?.unwrap_or_default();
            view.get(SPACE, &role)?;
            view.get(SPACE, b"user")?;
            view.scan(SPACE, &Range::prefix(b"r"), false, 9)?;
            view.get(SPACE, b"behind").map(drop)
        });
        assert_eq!(seen.rehearse(&mut chain), [place("user"), place("role")]);
        let mut defect = work(|view| {
            view.get(SPACE, b"first")?;
            panic!("nothing was there")
        });
        assert_eq!(seen.rehearse(&mut defect), [place("first")]);
    }

    #[test]
    fn what_was_seen_has_a_bound() {
        let seen = Seen::default();
        let value = Some(vec![7; SEEN_BYTES_MAX / 4]);
        for key in ["a", "b", "c", "d"] {
            seen.note(Values::from([(place(key), value.clone())]));
        }
        assert_eq!(seen.kept().values.keys().cloned().collect::<Vec<_>>(), [place("d")]);
        seen.note((0..=NOTED_MAX).map(|number| (place(&number.to_string()), None)).collect());
        assert_eq!(seen.kept().values.len(), 1);
        seen.note(Values::from([(place("e"), Some(vec![7; SEEN_BYTES_MAX]))]));
        assert!(seen.kept().bytes <= SEEN_BYTES_MAX);
    }
}
