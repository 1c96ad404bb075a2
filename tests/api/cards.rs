//! `customers.md` section 6, and the card parts of sections 1.1 and 9.

use crate::support::world::World;
use serde_json::{Value, json};

const CARD: &str = r#"{"type":"National","number":"GHA-724301-8","expirationDate":{"year":2031,"month":8,"day":14},"issuer":"National Identification Authority"}"#;

fn world() -> World {
    let world = World::start();
    for customer in ["c-1", "c-2"] {
        world.post("/customers", json!({ "identifier": customer }).to_string()).is(202);
    }
    world
}

fn card(number: &str) -> String {
    let date = json!({ "year": 1999, "month": 2, "day": 28 });
    json!({ "type": "National", "number": number, "expirationDate": date }).to_string()
}

#[test]
fn a_card_is_read_as_it_was_recorded() {
    let world = world();
    let claims = r#","createdBy":"me","createdOn":"2000-01-01T00:00:00Z","lastModifiedBy":"me"}"#;
    world.post("/customers/c-1/identifications", format!("{}{claims}", &CARD[..CARD.len() - 1])).is(202);
    let audit = r#","createdBy":"guest","createdOn":"2031-05-06T07:08:09.123Z","lastModifiedBy":null,"lastModifiedOn":null}"#;
    let shown = format!("{}{audit}", &CARD[..CARD.len() - 1]);
    assert_eq!(world.get("/customers/c-1/identifications/GHA-724301-8").is(200).text(), shown);
    assert_eq!(world.get("/customers/c-1/identifications").is(200).text(), format!("[{shown}]"));
    assert_eq!(world.get("/customer/v1/customers/c-2/identifications/").is(200).text(), "[]");
}

#[test]
fn each_bad_field_of_a_card_is_named() {
    let world = world();
    for (pointer, value, expected) in [
        ("/type", Value::Null, "/type required"),
        ("/type", json!(" "), "/type blank"),
        ("/type", json!("x".repeat(129)), "/type too_long"),
        ("/number", Value::Null, "/number required"),
        ("/number", json!(""), "/number blank"),
        ("/number", json!("."), "/number bad_characters"),
        ("/number", json!(".."), "/number bad_characters"),
        ("/number", json!("a\u{7f}"), "/number bad_characters"),
        ("/number", json!("x".repeat(33)), "/number too_long"),
        ("/number", json!(7), "/number wrong_type"),
        ("/expirationDate", Value::Null, "/expirationDate required"),
        ("/expirationDate", json!("2031-08-14"), "/expirationDate wrong_type"),
        ("/expirationDate/month", json!(13), "/expirationDate/month out_of_range"),
        ("/expirationDate/month", json!(0), "/expirationDate/month out_of_range"),
        ("/expirationDate/day", json!(0), "/expirationDate/day out_of_range"),
        ("/expirationDate/day", json!(32), "/expirationDate/day out_of_range"),
        ("/expirationDate/day", Value::Null, "/expirationDate/day required"),
        ("/expirationDate/year", json!(999), "/expirationDate/year out_of_range"),
        ("/expirationDate/year", json!(10000), "/expirationDate/year out_of_range"),
        ("/expirationDate", json!({"year": 2031, "month": 2, "day": 30}), "/expirationDate impossible_date"),
        ("/issuer", json!("x".repeat(257)), "/issuer too_long"),
    ] {
        let mut body: Value = serde_json::from_str(CARD).unwrap();
        *body.pointer_mut(pointer).unwrap() = value;
        world.post("/customers/c-1/identifications", body.to_string()).fields(&[expected]);
        world.put("/customers/c-1/identifications/none", body.to_string()).fields(&[expected]);
    }
    assert_eq!(world.get("/customers/c-1/identifications").text(), "[]");
}

#[test]
fn a_number_is_unique_over_all_customers_and_free_after_a_deletion() {
    let world = world();
    let add = |customer: &str, number: &str| {
        world.post(&format!("/customers/{customer}/identifications"), card(number))
    };
    add("c-1", "A-1").is(202);
    let refused = add("c-2", "A-1").refused(409, "card_number_taken").json();
    assert!(!refused["detail"].as_str().unwrap().contains("c-1"), "{refused}");
    add("c-1", "A-1").refused(409, "card_number_taken");
    add("c-2", "a-1").is(202);
    add("none", "A-1").refused(404, "customer_not_found");
    world.delete("/customers/c-1/identifications/A-1").is(202);
    add("c-2", "A-1").is(202);
    world.get("/customers/c-1/identifications/A-1").refused(404, "card_not_found");
}

