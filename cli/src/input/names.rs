//! Names of fields in the user's input, and which of them would be ignored.

use crate::failure::{Failure, Outcome};
use crate::input::shape::{Kind, Shape};
use mfa_shared::api::rows;
use mfa_shared::endpoint::{Meta, segments};
use mfa_shared::wire::AnswerKind;
use serde_json::Value;

/// The names that records of an endpoint may have: those that it takes, and those that only the daemon sets,
/// which are ignored since they come along when the output of a read is sent back.
#[derive(Debug)]
pub struct Names {
    taken: Shape,
    shown: Option<Shape>,
}

impl Names {
    pub fn of(meta: &Meta) -> Self {
        Self { taken: Shape::of(meta), shown: Shape::of_record(meta) }
    }

    /// The pointers of names that no record has, each with what is wrong with it.
    pub fn unknown(&self, given: &Value) -> impl Iterator<Item = (String, String)> {
        let is_shown = |path: &str| self.shown.as_ref().is_some_and(|shown| shown.column(path).is_ok());
        let unknown = self.taken.unknown("", given).into_iter();
        unknown.filter(move |(path, _)| !is_shown(path)).map(|(path, why)| (pointer(&path), why))
    }
}

/// Refuses a name in a file that the record does not have.
pub fn check(meta: &Meta, file: &str, given: &Value) -> Outcome {
    match Names::of(meta).unknown(given).next() {
        Some((field, why)) => {
            let file = if file == "-" { "standard input" } else { file };
            Err(Failure::usage(format!("there is no field {field}, which is in {file}")).hint(why))
        }
        None => Ok(()),
    }
}

/// The pointer of a path, as the daemon names a field: it counts elements from 0.
pub fn pointer(path: &str) -> String {
    let step = |step: &str| match step.parse::<usize>() {
        Ok(number) => format!("/{}", number.saturating_sub(1)),
        Err(_) => format!("/{step}"),
    };
    path.split('.').map(step).collect()
}

impl Shape {
    /// The record that an endpoint makes or changes, as a read of it alone shows it, where there is one.
    pub fn of_record(meta: &Meta) -> Option<Self> {
        let reads = |row: &Meta| match row.path.strip_prefix(meta.path) {
            Some(rest) => rest.is_empty() || (rest.starts_with("/{") && segments(rest).count() == 1),
            None => false,
        };
        let json = |row: &Meta| row.method.reads() && row.answer.kind == AnswerKind::Json;
        rows().find(|row| json(row) && reads(row)).map(Self::of_answer)
    }

    /// The names at a path and below it that the body does not have, each with what is wrong with it; an
    /// empty path is the whole body.
    pub fn unknown(&self, path: &str, value: &Value) -> Vec<(String, String)> {
        let kind = if path.is_empty() { Ok(Kind::Json) } else { self.column(path).map(|column| column.kind) };
        let below = |step: &str, value| match path {
            "" => self.unknown(step, value),
            path => self.unknown(&format!("{path}.{step}"), value),
        };
        match (kind, value) {
            (Err(why), _) => vec![(path.to_owned(), why)],
            (Ok(Kind::Json | Kind::Day), Value::Object(properties)) => {
                properties.iter().flat_map(|(name, value)| below(name, value)).collect()
            }
            (Ok(Kind::Json), Value::Array(elements)) => {
                (1..=1000).zip(elements).flat_map(|(n, value)| below(&format!("{n}"), value)).collect()
            }
            (Ok(_), _) => Vec::new(),
        }
    }
}
