//! Help that belongs to no single command: topics, error codes, the objects of the wire.

use super::{NODES, docs};
use crate::cx::Cx;
use crate::failure::{Failure, Outcome};
use crate::input::nearest;
use crate::settings::TABLE;
use crate::tree::{self, Verb};
use crate::views;
use clap::Args;
use mfa_shared::api::{cards::*, customers::*, employees::*, offices::*, system};
use mfa_shared::fault::{self, exit};
use mfa_shared::object::{FieldDoc, Object};
use serde_json::{Value, json};

/// Topics that are texts, each in a file of its own.
const TEXTS: &[(&str, &str)] =
    &[("output", include_str!("../help/output.txt")), ("teller-day", include_str!("../help/teller-day.txt"))];

/// Variables that are no settings.
const VARIABLES: &[(&str, &str)] = &[
    ("MFA_CONFIG", "the user's config file"),
    ("MFA_SYSTEM_CONFIG", "the system's config file"),
    ("PAGER", "program that shows what is longer than a screen, unless MFA_PAGER says another"),
    ("NO_COLOR", "no colour"),
    ("CLICOLOR_FORCE", "colour also where no terminal is"),
    ("COLUMNS", "width of tables where no terminal tells it"),
];

#[derive(Args)]
pub struct Help {
    /// exit-codes, environment, output, teller-day, or the words of a command
    #[arg(value_name = "TOPIC")]
    words: Vec<String>,
}

impl Verb for Help {
    const ABOUT: &'static str = "Show the help of a topic or of a command";
    const EXAMPLES: &'static [&'static str] = &["mfa help exit-codes", "mfa help customers create"];
    async fn run(self, cx: &Cx) -> Outcome {
        let words: Vec<_> = self.words.iter().map(String::as_str).collect();
        match words.as_slice() {
            ["exit-codes"] => {
                let rows =
                    exit::TABLE.iter().map(|(code, meaning)| json!({ "code": code, "meaning": meaning }));
                cx.out.show(&views::EXIT_CODE, &rows.collect())
            }
            ["environment"] => {
                let settings = TABLE.iter().map(|s| json!({ "variable": s.variable(), "doc": s.doc }));
                let others = VARIABLES.iter().map(|(name, doc)| json!({ "variable": name, "doc": doc }));
                cx.out.show(&views::VARIABLE, &settings.chain(others).collect())
            }
            [topic] if let Some((_, text)) = TEXTS.iter().find(|(name, _)| name == topic) => {
                cx.out.document("help", text)
            }
            path => {
                let mut root = tree::command(NODES);
                root.build();
                let Some(command) = docs::find(&root, path) else {
                    let what = format!("there is no topic or command \"{}\"", path.join(" "));
                    return Err(Failure::usage(what).hint("see: mfa --help"));
                };
                let text = command.clone().render_long_help();
                let colour = cx.out.screen.stdout_colour;
                cx.out.document("help", &if colour { text.ansi().to_string() } else { text.to_string() })
            }
        }
    }
}

#[derive(Args)]
pub struct Explain {
    /// error CODE, an object such as office, or a field such as office.address
    #[arg(value_name = "WHAT", required = true, num_args = 1..=2)]
    words: Vec<String>,
}

impl Verb for Explain {
    const ABOUT: &'static str = "Explain an error code, an object or a field";
    const EXAMPLES: &'static [&'static str] =
        &["mfa explain error wrong_state", "mfa explain office.address"];
    async fn run(self, cx: &Cx) -> Outcome {
        let words: Vec<_> = self.words.iter().map(String::as_str).collect();
        match words.as_slice() {
            ["error" | "errors"] => {
                cx.out.show(&views::FAULT, &fault::TABLE.iter().map(|kind| row(kind)).collect())
            }
            ["error", code] => match fault::find(code) {
                Some(kind) => cx.out.show(&views::FAULT, &row(kind)),
                None => {
                    let near = nearest(code, fault::TABLE.iter().map(|kind| kind.code));
                    Err(unknown("error code", code, near.first().copied(), "mfa explain error"))
                }
            },
            [path] => explain(cx, path),
            [..] => Err(Failure::usage("one object, one field or one error code can be explained")
                .hint("an error code: mfa explain error CODE")),
        }
    }
}