#[test]
fn one_of_many_simultaneous_cards_with_a_number_wins() {
    let world = world();
    let request = |i: usize| {
        let path = format!("/customers/c-{}/identifications", i % 2 + 1);
        world.request("POST", &path).body(card("A-1"))
    };
    let mut statuses: Vec<_> =
        world.send_all((0..20).map(request).collect()).iter().map(|seen| seen.status).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [[202].as_slice(), &[409; 19]].concat());
}

#[test]
fn cards_are_listed_in_the_order_in_which_they_were_recorded() {
    let world = world();
    for number in ["z", "a", "m", "A"] {
        world.post("/customers/c-1/identifications", card(number)).is(202);
    }
    world.delete("/customers/c-1/identifications/a").is(202);
    world.post("/customers/c-1/identifications", card("a")).is(202);
    world.put("/customers/c-1/identifications/z", card("z")).is(202);
    let listed = world.get("/customers/c-1/identifications").json();
    let numbers: Vec<_> = listed.as_array().unwrap().iter().map(|c| c["number"].clone()).collect();
    assert_eq!(numbers, ["z", "m", "A", "a"]);
    let lines = world.request("GET", "/customers/c-1/identifications");
    assert_eq!(world.send(lines.header("accept", "application/x-ndjson")).text().lines().count(), 4);
    world.get("/customers/none/identifications").refused(404, "customer_not_found");
}

#[test]
fn a_number_with_a_slash_is_encoded_in_the_path() {
    let world = world();
    world.post("/customers/c-1/identifications", card("GH/7 ä%")).is(202);
    let path = "/customers/c-1/identifications/GH%2F7%20%C3%A4%25";
    assert_eq!(world.get(path).is(200).json()["number"], "GH/7 ä%");
    world.put(path, card("GH/7 ä%")).is(202);
    world.delete(path).is(202);
}

#[test]
fn a_card_is_known_only_under_its_own_customer() {
    let world = world();
    world.post("/customers/c-1/identifications", card("A-1")).is(202);
    for (path, code) in [
        ("/customers/c-2/identifications/A-1", "card_not_found"),
        ("/customers/c-1/identifications/A-2", "card_not_found"),
        ("/customers/c-1/identifications/A-1%00c-1", "card_not_found"),
        ("/customers/none/identifications/A-1", "customer_not_found"),
    ] {
        world.get(path).refused(404, code);
        world.put(path, card("other")).refused(404, code);
        world.delete(path).refused(404, code);
    }
}

#[test]
fn a_change_replaces_type_date_and_issuer() {
    let world = world();
    world.post("/customers/c-1/identifications", CARD).is(202);
    world.clock.advance(60);
    let path = "/customers/c-1/identifications/GHA-724301-8";
    world.put(path, card("A-2")).refused(400, "identifier_mismatch");
    let stale = world.request("PUT", path).header("if-match", "\"old\"").body(card("A-2"));
    world.send(stale).refused(412, "precondition_failed");
    let tag = world.get(path).header("etag");
    let fresh = world.request("PUT", path).header("if-match", &tag);
    world.send(fresh.body(card("GHA-724301-8"))).is(202);
    let read = world.get(path).json();
    let expected = json!({
        "type": "National", "number": "GHA-724301-8", "issuer": null,
        "expirationDate": { "year": 1999, "month": 2, "day": 28 },
        "createdBy": "guest", "createdOn": "2031-05-06T07:08:09.123Z",
        "lastModifiedBy": "guest", "lastModifiedOn": "2031-05-06T07:09:09.123Z",
    });
    assert_eq!(read, expected);
    let stale = world.request("DELETE", path).header("if-match", &tag);
    world.send(stale).refused(412, "precondition_failed");
    world.delete(path).is(202);
    world.delete(path).refused(404, "card_not_found");
}

#[test]
fn recording_changing_and_removing_a_card_changes_its_customer() {
    let world = world();
    let path = "/customers/c-1/identifications/A-1";
    let modified = || world.get("/customers/c-1").json()["lastModifiedOn"].clone();
    assert_eq!(modified(), Value::Null);
    world.post("/customers/c-1/identifications", card("A-1")).is(202);
    assert_eq!(modified(), "2031-05-06T07:08:09.123Z");
    world.clock.advance(1);
    world.put(path, card("A-1")).is(202);
    assert_eq!(modified(), "2031-05-06T07:08:10.123Z");
    world.clock.advance(1);
    world.delete(path).is(202);
    assert_eq!(modified(), "2031-05-06T07:08:11.123Z");
    assert_eq!(world.get("/customers/c-1").json()["lastModifiedBy"], "guest");
    assert_eq!(world.get("/customers/c-2").json()["lastModifiedOn"], Value::Null);
}
