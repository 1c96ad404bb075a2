//! Columns of a table, derived from the schema of the body that a row becomes, and their cells.
//!
//! A property of a property has a path: `address.city`, `contactDetails.1.value`. A list, or a whole object,
//! is a cell of JSON. A day of year, month and day is `YYYY-MM-DD`.

use crate::output::{guarded, unguarded};
use crate::words::did_you_mean;
use mfa_shared::endpoint::Meta;
use mfa_shared::object::{OTHER_NAMES, named_schemas};
use mfa_shared::time::Date;
use serde_json::{Map, Value, json};

/// What the cells of a column hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Text as it is.
    Text,
    /// `true` or `false`.
    Flag,
    /// Digits, kept as they are.
    Number,
    /// A day in parts, written `YYYY-MM-DD`.
    Day,
    Json,
}

/// One step into a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Into a property.
    Name(String),
    /// Into an element of a list, counted from 0.
    Element(usize),
}

/// Where the cells of a column go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// The path into the body; empty for a cell that is ignored.
    pub path: Vec<Step>,
    /// What the cells hold.
    pub kind: Kind,
}

impl Column {
    /// A column of text under one name.
    pub fn text(name: &str) -> Self {
        Self { path: vec![Step::Name(name.to_owned())], kind: Kind::Text }
    }
}

/// A column as a template and an export have it.
#[derive(Debug, Clone)]
pub struct Described {
    /// Its name, such as `address.city`.
    pub name: String,
    pub doc: String,
    /// Whether every row needs it; within an optional object, whether the object needs it.
    pub required: bool,
    /// What its cells hold.
    pub kind: Kind,
    /// The allowed words, if there are only some.
    pub words: Vec<String>,
}

/// The body of an endpoint, as its schema describes it.
#[derive(Debug)]
pub struct Shape(Value);

impl Shape {
    /// The body of an endpoint.
    pub fn of(meta: &Meta) -> Self {
        Self(resolved(&(meta.body.schema)().unwrap_or_default()))
    }

    /// What an endpoint answers.
    pub fn of_answer(meta: &Meta) -> Self {
        Self(resolved(&(meta.answer.schema)().unwrap_or_default()))
    }

    /// The properties that are never shown.
    pub fn secrets(&self) -> Vec<&str> {
        let secret = |name: &&str| resolved(&self.0["properties"][*name])["format"] == "password";
        self.properties().into_iter().filter(secret).collect()
    }

    /// The names of the properties, in their order.
    pub fn properties(&self) -> Vec<&str> {
        self.0["properties"].as_object().into_iter().flat_map(Map::keys).map(String::as_str).collect()
    }

    /// The properties that must be there.
    pub fn required(&self) -> Vec<&str> {
        self.0["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
    }

    /// The column of a name; otherwise what is wrong with the name.
    pub fn column(&self, name: &str) -> Result<Column, String> {
        self.find(name).map(|(path, schema)| Column { path, kind: kind(&schema) })
    }

    /// The words that the property of a name may be; none where it may be anything.
    pub fn words(&self, name: &str) -> Vec<String> {
        let Ok((_, schema)) = self.find(name) else { return Vec::new() };
        if schema["type"] == "boolean" {
            return vec!["true".to_owned(), "false".to_owned()];
        }
        let words = schema["enum"].as_array().into_iter().flatten().filter_map(Value::as_str);
        words.map(str::to_owned).collect()
    }

    fn find(&self, name: &str) -> Result<(Vec<Step>, Value), String> {
        let mut path = Vec::new();
        let mut at = self.0.clone();
        for step in name.split('.') {
            let next = match at["type"].as_str() {
                Some("array") => {
                    let number = step.parse::<usize>().ok().filter(|number| (1..=1000).contains(number));
                    let number =
                        number.ok_or_else(|| format!("{step} should be 1 for the first of a list"))?;
                    path.push(Step::Element(number - 1));
                    at["items"].clone()
                }
                _ => {
                    path.push(Step::Name(step.to_owned()));
                    let properties = at["properties"].as_object().cloned().unwrap_or_default();
                    let meant = || did_you_mean(step, properties.keys().map(String::as_str));
                    let wrong = || meant().unwrap_or_else(|| names(&properties));
                    let also = || properties.values().find(|schema| is_also_named(schema, step));
                    properties.get(step).or_else(also).cloned().ok_or_else(wrong)?
                }
            };
            at = resolved(&next);
        }
        Ok((path, at))
    }

    /// The name of the property that may also be given under this name.
    pub fn own_name(&self, name: &str) -> Option<String> {
        let mut properties = self.0["properties"].as_object()?.iter();
        properties.find(|(_, schema)| is_also_named(schema, name)).map(|(own, _)| own.clone())
    }

    /// The columns in the order of the contract, those of nested objects among them.
    pub fn columns(&self) -> Vec<Described> {
        let mut columns = Vec::new();
        describe(&self.0, "", true, &mut columns);
        columns
    }
}

/// Whether a property may also be given under this name.
fn is_also_named(schema: &Value, name: &str) -> bool {
    schema[OTHER_NAMES].as_array().is_some_and(|others| others.iter().any(|other| other == name))
}

/// The possible names, for a user who typed none of them.
fn names(properties: &Map<String, Value>) -> String {
    match properties.keys().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [] => "it has no fields in it".to_owned(),
        names => format!("the fields are {}", names.join(", ")),
    }
}

