//! The line of a record: a kind, then its state, identifier and name as they are shown, then its fields as
//! they are compared; behind them the accounts of a customer in the same form.

use crate::domain::alike::Alike;
use crate::domain::search::{Field, Fields, Found, Kind, Phrase, Place, Rank};
use memchr::{memchr, memchr2};
use std::borrow::Cow;
use std::ops::Range;

/// Before each field of a record: the number of the field, then its text.
pub(super) const FIELD: char = '\u{1e}';
/// Before each account of a customer: its state, its identifier, then its fields.
const ACCOUNT: char = '\u{1d}';
/// Behind the identifier: the label.
pub(super) const LABEL: char = '\u{1f}';
/// Ends a line.
pub(super) const END: u8 = b'\n';
const CLOSED: char = 'x';
const OPEN: char = 'o';
/// Numbers of fields are written as letters from this one on.
const FIELD_BASE: u8 = b'A';

/// What a record, or an account of a customer, is found by.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Part {
    /// Its identifier.
    pub identifier: String,
    /// Whether it is closed.
    pub closed: bool,
    /// Its texts as they are stored.
    pub fields: Vec<(Field, String)>,
}

/// A line: a record with what belongs to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Kind of the record; an account is in the line of its customer. If that does not exist, the line is one
    /// of accounts alone.
    pub kind: Kind,
    /// Name as a person says it.
    pub label: String,
    /// The record.
    pub record: Part,
    /// The accounts of a customer.
    pub accounts: Vec<Part>,
    /// What a customer may have in common with another record of the same person; it is no part of the text.
    pub alike: Option<Alike>,
}

/// Text that holds no mark of ours.
fn clean(text: &str) -> Cow<'_, str> {
    if text.contains(char::is_control) { text.replace(char::is_control, " ").into() } else { text.into() }
}

pub(super) fn letter(kind: Kind) -> char {
    match kind {
        Kind::Customer => 'c',
        Kind::Employee => 'e',
        Kind::Office => 'f',
        Kind::Account => 'a',
    }
}

impl Line {
    /// The stored form, without its end.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        text.push(letter(self.kind));
        write_part(&mut text, &self.record, Some(&self.label));
        for account in &self.accounts {
            text.push(ACCOUNT);
            write_part(&mut text, account, None);
        }
        text
    }

    /// The finds in this line.
    pub fn finds(&self, phrase: &Phrase, kinds: &[Kind], near: bool) -> Vec<Found> {
        let text = self.text();
        let mut found = Vec::new();
        Written::read(&text).finds(phrase, kinds, near, &mut |f| found.push(f.to_found()));
        found
    }
}

fn write_part(text: &mut String, part: &Part, label: Option<&str>) {
    text.push(if part.closed { CLOSED } else { OPEN });
    text.push_str(&clean(&part.identifier));
    text.push(LABEL);
    text.push_str(&clean(label.unwrap_or_default()));
    for (field, value) in &part.fields {
        let folded = field.fold(value);
        if !folded.is_empty() {
            text.push(FIELD);
            text.push(char::from(FIELD_BASE + *field as u8));
            text.push_str(&folded);
        }
    }
}

/// What is in every line in which a record has this text as its identifier: one of these.
pub(super) fn identified(text: &str) -> impl Iterator<Item = String> {
    let fields = [Field::Identifier, Field::AccountIdentifier].into_iter();
    let begun = fields.map(move |field| format!("{FIELD}{}{text}", char::from(FIELD_BASE + field as u8)));
    begun.flat_map(|begun| [FIELD, ACCOUNT, char::from(END)].map(|end| format!("{begun}{end}")))
}

/// Where a part of a written line is. In the label, which is no field, a part may seem to be a word.
fn place(line: &[u8], part: &Range<usize>) -> Place {
    let begins = match &line[..part.start] {
        [.., mark, _] if *mark == FIELD as u8 => true,
        before => before.last().is_none_or(|byte| *byte == b' '),
    };
    let ends = line.get(part.end).is_none_or(|byte| *byte <= b' ');
    match (begins, ends) {
        (true, true) => Place::Word,
        (true, false) => Place::Beginning,
        (false, _) => Place::Inside,
    }
}

/// A part of a written line.
#[derive(Clone, Copy)]
pub(super) struct WrittenPart<'t> {
    closed: bool,
    pub(super) identifier: &'t str,
    label: &'t str,
    fields: &'t str,
}

impl<'t> WrittenPart<'t> {
    fn read(text: &'t str) -> Self {
        let (head, fields) = text.split_once(FIELD).unwrap_or((text, ""));
        let (identifier, label) = head.split_once(LABEL).unwrap_or((head, ""));
        let closed = identifier.starts_with(CLOSED);
        Self { closed, identifier: identifier.get(1..).unwrap_or_default(), label, fields }
    }