fn row(kind: &fault::Kind) -> Value {
    json!({
        "code": kind.code, "status": kind.status, "exit": kind.exit(), "title": kind.title, "hint": kind.hint
    })
}

fn unknown(what: &str, name: &str, near: Option<&str>, list: &str) -> Failure {
    let hint = near.map_or_else(String::new, |near| format!("did you mean {near}? "));
    Failure::new("not_found", exit::NOT_FOUND, format!("there is no {what} \"{name}\""))
        .hint(format!("{hint}list them: {list}"))
}

/// One object of the wire.
struct Described {
    name: &'static str,
    fields: fn() -> Vec<FieldDoc>,
}

const fn described<T: Object>() -> Described {
    Described { name: T::NAME, fields: T::fields }
}

const OBJECTS: &[Described] = &[
    described::<Office>(),
    described::<NewOffice>(),
    described::<OfficeChange>(),
    described::<Address>(),
    described::<ExternalReference>(),
    described::<Employee>(),
    described::<EmployeeInput>(),
    described::<EmployeeContact>(),
    described::<Customer>(),
    described::<CustomerInput>(),
    described::<CustomerContact>(),
    described::<CustomValue>(),
    described::<DateOfBirth>(),
    described::<Card>(),
    described::<CardInput>(),
    described::<ExpirationDate>(),
    described::<CustomerCommand>(),
    described::<CustomerCommandRecord>(),
    described::<system::Version>(),
    described::<system::Health>(),
];

/// Follows a path of field names from an object; a field that is an object itself shows that object.
fn explain(cx: &Cx, path: &str) -> Outcome {
    let mut steps = path.split('.');
    let first = steps.next().unwrap_or_default();
    let loose = |name: &str| name.replace(['-', '_'], "").to_lowercase();
    let wanted = [loose(first), loose(first.strip_suffix('s').unwrap_or(first))];
    let Some(mut object) = OBJECTS.iter().find(|object| wanted.contains(&loose(object.name))) else {
        let near = nearest(first, OBJECTS.iter().map(|object| object.name));
        let names: Vec<_> = OBJECTS.iter().map(|object| object.name).collect();
        let failure = unknown("object", first, near.first().copied(), "");
        return Err(failure.hint(format!("the objects are {}", names.join(", "))));
    };
    let mut field = None;
    for step in steps {
        let fields = (object.fields)();
        let names: Vec<_> = fields.iter().map(|field| field.name.clone()).collect();
        let Some(found) = fields.into_iter().find(|field| loose(&field.name) == loose(step)) else {
            let near = nearest(step, names.iter().map(String::as_str)).first().map(|near| (*near).to_owned());
            let list = format!("mfa explain {}", object.name.to_lowercase());
            return Err(unknown("field", step, near.as_deref(), &list));
        };
        let inner = reference(&found.schema).and_then(|name| OBJECTS.iter().find(|o| o.name == name));
        field = if inner.is_some() { None } else { Some(found) };
        object = inner.unwrap_or(object);
    }
    let rows = match field {
        Some(field) => vec![field],
        None => (object.fields)(),
    };
    let row = |field: FieldDoc| {
        json!({
            "name": field.name, "type": kind(&field.schema), "required": field.required, "doc": field.doc,
            "schema": field.schema
        })
    };
    cx.out.show(&views::FIELD, &Value::Array(rows.into_iter().map(row).collect()))
}

/// The object that a schema refers to, directly or as the element of a list.
fn reference(schema: &Value) -> Option<&str> {
    let direct = schema["$ref"].as_str().and_then(|path| path.rsplit('/').next());
    let choices = || ["anyOf", "oneOf", "allOf"].iter().find_map(|of| schema[of].as_array());
    direct
        .or_else(|| schema.get("items").and_then(reference))
        .or_else(|| choices()?.iter().find_map(reference))
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
    let (least, most) = (bound("minLength", "at least") + &bound("minimum", "from"), "at most");
    format!("{name}{format}{least}{}{}", bound("maxLength", most), bound("maximum", "to"))
}
