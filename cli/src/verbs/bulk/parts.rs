//! The parts of a file, read a little ahead of the daemon.

use super::report::Before;
use super::row::{Keys, Reading, Row};
use super::send::{BATCH_BYTES_MAX, Done, Ready};
use super::source::Source;
use crate::failure::Outcome;
use tokio::sync::mpsc;

/// Batches that are under way at once, so that the daemon never waits for the next one.
pub const UNDER_WAY: usize = 3;

/// A part of the file: rows that were done before or cannot be sent, and rows that can.
pub struct Part {
    pub settled: Vec<Done>,
    pub ready: Vec<Ready>,
    /// Where it ends in the file.
    pub position: u64,
}

pub type Parts = mpsc::Receiver<Outcome<Part>>;

/// Reads the file part by part, a little ahead of the daemon.
pub fn read(source: Source, reading: Reading, before: Before, rows_max: usize) -> Parts {
    let (sender, parts) = mpsc::channel(UNDER_WAY);
    std::thread::spawn(move || {
        let mut reader = Reader { keys: Keys::new(&before.run), source, reading, before };
        loop {
            let part = reader.part(rows_max);
            let last = !matches!(&part, Ok(Some(_)));
            // The receiver of the parts may have given up.
            let sent = part.transpose().is_none_or(|part| sender.blocking_send(part).is_ok());
            if last || !sent {
                return;
            }
        }
    });
    parts
}

struct Reader {
    source: Source,
    reading: Reading,
    before: Before,
    keys: Keys,
}

impl Reader {
    /// The next part; nothing at the end.
    fn part(&mut self, rows_max: usize) -> Outcome<Option<Part>> {
        let mut part = Part { settled: Vec::new(), ready: Vec::new(), position: 0 };
        let mut bytes = 0;
        while part.ready.len() < rows_max && part.settled.len() < rows_max && bytes < BATCH_BYTES_MAX {
            let Some((number, raw)) = self.source.next()? else { break };
            let row = self.reading.row(number, raw);
            if let Some(done) = self.settled(&row) {
                part.settled.push(done);
                continue;
            }
            match Ready::new(row, &mut self.keys) {
                Ok(ready) => {
                    bytes += ready.bytes();
                    part.ready.push(ready);
                }
                Err(unreadable) => part.settled.push(*unreadable),
            }
        }
        part.position = self.source.position();
        Ok((!part.ready.is_empty() || !part.settled.is_empty()).then_some(part))
    }

    /// The result of a row in an earlier run.
    fn settled(&mut self, row: &Row) -> Option<Done> {
        let status = if row.id.is_empty() { None } else { self.before.take(&row.id, &row.content) };
        let done = Done { before: true, ..Done::well(row, status?) };
        if let Ok(record) = &row.record {
            self.keys.key(record, &record.body.to_string());
        }
        Some(done)
    }
}
