//! Whether the trail is intact: its chain, its end, and the lists against the records that they name.

use super::lists::lists_of;
use crate::store::check::Finding;
use crate::store::engine::Range;
use crate::store::record::{number, numbered};
use crate::store::records::{
    AUDIT, AUDIT_LISTS, AuditEnd, AuditIndexed, AuditList, LIST_LENGTH_MAX, StoredAudit,
};
use crate::store::tx::decode;
use crate::store::{Tx, trail};
use mfa_shared::api::audit::NO_HASH;
use mfa_shared::fault::Fault;

/// What does not hold in the audit trail.
pub fn check_trail(tx: &mut Tx<'_>) -> Result<Vec<Finding>, Fault> {
    let mut findings = Vec::new();
    let end = tx.get::<AuditEnd>(AuditEnd::KEY)?;
    let listed = chain(tx, end.as_ref(), &mut findings)?;
    lists(tx, listed, &mut findings)?;
    Ok(findings)
}

fn finding(number: u64, detail: String) -> Finding {
    Finding { subject: format!("audit record {number}"), detail }
}

/// Follows the chain from its first record to its end; returns how many list entries its records must have.
fn chain(tx: &mut Tx<'_>, end: Option<&AuditEnd>, findings: &mut Vec<Finding>) -> Result<u64, Fault> {
    let indexed = tx.get::<AuditIndexed>(AuditIndexed::KEY)?.map_or(0, |indexed| indexed.sequence);
    let first = end.map_or(1, |end| end.first);
    let mut expected = first;
    let mut before = (first == 1).then(|| NO_HASH.to_owned());
    let mut places = 0;
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
            places += lists_of(value)?.len() as u64;
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

/// Compares the lists with the records: each place names a record that belongs there, none occurs twice, and
/// together they are as many as they must be.
fn lists(tx: &mut Tx<'_>, expected: u64, findings: &mut Vec<Finding>) -> Result<(), Fault> {
    let mut from = Vec::new();
    let mut places = 0;
    let mut before = None::<(String, u64, u64)>;
    loop {
        let range = Range { from, to: None };
        let page = tx.scan(AUDIT_LISTS, &range, false, LIST_LENGTH_MAX)?;
        let Some((last, _)) = page.last() else { break };
        from = [last.as_slice(), &[0]].concat();
        for (_, value) in page {
            let piece: AuditList = decode(AUDIT_LISTS, &value)?;
            let follows = before.take().filter(|(name, ..)| *name == piece.name);
            let subject = || format!("list {} of the audit trail", piece.name);
            let (next, mut above) = follows.map_or((0, 0), |(_, number, above)| (number + 1, above));
            if piece.piece != next {
                findings.push(Finding { subject: subject(), detail: format!("lacks its piece {next}") });
            }
            for sequence in &piece.sequences {
                let line = tx.value(AUDIT, &numbered(&[], *sequence))?;
                let lists = line.map_or(Ok(Vec::new()), |line| lists_of(&line))?;
                let belongs = lists.contains(&piece.name);
                if !belongs || *sequence <= above {
                    let detail = format!("names record {sequence}, which does not belong there");
                    findings.push(Finding { subject: subject(), detail });
                }
                above = *sequence;
            }
            places += piece.sequences.len() as u64;
            before = Some((piece.name.clone(), piece.piece, above));
        }
    }
    if places != expected {
        let detail = format!("have {places} places, and the records must have {expected}");
        findings.push(Finding { subject: "lists of the audit trail".to_owned(), detail });
    }
    Ok(())
}
