//! What records are found by, compact in memory: one line of text for each customer (with cards and
//! accounts), employee and office, searched in the blocks that may have a match.
//!
//! A line is as long as the names, numbers and addresses in it, about 150 bytes for a customer with one
//! account. The store decides: a line only says where to look.

use super::best::Best;
use super::line::{END, FIELD, LABEL, Line, Written, best_rank, has_any, identified, label, letter};
use super::runs::{Runs, Sorted, sort};
use crate::domain::blocks::Blocks;
use crate::domain::search::{Found, Kind, Phrase, Round};
use memchr::{memchr, memmem, memrchr};
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::ops::Range;
use std::panic::resume_unwind;
use std::thread;

/// Bytes of removed lines that are always left.
const DEAD_BYTES_MIN: usize = 1 << 20;
/// Blocks for which a further thread is worth its start, 4 MiB of text. Fewer in tests.
const BLOCKS_OF_A_THREAD: usize = if cfg!(test) { 2 } else { 256 };
/// Blocks that are searched before it is asked for the first time whether that suffices; then twice as many.
const BLOCKS_AT_FIRST: usize = if cfg!(test) { 1 } else { 16 };

/// All lines.
#[derive(Debug, Default)]
pub struct Column {
    text: Vec<u8>,
    /// What is behind the mark of a field is its number.
    blocks: Blocks<{ FIELD as u8 }>,
    runs: Runs,
    /// Where the line of a record begins. A key is a hash of kind and identifier, so that no identifier is
    /// held twice; that of a removed record stays, as [`GONE`], so that keys that were passed over because of
    /// it are still found.
    places: HashMap<u64, usize>,
    hasher: RandomState,
    /// Bytes of lines that count no more.
    dead_bytes: usize,
}

/// Looks through blocks by at most so many threads; what each of them has found.
fn in_parts<T: Send>(
    blocks: &[Range<usize>],
    threads: usize,
    look: impl Fn(&[Range<usize>]) -> T + Sync,
) -> Vec<T> {
    let length = blocks.len().div_ceil(threads).max(BLOCKS_OF_A_THREAD);
    let mut parts = blocks.chunks(length);
    let Some(first) = parts.next() else { return Vec::new() };
    thread::scope(|scope| {
        let look = &look;
        let start = |part| (thread::Builder::new().spawn_scoped(scope, move || look(part)), part);
        let helpers: Vec<_> = parts.map(start).collect();
        let mut found = vec![look(first)];
        for (helper, part) in helpers {
            found.push(match helper {
                Ok(helper) => helper.join().unwrap_or_else(|panic| resume_unwind(panic)),
                // No thread could be started for it.
                Err(_) => look(part),
            });
        }
        found
    })
}

/// Replaces the kind in a line that no longer counts.
const DEAD: u8 = b'-';
/// The place of a record that is removed.
const GONE: usize = usize::MAX;

impl Column {
    /// Writes the line of a record, in place of the one that it had.
    pub fn put(&mut self, line: &Line) {
        let mut text = line.text();
        text.push(char::from(END));
        // Most changes, such as postings to its accounts, leave the line of a customer as it was.
        let known = self.known(line.kind, &line.record.identifier);
        if known.is_some_and(|(_, place)| self.text[place..].starts_with(text.as_bytes())) {
            return;
        }
        self.remove(line.kind, &line.record.identifier);
        let is_free = |key: &u64| self.places.get(key).is_none_or(|place| *place == GONE);
        let key = self.keys(line.kind, &line.record.identifier).find(is_free).unwrap_or_default();
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
        let Some((key, place)) = self.known(kind, identifier) else { return };
        self.places.insert(key, GONE);
        let length = memchr(END, &self.text[place..]).unwrap_or(0);
        self.text[place] = DEAD;
        self.dead_bytes += length + 1;
    }

    /// Whether a record has a line.
    pub fn has(&self, kind: Kind, identifier: &str) -> bool {
        self.known(kind, identifier).is_some()
    }

    /// Number of records.
    pub fn records(&self) -> usize {
        self.places.values().filter(|place| **place != GONE).count()
    }

    /// Bytes in memory, the tables of places and blocks included.
    pub fn bytes(&self) -> usize {
        self.text.capacity() + self.places.capacity() * size_of::<(u64, usize)>() + self.blocks.bytes()
    }

