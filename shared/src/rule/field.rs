//! Whether a property must be there.

use super::{Checks, Field, Rule, Text, line};
use crate::node::Node;
use serde_json::{Value, json};

/// The property must be there.
pub fn required<R: Rule>(rule: R) -> Required<R> {
    Required(rule)
}

/// The property may be absent or null, which is the same.
pub fn optional<R: Rule>(rule: R) -> Optional<R> {
    Optional(rule)
}

/// The property may be absent or null and then has this value.
pub fn or<R: Rule>(rule: R, default: R::Out) -> Or<R>
where
    R::Out: Clone,
{
    Or(rule, default)
}

/// As [`optional`], and the empty text counts as null: a free reference.
pub fn reference(max: usize) -> Reference {
    Reference(line(max))
}

/// See [`required`].
#[derive(Debug, Clone)]
pub struct Required<R>(R);
/// See [`optional`].
#[derive(Debug, Clone)]
pub struct Optional<R>(R);
/// See [`or`].
#[derive(Debug, Clone)]
pub struct Or<R: Rule>(R, R::Out)
where
    R::Out: Clone;
/// See [`reference()`].
#[derive(Debug, Clone)]
pub struct Reference(Text);

impl<R: Rule> Field for Required<R> {
    type Out = R::Out;
    const REQUIRED: bool = true;
    fn read(&self, node: Option<&Node>, at: &mut Checks) -> Option<R::Out> {
        match node {
            None | Some(Node::Null) => at.refuse("required", "is required"),
            Some(node) => self.0.check(node, at),
        }
    }
    fn schema(&self) -> Value {
        self.0.schema()
    }
}

impl<R: Rule> Field for Optional<R> {
    type Out = Option<R::Out>;
    const REQUIRED: bool = false;
    fn read(&self, node: Option<&Node>, at: &mut Checks) -> Option<Option<R::Out>> {
        match node {
            None | Some(Node::Null) => Some(None),
            Some(node) => self.0.check(node, at).map(Some),
        }
    }
    fn schema(&self) -> Value {
        nullable(self.0.schema())
    }
}

impl<R: Rule> Field for Or<R>
where
    R::Out: Clone,
{
    type Out = R::Out;
    const REQUIRED: bool = false;
    fn read(&self, node: Option<&Node>, at: &mut Checks) -> Option<R::Out> {
        match node {
            None | Some(Node::Null) => Some(self.1.clone()),
            Some(node) => self.0.check(node, at),
        }
    }
    fn schema(&self) -> Value {
        nullable(self.0.schema())
    }
}

impl Field for Reference {
    type Out = Option<String>;
    const REQUIRED: bool = false;
    fn read(&self, node: Option<&Node>, at: &mut Checks) -> Option<Option<String>> {
        let text = optional(self.0).read(node, at)?;
        Some(text.filter(|t| !t.is_empty()))
    }
    fn schema(&self) -> Value {
        nullable(self.0.schema())
    }
}

fn nullable(mut schema: Value) -> Value {
    schema["type"] = match schema.get("type").cloned() {
        Some(Value::String(kind)) => json!([kind, "null"]),
        Some(Value::Array(kinds)) => json!([kinds, vec![json!("null")]].concat()),
        _ => return json!({ "anyOf": [schema, { "type": "null" }] }),
    };
    // Where the values are listed, null has to be among them.
    if let Some(Value::Array(values)) = schema.get_mut("enum") {
        values.push(Value::Null);
    }
    schema
}
