//! Wire objects, declared once with the rule of each field.
//!
//! ```
//! use mfa_shared::{object, rule::*};
//! object! {
//!     /// A mark with which another system says that it uses the office.
//!     pub struct Mark {
//!         /// A free label.
//!         kind: String = required(line(32).not_blank()),
//!         /// Free text.
//!         note: Option<String> = optional(text(512)),
//!     }
//! }
//! ```
//! `then f` looks at the read object if every field is good; `across f` looks at the properties as they
//! were sent, so that its errors are reported together with those of the fields.
//!
//! A Rust field `given_name` is `givenName` on the wire; `auth_token as "auth_token"` says another name, and
//! `host or "service"` one more under which a request may bring it. A field with the name of a rule (`date`)
//! hides that rule from the fields below it: give the rule another name, as `api/days.rs` does.

use crate::identifier::{is_wire_name, wire_name};
use crate::node::Node;
use crate::rule::{Checks, Field, Rule};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// One field of an object, described.
#[derive(Debug, Clone)]
pub struct FieldDoc {
    /// Name on the wire.
    pub name: String,
    /// What the field means.
    pub doc: &'static str,
    /// Whether it must be given.
    pub required: bool,
    /// Its rule as JSON schema.
    pub schema: Value,
}

/// An object of the wire.
pub trait Object: Sized + 'static {
    /// Name of the type in `/openapi.json` and `mfa explain`.
    const NAME: &'static str;
    /// What the object means.
    const DOC: &'static str;
    /// The code with which `null` is refused as an element of a list of these.
    const NULL_ELEMENT: &'static str = "required";

    /// Reads the properties; every bad one is noted.
    fn read(fields: &mut Fields<'_>) -> Option<Self>;
    /// The fields in the order of the contract.
    fn fields() -> Vec<FieldDoc>;

    /// Reads an object from a body.
    fn check(node: &Node, at: &mut Checks) -> Option<Self> {
        match node {
            Node::Object(properties) => Self::read(&mut Fields { properties, at }),
            _ => at.wrong_type("an object", node),
        }
    }

    /// The object as JSON schema.
    fn schema() -> Value {
        schema_of(Self::DOC, Self::fields())
    }
}

fn schema_of(doc: &str, fields: Vec<FieldDoc>) -> Value {
    let required: Vec<_> = fields.iter().filter(|f| f.required).map(|f| f.name.clone()).collect();
    let mut properties = serde_json::Map::new();
    for field in fields {
        let mut schema = field.schema;
        schema["description"] = json!(field.doc);
        properties.insert(field.name, schema);
    }
    let mut schema = json!({ "type": "object", "description": doc.trim(), "properties": properties });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

type Schemas = BTreeMap<&'static str, fn() -> Value>;

/// Every object to which a schema has referred.
static NAMED: Mutex<Schemas> = Mutex::new(BTreeMap::new());

/// The reference to an object in a document of schemas, whose schema [`named_schemas`] gives from then on.
pub fn reference<T: Object>() -> Value {
    refer(T::NAME, T::schema)
}

fn refer(name: &'static str, schema: fn() -> Value) -> Value {
    NAMED.lock().unwrap_or_else(PoisonError::into_inner).insert(name, schema);
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

/// The schemas of the objects to which schemas have referred, and of those to which these refer.
pub fn named_schemas() -> impl Iterator<Item = (&'static str, Value)> {
    let mut schemas = BTreeMap::new();
    loop {
        let named = NAMED.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let new: Vec<_> = named.into_iter().filter(|(name, _)| !schemas.contains_key(name)).collect();
        if new.is_empty() {
            return schemas.into_iter();
        }
        schemas.extend(new.into_iter().map(|(name, schema)| (name, schema())));
    }
}

/// An object of a declared type.
pub fn nested<T: Object>() -> Nested<T> {
    Nested(std::marker::PhantomData)
}

/// See [`nested`].
#[derive(Debug)]
pub struct Nested<T>(std::marker::PhantomData<T>);

impl<T> Clone for Nested<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Nested<T> {}

impl<T: Object> Rule for Nested<T> {
    type Out = T;
    fn check(&self, node: &Node, at: &mut Checks) -> Option<T> {
        T::check(node, at)
    }
    fn schema(&self) -> Value {
        reference::<T>()
    }
    fn null_element(&self) -> &'static str {
        T::NULL_ELEMENT
    }
}

/// The properties of an object that is being read.
#[derive(Debug)]
pub struct Fields<'a> {
    properties: &'a [(String, Node)],
    at: &'a mut Checks,
}

