//! One value of a record as the text of a cell.

use mfa_shared::amount::Amount;
use mfa_shared::identifier::is_control;
use serde_json::Value;

/// The value at a pointer as plain text; `*` in a pointer means every element of a list.
pub fn text(record: &Value, pointer: &str) -> String {
    texts(record, pointer).join(", ")
}

/// The values at a pointer, each as plain text.
pub fn texts(record: &Value, pointer: &str) -> Vec<String> {
    values(record, pointer).into_iter().map(plain).collect()
}

pub fn values<'v>(record: &'v Value, pointer: &str) -> Vec<&'v Value> {
    let mut values = vec![record];
    for step in pointer.split('/').skip(1) {
        values = values
            .into_iter()
            .flat_map(|value| match (step, value) {
                ("*", Value::Array(elements)) => elements.iter().collect(),
                _ => value.get(step).into_iter().collect::<Vec<_>>(),
            })
            .collect();
    }
    values
}

/// Whether a record has this value at a pointer: a number by what it is worth, all else by its text.
pub fn has(record: &Value, pointer: &str, value: &str) -> bool {
    let is_worth = || match values(record, pointer)[..] {
        [number @ Value::Number(_)] => {
            serde_json::from_str::<Amount>(value).is_ok_and(|value| worth(number) == Some(value))
        }
        _ => false,
    };
    text(record, pointer) == value || is_worth()
}

/// What a number is worth, whatever its digits; a sum may have more of them than an amount.
pub fn worth(number: &Value) -> Option<Amount> {
    serde_json::from_value(number.clone()).ok()
}

/// Whether two values are the same; a number may have more zeros.
pub fn same(one: &Value, other: &Value) -> bool {
    let are_numbers = one.is_number() && other.is_number();
    one == other || are_numbers && worth(one).is_some_and(|one| worth(other) == Some(one))
}

fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(values) if values.iter().all(|v| !v.is_object() && !v.is_array()) => {
            values.iter().map(plain).collect::<Vec<_>>().join(", ")
        }
        Value::Object(parts) => date(parts).unwrap_or_else(|| value.to_string()),
        other => other.to_string(),
    }
}

/// An object of year, month and day is a date.
fn date(parts: &serde_json::Map<String, Value>) -> Option<String> {
    let part = |name| parts.get(name).and_then(Value::as_i64);
    let (year, month, day) = (part("year")?, part("month")?, part("day")?);
    (parts.len() == 3).then(|| format!("{year:04}-{month:02}-{day:02}"))
}

/// Whether a character can steer a terminal or turn the order in which a line is read.
pub fn steers(c: char) -> bool {
    let marks = matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}');
    marks || is_control(c) || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Text in which every character that could steer a terminal is written out.
pub fn escaped(text: &str) -> String {
    if !text.chars().any(steers) {
        return text.to_owned();
    }
    text.chars().map(|c| if steers(c) { c.escape_default().to_string() } else { c.to_string() }).collect()
}

/// The same, but lines stay lines.
pub fn escaped_lines(text: &str) -> String {
    text.split('\n').map(escaped).collect::<Vec<_>>().join("\n")
}

/// A text of JSON in which what could steer a terminal is escaped as JSON does it; it stays the same JSON.
pub fn escaped_json(text: String) -> String {
    let turns = |c: char| c != '\n' && steers(c);
    if !text.chars().any(turns) {
        return text;
    }
    let written = |c| if turns(c) { format!("\\u{:04x}", u32::from(c)) } else { c.to_string() };
    text.chars().map(written).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_number_has_a_value_however_many_digits_are_written() {
        let record = serde_json::from_str(
            r#"{"a":100,"b":0.50,"c":"100","d":null,"e":[1,2],"f":1999999999999999.50}"#,
        )
        .unwrap();
        for (pointer, value, expected) in [
            ("/a", "100", true),
            ("/a", "100.00", true),
            ("/a", "100.01", false),
            ("/a", "", false),
            ("/b", "0.5", true),
            ("/f", "1999999999999999.5", true),
            ("/c", "100.0", false),
            ("/d", "0", false),
            ("/e", "1, 2", true),
        ] {
            assert_eq!(has(&record, pointer, value), expected, "{pointer} {value}");
        }
    }

    #[test]
    fn a_cell_is_found_through_objects_and_lists() {
        let record = json!({
            "born": { "year": 1990, "month": 3, "day": 5 }, "contacts": [{ "value": "a" }, { "value": "b" }],
            "note": "red\u{1b}[31m\nend", "none": null
        });
        assert_eq!(text(&record, "/born"), "1990-03-05");
        assert_eq!(text(&record, "/contacts/*/value"), "a, b");
        assert_eq!(text(&record, "/none/deeper"), "");
        for (value, expected) in [("1990-03-05", true), ("1990-3-5", false), ("", false)] {
            assert_eq!(has(&record, "/born", value), expected, "{value}");
        }
    }
}
