//! Bodies of requests: put together from a file and from flags, and checked as the daemon does.

use super::names;
use super::shape::Shape;
use super::{structured, today};
use crate::failure::{Failure, Outcome};
use mfa_shared::endpoint::{Endpoint, Meta};
use mfa_shared::query::Params;
use mfa_shared::wire::{Body, Outgoing, RawBody};
use serde_json::{Map, Value};

/// The body of a request that is being put together from a file and from flags.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Draft {
    properties: Map<String, Value>,
    /// Properties that a flag empties.
    cleared: Vec<String>,
    /// The file with its properties, where there is one.
    file: Option<(String, Value)>,
    /// Whether a flag or a file has given anything.
    pub given: bool,
}

impl Draft {
    /// Starts from a file of JSON or YAML, `-` for standard input, or from nothing.
    pub fn from_file(file: Option<&str>) -> Outcome<Self> {
        let Some(file) = file else { return Ok(Self::default()) };
        match structured(file)? {
            Value::Object(properties) => {
                let file = Some((file.to_owned(), Value::Object(properties.clone())));
                Ok(Self { properties, given: true, file, ..Self::default() })
            }
            _ => Err(Failure::usage(format!("{file} must hold one object of properties"))),
        }
    }

    /// Leaves out a property that has this text.
    pub fn without(mut self, property: &str, text: &str) -> Self {
        if self.text(property) == Some(text) {
            self.properties.shift_remove(property);
        }
        self
    }

    /// Starts from a record that was read.
    pub fn from_record(record: Value) -> Self {
        let properties = if let Value::Object(properties) = record { properties } else { Map::new() };
        Self { properties, ..Self::default() }
    }

    /// Sets a property, where a flag gave a value.
    pub fn set(mut self, property: &str, value: Option<impl Into<Value>>) -> Self {
        if let Some(value) = value {
            self.properties.insert(property.to_owned(), value.into());
            self.given = true;
        }
        self
    }

    /// Sets a property to the objects that a repeated flag gave.
    pub fn set_list(self, property: &str, values: &[Draft]) -> Self {
        let list: Vec<_> = values.iter().cloned().map(Value::from).collect();
        self.set(property, (!list.is_empty()).then_some(list))
    }

    /// Sets properties to null.
    pub fn clear(mut self, properties: &[String]) -> Self {
        for property in properties {
            self.properties.insert(property.clone(), Value::Null);
            self.given = true;
        }
        self.cleared.extend_from_slice(properties);
        self
    }

    /// The properties that a flag empties.
    pub fn cleared(&self) -> &[String] {
        &self.cleared
    }

    /// Overrides these properties with those of another draft.
    pub fn merge(mut self, over: Draft) -> Self {
        self.properties.extend(over.properties);
        self.cleared.extend(over.cleared);
        self.file = over.file.or(self.file);
        self
    }

    /// Whether a property is set.
    pub fn has(&self, property: &str) -> bool {
        self.properties.contains_key(property)
    }

    pub fn text(&self, property: &str) -> Option<&str> {
        self.properties.get(property)?.as_str()
    }

    /// Refuses a change in which nothing is given.
    pub fn check_given(&self) -> Outcome {
        if self.given {
            return Ok(());
        }
        let hint = "give at least one flag with a new value, or --from FILE";
        Err(Failure::usage("there is nothing to change").hint(hint))
    }

    /// The body of an endpoint, checked against the same rules as in the daemon.
    pub fn body<E: Endpoint>(self) -> Outcome<E::Body> {
        self.check(&E::META)?;
        body::<E>(&self.into())
    }

    /// The same for a row of the endpoint table.
    pub fn body_of(self, row: &Row) -> Outcome<Outgoing> {
        self.check(row.meta)?;
        (row.body)(&self.into())
    }

    /// Refuses names that the body does not have.
    fn check(&self, meta: &Meta) -> Outcome {
        let shape = Shape::of(meta);
        for name in &self.cleared {
            let unknown = |why| Failure::usage(format!("there is no \"{name}\" to clear")).hint(why);
            shape.column(name).map_err(unknown)?;
        }
        if let Some((file, given)) = &self.file {
            names::check(meta, file, given)?;
        }
        Ok(())
    }
}

impl From<Draft> for Value {
    fn from(draft: Draft) -> Self {
        Value::Object(draft.properties)
    }
}

/// A row of the endpoint table with the rules of its body, where the type of the endpoint is not known.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    pub meta: &'static Meta,
    /// A value as the body, checked against the same rules as in the daemon.
    pub body: fn(&Value) -> Outcome<Outgoing>,
}

impl Row {
    pub const fn of<E: Endpoint>() -> Self {
        Self { meta: const { &E::META }, body: |value| Ok(body::<E>(value)?.write()) }
    }

    /// A value as the body, with every property of it.
    pub fn held(&self, value: &Value) -> Outcome<Value> {
        let bytes = (self.body)(value)?.body.map(|(_, bytes)| bytes).unwrap_or_default();
        Ok(serde_json::from_slice(&bytes).unwrap_or_default())
    }
}

/// A value as the body of an endpoint, checked against the same rules as in the daemon.
pub fn body<E: Endpoint>(value: &Value) -> Outcome<E::Body> {
    checked(value)
}

/// A value as a body of one kind, checked against the same rules as in the daemon.
pub fn checked<B: Body>(value: &Value) -> Outcome<B> {
    let bytes = value.to_string().into_bytes();
    let params = Params::default();
    let raw = RawBody::new(&params, &bytes, today());
    Ok(B::read(&raw)?)
}
