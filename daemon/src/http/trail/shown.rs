//! A record as it is shown before or after a change: the text of an answer, of which only what differs is
//! taken apart. This is done for each change by the thread that decides all of them.

use super::changes::{differences, may_hold_secret};
use crate::store::noted::Whole;
use bytes::Bytes;
use memchr::memchr2;
use mfa_shared::api::audit::AuditChange;
use mfa_shared::node::Node;

/// A record on the wire.
#[derive(Debug)]
pub enum Shown {
    /// The body of an answer.
    Text(Bytes),
    /// What was put together from several, or taken out of a list.
    Node(Node),
}

impl Shown {
    /// All of it.
    pub fn into_node(self) -> Option<Node> {
        match self {
            Shown::Text(text) => Node::parse(&text).ok(),
            Shown::Node(node) => Some(node),
        }
    }

    /// The texts of its properties with these names.
    pub fn texts<const N: usize>(&self, names: [&str; N]) -> [Option<String>; N] {
        let parsed;
        let node = match self {
            Shown::Text(text) => {
                if let Some(properties) = properties(text) {
                    let find = |name| properties.iter().find(|(given, _)| *given == name);
                    let parse = |(_, value): &(&str, &str)| Node::parse(value.as_bytes()).ok();
                    return names.map(|name| find(name).and_then(parse).and_then(text_of));
                }
                parsed = Node::parse(text).ok();
                parsed.as_ref()
            }
            Shown::Node(node) => Some(node),
        };
        names.map(|name| node.and_then(|node| node.property(name)).cloned().and_then(text_of))
    }
}

fn text_of(node: Node) -> Option<String> {
    match node {
        Node::Text(text) => Some(text),
        _ => None,
    }
}

/// What another record is than before.
#[derive(Debug, PartialEq)]
pub enum Changed {
    /// Each field that differs.
    Fields(Vec<AuditChange>),
    /// A record without secrets was made or removed.
    Whole(Whole),
}

/// Each field that differs; the whole record if it was created or removed.
pub fn changed(before: Option<Shown>, after: Option<Shown>) -> Changed {
    match (&before, &after) {
        (Some(Shown::Text(was)), Some(Shown::Text(is))) => {
            if was == is {
                return Changed::Fields(Vec::new());
            }
            if let Some((was, is)) = properties(was).zip(properties(is)) {
                let parsed = reduced(&was, &is).zip(reduced(&is, &was));
                if let Some((was, is)) = parsed {
                    return Changed::Fields(differences(Some(&was), Some(&is)));
                }
            }
        }
        (None, Some(Shown::Text(text))) if is_plain(text) => {
            return Changed::Whole(Whole::Made(text.clone()));
        }
        (Some(Shown::Text(text)), None) if is_plain(text) => {
            return Changed::Whole(Whole::Removed(text.clone()));
        }
        _ => {}
    }
    let [before, after] = [before, after].map(|shown| shown.and_then(Shown::into_node));
    Changed::Fields(differences(before.as_ref(), after.as_ref()))
}

/// Whether the text of a record goes into the trail as it is.
fn is_plain(text: &[u8]) -> bool {
    text.starts_with(b"{") && !may_hold_secret(text)
}

/// An object of those properties that the other one does not have with the same text.
fn reduced(properties: &[(&str, &str)], other: &[(&str, &str)]) -> Option<Node> {
    let differs = |(at, property): &(usize, &(&str, &str))| {
        // Nearly always the same property is in the same place.
        other.get(*at) != Some(*property) && !other.contains(property)
    };
    let parse = |(_, (name, value)): (usize, &(&str, &str))| {
        Node::parse(value.as_bytes()).ok().map(|node| ((*name).to_owned(), node))
    };
    properties.iter().enumerate().filter(differs).map(parse).collect::<Option<_>>().map(Node::Object)
}

/// The properties of an object as this program writes it, without white space: names and texts of the values.
/// Nothing where it is anything else, or has a name with an escape in it.
fn properties(text: &[u8]) -> Option<Vec<(&str, &str)>> {
    let mut rest = std::str::from_utf8(text).ok()?.strip_prefix('{')?.strip_suffix('}')?;
    let mut found = Vec::with_capacity(32);
    while !rest.is_empty() {
        let (name, after) = rest.strip_prefix('"')?.split_once('"')?;
        let after = after.strip_prefix(':')?;
        let (value, next) = after.split_at(length(after)?);
        if name.contains('\\') || value.is_empty() {
            return None;
        }
        found.push((name, value));
        rest = next.strip_prefix(',').unwrap_or(next);
    }
    Some(found)
}

