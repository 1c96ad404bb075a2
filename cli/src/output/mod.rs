//! Output: records on stdout in the format that was asked for, messages on stderr.

mod answer;
pub mod called;
mod carried;
mod cell;
mod format;
mod formula;
pub mod guide;
mod jq;
mod keys;
mod list;
mod people;
#[cfg(feature = "pictures")]
mod picture;
mod progress;
mod screen;
mod table;
pub mod talk;
pub mod views;
pub mod wrap;
pub mod yaml;

pub use carried::Carried;
pub use cell::{escaped, escaped_json, escaped_lines, has, same, text, texts, worth};
pub use format::{Colour, Format};
pub use formula::{column as cell_of_csv, guarded, unguarded};
pub use jq::Expression;
pub use keys::ByKey;
pub use list::{Listing, record_of};
pub use people::{Clock, transaction};
pub use screen::{Lent, Screen};

use crate::failure::{Failure, Outcome};
use crate::output::views::{Column, View};
use crate::words::did_you_mean;
use serde_json::{Value, json};
use std::io::{Write, stderr, stdout};
use std::rc::Rc;

/// Shown in place of a secret unless it is asked for.
pub const MASK: &str = "***";

/// Where and how this command prints.
#[derive(Debug, Clone)]
pub struct Output {
    pub format: Format,
    /// Whether the user asked for it.
    pub format_asked: bool,
    pub screen: Screen,
    /// Columns that were asked for; empty for the view's own.
    pub columns: Vec<String>,
    /// What is made of the records, in place of the format.
    pub jq: Option<Rc<Expression>>,
    /// Leave out the line of column names.
    pub no_header: bool,
    /// Print only what is wrong.
    pub quiet: bool,
    /// Command line of the pager; empty for none.
    pub pager: String,
    /// The time zone of tables and printed reports.
    pub clock: Clock,
    /// Flags of the call that hints repeat.
    pub carried: Carried,
}

impl Output {
    /// Prints what an endpoint answered: a record, an array of records, or nothing.
    pub fn show(&self, view: &View, value: &Value) -> Outcome {
        match value {
            Value::Array(_) => self.show_above(view, value, ""),
            record => self.record(view, record),
        }
    }

    /// Prints records, and below their table a text.
    pub fn show_above(&self, view: &View, records: &Value, below: &str) -> Outcome {
        let mut listing = self.listing(view)?.above(below);
        let records = records.as_array().map(Vec::as_slice).unwrap_or_default();
        records.iter().try_for_each(|record| listing.push(&record.to_string()))?;
        listing.finish()
    }

    /// Prints records of which every column matters: what does not fit beside the first column continues
    /// below.
    pub fn show_folded(&self, view: &View, records: &[Value]) -> Outcome {
        let table = self.format == Format::Table && self.columns.is_empty() && self.jq.is_none();
        if !table || records.is_empty() {
            return self.show(view, &Value::Array(records.to_vec()));
        }
        let row = |record| view.columns.iter().map(|column| self.cell(record, column)).collect();
        let rows: Vec<_> = records.iter().map(row).collect();
        self.page(&table::folded(view.columns, &rows, &self.screen, !self.no_header))
    }

    /// Prints a record that is shown again: over the previous one for a person, as another row for a program.
    pub fn show_again(&self, view: &View, record: &Value) -> Outcome {
        let again = Self { no_header: true, pager: String::new(), ..self.clone() };
        if self.screen.stdout_is_terminal && self.format.is_table() {
            // Clears the screen and begins at its top.
            write!(stdout(), "\x1b[2J\x1b[H")?;
        }
        again.show(view, record)
    }

    /// Starts a list, whose records are printed as early as the format allows.
    pub fn listing<'a>(&'a self, view: &'a View) -> Outcome<Listing<'a>> {
        Listing::new(self, view)
    }

