//! Rules of arrays.

use super::{Checks, Rule};
use crate::node::Node;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::hash::Hash;

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
    /// No two elements have the same key; the second one is refused.
    pub fn distinct<K: Hash + Eq>(self, key: fn(&R::Out) -> K) -> Distinct<R, K> {
        Distinct { list: self, key, property: None }
    }

    /// No two elements have the same value of a property; the property of the second one is refused.
    pub fn distinct_in<K: Hash + Eq>(self, property: &'static str, key: fn(&R::Out) -> K) -> Distinct<R, K> {
        Distinct { list: self, key, property: Some(property) }
    }

    fn elements(&self, node: &Node, at: &mut Checks) -> Option<Vec<(usize, R::Out)>> {
        let Node::List(nodes) = node else { return at.wrong_type("an array", node) };
        if nodes.len() > self.max {
            let what = format!("must have at most {} elements, not {}", self.max, nodes.len());
            return at.refuse("too_many", what);
        }
        let check = |(i, node): (usize, &Node)| {
            let element = at.element(i, |at| match node {
                Node::Null => at.refuse(self.element.null_element(), "must not be null"),
                node => self.element.check(node, at),
            });
            Some((i, element?))
        };
        Some(nodes.iter().enumerate().filter_map(check).collect())
    }
}

impl<R: Rule> Rule for List<R> {
    type Out = Vec<R::Out>;
    fn check(&self, node: &Node, at: &mut Checks) -> Option<Vec<R::Out>> {
        Some(self.elements(node, at)?.into_iter().map(|(_, element)| element).collect())
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
pub struct Distinct<R: Rule, K> {
    list: List<R>,
    key: fn(&R::Out) -> K,
    property: Option<&'static str>,
}

impl<R: Rule, K: Hash + Eq> Rule for Distinct<R, K> {
    type Out = Vec<R::Out>;
    fn check(&self, node: &Node, at: &mut Checks) -> Option<Vec<R::Out>> {
        let mut seen = HashSet::new();
        let mut out = Vec::new();
        for (i, element) in self.list.elements(node, at)? {
            if !seen.insert((self.key)(&element)) {
                let refuse = |at: &mut Checks| at.refuse::<()>("duplicate", "repeats an earlier element");
                at.element(i, |at| match self.property {
                    Some(property) => at.property(property, refuse),
                    None => refuse(at),
                });
            }
            out.push(element);
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
