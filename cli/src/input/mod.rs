//! Input: files, standard input, and flags that hold more than one value.

pub mod local;
pub mod names;
pub mod pick;
pub mod prompt;
pub mod shape;
pub mod yaml;

pub use local::{date, days, moment, money};

use crate::failure::{Failure, Outcome};
use crate::settings::bounded::{self, DOCUMENT_BYTES_MAX, SECRET_BYTES_MAX};
use crate::words::did_you_mean;
use mfa_shared::api::ledger::AccountKind;
use mfa_shared::endpoint::{Endpoint, Meta};
use mfa_shared::identifier::wire_name;
use mfa_shared::node::Node;
use mfa_shared::object::Object;
use mfa_shared::query::Params;
use mfa_shared::rule::Word;
use mfa_shared::time::{Date, Timestamp};
use mfa_shared::wire::{Body, Outgoing, RawBody};
use serde_json::{Map, Value};
use shape::Shape;
use std::collections::HashSet;
use std::io::ErrorKind;
use std::time::{SystemTime, UNIX_EPOCH};

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

impl From<Draft> for Value {
    fn from(draft: Draft) -> Self {
        Value::Object(draft.properties)
    }
}

/// A word of the command line that is missing.
pub fn missing(word: &str) -> Failure {
    Failure::usage(format!("<{word}> is needed, or --from FILE")).hint("see the command with --help")
}

/// The secret in a file, without a byte order mark, which nobody can type, and without the line feed at its
/// end; nothing where no file is named.
pub fn secret_file(file: &str) -> Outcome<Option<String>> {
    let secret = passphrase_file(file)?;
    let typed = secret.map(|secret| secret.strip_prefix('\u{feff}').unwrap_or(&secret).to_owned());
    if typed.as_ref().is_some_and(String::is_empty) { Err(no_password(file)) } else { Ok(typed) }
}

/// The same for a passphrase, with a byte order mark, where the file has one: there are backups that were
/// encrypted with it.
pub fn passphrase_file(file: &str) -> Outcome<Option<String>> {
    if file.is_empty() {
        return Ok(None);
    }
    let mut secret = text(file, SECRET_BYTES_MAX)?;
    let end = secret.trim_end_matches(['\r', '\n']).len();
    secret.truncate(end);
    if secret.is_empty() { Err(no_password(file)) } else { Ok(Some(secret)) }
}

fn no_password(file: &str) -> Failure {
    Failure::usage(format!("{file} holds no password"))
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

/// Reads a kind of account, in any letter case.
pub fn account_kind(text: &str) -> Result<AccountKind, String> {
    AccountKind::find(text).ok_or_else(|| format!("it must be one of {}", AccountKind::listed()))
}

pub fn integer(text: &str) -> Result<Value, String> {
    text.parse::<i64>().map(Value::from).map_err(|_| "it must be a whole number".to_owned())
}

/// Reads `true` or `false`.
pub fn flag(text: &str) -> Result<Value, String> {
    text.parse::<bool>().map(Value::from).map_err(|_| "it must be true or false".to_owned())
}

/// Reads `a=1,b=2` as properties of an object, each of the kind that the object has it. A comma in a value is
/// written `\,`, a backslash `\\`.
pub fn pairs<T: Object>(text: &str) -> Result<Draft, String> {
    let fields = T::fields();
    let mut draft = Draft::default();
    for pair in split_at_commas(text) {
        let Some((name, value)) = pair.split_once('=') else {
            return Err(format!("\"{pair}\" is not NAME=VALUE"));
        };
        // `postal-code` is the same as `postalCode`.
        let name = wire_name(&name.trim().replace('-', "_"));
        let Some(field) = fields.iter().find(|field| field.name == name) else {
            let names: Vec<_> = fields.iter().map(|field| field.name.as_str()).collect();
            return Err(match did_you_mean(&name, names.iter().copied()) {
                Some(meant) => format!("there is no {name}: {meant}"),
                None => format!("there is no {name} among {}", names.join(", ")),
            });
        };
        if draft.properties.contains_key(&name) {
            return Err(format!("{name} is given twice"));
        }
        let is = |kind: &str| {
            let known = &field.schema["type"];
            known == kind || known.as_array().is_some_and(|kinds| kinds.iter().any(|known| known == kind))
        };
        let value = if is("boolean") {
            flag(value)
        } else if is("integer") {
            integer(value)
        } else if is("number") {
            money(value)
        } else {
            Ok(Value::from(value))
        };
        draft = draft.set(&name, Some(value.map_err(|why| why.replacen("it", &name, 1))?));
    }
    Ok(draft)
}

fn split_at_commas(text: &str) -> Vec<String> {
    let mut parts = Vec::new();
    let mut part = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => part.extend(chars.next()),
            ',' => parts.push(std::mem::take(&mut part)),
            _ => part.push(c),
        }
    }
    parts.push(part);
    parts
}

