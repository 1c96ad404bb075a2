//! The way back: the records of a noun in the columns of its import.

use super::row::Reading;
use super::{Bulk, template};
use crate::command::cx::Cx;
use crate::failure::{Failure, Outcome};
use crate::input::shape::{Column, Shape, at, cell};
use crate::output::{Format, escaped_json, escaped_lines, yaml};
use serde_json::Value;
use std::collections::HashSet;
use std::fs::OpenOptions;
use std::io::{BufWriter, Write, stdout};
use std::os::unix::fs::OpenOptionsExt;

/// Exports all records of a noun into a file, or to stdout.
pub async fn export(cx: &Cx, noun: Bulk, out: Option<&str>, format: Option<Format>) -> Outcome {
    let format = match format.unwrap_or(Format::Csv) {
        Format::Table | Format::Wide | Format::Id | Format::Tsv if out.is_some() => {
            return Err(Failure::usage("a file is of csv, json, jsonl or yaml").hint("give -o csv"));
        }
        format => format,
    };
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
    noun.noun.each(&cx.client, &mut take).await?;
    in_order(records).iter().try_for_each(|record| sheet.push(record))?;
    let count = sheet.finish()?;
    cx.out.tip(&format!("{count} {} exported", noun.plural));
    Ok(())
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
    /// Whether a terminal shows it.
    shown: bool,
    columns: Vec<(String, Column)>,
    properties: Vec<String>,
    sink: Sink<'a>,
    count: u64,
}

enum Sink<'a> {
    Csv(Box<csv::Writer<Box<dyn Write>>>),
    Lines(Box<dyn Write>),
    Whole(Box<dyn Write>, Format, Vec<Value>),
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
                writer.write_record(columns.iter().map(|(name, _)| name))?;
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
        Ok(Self { shown, columns, properties, sink, count: 0 })
    }

    fn push(&mut self, record: &Value) -> Outcome {
        self.count += 1;
        match &mut self.sink {
            Sink::Csv(writer) => {
                let cells =
                    self.columns.iter().map(|(_, column)| cell(column.kind, at(record, &column.path)));
                let cells = cells.map(|cell| if self.shown { escaped_lines(&cell) } else { cell });
                Ok(writer.write_record(cells)?)
            }
            Sink::Lines(out) => {
                let line = importable(&self.properties, record).to_string();
                Ok(writeln!(out, "{}", if self.shown { escaped_json(line) } else { line })?)
            }
            Sink::Whole(_, _, records) => {
                records.push(importable(&self.properties, record));
                Ok(())
            }
            Sink::Listing(listing) => listing.push(&record.to_string()),
        }
    }

    fn finish(self) -> Outcome<u64> {
        match self.sink {
            Sink::Csv(mut writer) => writer.flush()?,
            Sink::Lines(mut out) => out.flush()?,
            Sink::Whole(mut out, format, records) => {
                let records = Value::Array(records);
                match format {
                    Format::Yaml => out.write_all(yaml::to_text(&records).as_bytes())?,
                    _ => {
                        let text = serde_json::to_string_pretty(&records).unwrap_or_default();
                        writeln!(out, "{}", if self.shown { escaped_json(text) } else { text })?;
                    }
                }
                out.flush()?;
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

/// The file, which only its owner can read, or stdout.
fn target(out: Option<&str>) -> Outcome<Box<dyn Write>> {
    let Some(file) = out.filter(|file| *file != "-") else {
        return Ok(Box::new(BufWriter::new(stdout().lock())));
    };
    let opened = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(file);
    let opened = opened.map_err(|error| Failure::local(format!("cannot write {file}: {error}")))?;
    Ok(Box::new(BufWriter::new(opened)))
}
