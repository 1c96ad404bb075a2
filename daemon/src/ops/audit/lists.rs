//! The lists by which records are found: one for each record that is named, for everything under a name, for
//! each actor, request, operation and outcome. They are worked out from the trail, beside the writers.
//!
//! A list is kept in pieces of the same length, so that its k-th element, and how many it has, are found
//! without going through it.

use crate::store::Tx;
use crate::store::engine;
use crate::store::record::{Record, number, numbered, prefix};
use crate::store::records::{
    AUDIT, AUDIT_LISTS, AuditEnd, AuditIndexed, AuditList, LIST_LENGTH_MAX, StoreFacts,
};
use crate::store::tx::{decode, record};
use memchr::memmem;
use mfa_shared::fault::Fault;
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::ops::Range;

/// The kinds of lists.
pub const RESOURCE: char = 'r';
/// What a user did.
pub const ACTOR: char = 'a';
/// What a request did.
pub const REQUEST: char = 'q';
/// What was done.
pub const OPERATION: char = 'o';
/// How it ended.
pub const OUTCOME: char = 'u';

/// Pieces of lists that are to be written, and how far they go.
#[derive(Debug, Clone)]
pub struct Pieces {
    after: u64,
    upto: u64,
    /// How many records come after them.
    pub behind: u64,
    /// Each with its key, in its stored form: who decides transactions has nothing to do but to put them.
    pieces: Vec<(Vec<u8>, Vec<u8>)>,
}

/// More parts than the name of any record has.
const LEVELS_MAX: usize = 8;
/// No record has a longer name, and a longer one could not be the key of a list.
const NAME_BYTES_MAX: usize = 768;

/// What a list of records under a name is asked for by.
pub fn names_of(resource: &str) -> impl Iterator<Item = String> + '_ {
    let above = resource.match_indices('/').take(LEVELS_MAX);
    let above = above.map(|(at, _)| format!("{}/*", &resource[..at]));
    above.chain([resource.to_owned()])
}

/// What a stored record is listed by.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Listed<'r> {
    #[serde(borrow)]
    actor: Cow<'r, str>,
    #[serde(borrow)]
    request_id: Cow<'r, str>,
    #[serde(borrow)]
    operation: Cow<'r, str>,
    #[serde(borrow)]
    resource: Option<Cow<'r, str>>,
    #[serde(borrow)]
    affects: Vec<Cow<'r, str>>,
    #[serde(borrow)]
    outcome: Cow<'r, str>,
}

/// The member behind all those. No text holds these bytes: its quotation marks have a backslash before them.
const BEHIND_LISTED: &[u8] = b",\"status\":";

/// The lists that a record, in its stored form, belongs to, each once. A record can name thousands: the CLOSE
/// of a teller names all transactions that it cancels.
pub(super) fn lists_of(line: &[u8]) -> Result<HashSet<String>, Fault> {
    // All records go through here once more, so the rest of them, which is most, is passed over.
    let listed = memmem::find(line, BEHIND_LISTED).map(|end| [&line[..end], b"}"].concat());
    let record: Listed<'_> = decode(AUDIT, listed.as_deref().unwrap_or(line))?;
    let mut lists = HashSet::with_capacity(12 + record.affects.len());
    for resource in record.resource.iter().chain(&record.affects) {
        let names = names_of(resource).map(|name| AuditList::name(RESOURCE, &name));
        lists.extend(names.filter(|name| name.len() <= NAME_BYTES_MAX));
    }
    lists.insert(AuditList::name(ACTOR, &record.actor));
    lists.insert(AuditList::name(REQUEST, &record.request_id));
    lists.insert(AuditList::name(OPERATION, &record.operation));
    lists.insert(AuditList::name(OUTCOME, &record.outcome));
    Ok(lists)
}

/// Works out what the next records add to the lists; `None` if the lists are complete.
pub fn pieces(tx: &mut Tx<'_>, at_once: u64) -> Result<Option<Pieces>, Fault> {
    let Some(end) = tx.get::<AuditEnd>(AuditEnd::KEY)? else { return Ok(None) };
    let facts = tx.get::<StoreFacts>(&["store"])?;
    if facts.is_some_and(|facts| facts.form < StoreFacts::FORM) {
        // An earlier program, which may still open the store, could not read them. The next start goes on.
        return Ok(None);
    }
    let indexed = tx.get::<AuditIndexed>(AuditIndexed::KEY)?;
    if indexed.as_ref().is_some_and(|indexed| indexed.clearing) {
        // They are removed first, and then worked out anew.
        return Ok(None);
    }
    let after = indexed.map_or(0, |indexed| indexed.sequence);
    let first = after.max(end.first.saturating_sub(1)) + 1;
    if first > end.sequence {
        return Ok(None);
    }
    let upto = end.sequence.min(first + at_once - 1);
    let mut added: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    let range = engine::Range { from: numbered(&[], first), to: Some(numbered(&[], upto + 1)) };
    tx.walk(AUDIT, range, &mut |key, record| {
        for list in lists_of(record)? {
            added.entry(list).or_default().push(number(key));
        }
        Ok(true)
    })?;
    let short: Vec<_> = added.keys().filter(|name| is_short(name)).map(|name| numbered(&[name], 0)).collect();
    tx.expect(AUDIT_LISTS, &short)?;
    let mut pieces = Vec::with_capacity(added.len());
    for (name, sequences) in added {
        let last = last_piece(tx, &name)?;
        let last = last.unwrap_or_else(|| AuditList { name, piece: 0, sequences: Vec::new() });
        append(last, sequences, &mut pieces);
    }
    let pieces = pieces.iter().map(|piece| (piece.key(), piece.stored())).collect();
    Ok(Some(Pieces { after, upto, behind: end.sequence - upto, pieces }))
}

