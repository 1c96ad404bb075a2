//! Whether the trail is intact: its chain, its end, and the lists against the records that they name.

use super::lists::lists_of;
use crate::store::check::Finding;
use crate::store::engine::Range;
use crate::store::record::{number, numbered};
use crate::store::records::{
    AUDIT, AUDIT_LISTS, AuditEnd, AuditIndexed, AuditList, LIST_LENGTH_MAX, StoredAudit,
};
use crate::store::tx::{decode, record};
use crate::store::{Tx, trail};
use mfa_shared::api::audit::NO_HASH;
use mfa_shared::fault::Fault;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};

/// What does not hold in the audit trail.
pub fn check_trail(tx: &mut Tx<'_>) -> Result<Vec<Finding>, Fault> {
    let mut findings = Vec::new();
    let end = tx.get::<AuditEnd>(AuditEnd::KEY)?;
    let listed = chain(tx, end.as_ref(), &mut findings)?;
    lists(tx, &listed, &mut findings)?;
    Ok(findings)
}

fn finding(number: u64, detail: String) -> Finding {
    Finding { subject: format!("audit record {number}"), detail }
}

/// Follows the chain from its first record to its end; returns the places in lists that its records need.
fn chain(tx: &mut Tx<'_>, end: Option<&AuditEnd>, findings: &mut Vec<Finding>) -> Result<Places, Fault> {
    let indexed = tx.get::<AuditIndexed>(AuditIndexed::KEY)?.map_or(0, |indexed| indexed.sequence);
    let first = end.map_or(1, |end| end.first);
    let mut expected = first;
    let mut before = (first == 1).then(|| NO_HASH.to_owned());
    let mut places = Places::default();
    tx.walk(AUDIT, Range::prefix(&[]), &mut |key, value| {
        let place = number(key);
        if place != expected {
            findings.push(finding(expected, format!("is missing: the next one is {place}")));
        }
        let StoredAudit(record) = decode(AUDIT, value)?;
        let tells = |what: &str| finding(place, what.to_owned());
        if record.sequence.map(i64::unsigned_abs) != Some(place) {
            findings.push(tells("has another number"));
        }
        let hash = trail::hash(&record);
        if record.hash.as_ref() != Some(&hash) {
            findings.push(tells("was altered: its hash does not match"));
        }
        if before.is_some() && record.previous_hash != before && place == expected {
            findings.push(tells("does not follow the one before it"));
        }
        if place <= indexed {
            lists_of(value)?.iter().for_each(|list| places.add(list, place));
        }
        (expected, before) = (place + 1, record.hash);
        Ok(true)
    })?;
    let last = expected - 1;
    match end {
        Some(end) if end.sequence != last || Some(&end.hash) != before.as_ref() => {
            findings.push(finding(end.sequence, format!("is recorded as the last one, which is {last}")));
        }
        None if last > 0 => findings.push(finding(last, "is not known as the last one".to_owned())),
        _ => {}
    }
    Ok(places)
}

/// Compares the lists with the records. Together they are compared by their fingerprints, for which each
/// record is read once; only where these differ, the record of each place is looked at.
fn lists(tx: &mut Tx<'_>, expected: &Places, findings: &mut Vec<Finding>) -> Result<(), Fault> {
    let mut found = expected.none();
    let mut faults = pieces(tx, &mut |_, list, sequence| {
        found.add(list, sequence);
        Ok(true)
    })?;
    if found != *expected {
        let mut looked_at = LookedAt::default();
        faults = pieces(tx, &mut |tx, list, sequence| looked_at.belongs(tx, list, sequence))?;
        let (have, must) = (found.count, expected.count);
        let detail = if have == must {
            "name other records than they must".to_owned()
        } else {
            format!("have {have} places, and the records must have {must}")
        };
        faults.push(Finding { subject: "lists of the audit trail".to_owned(), detail });
    }
    findings.append(&mut faults);
    Ok(())
}

/// Goes through the lists: no piece is missing, each place names a record that belongs there, and none occurs
/// twice.
fn pieces(
    tx: &mut Tx<'_>,
    belongs: &mut dyn FnMut(&mut Tx<'_>, &str, u64) -> Result<bool, Fault>,
) -> Result<Vec<Finding>, Fault> {
    let mut findings = Vec::new();
    let mut from = Vec::new();
    let mut before = None::<(String, u64, u64)>;
    loop {
        let page = tx.scan(AUDIT_LISTS, &Range { from, to: None }, false, LIST_LENGTH_MAX)?;
        let Some((last, _)) = page.last() else { return Ok(findings) };
        from = [last.as_slice(), &[0]].concat();
        for (key, value) in page {
            let piece: AuditList = record(&key, &value)?;
            let follows = before.take().filter(|(name, ..)| *name == piece.name);
            let (next, mut above) = follows.map_or((0, 0), |(_, number, above)| (number + 1, above));
            let mut finds = |detail: String| {
                findings.push(Finding { subject: format!("list {} of the audit trail", piece.name), detail });
            };
            if piece.piece != next {
                finds(format!("lacks its piece {next}"));
            }
            for sequence in &piece.sequences {
                if !belongs(tx, &piece.name, *sequence)? || *sequence <= above {
                    finds(format!("names record {sequence}, which does not belong there"));
                }
                above = *sequence;
            }
            before = Some((piece.name, piece.piece, above));
        }
    }
}

/// Places in lists: how many, and a fingerprint in which their order plays no part.
#[derive(Default)]
struct Places {
    hashers: [RandomState; 2],
    sums: [u64; 2],
    count: u64,
}

impl Places {
    /// No place, with the same fingerprints.
    fn none(&self) -> Self {
        Self { hashers: self.hashers.clone(), ..Self::default() }
    }

    fn add(&mut self, list: &str, sequence: u64) {
        for (hasher, sum) in self.hashers.iter().zip(&mut self.sums) {
            *sum = sum.wrapping_add(hasher.hash_one((list, sequence)));
        }
        self.count += 1;
    }
}

impl PartialEq for Places {
    fn eq(&self, other: &Self) -> bool {
        (self.count, self.sums) == (other.count, other.sums)
    }
}

/// The lists of records that belong to many: neighbouring lists name the same ones.
#[derive(Default)]
struct LookedAt(HashMap<u64, HashSet<String>>);

/// Records that are kept.
const LOOKED_AT_MAX: usize = 16;
/// A record in fewer lists is read again for each of them.
const MANY: usize = 100;

impl LookedAt {
    fn belongs(&mut self, tx: &mut Tx<'_>, list: &str, sequence: u64) -> Result<bool, Fault> {
        if let Some(lists) = self.0.get(&sequence) {
            return Ok(lists.contains(list));
        }
        let record = tx.value(AUDIT, &numbered(&[], sequence))?;
        let lists = record.map_or(Ok(HashSet::new()), |record| lists_of(&record))?;
        let belongs = lists.contains(list);
        if lists.len() > MANY {
            if self.0.len() == LOOKED_AT_MAX {
                self.0.clear();
            }
            self.0.insert(sequence, lists);
        }
        Ok(belongs)
    }
}
