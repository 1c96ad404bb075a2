//! Rows of a file: CSV, JSON lines, JSON, YAML.

use crate::failure::{Failure, Outcome};
use crate::input::{repeated, yaml};
use crate::settings::bounded::{self, LINE_BYTES_MAX, RECORDS_BYTES_MAX};
use clap::ValueEnum;
use csv::ByteRecord;
use serde_json::Value;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, ErrorKind, Read, stdin};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Bytes of a file that are examined for its format.
const BUFFER_BYTES: usize = 256 * 1024;

/// What is read after the last line of CSV. In a cell it says that its quote is still open: the reader takes
/// the rest of the file for the cell, and a file that was cut off would become a record.
const END: &[u8] = b"\n\x01\0end of the table\0\x01";

/// What helps where a file has another encoding.
pub const SAVE_AS_UTF_8: &str =
    "save the file as UTF-8, or convert it: iconv -f WINDOWS-1252 -t UTF-8 OLD >NEW";

/// How rows are written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// A table whose first line names the columns
    Csv,
    /// One JSON object a line
    Jsonl,
    /// A JSON array of objects
    Json,
    /// A YAML list of objects
    Yaml,
}

/// A row as in the file.
#[derive(Debug, Clone)]
pub enum Raw {
    /// The cells of a line of CSV.
    Cells(ByteRecord),
    /// The cells of a line that has more or fewer of them than the header, and what it has.
    Uneven(ByteRecord, String),
    /// A record of another format.
    Record(Value),
    /// A line that cannot be read, and why.
    Broken(String),
}

/// The rows of a file, one after the other.
pub struct Source {
    rows: Rows,
    /// Bytes of the file, where it is one.
    pub bytes: Option<u64>,
    count: u64,
}

enum Rows {
    Csv {
        reader: Box<csv::Reader<Box<dyn Read + Send>>>,
        header: Vec<String>,
        delimiter: u8,
        skipped: u64,
        ration: Ration,
    },
    Lines {
        reader: Box<dyn BufRead + Send>,
        read: u64,
    },
    Records(std::vec::IntoIter<Value>),
}

/// What is read at most before the next row. The reader of CSV takes whatever comes for a row, until its
/// memory ends.
#[derive(Clone)]
struct Ration(Arc<AtomicU64>);

impl Ration {
    fn new() -> Self {
        Self(Arc::new(AtomicU64::new(LINE_BYTES_MAX)))
    }

    /// Begins another row.
    fn renew(&self) {
        self.0.store(LINE_BYTES_MAX, Relaxed);
    }
}

/// A reader that fails once its ration is used up.
struct Rationed<R> {
    reader: R,
    ration: Ration,
}

impl<R: Read> Read for Rationed<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(into)?;
        match self.ration.0.load(Relaxed).checked_sub(read as u64) {
            Some(left) => self.ration.0.store(left, Relaxed),
            None => return Err(bounded::too_large("a row has", LINE_BYTES_MAX)),
        }
        Ok(read)
    }
}

impl Source {
    /// Opens a file, `-` for standard input.
    pub fn open(file: &str, format: Option<Format>) -> Outcome<Self> {
        let unreadable = |error| Failure::usage(format!("cannot read {file}: {error}"));
        let (mut reader, bytes): (Box<dyn BufRead + Send>, _) = match file {
            "-" => (Box::new(BufReader::with_capacity(BUFFER_BYTES, stdin())), None),
            _ => {
                let opened = File::open(file).map_err(unreadable)?;
                let bytes = opened.metadata().ok().filter(std::fs::Metadata::is_file).map(|data| data.len());
                (Box::new(BufReader::with_capacity(BUFFER_BYTES, opened)), bytes)
            }
        };
        if reader.fill_buf().map_err(unreadable)?.starts_with(b"\xef\xbb\xbf") {
            // Spreadsheets mark UTF-8 in this way.
            reader.consume(3);
        }
        let format = match format.or_else(|| by_name(file)) {
            Some(format) => format,
            None => by_content(reader.fill_buf().map_err(unreadable)?),
        };
        let rows = match format {
            Format::Csv => csv_rows(file, reader)?,
            Format::Jsonl => Rows::Lines { reader, read: 0 },
            Format::Json | Format::Yaml => Rows::Records(records(file, format, reader)?.into_iter()),
        };
        Ok(Self { rows, bytes, count: 0 })
    }

    /// The names of the columns; none where every record names its own properties.
    pub fn header(&self) -> Option<&[String]> {
        if let Rows::Csv { header, .. } = &self.rows { Some(header) } else { None }
    }

