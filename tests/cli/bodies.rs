//! Bodies from files: `create` and `update` with `--from`.

use crate::support::run::{run, run_with};
use crate::support::sample::sample;
use crate::support::world::World;
use serde_json::{Value, json};

/// A record of each noun that is changed from a file: its address, and the words after `get` and `update`.
const RECORDS: &[(&str, &str, &str)] = &[
    ("/offices/market", "offices", "market"),
    ("/employees/kojo", "employees", "kojo"),
    ("/customers/c-001", "customers", "c-001"),
    ("/customers/c-001/identifications/GHA-001122334-5", "cards", "c-001 GHA-001122334-5"),
    ("/roles/counter", "roles", "counter"),
    ("/permittablegroups/see-customers", "groups", "see-customers"),
    ("/definitions/shares", "products", "shares"),
    ("/configuration/email/main", "gateways email", "main"),
    ("/configuration/sms/main", "gateways sms", "main"),
];

/// Words of a line, and a body for it on standard input.
fn words<'a>(noun: &'a str, verb: &'a str, id: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let mut words: Vec<_> = noun.split(' ').chain([verb]).chain(id.split(' ')).collect();
    words.extend_from_slice(more);
    words
}

#[test]
fn what_a_read_has_printed_can_be_given_back() {
    let world = World::start();
    sample(&world);
    for (path, noun, id) in RECORDS {
        let before = world.get(path).is(200).json();
        for format in ["json", "yaml"] {
            // A secret is masked in it, which does not make the mask the secret.
            let printed = run(world.mfa(&words(noun, "get", id, &["-o", format]))).ok();
            run_with(world.mfa(&words(noun, "update", id, &["--from", "-", "-o", "id"])), &printed).ok();
        }
        // Only who changed it last, and when, may differ.
        let found = |mut record: Value| {
            record.as_object_mut().unwrap().retain(|name, _| !name.starts_with("lastModified"));
            record
        };
        assert_eq!(found(world.get(path).is(200).json()), found(before), "{noun}");
    }
}

#[test]
fn a_name_that_a_record_does_not_have_is_refused_and_nothing_changes() {
    let world = World::start();
    sample(&world);
    for (path, noun, id) in RECORDS {
        let before = world.get(path).is(200).text();
        let mut body: Value = serde_json::from_str(&before).unwrap();
        let right = body.as_object().unwrap().keys().next().unwrap().clone();
        let wrong = format!("{right}s");
        body[&wrong] = json!("x");
        let said =
            run_with(world.mfa(&words(noun, "update", id, &["--from", "-"])), &body.to_string()).fails(2);
        let expected = format!(
            "error: there is no field /{wrong}, which is in standard input\nhint: did you mean {right}?\n"
        );
        assert_eq!(said, expected);
        assert_eq!(world.get(path).text(), before, "{noun}");
    }
}

#[test]
fn a_mistyped_name_is_found_in_every_body_and_at_any_depth() {
    let world = World::start();
    sample(&world);
    let file = world.dir.path().join("body.json");
    let refused = |line: &str, body: Value, field: &str, hint: &str| {
        std::fs::write(&file, body.to_string()).unwrap();
        let words: Vec<_> = line.split(' ').chain(["--from", file.to_str().unwrap()]).collect();
        let said = run(world.mfa(&words)).fails(2);
        let expected =
            format!("error: there is no field {field}, which is in {}\nhint: {hint}\n", file.display());
        assert_eq!(said, expected, "{line}");
    };
    let contact = |name: &str| json!([{ "type": "EMAIL", "group": "PRIVATE", "value": "a", name: 1 }]);
    let near = "did you mean city?";
    refused(
        "customers create",
        json!({ "identifier": "c-9", "surnmae": "A" }),
        "/surnmae",
        "did you mean surname?",
    );
    refused("customers update c-001", json!({ "address": { "citty": "A" } }), "/address/citty", near);
    let level = "did you mean preferenceLevel?";
    let body = json!({ "identifier": "c-9", "contactDetails": contact("preferenceLevl") });
    refused("customers create", body, "/contactDetails/0/preferenceLevl", level);
    refused("customers contacts set c-001", contact("preferenceLevl"), "/0/preferenceLevl", level);
    refused("customers address set c-001", json!({ "citty": "A" }), "/citty", near);
    refused("offices address set market", json!({ "citty": "A" }), "/citty", near);
    refused("offices create", json!({ "identifier": "o-9", "nmae": "A" }), "/nmae", "did you mean name?");
    refused(
        "employees contacts set kojo",
        contact("x"),
        "/0/x",
        "the fields are type, group, value, preferenceLevel",
    );
    refused(
        "accounts create",
        json!({ "productIdentifer": "A" }),
        "/productIdentifer",
        "did you mean productIdentifier?",
    );
    refused("actions create", json!({ "nmae": "A" }), "/nmae", "did you mean name?");
    refused(
        "gateways sms create",
        json!({ "auth_tokn": "A", "auth_token": "B" }),
        "/auth_tokn",
        "did you mean auth_token?",
    );
    assert!(!world.get("/customers?includeClosed=true").text().contains("c-9"));
    // What is right in one object is wrong in another.
    refused(
        "employees update kojo",
        json!({ "dateOfBirth": null }),
        "/dateOfBirth",
        "the fields are identifier, givenName, middleName, surname, assignedOffice, contactDetails",
    );
}
