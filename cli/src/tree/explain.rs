//! What an error code, an object of the wire or one of its fields means.

use crate::command::cx::Cx;
use crate::command::noun::Noun;
use crate::command::verb::Verb;
use crate::failure::{Failure, Outcome, codes};
use crate::nouns;
use crate::output::views;
use crate::words::hint_beside;
use clap::Args;
use mfa_shared::api::rows;
use mfa_shared::endpoint::Meta;
use mfa_shared::fault::{self, exit};
use mfa_shared::object::named_schemas;
use mfa_shared::wire::AnswerKind;
use serde_json::{Value, json};

#[derive(Args)]
pub struct Explain {
    /// error CODE, an object such as office, a field such as office.address, or objects for all of them
    #[arg(value_name = "WHAT", required = true, num_args = 1..=2)]
    words: Vec<String>,
}

impl Verb for Explain {
    const ABOUT: &'static str = "Explain an error code, an object or a field";
    const EXAMPLES: &'static [&'static str] =
        &["mfa explain error wrong_state", "mfa explain office.address"];
    const EXITS: &'static [i32] = &[exit::NOT_FOUND];
    async fn run(self, cx: &Cx) -> Outcome {
        let words: Vec<_> = self.words.iter().map(String::as_str).collect();
        match words.as_slice() {
            ["error" | "errors"] => cx.out.show(&views::FAULT, &codes().map(|(_, row)| row).collect()),
            ["error", code] => match codes().find(|(known, _)| known == code) {
                Some((_, row)) => cx.out.show(&views::FAULT, &row),
                None => {
                    let known = codes().map(|(code, _)| code);
                    Err(unknown(("error code", code), known, "list them: mfa explain error"))
                }
            },
            ["objects"] => {
                let row =
                    |(name, schema): (&str, Value)| json!({ "name": name, "doc": schema["description"] });
                cx.out.show(&views::OBJECT, &objects().into_iter().map(row).collect())
            }
            [path] => explain(cx, path),
            [..] => Err(Failure::usage("one object, one field or one error code can be explained")
                .hint("an error code: mfa explain error CODE")),
        }
    }
}

/// Every code with what it means: those of the daemon, then those of the command line, which have no status.
fn codes() -> impl Iterator<Item = (&'static str, Value)> {
    let row = |code, status: Option<u16>, exit: i32, title, hint| {
        (code, json!({ "code": code, "status": status, "exit": exit, "title": title, "hint": hint }))
    };
    let of_daemon = fault::TABLE.iter();
    let of_daemon =
        of_daemon.map(move |kind| row(kind.code, Some(kind.status), kind.exit(), kind.title, kind.hint));
    let own = codes::TABLE.iter().map(move |kind| row(kind.code, None, kind.exit, kind.title, kind.hint));
    of_daemon.chain(own)
}

fn unknown<'a>((what, name): (&str, &str), names: impl Iterator<Item = &'a str>, hint: &str) -> Failure {
    Failure::new(codes::NO_SUCH_NAME, format!("there is no {what} \"{name}\""))
        .hint(hint_beside(name, names, hint))
}

/// The objects of the wire under their names, as JSON schemas: all that a row of the endpoint table carries.
fn objects() -> Vec<(&'static str, Value)> {
    for row in rows() {
        // To make a schema is to name the objects in it.
        let _ = ((row.body.schema)(), (row.answer.schema)());
    }
    named_schemas().collect()
}

/// Follows a path of field names from an object; a field that is an object itself shows that object.
fn explain(cx: &Cx, path: &str) -> Outcome {
    let objects = objects();
    let mut steps = path.split('.');
    let first = steps.next().unwrap_or_default();
    let loose = |name: &str| name.replace(['-', '_'], "").to_lowercase();
    let wanted = [loose(first), loose(first.strip_suffix('s').unwrap_or(first))];
    let is_typed = |name: &str| wanted.contains(&loose(name));
    // Some nouns of commands have another name on the wire: a product is a Definition there.
    let of_noun = || {
        let last = |noun: &Noun| noun.typed.rsplit(' ').next().is_some_and(is_typed);
        let is_called = |noun: &&&Noun| last(noun) || noun.alias.split_whitespace().any(is_typed);
        let noun = nouns::all().iter().find(is_called);
        let of_noun = object_of(noun?.read.or(noun?.list)?)?;
        objects.iter().find(|(name, _)| *name == of_noun)
    };
    let Some((name, object)) = objects.iter().find(|(name, _)| is_typed(name)).or_else(of_noun) else {
        let names = objects.iter().map(|(name, _)| *name);
        return Err(unknown(("object", first), names, "list them: mfa explain objects"));
    };
    let mut name = *name;
    let mut object = object;
    let mut field = None;
    for step in steps {
        let Some((property, schema)) = fields(object).find(|(property, _)| loose(property) == loose(step))
        else {
            let names = fields(object).map(|(property, _)| property.as_str());
            let hint = format!("list them: mfa explain {}", name.to_lowercase());
            return Err(unknown(("field", step), names, &hint));
        };
        match reference(schema).and_then(|inner| objects.iter().find(|(name, _)| *name == inner)) {
            Some((inner, schema)) => (name, object, field) = (inner, schema, None),
            None => field = Some(row_of(object, property, schema)),
        }
    }
    let rows = match field {
        Some(field) => vec![field],
        None => fields(object).map(|(property, schema)| row_of(object, property, schema)).collect(),
    };
    cx.out.show(&views::FIELD, &Value::Array(rows))
}

