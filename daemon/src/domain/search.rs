//! Finding records as people speak (`decisions.md` section 7): how texts are compared, in which fields the
//! words are looked for, and how good a find is.

mod fold;
mod near;
mod rounds;

pub use fold::{digits, fold};
pub use rounds::Round;

use memchr::memmem::Finder;
use near::{Halves, one_apart};
use std::cmp::Ordering;
use std::ops::Range;

/// Kinds of records that are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A customer.
    Customer,
    /// An employee.
    Employee,
    /// An office.
    Office,
    /// A product instance.
    Account,
}

/// A field in which words are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Field {
    /// Identifier of a customer, employee or office.
    Identifier,
    /// Name of an office.
    Name,
    /// Given name.
    GivenName,
    /// Middle name.
    MiddleName,
    /// Surname.
    Surname,
    /// Telephone number, as its digits.
    Phone,
    /// Address of electronic mail.
    Email,
    /// Number of an identification card.
    CardNumber,
    /// Identifier of an account.
    AccountIdentifier,
    /// Another number of an account.
    AlternativeAccountNumber,
}

impl Field {
    /// Every field, in the order in which an answer names them.
    pub const ALL: [Self; 10] = [
        Self::Identifier,
        Self::Name,
        Self::GivenName,
        Self::MiddleName,
        Self::Surname,
        Self::Phone,
        Self::Email,
        Self::CardNumber,
        Self::AccountIdentifier,
        Self::AlternativeAccountNumber,
    ];

    /// The name of the field on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Identifier => "identifier",
            Self::Name => "name",
            Self::GivenName => "givenName",
            Self::MiddleName => "middleName",
            Self::Surname => "surname",
            Self::Phone => "phone",
            Self::Email => "email",
            Self::CardNumber => "cardNumber",
            Self::AccountIdentifier => "accountIdentifier",
            Self::AlternativeAccountNumber => "alternativeAccountNumber",
        }
    }

    /// Whether it is a part of a person's name, by which an account is found, too.
    pub fn is_name(self) -> bool {
        matches!(self, Self::GivenName | Self::MiddleName | Self::Surname)
    }

    /// A text of this field as it is compared.
    pub fn fold(self, text: &str) -> String {
        if self == Self::Phone { digits(text) } else { fold(text) }
    }
}

/// How good a find is; the lowest is the best.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rank {
    /// The text is the identifier.
    Identifier,
    /// Every word is a word of a field.
    Words,
    /// Every word is a word or the beginning of one.
    Beginnings,
    /// Some word is in the middle of one.
    Parts,
}

/// The fields in which words were found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Fields(u16);

impl Fields {
    fn add(&mut self, field: Field) {
        self.0 |= 1 << field as u16;
    }

    /// The fields, in their order.
    pub fn iter(self) -> impl Iterator<Item = Field> {
        Field::ALL.into_iter().filter(move |field| self.0 & (1 << *field as u16) != 0)
    }
}

/// How a record fits a phrase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grade {
    /// How well.
    pub rank: Rank,
    /// Where.
    pub matched: Fields,
}

/// Where a text is in a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
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
            Self::Word => Rank::Words,
            Self::Beginning => Rank::Beginnings,
            Self::Inside => Rank::Parts,
        }
    }
}

/// Letters from which on a word may differ in one.
const NEAR_LETTERS_MIN: usize = 5;

/// A text with what looks for it.
#[derive(Debug)]
struct Wanted {
    text: String,
    finder: Finder<'static>,
}

impl Wanted {
    fn new(text: String) -> Self {
        Self { finder: Finder::new(&text).into_owned(), text }
    }

    /// The places where a line has it.
    fn places(&self, line: &[u8], place: impl Fn(&Range<usize>) -> Place) -> impl Iterator<Item = Place> {
        self.finder.find_iter(line).map(move |at| place(&(at..at + self.text.len())))
    }
}

#[derive(Debug)]
struct Word {
    wanted: Wanted,
    /// Its digits, where it can be a part of a telephone number.
    digits: Option<Wanted>,
    near: Option<Halves>,
}

