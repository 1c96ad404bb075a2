//! What was last seen of records, by which it is foreseen what a transaction will ask for.
//!
//! A change reads its records one after the other, and each question costs a message to the database and one
//! back. So work that allows it is rehearsed: run once on what was last seen, only to learn which records it
//! reads. The transaction then asks for all of them in its first message, and the work runs on what the
//! database answers. A rehearsal that goes astray, since something has changed meanwhile, costs questions and
//! nothing else.

use crate::store::engine::{Pair, Range, Space, View};
use mfa_shared::fault::{Fault, UNAVAILABLE};
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Memory for what was seen.
const SEEN_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Longer values lead to no other records that are worth it.
const VALUE_BYTES_MAX: usize = 64 * 1024;
/// What a place takes besides its key and value.
const PLACE_BYTES: usize = 96;
/// A change that has asked for more was no ordinary one.
const NOTED_MAX: usize = 64;
/// So many questions a rehearsal may ask: what was seen at different moments could lead in a circle.
const QUESTIONS_MAX: usize = 512;

/// A space by its number, and a key.
pub(super) type Place = (u8, Vec<u8>);

/// Values by their places; `None` where there was nothing.
pub(super) type Values = HashMap<Place, Option<Vec<u8>>>;

/// What was seen in two parts: a full first part takes the place of the second one, and what is asked for in
/// the second one goes back into the first. So what is asked for again and again stays.
#[derive(Debug, Default)]
struct Kept {
    first: Values,
    first_bytes: usize,
    second: Values,
}

impl Kept {
    /// Notes a value, and gives back what has to go for it.
    fn put(&mut self, place: Place, value: Option<Vec<u8>>) -> Values {
        if let Some(known) = self.first.remove(&place) {
            self.first_bytes -= bytes(&place, known.as_ref());
        }
        if value.as_ref().is_some_and(|value| value.len() > VALUE_BYTES_MAX) {
            self.second.remove(&place);
            return Values::new();
        }
        let more = bytes(&place, value.as_ref());
        let mut gone = Values::new();
        if self.first_bytes + more > SEEN_BYTES_MAX / 2 {
            gone = std::mem::replace(&mut self.second, std::mem::take(&mut self.first));
            self.first_bytes = 0;
        }
        self.first_bytes += more;
        self.first.insert(place, value);
        gone
    }

    fn get(&mut self, place: &Place) -> Option<Vec<u8>> {
        if let Some(value) = self.first.get(place) {
            return value.clone();
        }
        let value = self.second.remove(place)?;
        drop(self.put(place.clone(), value.clone()));
        value
    }
}

/// What a place with its value takes.
fn bytes(place: &Place, value: Option<&Vec<u8>>) -> usize {
    place.1.len() + value.map_or(0, Vec::len) + PLACE_BYTES
}

/// What was last seen of records.
#[derive(Debug, Default)]
pub(super) struct Seen(Mutex<Kept>);

impl Seen {
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes what a transaction of so many changes has seen or written, unless these are many records.
    pub(super) fn note(&self, values: Values, changes: usize) {
        if values.len() > NOTED_MAX * changes {
            return;
        }
        let mut kept = self.kept();
        let gone: Vec<_> = values.into_iter().map(|(place, value)| kept.put(place, value)).collect();
        // Takes its time, for which the others need not wait.
        drop(kept);
        drop(gone);
    }

    /// The places that work asks for, as far as what was last seen leads it.
    pub(super) fn rehearse(&self, work: &mut dyn FnMut(&mut dyn View)) -> Foreseen {
        let mut view = Rehearsal { seen: self, asked: Vec::new(), questions: 0, is_all: true };
        // What it makes of it does not matter.
        let _ = catch_unwind(AssertUnwindSafe(|| work(&mut view)));
        Foreseen { places: view.asked, is_all: view.is_all }
    }
}

/// What came of a rehearsal.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Foreseen {
    /// The places that were asked for.
    pub(super) places: Vec<Place>,
    /// Whether these are all: it did not end at a range, behind which more may be asked for.
    pub(super) is_all: bool,
}

/// The store as it was last seen.
struct Rehearsal<'s> {
    seen: &'s Seen,
    asked: Vec<Place>,
    questions: usize,
    is_all: bool,
}

impl Rehearsal<'_> {
    fn ask(&mut self, place: Place) {
        if self.asked.contains(&place) {
            return;
        }
        if self.asked.len() < NOTED_MAX {
            self.asked.push(place);
        } else {
            self.is_all = false;
        }
    }
}

fn unforeseen() -> Fault {
    Fault::new(UNAVAILABLE, "what follows cannot be foreseen")
}

