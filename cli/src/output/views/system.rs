//! Views of the machine and of the interface itself.

use super::{Column, View, amount, column};
use serde_json::Value;

pub const FINDING: View = View::of("findings").state("/result").columns(&[
    column("check", "/check", 0),
    column("result", "/result", 0),
    column("found", "/found", 0),
    column("mend", "/mend", 1),
]);

/// Objects of the wire.
pub const OBJECT: View = View::of("objects").columns(&[column("name", "/name", 0), column("doc", "/doc", 1)]);

/// What was found, of several kinds.
pub const FOUND: View = View::of("records").id("/identifier").columns(&[
    column("kind", "/kind", 0),
    column("identifier", "/identifier", 0),
    column("name", "/name", 1),
    column("state", "/state", 2),
    column("found-in", "/foundIn/*", 3),
    column("office", "/office", 4),
]);

/// An answer of the daemon of which nothing else is known.
pub const ANSWER: View = View::of("answers").id("/identifier").columns(&[column("answer", "", 0)]);

/// Fields of an object of the wire.
pub const FIELD: View = View::of("fields").columns(&[
    column("name", "/name", 0),
    column("type", "/type", 0),
    column("required", "/required", 1),
    column("doc", "/doc", 0),
]);

/// Rows of the fault table.
pub const FAULT: View = View::of("codes").columns(&[
    column("code", "/code", 0),
    column("status", "/status", 1),
    column("exit", "/exit", 1),
    column("title", "/title", 0),
    column("hint", "/hint", 2),
]);

pub const EXIT_CODE: View =
    View::of("exit codes").columns(&[column("code", "/code", 0), column("meaning", "/meaning", 0)]);

pub const VARIABLE: View =
    View::of("variables").columns(&[column("variable", "/variable", 0), column("doc", "/doc", 0)]);

/// What the daemon counts and measures.
pub const METRIC: View = View::of("metrics").columns(&[
    column("metric", "/name", 0),
    Column { lines: Some(labels), ..column("labels", "/labels", 1) },
    amount("value", "/value", 0),
]);

fn labels(metric: &Value) -> Vec<String> {
    let labels = metric["labels"].as_object().into_iter().flatten();
    let shown: Vec<_> =
        labels.map(|(name, value)| format!("{name}={}", value.as_str().unwrap_or_default())).collect();
    vec![shown.join(" ")]
}