    fn fields(self) -> impl Iterator<Item = (Field, &'t str)> + Clone {
        self.fields.split(FIELD).filter_map(|text| {
            let number = text.bytes().next()?.checked_sub(FIELD_BASE)?;
            Some((*Field::ALL.get(usize::from(number))?, text.get(1..)?))
        })
    }
}

/// A written line.
pub(super) struct Written<'t> {
    pub(super) kind: Kind,
    pub(super) record: WrittenPart<'t>,
    accounts: &'t str,
}

/// The best rank that a find in a written line can have whose identifier is not the text; `None` where there
/// can be none.
pub(super) fn best_rank(line: &[u8], phrase: &Phrase, near: bool) -> Option<Rank> {
    phrase.best_rank(line, near, |part| place(line, part))
}

/// Whether a written line can have finds of these kinds: a customer's has its accounts as well.
pub(super) fn has_any(line: &[u8], kinds: &[Kind]) -> bool {
    let begins = |kind: Kind| line.first() == Some(&(letter(kind) as u8));
    kinds.iter().any(|kind| begins(*kind) || *kind == Kind::Account && begins(Kind::Customer))
}

/// The label of a written line, which need not be taken apart for it.
pub(super) fn label(line: &[u8]) -> &[u8] {
    let behind = memchr(LABEL as u8, line).and_then(|at| line.get(at + 1..)).unwrap_or_default();
    let end = memchr2(FIELD as u8, ACCOUNT as u8, behind).unwrap_or(behind.len());
    behind.get(..end).unwrap_or_default()
}

/// Whether no find of this rank in a line with this label can come before one. An account has its customer's
/// label.
pub(super) fn is_behind(rank: Rank, label: &[u8], found: &Found) -> bool {
    (rank, false, label) > (found.rank, found.closed, found.label.as_bytes())
}

/// A find that is not copied yet.
pub(super) struct Candidate<'t> {
    rank: Rank,
    kind: Kind,
    part: WrittenPart<'t>,
    owner: WrittenPart<'t>,
    matched: Fields,
}

impl Candidate<'_> {
    pub(super) fn to_found(&self) -> Found {
        let kind = self.kind;
        let rank = self.rank;
        let matched = self.matched;
        let [label, identifier, owner] =
            [self.owner.label, self.part.identifier, self.owner.identifier].map(str::to_owned);
        Found { rank, closed: self.part.closed, label, identifier, kind, owner, matched }
    }

    /// Whether it comes before a find.
    pub(super) fn is_before(&self, found: &Found) -> bool {
        let own = (self.rank, self.part.closed, self.owner.label, self.part.identifier, self.kind);
        own < (found.rank, found.closed, found.label.as_str(), found.identifier.as_str(), found.kind)
    }
}

impl<'t> Written<'t> {
    pub(super) fn read(text: &'t str) -> Self {
        let kind = match text.as_bytes().first() {
            Some(b'e') => Kind::Employee,
            Some(b'f') => Kind::Office,
            Some(b'a') => Kind::Account,
            _ => Kind::Customer,
        };
        let rest = text.get(1..).unwrap_or_default();
        let (record, accounts) = rest.split_once(ACCOUNT).unwrap_or((rest, ""));
        Self { kind, record: WrittenPart::read(record), accounts }
    }

    fn accounts(&self) -> impl Iterator<Item = WrittenPart<'t>> + Clone {
        self.accounts.split(ACCOUNT).filter(|text| !text.is_empty()).map(WrittenPart::read)
    }

    pub(super) fn finds(
        &self,
        phrase: &Phrase,
        kinds: &[Kind],
        near: bool,
        visit: &mut dyn FnMut(&Candidate<'t>),
    ) {
        let owner = self.record;
        let is_alone = self.kind == Kind::Account;
        if kinds.contains(&self.kind) && !is_alone {
            let numbers = self.accounts().flat_map(WrittenPart::fields);
            let fields = owner.fields().chain(numbers);
            if let Some(grade) = phrase.grade(fields, Field::Identifier, near) {
                let kind = self.kind;
                let part = owner;
                visit(&Candidate { rank: grade.rank, kind, part, owner, matched: grade.matched });
            }
        }
        if (self.kind == Kind::Customer || is_alone) && kinds.contains(&Kind::Account) {
            for part in self.accounts() {
                let names = owner.fields().filter(|(field, _)| field.is_name());
                let fields = part.fields().chain(names);
                if let Some(grade) = phrase.grade(fields, Field::AccountIdentifier, near) {
                    let kind = Kind::Account;
                    visit(&Candidate { rank: grade.rank, kind, part, owner, matched: grade.matched });
                }
            }
        }
    }
}
