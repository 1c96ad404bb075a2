//! The rows that failed, in a file that can be imported again once it is corrected.

use super::Bulk;
use super::row::Reading;
use super::source::{Raw, Source};
use crate::failure::{Failure, Outcome};
use serde_json::Value;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// The file of the failed rows. It is created with the first of them.
pub struct Failed {
    path: PathBuf,
    columns: Vec<String>,
    delimiter: u8,
    writer: Option<csv::Writer<File>>,
    /// How many rows it has.
    pub count: u64,
}

impl Failed {
    /// Begins without failures. A file that was edited since it was written stays as it is.
    pub fn begin(path: &Path, report: &Path, noun: Bulk, source: &Source) -> Outcome<Self> {
        let changed = |path: &Path| path.metadata().and_then(|data| data.modified()).ok();
        if let (Some(failed), Some(reported)) = (changed(path), changed(report))
            && failed > reported
        {
            let what = format!("{} was changed after the last import", path.display());
            return Err(Failure::usage(what).hint("import it by itself, or remove it"));
        }
        let _ = std::fs::remove_file(path);
        let columns = source.header().map_or_else(|| Reading::names(noun), <[String]>::to_vec);
        let delimiter = source.delimiter();
        Ok(Self { path: path.to_owned(), columns, delimiter, writer: None, count: 0 })
    }

    pub fn push(&mut self, raw: &Raw) -> Outcome {
        self.count += 1;
        let written = match raw {
            Raw::Cells(cells) => self.writer()?.write_byte_record(cells),
            Raw::Record(record) => {
                let cells: Vec<_> = self.columns.iter().map(|name| as_cell(&record[name.as_str()])).collect();
                self.writer()?.write_record(cells)
            }
            // What cannot be read cannot be written down either; the report names the row.
            Raw::Broken(_) => Ok(()),
        };
        written.map_err(|error| self.unwritable(&error))
    }

    fn writer(&mut self) -> Outcome<&mut csv::Writer<File>> {
        if self.writer.is_none() {
            let mut options = OpenOptions::new();
            // The rows may hold passwords, and always hold what concerns no one else.
            let file = options.write(true).create(true).truncate(true).mode(0o600).open(&self.path);
            let file = file.map_err(|error| self.unwritable(&error.into()))?;
            let mut writer = csv::WriterBuilder::new().delimiter(self.delimiter).from_writer(file);
            writer.write_record(&self.columns).map_err(|error| self.unwritable(&error))?;
            self.writer = Some(writer);
        }
        // It was just made where it was missing.
        Ok(self.writer.as_mut().expect("a writer"))
    }

    /// Writes what was added.
    pub fn flush(&mut self) -> Outcome {
        let flushed = self.writer.as_mut().map_or(Ok(()), csv::Writer::flush);
        flushed.map_err(|error| self.unwritable(&error.into()))
    }

    fn unwritable(&self, error: &csv::Error) -> Failure {
        Failure::local(format!("cannot write {}: {error}", self.path.display()))
    }
}

/// A value as the cell of a column that holds text, or JSON.
fn as_cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => crate::output::guarded(text),
        other => other.to_string(),
    }
}