/// Reads `group=RCD`, or `group=READ,CHANGE`, as a permission.
pub fn permission(text: &str) -> Result<Draft, String> {
    let (group, operations) =
        text.split_once('=').ok_or("it must be GROUP=OPERATIONS, such as a__v1__b=RC")?;
    let word = |word: &str| match word.to_ascii_uppercase().as_str() {
        "R" | "READ" => Ok("READ"),
        "C" | "CHANGE" => Ok("CHANGE"),
        "D" | "DELETE" => Ok("DELETE"),
        _ => Err(format!("\"{word}\" is not one of R, C, D, READ, CHANGE, DELETE")),
    };
    let letters = operations.chars().all(|c| "RCDrcd".contains(c));
    let operations: Result<Vec<&str>, String> = if letters {
        operations.chars().map(|c| word(&c.to_string())).collect()
    } else {
        operations.split(',').map(|text| word(text.trim())).collect()
    };
    let draft = Draft::default().set("permittableEndpointGroupIdentifier", Some(group));
    Ok(draft.set("allowedOperations", Some(operations?)))
}

/// Reads `catalog/field=value` as a custom value.
pub fn custom_value(text: &str) -> Result<Draft, String> {
    let parts = text.split_once('=').and_then(|(path, value)| Some((path.split_once('/')?, value)));
    let ((catalog, field), value) = parts.ok_or("it must be CATALOG/FIELD=VALUE")?;
    Ok(Draft::default()
        .set("catalogIdentifier", Some(catalog))
        .set("fieldIdentifier", Some(field))
        .set("value", Some(value)))
}

/// Reads `2001-12-31` as an object of year, month and day.
pub fn date_parts(text: &str) -> Result<Draft, String> {
    let (year, month, day) = date(text)?.parts();
    Ok(Draft::default().set("year", Some(year)).set("month", Some(month)).set("day", Some(day)))
}

/// Reads a file of JSON or YAML; `-` is standard input.
pub fn structured(file: &str) -> Outcome<Value> {
    let text = text(file, DOCUMENT_BYTES_MAX)?;
    let name = if file == "-" { "standard input" } else { file };
    // JSON first, because it keeps every digit of a number.
    match serde_json::from_str(&text) {
        Ok(value) => {
            let unclear = |why| Failure::usage(format!("{name} cannot be read: {why}"));
            repeated(text.as_bytes()).map(|()| value).map_err(unclear)
        }
        Err(error) if text.trim_start().starts_with(['{', '[']) => {
            Err(Failure::usage(format!("{name} is not JSON: {error}")))
        }
        Err(_) => yaml::parse(&text).map_err(|why| Failure::usage(format!("{name} is not YAML: {why}"))),
    }
}

