//! `GET /search` (`decisions.md` section 7): whole records by words, as people speak.

use super::definitions::PRODUCT;
use crate::support::guarded::may;
use crate::support::world::{Seen, World};
use serde_json::{Value, json};

fn search(world: &World, query: &str) -> Seen {
    world.get(&format!("/search?{query}"))
}

/// `kind identifier` of each hit.
fn hits(seen: &Seen) -> Vec<String> {
    let hits = seen.json()["hits"].clone();
    let line =
        |hit: &Value| format!("{} {}", hit["kind"].as_str().unwrap(), hit["identifier"].as_str().unwrap());
    hits.as_array().unwrap().iter().map(line).collect()
}

fn found(world: &World, text: &str) -> Vec<String> {
    let query = reqwest::Url::parse_with_params("http://x/", [("text", text)]).unwrap();
    hits(&search(world, query.query().unwrap()).is(200))
}

fn customer(world: &World, identifier: &str, given: &str, surname: &str, more: Value) {
    let mut body = json!({ "identifier": identifier, "givenName": given, "surname": surname });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    world.post("/customers", body.to_string()).is(202);
}

fn institution() -> World {
    let world = World::start();
    world.post("/offices", json!({ "identifier": "market", "name": "Makola Market" }).to_string()).is(202);
    let contacts = json!({ "assignedOffice": "market", "contactDetails": [
        { "type": "PHONE", "group": "PRIVATE", "value": "+233 (24) 123-4567" },
        { "type": "EMAIL", "group": "PRIVATE", "value": "Akosua@Mail.example" },
    ]});
    customer(&world, "c-001", "Akosua", "Frimpong", contacts);
    customer(&world, "c-002", "Jörg", "Söhne-Weiß", json!({}));
    customer(&world, "c-003", "Ama", "O’Brien", json!({}));
    customer(&world, "c-004", "Ama", "Frimpong", json!({}));
    customer(&world, "c-005", "Ama", "Frimpomaa", json!({}));
    let card = json!({
        "type": "PASSPORT", "number": "GHA-7712",
        "expirationDate": { "year": 2099, "month": 1, "day": 1 }, "issuer": "Accra"
    });
    world.post("/customers/c-003/identifications", card.to_string()).is(202);
    world.post("/definitions", PRODUCT).is(202);
    let account = json!({ "customerIdentifier": "c-001", "productIdentifier": "savings" });
    world.post("/instances", account.to_string()).is(202);
    world
}

#[test]
fn every_word_is_found_in_some_field_in_any_order() {
    let world = institution();
    let account = "account c-001.9100.00001";
    for (text, expected) in [
        ("akosua frimpong", &["customer c-001", account][..]),
        ("FRIMPONG akosua", &["customer c-001", account]),
        ("frimpong", &["customer c-001", account, "customer c-004"]),
        ("ama frimp", &["customer c-005", "customer c-004"]),
        ("frimpong mail.example", &["customer c-001"]),
        ("sohne weiss", &["customer c-002"]),
        ("SÖHNEWEISS jorg", &["customer c-002"]),
        ("obrien", &["customer c-003"]),
        ("o'brien", &["customer c-003"]),
        ("gha7712 ama", &["customer c-003"]),
        ("+233 24 123 4567", &["customer c-001"]),
        ("1234567", &["customer c-001"]),
        ("c-001.9100.00001", &[account, "customer c-001"]),
        ("makola", &["office market"]),
        ("akosua mensah", &[]),
        ("%", &[]),
        ("-", &[]),
    ] {
        assert_eq!(found(&world, text), expected, "{text}");
    }
}

#[test]
fn the_best_come_first_and_closed_ones_behind_open_ones_of_the_same_rank() {
    let world = World::start();
    for (identifier, given, surname) in [
        ("ama", "Zita", "Addo"),
        ("c-1", "Ama", "Zoe"),
        ("c-2", "Ama", "Addo"),
        ("c-3", "Amanda", "Addo"),
        ("c-4", "Adama", "Addo"),
        ("c-5", "Ama", "Aaba"),
    ] {
        customer(&world, identifier, given, surname, json!({}));
    }
    world.post("/customers/c-5/commands", json!({ "action": "CLOSE" }).to_string()).is(202);
    let order = ["ama", "c-2", "c-1", "c-5", "c-3", "c-4"].map(|identifier| format!("customer {identifier}"));
    assert_eq!(found(&world, "ama"), order);
    let seen = search(&world, "text=ama&size=2&kind=customer").is(200);
    assert_eq!(hits(&seen), order[..2]);
    assert_eq!(
        seen.json()["hits"][1],
        json!({
            "kind": "customer", "identifier": "c-2", "label": "Ama Addo", "state": "PENDING", "office": null,
            "matched": ["givenName"], "near": false
        })
    );
}

