//! `customers.md` sections 1 to 3.

use crate::support::stored::{self, in_folder};
use crate::support::world::World;
use mfa_daemon::store::records::StoredCommand;
use serde_json::{Value, json};

const FULL: &str = r#"{"identifier":"c-1001","type":"PERSON","givenName":"Efua","middleName":null,"surname":"Mensah","dateOfBirth":{"year":1990,"month":4,"day":17},"member":true,"accountBeneficiary":"Yaw Mensah","referenceCustomer":null,"assignedOffice":"accra east","assignedEmployee":"o'neil","address":{"street":"4 Palm Lane","city":"Accra","region":null,"postalCode":"GA-207","countryCode":"GH","country":"Ghana"},"contactDetails":[{"type":"MOBILE","group":"PRIVATE","value":"0205550142","preferenceLevel":1,"validated":false}],"currentState":"PENDING","applicationDate":"2024-03-05","customValues":[{"catalogIdentifier":"customers","fieldIdentifier":"shoe-size","value":"39"}],"createdBy":"guest","createdOn":"2031-05-06T07:08:09.123Z","lastModifiedBy":null,"lastModifiedOn":null}"#;

fn customer(identifier: &str) -> String {
    json!({ "identifier": identifier }).to_string()
}

fn command(action: &str) -> String {
    json!({ "action": action, "comment": "why" }).to_string()
}

#[test]
fn a_customer_is_read_as_it_was_created() {
    let world = World::start();
    let sent = FULL.replace("PENDING", "active").replace("\"2024-03-05\"", "\"2024-03-05Z\"");
    world.post("/customers", sent).is(202);
    let read = world.get("/customers/c-1001").is(200);
    assert_eq!(read.text(), FULL);
    let page = world.get("/customers").json();
    assert_eq!(page["customers"][0], read.json());
}

#[test]
fn only_the_identifier_is_needed() {
    let world = World::start();
    world.post("/customers", customer("Ama B. / no").replace(" / ", " ")).is(202);
    let read = world.get("/customers/Ama%20B.%20no").json();
    assert_eq!(read.as_object().unwrap().len(), 20);
    for (field, value) in [
        ("type", json!("PERSON")),
        ("member", json!(false)),
        ("contactDetails", json!([])),
        ("customValues", json!([])),
    ] {
        assert_eq!(read[field], value, "{field}");
    }
}

#[test]
fn each_bad_field_of_a_customer_is_named() {
    let world = World::start();
    for (fields, expected) in [
        (json!({}), "/identifier required"),
        (json!({"identifier": "  "}), "/identifier blank"),
        (json!({"identifier": ""}), "/identifier blank"),
        (json!({"identifier": "x".repeat(33)}), "/identifier too_long"),
        (json!({"identifier": "a/b"}), "/identifier bad_characters"),
        (json!({"identifier": "a\tb"}), "/identifier bad_characters"),
        (json!({"identifier": ".."}), "/identifier bad_characters"),
        (json!({"type": "GROUP"}), "/type unknown_value"),
        (json!({"member": "true"}), "/member wrong_type"),
        (json!({"givenName": "x".repeat(257)}), "/givenName too_long"),
        (json!({"accountBeneficiary": "x".repeat(513)}), "/accountBeneficiary too_long"),
        (json!({"assignedOffice": "x".repeat(33)}), "/assignedOffice too_long"),
        (json!({"currentState": "ASLEEP"}), "/currentState unknown_value"),
        (json!({"dateOfBirth": {"month": 2}}), "/dateOfBirth/year required"),
        (json!({"dateOfBirth": {"year": 999}}), "/dateOfBirth/year out_of_range"),
        (json!({"dateOfBirth": {"year": 1990, "month": 13}}), "/dateOfBirth/month out_of_range"),
        (json!({"dateOfBirth": {"year": 1990, "month": 2, "day": 30}}), "/dateOfBirth impossible_date"),
        (json!({"dateOfBirth": {"year": 2031, "month": 5, "day": 8}}), "/dateOfBirth out_of_range"),
        (json!({"dateOfBirth": "1990-02-02"}), "/dateOfBirth wrong_type"),
        (json!({"applicationDate": "2024-02-30"}), "/applicationDate impossible_date"),
        (json!({"applicationDate": "2024-02-03T00:00:00Z"}), "/applicationDate impossible_date"),
        (json!({"contactDetails": [{"group": "PRIVATE", "value": "1"}]}), "/contactDetails/0/type required"),
        (json!({"contactDetails": [contact("", 1)]}), "/contactDetails/0/value blank"),
        (
            json!({"contactDetails": [contact("1", 1), contact("1", 200)]}),
            "/contactDetails/1/preferenceLevel out_of_range",
        ),
        (json!({"contactDetails": [contact("1", 0)]}), "/contactDetails/0/preferenceLevel out_of_range"),
        (json!({"contactDetails": [null]}), "/contactDetails/0 required"),
        (json!({"contactDetails": {}}), "/contactDetails wrong_type"),
        (json!({"customValues": [value("aa", None)]}), "/customValues/0/value required"),
        (
            json!({"customValues": [value("aa", Some("")), value("aa", Some("2"))]}),
            "/customValues/1 duplicate",
        ),
        (json!({"customValues": [null]}), "/customValues/0 required"),
        (json!({"customValues": [value("a", Some(""))]}), "/customValues/0/fieldIdentifier too_short"),
    ] {
        let mut body = json!({ "identifier": "c-1" });
        let identifier_given = fields.get("identifier").is_some() || fields == json!({});
        if identifier_given {
            body = json!({});
        }
        body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        world.post("/customers", body.to_string()).fields(&[expected]);
    }
    world.get("/customers/c-1").refused(404, "customer_not_found");
}

