//! `organisation.md` section 3, and the employee parts of sections 2.5, 2.7 and 4.

use crate::support::world::World;
use serde_json::{Value, json};

const FULL: &str = r#"{"identifier":"ama.boateng","givenName":"Ama","middleName":null,"surname":"Boateng","assignedOffice":"accra-east","contactDetails":[{"type":"EMAIL","group":"BUSINESS","value":"ama@example.org","preferenceLevel":1},{"type":"MOBILE","group":"PRIVATE","value":"0244010203","preferenceLevel":2}]}"#;

fn employee(identifier: &str) -> String {
    json!({ "identifier": identifier }).to_string()
}

fn contact(value: &str, level: Value) -> Value {
    json!({ "type": "phone", "group": "Private", "value": value, "preferenceLevel": level, "validated": true })
}

fn ama() -> World {
    let world = World::start();
    world.post("/employees", FULL).is(202);
    world
}

fn values(contacts: &Value) -> Vec<String> {
    contacts.as_array().unwrap().iter().map(|c| c["value"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn an_employee_is_read_as_it_was_created() {
    let world = ama();
    assert_eq!(world.get("/employees/ama.boateng").is(200).text(), FULL);
    assert_eq!(world.get("/office/v1/employees/ama.boateng/").is(200).text(), FULL);
    let page = world.get("/employees").is(200).text();
    assert_eq!(page, format!(r#"{{"employees":[{FULL}],"totalPages":1,"totalElements":1}}"#));
    world.post("/employees", employee("kofi")).is(202);
    let bare = r#"{"identifier":"kofi","givenName":null,"middleName":null,"surname":null,"assignedOffice":null,"contactDetails":[]}"#;
    assert_eq!(world.get("/employees/kofi").text(), bare);
    world.post("/employees", employee("kofi")).refused(409, "identifier_taken");
    world.get("/employees/Kofi").refused(404, "employee_not_found");
}

#[test]
fn each_bad_field_of_an_employee_is_named() {
    let world = World::start();
    let with = |pointer: &str, value: Value| {
        let mut body: Value = serde_json::from_str(FULL).unwrap();
        *body.pointer_mut(pointer).unwrap() = value;
        body.to_string()
    };
    for (pointer, value, code) in [
        ("/identifier", json!("x"), "too_short"),
        ("/identifier", json!("a b"), "bad_characters"),
        ("/identifier", json!(".."), "bad_characters"),
        ("/identifier", json!("x".repeat(33)), "too_long"),
        ("/identifier", Value::Null, "required"),
        ("/givenName", json!("x".repeat(257)), "too_long"),
        ("/middleName", json!("a\nb"), "bad_characters"),
        ("/surname", json!(5), "wrong_type"),
        ("/assignedOffice", json!("x".repeat(33)), "too_long"),
        ("/assignedOffice", json!("a\u{9f}"), "bad_characters"),
        ("/contactDetails", json!({}), "wrong_type"),
        ("/contactDetails/1", Value::Null, "wrong_type"),
        ("/contactDetails/0/type", json!("FAX"), "unknown_value"),
        ("/contactDetails/0/type", Value::Null, "required"),
        ("/contactDetails/0/group", json!("HOME"), "unknown_value"),
        ("/contactDetails/0/group", Value::Null, "required"),
        ("/contactDetails/1/value", json!(" "), "blank"),
        ("/contactDetails/1/value", Value::Null, "required"),
        ("/contactDetails/1/value", json!("x".repeat(257)), "too_long"),
        ("/contactDetails/1/preferenceLevel", json!(0), "out_of_range"),
        ("/contactDetails/1/preferenceLevel", json!(128), "out_of_range"),
        ("/contactDetails/1/preferenceLevel", json!("1"), "wrong_type"),
        ("/contactDetails/1/preferenceLevel", json!(1.5), "wrong_type"),
    ] {
        world.post("/employees", with(pointer, value)).fields(&[&format!("{pointer} {code}")]);
    }
    world.get("/employees/ama.boateng").refused(404, "employee_not_found");
}

#[test]
fn a_change_keeps_what_is_null_but_unassigns_the_office() {
    let world = ama();
    world.put("/employees/ama.boateng", employee("ama.boateng")).is(202);
    let mut expected: Value = serde_json::from_str(FULL).unwrap();
    expected["assignedOffice"] = Value::Null;
    assert_eq!(world.get("/employees/ama.boateng").json(), expected);
    let change = r#"{"identifier":"ama.boateng","givenName":"","middleName":"Yaa","assignedOffice":"kumasi","contactDetails":[]}"#;
    world.put("/employees/ama.boateng", change).is(202);
    let changed = r#"{"identifier":"ama.boateng","givenName":"","middleName":"Yaa","surname":"Boateng","assignedOffice":"kumasi","contactDetails":[]}"#;
    assert_eq!(world.get("/employees/ama.boateng").text(), changed);
    world.put("/employees/ama.boateng", r#"{"identifier":"ama.boateng","assignedOffice":""}"#).is(202);
    assert_eq!(world.get("/employees/ama.boateng").json()["assignedOffice"], Value::Null);
}

#[test]
fn an_office_is_named_freely_and_an_empty_name_counts_as_missing() {
    let world = World::start();
    for (identifier, sent, shown) in [
        ("a1", json!("St. Mary's 2, back"), json!("St. Mary's 2, back")),
        ("a2", json!(""), Value::Null),
        ("a3", json!(" "), json!(" ")),
        ("a4", json!("ü".repeat(32)), json!("ü".repeat(32))),
    ] {
        let body = json!({ "identifier": identifier, "assignedOffice": sent });
        world.post("/employees", body.to_string()).is(202);
        assert_eq!(world.get(&format!("/employees/{identifier}")).json()["assignedOffice"], shown);
    }
}

#[test]
fn a_contact_is_any_text_and_may_be_there_twice() {
    let world = World::start();
    let levels = [json!(1), json!(127), Value::Null, Value::Null];
    let given: Vec<_> = levels.map(|level| contact("no number @ all", level)).to_vec();
    world.post("/employees", json!({ "identifier": "ama", "contactDetails": given }).to_string()).is(202);
    let shown = world.get("/employees/ama/contacts").json();
    let found: Vec<_> = shown.as_array().unwrap().iter().map(|c| c["preferenceLevel"].clone()).collect();
    assert_eq!(found, [json!(1), json!(127), Value::Null, Value::Null]);
    assert_eq!(shown[2], shown[3]);
    assert_eq!(shown[0].as_object().unwrap().len(), 4);
}

#[test]
fn the_checks_of_a_change_come_in_their_order() {
    let world = World::with(|config| config.strict_references = true);
    world.post("/employees", employee("ama")).is(202);
    world.put("/employees/none", r#"{"identifier":"x"}"#).fields(&["/identifier too_short"]);
    world.put("/employees/none", employee("other")).refused(404, "employee_not_found");
    let body = r#"{"identifier":"other","assignedOffice":"none"}"#;
    let stale = world.request("PUT", "/employees/ama").header("if-match", "\"old\"");
    world.send(stale.body(body)).refused(412, "precondition_failed");
    world.put("/employees/ama", body).refused(400, "identifier_mismatch");
    world.put("/employees/ama", body.replace("other", "ama")).refused(400, "unknown_reference");
    let taken = r#"{"identifier":"ama","assignedOffice":"none"}"#;
    world.post("/employees", taken).refused(400, "unknown_reference");
    world.post("/employees", employee("ama")).refused(409, "identifier_taken");
}

#[test]
fn contacts_are_ordered_by_preference_and_null_is_last() {
    let world = World::start();
    let given = json!([
        contact("last", Value::Null),
        contact("third", json!(9)),
        contact("first", json!(1)),
        contact("end", Value::Null),
        contact("second", json!(1)),
        contact("first", json!(127)),
    ]);
    let order = ["first", "second", "third", "first", "last", "end"];
    let created = json!({ "identifier": "ama", "contactDetails": given });
    world.post("/employees", created.to_string()).is(202);
    assert_eq!(values(&world.get("/employees/ama").json()["contactDetails"]), order);
    world.post("/employees", employee("kofi")).is(202);
    world.put("/employees/kofi", created.to_string().replace("\"ama\"", "\"kofi\"")).is(202);
    assert_eq!(values(&world.get("/employees/kofi/contacts").json()), order);
    world.delete("/employees/kofi/contacts").is(202);
    world.put("/employees/kofi/contacts", given.to_string()).is(202);
    let contacts = world.get("/employees/kofi/contacts").is(200);
    assert_eq!(values(&contacts.json()), order);
    let shown = r#"[{"type":"PHONE","group":"PRIVATE","value":"first","preferenceLevel":1},"#;
    assert!(contacts.text().starts_with(shown), "{}", contacts.text());
    assert_eq!(contacts.header("etag"), world.get("/employees/kofi").header("etag"));
}

#[test]
fn the_contacts_have_their_own_endpoint() {
    let world = ama();
    let set = |body: &str| world.put("/employees/ama.boateng/contacts", body);
    for not_an_array in ["{}", "null", "\"x\"", ""] {
        set(not_an_array).refused(400, "malformed_body");
    }
    set(r#"[null,{"type":"FAX"}]"#).fields(&[
        "/0 wrong_type",
        "/1/type unknown_value",
        "/1/group required",
        "/1/value required",
    ]);
    world.put("/employees/none/contacts", "[{}]").refused(400, "invalid_fields");
    world.put("/employees/none/contacts", "[]").refused(404, "employee_not_found");
    let stale = world.request("PUT", "/employees/ama.boateng/contacts").header("if-match", "\"old\"");
    world.send(stale.body("[]")).refused(412, "precondition_failed");
    assert_eq!(world.get("/employees/ama.boateng").text(), FULL);
    set("[]").is(202);
    assert_eq!(world.get("/employees/ama.boateng/contacts").is(200).text(), "[]");
    let tag = world.get("/employees/ama.boateng").header("etag");
    world.delete("/employees/ama.boateng/contacts").is(202);
    assert_eq!(world.get("/employees/ama.boateng").header("etag"), tag);
    for method in ["GET", "DELETE"] {
        world.send(world.request(method, "/employees/none/contacts")).refused(404, "employee_not_found");
    }
    let stale = world.request("DELETE", "/employees/ama.boateng/contacts").header("if-match", "\"old\"");
    world.send(stale).refused(412, "precondition_failed");
}

#[test]
fn employees_are_found_by_term_and_by_office() {
    let world = World::start();
    for (identifier, given, middle, surname, office) in [
        ("ama", Some("Ama"), None, Some("Boateng"), Some("accra")),
        ("kofi", Some("Kofi"), Some("Ünal"), Some("Owusu"), Some("Accra")),
        ("yaw", None, None, Some("Mensah"), Some("accra")),
        ("esi", None, None, None, None),
    ] {
        let body = json!({ "identifier": identifier, "givenName": given, "middleName": middle,
            "surname": surname, "assignedOffice": office });
        world.post("/employees", body.to_string()).is(202);
        world.clock.advance(1);
    }
    world.put("/employees/ama", r#"{"identifier":"ama","assignedOffice":"accra"}"#).is(202);
    let found = |query: &str| -> Vec<String> {
        let page = world.get(&format!("/employees?{query}")).is(200).json();
        let found = page["employees"].as_array().unwrap().iter();
        found.map(|e| e["identifier"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(found("term=M"), ["ama", "yaw"]);
    assert_eq!(found("term=%C3%BCNAL"), ["kofi"]);
    assert_eq!(found("term=accra"), Vec::<String>::new());
    assert_eq!(found("office=accra"), ["ama", "yaw"]);
    assert_eq!(found("office=accra&sortDirection=DESC"), ["yaw", "ama"]);
    assert_eq!(found("office=accra&term=boat"), ["ama"]);
    assert_eq!(found("office=nowhere"), Vec::<String>::new());
    assert_eq!(found("office="), ["ama", "esi", "kofi", "yaw"]);
    assert_eq!(found("sortColumn=surname"), ["esi", "ama", "yaw", "kofi"]);
    assert_eq!(found("sortColumn=givenName&sortDirection=DESC"), ["kofi", "ama", "esi", "yaw"]);
    assert_eq!(found("sortColumn=middleName"), ["ama", "esi", "yaw", "kofi"]);
    assert_eq!(found("sortColumn=assignedOffice"), ["esi", "kofi", "ama", "yaw"]);
    assert_eq!(found("sortColumn=createdOn&sortDirection=DESC"), ["esi", "yaw", "kofi", "ama"]);
    assert_eq!(found("sortColumn=lastModifiedOn&sortDirection=DESC&size=1"), ["ama"]);
    assert_eq!(found("sortColumn=createdBy&sortDirection=DESC"), ["ama", "esi", "kofi", "yaw"]);
    assert_eq!(found("sortColumn=lastModifiedBy"), ["esi", "kofi", "yaw", "ama"]);
    assert_eq!(found("sortColumn=identifier&sortDirection=desc&size=1"), ["yaw"]);
    world.get("/employees?office=a&office=b").refused(400, "invalid_parameter");
    world.get("/employees?sortColumn=contactDetails").refused(400, "invalid_parameter");
    world.get("/employees?size=0").refused(400, "invalid_parameter");
}

#[test]
fn an_employee_and_its_contacts_are_deleted_together() {
    let world = ama();
    let customer = r#"{"identifier":"c-1","assignedEmployee":"ama.boateng"}"#;
    world.post("/customers", customer).is(202);
    let stale = world.request("DELETE", "/employees/ama.boateng").header("if-match", "\"old\"");
    world.send(stale).refused(412, "precondition_failed");
    world.delete("/employees/ama.boateng").is(202);
    world.delete("/employees/ama.boateng").refused(404, "employee_not_found");
    world.get("/employees/ama.boateng/contacts").refused(404, "employee_not_found");
    assert_eq!(world.get("/customers/c-1").json()["assignedEmployee"], "ama.boateng");
    world.post("/employees", employee("ama.boateng")).is(202);
    assert_eq!(world.get("/employees/ama.boateng/contacts").text(), "[]");
}

#[test]
fn an_office_is_used_by_its_employees_even_if_they_came_first() {
    let world = ama();
    world.post("/employees", r#"{"identifier":"kofi","assignedOffice":"accra-east"}"#).is(202);
    world.post("/offices", r#"{"identifier":"accra-east","name":"East"}"#).is(202);
    world.post("/offices/accra-east", r#"{"identifier":"stall","name":"Stall"}"#).is(202);
    assert_eq!(world.get("/offices/accra-east").json()["externalReferences"], true);
    let refused = world.delete("/offices/accra-east").refused(409, "in_use").json();
    assert_eq!(refused["detail"], "office accra-east has 1 branch, 2 employees");
    world.delete("/offices/stall").is(202);
    world.put("/employees/ama.boateng", employee("ama.boateng")).is(202);
    assert_eq!(world.get("/offices/accra-east").json()["externalReferences"], true);
    world.delete("/employees/kofi").is(202);
    assert_eq!(world.get("/offices/accra-east").json()["externalReferences"], false);
    world.delete("/offices/accra-east").is(202);
}

#[test]
fn with_strict_references_names_must_stand_for_records() {
    let world = World::with(|config| config.strict_references = true);
    world.post("/employees", FULL).refused(400, "unknown_reference");
    world.post("/offices", r#"{"identifier":"accra-east","name":"East"}"#).is(202);
    world.post("/employees", FULL).is(202);
    world.put("/employees/ama.boateng", FULL).is(202);
    let moved = FULL.replace("accra-east", "kumasi");
    let refused = world.put("/employees/ama.boateng", moved).refused(400, "unknown_reference").json();
    assert_eq!(refused["errors"][0]["field"], "/assignedOffice");
    let customer = |employee: &str| json!({ "identifier": "c-1", "assignedEmployee": employee }).to_string();
    let refused = world.post("/customers", customer("none")).refused(400, "unknown_reference").json();
    assert_eq!(refused["errors"][0]["field"], "/assignedEmployee");
    world.post("/customers", customer("ama.boateng")).is(202);
    world.put("/customers/c-1", customer("none")).refused(400, "unknown_reference");
    let refused = world.delete("/employees/ama.boateng").refused(409, "in_use").json();
    assert_eq!(refused["detail"], "employee ama.boateng has 1 customer");
    world.put("/customers/c-1", r#"{"identifier":"c-1"}"#).is(202);
    world.delete("/employees/ama.boateng").is(202);
}

#[test]
fn employees_are_streamed_a_record_a_line() {
    let world = ama();
    let lines = |path: &str| world.send(world.request("GET", path).header("accept", "application/x-ndjson"));
    assert_eq!(lines("/employees?office=accra-east").is(200).text(), format!("{FULL}\n"));
    assert_eq!(lines("/employees/ama.boateng/contacts").is(200).text().lines().count(), 2);
}
