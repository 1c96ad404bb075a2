//! Columns of the audit trail.

use super::{View, WIDE, amount, column, moment, text};
use serde_json::Value;

/// The longest value that a table shows of a change.
const VALUE_MAX: usize = 60;

pub const AUDIT: View = View::of("records").columns(&[
    amount("sequence", "/sequence", 0),
    moment("time", "/occurredOn", 0),
    column("actor", "/actor", 0),
    super::Column { lines: Some(with_refusal), ..column("operation", "/operation", 0) },
    column("resource", "/resource", 0),
    column("outcome", "/outcome", WIDE),
    amount("status", "/status", WIDE),
    column("code", "/code", WIDE),
    column("application", "/application", WIDE),
    column("origin", "/origin", WIDE),
    column("request", "/requestId", WIDE),
    amount("batch-index", "/batchIndex", WIDE),
    column("method", "/method", WIDE),
    column("path", "/path", WIDE),
    column("affects", "/affects", WIDE),
    super::Column { lines: Some(in_words), ..column("changes", "/changes", WIDE) },
    column("previous-hash", "/previousHash", WIDE),
    column("hash", "/hash", WIDE),
]);

pub const HISTORY: View = View::of("records").id("/sequence").columns(&[
    moment("time", "/occurredOn", 0),
    column("actor", "/actor", 0),
    column("operation", "/operation", 0),
    super::Column { lines: Some(in_words), ..column("changes", "/changes", 0) },
    column("resource", "/resource", 2),
    column("origin", "/origin", 3),
    column("outcome", "/outcome", WIDE),
    amount("sequence", "/sequence", WIDE),
    column("request", "/requestId", WIDE),
]);

/// What was changed.
pub const EVENT: View = View::of("events").columns(&[
    amount("sequence", "/sequence", 0),
    moment("time", "/occurredOn", 0),
    column("actor", "/actor", 0),
    column("operation", "/operation", 0),
    column("resource", "/resource", 0),
    column("affects", "/affects", 1),
    column("request", "/requestId", WIDE),
]);

/// The end of the audit trail.
pub const AUDIT_HEAD: View = View::of("heads").id("/hash").columns(&[
    amount("sequence", "/sequence", 0),
    column("hash", "/hash", 0),
    moment("time", "/occurredOn", 1),
]);

/// The result of a verification of the trail.
pub const VERIFIED: View = View::of("verifications").id("/hash").columns(&[
    amount("records", "/records", 0),
    amount("first", "/first", 0),
    amount("last", "/last", 0),
    column("hash", "/hash", 0),
]);

/// What was removed from the trail.
pub const PRUNED: View = View::of("prunings")
    .id("/first")
    .columns(&[amount("records", "/records", 0), amount("first-kept", "/first", 0)]);

/// The changes of a record in words: `surname: Mensah -> Owusu`. Who changed it last is in the trail itself.
/// What was refused says so, or it would be taken for a deed.
fn in_words(record: &Value) -> Vec<String> {
    if let Some(refusal) = refusal(record) {
        return vec![refusal];
    }
    let noise = ["/lastModifiedBy", "/lastModifiedOn"];
    let listed = record["changes"].as_array().cloned().unwrap_or_default();
    let changed = listed.iter().filter(|change| !noise.iter().any(|field| change["field"] == *field));
    changed
        .map(|change| {
            let field = change["field"].as_str().unwrap_or_default();
            let name = field.trim_start_matches('/').replace('/', ".");
            match (name.is_empty(), &change["before"], &change["after"]) {
                (true, Value::Null, _) => "created".to_owned(),
                (true, _, Value::Null) => "deleted".to_owned(),
                (_, before, after) => format!("{name}: {} -> {}", shown(before), shown(after)),
            }
        })
        .collect()
}

/// That nothing was done, and why: `refused: forbidden`.
fn refusal(record: &Value) -> Option<String> {
    let outcome = record["outcome"].as_str().filter(|outcome| matches!(*outcome, "REFUSED" | "FAILED"))?;
    let code = record["code"].as_str().map(|code| format!(": {code}")).unwrap_or_default();
    Some(format!("{}{code}", outcome.to_lowercase()))
}

/// An operation, and below it that it was refused: a table has room for both in the narrowest terminal.
fn with_refusal(record: &Value) -> Vec<String> {
    [text(record, "/operation")].into_iter().chain(refusal(record)).collect()
}

fn shown(value: &Value) -> String {
    let text = match value {
        Value::Null => "(none)".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    match text.char_indices().nth(VALUE_MAX) {
        Some((at, _)) => format!("{}...", &text[..at]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn changes_read_like_a_story() {
        let changes = json!([
            { "field": "/surname", "before": "Mensah", "after": "Owusu" },
            { "field": "/address/city", "before": null, "after": "Tema" },
            { "field": "/lastModifiedBy", "before": "esi", "after": "kofi" },
        ]);
        assert_eq!(
            in_words(&json!({ "changes": changes })),
            ["surname: Mensah -> Owusu", "address.city: (none) -> Tema"]
        );
        let whole = |before: Value, after: Value| {
            in_words(&json!({ "changes": [{ "field": "", "before": before, "after": after }] }))
        };
        assert_eq!(whole(json!(null), json!({})), ["created"]);
        assert_eq!(whole(json!({}), json!(null)), ["deleted"]);
        let refused = json!({ "outcome": "REFUSED", "code": "forbidden", "changes": [] });
        assert_eq!(in_words(&refused), ["refused: forbidden"]);
        assert_eq!(in_words(&json!({ "outcome": "FAILED", "changes": [] })), ["failed"]);
        assert_eq!(shown(&json!("x".repeat(99))), format!("{}...", "x".repeat(60)));
    }
}
