//! Reads YAML. The library parses; which scalar is a number, a boolean or null is decided here, by the core
//! schema of YAML 1.2, because every digit of a number counts. So `no` is a text, and so are digits behind a
//! leading zero, which a number would lose.

use granit_parser::{Event, Parser, ScalarStyle, StrInput, Tag};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::HashMap;

/// Values that aliases may add to a document.
const ALIASED_VALUES_MAX: usize = 100_000;
/// Mebibytes of text that aliases, and the values that they may name, may add to it.
const ALIASED_MIB_MAX: usize = 64;

pub fn parse(text: &str) -> Result<Value, String> {
    let mut documents = documents(text)?;
    match documents.len() {
        0 | 1 => Ok(documents.pop().unwrap_or_default()),
        _ => Err("it holds more than one document".to_owned()),
    }
}

/// Reads every document of a text.
pub fn documents(text: &str) -> Result<Vec<Value>, String> {
    let mut reader =
        Reader { parser: Parser::new_from_str(text), anchors: HashMap::new(), aliased: 0, copied: 0 };
    let mut documents = Vec::new();
    loop {
        match reader.next()? {
            Event::DocumentStart(..) => {
                // Anchors of one document are unknown in the next.
                reader.anchors.clear();
                let first = reader.next()?;
                documents.push(reader.value(first)?);
            }
            Event::StreamEnd => return Ok(documents),
            _ => {}
        }
    }
}

struct Reader<'t> {
    parser: Parser<'t, StrInput<'t>>,
    anchors: HashMap<usize, Value>,
    /// Values that aliases have added.
    aliased: usize,
    /// Bytes of text that are there again.
    copied: usize,
}

impl<'t> Reader<'t> {
    fn next(&mut self) -> Result<Event<'t>, String> {
        match self.parser.next() {
            None => Ok(Event::StreamEnd),
            Some(Err(error)) => Err(error.to_string()),
            Some(Ok((event, _))) => Ok(event),
        }
    }

    fn value(&mut self, event: Event<'t>) -> Result<Value, String> {
        let (anchor, value) = match event {
            Event::Scalar(text, style, anchor, tag) => (anchor, scalar(&text, style, tag.as_ref())?),
            Event::SequenceStart(_, anchor, tag) => {
                expect(tag.as_ref(), "seq")?;
                (anchor, self.sequence()?)
            }
            Event::MappingStart(_, anchor, tag) => {
                expect(tag.as_ref(), "map")?;
                (anchor, self.mapping()?)
            }
            Event::Alias(anchor) => return self.alias(anchor),
            other => return Err(format!("a value is missing before {other:?}")),
        };
        if anchor > 0 {
            self.count(&value)?;
            self.anchors.insert(anchor, value.clone());
        }
        Ok(value)
    }

    /// Counts the text of a value that is copied; a file of a megabyte could ask for all memory.
    fn count(&mut self, value: &Value) -> Result<(), String> {
        self.copied += bytes(value);
        if self.copied > ALIASED_MIB_MAX << 20 {
            return Err(format!("its anchors and aliases add more than {ALIASED_MIB_MAX} MiB of text"));
        }
        Ok(())
    }

    fn alias(&mut self, anchor: usize) -> Result<Value, String> {
        let value = self.anchors.remove(&anchor).ok_or("an alias is inside the value that it names")?;
        self.aliased += values(&value);
        if self.aliased > ALIASED_VALUES_MAX {
            return Err(format!("its aliases add more than {ALIASED_VALUES_MAX} values"));
        }
        self.count(&value)?;
        self.anchors.insert(anchor, value.clone());
        Ok(value)
    }

    fn sequence(&mut self) -> Result<Value, String> {
        let mut elements = Vec::new();
        loop {
            match self.next()? {
                Event::SequenceEnd => return Ok(Value::Array(elements)),
                event => elements.push(self.value(event)?),
            }
        }
    }

    fn mapping(&mut self) -> Result<Value, String> {
        let mut properties = Map::new();
        let mut merged = Vec::new();
        loop {
            let (name, style) = match self.next()? {
                Event::MappingEnd => break,
                Event::Scalar(name, style, ..) => (name.into_owned(), style),
                _ => return Err("the name of a property must be text".to_owned()),
            };
            let event = self.next()?;
            let value = self.value(event)?;
            if name == "<<" && style == ScalarStyle::Plain {
                merged.push(value);
            } else if properties.insert(name.clone(), value).is_some() {
                return Err(format!("the property \"{name}\" is given twice"));
            }
        }
        for value in merged {
            merge(&mut properties, value)?;
        }
        Ok(Value::Object(properties))
    }
}