fn contact(value: &str, level: i64) -> Value {
    json!({ "type": "PHONE", "group": "private", "value": value, "preferenceLevel": level })
}

fn value(field: &str, value: Option<&str>) -> Value {
    json!({ "catalogIdentifier": "catalog", "fieldIdentifier": field, "value": value })
}

#[test]
fn a_birth_today_or_tomorrow_is_accepted_and_a_missing_day_is_the_first() {
    let world = World::start();
    for (i, day) in [6, 7].iter().enumerate() {
        let body = json!({ "identifier": format!("c-{i}"), "dateOfBirth": { "year": 2031, "month": 5, "day": day } });
        world.post("/customers", body.to_string()).is(202);
    }
    world.post("/customers", r#"{"identifier":"c-9","dateOfBirth":{"year":1990}}"#).is(202);
    assert_eq!(
        world.get("/customers/c-9").json()["dateOfBirth"],
        json!({ "year": 1990, "month": 1, "day": 1 })
    );
}

#[test]
fn a_change_clears_the_names_and_keeps_the_rest() {
    let world = World::start();
    world.post("/customers", FULL).is(202);
    world.clock.advance(60);
    world.put("/customers/c-1001", r#"{"identifier":"c-1001","currentState":"CLOSED"}"#).is(202);
    let mut expected: Value = serde_json::from_str(FULL).unwrap();
    for cleared in
        ["givenName", "surname", "dateOfBirth", "accountBeneficiary", "assignedOffice", "assignedEmployee"]
    {
        expected[cleared] = Value::Null;
    }
    expected["lastModifiedBy"] = json!("guest");
    expected["lastModifiedOn"] = json!("2031-05-06T07:09:09.123Z");
    assert_eq!(world.get("/customers/c-1001").json(), expected);
    let emptied = r#"{"identifier":"c-1001","contactDetails":[],"customValues":[],"assignedOffice":"","type":"business"}"#;
    world.put("/customers/c-1001", emptied).is(202);
    let read = world.get("/customers/c-1001").json();
    assert_eq!((&read["contactDetails"], &read["customValues"]), (&json!([]), &json!([])));
    assert_eq!((&read["assignedOffice"], &read["type"]), (&Value::Null, &json!("BUSINESS")));
    world.put("/customers/c-1001", customer("other")).refused(400, "identifier_mismatch");
    world.put("/customers/none", customer("other")).refused(404, "customer_not_found");
}

#[test]
fn address_and_contacts_have_endpoints_to_set_and_show_in_the_customer() {
    let world = World::start();
    world.post("/customers", customer("c-1")).is(202);
    let address = r#"{"street":"S","city":"C","countryCode":"GH","country":"Ghana"}"#;
    world.put("/customers/c-1/address", address).is(202);
    world.put("/customers/c-1/contact", json!([contact("b", 9), contact("a", 1)]).to_string()).is(202);
    let read = world.get("/customers/c-1").json();
    assert_eq!(read["address"]["region"], Value::Null);
    assert_eq!(read["contactDetails"][0]["value"], "b");
    assert_eq!(read["contactDetails"][0]["validated"], Value::Null);
    assert_eq!(read["lastModifiedBy"], "guest");
    world.put("/customers/c-1/contact", "{}").refused(400, "malformed_body");
    world.put("/customers/c-1/contact", r#"[{"type":"FAX"}]"#).fields(&[
        "/0/type unknown_value",
        "/0/group required",
        "/0/value required",
    ]);
    world.put("/customers/none/contact", "[]").refused(404, "customer_not_found");
    world.get("/customers/c-1/address").refused(405, "method_not_allowed");
    world.get("/customers/c-1/contact").refused(405, "method_not_allowed");
    world.delete("/customers/c-1").refused(405, "method_not_allowed");
}

/// Commands that lead from PENDING to a state.
fn way_to(state: &str) -> &'static [&'static str] {
    match state {
        "PENDING" => &[],
        "ACTIVE" => &["ACTIVATE"],
        "LOCKED" => &["ACTIVATE", "LOCK"],
        "CLOSED" => &["CLOSE"],
        _ => &["ACTIVATE", "LOCK", "CLOSE"],
    }
}

