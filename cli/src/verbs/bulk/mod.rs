//! Records in bulk: tables of customers, offices and so on that come from files and go into files.
//!
//! | module | holds |
//! |---|---|
//! | `source` | rows of CSV, JSON lines, JSON and YAML |
//! | `mapping` | columns whose name is not that of their field |
//! | `row` | a row as the operations that make its record |
//! | `send` | rows as batches, and the result of each |
//! | `report`, `failed` | the report, from which a broken run is resumed; the rows that failed |
//! | `progress` | a bar for people, lines for programs |
//! | `order`, `parts` | what is imported and how; the file, read a little ahead |
//! | `import` | all of it together |
//! | `export` | the way back |
//! | `template` | an empty table to begin with |

pub mod export;
mod failed;
pub mod import;
mod ledger;
mod mapping;
pub mod order;
mod parts;
mod progress;
mod report;
mod row;
pub mod send;
pub mod source;
pub mod template;

use crate::command::noun::{Import, Noun};
use crate::input::Row;
use serde_json::Value;
use std::ops::Deref;

/// The row that changes a record, and its body from that of a new one.
type Change = (Row, fn(&Value) -> Value);

/// A noun whose records travel in bulk.
#[derive(Clone, Copy)]
pub struct Bulk {
    /// What is typed, such as `customers`.
    pub name: &'static str,
    pub noun: &'static Noun,
    /// The endpoint that makes a record.
    pub create: Row,
    import: &'static Import,
}

impl Bulk {
    /// A noun as it travels, where it does.
    pub fn of(noun: &'static Noun) -> Option<Self> {
        Some(Self { name: noun.typed, noun, create: noun.create?, import: noun.import.as_ref()? })
    }

    /// Columns that are in the path of the endpoints and not in the body.
    fn within(&self) -> &'static [&'static str] {
        self.noun.within
    }

    /// Whether a row names its record, so that no other can have the same name.
    fn names_records(&self) -> bool {
        self.change().is_some()
    }

    /// The endpoint that changes an existing record, and its body from that of a new one.
    fn change(&self) -> Option<Change> {
        self.noun.change.filter(|_| self.changes).map(|row| (row, self.noun.change_body))
    }
}

impl Deref for Bulk {
    type Target = Import;
    fn deref(&self) -> &Import {
        self.import
    }
}