/// Adds the properties that a merge key names, without replacing any.
fn merge(properties: &mut Map<String, Value>, from: Value) -> Result<(), String> {
    match from {
        Value::Object(more) => {
            for (name, value) in more {
                properties.entry(name).or_insert(value);
            }
            Ok(())
        }
        Value::Array(several) => several.into_iter().try_for_each(|one| merge(properties, one)),
        _ => Err("only properties can be merged with <<".to_owned()),
    }
}

fn values(value: &Value) -> usize {
    1 + match value {
        Value::Array(elements) => elements.iter().map(values).sum(),
        Value::Object(properties) => properties.values().map(values).sum(),
        _ => 0,
    }
}

/// The bytes of all texts, numbers and names in a value.
fn bytes(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Number(number) => number.as_str().len(),
        Value::Array(elements) => elements.iter().map(bytes).sum(),
        Value::Object(properties) => properties.iter().map(|(name, value)| name.len() + bytes(value)).sum(),
        _ => 0,
    }
}

/// Refuses a tag of another kind.
fn expect(tag: Option<&Cow<'_, Tag>>, kind: &str) -> Result<(), String> {
    match tag {
        Some(tag) if !tag.is_yaml_core_schema_tag(kind) => Err(format!("the tag {tag} is not known here")),
        _ => Ok(()),
    }
}

fn scalar(text: &str, style: ScalarStyle, tag: Option<&Cow<'_, Tag>>) -> Result<Value, String> {
    let Some(tag) = tag else {
        return Ok(if style == ScalarStyle::Plain { plain(text) } else { Value::from(text) });
    };
    let wrong = || format!("\"{text}\" is not what its tag {tag} says");
    let found = plain(text);
    match tag.core_suffix() {
        Some("str") => Ok(Value::from(text)),
        Some("null") if found.is_null() => Ok(found),
        Some("bool") if found.is_boolean() => Ok(found),
        Some("int" | "float") if found.is_number() => Ok(found),
        Some(_) => Err(wrong()),
        // The tag `!` alone says that it is a text.
        None if tag.original_handle().is_empty() || tag.to_string() == "!" => Ok(Value::from(text)),
        None => Err(format!("the tag {tag} is not known here")),
    }
}

/// A scalar without quotes and without a tag.
fn plain(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        _ => number(text).unwrap_or_else(|| Value::from(text)),
    }
}

/// A number with exactly its digits.
fn number(text: &str) -> Option<Value> {
    let radix = |digits: &str, radix| {
        let plain = digits.bytes().all(|b| b.is_ascii_alphanumeric());
        u128::from_str_radix(digits, radix).ok().filter(|_| plain).map(|number| number.to_string())
    };
    let json = match (text.strip_prefix("0x"), text.strip_prefix("0o")) {
        (Some(digits), _) => radix(digits, 16)?,
        (_, Some(digits)) => radix(digits, 8)?,
        (None, None) => decimal(text)?,
    };
    serde_json::from_str(&json).ok()
}

