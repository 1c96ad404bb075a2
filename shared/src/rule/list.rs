//! Rules of arrays.

use super::{Checks, Rule};
use crate::node::Node;
use serde_json::{Value, json};
use std::collections::HashSet;

/// An array whose elements keep one rule, at most `max` of them.
pub const fn list<R>(element: R, max: usize) -> List<R> {
    List { element, max }
}

/// See [`list`].
#[derive(Debug, Clone, Copy)]
pub struct List<R> {
    element: R,
    max: usize,
}

impl<R: Rule> List<R> {
    /// No two texts are the same; the second one is refused.
    pub fn distinct(self) -> Distinct<R> {
        self.distinct_by(&[])
    }

    /// No two elements have the same texts in these properties; the second one is refused.
    pub fn distinct_by(self, properties: &'static [&'static str]) -> Distinct<R> {
        Distinct { list: self, by: properties, property: None }
    }

    /// No two elements have the same text in a property; the property of the second one is refused.
    pub fn distinct_in(self, property: &'static [&'static str; 1]) -> Distinct<R> {
        Distinct { property: Some(property[0]), ..self.distinct_by(property) }
    }
}

impl<R: Rule> Rule for List<R> {
    type Out = Vec<R::Out>;
    fn check(&self, node: &Node, at: &mut Checks) -> Option<Vec<R::Out>> {
        let Node::List(nodes) = node else { return at.wrong_type("an array", node) };
        if nodes.len() > self.max {
            let what = format!("must have at most {} elements, not {}", self.max, nodes.len());
            return at.refuse("too_many", what);
        }
        let check = |(i, node): (usize, &Node)| {
            at.element(i, |at| match node {
                Node::Null => at.refuse(self.element.null_element(), "must not be null"),
                node => self.element.check(node, at),
            })
        };
        Some(nodes.iter().enumerate().filter_map(check).collect())
    }
    fn schema(&self) -> Value {
        let mut schema = json!({ "type": "array", "items": self.element.schema() });
        if self.max < usize::MAX {
            schema["maxItems"] = json!(self.max);
        }
        schema
    }
}

/// See [`List::distinct`].
#[derive(Debug, Clone, Copy)]
pub struct Distinct<R> {
    list: List<R>,
    /// The properties that make up the key; without any, the element itself is its key.
    by: &'static [&'static str],
    property: Option<&'static str>,
}

impl<R> Distinct<R> {
    /// The key of an element, if all of it is there and good. It is read as it was sent, so that a bad
    /// property beside it hides no repetition.
    fn key<'n>(&self, node: &'n Node, refused: &HashSet<String>, at: &mut Checks) -> Option<Vec<&'n str>> {
        let text = |node: &'n Node, at: &Checks| match node {
            Node::Text(text) if !at.is_in(refused) => Some(text.as_str()),
            _ => None,
        };
        if self.by.is_empty() {
            return Some(vec![text(node, at)?]);
        }
        self.by.iter().map(|name| at.property(name, |at| text(node.property(name)?, at))).collect()
    }
}

impl<R: Rule> Rule for Distinct<R> {
    type Out = Vec<R::Out>;
    fn check(&self, node: &Node, at: &mut Checks) -> Option<Vec<R::Out>> {
        let out = self.list.check(node, at)?;
        let Node::List(nodes) = node else { return Some(out) };
        let refused = at.refused();
        let mut seen = HashSet::new();
        for (i, node) in nodes.iter().enumerate() {
            at.element(i, |at| {
                let refuse = |at: &mut Checks| at.refuse::<()>("duplicate", "repeats an earlier element");
                if self.key(node, &refused, at).is_none_or(|key| seen.insert(key)) {
                    return;
                }
                match self.property {
                    Some(property) => at.property(property, refuse),
                    None => refuse(at),
                };
            });
        }
        Some(out)
    }
    fn schema(&self) -> Value {
        let mut schema = self.list.schema();
        // That one property differs has no word in a schema.
        if self.property.is_none() {
            schema["uniqueItems"] = json!(true);
        }
        schema
    }
}
