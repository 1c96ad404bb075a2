//! What is another field than before.

use memchr::memmem::Finder;
use mfa_shared::api::audit::{AuditChange, COVER};
use mfa_shared::node::Node;
use std::sync::LazyLock;

/// Fields that are secrets, or from which secrets are made, wherever they occur.
const SECRETS: [&str; 7] =
    ["password", "currentPassword", "app_password", "auth_token", "secret", "publicKeyMod", "publicKeyExp"];

/// Each field that differs, in the order of the fields; the whole record if it was created or removed.
pub fn differences(before: Option<&Node>, after: Option<&Node>) -> Vec<AuditChange> {
    let mut found = Vec::new();
    compare(String::new(), before, after, &mut found);
    for change in &mut found {
        let name = change.field.rsplit('/').next().unwrap_or_default();
        let secret = is_secret(name);
        for side in [&mut change.before, &mut change.after] {
            *side = side.take().map(|node| if secret { cover(node) } else { covered(node) });
        }
    }
    found
}

/// Puts the change of a field that no read shows to its place among the fields of the record.
pub fn insert(changes: &mut Vec<AuditChange>, unseen: AuditChange, record: Option<&Node>) {
    let place = |field: &str| {
        let name = field.split('/').nth(1)?;
        let Some(Node::Object(properties)) = record else { return None };
        properties.iter().position(|(given, _)| given == name)
    };
    let own = place(&unseen.field);
    let behind =
        |change: &AuditChange| own.is_some_and(|own| place(&change.field).is_some_and(|at| at > own));
    let at = changes.iter().position(behind).unwrap_or(changes.len());
    changes.insert(at, unseen);
}

fn compare(at: String, before: Option<&Node>, after: Option<&Node>, found: &mut Vec<AuditChange>) {
    if value(before) == value(after) {
        return;
    }
    match (before, after) {
        (Some(Node::Object(was)), Some(Node::Object(is))) => {
            for (name, node) in is {
                compare(step(&at, name), find(was, name), Some(node), found);
            }
            for (name, node) in was.iter().filter(|(name, _)| find(is, name).is_none()) {
                compare(step(&at, name), Some(node), None, found);
            }
        }
        _ => found.push(AuditChange {
            field: at,
            before: value(before).cloned(),
            after: value(after).cloned(),
        }),
    }
}

fn find<'n>(properties: &'n [(String, Node)], name: &str) -> Option<&'n Node> {
    properties.iter().find(|(given, _)| given == name).map(|(_, node)| node)
}

fn step(at: &str, name: &str) -> String {
    format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"))
}

/// A missing value and null are the same.
fn value(node: Option<&Node>) -> Option<&Node> {
    node.filter(|node| **node != Node::Null)
}

fn is_secret(name: &str) -> bool {
    SECRETS.contains(&name)
}

fn cover(node: Node) -> Node {
    if node == Node::Null { node } else { Node::Text(COVER.to_owned()) }
}

/// Whether a text holds the name of a secret, and so may have to be covered.
pub fn may_hold_secret(text: &[u8]) -> bool {
    static FINDERS: LazyLock<[Finder<'static>; SECRETS.len()]> = LazyLock::new(|| SECRETS.map(Finder::new));
    FINDERS.iter().any(|finder| finder.find(text).is_some())
}

/// A value without the secrets in it.
pub fn covered(node: Node) -> Node {
    match node {
        Node::Object(properties) => Node::Object(
            properties
                .into_iter()
                .map(|(name, node)| {
                    let node = if is_secret(&name) { cover(node) } else { covered(node) };
                    (name, node)
                })
                .collect(),
        ),
        Node::List(elements) => Node::List(elements.into_iter().map(covered).collect()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(text: &str) -> Node {
        Node::parse(text.as_bytes()).unwrap()
    }

    fn shown(before: &str, after: &str) -> String {
        let changes = differences(Some(&node(before)), Some(&node(after)));
        serde_json::to_string(&changes).unwrap()
    }

    #[test]
    fn each_changed_field_is_listed_once_in_the_order_of_the_fields() {
        let (before, after) = (
            r#"{"surname":"Mensah","address":{"city":"Accra","zip":null},"tags":["a"],"same":1.50}"#,
            r#"{"surname":"Owusu","address":{"city":"Kumasi","zip":"1/2"},"tags":["a","b"],"same":1.50}"#,
        );
        assert_eq!(
            shown(before, after),
            concat!(
                r#"[{"field":"/surname","before":"Mensah","after":"Owusu"},"#,
                r#"{"field":"/address/city","before":"Accra","after":"Kumasi"},"#,
                r#"{"field":"/address/zip","before":null,"after":"1/2"},"#,
                r#"{"field":"/tags","before":["a"],"after":["a","b"]}]"#
            )
        );
        assert_eq!(shown(before, before), "[]");
    }

    #[test]
    fn a_secret_is_seen_to_change_and_never_shown() {
        let (before, after) =
            (r#"{"host":"h","app_password":"one"}"#, r#"{"host":"h","app_password":"two"}"#);
        assert_eq!(shown(before, after), r#"[{"field":"/app_password","before":"***","after":"***"}]"#);
        let made = differences(None, Some(&node(before)));
        assert_eq!(
            serde_json::to_string(&made).unwrap(),
            r#"[{"field":"","before":null,"after":{"host":"h","app_password":"***"}}]"#
        );
    }
}
