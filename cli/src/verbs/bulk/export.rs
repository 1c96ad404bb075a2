//! The way back: the records of a noun in the columns of its import.

use super::row::Reading;
use super::{Bulk, template};
use crate::command::cx::Cx;
use crate::failure::{Failure, Outcome};
use crate::input::shape::{Column, Shape, at, cell};
use crate::output::{Format, Output, escaped_json, escaped_lines, yaml};
use crate::settings::files::{Pending, unwritable};
use serde_json::Value;
use std::collections::HashSet;
use std::io::{self, BufWriter, StdoutLock, Write, stdout};
use std::path::{Path, PathBuf};

/// Exports all records of a noun into a file, or to stdout.
pub async fn export(cx: &Cx, noun: Bulk, out: Option<&str>, format: Option<Format>) -> Outcome {
    let format = match format.unwrap_or(Format::Csv) {
        Format::Table | Format::Wide | Format::Id | Format::Tsv if out.is_some() => {
            return Err(Failure::usage("a file is of csv, json, jsonl or yaml").hint("give -o csv"));
        }
        format => format,
    };
    if matches!(format, Format::Csv | Format::Json | Format::Jsonl | Format::Yaml) {
        refuse_choice(&cx.out, noun)?;
    }
    let mut sheet = Sheet::begin(cx, noun, out, format)?;
    let mut records = Vec::new();
    let mut take = |record| {
        if !noun.ordered {
            return sheet.push(&record);
        }
        // A record that others name has to come before them.
        records.push(record);
        Ok(())
    };
    let read = noun.noun.each(&cx.client, &mut take);
    // What was begun beside the old file is removed; a pipe that no one reads must not hold up a Ctrl-C.
    let file = out.filter(|file| *file != "-").map(Path::new);
    if file.is_some_and(|file| file.is_file() || !file.exists()) {
        cx.prompt.interrupts.taken_by(read).await?;
    } else {
        read.await?;
    }
    in_order(records).iter().try_for_each(|record| sheet.push(record))?;
    let count = sheet.finish()?;
    cx.out.tip(&format!("{count} {} exported", noun.plural));
    Ok(())
}

/// Refuses the flags by which a list chooses what it shows: an export has every column of the import.
fn refuse_choice(out: &Output, noun: Bulk) -> Outcome {
    let flag = match &out.jq {
        Some(_) => "--jq EXPRESSION",
        None if out.columns.is_empty() => return Ok(()),
        None => "--columns NAME,...",
    };
    let name = flag.split(' ').next().unwrap_or_default();
    let what =
        format!("{name} cannot be used: an export of {} has every column of their import", noun.plural);
    Err(Failure::usage(what).hint(format!("as a list it can: mfa {} export -o tsv {flag}", noun.name)))
}

/// Records with those first that others name as their parent.
fn in_order(mut records: Vec<Value>) -> Vec<Value> {
    let mut ordered = Vec::with_capacity(records.len());
    let mut known = HashSet::new();
    while !records.is_empty() {
        let before = records.len();
        let (ready, waiting): (Vec<_>, Vec<_>) = records.into_iter().partition(|record| {
            record["parentIdentifier"].as_str().is_none_or(|parent| known.contains(parent))
        });
        known.extend(ready.iter().filter_map(|record| record["identifier"].as_str().map(str::to_owned)));
        ordered.extend(ready);
        records = waiting;
        if records.len() == before {
            // A parent was removed meanwhile.
            ordered.append(&mut records);
        }
    }
    ordered
}

struct Sheet<'a> {
    /// The file that the user has named.
    file: Option<PathBuf>,
    /// Whether a terminal shows it.
    shown: bool,
    columns: Vec<(String, Column)>,
    properties: Vec<String>,
    sink: Sink<'a>,
    count: u64,
}

enum Sink<'a> {
    Csv(Box<csv::Writer<Target>>),
    Lines(Target),
    Whole(Target, Format, Vec<Value>),
    Listing(crate::output::Listing<'a>),
}

