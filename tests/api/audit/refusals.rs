//! Audit records of refused callers, and of reads of what is sensitive.

use super::{of, records, the};
use crate::support::guarded::may;
use crate::support::world::World;
use serde_json::{Value, json};

#[test]
fn a_forbidden_request_is_recorded_and_other_refusals_are_not() {
    let world = World::guarded();
    let clerk = world.user("anna", "clerk");
    let refused = clerk.delete("/offices/head-office").refused(403, "forbidden");
    let record = the(&world, &refused);
    let said = ["actor", "operation", "method", "path", "resource", "outcome", "status", "code"];
    let said = said.map(|field| record[field].clone());
    let expected: [Value; 8] = [
        json!("anna"),
        json!("DeleteOffice"),
        json!("DELETE"),
        json!("/offices/head-office"),
        json!("office/head-office"),
        json!("REFUSED"),
        json!(403),
        json!("forbidden"),
    ];
    assert_eq!(said, expected);
    assert_eq!(record["changes"], json!([]));
    for seen in [
        world.get("/customers").refused(401, "unauthenticated"),
        clerk.get("/customers/nobody").refused(404, "customer_not_found"),
        clerk.get("/customers?size=0").refused(400, "invalid_parameter"),
        clerk.post("/customers", json!({})).refused(400, "invalid_fields"),
        clerk.get("/customers").is(200),
        clerk.call("PATCH", "/customers", "").refused(405, "method_not_allowed"),
    ] {
        assert_eq!(of(&world, &seen), Vec::<Value>::new());
    }
}

#[test]
fn a_path_that_names_no_record_takes_little_space_in_the_trail() {
    let world = World::guarded();
    let clerk = world.user("anna", "clerk");
    let refused = clerk.delete(&format!("/offices/{}", "(".repeat(10_000))).refused(403, "forbidden");
    let path = the(&world, &refused)["path"].as_str().unwrap().to_owned();
    assert!(path.starts_with("/offices/%28%28") && path.len() < 300, "{} bytes: {path:.300}", path.len());
}

#[test]
fn what_a_refused_request_would_have_made_is_named() {
    let world = World::guarded();
    let teller = world.user("anna", "teller");
    let named = |seen: &crate::support::world::Seen| the(&world, seen)["resource"].clone();
    let refused = teller.post("/users", json!({ "identifier": "esi", "role": "clerk" }));
    assert_eq!(named(&refused.refused(403, "forbidden")), "user/esi");
    let refused = teller.post("/offices/ho", json!({ "identifier": "north", "name": "North" }));
    assert_eq!(named(&refused.refused(403, "forbidden")), "office/north");
    let email = json!({ "identifier": "main", "host": "example.org" });
    let refused = teller.put("/configuration/sms", email).refused(403, "forbidden");
    assert_eq!(named(&refused), "email/main");
    let odd = json!({ "identifier": "main", "host": "example.org", "port": "no" });
    let refused = teller.put("/configuration/sms", odd).refused(403, "forbidden");
    assert_eq!(named(&refused), Value::Null);
    // What cannot be read, or is too long, is refused and recorded all the same.
    let long = json!({ "identifier": "esi", "note": "x".repeat(70_000) });
    for body in ["[".to_owned(), "{}".to_owned(), r#"{"identifier":7}"#.to_owned(), long.to_string()] {
        let refused = teller.call("POST", "/users", body).refused(403, "forbidden");
        let record = the(&world, &refused);
        assert_eq!((&record["operation"], &record["resource"]), (&json!("CreateUser"), &Value::Null));
    }
}

#[test]
fn a_name_that_no_record_can_have_is_not_recorded() {
    let world = World::guarded();
    let teller = world.user("anna", "teller");
    let named = |seen: &crate::support::world::Seen| the(&world, seen)["resource"].clone();
    for name in ["/".repeat(60_000), "x".repeat(60_000), "a/b".to_owned(), "a\u{1}".to_owned()] {
        let user = json!({ "identifier": name, "role": "clerk" });
        assert_eq!(named(&teller.post("/users", user.clone()).refused(403, "forbidden")), Value::Null);
        let operation = json!({ "method": "POST", "path": "/users", "body": user });
        let batch = teller.post("/batch", json!({ "operations": [operation] })).is(200);
        assert_eq!(named(&batch), Value::Null);
    }
    for name in ["x".repeat(2_000), "%2F".repeat(500)] {
        let seen = teller.get(&format!("/users/{name}")).refused(403, "forbidden");
        assert_eq!(named(&seen), Value::Null);
    }
    // The lists of the trail go on.
    let seen = teller.get("/users/esi").refused(403, "forbidden");
    assert_eq!(named(&seen), "user/esi");
    assert_eq!(records(&world, "resource=user/esi").len(), 1);
}

#[test]
fn a_refused_operation_of_a_batch_is_recorded_with_its_place() {
    let world = World::guarded();
    let clerk = world.user("anna", "clerk");
    let customer = |id: &str| json!({ "method": "POST", "path": "/customers", "body": { "identifier": id } });
    let office = json!({ "method": "DELETE", "path": "/offices/ho" });
    let taken = json!({ "method": "POST", "path": "/customers", "body": { "identifier": "c-1" } });
    let operations = json!([customer("c-1"), office, taken, customer("c-2")]);
    let seen = clerk.post("/batch", json!({ "operations": operations })).is(200);
    let found = of(&world, &seen);
    let mut found: Vec<_> = found
        .iter()
        .map(|record| {
            (record["batchIndex"].as_i64().unwrap(), record["operation"].clone(), record["outcome"].clone())
        })
        .collect();
    found.sort_by_key(|(place, ..)| *place);
    let line = |place: i64, operation: &str, outcome: &str| (place, json!(operation), json!(outcome));
    let expected = [
        line(0, "CreateCustomer", "DONE"),
        line(1, "DeleteOffice", "REFUSED"),
        line(3, "CreateCustomer", "DONE"),
    ];
    assert_eq!(found, expected);
    // Of an atomic batch nothing was done, and one operation refused.
    let operations = json!([customer("c-7"), office]);
    let seen =
        clerk.post("/batch", json!({ "atomic": true, "operations": operations })).refused(403, "forbidden");
    let record = the(&world, &seen);
    assert_eq!((&record["operation"], &record["batchIndex"]), (&json!("DeleteOffice"), &json!(1)));
    // A dry run leaves nothing, whatever its result.
    let request = world.request("POST", "/batch").bearer_auth(&clerk.token).header("dry-run", "true");
    let seen =
        world.send(request.body(json!({ "operations": [customer("c-8"), office] }).to_string())).is(200);
    assert_eq!(of(&world, &seen), Vec::<Value>::new());
}

