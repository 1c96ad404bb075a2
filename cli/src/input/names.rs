//! Names of fields in the user's input, and which of them would be ignored.

use crate::failure::{Failure, Outcome};
use crate::input::shape::{Kind, Shape};
use mfa_shared::api::rows;
use mfa_shared::endpoint::{Meta, segments};
use mfa_shared::wire::AnswerKind;
use serde_json::Value;

/// Refuses a name in a file that the record does not have. Fields that only the daemon sets are ignored: they
/// come along when the output of a read is sent back.
pub fn check(meta: &Meta, file: &str, given: &Value) -> Outcome {
    let taken = Shape::of(meta);
    let shown = Shape::of_record(meta);
    let is_shown = |path: &str| shown.as_ref().is_some_and(|shown| shown.column(path).is_ok());
    match taken.unknown("", given).into_iter().find(|(path, _)| !is_shown(path)) {
        Some((path, why)) => {
            let file = if file == "-" { "standard input" } else { file };
            let what = format!("there is no field {}, which is in {file}", pointer(&path));
            Err(Failure::usage(what).hint(why))
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