/// What may be typed: at first an object or a word, behind `error` a code.
pub fn names(first: Option<&str>) -> Vec<String> {
    match first {
        Some("error" | "errors") => codes().map(|(code, _)| code.to_owned()).collect(),
        Some(_) => Vec::new(),
        None => {
            let fields = |(name, object): &(&str, Value)| {
                let fields = fields(object).map(|(field, _)| format!("{name}.{field}"));
                fields.chain([(*name).to_owned()]).collect::<Vec<_>>()
            };
            let words = ["error", "objects"].map(str::to_owned);
            words.into_iter().chain(objects().iter().flat_map(fields)).collect()
        }
    }
}

/// The words that a property of an object may be, by its pointer; none where it may be anything.
pub fn words_of(object: &str, pointer: &str) -> Vec<String> {
    let objects = objects();
    let find = |name: &str| objects.iter().find(|(other, _)| *other == name).map(|(_, schema)| schema);
    let mut schema = find(object);
    for step in pointer.split('/').skip(1) {
        let property = schema.and_then(|schema| schema["properties"].get(step));
        schema = property.map(|property| reference(property).and_then(find).unwrap_or(property));
    }
    let Some(schema) = schema else { return Vec::new() };
    let choices = ["anyOf", "oneOf", "allOf"].iter().filter_map(|of| schema[of].as_array()).flatten();
    let words =
        std::iter::once(schema).chain(choices).filter_map(|schema| schema["enum"].as_array()).flatten();
    let words: Vec<_> = words.filter_map(|word| Some(word.as_str()?.to_owned())).collect();
    if schema["type"] == "boolean" { ["true", "false"].map(str::to_owned).to_vec() } else { words }
}

fn fields(object: &Value) -> impl Iterator<Item = (&String, &Value)> {
    object["properties"].as_object().into_iter().flatten()
}

fn row_of(object: &Value, property: &str, schema: &Value) -> Value {
    let required =
        object["required"].as_array().is_some_and(|names| names.iter().any(|name| name == property));
    json!({
        "name": property, "type": kind(schema), "required": required, "doc": schema["description"],
        "schema": schema
    })
}

/// The object that a schema refers to, directly or as the element of a list.
pub fn reference(schema: &Value) -> Option<&str> {
    let direct = schema["$ref"].as_str().and_then(|path| path.rsplit('/').next());
    let choices = || ["anyOf", "oneOf", "allOf"].iter().find_map(|of| schema[of].as_array());
    direct
        .or_else(|| schema.get("items").and_then(reference))
        .or_else(|| choices()?.iter().find_map(reference))
}

/// The object of the wire of which a row answers one or many.
pub fn object_of(meta: &Meta) -> Option<String> {
    let schema = (meta.answer.schema)()?;
    let of_page = || schema["properties"].as_object()?.values().find_map(reference);
    let found = match meta.answer.kind {
        AnswerKind::Page => of_page(),
        _ => reference(&schema),
    };
    found.map(str::to_owned)
}

/// A schema in a few words.
fn kind(schema: &Value) -> String {
    if let Some(words) = schema["enum"].as_array() {
        let words = words.iter().filter_map(Value::as_str);
        return words.collect::<Vec<_>>().join(" | ");
    }
    if schema["type"] == "array" {
        return format!("list of {}", schema.get("items").map_or_else(String::new, kind));
    }
    if let Some(name) = reference(schema) {
        return name.to_owned();
    }
    let name = match &schema["type"] {
        Value::String(name) => name.clone(),
        Value::Array(names) => {
            names.iter().filter_map(Value::as_str).find(|n| *n != "null").unwrap_or("any").to_owned()
        }
        _ => "any".to_owned(),
    };
    let bound = |key: &str, word: &str| schema.get(key).map(|n| format!(", {word} {n}")).unwrap_or_default();
    let format = schema["format"].as_str().map(|format| format!(" ({format})")).unwrap_or_default();
    let least =
        bound("minLength", "at least") + &bound("minimum", "from") + &bound("exclusiveMinimum", "above");
    let most = bound("maxLength", "at most") + &bound("maximum", "to") + &bound("exclusiveMaximum", "below");
    format!("{name}{format}{least}{most}")
}
