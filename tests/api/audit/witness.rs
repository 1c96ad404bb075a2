//! A witness that watches every change and compares its audit records with what reads show.

use super::of;
use crate::support::world::{Seen, World};
use mfa_shared::api::kinds;
use mfa_shared::endpoint::{Meta, render, segments};
use mfa_shared::kind::ShownBy;
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// Operations whose record is about something that no single read shows, and what that is.
const APART: &[(&str, &str)] = &[
    ("SetUserPassword", "/password"),
    ("UpdateTeller", "/password"),
    ("CreateDenomination", "/denominations"),
    ("DistributeDividend", "/dividends"),
    ("SetOfficeReference", "/references"),
    ("TestEmailConfiguration", "/to"),
    ("TestSmsConfiguration", "/to"),
];

/// The known records, as they were when they were last read.
#[derive(Default)]
pub struct Witness {
    known: RefCell<BTreeMap<String, Value>>,
}

/// What a read shows of a record; null if it is missing, `None` if no read shows it as one JSON text.
fn shown(world: &World, resource: &str) -> Option<Value> {
    let mut words = resource.split('/');
    let noun = words.next()?;
    let kind = kinds().find(|kind| kind.name == noun)?;
    let ShownBy::Row(_) = kind.shown_by else { return None };
    if noun == "portrait" {
        return None;
    }
    let params: Vec<_> = words.collect();
    let template: String = segments(kind.path)
        .fold(String::new(), |path, segment| path + "/" + if segment == "{}" { "{p}" } else { segment });
    let seen = world.get(&render(&template, &params));
    Some(match seen.status {
        404 => Value::Null,
        _ => covered(noun, seen.is(200).json()),
    })
}

/// Without what the trail never shows.
fn covered(noun: &str, mut record: Value) -> Value {
    // Each of them has a secret, which reads show as null.
    for (kind, secret) in [("teller", "password"), ("webhook", "secret")] {
        if noun == kind {
            record[secret] = json!("***");
        }
    }
    for secret in ["app_password", "auth_token", "publicKeyMod", "publicKeyExp"] {
        if let Some(secret) = record.get_mut(secret).filter(|secret| !secret.is_null()) {
            *secret = json!("***");
        }
    }
    record
}

impl Witness {
    /// Reads every known record.
    pub fn look(&self, world: &World) {
        world.get("/audit?size=1").is(200);
        for (resource, last) in self.known.borrow_mut().iter_mut() {
            *last = shown(world, resource).unwrap_or_default();
        }
        // A read of a secret is recorded after its answer; that must be written now, not while others compare
        // files.
        world.get("/audit?size=1").is(200);
    }

    /// Compares what the trail says of a change with what is seen of it.
    #[track_caller]
    pub fn hear(&self, world: &World, row: &Meta, path: &str, (tried, done): (&Seen, &Seen)) {
        let name = row.name;
        assert_eq!(of(world, tried), Vec::<Value>::new(), "a dry run of {name}");
        let records = of(world, done);
        assert_eq!(records.len(), 1, "{name}: {records:?}");
        let record = &records[0];
        if name == "SendBatch" {
            assert_eq!((&record["operation"], &record["batchIndex"]), (&json!("CreateCustomer"), &json!(0)));
            assert_eq!(record["resource"], "customer/c-9");
            return;
        }
        let path = path.split('?').next().unwrap();
        let said = ["operation", "method", "path", "outcome", "status", "actor", "origin"];
        let said = said.map(|field| record[field].clone());
        let expected = [
            json!(name),
            json!(row.method.as_str()),
            json!(path),
            json!("DONE"),
            json!(done.status),
            json!("guest"),
            json!("127.0.0.1"),
        ];
        assert_eq!(said, expected);
        assert!(
            record["application"].is_null() && record["code"].is_null() && record["batchIndex"].is_null()
        );
        self.compare(world, record, name);
    }

    #[track_caller]
    fn compare(&self, world: &World, record: &Value, name: &str) {
        let resource = record["resource"].as_str().unwrap_or_else(|| panic!("{name} is about nothing"));
        let mut changes = record["changes"].as_array().unwrap().clone();
        for (operation, field) in APART.iter().filter(|(operation, _)| *operation == name) {
            let at = changes.iter().position(|change| change["field"] == *field);
            changes.remove(at.unwrap_or_else(|| panic!("{operation} says nothing of {field}: {record}")));
        }
        let mut known = self.known.borrow_mut();
        let Some(now) = shown(world, resource) else { return };
        let made = changes.first().is_some_and(|change| change["field"] == "");
        let Some(before) = known.insert(resource.to_owned(), now.clone()).or(made.then_some(Value::Null))
        else {
            // It was not read before.
            return;
        };
        let mut built = before.clone();
        for change in &changes {
            let field = change["field"].as_str().unwrap();
            assert_eq!(before.pointer(field).unwrap_or(&Value::Null), &change["before"], "{name}: {record}");
            match built.pointer_mut(field) {
                Some(place) => *place = change["after"].clone(),
                None => panic!("{name} changes {field}, which is not there: {record}"),
            }
        }
        assert_eq!(built, now, "{name}: {record}");
    }
}