    /// The delimiter of the cells.
    pub fn delimiter(&self) -> u8 {
        if let Rows::Csv { delimiter, .. } = &self.rows { *delimiter } else { b',' }
    }

    /// Bytes of the file read so far; 0 where they do not measure the progress.
    pub fn position(&self) -> u64 {
        match &self.rows {
            Rows::Csv { reader, skipped, .. } => {
                (skipped + reader.position().byte()).min(self.bytes.unwrap_or(u64::MAX))
            }
            Rows::Lines { read, .. } => *read,
            Rows::Records(_) => 0,
        }
    }

    /// The next row with its number, counted from 1.
    pub fn next(&mut self) -> Outcome<Option<(u64, Raw)>> {
        let row = self.count + 1;
        let unreadable = |error: io::Error| match error.kind() {
            ErrorKind::FileTooLarge => {
                let what = format!("row {row} cannot be read: {error}");
                Failure::usage(what).hint("is it a table, or a file of one record a line?")
            }
            _ => Failure::local(format!("cannot read on: {error}")),
        };
        let raw = match &mut self.rows {
            Rows::Csv { reader, header, ration, .. } => {
                let mut cells = ByteRecord::new();
                ration.renew();
                match reader.read_byte_record(&mut cells) {
                    Ok(false) => return Ok(None),
                    Ok(true) if cells.len() == 1 && cells[0] == END[1..] => return Ok(None),
                    Ok(true) => match uneven(&cells, header.len()) {
                        None => Raw::Cells(cells),
                        Some((cells, why)) => Raw::Uneven(cells, why),
                    },
                    Err(error) => {
                        return Err(unreadable(match error.into_kind() {
                            csv::ErrorKind::Io(error) => error,
                            _ => ErrorKind::InvalidData.into(),
                        }));
                    }
                }
            }
            Rows::Lines { reader, read } => loop {
                let mut line = Vec::new();
                let bytes = bounded::line(reader, &mut line).map_err(unreadable)?;
                *read += bytes as u64;
                if bytes == 0 {
                    return Ok(None);
                }
                if !line.iter().all(u8::is_ascii_whitespace) {
                    break match serde_json::from_slice(&line) {
                        Ok(record) => repeated(&line).map_or_else(Raw::Broken, |()| Raw::Record(record)),
                        Err(error) => {
                            Raw::Broken(format!("the line is not JSON: see column {}", error.column()))
                        }
                    };
                }
            },
            Rows::Records(records) => match records.next() {
                Some(record) => Raw::Record(record),
                None => return Ok(None),
            },
        };
        self.count += 1;
        Ok(Some((self.count, raw)))
    }
}

/// The cells of a line that is not whole, and why it is not.
fn uneven(cells: &ByteRecord, columns: usize) -> Option<(ByteRecord, String)> {
    if let Some(last) = cells.iter().next_back().and_then(|cell| cell.strip_suffix(END)) {
        let cells = cells.iter().take(cells.len() - 1).chain([last]).collect();
        let why = "a quote is still open at the end of the file, which may be cut off";
        return Some((cells, why.to_owned()));
    }
    let has = cells.len();
    let cells_of_line = if has == 1 { "cell" } else { "cells" };
    (has != columns)
        .then(|| (cells.clone(), format!("the line has {has} {cells_of_line}, the header {columns}")))
}

fn by_name(file: &str) -> Option<Format> {
    let extension = Path::new(file).extension()?.to_str()?.to_ascii_lowercase();
    match extension.as_str() {
        "csv" | "tsv" | "txt" => Some(Format::Csv),
        "jsonl" | "ndjson" => Some(Format::Jsonl),
        "json" => Some(Format::Json),
        "yaml" | "yml" => Some(Format::Yaml),
        _ => None,
    }
}

fn by_content(beginning: &[u8]) -> Format {
    match beginning.iter().find(|byte| !byte.is_ascii_whitespace()) {
        Some(b'[') => Format::Json,
        Some(b'{') => Format::Jsonl,
        _ => Format::Csv,
    }
}

fn records(file: &str, format: Format, reader: Box<dyn BufRead + Send>) -> Outcome<Vec<Value>> {
    let text = bounded::text_of(reader, RECORDS_BYTES_MAX).map_err(|error| {
        let failure = Failure::usage(format!("cannot read {file}: {error}"));
        match error.kind() {
            ErrorKind::FileTooLarge => failure.hint("JSON lines and CSV are read row by row, however many"),
            _ => failure,
        }
    })?;
    let parsed = match format {
        Format::Yaml => yaml::parse(&text),
        _ => {
            let value = serde_json::from_str(&text).map_err(|error| error.to_string());
            value.and_then(|value| repeated(text.as_bytes()).map(|()| value))
        }
    };
    match parsed {
        Ok(Value::Array(records)) => Ok(records),
        Ok(_) => Err(Failure::usage(format!("{file} must hold a list of records"))),
        Err(why) => Err(Failure::usage(format!("{file} cannot be read: {why}"))),
    }
}

