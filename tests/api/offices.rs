//! `organisation.md` sections 1 and 2.

use crate::support::world::World;
use serde_json::{Value, json};

const ADDRESS: &str = r#"{"street":"12 Market Road","city":"Accra","region":"Greater Accra","postalCode":"GA-184","countryCode":"GH","country":"Ghana"}"#;

fn office(identifier: &str) -> String {
    json!({ "identifier": identifier, "name": "Name", "description": "Text" }).to_string()
}

fn accra() -> World {
    let world = World::start();
    world.post("/offices", office("accra")).is(202);
    world
}

#[test]
fn an_office_is_read_as_it_was_created() {
    let world = World::start();
    let new =
        format!(r#"{{"identifier":"accra","name":"Accra","description":"","address":{ADDRESS},"colour":1}}"#);
    let created = world.post("/offices", new).is(202);
    assert_eq!((created.text(), created.header("content-length")), (String::new(), "0".to_owned()));
    let read = world.get("/offices/accra").is(200);
    assert_eq!(read.header("content-type"), "application/json;charset=UTF-8");
    let expected = format!(
        r#"{{"identifier":"accra","name":"Accra","description":"","parentIdentifier":null,"address":{ADDRESS},"externalReferences":false}}"#
    );
    assert_eq!(read.text(), expected);
}

#[test]
fn each_bad_field_of_an_office_is_named() {
    let world = World::start();
    let with = |field: &str, value: Value| {
        let mut office = json!({ "identifier": "accra", "name": "Accra" });
        office[field] = value;
        office.to_string()
    };
    for (identifier, code) in [
        (json!("x"), "too_short"),
        (json!(""), "too_short"),
        (json!("a b"), "bad_characters"),
        (json!("a/b"), "bad_characters"),
        (json!("a~b"), "bad_characters"),
        (json!("ä1"), "bad_characters"),
        (json!(".."), "bad_characters"),
        (json!("."), "bad_characters"),
        (json!("a".repeat(33)), "too_long"),
        (Value::Null, "required"),
        (json!(5), "wrong_type"),
    ] {
        world.post("/offices", with("identifier", identifier)).fields(&[&format!("/identifier {code}")]);
    }
    world.post("/offices", r#"{"name":"Accra"}"#).fields(&["/identifier required"]);
    for (name, code) in [
        (Value::Null, "required"),
        (json!("  "), "blank"),
        (json!(""), "blank"),
        (json!("x".repeat(257)), "too_long"),
        (json!("a\nb"), "bad_characters"),
    ] {
        world.post("/offices", with("name", name)).fields(&[&format!("/name {code}")]);
    }
    for (code, expected) in
        [("GHA", "too_long"), ("G", "too_short"), ("", "too_short"), ("G-", "bad_characters")]
    {
        let mut address: Value = serde_json::from_str(ADDRESS).unwrap();
        address["countryCode"] = json!(code);
        let answer = world.post("/offices", with("address", address));
        answer.fields(&[&format!("/address/countryCode {expected}")]);
    }
    world.post("/offices", with("address", json!("here"))).fields(&["/address wrong_type"]);
    world.get("/offices/accra").refused(404, "office_not_found");
}

#[test]
fn all_bad_fields_are_reported_at_once_in_the_order_of_the_body() {
    let world = World::start();
    let body = r#"{"address":{"city":"A","countryCode":"GHA","street":" "},"name":7,"description":"\u0000"}"#;
    world.post("/offices", body).fields(&[
        "/address/countryCode too_long",
        "/address/street blank",
        "/address/country required",
        "/name wrong_type",
        "/description bad_characters",
        "/identifier required",
    ]);
}

#[test]
fn a_change_keeps_what_is_null_and_empties_what_is_empty() {
    let world = accra();
    world.put("/offices/accra/address", ADDRESS).is(202);
    world.put("/offices/accra", r#"{"identifier":"accra"}"#).is(202);
    let kept = world.get("/offices/accra").json();
    assert_eq!(
        (&kept["name"], &kept["description"], &kept["address"]["city"]),
        (&json!("Name"), &json!("Text"), &json!("Accra"))
    );
    world.put("/offices/accra", r#"{"identifier":"accra","name":"New","description":""}"#).is(202);
    let changed = world.get("/offices/accra").json();
    assert_eq!((&changed["name"], &changed["description"]), (&json!("New"), &json!("")));
}

#[test]
fn the_checks_of_a_change_come_in_their_order() {
    let world = accra();
    world.post("/offices/accra", office("east")).is(202);
    world.put("/offices/none", r#"{"identifier":"x"}"#).fields(&["/identifier too_short"]);
    world.put("/offices/none", r#"{"identifier":"other"}"#).refused(404, "office_not_found");
    let stale = world.request("PUT", "/offices/accra").header("if-match", "\"old\"");
    world.send(stale.body(r#"{"identifier":"other"}"#)).refused(412, "precondition_failed");
    world
        .put("/offices/accra", r#"{"identifier":"other","parentIdentifier":"no"}"#)
        .refused(400, "identifier_mismatch");
    world
        .put("/offices/accra", r#"{"identifier":"accra","parentIdentifier":"east"}"#)
        .refused(400, "parent_mismatch");
    world.put("/offices/east", r#"{"identifier":"east","parentIdentifier":"accra"}"#).is(202);
}

#[test]
fn branches_belong_to_their_parent() {
    let world = accra();
    world.post("/offices/none", office("east")).refused(404, "office_not_found");
    let elsewhere = r#"{"identifier":"east","name":"East","parentIdentifier":"kumasi"}"#;
    world.post("/offices/accra", elsewhere).refused(400, "parent_mismatch");
    world.post("/offices", elsewhere).refused(400, "unknown_reference");
    world.post("/offices/accra", office("accra")).refused(409, "identifier_taken");
    world.post("/offices/accra", office("east")).is(202);
    world.post("/offices", r#"{"identifier":"west","name":"W","parentIdentifier":"accra"}"#).is(202);
    world.post("/offices/east", office("far")).is(202);
    let page = world.get("/offices/accra/branches").json();
    assert_eq!((&page["totalPages"], &page["totalElements"]), (&json!(1), &json!(2)));
    assert_eq!(page["offices"][0]["identifier"], "east");
    assert_eq!(
        (&page["offices"][1]["identifier"], &page["offices"][1]["parentIdentifier"]),
        (&json!("west"), &json!("accra"))
    );
    let all = world.get("/offices").json();
    assert_eq!(all["totalElements"], 4);
    world.get("/offices/none/branches").refused(404, "office_not_found");
}

#[test]
fn an_identifier_is_taken_once() {
    let world = accra();
    world.post("/offices", office("accra")).refused(409, "identifier_taken");
    world.post("/offices", office("Accra")).is(202);
}

#[test]
fn the_address_has_its_own_endpoint() {
    let world = accra();
    let none = world.get("/offices/accra/address").is(204);
    assert_eq!(none.header("etag"), world.get("/offices/accra").header("etag"));
    world
        .put("/offices/accra/address", r#"{"street":"S","city":"C","countryCode":"GH"}"#)
        .fields(&["/country required"]);
    world.put("/offices/none/address", ADDRESS).refused(404, "office_not_found");
    world.put("/offices/accra/address", ADDRESS).is(202);
    assert_eq!(world.get("/offices/accra/address").is(200).text(), ADDRESS);
    let short = r#"{"street":"S","city":"C","countryCode":"GH","country":"Ghana"}"#;
    world.put("/offices/accra/address", short).is(202);
    assert_eq!(world.get("/offices/accra/address").json()["region"], Value::Null);
    world.delete("/offices/accra/address").is(202);
    world.delete("/offices/accra/address").is(202);
    world.get("/offices/accra/address").is(204);
    world.delete("/offices/none/address").refused(404, "office_not_found");
}

#[test]
fn a_reference_is_set_by_its_type_and_withdrawn_by_its_state() {
    let world = accra();
    let set = |body: &str| world.put("/offices/accra/references", body);
    set(r#"{"type":"pay roll","state":"OPEN"}"#).fields(&["/state unknown_value"]);
    set(r#"{"type":"","state":null}"#).fields(&["/type blank", "/state required"]);
    set(r#"{"type":"pay roll","state":"active"}"#).is(202);
    set(r#"{"type":"Audit","state":"INACTIVE"}"#).is(202);
    let listed = world.get("/offices/accra/references").is(200).text();
    assert_eq!(listed, r#"[{"type":"Audit","state":"INACTIVE"},{"type":"pay roll","state":"ACTIVE"}]"#);
    assert_eq!(world.get("/offices/accra").json()["externalReferences"], true);
    set(r#"{"type":"pay roll","state":"INACTIVE"}"#).is(202);
    assert_eq!(world.get("/offices/accra").json()["externalReferences"], false);
    let refused = world.delete("/offices/accra/references").refused(405, "method_not_allowed");
    assert_eq!(refused.header("allow"), "GET, HEAD, PUT, OPTIONS");
    world.get("/offices/none/references").refused(404, "office_not_found");
}

#[test]
fn an_office_in_use_stays_and_the_refusal_counts_the_uses() {
    let world = accra();
    world.post("/offices/accra", office("east")).is(202);
    world.post("/offices/accra", office("west")).is(202);
    world.put("/offices/accra/references", r#"{"type":"payroll","state":"ACTIVE"}"#).is(202);
    let refused = world.delete("/offices/accra").refused(409, "in_use");
    assert_eq!(refused.json()["detail"], "office accra has 2 branches, 1 active external reference");
    assert_eq!(world.get("/offices/accra").json()["externalReferences"], true);
    world.delete("/offices/east").is(202);
    world.delete("/offices/west").is(202);
    world.put("/offices/accra/references", r#"{"type":"payroll","state":"INACTIVE"}"#).is(202);
    assert_eq!(world.get("/offices/accra").json()["externalReferences"], false);
    world.delete("/offices/accra").is(202);
    world.delete("/offices/accra").refused(404, "office_not_found");
    world.post("/offices", office("accra")).is(202);
    assert_eq!(world.get("/offices/accra/references").text(), "[]");
}

#[test]
fn with_strict_references_a_customer_keeps_its_office() {
    let world = World::with(|config| config.strict_references = true);
    world.post("/offices", office("accra")).is(202);
    let customer = r#"{"identifier":"c-1","assignedOffice":"kumasi"}"#;
    world.post("/customers", customer).refused(400, "unknown_reference");
    world.post("/customers", r#"{"identifier":"c-1","assignedOffice":"accra"}"#).is(202);
    let refused = world.delete("/offices/accra").refused(409, "in_use");
    assert_eq!(refused.json()["detail"], "office accra has 1 customer");
    world.put("/customers/c-1", r#"{"identifier":"c-1"}"#).is(202);
    world.delete("/offices/accra").is(202);
}

#[test]
fn offices_are_sorted_by_any_column_and_null_is_first() {
    let world = World::start();
    for (identifier, name, description) in
        [("b1", "same", Some("z")), ("a1", "same", None), ("c1", "Other", Some("a"))]
    {
        let body = json!({ "identifier": identifier, "name": name, "description": description });
        world.post("/offices", body.to_string()).is(202);
        world.clock.advance(1);
    }
    world.put("/offices/b1", r#"{"identifier":"b1"}"#).is(202);
    let order = |query: &str| -> Vec<String> {
        let page = world.get(&format!("/offices?{query}")).is(200).json();
        let found = page["offices"].as_array().unwrap().iter();
        found.map(|o| o["identifier"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(order(""), ["a1", "b1", "c1"]);
    assert_eq!(order("sortDirection=desc"), ["c1", "b1", "a1"]);
    assert_eq!(order("sortColumn=name"), ["c1", "a1", "b1"]);
    assert_eq!(order("sortColumn=name&sortDirection=DESC"), ["a1", "b1", "c1"]);
    assert_eq!(order("sortColumn=description"), ["a1", "c1", "b1"]);
    assert_eq!(order("sortColumn=description&sortDirection=DESC"), ["b1", "c1", "a1"]);
    assert_eq!(order("sortColumn=createdOn"), ["b1", "a1", "c1"]);
    assert_eq!(order("sortColumn=lastModifiedOn&sortDirection=DESC&size=1"), ["b1"]);
    assert_eq!(order("term=OTH"), ["c1"]);
    assert_eq!(order("term=%25"), Vec::<String>::new());
}