#[test]
fn refusals_of_a_batch_are_recorded_for_callers_who_may_see_no_customers() {
    let world = World::guarded();
    let kofi = world.user_with("kofi", &[may("notification__v1__configuration", "CD")]);
    let look = |path: &str| json!({ "method": "GET", "path": path });
    let operations = json!([look("/customers/c-001"), look("/offices/head-office")]);
    let seen = kofi.post("/batch", json!({ "operations": operations })).is(200);
    let found = of(&world, &seen);
    let mut refused: Vec<_> =
        found.iter().map(|record| (record["batchIndex"].as_i64(), record["outcome"].clone())).collect();
    refused.sort_by_key(|(place, _)| *place);
    assert_eq!(refused, [(Some(0), json!("REFUSED")), (Some(1), json!("REFUSED"))]);
}

#[test]
fn reads_of_secrets_are_recorded_and_plain_reads_are_not() {
    let world = World::start();
    let email = r#"{"identifier":"main","host":"mail.example.org","port":"587","app_password":"a word"}"#;
    let made = world.post("/configuration/email", email).is(201);
    assert!(!the(&world, &made).to_string().contains("a word"));
    let look = world.get("/configuration/email/main").is(200);
    let record = the(&world, &look);
    let said = ["operation", "resource", "outcome", "status"].map(|field| record[field].clone());
    assert_eq!(said, [json!("GetEmailConfiguration"), json!("email/main"), json!("DONE"), json!(200)]);
    // Where no body goes out, nothing was shown.
    let path = "/configuration/email/main";
    let unchanged =
        world.send(world.request("GET", path).header("if-none-match", look.header("etag"))).is(304);
    assert_eq!(of(&world, &unchanged), Vec::<Value>::new());
    assert_eq!(of(&world, &world.send(world.request("HEAD", path)).is(200)), Vec::<Value>::new());
    world.post("/customers", r#"{"identifier":"c-1"}"#).is(202);
    let body = crate::support::images::form(
        "b",
        &[crate::support::images::part("portrait", Some("image/png"), b"a picture")],
    );
    let request = world.request("POST", "/customers/c-1/portrait");
    let sent =
        world.send(request.header("content-type", "multipart/form-data; boundary=b").body(body)).is(202);
    let record = the(&world, &sent);
    assert_eq!((&record["resource"], &record["affects"]), (&json!("portrait/c-1"), &json!(["customer/c-1"])));
    let after = record["changes"][0]["after"].as_str().unwrap();
    assert_eq!((after.len(), record["changes"][0]["field"].as_str()), (64, Some("")));
    let look = world.get("/customers/c-1/portrait").is(200);
    assert_eq!(the(&world, &look)["operation"], "GetPortrait");
    let unchanged =
        world.request("GET", "/customers/c-1/portrait").header("if-none-match", look.header("etag"));
    assert_eq!(of(&world, &world.send(unchanged).is(304)), Vec::<Value>::new());
    let lines =
        world.send(world.request("GET", "/customers").header("accept", "application/x-ndjson")).is(200);
    assert_eq!(the(&world, &lines)["operation"], "ListCustomers");
    let lines = world.send(world.request("GET", "/audit").header("accept", "application/x-ndjson")).is(200);
    assert_eq!(the(&world, &lines)["operation"], "ListAudit");
    assert_eq!(of(&world, &world.get("/customers").is(200)), Vec::<Value>::new());
    assert_eq!(of(&world, &world.get("/configuration/email").is(200)), Vec::<Value>::new());
}

#[test]
fn a_test_message_is_recorded_even_if_it_fails() {
    let world = World::start();
    let port = crate::support::servers::closed_port().to_string();
    let email =
        json!({ "identifier": "main", "host": "localhost", "port": port, "username": "bank@example.org" });
    world.post("/configuration/email", email.to_string()).is(201);
    let failed = world.post("/configuration/email/main/test", r#"{"to":"efua@example.org"}"#);
    let record = the(&world, &failed.refused(502, "gateway_failed"));
    let said = ["operation", "resource", "outcome", "code"].map(|field| record[field].clone());
    assert_eq!(
        said,
        [json!("TestEmailConfiguration"), json!("email/main"), json!("FAILED"), json!("gateway_failed")]
    );
}

#[test]
fn a_refused_read_of_the_trail_is_recorded() {
    let world = World::guarded();
    let clerk = world.user("anna", "clerk");
    let auditor = world.user_with("kofi", &[may("audit__v1__audit", "R")]);
    let refused = clerk.get("/audit").refused(403, "forbidden");
    auditor.get("/audit").is(200);
    auditor.get("/audit/head").is(200);
    assert_eq!(the(&world, &refused)["operation"], "ListAudit");
    assert!(records(&world, "outcome=REFUSED&actor=anna").len() == 1);
}