    /// The best finds, best first, by at most so many threads.
    pub fn find(
        &self,
        phrase: &Phrase,
        kinds: &[Kind],
        near: bool,
        limit: usize,
        threads: usize,
    ) -> Vec<Found> {
        let take = |best: &mut Best, line| {
            let text = std::str::from_utf8(line).unwrap_or_default();
            Written::read(text).finds(phrase, kinds, near, &mut |find| best.keep(find));
        };
        // The record that the text names comes before all others. With it found, the label of any other line
        // can say that it comes too late.
        let mut best = Best::new(limit);
        // Words are near only where nothing has them as they are, so no identifier either.
        let whole = (!near).then(|| phrase.whole());
        for text in whole.into_iter().flat_map(identified) {
            let blocks: Vec<_> = self.blocks.of(&[&text], 0..self.text.len()).collect();
            self.lines_with(&text, &blocks, |line| take(&mut best, line));
        }
        for round in phrase.rounds(near) {
            let look = |best: &Best, blocks: &[Range<usize>]| {
                let mut found = Best::new(limit);
                self.lines_with(round.anchor, blocks, |line| {
                    let label = label(line);
                    let is_too_late =
                        |found: &Best, rank| found.is_too_late(rank, label) || best.is_too_late(rank, label);
                    if !has_any(line, kinds) || is_too_late(&found, round.best) {
                        return;
                    }
                    let rank = best_rank(line, phrase, near).filter(|rank| *rank <= round.rank);
                    if rank.is_some_and(|rank| !is_too_late(&found, rank)) {
                        take(&mut found, line);
                    }
                });
                found
            };
            self.look_through(&round, &mut best, |best, blocks| {
                in_parts(blocks, threads, |blocks| look(best, blocks))
            });
        }
        best.into_sorted()
    }

    /// Looks through the blocks that a round needs, until those that are left can have no find that is good
    /// enough.
    fn look_through(
        &self,
        round: &Round<'_>,
        best: &mut Best,
        look: impl Fn(&Best, &[Range<usize>]) -> Vec<Best>,
    ) {
        for (part, is_sorted) in self.runs.parts(self.text.len()) {
            let mut blocks = self.blocks.of(&round.texts, part);
            let mut count = BLOCKS_AT_FIRST;
            loop {
                let next: Vec<_> = blocks.by_ref().take(count).collect();
                let Some(first) = next.first().map(|block| self.line_at(block.start)) else { break };
                if is_sorted && best.is_too_late(round.best, label(&self.text[first])) {
                    break;
                }
                look(best, &next).into_iter().for_each(|found| best.join(found));
                count *= 2;
            }
        }
    }

