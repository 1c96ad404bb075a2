//! A word that is looked for: where a text has it, and how good that is.

use super::near::{Halves, one_apart};
use super::{Field, Rank, digits, fold};
use memchr::memmem::Finder;
use std::ops::Range;

/// Where a text is in a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// It is the whole identifier of the record.
    Identifier,
    /// It is a word of it.
    Word,
    /// It begins a word.
    Beginning,
    /// It is anywhere else.
    Inside,
}

impl Place {
    fn rank(self) -> Rank {
        match self {
            Self::Identifier | Self::Word => Rank::Words,
            Self::Beginning => Rank::Beginnings,
            Self::Inside => Rank::Parts,
        }
    }
}

/// Letters from which on a word may differ in one.
const NEAR_LETTERS_MIN: usize = 5;

/// A text with what looks for it.
#[derive(Debug)]
pub(super) struct Wanted {
    pub(super) text: String,
    finder: Finder<'static>,
}

impl Wanted {
    pub(super) fn new(text: String) -> Self {
        Self { finder: Finder::new(&text).into_owned(), text }
    }

    /// The places where a line has it.
    pub(super) fn places(
        &self,
        line: &[u8],
        place: impl Fn(&Range<usize>) -> Place,
    ) -> impl Iterator<Item = Place> {
        self.finder.find_iter(line).map(move |at| place(&(at..at + self.text.len())))
    }
}

#[derive(Debug)]
pub(super) struct Word {
    pub(super) wanted: Wanted,
    /// Its digits, where it can be a part of a telephone number.
    pub(super) digits: Option<Wanted>,
    pub(super) near: Option<Halves>,
}

impl Word {
    pub(super) fn new(text: &str) -> Option<Self> {
        let folded = fold(text);
        // Hyphens of all kinds are gone by then.
        let numeric = folded.chars().any(|c| c.is_ascii_digit())
            && folded.chars().all(|c| c.is_ascii_digit() || "+()./".contains(c));
        let letters = folded.chars().all(char::is_alphabetic);
        let near = letters && folded.chars().count() >= NEAR_LETTERS_MIN;
        (!folded.is_empty()).then(|| Self {
            digits: numeric.then(|| Wanted::new(digits(text))),
            near: near.then(|| Halves::new(&folded)),
            wanted: Wanted::new(folded),
        })
    }

    /// How this word is found in a field.
    pub(super) fn rank(&self, field: Field, text: &str, near: bool) -> Option<Rank> {
        let wanted = if field == Field::Phone { self.digits.as_ref()? } else { &self.wanted };
        let mut best = None;
        if wanted.finder.find(text.as_bytes()).is_some() {
            let wanted = &wanted.text;
            best = Some(Rank::Parts);
            for word in text.split(' ').filter(|word| word.starts_with(wanted)) {
                if word.len() == wanted.len() {
                    return Some(Rank::Words);
                }
                best = Some(Rank::Beginnings);
            }
        }
        if near && best.is_none() && self.near.is_some() {
            let is_near = text.split(' ').any(|word| one_apart(word, &self.wanted.text));
            return is_near.then_some(Rank::Words);
        }
        best
    }

    /// The best rank with which this word can be found in a line.
    pub(super) fn best_rank(
        &self,
        line: &[u8],
        near: bool,
        place: impl Fn(&Range<usize>) -> Place,
    ) -> Option<Rank> {
        if near && self.near.is_some() {
            return Some(Rank::Words);
        }
        let mut best = None;
        for wanted in [Some(&self.wanted), self.digits.as_ref()].into_iter().flatten() {
            for rank in wanted.places(line, &place).map(Place::rank) {
                if rank == Rank::Words {
                    return Some(rank);
                }
                best = Some(best.map_or(rank, |best: Rank| best.min(rank)));
            }
        }
        best
    }
}
