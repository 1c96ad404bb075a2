//! A JSON text as a tree that forgets nothing: the order of properties, repeated properties, and the
//! digits of numbers, all of which the contract looks at.

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde::ser::{Error as _, Serialize, SerializeMap, Serializer};
use std::fmt;

/// The name under which `serde_json` hands over a number whose digits it keeps.
const NUMBER_TOKEN: &str = "$serde_json::private::Number";

/// One JSON value.
#[derive(Debug, Clone, PartialEq)]
pub enum Node {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, as it was written.
    Number(String),
    /// A string.
    Text(String),
    /// An array.
    List(Vec<Node>),
    /// An object: its properties in the order of the text, repeated ones included.
    Object(Vec<(String, Node)>),
}

impl Node {
    /// Reads one JSON text. The error says where it stops being JSON, without repeating the text.
    pub fn parse(bytes: &[u8]) -> Result<Node, String> {
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return Err("the body is empty".to_owned());
        }
        let Ok(text) = std::str::from_utf8(bytes) else {
            return Err("the body is not UTF-8".to_owned());
        };
        serde_json::from_str(text)
            .map_err(|e| format!("the body is not JSON: see line {}, column {}", e.line(), e.column()))
    }

    /// The property of this name, where this is an object that has it.
    pub fn property(&self, name: &str) -> Option<&Node> {
        let Node::Object(properties) = self else { return None };
        properties.iter().find(|(given, _)| given == name).map(|(_, node)| node)
    }

    /// The kind of value, as a sentence names it.
    pub fn kind(&self) -> &'static str {
        match self {
            Node::Null => "null",
            Node::Bool(_) => "a boolean",
            Node::Number(_) => "a number",
            Node::Text(_) => "a string",
            Node::List(_) => "an array",
            Node::Object(_) => "an object",
        }
    }
}

impl Serialize for Node {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Node::Null => serializer.serialize_unit(),
            Node::Bool(value) => serializer.serialize_bool(*value),
            Node::Number(digits) => {
                digits.parse::<serde_json::Number>().map_err(S::Error::custom)?.serialize(serializer)
            }
            Node::Text(text) => serializer.serialize_str(text),
            Node::List(elements) => serializer.collect_seq(elements),
            Node::Object(properties) => {
                // A duplicate property is written twice.
                let mut map = serializer.serialize_map(Some(properties.len()))?;
                for (name, value) in properties {
                    map.serialize_entry(name, value)?;
                }
                map.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Node, E> {
        Ok(Node::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Node, E> {
        Ok(Node::Bool(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Node, E> {
        Ok(Node::Number(value.to_string()))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Node, E> {
        Ok(Node::Number(value.to_string()))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Node, E> {
        Ok(Node::Text(value.to_owned()))
    }

    fn visit_string<E: Error>(self, value: String) -> Result<Node, E> {
        Ok(Node::Text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Node, A::Error> {
        let mut elements = Vec::new();
        while let Some(element) = seq.next_element()? {
            elements.push(element);
        }
        Ok(Node::List(elements))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
        let mut properties: Vec<(String, Node)> = Vec::new();
        while let Some(name) = map.next_key::<String>()? {
            match map.next_value()? {
                // The parser's own token comes alone.
                Held::Digits(digits) if name == NUMBER_TOKEN => return Ok(Node::Number(digits)),
                Held::Digits(text) => properties.push((name, Node::Text(text))),
                Held::Node(node) => properties.push((name, node)),
            }
        }
        Ok(Node::Object(properties))
    }
}

/// A value of an object. The parser hands over the digits of a number as an owned string and the strings of
/// the text as borrowed ones, which distinguishes a number from a hostile object with the parser's token.
enum Held {
    Digits(String),
    Node(Node),
}

impl<'de> Deserialize<'de> for Held {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(HeldVisitor)
    }
}

struct HeldVisitor;

impl<'de> Visitor<'de> for HeldVisitor {
    type Value = Held;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        NodeVisitor.expecting(f)
    }

    fn visit_unit<E: Error>(self) -> Result<Held, E> {
        Ok(Held::Node(Node::Null))
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Held, E> {
        Ok(Held::Node(Node::Bool(value)))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Held, E> {
        NodeVisitor.visit_u64(value).map(Held::Node)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Held, E> {
        NodeVisitor.visit_i64(value).map(Held::Node)
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Held, E> {
        NodeVisitor.visit_str(value).map(Held::Node)
    }

    fn visit_string<E: Error>(self, value: String) -> Result<Held, E> {
        Ok(Held::Digits(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Held, A::Error> {
        NodeVisitor.visit_seq(seq).map(Held::Node)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Held, A::Error> {
        NodeVisitor.visit_map(map).map(Held::Node)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_keeps_its_digits_and_an_object_its_repeated_names() {
        let node = Node::parse(br#"{"b":1234.50,"a":[1e5,null],"b":"x"}"#).unwrap();
        let expected = Node::Object(vec![
            ("b".into(), Node::Number("1234.50".into())),
            ("a".into(), Node::List(vec![Node::Number("1e+5".into()), Node::Null])),
            ("b".into(), Node::Text("x".into())),
        ]);
        assert_eq!(node, expected);
        let text = serde_json::to_string(&node).unwrap();
        assert_eq!(text, r#"{"b":1234.50,"a":[1e+5,null],"b":"x"}"#);
        assert_eq!(Node::parse(text.as_bytes()).unwrap(), node);
    }

    #[test]
    fn the_token_of_the_parser_makes_no_number_of_an_object() {
        for value in ["\"5\"", "\"\\u0035\"", "5", "\"x\"", "{\"$serde_json::private::Number\":\"5\"}"] {
            for text in [
                format!("{{\"$serde_json::private::Number\":{value}}}"),
                format!("{{\"\\u0024serde_json::private::Number\":{value},\"a\":[5]}}"),
            ] {
                let node = Node::parse(text.as_bytes()).unwrap();
                assert!(matches!(node, Node::Object(_)), "{text}");
            }
        }
        assert_eq!(Node::parse(b"[5]").unwrap(), Node::List(vec![Node::Number("5".into())]));
    }

    #[test]
    fn what_is_not_json_is_refused_with_its_place() {
        for text in ["", "  ", "{", "[1,]", "\"\\ud800\"", "{\"a\":1} x", "NaN", "01"] {
            assert!(Node::parse(text.as_bytes()).is_err(), "{text:?} was read");
        }
        assert!(Node::parse(b"\"\xff\"").unwrap_err().contains("UTF-8"));
        let deep = "[".repeat(100_000);
        assert!(Node::parse(deep.as_bytes()).is_err());
    }
}
