//! What became of the rows of an import: counted, shown, and written into its report.

use super::Bulk;
use super::failed::Failed;
use super::progress::{Counts, Progress};
use super::report::Report;
use super::send::{Done, Status};
use crate::failure::{Outcome, codes};
use mfa_shared::fault::{CARD_NUMBER_TAKEN, IDENTIFIER_TAKEN};
use std::collections::HashMap;

/// Failed rows that are shown at once; all of them are in the report.
const FAILURES_SHOWN: usize = 5;

/// The results of the rows.
pub struct Ledger {
    pub report: Report,
    pub failed: Failed,
    /// Whether a row has its result.
    pub settled: bool,
    pub progress: Progress,
    pub counts: Counts,
    /// Messages of the first rows that failed.
    pub first: Vec<String>,
    /// The rows that would be done, where all of them are only tried.
    pub tried: Option<Tried>,
}

/// Rows that would make a record, by its identifier. Each batch is tried for itself, so what rows of two of
/// them have in common is found here.
pub struct Tried {
    pub noun: Bulk,
    pub rows: HashMap<String, u64>,
}

impl Tried {
    /// Refuses a row whose record a row before it would make.
    fn judge(&mut self, done: &mut Done) {
        // An identifier must be unique among all records of the noun, whichever record contains them.
        let own = done.id.splitn(self.noun.within().len() + 1, '/').last().unwrap_or_default();
        if done.status != Status::Valid {
            return;
        }
        match self.rows.get(own) {
            None => drop(self.rows.insert(own.to_owned(), done.number)),
            Some(row) => {
                let taken = if self.noun.within().is_empty() { IDENTIFIER_TAKEN } else { CARD_NUMBER_TAKEN };
                (done.status, done.code) = (Status::Failed, taken.code.to_owned());
                done.message = format!("row {row} has the same identifier");
            }
        }
    }
}

impl Ledger {
    /// Removes the failed rows of the run before, at the first result of this one: the report has the lock.
    pub fn begin_results(&mut self) {
        if !std::mem::replace(&mut self.settled, true) {
            self.failed.clear();
        }
    }

    /// Records the results of the next rows.
    pub fn settle(&mut self, mut done: Vec<Done>, position: u64) -> Outcome {
        self.begin_results();
        done.sort_by_key(|done| done.number);
        for mut done in done {
            self.tried.iter_mut().for_each(|tried| tried.judge(&mut done));
            self.counts.rows += 1;
            let count = match done.status {
                _ if done.before => &mut self.counts.before,
                Status::Created => &mut self.counts.created,
                Status::Updated => &mut self.counts.updated,
                Status::Skipped => &mut self.counts.skipped,
                Status::Valid => &mut self.counts.valid,
                Status::Failed => &mut self.counts.failed,
            };
            *count += 1;
            if let Some(raw) = done.raw.as_ref().filter(|_| done.status == Status::Failed) {
                self.failed.push(raw);
            }
            // Of an atomic import only the refused row is shown.
            let is_wrong = done.status == Status::Failed && done.code != codes::TAKEN_BACK.code;
            if is_wrong && self.first.len() < FAILURES_SHOWN {
                let row = format!("row {} {}", done.number, done.id);
                self.first.push(format!("{}: {}", row.trim_end(), done.message));
            }
            self.report.push(&done);
        }
        // The report last: a file of failed rows that is newer than the report was edited since.
        self.failed.flush();
        self.report.flush()?;
        self.progress.report(self.counts, position);
        Ok(())
    }
}