/// Puts numbers behind the last ones of a list.
fn append(mut piece: AuditList, sequences: Vec<u64>, pieces: &mut Vec<AuditList>) {
    for sequence in sequences {
        if piece.sequences.len() == LIST_LENGTH_MAX {
            let next = AuditList { name: piece.name.clone(), piece: piece.piece + 1, sequences: Vec::new() };
            pieces.push(std::mem::replace(&mut piece, next));
        }
        piece.sequences.push(sequence);
    }
    pieces.push(piece);
}

/// Whether a list has one piece as a rule: that of a request, or of one record.
fn is_short(name: &str) -> bool {
    name.starts_with([RESOURCE, REQUEST]) && !name.ends_with("/*")
}

fn last_piece(tx: &mut Tx<'_>, name: &str) -> Result<Option<AuditList>, Fault> {
    if is_short(name) {
        let first = tx.at::<AuditList>(&numbered(&[name], 0))?;
        if first.as_ref().is_none_or(|piece| piece.sequences.len() < LIST_LENGTH_MAX) {
            return Ok(first);
        }
    }
    tx.last(&engine::Range::prefix(&prefix(&[name])))
}

/// Writes what was worked out, unless someone has done so since, or has begun to remove the lists.
pub fn put_pieces(tx: &mut Tx<'_>, work: &Pieces) -> Result<(), Fault> {
    let indexed = tx.get::<AuditIndexed>(AuditIndexed::KEY)?;
    let (sequence, clearing) = indexed.map_or((0, false), |indexed| (indexed.sequence, indexed.clearing));
    if clearing || sequence != work.after {
        return Ok(());
    }
    work.pieces.iter().for_each(|(key, piece)| tx.put_line::<AuditList>(key.clone(), piece.clone()));
    tx.add(&AuditIndexed { sequence: work.upto, clearing: false });
    Ok(())
}

/// How many elements a list has.
pub fn length(tx: &mut Tx<'_>, name: &str) -> Result<u64, Fault> {
    let full = LIST_LENGTH_MAX as u64;
    Ok(last_piece(tx, name)?.map_or(0, |last| last.piece * full + last.sequences.len() as u64))
}

/// The elements of a list at places that follow each other, as far as there are any.
pub fn elements(tx: &mut Tx<'_>, name: &str, places: Range<u64>) -> Result<Vec<u64>, Fault> {
    let full = LIST_LENGTH_MAX as u64;
    let mut found = Vec::new();
    if places.is_empty() {
        return Ok(found);
    }
    let [first, end] = [places.start / full, places.end.div_ceil(full)];
    if end == first + 1 {
        // Where a number is looked for by halving, one piece is read again and again, and so may be kept.
        let piece = tx.at::<AuditList>(&numbered(&[name], first))?;
        return Ok(piece.map(|piece| piece.within(&places)).into_iter().flatten().collect());
    }
    let [from, to] = [first, end].map(|piece| numbered(&[name], piece));
    tx.walk(AUDIT_LISTS, engine::Range { from, to: Some(to) }, &mut |key, value| {
        found.extend(record::<AuditList>(key, value)?.within(&places));
        Ok(true)
    })?;
    Ok(found)
}

