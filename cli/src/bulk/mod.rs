//! Records in bulk: tables of customers, offices and so on that come from files and go into files.
//!
//! | module | holds |
//! |---|---|
//! | `nouns` | what each noun needs for it: its endpoints, what names a record, an example |
//! | `columns` | columns as the schema of the body says; a cell as a value and a value as a cell |
//! | `source` | rows of CSV, JSON lines, JSON and YAML |
//! | `row` | a row as the operations that make its record |
//! | `send` | rows as batches, and what became of each |
//! | `report`, `failed` | the report, from which a broken run goes on; the rows that failed |
//! | `progress` | a bar for people, lines for programs |
//! | `import` | all of it together |
//! | `export` | the way back |
//! | `supply` | all records of a kind as they arrive |
//! | `template` | an empty table to begin with |

pub mod columns;
pub mod export;
mod failed;
pub mod import;
pub mod nouns;
mod progress;
mod report;
mod row;
pub mod send;
pub mod source;
pub mod supply;
pub mod template;