    fn record(&self, view: &View, record: &Value) -> Outcome {
        if let Some(expression) = &self.jq {
            return self.express(expression, record);
        }
        match self.format {
            Format::Json => self.page(&(self.json(record) + "\n")),
            Format::Jsonl => self.page(&format!("{}\n", self.shown_json(record.to_string()))),
            Format::Yaml => self.page(&yaml::to_text(record)),
            Format::Id => self.page(&format!("{}\n", self.shown(text(record, view.id)))),
            Format::Csv | Format::Tsv => {
                let mut listing = self.listing(view)?;
                if !record.is_null() {
                    listing.push(&record.to_string())?;
                }
                listing.finish()
            }
            Format::Table | Format::Wide if record.is_null() => Ok(()),
            Format::Table | Format::Wide => {
                let chosen = self.chosen(view)?;
                // A person wants every value that is there, and no line for one that is not.
                let shown = |column: &&Column| {
                    let empty = text(record, column.pointer).is_empty();
                    self.format == Format::Wide || !empty || (column.priority < views::WIDE)
                };
                let rows: Vec<_> = if self.columns.is_empty() {
                    chosen.iter().filter(shown).collect()
                } else {
                    chosen.iter().collect()
                };
                let rows = rows.iter().map(|c| (c.name, self.cell(record, c))).collect();
                self.page(&table::record(rows, &self.screen))
            }
        }
    }

    fn express(&self, expression: &Expression, value: &Value) -> Outcome {
        let lines = expression.lines(value).map_err(Failure::of_output)?;
        self.page(&self.shown(lines))
    }

    /// The columns of a view that this command shows, all of them where none were chosen.
    fn chosen(&self, view: &View) -> Outcome<Vec<Column>> {
        if self.columns.is_empty() {
            return Ok(view.columns.to_vec());
        }
        let column = |name: &String| view.column(name).copied().ok_or_else(|| unknown_column(view, name));
        self.columns.iter().map(column).collect()
    }

    /// Refuses columns that a view does not have, before anything is done whose result it is to show.
    pub fn check_columns(&self, view: &View) -> Outcome {
        if self.has_columns() { self.chosen(view).map(drop) } else { Ok(()) }
    }

    /// Whether it has a column for each property.
    fn has_columns(&self) -> bool {
        let has_columns = self.format.is_table() || matches!(self.format, Format::Csv | Format::Tsv);
        has_columns && self.jq.is_none()
    }

    /// Whether certain members of a record were asked for.
    pub fn is_of_members(&self) -> bool {
        self.jq.is_some() || self.has_columns() && !self.columns.is_empty()
    }

    /// Prints a document: a script, a manual page, a topic of the help.
    pub fn document(&self, name: &str, text: &str) -> Outcome {
        if self.jq.is_some() || self.format.is_structured() {
            return self.record(&views::ANSWER, &json!({ name: text }));
        }
        self.page(text)
    }

    /// Prints differences of texts, in colour where stdout takes it.
    pub fn differences(&self, text: &str) -> Outcome {
        let line = |line: &str| {
            let colour = match line.as_bytes().first() {
                Some(b'-') => "31",
                Some(b'+') => "32",
                Some(b'@') => "36",
                _ => "",
            };
            match self.screen.stdout_colour && !colour.is_empty() {
                true => format!("\x1b[{colour}m{}\x1b[0m\n", escaped(line)),
                false if self.screen.stdout_is_terminal => escaped(line) + "\n",
                false => format!("{line}\n"),
            }
        };
        self.page(&text.lines().map(line).collect::<String>())
    }

    /// The lines that show an image, or why it cannot be shown.
    #[cfg(feature = "pictures")]
    pub fn picture(&self, image: &[u8]) -> Result<String, String> {
        picture::draw(image, &self.screen)
    }

    /// Why no image can be shown.
    #[cfg(not(feature = "pictures"))]
    pub fn picture(&self, _: &[u8]) -> Result<String, String> {
        Err("this program was built without pictures".to_owned())
    }

    /// JSON for a person or a program; on a terminal nothing in it can steer the terminal.
    fn json(&self, value: &Value) -> String {
        self.shown_json(serde_json::to_string_pretty(value).unwrap_or_default())
    }

