//! Whether the audit trail is whole: every hash is computed again, and every record must name the one before.

use crate::command::cx::Cx;
use crate::command::verb::Verb;
use crate::failure::{Failure, Outcome, codes};
use crate::output::views;
use crate::settings::bounded;
use crate::words::hex;
use clap::Args;
use mfa_shared::api::audit::{AuditQuery, AuditRecord, ListAudit, NO_HASH};
use mfa_shared::fault::exit;
use mfa_shared::wire::Query;
use ring::digest::{SHA256, digest};
use serde_json::json;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufRead, BufReader, Error, ErrorKind, stdin};

/// Operation of the record that says how far the trail was cut.
const PRUNE: &str = "AuditPrune";
/// Field of its change that holds the hash of the last record that was removed.
const LAST_HASH: &str = "/hash";

#[derive(Args)]
pub struct Verify {
    /// File with the records, one a line, - for standard input; by default the daemon is asked
    #[arg(long, value_name = "FILE")]
    file: Option<String>,
    /// Hash of an earlier head, which must be that of one of the records; without it the end is not proven
    #[arg(long, value_name = "HASH")]
    head: Option<String>,
}

impl Verb for Verify {
    const ABOUT: &'static str =
        "Prove that nothing was altered or removed in the audit trail; ends with 1 if something was";
    const EXAMPLES: &'static [&'static str] = &[
        "mfa audit verify",
        "mfa audit verify --head $(mfa audit head -o id)",
        "mfa audit export - | mfa audit verify --file - -o json",
    ];
    const EXITS: &'static [i32] = &[exit::NOT_FOUND, exit::NOT_LOGGED_IN, exit::FORBIDDEN, exit::UNREACHABLE];
    async fn run(self, cx: &Cx) -> Outcome {
        let head = self.head.as_deref().map(head).transpose()?;
        let has_head = head.is_some();
        let mut chain = Chain::new(head);
        match self.file.as_deref() {
            None => {
                let mut stream = cx.client.stream(&ListAudit {}, &Query(AuditQuery::ascending())).await?;
                while let Some(line) = stream.next().await? {
                    chain.add(&line)?;
                }
            }
            Some("-") => chain.read(BufReader::new(stdin()), "standard input")?,
            Some(name) => {
                let failed = |error: Error| match error.kind() {
                    ErrorKind::NotFound => Failure::new(codes::NO_FILE, format!("there is no file {name}")),
                    _ => Failure::local(format!("cannot read {name}: {error}")),
                };
                chain.read(BufReader::new(File::open(name).map_err(failed)?), name)?;
            }
        }
        let (first, last, records) = chain.end()?;
        if records == 0 {
            let empty = Failure::new(codes::AUDIT_EMPTY, "there is no record to verify");
            return Err(empty.hint("export the trail, and verify that file: mfa audit export FILE"));
        }
        cx.out.tip("the audit trail is whole");
        if self.file.is_some() && !has_head {
            cx.out
                .warn("the end of the trail is not proven: give a head that was kept elsewhere, --head HASH");
        }
        let hash = &chain.before;
        cx.out.show(
            &views::VERIFIED,
            &json!({ "records": records, "first": first, "last": last, "hash": hash }),
        )
    }
}

/// A head as it stands in a trail. One that is none would look like the head of another trail.
fn head(given: &str) -> Outcome<String> {
    let is_hash = given.len() == NO_HASH.len() && given.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_hash {
        return Ok(given.to_ascii_lowercase());
    }
    let what = format!("--head \"{given}\" is not the hash of a record, which has {} digits", NO_HASH.len());
    Err(Failure::usage(what).hint("what to keep elsewhere: mfa audit head -o id"))
}

/// A chain of records, as far as it was followed.
struct Chain {
    wanted: Option<String>,
    first: Option<i64>,
    last: i64,
    records: u64,
    before: String,
    /// Hashes after which the trail was cut, as far as the trail itself records it.
    cut_after: BTreeSet<String>,
    /// The hash that the first record names, where it is not the first of all.
    hanging: Option<String>,
}

impl Chain {
    fn new(wanted: Option<String>) -> Self {
        Self {
            wanted,
            first: None,
            last: 0,
            records: 0,
            before: NO_HASH.to_owned(),
            cut_after: BTreeSet::new(),
            hanging: None,
        }
    }

    fn read(&mut self, mut lines: impl BufRead, name: &str) -> Outcome {
        let failed = |error| Failure::local(format!("cannot read {name}: {error}"));
        loop {
            let mut line = Vec::new();
            if bounded::line(&mut lines, &mut line).map_err(failed)? == 0 {
                return Ok(());
            }
            let line = String::from_utf8(line).map_err(|_| Failure::local(format!("{name} is not UTF-8")))?;
            let line = line.strip_suffix('\n').unwrap_or(&line);
            let line = line.strip_suffix('\r').unwrap_or(line);
            if !line.trim().is_empty() {
                self.add(line)?;
            }
        }
    }