#[test]
fn the_grid_of_the_lifecycle_holds_in_every_cell() {
    let world = World::start();
    let grid = [
        ("PENDING", ["ACTIVE", "-", "-", "CLOSED", "-"]),
        ("ACTIVE", ["-", "LOCKED", "-", "CLOSED", "-"]),
        ("LOCKED", ["-", "-", "ACTIVE", "CLOSED", "-"]),
        ("CLOSED", ["-", "-", "-", "-", "PENDING"]),
        ("CLOSED after ACTIVE", ["-", "-", "-", "-", "ACTIVE"]),
    ];
    for (row, (state, cells)) in grid.iter().enumerate() {
        for (column, cell) in cells.iter().enumerate() {
            let action = ["ACTIVATE", "lock", "UNLOCK", "Close", "REOPEN"][column];
            let id = format!("c-{row}-{column}");
            world.post("/customers", customer(&id)).is(202);
            for step in way_to(state) {
                world.post(&format!("/customers/{id}/commands"), command(step)).is(202);
            }
            let before = world.get(&format!("/customers/{id}")).text();
            let answer = world.post(&format!("/customers/{id}/commands"), command(action));
            let after = world.get(&format!("/customers/{id}"));
            if *cell == "-" {
                let detail = answer.refused(409, "wrong_state").json()["detail"].as_str().unwrap().to_owned();
                assert!(detail.contains(&id) && detail.contains(&action.to_uppercase()), "{detail}");
                assert_eq!(after.text(), before);
            } else {
                answer.is(202);
                assert_eq!(after.json()["currentState"], *cell, "{state} {action}");
            }
            let records = world.get(&format!("/customers/{id}/commands")).json();
            let expected = way_to(state).len() + usize::from(*cell != "-");
            assert_eq!(records.as_array().unwrap().len(), expected);
        }
    }
}