impl<'a> Sheet<'a> {
    fn begin(cx: &'a Cx, noun: Bulk, out: Option<&str>, format: Format) -> Outcome<Self> {
        let shape = Shape::of(noun.create.meta);
        let computed = noun.computed.iter().map(|name| (*name).to_owned());
        let names = template::columns(noun).into_iter().map(|column| column.name).chain(computed);
        // Secrets are not to be had.
        let names = names.filter(|name| name != "password");
        let column = |name: String| {
            let column = shape.column(&name).unwrap_or_else(|_| Column::text(&name));
            (name, column)
        };
        let columns: Vec<_> = names.map(column).collect();
        let sink = match format {
            Format::Csv => {
                let mut writer = csv::Writer::from_writer(target(out)?);
                if !cx.out.no_header {
                    writer.write_record(columns.iter().map(|(name, _)| name))?;
                }
                Sink::Csv(Box::new(writer))
            }
            Format::Jsonl => Sink::Lines(target(out)?),
            Format::Json | Format::Yaml => Sink::Whole(target(out)?, format, Vec::new()),
            Format::Table | Format::Wide | Format::Tsv | Format::Id => {
                Sink::Listing(cx.out.listing(noun.noun.view)?)
            }
        };
        let computed = noun.computed.iter().map(|name| (*name).to_owned());
        let properties = Reading::names(noun).into_iter().chain(computed).collect();
        let shown = out.is_none_or(|file| file == "-") && cx.out.screen.stdout_is_terminal;
        let file = out.filter(|file| *file != "-").map(PathBuf::from);
        Ok(Self { file, shown, columns, properties, sink, count: 0 })
    }

    fn push(&mut self, record: &Value) -> Outcome {
        self.count += 1;
        if let Sink::Listing(listing) = &mut self.sink {
            return listing.push(&record.to_string());
        }
        let put = self.put(record);
        put.map_err(unwritten(self.file.as_deref()))
    }

    fn put(&mut self, record: &Value) -> io::Result<()> {
        match &mut self.sink {
            Sink::Csv(writer) => {
                let cells =
                    self.columns.iter().map(|(_, column)| cell(column.kind, at(record, &column.path)));
                let cells = cells.map(|cell| if self.shown { escaped_lines(&cell) } else { cell });
                // As it is: that a reader has closed the pipe is told from other errors.
                writer.write_record(cells).map_err(|error| match error.into_kind() {
                    csv::ErrorKind::Io(error) => error,
                    other => io::Error::other(format!("{other:?}")),
                })
            }
            Sink::Lines(out) => {
                let line = importable(&self.properties, record).to_string();
                writeln!(out, "{}", if self.shown { escaped_json(line) } else { line })
            }
            Sink::Whole(_, _, records) => {
                records.push(importable(&self.properties, record));
                Ok(())
            }
            Sink::Listing(_) => Ok(()),
        }
    }

    fn finish(self) -> Outcome<u64> {
        let failed = unwritten(self.file.as_deref());
        match self.sink {
            Sink::Csv(writer) => {
                let out = writer.into_inner().map_err(|error| failed(error.into_error()))?;
                out.keep(failed)?;
            }
            Sink::Lines(out) => out.keep(failed)?,
            Sink::Whole(mut out, format, records) => {
                let records = Value::Array(records);
                let text = match format {
                    Format::Yaml => yaml::to_text(&records),
                    _ => {
                        let text = serde_json::to_string_pretty(&records).unwrap_or_default();
                        format!("{}\n", if self.shown { escaped_json(text) } else { text })
                    }
                };
                out.write_all(text.as_bytes()).map_err(failed)?;
                out.keep(failed)?;
            }
            Sink::Listing(listing) => listing.finish()?,
        }
        Ok(self.count)
    }
}

/// A record with only the properties that an import takes.
fn importable(properties: &[String], record: &Value) -> Value {
    let given =
        |name: &String| Some((name.clone(), record.get(name).filter(|value| !value.is_null())?.clone()));
    Value::Object(properties.iter().filter_map(given).collect())
}

/// The failure to write a file. Only of stdout it is nothing that its reader has closed it: of a file, or of
/// a pipe with a name, a part would be missing.
fn unwritten(file: Option<&Path>) -> impl Fn(io::Error) -> Failure + Copy {
    move |error| match file {
        Some(file) => unwritable(file)(error),
        None => error.into(),
    }
}

/// The file, which takes the place of an old one when it is whole, or stdout.
enum Target {
    Stdout(BufWriter<StdoutLock<'static>>),
    File(BufWriter<Pending>),
}

impl Target {
    fn keep(self, failed: impl Fn(io::Error) -> Failure) -> Outcome {
        match self {
            Target::Stdout(mut out) => out.flush().map_err(failed),
            Target::File(out) => out.into_inner().map_err(|error| failed(error.into_error()))?.keep(),
        }
    }
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Target::Stdout(out) => out.write(bytes),
            Target::File(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Target::Stdout(out) => out.flush(),
            Target::File(out) => out.flush(),
        }
    }
}

fn target(out: Option<&str>) -> Outcome<Target> {
    Ok(match out.filter(|file| *file != "-") {
        None => Target::Stdout(BufWriter::new(stdout().lock())),
        Some(file) => Target::File(BufWriter::new(Pending::begin(Path::new(file))?)),
    })
}