impl Word {
    fn new(text: &str) -> Option<Self> {
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
    fn rank(&self, field: Field, text: &str, near: bool) -> Option<Rank> {
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
    fn best_rank(&self, line: &[u8], near: bool, place: impl Fn(&Range<usize>) -> Place) -> Option<Rank> {
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

/// What is looked for.
#[derive(Debug)]
pub struct Phrase {
    whole: String,
    words: Vec<Word>,
}

impl Phrase {
    /// Reads a text; one without a letter or digit finds nothing.
    pub fn parse(text: &str) -> Self {
        Self { whole: fold(text), words: text.split_whitespace().filter_map(Word::new).collect() }
    }

    /// The whole text as it is compared with identifiers.
    pub fn whole(&self) -> &str {
        &self.whole
    }

    /// Whether there is nothing to look for.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The best rank that a record can have whose fields are in a line, unless the text is its identifier;
    /// `None` where it does not fit. `place` says where in a field a part of the line is. It costs less
    /// than a grade.
    pub fn best_rank(&self, line: &[u8], near: bool, place: impl Fn(&Range<usize>) -> Place) -> Option<Rank> {
        let mut worst = Rank::Words;
        for word in &self.words {
            worst = worst.max(word.best_rank(line, near, &place)?);
        }
        Some(worst)
    }

    /// How a record with these fields fits, if it does; `identifier` is the field that names it.
    pub fn grade<'f>(
        &self,
        fields: impl Iterator<Item = (Field, &'f str)>,
        identifier: Field,
        near: bool,
    ) -> Option<Grade> {
        let mut matched = Fields::default();
        let mut ranks: Vec<Option<Rank>> = vec![None; self.words.len()];
        let mut is_identifier = false;
        for (field, text) in fields {
            is_identifier |= field == identifier && text == self.whole;
            for (word, best) in self.words.iter().zip(&mut ranks) {
                if let Some(rank) = word.rank(field, text, near) {
                    matched.add(field);
                    *best = Some(best.map_or(rank, |best| best.min(rank)));
                }
            }
        }
        let worst = ranks.into_iter().collect::<Option<Vec<Rank>>>()?.into_iter().max()?;
        Some(Grade { rank: if is_identifier { Rank::Identifier } else { worst }, matched })
    }
}

/// A find, in the order of the best ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// How good it is.
    pub rank: Rank,
    /// Whether it is closed: those come after open ones of the same rank.
    pub closed: bool,
    /// Name as a person says it.
    pub label: String,
    /// Identifier.
    pub identifier: String,
    /// Kind.
    pub kind: Kind,
    /// The customer of an account, and otherwise the record itself.
    pub owner: String,
    /// Where.
    pub matched: Fields,
}

impl Ord for Found {
    fn cmp(&self, other: &Self) -> Ordering {
        let key = |found: &Self| (found.rank, found.closed);
        key(self)
            .cmp(&key(other))
            .then_with(|| self.label.cmp(&other.label))
            .then_with(|| self.identifier.cmp(&other.identifier))
            .then_with(|| self.kind.cmp(&other.kind))
    }
}

impl PartialOrd for Found {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn graded(text: &str, fields: &[(Field, &str)], near: bool) -> Option<Rank> {
        let folded: Vec<_> = fields.iter().map(|(field, text)| (*field, field.fold(text))).collect();
        let fields = folded.iter().map(|(field, text)| (*field, text.as_str()));
        let grade = Phrase::parse(text).grade(fields, Field::Identifier, near);
        grade.map(|grade| grade.rank)
    }

    pub(super) const AKOSUA: &[(Field, &str)] = &[
        (Field::Identifier, "c-001"),
        (Field::GivenName, "Akosua Efua"),
        (Field::Surname, "Frimpong"),
        (Field::Phone, "+233 (24) 123-45.67"),
        (Field::Email, "akosua@mail.example"),
        (Field::CardNumber, "GHA-7712"),
    ];

    #[test]
    fn every_word_must_be_in_some_field_and_the_worst_one_decides() {
        use Rank::*;
        for (text, expected) in [
            ("akosua frimpong", Some(Words)),
            ("FRIMPONG  efua", Some(Words)),
            ("frim akosua", Some(Beginnings)),
            ("pong akosua", Some(Parts)),
            ("akosua mensah", None),
            ("c-001", Some(Identifier)),
            ("C001", Some(Identifier)),
            ("c-00", Some(Beginnings)),
            ("gha7712", Some(Words)),
            ("+233 24", Some(Parts)),
            ("233241234567", Some(Words)),
            ("+233-24-123-4567", Some(Words)),
            ("+233\u{2011}24\u{2013}123\u{2212}4567", Some(Words)),
            ("4567", Some(Parts)),
            ("akosua@mail.example", Some(Words)),
            ("'", None),
            ("", None),
        ] {
            assert_eq!(graded(text, AKOSUA, false), expected, "{text}");
        }
    }

    #[test]
    fn long_words_may_differ_in_one_letter_and_short_ones_and_numbers_may_not() {
        for (text, expected) in [
            ("frimpang", true),
            ("frimpng", true),
            ("frimppong", true),
            ("firmpong", true),
            ("fripmong", true),
            ("akosau frimpong", true),
            ("frimpanga", false),
            ("efau", false),
            ("akosua efau", false),
            ("gha7721", false),
        ] {
            assert_eq!(graded(text, AKOSUA, true).is_some(), expected, "{text}");
            assert_eq!(graded(text, AKOSUA, false), None, "{text}");
        }
    }
}