/// The length of the value with which a text begins, up to the next property.
fn length(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut at, mut depth) = (0, 0_u32);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => at += quoted(&bytes[at + 1..])?,
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.checked_sub(1)?,
            b',' if depth == 0 => return Some(at),
            _ => {}
        }
        at += 1;
    }
    (depth == 0).then_some(at)
}

/// The length of a string behind its first quotation mark, with the last one.
fn quoted(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        at += memchr2(b'"', b'\\', bytes.get(at..)?)?;
        if bytes[at] == b'"' {
            return Some(at + 1);
        }
        at += 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Option<Shown> {
        Some(Shown::Text(Bytes::copy_from_slice(text.as_bytes())))
    }

    /// The changes as the trail shows them.
    fn taken_apart(changed: Changed) -> Vec<AuditChange> {
        let change = |before: Option<Bytes>, after: Option<Bytes>| {
            let [before, after] = [before, after].map(|text| text.and_then(|text| Node::parse(&text).ok()));
            vec![AuditChange { field: String::new(), before, after }]
        };
        match changed {
            Changed::Fields(changes) => changes,
            Changed::Whole(Whole::Made(text)) => change(None, Some(text)),
            Changed::Whole(Whole::Removed(text)) => change(Some(text), None),
        }
    }

    #[test]
    fn differences_of_texts_are_those_of_their_trees() {
        let records = [
            r#"{}"#,
            r#"{"a":1}"#,
            r#"{"a":1.0}"#,
            r#"{"a":1,"b":null}"#,
            r#"{"b":null,"a":1}"#,
            r#"{"a":"x,\"}]{[","b":[1,{"c":"\\"}],"d":{"e":[],"f":"g"}}"#,
            r#"{"a":"x,\"}]{[","b":[1,{"c":"\\\\"}],"d":{"e":[2],"f":"g"}}"#,
            r#"{"a\"b":1,"c":2}"#,
            r#"{"a\"b":1,"c":3}"#,
            r#"{"a":"\\","app_password":"one","z":true}"#,
            r#"{"a":"\\","app_password":"two","z":false,"y":"später"}"#,
            r#"[{"a":1}]"#,
            r#""text""#,
            "null",
        ];
        for was in records {
            for is in records {
                let trees = [was, is].map(|text| Node::parse(text.as_bytes()).unwrap());
                let expected = Changed::Fields(differences(Some(&trees[0]), Some(&trees[1])));
                assert_eq!(changed(text(was), text(is)), expected, "{was} {is}");
            }
            let tree = Node::parse(was.as_bytes()).unwrap();
            assert_eq!(taken_apart(changed(None, text(was))), differences(None, Some(&tree)), "{was}");
            assert_eq!(taken_apart(changed(text(was), None)), differences(Some(&tree), None), "{was}");
        }
        assert_eq!(changed(None, None), Changed::Fields(Vec::new()));
    }

    #[test]
    fn a_made_record_goes_into_the_trail_as_it_is_unless_it_has_a_secret() {
        let whole = |record: &str| matches!(changed(None, text(record)), Changed::Whole(_));
        assert!(whole(r#"{"identifier":"c-001","address":{"city":"Accra"}}"#));
        assert!(!whole(r#"{"identifier":"mail","inner":[{"app_password":"blue kettle"}]}"#));
        assert!(!whole("null") && !whole(r#"["a"]"#));
    }

    #[test]
    fn what_is_no_object_of_this_program_is_not_taken_apart() {
        for odd in ["", "{", "}", r#"{"a"}"#, r#"{"a":}"#, r#"{"a":1,}"#, r#"{"a":[1}"#, r#"{ "a":1}"#] {
            let found = properties(odd.as_bytes());
            assert!(found.is_none() || Node::parse(odd.as_bytes()).is_err(), "{odd}: {found:?}");
        }
        let found = properties(br#"{"a":"\"","b":{"c":[1,2]}}"#).unwrap();
        assert_eq!(found, [("a", r#""\"""#), ("b", r#"{"c":[1,2]}"#)]);
    }

    #[test]
    fn texts_are_found_at_the_top_alone() {
        let record = r#"{"x":{"a":"inner"},"a":"outer","n":7,"q":"\"ö\""}"#;
        let expected = [Some("outer".to_owned()), None, Some("\"ö\"".to_owned()), None];
        assert_eq!(text(record).unwrap().texts(["a", "n", "q", "none"]), expected);
        let node = Shown::Node(Node::parse(record.as_bytes()).unwrap());
        assert_eq!(node.texts(["a", "n", "q", "none"]), expected);
    }
}