fn describe(object: &Value, before: &str, needed: bool, columns: &mut Vec<Described>) {
    let required: Vec<_> =
        object["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    for (property, schema) in object["properties"].as_object().into_iter().flatten() {
        let name = format!("{before}{property}");
        let inner = resolved(schema);
        let required = required.contains(&property.as_str());
        if inner["type"] == "object" && kind(&inner) == Kind::Json {
            describe(&inner, &format!("{name}."), needed && required, columns);
            continue;
        }
        let doc = schema["description"].as_str().unwrap_or_default().to_owned();
        let words = inner["enum"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let words = words.map(str::to_owned).collect();
        columns.push(Described { name, doc, required: required && needed, kind: kind(&inner), words });
    }
}

/// A schema without references and without the choice of null; of two objects the first, that of the noun.
fn resolved(schema: &Value) -> Value {
    if let Some(name) = schema["$ref"].as_str().and_then(|path| path.rsplit('/').next()) {
        return named_schemas().find(|(known, _)| *known == name).map_or(Value::Null, |(_, schema)| schema);
    }
    if let Some(choices) = schema["anyOf"].as_array().or(schema["oneOf"].as_array()) {
        return choices.iter().find(|choice| choice["type"] != "null").map_or(Value::Null, resolved);
    }
    let mut schema = schema.clone();
    if let Some(kinds) = schema["type"].as_array() {
        schema["type"] = kinds.iter().find(|kind| *kind != "null").cloned().unwrap_or_default();
    }
    schema
}

fn kind(schema: &Value) -> Kind {
    let is_day = || {
        let parts = schema["properties"].as_object();
        parts.is_some_and(|parts| parts.keys().eq(["year", "month", "day"]))
    };
    match schema["type"].as_str() {
        Some("string") => Kind::Text,
        Some("boolean") => Kind::Flag,
        Some("integer" | "number") => Kind::Number,
        Some("object") if is_day() => Kind::Day,
        _ => Kind::Json,
    }
}

/// The value of a cell; `None` for an empty one. The daemon checks the rest.
pub fn value(kind: Kind, cell: &str) -> Result<Option<Value>, String> {
    let Some(text) = unguarded(cell) else { return Ok(None) };
    let value = match kind {
        Kind::Text => Value::from(text),
        Kind::Flag if text.eq_ignore_ascii_case("true") => json!(true),
        Kind::Flag if text.eq_ignore_ascii_case("false") => json!(false),
        Kind::Flag => return Err(format!("must be true or false, not \"{text}\"")),
        Kind::Number => match serde_json::from_str(text) {
            Ok(Value::Number(number)) => Value::Number(number),
            _ => return Err(format!("must be a number, not \"{text}\"")),
        },
        // A day in parts, of which some may be missing: a failed row of JSON has it.
        Kind::Day if text.starts_with('{') => return value(Kind::Json, cell),
        Kind::Day => match Date::parse(text).map(Date::parts) {
            Some((year, month, day)) => json!({ "year": year, "month": month, "day": day }),
            None => return Err(format!("must be a day of the calendar as YYYY-MM-DD, not \"{text}\"")),
        },
        Kind::Json => match serde_json::from_str(text) {
            Ok(value) => super::repeated(text.as_bytes())
                .map(|()| value)
                .map_err(|why| format!("cannot be read: {why}"))?,
            Err(_) => return Err("must be JSON".to_owned()),
        },
    };
    Ok(Some(value))
}

/// The cell of a value; the way back of [`value`].
pub fn cell(kind: Kind, value: &Value) -> String {
    match (kind, value) {
        (_, Value::Null) => String::new(),
        (Kind::Text, Value::String(text)) => guarded(text),
        (Kind::Day, Value::Object(parts)) => {
            let part = |name| parts.get(name).and_then(Value::as_i64).unwrap_or_default();
            format!("{:04}-{:02}-{:02}", part("year"), part("month"), part("day"))
        }
        (_, other) => guarded(&other.to_string()),
    }
}

/// The value at a path of a record.
pub fn at<'v>(record: &'v Value, path: &[Step]) -> &'v Value {
    path.iter().fold(record, |value, step| match step {
        Step::Name(name) => &value[name.as_str()],
        Step::Element(i) => &value[*i],
    })
}