    fn add(&mut self, line: &str) -> Outcome {
        let place = self.last + 1;
        let record: AuditRecord = serde_json::from_str(line)
            .map_err(|_| broken(&format!("what follows record {} is not a record", self.last)))?;
        let sequence = record.sequence.unwrap_or_default();
        if self.first.is_none() && sequence > 1 {
            self.hanging.clone_from(&record.previous_hash);
            self.before = record.previous_hash.clone().unwrap_or_default();
        } else if sequence != place {
            return Err(broken(&format!("record {place} is missing: record {sequence} is in its place")));
        }
        if record.previous_hash.as_deref() != Some(&self.before) {
            return Err(broken(&format!("record {sequence} does not follow the one before it")));
        }
        let part = line.rsplit_once(",\"hash\":").map_or(line, |(part, _)| part);
        let hash = hex(digest(&SHA256, part.as_bytes()).as_ref());
        if record.hash.as_deref() != Some(&hash) {
            return Err(broken(&format!("record {sequence} was altered: its hash does not match")));
        }
        if record.operation == PRUNE {
            let hashes = record.changes.iter().filter(|change| change.field == LAST_HASH);
            let text = hashes.filter_map(|change| serde_json::to_value(change.after.as_ref()?).ok());
            self.cut_after.extend(text.filter_map(|hash| hash.as_str().map(str::to_owned)));
        }
        if self.wanted.as_ref() == Some(&hash) {
            self.wanted = None;
        }
        self.first.get_or_insert(sequence);
        (self.last, self.before) = (sequence, hash);
        self.records += 1;
        Ok(())
    }

    /// What was found, when all was read.
    fn end(&self) -> Outcome<(i64, i64, u64)> {
        if let Some(hash) = self.hanging.as_ref().filter(|hash| !self.cut_after.contains(*hash)) {
            let first = self.first.unwrap_or_default();
            return Err(broken(&format!(
                "the trail begins with record {first}, and no record says that it was cut after {hash}"
            )));
        }
        if let Some(hash) = &self.wanted
            && !self.cut_after.contains(hash)
        {
            return Err(broken(&format!("no record has the hash {hash}: it is of another trail")));
        }
        Ok((self.first.unwrap_or_default(), self.last, self.records))
    }
}

fn broken(what: &str) -> Failure {
    Failure::new(codes::AUDIT_BROKEN, what.to_owned())
        .hint("keep a copy of the trail, and compare it with an export of before: mfa audit export FILE")
}

#[cfg(test)]
mod tests {
    use super::*;
    use mfa_shared::time::Timestamp;

    fn sealed(record: &mut AuditRecord, number: i64, before: &str) -> String {
        record.sequence = Some(number);
        record.previous_hash = Some(before.to_owned());
        let hash = hex(digest(&SHA256, &record.hashed_part()).as_ref());
        record.hash = Some(hash.clone());
        hash
    }

    fn trail(count: i64) -> Vec<String> {
        let mut before = NO_HASH.to_owned();
        let mut lines = Vec::new();
        for number in 1..=count {
            let mut record = AuditRecord::of("CreateCustomer", Timestamp::from_millis(number));
            record.resource = Some("customer/, \"hash\":".to_owned());
            before = sealed(&mut record, number, &before);
            lines.push(serde_json::to_string(&record).unwrap());
        }
        lines
    }

    fn verify(lines: &[String], head: Option<&str>) -> Result<(i64, i64, u64), String> {
        let mut chain = Chain::new(head.map(str::to_owned));
        let added = lines.iter().try_for_each(|line| chain.add(line));
        added.and_then(|()| chain.end()).map_err(|failure| failure.message.clone())
    }

    #[test]
    fn a_whole_trail_is_accepted_and_every_other_refused() {
        let lines = trail(5);
        assert_eq!(verify(&lines, None), Ok((1, 5, 5)));
        assert_eq!(verify(&[], None), Ok((0, 0, 0)));
        for at in 0..5 {
            for bit in 0..8 {
                let mut altered = lines.clone();
                let mut bytes = altered[at].clone().into_bytes();
                let place = bytes.len() / 2;
                bytes[place] ^= 1 << bit;
                altered[at] = String::from_utf8_lossy(&bytes).into_owned();
                assert!(verify(&altered, None).is_err(), "bit {bit} of record {}", at + 1);
            }
            let mut removed = lines.clone();
            removed.remove(at);
            assert_eq!(verify(&removed, None).is_err(), at < 4);
        }
        let mut swapped = lines.clone();
        swapped.swap(1, 2);
        assert!(verify(&swapped, None).unwrap_err().starts_with("record 2 is missing"));
    }

    #[test]
    fn an_earlier_head_must_be_in_the_trail() {
        let lines = trail(3);
        let record: AuditRecord = serde_json::from_str(&lines[1]).unwrap();
        assert!(verify(&lines, record.hash.as_deref()).is_ok());
        assert!(verify(&lines, Some(&"1".repeat(64))).unwrap_err().contains("no record has the hash"));
        // Cut at the end, and begun anew with other records.
        assert!(verify(&lines[..1], record.hash.as_deref()).is_err());
    }

    #[test]
    fn a_trail_that_was_cut_must_tell_so() {
        let lines = trail(4);
        assert!(verify(&lines[2..], None).unwrap_err().contains("no record says that it was cut"));
        let cut: AuditRecord = serde_json::from_str(&lines[1]).unwrap();
        let last: AuditRecord = serde_json::from_str(&lines[3]).unwrap();
        let mut prune = AuditRecord::of(PRUNE, Timestamp::from_millis(9));
        let hash = cut.hash.map(mfa_shared::node::Node::Text);
        prune.changes.push(mfa_shared::api::audit::AuditChange {
            field: LAST_HASH.to_owned(),
            before: None,
            after: hash,
        });
        sealed(&mut prune, 5, &last.hash.unwrap());
        let kept = [lines[2].clone(), lines[3].clone(), serde_json::to_string(&prune).unwrap()];
        assert_eq!(verify(&kept, None), Ok((3, 5, 3)));
    }
}