impl<'a> Fields<'a> {
    /// Takes the property of the Rust field `name`, or of `wire` where it has another name. Where it has no
    /// value, the first of `others` that has one takes its place.
    pub fn take<F: Field>(
        &mut self,
        name: &str,
        wire: Option<&str>,
        others: &[&str],
        rule: &F,
    ) -> Option<F::Out> {
        let mut found = self.find(|given| match wire {
            Some(wire) => wire == given,
            None => is_wire_name(name, given),
        });
        let mut wire = wire;
        for other in others {
            let stands = self.find(|given| given == *other);
            if matches!(found, None | Some(Node::Null)) && !matches!(stands, None | Some(Node::Null)) {
                (found, wire) = (stands, Some(*other));
            }
        }
        match (found, wire) {
            // The common case needs no text for the place of an error.
            (None, _) if !F::REQUIRED => rule.read(None, self.at),
            (_, Some(wire)) => self.at.property(wire, |at| rule.read(found, at)),
            _ => self.at.property(&wire_name(name), |at| rule.read(found, at)),
        }
    }

    fn find(&mut self, is_it: impl Fn(&str) -> bool) -> Option<&'a Node> {
        let mut found = None;
        for (given, node) in self.properties {
            if is_it(given) {
                if found.is_some() {
                    self.at.repeat(given);
                }
                found = Some(node);
            }
        }
        found
    }

    /// The checks, for a rule that looks at several fields.
    pub fn checks(&mut self) -> &mut Checks {
        self.at
    }
}

impl<'a> Fields<'a> {
    /// A property as it was sent, for a rule that looks at several fields, also where others are bad.
    pub fn peek(&self, wire: &str) -> Option<&'a Node> {
        self.properties.iter().find(|(name, _)| name == wire).map(|(_, node)| node)
    }
}

/// In the schema of a property: the other names under which a request may bring it.
pub const OTHER_NAMES: &str = "x-other-names";

/// A schema with the other names of its property.
pub fn also_named(mut schema: Value, others: &[&str]) -> Value {
    if !others.is_empty() {
        schema[OTHER_NAMES] = json!(others);
    }
    schema
}

/// Ties a rule to the type of its field, so that the rule needs no type arguments of its own.
pub fn rule_for<T, F: Field<Out = T>>(rule: F) -> F {
    rule
}

/// Declares wire objects; see the module.
#[macro_export]
macro_rules! object {
    ($(
        $(#[doc = $doc:literal])*
        pub struct $name:ident $(null element $null:literal)? $(across $across:ident)? $(then $then:path)? {
            $(
                $(#[doc = $field_doc:literal])*
                $field:ident $(as $wire:literal)? $(or $($other:literal),+)?: $type:ty = $rule:expr
            ),* $(,)?
        }
    )*) => {$(
        $(#[doc = $doc])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(rename_all = "camelCase")]
        pub struct $name {
            $(
                $(#[doc = $field_doc])*
                $(#[serde(rename = $wire)])?
                pub $field: $type,
            )*
        }

        impl $crate::object::Object for $name {
            const NAME: &'static str = stringify!($name);
            const DOC: &'static str = concat!($($doc),*);
            $(const NULL_ELEMENT: &'static str = $null;)?

            fn read(fields: &mut $crate::object::Fields<'_>) -> Option<Self> {
                $(let $field = fields.take(
                    stringify!($field),
                    $crate::object!(@wire $($wire)?),
                    &[$($($other),+)?],
                    &$rule,
                );)*
                $($across(fields);)?
                let read = Self { $($field: $field?),* };
                $($then(&read, fields.checks())?;)?
                Some(read)
            }

            fn fields() -> Vec<$crate::object::FieldDoc> {
                fn is_required<F: $crate::rule::Field>(_: &F) -> bool {
                    F::REQUIRED
                }
                vec![$({
                    let rule = $crate::object::rule_for::<$type, _>($rule);
                    $crate::object::FieldDoc {
                        name: $crate::object!(@wire $($wire)?)
                            .map_or_else(|| $crate::identifier::wire_name(stringify!($field)), str::to_owned),
                        doc: concat!($($field_doc),*).trim_ascii(),
                        required: is_required(&rule),
                        schema: $crate::object::also_named(
                            $crate::rule::Field::schema(&rule),
                            &[$($($other),+)?],
                        ),
                    }
                }),*]
            }
        }
    )*};
    (@wire) => { None::<&str> };
    (@wire $wire:literal) => { Some($wire) };
}

/// Declares an enum of words of the wire, accepted in any letter case and answered as written here.
#[macro_export]
macro_rules! words {
    ($(
        $(#[doc = $doc:literal])*
        pub enum $name:ident {
            $($(#[doc = $word_doc:literal])* $variant:ident = $word:literal),* $(,)?
        }
    )*) => {$(
        $(#[doc = $doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[derive(serde::Serialize, serde::Deserialize)]
        pub enum $name {
            $($(#[doc = $word_doc])* #[serde(rename = $word)] $variant,)*
        }

        impl $crate::rule::Word for $name {
            const WORDS: &'static [(&'static str, Self)] = &[$(($word, $name::$variant)),*];
        }

        impl $name {
            /// The word on the wire.
            pub fn as_str(self) -> &'static str {
                match self {
                    $($name::$variant => $word),*
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }
    )*};
}
