//! The records of the daemon compared with the documents, and the operations that make them match.

use super::files::{Document, Name};
use super::findings::Findings;
use super::kinds::{self, KINDS};
use super::order::layers;
use super::secrets::hide;
use crate::client::idempotency::new_key;
use crate::client::{Client, operation};
use crate::failure::{Failure, Outcome};
use crate::input::shape::{Kind as CellKind, Shape};
use crate::output;
use mfa_shared::api::batch::OperationResult;
use mfa_shared::api::roles::DEACTIVATED;
use mfa_shared::endpoint::Meta;
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};

/// A record as it is.
struct State {
    value: Value,
    tag: Option<String>,
}

/// A property that changes. What must not be shown is hidden already.
pub struct Field {
    pub name: String,
    /// What it is; null for nothing.
    pub before: Value,
    /// What it becomes; null for nothing.
    pub after: Value,
}

/// A record that is made or changed.
pub struct Step {
    pub document: Document,
    pub new: bool,
    pub fields: Vec<Field>,
    /// The record before, as far as it is shown.
    pub before: Value,
    /// The record after, as far as it is shown.
    pub after: Value,
    /// What is sent for it, in this order.
    pub operations: Vec<String>,
    /// Whether a password has to be hashed for it, which takes a while.
    pub hashes: bool,
    /// It names only records of layers below.
    pub layer: usize,
}

/// The changes that make the institution match the files.
pub struct Plan {
    /// The steps, layer by layer.
    pub steps: Vec<Step>,
    /// Records that match already.
    pub unchanged: usize,
}

/// Compares the records with the documents. Nothing is changed.
pub async fn plan(client: &Client, documents: Vec<Document>) -> Outcome<Plan> {
    let layers = layers(&documents)?;
    let own: HashSet<_> = documents.iter().map(Document::name).collect();
    let mut others: Vec<Name> =
        documents.iter().flat_map(Document::references).map(|(_, name)| name).collect();
    others.retain(|name| !own.contains(name));
    let (states, absent) = look(client, &documents, others).await?;
    let mut findings = Findings::default();
    let mut steps = Vec::new();
    let mut unchanged = 0;
    for ((document, state), layer) in documents.into_iter().zip(states).zip(layers) {
        let drawn = match &state {
            Some(state) => change(&document, state, &mut findings),
            None => creation(&document, &mut findings),
        };
        match drawn {
            Some(drawn) => {
                check_references(&document, &drawn, state.is_none(), &absent, &mut findings);
                steps.push(drawn.into_step(document, state.is_none(), layer));
            }
            None => unchanged += 1,
        }
    }
    findings.settle()?;
    let rank = |step: &Step| KINDS.iter().position(|kind| kind.name == step.document.kind.name);
    steps.sort_by_key(|step| (step.layer, rank(step)));
    Ok(Plan { steps, unchanged })
}

/// Reads the records of the documents, and finds out which of the other records that they name are not there.
async fn look(
    client: &Client,
    documents: &[Document],
    others: Vec<Name>,
) -> Outcome<(Vec<Option<State>>, HashSet<Name>)> {
    let operations: Vec<_> = documents.iter().map(|d| reading(d.kind.read, &d.address())).collect();
    let results = client.operations(&operations).await?;
    let states = documents.iter().zip(results).map(|(document, result)| state(document, result));
    Ok((states.collect::<Outcome<_>>()?, absent(client, others).await?))
}

fn reading(meta: &Meta, address: &[&str]) -> String {
    operation(meta, address, None, None, None)
}

/// Those of the named records that the daemon does not have.
pub async fn absent(client: &Client, mut names: Vec<Name>) -> Outcome<HashSet<Name>> {
    names.retain(|name| *name != ("role", DEACTIVATED.to_owned()));
    names.sort();
    names.dedup();
    let read = |(kind, id): &Name| Some(reading(kinds::find(kind)?.read, &[id]));
    let operations: Vec<_> = names.iter().filter_map(read).collect();
    let found = client.operations(&operations).await?;
    let absent = names.into_iter().zip(found).filter(|(_, result)| result.status == 404);
    Ok(absent.map(|(name, _)| name).collect())
}