/// Those of the numbers, which ascend, that a list has.
pub fn common(tx: &mut Tx<'_>, name: &str, numbers: &[u64]) -> Result<Vec<u64>, Fault> {
    let Some(first) = numbers.first() else { return Ok(Vec::new()) };
    let (mut start, mut end) = (0, length(tx, name)?.div_ceil(LIST_LENGTH_MAX as u64));
    // The first piece that does not end before all of them.
    while start < end {
        let middle = start + (end - start) / 2;
        let piece = tx.at::<AuditList>(&numbered(&[name], middle))?;
        match piece.and_then(|piece| piece.sequences.last().copied()) {
            Some(last) if last < *first => start = middle + 1,
            _ => end = middle,
        }
    }
    let pieces = engine::Range { from: numbered(&[name], start), ..engine::Range::prefix(&prefix(&[name])) };
    let mut common = Vec::new();
    let mut left = numbers;
    tx.walk(AUDIT_LISTS, pieces, &mut |key, value| {
        let piece: AuditList = record(key, value)?;
        for number in piece.sequences {
            left = &left[left.iter().take_while(|other| **other < number).count()..];
            if left.first() == Some(&number) {
                common.push(number);
            }
        }
        Ok(!left.is_empty())
    })?;
    Ok(common)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::ledger::tests::memory::Memory;
    use crate::store::records::StoredAudit;
    use mfa_shared::api::audit::AuditRecord;

    const RECORDS: u64 = 3 * LIST_LENGTH_MAX as u64;

    #[test]
    fn lists_of_one_record_and_of_many_go_on_from_piece_to_piece() {
        let mut store = Memory::new();
        let sealed = store.write(|tx| {
            for sequence in 1..=RECORDS {
                let mut record = AuditRecord::of("PutCustomer", tx.now());
                record.sequence = i64::try_from(sequence).ok();
                record.resource = Some("customer/c-001".to_owned());
                record.request_id = format!("q{sequence}");
                tx.put(&StoredAudit(record))?;
            }
            tx.put(&AuditEnd { first: 1, sequence: RECORDS, hash: String::new(), occurred_on: tx.now() })
        });
        sealed.unwrap();
        while let Some(work) = store.read(|tx| pieces(tx, 50)) {
            store.write(|tx| put_pieces(tx, &work)).unwrap();
        }
        for name in ["r customer/c-001", "r customer/*", "o PutCustomer", "a guest"] {
            assert_eq!(store.read(|tx| length(tx, name)), RECORDS, "{name}");
            for places in [0..0, 0..1, 0..RECORDS, 5..RECORDS + 5, 127..129, 130..260, RECORDS..RECORDS + 1] {
                let found = store.read(|tx| elements(tx, name, places.clone()));
                let expected: Vec<_> = places.map(|place| place + 1).filter(|one| *one <= RECORDS).collect();
                assert_eq!(found, expected, "{name}");
            }
        }
        assert_eq!(store.read(|tx| elements(tx, "q q200", 0..2)), [200]);
        let all: Vec<u64> = (1..=RECORDS + 2).collect();
        for numbers in [&all[..], &all[126..130], &all[200..], &[2, 127, 300, 999], &[999], &[]] {
            let common = store.read(|tx| common(tx, "o PutCustomer", numbers));
            assert!(common.iter().eq(numbers.iter().filter(|number| **number <= RECORDS)), "{numbers:?}");
            assert!(store.read(|tx| super::common(tx, "o nothing", numbers)).is_empty());
        }
    }

    #[test]
    fn lists_get_no_pieces_before_the_store_says_their_form() {
        let mut store = Memory::new();
        let say = |store: &mut Memory, form| {
            let said = store.write(|tx| {
                let (instance, created_on) = ("0".repeat(32), tx.now());
                tx.put(&StoreFacts { instance, created_on, form, program: None })
            });
            said.unwrap();
        };
        say(&mut store, StoreFacts::FORM - 1);
        let sealed = store.write(|tx| {
            let mut record = AuditRecord::of("PutCustomer", tx.now());
            record.sequence = Some(1);
            tx.put(&StoredAudit(record))?;
            tx.put(&AuditEnd { first: 1, sequence: 1, hash: String::new(), occurred_on: tx.now() })
        });
        sealed.unwrap();
        assert!(store.read(|tx| pieces(tx, 50)).is_none());
        say(&mut store, StoreFacts::FORM);
        assert!(store.read(|tx| pieces(tx, 50)).is_some());
    }

    #[test]
    fn lists_that_are_being_removed_get_no_more_pieces() {
        let mut store = Memory::new();
        let indexed = AuditIndexed { sequence: 7, clearing: true };
        store.write(|tx| tx.put(&indexed)).unwrap();
        let list = AuditList { name: "a guest".to_owned(), piece: 0, sequences: vec![8] };
        let work = Pieces { after: 7, upto: 8, behind: 0, pieces: vec![(list.key(), list.stored())] };
        store.write(|tx| put_pieces(tx, &work)).unwrap();
        assert_eq!(store.read(|tx| length(tx, "a guest")), 0);
        assert!(store.read(|tx| tx.get::<AuditIndexed>(AuditIndexed::KEY)).unwrap().clearing);
        store.write(|tx| tx.put(&AuditIndexed { sequence: 7, clearing: false })).unwrap();
        store.write(|tx| put_pieces(tx, &work)).unwrap();
        assert_eq!(store.read(|tx| length(tx, "a guest")), 1);
    }
}
