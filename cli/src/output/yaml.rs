//! Writes YAML. No library is used, because every digit of a number counts.

use serde_json::Value;

pub fn to_text(value: &Value) -> String {
    let mut out = String::new();
    write(value, 0, &mut out);
    out
}

fn write(value: &Value, depth: usize, out: &mut String) {
    let indent = "  ".repeat(depth);
    match value {
        Value::Object(properties) if !properties.is_empty() => {
            for (i, (name, value)) in properties.iter().enumerate() {
                // The first property of a list's element follows its dash.
                if i > 0 || !out.ends_with("- ") {
                    out.push_str(&indent);
                }
                out.push_str(&scalar(name));
                out.push(':');
                nest(value, depth + 1, out);
            }
        }
        Value::Array(elements) if !elements.is_empty() => {
            for element in elements {
                out.push_str(&indent);
                out.push_str("- ");
                match element {
                    Value::Array(inner) if !inner.is_empty() => {
                        out.push('\n');
                        write(element, depth + 1, out);
                    }
                    _ => write(element, depth + 1, out),
                }
            }
        }
        other => {
            out.push_str(&leaf(other));
            out.push('\n');
        }
    }
}

fn nest(value: &Value, depth: usize, out: &mut String) {
    match value {
        Value::Object(inner) if !inner.is_empty() => out.push('\n'),
        Value::Array(inner) if !inner.is_empty() => out.push('\n'),
        other => {
            out.push(' ');
            out.push_str(&leaf(other));
            out.push('\n');
            return;
        }
    }
    write(value, depth, out);
}

fn leaf(value: &Value) -> String {
    match value {
        Value::String(text) => scalar(text),
        other => other.to_string(),
    }
}

/// A text without quotes where no reader could take it for anything else.
fn scalar(text: &str) -> String {
    let words = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    let plain = text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, ' ' | '_' | '-' | '.' | '/'))
        && !text.ends_with(' ')
        && !words.contains(&text.to_ascii_lowercase().as_str());
    if plain {
        return text.to_owned();
    }
    // A JSON text is a YAML text, too, but for two signs that YAML allows only when written out. So is what
    // could steer a terminal.
    let quoted = Value::from(text).to_string();
    let escape = |c: char| {
        if super::cell::steers(c) || matches!(c, '\u{fffe}' | '\u{ffff}') {
            format!("\\u{:04x}", u32::from(c))
        } else {
            c.to_string()
        }
    };
    quoted.chars().map(escape).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::yaml::parse;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn a_record_reads_well() {
        let record =
            json!({ "a": "plain text", "b": null, "c": [], "d": [{ "e": 1, "f": "no" }], "g": { "h": "" } });
        let expected = "a: plain text\nb: null\nc: []\nd:\n  - e: 1\n    f: \"no\"\ng:\n  h: \"\"\n";
        assert_eq!(to_text(&record), expected);
        assert_eq!(to_text(&serde_json::from_str("{\"nn\":1.10}").unwrap()), "nn: 1.10\n");
    }

    #[test]
    fn every_sign_comes_back() {
        let signs: Vec<char> = ('\0'..=char::MAX).collect();
        for some in signs.chunks(4096) {
            let value = json!({ "text": some.iter().collect::<String>() });
            assert!(parse(&to_text(&value)).is_ok_and(|read| read == value), "from {:?} on", some[0]);
        }
    }

    proptest! {
        #[test]
        fn every_text_comes_back(text in "\\PC{0,20}", odd in any::<String>()) {
            let value = json!({ "list": [[text.clone()], { "k": odd.clone() }], text: odd });
            prop_assert_eq!(parse(&to_text(&value)).unwrap(), value);
        }
    }
}