fn state(document: &Document, result: OperationResult) -> Outcome<Option<State>> {
    match result.status {
        200 => Ok(Some(State { value: json!(result.body), tag: result.etag })),
        404 => Ok(None),
        _ => {
            let problem = serde_json::from_value(json!(result.problem));
            let failure = problem.map_or_else(
                |_| Failure::local(format!("{} cannot be read", document.title())),
                Failure::problem,
            );
            Err(failure.adding(&format!(" ({})", document.place)))
        }
    }
}

/// The changes that a document requires.
#[derive(Default)]
struct Drawn {
    changed: Vec<String>,
    before: Value,
    after: Value,
    operations: Vec<String>,
    hashes: bool,
}

impl Drawn {
    fn into_step(self, document: Document, new: bool, layer: usize) -> Step {
        let Self { changed, mut before, mut after, operations, hashes } = self;
        hide(&mut before, &mut after, &document.hidden);
        let field = |name: String| Field { before: before[&name].clone(), after: after[&name].clone(), name };
        let fields = changed.into_iter().map(field).collect();
        Step { document, new, fields, before, after, operations, hashes, layer }
    }

    /// Adds an operation; the tag is that of the record before the first one.
    fn send(&mut self, document: &Document, meta: &Meta, tag: Option<&str>, body: Option<&Value>) {
        let tag = tag.filter(|_| self.operations.is_empty());
        let body = body.map(Value::to_string);
        let key = new_key();
        self.operations.push(operation(meta, &document.address(), Some(&key), tag, body.as_deref()));
    }
}

/// Plans a record that does not exist.
fn creation(document: &Document, findings: &mut Findings) -> Option<Drawn> {
    let kind = document.kind;
    let mut body = document.given.clone();
    for own in kind.own.iter().filter(|own| own.always) {
        if body.shift_remove(own.property).is_some_and(|value| !value.is_boolean() && !value.is_null()) {
            let field = format!("/{}", own.property);
            findings.add(&document.place, &field, &format!("{field} must be true or false"));
        }
    }
    let made = match kind.create.held(&Value::Object(body)) {
        Ok(made) => made,
        Err(failure) => {
            findings.refused(&document.place, &document.with_absent(failure));
            // Its references are still checked.
            json!({})
        }
    };
    let mut drawn = Drawn { before: json!({}), after: json!({}), ..Drawn::default() };
    if let (Some(name), Some(within)) = (kind.within, &document.within) {
        drawn.after[name] = json!(within);
    }
    drawn.send(document, kind.create.meta, None, Some(&made));
    for (name, given) in &document.given {
        let own = kind.own.iter().find(|own| own.always && own.property == name);
        let value = if own.is_some() { given } else { &made[name] };
        if value.is_null() {
            continue;
        }
        drawn.after[name] = value.clone();
        if name != kind.key {
            drawn.changed.push(name.clone());
        }
        if let Some((meta, body)) = own.filter(|_| value == &json!(true)).and_then(|own| (own.set)(value)) {
            drawn.send(document, meta, None, body.as_ref());
        }
    }
    drawn.hashes = kind.unseen.contains(&"password");
    Some(drawn)
}

