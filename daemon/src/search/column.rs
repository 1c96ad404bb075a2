//! What records are found by, compact in memory: one line of text for each customer (with cards and
//! accounts), employee and office, searched in the blocks that may have a match.
//!
//! A line is as long as the names, numbers and addresses in it, about 150 bytes for a customer with one
//! account. The store decides: a line only says where to look.

use super::blocks::Blocks;
use super::line::{Candidate, LABEL, Line, Written, best_rank, is_behind, label, letter, may_be_identifier};
use crate::domain::search::{Found, Kind, Phrase, Rank};
use memchr::{memchr, memmem, memrchr};
use std::collections::{BinaryHeap, HashMap};
use std::hash::{BuildHasher, RandomState};
use std::ops::Range;

/// Ends a line.
const END: u8 = b'\n';
/// Bytes of removed lines that are always left.
const DEAD_BYTES_MIN: usize = 1 << 20;
/// All lines.
#[derive(Debug, Default)]
pub struct Column {
    text: Vec<u8>,
    blocks: Blocks,
    /// Where the line of a record begins. A key is a hash of kind and identifier, so that no identifier is
    /// held twice.
    places: HashMap<u64, usize>,
    hasher: RandomState,
    /// Bytes of lines that count no more.
    dead_bytes: usize,
}

/// Keeps a find if it is among the best ones.
fn keep(best: &mut BinaryHeap<Found>, limit: usize, find: &Candidate<'_>) {
    if best.len() < limit || best.peek().is_some_and(|worst| find.is_before(worst)) {
        best.push(find.to_found());
        if best.len() > limit {
            best.pop();
        }
    }
}

/// Replaces the kind in a line that no longer counts.
const DEAD: u8 = b'-';

impl Column {
    /// Writes the line of a record, in place of the one that it had.
    pub fn put(&mut self, line: &Line) {
        self.remove(line.kind, &line.record.identifier);
        let key = self.free_key(line.kind, &line.record.identifier);
        let mut text = line.text();
        text.push(char::from(END));
        self.write(key, text.as_bytes());
    }

    /// Writes a line with its end behind the others.
    fn write(&mut self, key: u64, line: &[u8]) {
        self.places.insert(key, self.text.len());
        self.text.extend_from_slice(line);
        self.blocks.push(line);
    }

    /// Removes the line of a record, if it has one.
    pub fn remove(&mut self, kind: Kind, identifier: &str) {
        let Some(key) = self.keys(kind, identifier).find(|key| match self.places.get(key) {
            None => true,
            Some(place) => self.is_of(*place, kind, identifier),
        }) else {
            return;
        };
        let Some(place) = self.places.get(&key).copied() else { return };
        let length = memchr(END, &self.text[place..]).unwrap_or(0);
        // The key stays with the dead line, so that keys that were passed over because of it are still found.
        self.text[place] = DEAD;
        self.text[place + 1..place + length].fill(b' ');
        self.dead_bytes += length + 1;
        if self.dead_bytes > DEAD_BYTES_MIN.max(self.text.len() / 2) {
            self.compact();
        }
    }

    /// Whether a record has a line.
    pub fn has(&self, kind: Kind, identifier: &str) -> bool {
        let mut places = self.keys(kind, identifier).map_while(|key| self.places.get(&key));
        places.any(|place| self.is_of(*place, kind, identifier))
    }

    /// Number of records.
    pub fn records(&self) -> usize {
        self.places.values().filter(|place| self.text[**place] != DEAD).count()
    }

    /// Bytes in memory, the tables of places and blocks included.
    pub fn bytes(&self) -> usize {
        self.text.capacity() + self.places.capacity() * size_of::<(u64, usize)>() + self.blocks.bytes()
    }

    /// The best finds, best first.
    pub fn find(&self, phrase: &Phrase, kinds: &[Kind], near: bool, limit: usize) -> Vec<Found> {
        let mut best: BinaryHeap<Found> = BinaryHeap::with_capacity(limit + 1);
        let anchors = phrase.anchors(near).unwrap_or_default();
        let mut seen: Vec<&str> = Vec::new();
        for anchor in anchors {
            let finder = memmem::Finder::new(anchor);
            for block in self.blocks.of(anchor.as_bytes()) {
                let mut from = block.start;
                while let Some(at) = self.text.get(from..block.end).and_then(|rest| finder.find(rest)) {
                    let line = self.line_at(from + at);
                    from = line.end;
                    let line = &self.text[line.start..line.end - 1];
                    if line.first() == Some(&DEAD) {
                        continue;
                    }
                    let label = label(line);
                    let is_too_late = |rank| {
                        let worst = best.peek().filter(|_| best.len() == limit);
                        worst.is_some_and(|worst| is_behind(rank, label, worst))
                    };
                    // Of a common name nearly every line ends here.
                    if is_too_late(Rank::Words) && !may_be_identifier(line, phrase) {
                        continue;
                    }
                    // A line that held an earlier anchor was looked at then.
                    if seen.iter().any(|earlier| memmem::find(line, earlier.as_bytes()).is_some()) {
                        continue;
                    }
                    let Some(rank) = best_rank(line, phrase, near) else { continue };
                    if !is_too_late(rank) {
                        let text = std::str::from_utf8(line).unwrap_or_default();
                        let mut keep = |find: &Candidate<'_>| keep(&mut best, limit, find);
                        Written::read(text).finds(phrase, kinds, near, &mut keep);
                    }
                }
            }
            seen.push(anchor);
        }
        best.into_sorted_vec()
    }