#[test]
fn activation_dates_the_application_if_it_has_no_date() {
    let world = World::start();
    world.post("/customers", customer("c-1")).is(202);
    world.post("/customers", r#"{"identifier":"c-2","applicationDate":"2040-01-01"}"#).is(202);
    for id in ["c-1", "c-2"] {
        world.post(&format!("/customers/{id}/commands"), command("ACTIVATE")).is(202);
    }
    assert_eq!(world.get("/customers/c-1").json()["applicationDate"], "2031-05-06");
    assert_eq!(world.get("/customers/c-2").json()["applicationDate"], "2040-01-01");
    let records = world.get("/customers/c-1/commands").text();
    let expected = r#"[{"action":"ACTIVATE","comment":"why","createdOn":"2031-05-06T07:08:09.123Z","createdBy":"guest"}]"#;
    assert_eq!(records, expected);
}

#[test]
fn a_thousand_commands_on_one_customer_are_one_batch() {
    let world = World::start();
    world.post("/customers", customer("c-1")).is(202);
    // Each would read the long comments of all those before it.
    let command = |action: &str| {
        let body = json!({ "action": action, "comment": "x".repeat(700) });
        json!({ "method": "POST", "path": "/customers/c-1/commands", "body": body })
    };
    let commands: Vec<_> = (0..1_000).map(|place| command(["CLOSE", "REOPEN"][place % 2])).collect();
    world.post("/batch", json!({ "atomic": true, "operations": commands }).to_string()).is(200);
    assert_eq!(world.get("/customers/c-1").json()["currentState"], "PENDING");
}

#[test]
fn commands_of_an_earlier_program_still_say_whether_the_customer_was_activated() {
    let mut world = World::with(in_folder);
    for (id, steps) in [("c-1", &["ACTIVATE", "CLOSE"][..]), ("c-2", &["CLOSE", "REOPEN", "CLOSE"])] {
        world.post("/customers", customer(id)).is(202);
        for step in steps {
            world.post(&format!("/customers/{id}/commands"), command(step)).is(202);
        }
    }
    world.stop();
    let store = stored::open(world.config(), world.clock.clone());
    let forget = store.write("doctor", |tx| {
        for id in ["c-1", "c-2"] {
            for stored in tx.all::<StoredCommand>(&[id])? {
                assert!(stored.was_activated.is_some());
                tx.put(&StoredCommand { was_activated: None, ..stored })?;
            }
        }
        Ok(())
    });
    world.block_on(forget).unwrap();
    world.block_on(store.close());
    drop(store);
    world.restart();
    for (id, state) in [("c-1", "ACTIVE"), ("c-2", "PENDING")] {
        world.post(&format!("/customers/{id}/commands"), command("REOPEN")).is(202);
        assert_eq!(world.get(&format!("/customers/{id}")).json()["currentState"], state);
    }
}

#[test]
fn a_bad_command_is_refused_before_the_customer_is_looked_for() {
    let world = World::start();
    let send = |body: &str| world.post("/customers/none/commands", body);
    send("{}").fields(&["/action required"]);
    send(r#"{"action":"DELETE"}"#).fields(&["/action unknown_value"]);
    let long = json!({ "action": "LOCK", "comment": "x".repeat(4097) }).to_string();
    send(&long).fields(&["/comment too_long"]);
    send(&command("LOCK")).refused(404, "customer_not_found");
    world.get("/customers/none/commands").refused(404, "customer_not_found");
}

#[test]
fn closed_customers_are_listed_only_when_asked_for() {
    let world = World::start();
    for id in ["c-1", "c-2", "c-3"] {
        world.post("/customers", json!({ "identifier": id, "surname": "Ünal" }).to_string()).is(202);
    }
    world.post("/customers/c-2/commands", command("CLOSE")).is(202);
    let total =
        |query: &str| world.get(&format!("/customers{query}")).is(200).json()["totalElements"].clone();
    assert_eq!(total(""), 2);
    assert_eq!(total("?term=%C3%9CNAL"), 2);
    assert_eq!(total("?includeClosed=TRUE&term=c-2"), 1);
    assert_eq!(total("?includeClosed=true"), 3);
    // A sigma has another form at the end of a word, and is the same letter.
    world.post("/customers", json!({ "identifier": "c-4", "surname": "ΟΔΥΣΣΕΥΣ" }).to_string()).is(202);
    assert_eq!((total("?term=ΟΔΥΣ"), total("?term=σευς")), (json!(1), json!(1)));
    world.get("/customers?includeClosed=yes").refused(400, "invalid_parameter");
}

#[test]
fn one_of_two_simultaneous_equal_commands_is_carried_out() {
    let world = World::start();
    world.post("/customers", customer("c-1")).is(202);
    let requests =
        (0..20).map(|_| world.request("POST", "/customers/c-1/commands").body(command("ACTIVATE")));
    let mut statuses: Vec<_> = world.send_all(requests.collect()).iter().map(|seen| seen.status).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [[202].as_slice(), &[409; 19]].concat());
}