/// A record that is there; nothing where it is as the document says.
fn change(document: &Document, state: &State, findings: &mut Findings) -> Option<Drawn> {
    let kind = document.kind;
    let shape = Shape::of(document.kind.create.meta);
    let shown = (kind.shown)(&state.value).unwrap_or_else(|_| state.value.clone());
    let mut wanted = shown.clone();
    for (name, value) in &document.given {
        wanted[name] = value.clone();
    }
    let wanted = match (kind.shown)(&wanted) {
        Ok(wanted) => wanted,
        Err(failure) => {
            findings.refused(&document.place, &failure);
            return None;
        }
    };
    let seen = |name: &&String| !kind.unseen.contains(&name.as_str());
    let differs = |name: &&String| !same(&shown[*name], &wanted[*name]);
    let changed: Vec<_> = document.given.keys().filter(seen).filter(differs).cloned().collect();
    if changed.is_empty() {
        return None;
    }
    let mut drawn = Drawn { before: json!({}), after: json!({}), ..Drawn::default() };
    let known = shape.properties().into_iter().chain(kind.own.iter().map(|own| own.property));
    for name in known.filter(|name| !kind.unseen.contains(name)) {
        for (record, side) in [(&shown, &mut drawn.before), (&wanted, &mut drawn.after)] {
            if !record[name].is_null() {
                side[name] = record[name].clone();
            }
        }
    }
    let mut body = shown.clone();
    let mut own_operations = Vec::new();
    let mut in_body = false;
    // Secrets are sent only where they change, and where a change needs them.
    shape.secrets().into_iter().for_each(|name| body[name] = Value::Null);
    for name in document.given.keys().filter(|name| changed.contains(name) || !seen(name)) {
        let value = &wanted[name];
        let own = kind.own.iter().find(|own| own.property == name);
        if let Some(operation) = own.and_then(|own| (own.set)(value)) {
            own_operations.push(operation);
            continue;
        }
        in_body |= changed.contains(name);
        body[name] = match value {
            // An empty text empties what null would keep.
            Value::Null if shape.column(name).is_ok_and(|column| column.kind == CellKind::Text) => json!(""),
            Value::Null => {
                let what = format!("/{name} of {} cannot be emptied once it is set", kind.name);
                findings.add(&document.place, &format!("/{name}"), &what);
                return None;
            }
            value => value.clone(),
        };
    }
    if in_body {
        match kind.changed(&body) {
            Ok(body) => drawn.send(document, kind.change.meta, state.tag.as_deref(), Some(&body)),
            Err(failure) => findings.refused(&document.place, &document.with_absent(failure)),
        }
        drawn.hashes = kind.within.is_some();
    }
    for (meta, body) in own_operations {
        drawn.send(document, meta, state.tag.as_deref().filter(|_| body.is_none()), body.as_ref());
    }
    drawn.changed = changed;
    Some(drawn)
}

/// Whether two values mean the same: amounts by their value, and nothing is the same as an empty text.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Null, Value::String(text)) | (Value::String(text), Value::Null) => text.is_empty(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => a
            .keys()
            .chain(b.keys())
            .all(|name| same(a.get(name).unwrap_or(&Value::Null), b.get(name).unwrap_or(&Value::Null))),
        (a, b) => output::same(a, b),
    }
}

/// Notes records that are named newly, and are neither in the files nor at the daemon.
fn check_references(
    document: &Document,
    drawn: &Drawn,
    new: bool,
    absent: &HashSet<Name>,
    findings: &mut Findings,
) {
    let mut noted = HashMap::new();
    for (property, name) in document.references() {
        let newly = new || drawn.changed.iter().any(|changed| changed == property);
        if newly && absent.contains(&name) && noted.insert(name.clone(), ()).is_none() {
            let (kind, id) = name;
            let what =
                format!("/{property} names {kind} \"{id}\", which is neither in the files nor at the daemon");
            let hint = format!("correct the name, or add a document of kind {kind}");
            findings.hint(&document.place, &format!("/{property}"), &what, hint);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_the_same_by_their_value_and_everything_else_by_its_text() {
        let value = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        for (a, b, expected) in [
            ("5", "5.00", true),
            ("5.01", "5.010", true),
            ("5", "5.01", false),
            ("123456789012345678901234567890123", "123456789012345678901234567890124", false),
            ("null", "\"\"", true),
            ("null", "\" \"", false),
            ("{\"a\":1,\"b\":null}", "{\"a\":1.0}", true),
            ("[1,2]", "[2,1]", false),
            ("\"5\"", "5", false),
        ] {
            assert_eq!(same(&value(a), &value(b)), expected, "{a} {b}");
        }
    }
}