    /// A text of JSON as stdout takes it.
    fn shown_json(&self, text: String) -> String {
        if self.screen.stdout_is_terminal { escaped_json(text) } else { text }
    }

    /// A value as stdout takes it: on a terminal nothing in it can steer the terminal.
    fn shown(&self, text: String) -> String {
        if self.screen.stdout_is_terminal { escaped_lines(&text) } else { text }
    }

    /// Prints a text; on a terminal through the pager, if it would scroll otherwise.
    fn page(&self, text: &str) -> Outcome {
        let lines = text.bytes().filter(|byte| *byte == b'\n').count();
        if self.screen.stdout_is_terminal && lines >= self.screen.lines && screen::page(&self.pager, text) {
            return Ok(());
        }
        write_out(text.as_bytes())
    }

    /// Says something on stderr.
    pub fn say(&self, text: &str) {
        if !self.quiet {
            let _ = talk::put(self.screen.message(&self.carried.put_in(text), 0), None);
        }
    }

    /// Whether the output is for people, who get more than they asked for.
    pub fn is_read_by_people(&self) -> bool {
        self.jq.is_none() && self.format.is_table()
    }

    /// Whether the user asked for records in a format of programs, where a command otherwise prints a paper.
    pub fn is_asked_for_records(&self) -> bool {
        self.format_asked && !self.is_read_by_people() || self.jq.is_some()
    }

    /// Prints a tip, which only a person at a terminal wants to see.
    pub fn tip(&self, text: &str) {
        if self.screen.stderr_is_terminal {
            self.say(text);
        }
    }

    /// Shows on stderr which lines a change takes away and which it brings.
    pub fn show_changes(&self, lines: &[(char, impl AsRef<str>)]) {
        for (mark, text) in lines {
            let line = format!("{mark} {}", escaped(text.as_ref()));
            let line = match mark {
                '-' => self.screen.mark(&line, "31"),
                '+' => self.screen.mark(&line, "32"),
                '~' => self.screen.mark(&line, "33"),
                _ => line,
            };
            let _ = talk::put(line, None);
        }
    }

    pub fn warn(&self, text: &str) {
        if !self.quiet {
            self.insist(text);
        }
    }

    /// Prints a warning that must not be missed, even when quiet.
    pub fn insist(&self, text: &str) {
        let text = self.carried.put_in(text);
        let _ = talk::put(self.warning(&text), Some(&text));
    }

    /// The same at once, for what is lost unless somebody sees it.
    pub fn insisted(&self, text: &str) -> std::io::Result<()> {
        writeln!(stderr(), "{}", self.warning(&self.carried.put_in(text)))
    }

    fn warning(&self, text: &str) -> String {
        let text = self.screen.message(&escaped(text), "warning: ".len());
        format!("{} {text}", self.screen.mark("warning:", "33"))
    }
}

/// Writes bytes to stdout.
pub fn write_out(bytes: &[u8]) -> Outcome {
    let mut out = stdout().lock();
    out.write_all(bytes)?;
    Ok(out.flush()?)
}

/// Prints a failure on stderr in the format that its reader wants.
pub fn show_failure(failure: &Failure, structured: bool, screen: &Screen) {
    if !structured {
        talk::release();
    }
    let mut out = stderr().lock();
    if structured {
        let json = failure.to_json(&talk::warnings());
        let _ = writeln!(out, "{}", if screen.stderr_is_terminal { escaped_json(json) } else { json });
        return;
    }
    for (label, text) in failure.lines() {
        let colour = if label == "error" { "1;31" } else { "36" };
        let text = screen.message(&text, label.len() + 2);
        let _ = writeln!(out, "{} {text}", screen.mark(&format!("{label}:"), colour));
    }
}

fn unknown_column(view: &View, name: &str) -> Failure {
    let names: Vec<_> = view.columns.iter().map(|column| column.name).collect();
    let meant = did_you_mean(name, names.iter().copied());
    let hint = meant.unwrap_or_else(|| format!("the columns are {}", names.join(", ")));
    Failure::usage(format!("there is no column \"{name}\"")).hint(hint)
}