    /// Visits the lines of some blocks that hold a text; the text may include what ends a line.
    fn lines_with<'c>(&'c self, text: &str, blocks: &[Range<usize>], mut visit: impl FnMut(&'c [u8])) {
        let finder = memmem::Finder::new(text);
        for block in blocks {
            let mut from = block.start;
            while let Some(at) = self.text.get(from..block.end).and_then(|rest| finder.find(rest)) {
                let line = self.line_at(from + at);
                from = line.end;
                let line = &self.text[line.start..line.end - 1];
                if line.first() != Some(&DEAD) {
                    visit(line);
                }
            }
        }
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

    /// The key of a record, and where its line begins.
    fn known(&self, kind: Kind, identifier: &str) -> Option<(u64, usize)> {
        let mut places = self.keys(kind, identifier).map_while(|key| Some((key, *self.places.get(&key)?)));
        places.find(|(_, place)| self.is_of(*place, kind, identifier))
    }

    fn is_of(&self, place: usize, kind: Kind, identifier: &str) -> bool {
        let rest = self.text.get(place..).unwrap_or_default();
        let name = rest.get(2..).and_then(|rest| rest.get(..identifier.len()));
        rest.first() == Some(&(letter(kind) as u8))
            && name == Some(identifier.as_bytes())
            && rest.get(2 + identifier.len()) == Some(&(LABEL as u8))
    }

    /// From where on lines have to be written anew: all of them where many count no more, and otherwise those
    /// that are not sorted, if they are more than so many bytes.
    fn untidy_from(&self, unsorted_max: usize) -> Option<usize> {
        let is_mostly_dead = self.dead_bytes > DEAD_BYTES_MIN.max(self.text.len() / 2);
        let unsorted_from = || self.runs.unsorted_from(self.text.len(), unsorted_max);
        if is_mostly_dead { Some(0) } else { unsorted_from() }
    }

    /// Whether it is time to [`tidy`](Self::tidy) it.
    pub fn is_untidy(&self, unsorted_max: usize) -> bool {
        self.untidy_from(unsorted_max).is_some()
    }

    /// Sorts lines until no more than so many bytes are unsorted, and leaves out what counts no more.
    pub fn tidy(&mut self, unsorted_max: usize) {
        if let Some(from) = self.untidy_from(unsorted_max) {
            self.rewrite(from);
        }
    }

    /// Writes the lines from a place on anew, sorted, without those that count no more.
    fn rewrite(&mut self, from: usize) {
        let mut lines = Vec::new();
        let mut start = from;
        while start < self.text.len() {
            let place = self.line_at(start);
            start = place.end;
            let line = &self.text[place.clone()];
            if line.first() == Some(&DEAD) {
                self.dead_bytes -= line.len();
                continue;
            }
            let written = Written::read(std::str::from_utf8(line).unwrap_or_default());
            let is_own = |key: &u64| self.places.get(key).is_none_or(|known| *known == place.start);
            let key = self.keys(written.kind, written.record.identifier).find(is_own).unwrap_or_default();
            lines.push(Sorted::new(&self.text, place, key));
        }
        let runs = sort(&self.text, &mut lines);
        let old = self.text.split_off(from);
        self.blocks.truncate(from);
        self.runs.truncate(from);
        for run in runs {
            for line in run {
                self.write(line.key, &old[line.place.start - from..line.place.end - from]);
            }
            self.runs.push(self.text.len());
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

    fn line(identifier: &str, given: char, surname: &str, number: Option<&str>) -> Line {
        let part = |identifier: &str, fields: Vec<(Field, String)>| Part {
            identifier: identifier.to_owned(),
            closed: identifier.bytes().last().is_some_and(|byte| byte % 3 == 0),
            fields,
        };
        let fields = vec![
            (Field::Identifier, identifier.to_owned()),
            (Field::GivenName, given.to_string()),
            (Field::Surname, surname.to_owned()),
            (Field::Phone, "+233 24".to_owned()),
        ];
        let account = |number: &str| part(number, vec![(Field::AccountIdentifier, number.to_owned())]);
        Line {
            kind: Kind::Customer,
            label: format!("{given} {surname}"),
            record: part(identifier, fields),
            accounts: number.into_iter().map(account).collect(),
            alike: None,
        }
    }

    const KINDS: [Kind; 3] = [Kind::Customer, Kind::Account, Kind::Office];

    /// What every line by itself has, in order.
    fn expected(
        lines: &BTreeMap<String, Line>,
        phrase: &Phrase,
        kinds: &[Kind],
        near: bool,
        limit: usize,
    ) -> Vec<Found> {
        let finds = |near| {
            let mut found: Vec<_> = lines.values().flat_map(|l| l.finds(phrase, kinds, near)).collect();
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
        prop_oneof![
            3 => Just("mensah".to_owned()),
            1 => "(mansah|mensa|mesnah|addo)",
            1 => "[ab]{1,3}",
            1 => "ab? [ab]c",
            1 => "Sö?hne’s",
        ]
    }

    #[derive(Debug, Clone)]
    enum Step {
        Put(u8, char, String, bool),
        Remove(u8),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            5 => (0u8..40, proptest::char::range('a', 'z'), name(), any::<bool>())
                .prop_map(|(id, given, name, account)| Step::Put(id, given, name, account)),
            1 => (0u8..40).prop_map(Step::Remove),
        ];
        proptest::collection::vec(step, 0..60)
    }

    #[test]
    fn a_line_that_stays_as_it_was_is_not_written_again() {
        let mut column = Column::default();
        let put = |column: &mut Column, surname| column.put(&line("c1", 'a', surname, Some("c1.1")));
        put(&mut column, "mensah");
        let before = column.text.clone();
        put(&mut column, "mensah");
        assert_eq!((&column.text, column.dead_bytes), (&before, 0));
        put(&mut column, "mensa");
        assert_eq!((column.text.len(), column.dead_bytes), (2 * before.len() - 2, before.len()));
        column.remove(Kind::Customer, "c1");
        put(&mut column, "mensa");
        assert_eq!(column.records(), 1);
    }

    proptest! {
        #[test]
        fn the_column_finds_what_every_line_by_itself_has(
            steps in steps(), text in name(), more in name(), limit in 1usize..6, threads in 1usize..4,
            kinds in proptest::sample::subsequence(KINDS.to_vec(), 1..=KINDS.len()),
            unsorted_max in prop_oneof![Just(0), Just(100), Just(400), Just(usize::MAX)], rewrites: bool,
        ) {
            let (mut column, mut lines) = (Column::default(), BTreeMap::new());
            for step in steps {
                match step {
                    Step::Put(id, given, surname, account) => {
                        let identifier = format!("c{id}");
                        let number = account.then(|| format!("{identifier}.1"));
                        let line = line(&identifier, given, &surname, number.as_deref());
                        column.put(&line);
                        lines.insert(identifier, line);
                    }
                    Step::Remove(id) => {
                        column.remove(Kind::Customer, &format!("c{id}"));
                        lines.remove(&format!("c{id}"));
                    }
                }
                if rewrites {
                    column.rewrite(0);
                }
                column.tidy(unsorted_max);
            }
            prop_assert_eq!(column.records(), lines.len());
            let named = ["24", "c1", "c1.1"].map(str::to_owned);
            for text in [text.clone(), format!("{text} {more}")].into_iter().chain(named) {
                let phrase = Phrase::parse(&text);
                for near in [false, true] {
                    let found = column.find(&phrase, &kinds, near, limit, threads);
                    let expected = expected(&lines, &phrase, &kinds, near, limit);
                    prop_assert_eq!(found, expected, "{} {}", text, near);
                }
            }
        }
    }
}