/// Refuses JSON that has a property twice: one of its values would be lost.
pub fn repeated(json: &[u8]) -> Result<(), String> {
    match Node::parse(json).ok().as_ref().and_then(twice) {
        Some(name) => Err(format!("the property \"{name}\" is given twice")),
        None => Ok(()),
    }
}

fn twice(node: &Node) -> Option<&str> {
    match node {
        Node::List(elements) => elements.iter().find_map(twice),
        Node::Object(properties) => {
            let mut seen = HashSet::new();
            properties.iter().find_map(|property| {
                if seen.insert(property.0.as_str()) { twice(&property.1) } else { Some(property.0.as_str()) }
            })
        }
        Node::Null | Node::Bool(_) | Node::Number(_) | Node::Text(_) => None,
    }
}

/// Reads a file of text up to a limit; `-` is standard input.
pub fn text(file: &str, bytes_max: u64) -> Outcome<String> {
    bounded::given(file, bytes_max).map_err(|error| {
        let failure = Failure::usage(format!("cannot read {file}: {error}"));
        match error.kind() {
            ErrorKind::FileTooLarge if bytes_max == SECRET_BYTES_MAX => {
                failure.hint("name a file that holds the secret and nothing else")
            }
            ErrorKind::FileTooLarge => {
                failure.hint("is it the file that you mean? a larger one must be split")
            }
            _ => failure,
        }
    })
}

/// The present day in UTC, by the clock of this machine.
pub fn today() -> Date {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX)).day()
}

#[cfg(test)]
mod tests {
    use super::*;
    use mfa_shared::api::definitions::{Charge, Currency, Term};
    use mfa_shared::api::offices::Address;
    use serde_json::json;

    #[test]
    fn pairs_are_split_at_commas_that_are_not_escaped() {
        let read = Value::from(pairs::<Address>(r"street=1 Main St\, rear,postal-code=007").unwrap());
        assert_eq!(read, json!({ "street": "1 Main St, rear", "postalCode": "007" }));
        assert!(pairs::<Address>("street").is_err());
    }

    #[test]
    fn pairs_take_the_types_of_their_object_and_others_are_refused() {
        let charge = Value::from(pairs::<Charge>("name=7,amount=2.00,proportional=false").unwrap());
        assert_eq!(charge.to_string(), r#"{"name":"7","amount":2.00,"proportional":false}"#);
        let term = Value::from(pairs::<Term>("period=12,time-unit=YEAR").unwrap());
        assert_eq!(term, json!({ "period": 12, "timeUnit": "YEAR" }));
        assert_eq!(pairs::<Currency>("scale=two").unwrap_err(), "scale must be a whole number");
        let mistyped = pairs::<Charge>("proportonal=true").unwrap_err();
        assert_eq!(mistyped, "there is no proportonal: did you mean proportional?");
        let twice = pairs::<Address>("street=a,city=b,street=c").unwrap_err();
        assert_eq!(twice, "street is given twice");
        assert!(pairs::<Address>("mobile=024").unwrap_err().starts_with("there is no mobile among street,"));
    }

    #[test]
    fn a_duplicate_property_is_refused_at_any_depth() {
        for (json, name) in [
            (r#"{"a":1,"b":{"a":2}}"#, None),
            (r#"[{"a":1},{"a":2}]"#, None),
            (r#"{"a":1,"a":1}"#, Some("a")),
            (r#"[{"x":[{"a":1,"\u0061":null}]}]"#, Some("a")),
        ] {
            let refused = name.map(|name| format!("the property \"{name}\" is given twice"));
            assert_eq!(repeated(json.as_bytes()).err(), refused, "{json}");
        }
    }

    #[test]
    fn a_custom_value_may_hold_any_sign_after_the_first_equals() {
        let read = custom_value("kyc/source=a=b/c").unwrap();
        assert_eq!(read.text("catalogIdentifier"), Some("kyc"));
        assert_eq!(read.text("value"), Some("a=b/c"));
        assert!(custom_value("kyc=1").is_err());
    }
}