impl View for Rehearsal<'_> {
    fn get(&mut self, space: Space, key: &[u8]) -> Result<Option<Vec<u8>>, Fault> {
        self.questions += 1;
        if self.questions > QUESTIONS_MAX {
            self.is_all = false;
            return Err(unforeseen());
        }
        let place = (space.id, key.to_vec());
        let value = self.seen.kept().get(&place);
        self.ask(place);
        Ok(value)
    }

    fn expect(&mut self, space: Space, keys: &[Vec<u8>]) -> Result<(), Fault> {
        keys.iter().for_each(|key| self.ask((space.id, key.clone())));
        Ok(())
    }

    fn expect_places(&mut self, places: &[(Space, Vec<u8>)]) -> Result<(), Fault> {
        places.iter().for_each(|(space, key)| self.ask((space.id, key.clone())));
        Ok(())
    }

    /// What a range has now cannot be guessed, and something made of a wrong guess could be kept in memory.
    fn scan(&mut self, _: Space, _: &Range, _: bool, _: usize) -> Result<Vec<Pair>, Fault> {
        self.is_all = false;
        Err(unforeseen())
    }

    fn is_rehearsal(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPACE: Space = Space { id: 7, name: "things" };

    fn place(key: &str) -> Place {
        (SPACE.id, key.into())
    }

    fn work(of: impl Fn(&mut dyn View) -> Result<(), Fault>) -> impl FnMut(&mut dyn View) {
        move |view| drop(of(view))
    }

    #[test]
    fn a_rehearsal_goes_on_by_what_was_seen_and_ends_at_a_range() {
        let seen = Seen::default();
        seen.note(Values::from([(place("user"), Some(b"role".to_vec()))]), 1);
        let mut chain = work(|view| {
            let role = view.get(SPACE, b"user")?.unwrap_or_default();
            view.get(SPACE, &role)?;
            view.get(SPACE, b"user")?;
            view.expect_places(&[(SPACE, b"account".to_vec()), (SPACE, b"user".to_vec())])?;
            view.expect(SPACE, &[b"drawer".to_vec()])?;
            view.scan(SPACE, &Range::prefix(b"r"), false, 9)?;
            view.get(SPACE, b"behind").map(drop)
        });
        let foreseen = seen.rehearse(&mut chain);
        assert_eq!(foreseen.places, ["user", "role", "account", "drawer"].map(place));
        assert!(!foreseen.is_all);
        let mut defect = work(|view| {
            view.get(SPACE, b"first")?;
            panic!("nothing was there")
        });
        assert_eq!(seen.rehearse(&mut defect), Foreseen { places: vec![place("first")], is_all: true });
    }

    #[test]
    fn a_rehearsal_that_goes_in_a_circle_ends() {
        let seen = Seen::default();
        seen.note(Values::from([(place("a"), Some(b"b".to_vec())), (place("b"), Some(b"a".to_vec()))]), 1);
        let mut circle = work(|view| {
            let mut at = b"a".to_vec();
            while let Some(next) = view.get(SPACE, &at)? {
                at = next;
            }
            Ok(())
        });
        let places = vec![place("a"), place("b")];
        assert_eq!(seen.rehearse(&mut circle), Foreseen { places, is_all: false });
    }

    #[test]
    fn what_was_seen_has_a_bound_and_what_is_asked_for_stays() {
        let seen = Seen::default();
        let value = Some(vec![7; VALUE_BYTES_MAX]);
        let note = |key: &str| seen.note(Values::from([(place(key), value.clone())]), 1);
        let most = SEEN_BYTES_MAX / VALUE_BYTES_MAX;
        note("asked for");
        for number in 0..5 * most {
            // Again and again the same record takes the room of one.
            (0..3).for_each(|_| note(&number.to_string()));
            assert_eq!(seen.kept().get(&place("asked for")), value, "{number}");
            let kept = seen.kept();
            assert!(kept.first.len() + kept.second.len() <= most);
            let counted: usize = kept.first.iter().map(|(place, value)| bytes(place, value.as_ref())).sum();
            assert_eq!(kept.first_bytes, counted);
        }
        assert_eq!(seen.kept().get(&place("0")), None);
        let last = place(&(5 * most - 1).to_string());
        assert_eq!(seen.kept().get(&last), value);
        seen.note((0..=NOTED_MAX).map(|number| (place(&format!("many {number}")), None)).collect(), 1);
        assert!(!seen.kept().first.contains_key(&place("many 0")));
        // What is too long is not known any more.
        seen.note(Values::from([(last.clone(), Some(vec![7; VALUE_BYTES_MAX + 1]))]), 1);
        assert_eq!(seen.kept().get(&last), None);
    }
}