/// Puts a value at its place in a body.
pub fn put(body: &mut Value, path: &[Step], value: Value) {
    let Some((step, rest)) = path.split_first() else {
        *body = value;
        return;
    };
    let place = match step {
        Step::Name(name) => {
            if !body.is_object() {
                *body = json!({});
            }
            &mut body[name.as_str()]
        }
        Step::Element(i) => {
            if !body.is_array() {
                *body = json!([]);
            }
            if let Value::Array(elements) = body {
                elements.resize(elements.len().max(i + 1), Value::Null);
            }
            &mut body[*i]
        }
    };
    put(place, rest, value);
}

/// Closes the gaps in lists whose elements have columns of their own.
pub fn close_gaps(body: &mut Value, path: &[Step]) {
    if let (Value::Array(elements), Some(Step::Element(_))) = (&mut *body, path.first()) {
        elements.retain(|element| !element.is_null());
        return;
    }
    if let Some((Step::Name(name), rest)) = path.split_first()
        && let Some(inner) = body.get_mut(name.as_str())
    {
        close_gaps(inner, rest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mfa_shared::api::customers::CreateCustomer;
    use mfa_shared::endpoint::Endpoint;
    use proptest::prelude::*;

    #[test]
    fn the_columns_of_customers_are_those_of_their_body() {
        let shape = Shape::of(&CreateCustomer::META);
        let names: Vec<_> = shape.columns().into_iter().map(|c| c.name).collect();
        let some = ["identifier", "type", "dateOfBirth", "member", "address.street", "address.countryCode"];
        assert!(some.iter().all(|name| names.iter().any(|n| n == name)), "{names:?}");
        assert!(names.iter().any(|name| name == "contactDetails"), "{names:?}");
        let required: Vec<_> = shape.columns().into_iter().filter(|c| c.required).map(|c| c.name).collect();
        assert_eq!(required, ["identifier"]);
        for (name, kind) in [
            ("identifier", Kind::Text),
            ("type", Kind::Text),
            ("dateOfBirth", Kind::Day),
            ("dateOfBirth.year", Kind::Number),
            ("member", Kind::Flag),
            ("address", Kind::Json),
            ("address.city", Kind::Text),
            ("applicationDate", Kind::Text),
            ("contactDetails", Kind::Json),
            ("contactDetails.1.value", Kind::Text),
            ("contactDetails.2.preferenceLevel", Kind::Number),
        ] {
            assert_eq!(shape.column(name).unwrap().kind, kind, "{name}");
        }
        assert_eq!(shape.column("givenNam").unwrap_err(), "did you mean givenName?");
        assert_eq!(shape.column("address.city.x").unwrap_err(), "it has no fields in it");
        let fields = "the fields are street, city, region, postalCode, countryCode, country";
        assert_eq!(shape.column("address.x").unwrap_err(), fields);
        assert!(shape.column("contactDetails.0.value").is_err());
    }

    #[test]
    fn cells_in_columns_of_a_list_become_its_elements() {
        let shape = Shape::of(&CreateCustomer::META);
        let mut body = json!({});
        for (name, text) in [("contactDetails.3.value", "c"), ("contactDetails.1.value", "a")] {
            let column = shape.column(name).unwrap();
            put(&mut body, &column.path, value(column.kind, text).unwrap().unwrap());
        }
        close_gaps(&mut body, &shape.column("contactDetails.1.value").unwrap().path);
        assert_eq!(body, json!({ "contactDetails": [{ "value": "a" }, { "value": "c" }] }));
    }

    proptest! {
        #[test]
        fn every_text_comes_back_from_its_cell(text in "['=+@\\-\t\r a]{0,5}", odd: String) {
            for text in [text, odd] {
                let back = value(Kind::Text, &cell(Kind::Text, &json!(text))).unwrap();
                prop_assert_eq!(back, Some(json!(text)));
            }
        }
    }
}
