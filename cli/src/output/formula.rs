//! Text in cells that a spreadsheet may open: nothing in them is taken for a formula.

use super::cell;
use crate::output::views::{Column, Sense};
use serde_json::Value;

/// Whether a spreadsheet would take a text for a formula, or [`unguarded`] would take something from it.
fn is_guarded(text: &str) -> bool {
    text.starts_with(['=', '+', '-', '@', '\t', '\r', '\'']) || text.is_empty()
}

/// A text as a cell that no spreadsheet takes for a formula, and that is not empty: a `'` goes before it.
pub fn guarded(text: &str) -> String {
    let quoted = text.strip_prefix('\'').is_some_and(|rest| !is_guarded(rest));
    if is_guarded(text) && !quoted { format!("'{text}") } else { text.to_owned() }
}

/// The text of a cell without the `'` that [`guarded`] has put before it; nothing for an empty cell.
pub fn unguarded(cell: &str) -> Option<&str> {
    match cell.strip_prefix('\'') {
        Some(rest) if is_guarded(rest) => Some(rest),
        _ => Some(cell).filter(|cell| !cell.is_empty()),
    }
}

/// A column of a record as a cell of csv or tsv. A number is never guarded, nor what the command line itself
/// reads back.
pub fn column(record: &Value, column: &Column) -> String {
    let text = cell::text(record, column.pointer);
    let number = || text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'-' | b'.'));
    let numeric = || column.right || cell::values(record, column.pointer).iter().all(|v| v.is_number());
    if text.is_empty() || column.sense == Sense::Word || (number() && numeric()) {
        text
    } else {
        guarded(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::views;
    use serde_json::json;

    #[test]
    fn a_cell_that_a_spreadsheet_could_run_is_guarded() {
        for (text, guard) in [
            ("=1+1", "'=1+1"),
            ("+233", "'+233"),
            ("-5", "'-5"),
            ("@x", "'@x"),
            ("", "'"),
            ("'", "''"),
            ("'=1", "''=1"),
            ("'t Hart", "'t Hart"),
            ("''t", "'''t"),
            ("Ama", "Ama"),
        ] {
            assert_eq!(guarded(text), guard);
            assert_eq!(unguarded(guard), Some(text));
        }
        assert_eq!(unguarded(""), None);
    }

    #[test]
    fn only_numbers_and_words_to_be_typed_go_without_a_guard() {
        let record =
            json!({ "text": "=1+1", "fake": "-1", "number": -5, "empty": "", "list": ["+233", "1"] });
        let plain = |pointer| column(&record, &views::column("a", pointer, 0));
        assert_eq!(
            ["/text", "/fake", "/number", "/empty", "/none", "/list"].map(plain),
            ["'=1+1", "'-1", "-5", "", "", "'+233, 1"]
        );
        let amount = |pointer| column(&record, &views::amount("a", pointer, 0));
        assert_eq!(["/text", "/fake", "/number"].map(amount), ["'=1+1", "-1", "-5"]);
        assert_eq!(column(&record, &views::word("a", "/text", 0)), "=1+1");
    }
}
