//! The rows that failed, in a file that can be imported again once it is corrected.

use super::Bulk;
use super::row::Reading;
use super::source::{Raw, Source};
use crate::failure::{Failure, Outcome};
use crate::input::shape::{Column, Kind, at, cell};
use crate::output::guarded;
use crate::settings::files::{folder_of, unwritable};
use serde_json::Value;
use std::fs::{File, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// What helps where the file cannot be written.
const ANOTHER: &str = "name another file: --failed FILE";

/// The file of the failed rows. It is created with the first of them.
pub struct Failed {
    path: PathBuf,
    columns: Vec<String>,
    /// The field of each column, where records name their own properties.
    fields: Vec<Column>,
    delimiter: u8,
    writer: Option<csv::Writer<File>>,
    /// How many rows it has.
    pub count: u64,
    /// How many rows it lacks, because they cannot be read.
    pub unreadable: u64,
    /// Why it lacks the others from some row on. The import goes on, as the report has what is needed.
    pub unwritten: Option<Failure>,
}

impl Failed {
    /// Begins without failures, and refuses a file that was edited since it was written.
    pub fn begin(
        noun: Bulk,
        path: &Path,
        report: &Path,
        map: &[(String, String)],
        source: &Source,
    ) -> Outcome<Self> {
        // It is removed before a run, and what would come in its place is a file.
        if path.metadata().is_ok_and(|metadata| !metadata.is_file()) {
            let what = format!("{} is no file", path.display());
            return Err(Failure::usage(what).hint("name another: --failed FILE"));
        }
        if !folder_of(path).is_dir() {
            return Err(unwritable(path)(ErrorKind::NotFound.into()).hint(ANOTHER));
        }
        let changed = |path: &Path| path.metadata().and_then(|data| data.modified()).ok();
        if let (Some(failed), Some(reported)) = (changed(path), changed(report))
            && failed > reported
        {
            let what = format!("{} was changed after the last import", path.display());
            return Err(Failure::usage(what).hint("import it by itself, or remove it"));
        }
        let (columns, fields) = match source.header() {
            Some(header) => (header.to_vec(), Vec::new()),
            None => Reading::columns(noun, map).into_iter().unzip(),
        };
        let path = path.to_owned();
        let delimiter = source.delimiter();
        let (writer, unwritten) = (None, None);
        Ok(Self { path, columns, fields, delimiter, writer, count: 0, unreadable: 0, unwritten })
    }

    /// Removes the failed rows of a run before, once no other run can be writing them.
    pub fn clear(&self) {
        let _ = std::fs::remove_file(&self.path);
    }

    /// Adds a row, as long as the file can be written.
    pub fn push(&mut self, raw: &Raw) {
        if self.unwritten.is_none() {
            self.unwritten = self.write(raw).err();
        }
    }

    fn write(&mut self, raw: &Raw) -> Outcome {
        let written = match raw {
            Raw::Cells(cells) | Raw::Uneven(cells, _) => self.writer()?.write_byte_record(cells),
            Raw::Record(record) if record.is_object() => {
                let columns = self.columns.iter().zip(&self.fields);
                let cells: Vec<_> = columns.map(|(name, field)| as_cell(record, name, field)).collect();
                self.writer()?.write_record(cells)
            }
            // What cannot be read cannot be written down either; the report names the row.
            Raw::Record(_) | Raw::Broken(_) => {
                self.unreadable += 1;
                return Ok(());
            }
        };
        self.count += 1;
        written.map_err(|error| unwritable(&self.path)(error.into()))
    }

    fn writer(&mut self) -> Outcome<&mut csv::Writer<File>> {
        let writer = match self.writer.take() {
            Some(writer) => writer,
            None => self.create()?,
        };
        Ok(self.writer.insert(writer))
    }

    /// Makes the file and writes the names of its columns.
    fn create(&self) -> Outcome<csv::Writer<File>> {
        let mut options = OpenOptions::new();
        // The rows may hold passwords, and always hold personal data.
        let file = options.write(true).create(true).truncate(true).mode(0o600).open(&self.path);
        let file = file.map_err(|error| unwritable(&self.path)(error).hint(ANOTHER))?;
        let mut writer = csv::WriterBuilder::new();
        let mut writer = writer.delimiter(self.delimiter).flexible(true).from_writer(file);
        writer.write_record(&self.columns).map_err(|error| unwritable(&self.path)(error.into()))?;
        Ok(writer)
    }

    pub fn flush(&mut self) {
        let flushed = self.writer.as_mut().map_or(Ok(()), csv::Writer::flush);
        if let Err(error) = flushed {
            self.unwritten.get_or_insert_with(|| unwritable(&self.path)(error));
        }
    }

    /// Its place, where it has every row that failed and can be written down.
    pub fn whole(&self) -> Option<&Path> {
        Some(self.path.as_path()).filter(|_| self.count > 0 && self.unwritten.is_none())
    }
}

/// What a record says for a column, as a cell that the import reads as the same.
fn as_cell(record: &Value, name: &str, field: &Column) -> String {
    // A record may have the name of the field itself, although another is mapped to it.
    let value = record.get(name).unwrap_or_else(|| at(record, &field.path));
    let in_parts = |part| value.get(part).is_some_and(Value::is_i64);
    match value {
        Value::Object(_) if field.kind == Kind::Day && ["year", "month", "day"].into_iter().all(in_parts) => {
            cell(Kind::Day, value)
        }
        Value::Object(_) => value.to_string(),
        Value::String(text) => guarded(text),
        other => cell(field.kind, other),
    }
}
