//! Journal files that a verified backup covers, on their way into an archive.

use super::read::Facts;
use crate::store::Store;
use crate::store::engine::{Archive, Archived};
use mfa_shared::fault::{Fault, UNAVAILABLE};
use std::path::Path;

/// Seconds of a day.
const DAY_S: i64 = 86_400;

impl Store {
    /// Moves the journal files that a verified backup covers; only what is older than some days, if that is
    /// said.
    pub async fn archive_journal(
        &self,
        facts: &Facts,
        out: &Path,
        keep_days: Option<u32>,
    ) -> Result<Archived, Fault> {
        let Some(mark) = facts.trailer.journal.clone() else {
            let why = "the backup does not say to which journal it belongs: make another one";
            return Err(Fault::new(UNAVAILABLE, why));
        };
        let now = self.clock().now();
        let older_than = keep_days.map(|days| now.plus_seconds(-DAY_S * i64::from(days)));
        let covered = facts.trailer.journal_sequence;
        self.engine.archive(Archive { out: out.to_owned(), covered, mark, older_than }).await
    }
}