    /// The line that has this place in it, with its end.
    fn line_at(&self, place: usize) -> Range<usize> {
        let start = memrchr(END, &self.text[..place]).map_or(0, |end| end + 1);
        let end = memchr(END, &self.text[place..]).map_or(self.text.len(), |end| place + end + 1);
        start..end
    }

    /// The keys that a record may have: the next one is taken where a key is another record's.
    fn keys(&self, kind: Kind, identifier: &str) -> impl Iterator<Item = u64> + use<> {
        let first = self.hasher.hash_one((letter(kind), identifier));
        (0..).map(move |step| first.wrapping_add(step))
    }

    fn free_key(&self, kind: Kind, identifier: &str) -> u64 {
        let free = |key: &u64| match self.places.get(key) {
            None => true,
            Some(place) => self.text[*place] == DEAD,
        };
        self.keys(kind, identifier).find(free).unwrap_or_default()
    }

    fn is_of(&self, place: usize, kind: Kind, identifier: &str) -> bool {
        let rest = &self.text[place..];
        let name = rest.get(2..).and_then(|rest| rest.get(..identifier.len()));
        rest[0] == letter(kind) as u8
            && name == Some(identifier.as_bytes())
            && rest.get(2 + identifier.len()) == Some(&(LABEL as u8))
    }

    /// Leaves out the lines that count no more.
    fn compact(&mut self) {
        let text = std::mem::take(&mut self.text);
        self.places.clear();
        self.blocks = Blocks::default();
        self.dead_bytes = 0;
        self.text.reserve(text.len());
        for line in text.split_inclusive(|byte| *byte == END).filter(|line| line[0] != DEAD) {
            let read = std::str::from_utf8(line).unwrap_or_default();
            let written = Written::read(read);
            let key = self.free_key(written.kind, written.record.identifier);
            self.write(key, line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::line::Part;
    use super::*;
    use crate::domain::search::Field;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn line(identifier: &str, surname: &str, number: Option<&str>) -> Line {
        let part = |identifier: &str, fields: Vec<(Field, String)>| Part {
            identifier: identifier.to_owned(),
            closed: identifier.bytes().any(|byte| byte % 3 == 0),
            fields,
        };
        let fields = vec![
            (Field::Identifier, identifier.to_owned()),
            (Field::Surname, surname.to_owned()),
            (Field::Phone, "+233 24".to_owned()),
        ];
        let account = |number: &str| part(number, vec![(Field::AccountIdentifier, number.to_owned())]);
        Line {
            kind: Kind::Customer,
            label: surname.to_owned(),
            record: part(identifier, fields),
            accounts: number.into_iter().map(account).collect(),
            alike: None,
        }
    }

    const KINDS: [Kind; 2] = [Kind::Customer, Kind::Account];

    /// What every line by itself has, in order.
    fn expected(lines: &BTreeMap<String, Line>, phrase: &Phrase, near: bool, limit: usize) -> Vec<Found> {
        let finds = |near| {
            let mut found: Vec<_> = lines.values().flat_map(|l| l.finds(phrase, &KINDS, near)).collect();
            found.sort();
            found
        };
        let mut found = finds(near);
        // A word that may differ leaves some word to hold on to; without one nothing is near.
        if near && phrase.anchors(true).is_none() {
            found.clear();
        }
        found.truncate(limit);
        found
    }

    fn name() -> impl Strategy<Value = String> {
        prop_oneof!["[ab]{1,3}", "(mensah|mansah|mensa|mesnah|addo)", "ab? [ab]c", "Sö?hne’s"]
    }

    #[derive(Debug, Clone)]
    enum Step {
        Put(u8, String, bool),
        Remove(u8),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            3 => (0u8..12, name(), any::<bool>()).prop_map(|(id, name, account)| Step::Put(id, name, account)),
            1 => (0u8..12).prop_map(Step::Remove),
        ];
        proptest::collection::vec(step, 0..40)
    }

    proptest! {
        #[test]
        fn the_column_finds_what_every_line_by_itself_has(
            steps in steps(), text in name(), more in name(), limit in 1usize..6, compact: bool,
        ) {
            let (mut column, mut lines) = (Column::default(), BTreeMap::new());
            for step in steps {
                match step {
                    Step::Put(id, surname, account) => {
                        let identifier = format!("c{id}");
                        let number = account.then(|| format!("{identifier}.1"));
                        let line = line(&identifier, &surname, number.as_deref());
                        column.put(&line);
                        lines.insert(identifier, line);
                    }
                    Step::Remove(id) => {
                        column.remove(Kind::Customer, &format!("c{id}"));
                        lines.remove(&format!("c{id}"));
                    }
                }
                if compact {
                    column.compact();
                }
            }
            prop_assert_eq!(column.records(), lines.len());
            for text in [text.clone(), format!("{text} {more}"), "24".to_owned(), "c1.1".to_owned()] {
                let phrase = Phrase::parse(&text);
                for near in [false, true] {
                    let found = column.find(&phrase, &KINDS, near, limit);
                    prop_assert_eq!(found, expected(&lines, &phrase, near, limit), "{} {}", text, near);
                }
            }
        }
    }
}