#[test]
fn long_words_may_differ_in_a_letter_only_if_nothing_has_them_exactly() {
    let world = institution();
    for (text, expected) in [
        ("frimpang akosua", &["customer c-001", "account c-001.9100.00001"][..]),
        ("firmpong akosau", &["customer c-001", "account c-001.9100.00001"]),
        ("frimpomma", &["customer c-005"]),
        ("amaa", &[]),
        ("gha-7721", &[]),
    ] {
        let query = format!("text={}", text.replace(' ', "+"));
        let seen = search(&world, &query);
        assert_eq!(hits(&seen), expected, "{text}");
        assert!(seen.json()["hits"].as_array().unwrap().iter().all(|hit| hit["near"] == true), "{text}");
    }
}

#[test]
fn acknowledged_changes_are_found_at_once_with_their_present_state() {
    let world = institution();
    assert_eq!(found(&world, "mensah"), Vec::<String>::new());
    let body = json!({ "identifier": "c-004", "givenName": "Ama", "surname": "Mensah" });
    world.put("/customers/c-004", body.to_string()).is(202);
    assert_eq!(found(&world, "mensah"), ["customer c-004"]);
    assert_eq!(found(&world, "ama frimpong"), Vec::<String>::new());
    for number in 0..40 {
        let identifier = format!("n-{number:02}");
        customer(&world, &identifier, "Kojo", &format!("Surname{number}"), json!({}));
        assert_eq!(found(&world, &format!("kojo surname{number}"))[0], format!("customer {identifier}"));
    }
    world.post("/employees", json!({ "identifier": "efua", "surname": "Sarpong" }).to_string()).is(202);
    assert_eq!(found(&world, "sarpong"), ["employee efua"]);
    world.delete("/employees/efua").is(202);
    assert_eq!(found(&world, "sarpong"), Vec::<String>::new());
    world.delete("/customers/c-003/identifications/GHA-7712").is(202);
    assert_eq!(found(&world, "gha7712"), Vec::<String>::new());
}

#[test]
fn an_account_is_found_also_while_its_customer_does_not_exist() {
    let mut world = institution();
    let account = json!({ "customerIdentifier": "c-900", "productIdentifier": "savings" });
    world.post("/instances", account.to_string()).is(202);
    for restarted in [false, true] {
        if restarted {
            world.restart();
        }
        let seen = search(&world, "text=c-900.9100").is(200).json();
        let expected = json!({
            "kind": "account", "identifier": "c-900.9100.00001", "label": "c-900", "state": "PENDING",
            "office": null, "matched": ["accountIdentifier"], "near": false
        });
        assert_eq!(seen["hits"], json!([expected]), "restarted: {restarted}");
        // A customer that exists is found by the numbers of its accounts, too.
        assert_eq!(found(&world, "9100").len(), 3);
        assert!(hits(&search(&world, "text=c-900&kind=customer").is(200)).is_empty());
    }
    customer(&world, "c-900", "Yaa", "Asantewaa", json!({}));
    let both = ["customer c-900", "account c-900.9100.00001"];
    assert_eq!(found(&world, "asantewaa"), both);
    assert_eq!(found(&world, "c-900"), both);
}

#[test]
fn only_kinds_that_the_caller_may_read_are_searched() {
    let world = World::guarded();
    let olga = world.login("olga");
    olga.post("/customers", json!({ "identifier": "kente-1", "surname": "Kente" })).is(202);
    olga.post("/offices", json!({ "identifier": "kente", "name": "Kente" })).is(202);
    world.get("/search?text=kente").refused(401, "unauthenticated");
    assert_eq!(hits(&olga.get("/search?text=kente")), ["office kente", "customer kente-1"]);
    let reader = world.user_with("ama", &[may("customer__v1__customer", "R")]);
    let seen = reader.get("/search?text=kente");
    assert_eq!(hits(&seen), ["customer kente-1"]);
    assert_eq!(seen.header("left-out"), "employee, office, account");
    let nobody = world.user_with("yaw", &[may("identity__v1__users", "R")]);
    assert_eq!(hits(&nobody.get("/search?text=kente")), Vec::<String>::new());
}

#[test]
fn bad_parameters_are_refused() {
    let world = World::start();
    let long = format!("text={}", "a".repeat(257));
    for query in [
        "",
        "text=",
        &long,
        "text=a&kind=plant",
        "text=a&size=0",
        "text=a&size=51",
        "text=a&text=b",
        "text=%FF",
    ] {
        search(&world, query).refused(400, "invalid_parameter");
    }
    let longest = format!("text={}", "a".repeat(256));
    for query in [longest.as_str(), "text=a&kind=customer&kind=office", "text=a&kind=customer,office&size=50"]
    {
        search(&world, query).is(200);
    }
}
