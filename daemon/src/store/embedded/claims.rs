//! Claims from outside the journal about its end.

use super::checkpoint::Checkpoint;
use super::directory::At;
use super::head::{CLEAN, HEADER_BYTES, Head, Position, TAIL, read_mark};
use super::options::OpenError;
use super::reach::Reach;
use super::scan::Scan;
use super::segment;

/// Something outside the journal that knows its last commit.
pub(super) struct Claim {
    pub(super) who: String,
    pub(super) sequence: u64,
    /// The head at that sequence, if the claim knows it.
    pub(super) head: Option<Head>,
}

pub(super) fn claims(
    at: &At<'_>,
    index: Option<&Reach>,
    checkpoints: &[Checkpoint],
) -> Result<Vec<Claim>, OpenError> {
    let mut claims = Vec::new();
    for name in [TAIL, CLEAN] {
        if let Some(head) = at.io(name, read_mark(at.disk, name))? {
            claims.push(Claim { who: name.to_owned(), sequence: head.sequence, head: Some(head) });
        }
    }
    for checkpoint in checkpoints {
        let who = checkpoint.name.clone();
        let sequence = checkpoint.until;
        claims.push(Claim { who: who.clone(), sequence, head: None });
        claims.push(Claim { who, sequence: checkpoint.from.sequence, head: Some(checkpoint.from) });
    }
    if let Some(reach) = index {
        let who = "index".to_owned();
        let head = reach.head;
        claims.push(Claim { who: who.clone(), sequence: reach.until, head: None });
        claims.push(Claim { who, sequence: head.sequence, head: Some(head) });
    }
    Ok(claims)
}

/// Refuses a journal that ends before a claim, or that is another one.
pub(super) fn compare(at: &At<'_>, scan: &Scan, claims: &[Claim]) -> Result<(), OpenError> {
    let end = scan.end;
    if let Some(packed) = scan.packed
        && end.at <= (Position { segment: packed + 1, offset: HEADER_BYTES })
    {
        let why = format!("it is missing or empty, but {} was packed after it", segment::name(packed));
        return Err(at.damaged(&segment::name(packed + 1), why));
    }
    for claim in claims {
        if claim.sequence > end.sequence {
            let (who, said) = (&claim.who, claim.sequence);
            let wanted = claim.head.map_or(end.at.segment, |head| head.at.segment).max(end.at.segment);
            let (sequence, byte) = (end.sequence, end.at.offset);
            let why = match scan.torn {
                _ if wanted > end.at.segment || scan.unborn == Some(wanted) => {
                    format!("it is missing or empty, but {who} knows commit {said}")
                }
                Some(torn) => format!("{torn} at byte {byte}, but {who} knows commit {said}"),
                None => {
                    format!("it ends with commit {sequence} at byte {byte}, but {who} knows commit {said}")
                }
            };
            return Err(at.damaged(&segment::name(wanted), why));
        }
        let Some(head) = claim.head.filter(|head| head.sequence >= scan.start.sequence) else { continue };
        let same = scan.anchors.get(&head.sequence).is_some_and(|anchor| anchor.hash == head.hash);
        #[cfg(test)]
        let same = same || at.disk.flaws().chain_ignored;
        if !same && [TAIL, CLEAN].contains(&claim.who.as_str()) {
            let why = format!("commit {} is not the one that {} knows", head.sequence, claim.who);
            return Err(at.damaged(&segment::name(head.at.segment), why));
        }
    }
    Ok(())
}
