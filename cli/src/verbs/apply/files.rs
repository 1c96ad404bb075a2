//! The documents of a set of files.

use super::findings::{Findings, LACKS_SECRET};
use super::kinds::{self, KINDS, Kind};
use super::secrets;
use crate::failure::{Failure, Outcome};
use crate::input;
use crate::input::names::pointer;
use crate::input::shape::Shape;
use crate::input::yaml;
use crate::settings::bounded::RECORDS_BYTES_MAX;
use crate::words::did_you_mean;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Endings of the files of a folder that belong to a set.
const ENDINGS: &[&str] = &["yaml", "yml", "json"];

/// The kind of a record, and what names it among its kind.
pub type Name = (&'static str, String);

/// A document: the description of one record.
#[derive(Clone)]
pub struct Document {
    /// Its place, for people.
    pub place: String,
    pub kind: &'static Kind,
    /// What names it among its kind.
    pub id: String,
    /// The record that contains it.
    pub within: Option<String>,
    /// The properties that are given.
    pub given: Map<String, Value>,
    /// Pointers of what must not be shown.
    pub hidden: Vec<String>,
    /// Optional secrets that are missing: the property, and where it was looked for.
    pub absent: Vec<(String, String)>,
}

impl Document {
    /// What names the record.
    pub fn name(&self) -> Name {
        (self.kind.name, self.id.clone())
    }

    /// The record in words.
    pub fn title(&self) -> String {
        format!("{} {}", self.kind.name, self.id)
    }

    /// The parameters of its own path.
    pub fn address(&self) -> Vec<&str> {
        self.within.as_deref().into_iter().chain([self.id.as_str()]).collect()
    }

    /// A refusal of a missing property, which says where it was looked for.
    pub fn with_absent(&self, failure: Failure) -> Failure {
        let mut errors = failure.errors.clone();
        let mut failure = failure;
        for error in &mut errors {
            let absent = self.absent.iter().find(|(name, _)| error.field.strip_prefix('/') == Some(name));
            if let Some((_, place)) = absent {
                error.detail.push_str(&format!("; {place}"));
                failure = failure.hint(LACKS_SECRET);
            }
        }
        failure.about(errors)
    }

    /// The other records that it names, each with the property.
    pub fn references(&self) -> Vec<(&'static str, Name)> {
        let mut found = Vec::new();
        for (pointer, kind) in self.kind.references {
            let property = pointer.split('/').nth(1).unwrap_or_default();
            if Some(property) == self.kind.within {
                found.extend(self.within.iter().map(|id| (property, (*kind, id.clone()))));
                continue;
            }
            let Some(value) = self.given.get(property) else { continue };
            let values = match pointer.split_once("/*/") {
                Some((_, inner)) => value.as_array().into_iter().flatten().map(|v| &v[inner]).collect(),
                None => vec![value],
            };
            let named = values.into_iter().filter_map(Value::as_str).filter(|id| !id.is_empty());
            found.extend(named.map(|id| (property, (*kind, id.to_owned()))));
        }
        found
    }
}

/// Reads files and folders; `-` is standard input.
pub fn read(files: &[String]) -> Outcome<Vec<Document>> {
    let mut documents = Vec::new();
    let mut findings = Findings::default();
    let mut paths = Vec::new();
    for file in files {
        paths.extend(expand(file)?);
    }
    for file in &paths {
        let name = if file == "-" { "standard input" } else { file };
        for (place, value) in values(name, &input::text(file, RECORDS_BYTES_MAX)?)? {
            documents.extend(document(place, value, folder_of(file), &mut findings));
        }
    }
    check_distinct(&documents, &mut findings);
    findings.settle()?;
    if documents.is_empty() {
        Err(Failure::usage(format!("there is no document in {}", files.join(", ")))
            .hint("what a document looks like: mfa help apply"))
    } else {
        Ok(documents)
    }
}

fn folder_of(file: &str) -> &Path {
    Path::new(file).parent().unwrap_or(Path::new(""))
}

/// The files of a folder and its subfolders, by name; a file expands to itself.
fn expand(file: &str) -> Outcome<Vec<String>> {
    if file == "-" || !Path::new(file).is_dir() {
        return Ok(vec![file.to_owned()]);
    }
    let unreadable = |error: std::io::Error| Failure::usage(format!("cannot read {file}: {error}"));
    let entries = std::fs::read_dir(file).map_err(unreadable)?;
    let mut paths: Vec<PathBuf> = Vec::new();
    for entry in entries {
        paths.push(entry.map_err(unreadable)?.path());
    }
    paths.sort();
    let mut found = Vec::new();
    for path in paths {
        let hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        let ending = path.extension().is_some_and(|ending| ENDINGS.iter().any(|known| ending == *known));
        if !hidden && (path.is_dir() || ending) {
            found.extend(expand(&path.to_string_lossy())?);
        }
    }
    Ok(found)
}

/// The documents of a text with their places; the elements of a list are documents, too.
fn values(name: &str, text: &str) -> Outcome<Vec<(String, Value)>> {
    // JSON first, because YAML reads some of it differently.
    let documents = if text.trim_start().starts_with(['{', '[']) {
        serde_json::Deserializer::from_str(text)
            .into_iter()
            .collect::<Result<Vec<Value>, _>>()
            .map_err(|error| Failure::usage(format!("{name} is not JSON: {error}")))?
    } else {
        yaml::documents(text).map_err(|why| Failure::usage(format!("{name} is not YAML: {why}")))?
    };
    let mut found = Vec::new();
    for (number, document) in (1..).zip(documents) {
        let place = format!("{name}, document {number}");
        match document {
            Value::Null => {}
            Value::Array(records) => found.extend(
                (1..).zip(records).map(|(record, value)| (format!("{place}, record {record}"), value)),
            ),
            record => found.push((place, record)),
        }
    }
    Ok(found)
}

/// Reads a document; its errors are noted.
fn document(place: String, value: Value, folder: &Path, findings: &mut Findings) -> Option<Document> {
    let Value::Object(mut given) = value else {
        findings.add(&place, "", "a document holds properties, the first of them kind");
        return None;
    };
    let known = || KINDS.iter().map(|kind| kind.name).collect::<Vec<_>>();
    let kind = match given.shift_remove("kind") {
        Some(Value::String(name)) => match kinds::find(&name) {
            Some(kind) => kind,
            None => {
                let meant = did_you_mean(&name, known().into_iter());
                let hint = meant.unwrap_or_else(|| format!("the kinds are {}", known().join(", ")));
                findings.hint(&place, "/kind", &format!("there is no kind \"{name}\""), hint);
                return None;
            }
        },
        _ => {
            let hint = format!("the kinds are {}", known().join(", "));
            findings.hint(&place, "/kind", "kind is required: it says what the record is", hint);
            return None;
        }
    };
    let shape = Shape::of(kind.create.meta);
    // Under its own name each property is compared with the record; that name counts where both are given.
    for (other, own) in
        given.keys().filter_map(|name| Some((name.clone(), shape.own_name(name)?))).collect::<Vec<_>>()
    {
        if let Some(value) = given.shift_remove(&other) {
            given.entry(own).or_insert(value);
        }
    }
    let (mut hidden, mut absent) = (Vec::new(), Vec::new());
    given.retain(|name, value| match secrets::optional(value, folder) {
        Some(place) => {
            absent.push((name.clone(), place));
            false
        }
        None => true,
    });
    for (name, value) in &mut given {
        if let Err(why) = secrets::resolve(value, &format!("/{name}"), folder, &mut hidden) {
            findings.add(&place, &format!("/{name}"), &format!("/{name} {why}"));
        }
    }
    hidden.extend(shape.secrets().iter().map(|name| format!("/{name}")));
    let mut text = |name: &str, given: &Map<String, Value>| match given.get(name).and_then(Value::as_str) {
        Some(id) if !matches!(id, "" | "." | "..") => Some(id.to_owned()),
        _ => {
            findings.add(&place, &format!("/{name}"), &format!("/{name} is required"));
            None
        }
    };
    let id = text(kind.key, &given);
    let within = kind.within.map(|name| text(name, &given));
    kind.within.map(|name| given.shift_remove(name));
    for (name, value) in &given {
        if !kind.own.iter().any(|own| own.always && own.property == name) {
            check_known(kind, &shape, name, value, &place, findings);
        }
    }
    let within = match within {
        Some(None) => return None,
        Some(within) => within,
        None => None,
    };
    Some(Document { place, kind, id: id?, within, given, hidden, absent })
}

/// Notes properties that a kind does not have, at any depth.
fn check_known(kind: &Kind, shape: &Shape, name: &str, value: &Value, place: &str, findings: &mut Findings) {
    for (path, why) in shape.unknown(name, value) {
        let field = pointer(&path);
        if Shape::of_answer(kind.read).column(&path).is_ok() {
            let what = format!("{field} of {} is set by the daemon and cannot be set", kind.name);
            findings.hint(place, &field, &what, "leave it out");
        } else {
            findings.hint(place, &field, &format!("{} has no field {field}", kind.name), why);
        }
    }
}

/// Notes records that two documents are about.
fn check_distinct(documents: &[Document], findings: &mut Findings) {
    let mut seen = HashMap::new();
    for document in documents {
        if let Some(first) = seen.insert(document.name(), &document.place) {
            let what = format!("{} is in {first} already", document.title());
            findings.add(&document.place, "", &what);
        }
    }
}