/// Removes the comments before the header, and finds the delimiter of the cells.
fn csv_rows(file: &str, mut reader: Box<dyn BufRead + Send>) -> Outcome<Rows> {
    let unreadable = |error| Failure::usage(format!("cannot read {file}: {error}"));
    let mut line = Vec::new();
    let mut skipped = 0;
    loop {
        line.clear();
        if bounded::line(&mut reader, &mut line).map_err(unreadable)? == 0 {
            return Err(Failure::usage(format!("{file} has no line with the names of the columns"))
                .hint("an empty table to begin with: --template"));
        }
        if !line.starts_with(b"#") && !line.iter().all(u8::is_ascii_whitespace) {
            break;
        }
        skipped += line.len() as u64;
    }
    let count = |delimiter: u8| line.iter().filter(|byte| **byte == delimiter).count();
    // The last of equals is taken, so the comma comes last.
    let delimiter = [b'\t', b';', b','].into_iter().max_by_key(|delimiter| count(*delimiter)).unwrap_or(b',');
    let ration = Ration::new();
    let rationed = Rationed { reader: Cursor::new(line).chain(reader).chain(END), ration: ration.clone() };
    let whole: Box<dyn Read + Send> = Box::new(rationed);
    let mut reader = csv::ReaderBuilder::new().delimiter(delimiter).flexible(true).from_reader(whole);
    let not_utf_8 = |_| Failure::usage(format!("the header of {file} is not UTF-8")).hint(SAVE_AS_UTF_8);
    let header = reader.headers().map_err(not_utf_8)?;
    let header: Vec<_> = header.iter().map(|name| name.trim().to_owned()).collect();
    Ok(Rows::Csv { reader: Box::new(reader), header, delimiter, skipped, ration })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn rows(name: &str, text: &[u8]) -> Vec<String> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(name);
        File::create(&path).unwrap().write_all(text).unwrap();
        let mut source = Source::open(path.to_str().unwrap(), None).unwrap();
        let mut found = Vec::new();
        while let Some((number, raw)) = source.next().unwrap() {
            let text = match raw {
                Raw::Cells(cells) => {
                    cells.iter().map(|c| String::from_utf8_lossy(c)).collect::<Vec<_>>().join("|")
                }
                Raw::Record(record) => record.to_string(),
                Raw::Broken(why) | Raw::Uneven(_, why) => format!("! {why}"),
            };
            found.push(format!("{number} {text}"));
        }
        found
    }

    #[test]
    fn comments_stand_before_the_header_only_and_every_delimiter_is_found() {
        let text = "\u{feff}# one\n\n# two\nidentifier;name\n#1;\"a;b\nc\"\n\n2;d\n3\n";
        let expected = ["1 #1|a;b\nc", "2 2|d", "3 ! the line has 1 cell, the header 2"];
        assert_eq!(rows("x.csv", text.as_bytes()), expected);
        assert_eq!(rows("x.tsv", b"a\tb\tc,d\n1\t2\t3\n"), ["1 1|2|3"]);
        assert_eq!(rows("unknown", b"a\n1\n"), ["1 1"]);
    }

    #[test]
    fn json_keeps_its_digits_in_every_shape() {
        let record = r#"{"n":1.10}"#;
        for (name, text) in [
            ("x.jsonl", format!("{record}\n\n{record}")),
            ("x.json", format!("[{record},{record}]")),
            ("x.yaml", "- {n: 1.10}\n- n: 1.10\n".to_owned()),
            ("none", format!("[{record},{record}]")),
            ("none2", format!("{record}\n{record}")),
        ] {
            assert_eq!(rows(name, text.as_bytes()).len(), 2, "{name}");
        }
        assert_eq!(rows("x.jsonl", record.as_bytes()), [format!("1 {record}")]);
        assert_eq!(rows("x.jsonl", b"{\n"), ["1 ! the line is not JSON: see column 0"]);
        let twice = br#"{"n":1,"n":2}"#;
        assert_eq!(rows("x.jsonl", twice), ["1 ! the property \"n\" is given twice"]);
    }
}