/// A number as JSON writes it; nothing if it has a leading zero or is not a number.
fn decimal(text: &str) -> Option<String> {
    let (sign, digits) = match text.as_bytes().first()? {
        b'-' => ("-", &text[1..]),
        b'+' => ("", &text[1..]),
        _ => ("", text),
    };
    let (mantissa, exponent) = match digits.find(['e', 'E']) {
        Some(at) => (&digits[..at], &digits[at..]),
        None => (digits, ""),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let all_digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    if !all_digits(whole)
        || !fraction.is_none_or(all_digits)
        || (whole.is_empty() && fraction.is_none_or(str::is_empty))
    {
        return None;
    }
    let whole = if whole.is_empty() { "0" } else { whole };
    let fraction = fraction.filter(|digits| !digits.is_empty());
    let fraction = fraction.map_or_else(String::new, |digits| format!(".{digits}"));
    Some(format!("{sign}{whole}{fraction}{exponent}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn text(yaml: &str) -> String {
        parse(yaml).unwrap().to_string()
    }

    #[test]
    fn numbers_keep_every_digit() {
        let modulus = format!("1{}7", "0123456789".repeat(123) + "0");
        assert_eq!(modulus.len(), 1_233);
        let numbers = format!("1.10 123456789012345.12345 0 -0.50 0.00001 18446744073709551616 {modulus}");
        for number in numbers.split(' ') {
            assert_eq!(text(&format!("a: {number}")), format!(r#"{{"a":{number}}}"#));
            assert_eq!(text(&format!("[{number}]")), format!("[{number}]"));
            for quoted in [format!("\"{number}\""), format!("'{number}'"), format!("!!str {number}")] {
                assert_eq!(parse(&quoted).unwrap(), json!(number));
            }
        }
        for (given, number) in [
            ("+1.10", "1.10"),
            (".5", "0.5"),
            ("-.50", "-0.50"),
            ("1.50e3", "1.50e+3"),
            ("5.", "5"),
            ("0x1F", "31"),
            ("0o17", "15"),
        ] {
            assert_eq!(text(given), number);
        }
    }

    #[test]
    fn what_only_looks_like_a_number_stays_a_text() {
        let texts = "02134|00001|+|.|-.|1.2.3|1e|1e+|0x|0xg|0o8|0x+1|1_000|12 34|.inf|-.inf|.nan|2031-05-06|10:30|1,5";
        for text in texts.split('|') {
            assert_eq!(parse(&format!("a: {text}")).unwrap(), json!({ "a": text }), "{text}");
        }
    }

    #[test]
    fn truths_and_nothing_are_the_words_of_the_core_schema_and_no_others() {
        let read =
            parse("a: true\nb: False\nc: null\nd: ~\ne:\nf: no\ng: NO\nh: on\ni: 'true'\nj: y\nk: TRUE\n");
        let expected = json!({ "a": true, "b": false, "c": null, "d": null, "e": null, "f": "no", "g": "NO",
            "h": "on", "i": "true", "j": "y", "k": true });
        assert_eq!(read.unwrap(), expected);
        assert_eq!(parse("").unwrap(), Value::Null);
        assert_eq!(parse("# only a comment\n").unwrap(), Value::Null);
        assert_eq!(parse("---\na: |\n  1.10\n...\n").unwrap(), json!({ "a": "1.10\n" }));
    }

    #[test]
    fn aliases_and_merges_are_followed_and_bounded() {
        let read = parse("base: &b {x: 1.0, y: 2}\nmore:\n  <<: *b\n  y: 3\nsame: *b\n").unwrap();
        assert_eq!(
            read.to_string(),
            r#"{"base":{"x":1.0,"y":2},"more":{"y":3,"x":1.0},"same":{"x":1.0,"y":2}}"#
        );
        let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..9 {
            let inner = vec![format!("*a{}", level - 1); 10].join(", ");
            bomb.push_str(&format!("a{level}: &a{level} [{inner}]\n"));
        }
        assert!(parse(&bomb).unwrap_err().contains("aliases add more than"));
        assert!(parse("a: &a [*a]").is_err());
        // One long text counts as one value.
        let long = "x".repeat(1 << 20);
        let aliased = |times| parse(&format!("a: &a {long}\nb: [{}]\n", vec!["*a"; times].join(", ")));
        assert!(aliased(60).is_ok());
        assert!(aliased(70).unwrap_err().contains("add more than 64 MiB"));
        let nested: String = (0..70).map(|depth| format!("&a{depth} [")).collect();
        let nested = parse(&format!("{nested}{long}{}", "]".repeat(70)));
        assert!(nested.unwrap_err().contains("add more than 64 MiB"));
    }

    #[test]
    fn anything_but_a_single_document_is_refused() {
        for (yaml, why) in [
            ("a: 1\na: 2\n", "\"a\" is given twice"),
            ("a: 1\n---\nb: 2\n", "more than one document"),
            ("? [a]\n: 1\n", "must be text"),
            ("a: *none\n", "anchor"),
            ("a: [1\n", "line"),
            ("a: !other 1\n", "!other is not known"),
            ("a: !!int x\n", "is not what its tag"),
        ] {
            let refused = parse(yaml).unwrap_err();
            assert!(refused.contains(why), "{yaml}: {refused}");
        }
        assert_eq!(parse("a: !!float '1.10'\nb: ! 7\n").unwrap().to_string(), r#"{"a":1.10,"b":"7"}"#);
    }
}
