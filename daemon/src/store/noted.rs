//! Records on their way into the audit trail. What is made or removed is not taken apart for it: its text, as
//! reads show it, is put into the line of the record.

use bytes::Bytes;
use memchr::memmem;
use mfa_shared::api::audit::{AuditChange, AuditRecord};

/// What an operation changes besides what a read of its record shows.
#[derive(Debug, Default)]
pub struct Besides {
    /// Further records, as the audit trail names them.
    pub records: Vec<String>,
    /// Secrets, as fields of the audit record.
    pub secrets: Vec<AuditChange>,
}

/// A change of a whole record, whose text, as this program writes it, is taken over as it is.
#[derive(Debug, Clone, PartialEq)]
pub enum Whole {
    /// It was made.
    Made(Bytes),
    /// It was removed.
    Removed(Bytes),
}

/// A record on its way into the trail, and its only change where that is one of a whole record.
#[derive(Debug)]
pub(super) struct Noted(pub(super) AuditRecord, pub(super) Option<Whole>);

/// Puts the change of a whole record into the JSON of an audit record that has no changes yet. No text behind
/// these could be taken for them: only hashes follow.
pub(super) fn with_whole(line: Vec<u8>, whole: Option<&Whole>) -> Vec<u8> {
    const NONE: &[u8] = b"\"changes\":[]";
    let Some(whole) = whole else { return line };
    let (begin, text, end): (&str, _, &str) = match whole {
        Whole::Made(text) => (r#"{"field":"","before":null,"after":"#, text, "}"),
        Whole::Removed(text) => (r#"{"field":"","before":"#, text, r#","after":null}"#),
    };
    let Some(at) = memmem::rfind(&line, NONE) else { return line };
    let (before, behind) = line.split_at(at + NONE.len() - 1);
    [before, begin.as_bytes(), text, end.as_bytes(), behind].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use mfa_shared::api::audit::{AuditChange, NO_HASH};
    use mfa_shared::node::Node;
    use mfa_shared::time::Timestamp;

    #[test]
    fn a_whole_record_is_written_as_if_it_were_taken_apart_and_put_together() {
        let texts =
            [r#"{"amount":1.50,"none":null,"text":"\"changes\":[] \\ é","changes":[],"a":[{}]}"#, "{}"];
        for text in texts {
            let node = Node::parse(text.as_bytes()).ok();
            for (whole, before, after) in [
                (Whole::Made(text.into()), None, node.clone()),
                (Whole::Removed(text.into()), node.clone(), None),
            ] {
                let mut record = AuditRecord::of("CreateCustomer", Timestamp::from_millis(0));
                record.path = Some("/customers/\"changes\":[]".to_owned());
                record.previous_hash = Some(NO_HASH.to_owned());
                let written = with_whole(record.hashed_part(), Some(&whole));
                record.changes.push(AuditChange { field: String::new(), before, after });
                assert_eq!(String::from_utf8(written), String::from_utf8(record.hashed_part()));
            }
        }
    }
}
