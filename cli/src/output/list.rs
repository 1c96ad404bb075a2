//! A list that is printed while it arrives, as far as its format allows.

use super::{Output, cell, formula, table, yaml};
use crate::failure::{Failure, Outcome};
use crate::output::Format;
use crate::output::views::{Column, View};
use serde_json::Value;
use std::io::{BufWriter, StdoutLock, Write, stdout};

/// Bytes of output that are gathered before they are written.
const GATHER_BYTES: usize = 64 * 1024;

/// A list that is being printed.
pub struct Listing<'a> {
    output: &'a Output,
    view: &'a View,
    columns: Vec<Column>,
    sink: Sink,
    begun: bool,
    below: &'a str,
}

enum Sink {
    /// The whole list is needed first: JSON and YAML show nothing at all if it breaks off, and tables need to
    /// know the widths.
    Kept(Vec<Value>),
    Lines(BufWriter<StdoutLock<'static>>),
    Rows(Box<csv::Writer<StdoutLock<'static>>>),
}

impl<'a> Listing<'a> {
    pub(super) fn new(output: &'a Output, view: &'a View) -> Outcome<Self> {
        let columns = output.chosen(view)?;
        let sink = match output.format {
            _ if output.jq.is_some() => Sink::Kept(Vec::new()),
            Format::Json | Format::Yaml | Format::Table | Format::Wide => Sink::Kept(Vec::new()),
            Format::Csv => Sink::Rows(Box::new(csv::Writer::from_writer(stdout().lock()))),
            Format::Jsonl | Format::Id | Format::Tsv => {
                Sink::Lines(BufWriter::with_capacity(GATHER_BYTES, stdout().lock()))
            }
        };
        Ok(Self { output, view, columns, sink, begun: false, below: "" })
    }

    /// The same with a text below its table.
    pub(super) fn above(self, below: &'a str) -> Self {
        Self { below, ..self }
    }

    /// Writes the names of the columns, once something is certain to follow: stdout stays empty where the
    /// daemon refuses the list.
    fn begin(&mut self) -> Outcome {
        if std::mem::replace(&mut self.begun, true) || self.output.no_header {
            return Ok(());
        }
        let names: Vec<_> = self.columns.iter().map(|column| column.name.to_owned()).collect();
        match (&mut self.sink, self.output.format) {
            (Sink::Rows(writer), _) => writer.write_record(&names)?,
            (Sink::Lines(out), Format::Tsv) => writeln!(out, "{}", names.join("\t"))?,
            _ => {}
        }
        Ok(())
    }

    /// Takes the next record, as the text of its JSON.
    pub fn push(&mut self, json: &str) -> Outcome {
        self.begin()?;
        if let (Sink::Lines(out), Format::Jsonl) = (&mut self.sink, self.output.format) {
            let line = if self.output.screen.stdout_is_terminal {
                cell::escaped_json(json.to_owned())
            } else {
                json.to_owned()
            };
            return Ok(writeln!(out, "{line}")?);
        }
        let record = record_of(json)?;
        let output = self.output;
        let row = || self.columns.iter().map(|column| output.shown(formula::column(&record, column)));
        match &mut self.sink {
            Sink::Kept(records) => records.push(record),
            Sink::Rows(writer) => writer.write_record(row())?,
            Sink::Lines(out) if self.output.format == Format::Id => {
                writeln!(out, "{}", output.shown(cell::text(&record, self.view.id)))?;
            }
            Sink::Lines(out) => {
                let row: Vec<_> = row().map(|text| tsv(&text)).collect();
                writeln!(out, "{}", row.join("\t"))?;
            }
        }
        Ok(())
    }

    /// Prints what is left.
    pub fn finish(mut self) -> Outcome {
        self.begin()?;
        let output = self.output;
        let records = match self.sink {
            Sink::Lines(mut out) => return Ok(out.flush()?),
            Sink::Rows(mut writer) => return Ok(writer.flush()?),
            Sink::Kept(records) => records,
        };
        if let Some(expression) = &output.jq {
            return output.express(expression, &Value::Array(records));
        }
        match output.format {
            Format::Json => output.page(&(output.json(&Value::Array(records)) + "\n")),
            Format::Yaml => output.page(&yaml::to_text(&Value::Array(records))),
            _ if records.is_empty() => {
                output.tip(&format!("no {}", self.view.plural));
                Ok(())
            }
            format => {
                let row = |record| self.columns.iter().map(|c| output.cell(record, c)).collect();
                let rows: Vec<Vec<String>> = records.iter().map(row).collect();
                // Columns that the user chose are all shown, like those of the wide format.
                let fit = format == Format::Table && output.columns.is_empty();
                let text = table::rows(&self.columns, &rows, &output.screen, fit, !output.no_header);
                output.page(&(text + self.below))
            }
        }
    }
}

/// A record of the daemon from the text of its JSON.
pub fn record_of(json: &str) -> Outcome<Value> {
    serde_json::from_str(json)
        .map_err(|error| Failure::local(format!("the daemon sent a record that is not JSON: {error}")))
}

/// A cell of tsv: what would break its line is written as in JSON.
fn tsv(text: &str) -> String {
    if !text.contains(['\t', '\n', '\r', '\\']) {
        return text.to_owned();
    }
    text.replace('\\', "\\\\").replace('\t', "\\t").replace('\n', "\\n").replace('\r', "\\r")
}
