//! Applications: `identity.md` section 10.

use crate::support::guarded::may;
use crate::support::world::World;
use serde_json::{Value, json};

const KID: &str = "2031-05-06T10_11_12";
const KEY: &str = r#"{"publicKeyMod":123,"publicKeyExp":3}"#;

fn key_path(application: &str, timestamp: &str) -> String {
    format!("/applications/{application}/signatures/{timestamp}")
}

/// A world with the application `crm-v1`.
fn with_application() -> World {
    let world = World::start();
    world.put(&key_path("crm-v1", KID), KEY).is(202);
    world
}

#[test]
fn an_application_exists_from_its_first_key_until_it_is_deleted() {
    let world = with_application();
    world.put(&key_path("testApp123-v1", KID), KEY).is(202);
    world.put(&key_path("crm-v1", "2031-05-06T10_11_12.5Z"), KEY).is(202);
    assert_eq!(world.get("/applications").is(200).json(), json!(["crm-v1", "testApp123-v1"]));
    let keys = world.get("/applications/crm-v1/signatures").is(200).json();
    assert_eq!(keys, json!([KID, "2031-05-06T10_11_12.5Z"]));
    world.delete(&key_path("crm-v1", KID)).is(202);
    world.delete(&key_path("crm-v1", "2031-05-06T10_11_12.5Z")).is(202);
    assert_eq!(world.get("/applications").json(), json!(["crm-v1", "testApp123-v1"]));
    assert_eq!(world.get("/applications/crm-v1/signatures").json(), json!([]));
    world.delete("/applications/crm-v1").is(202);
    assert_eq!(world.get("/applications").json(), json!(["testApp123-v1"]));
    world.delete("/applications/crm-v1").refused(404, "application_not_found");
}

#[test]
fn a_key_that_is_to_be_changed_must_be_there() {
    let world = with_application();
    for path in [key_path("none-v1", KID), key_path("crm-v1", "2031-05-06T10_11_14")] {
        for tag in ["*", "\"x\""] {
            let request = world.request("PUT", &path).header("content-type", "application/json");
            world.send(request.header("if-match", tag).body(KEY)).refused(412, "precondition_failed");
        }
        let code = world.send(world.request("DELETE", &path).header("if-match", "*")).json()["code"].clone();
        assert!(["application_not_found", "signature_not_found"].contains(&code.as_str().unwrap()), "{code}");
    }
}

#[test]
fn a_key_comes_back_digit_for_digit() {
    let world = World::start();
    let modulus = "9".repeat(5000);
    let body = format!(r#"{{"publicKeyMod":{modulus},"publicKeyExp":65537}}"#);
    world.put(&key_path("crm-v1", KID), body.clone()).is(202);
    assert_eq!(world.get(&key_path("crm-v1", KID)).is(200).text(), body);
    world.put(&key_path("crm-v1", KID), body).is(202);
    world.put(&key_path("crm-v1", KID), KEY).refused(409, "identifier_taken");
    world.put(&key_path("crm-v1", &format!("{KID}Z")), KEY).is(202);
    let put = |key: &str| world.put(&key_path("crm-v1", "2031-05-06T10_11_13"), key);
    for (value, code) in [
        ("\"123\"", "wrong_type"),
        ("1.0", "wrong_type"),
        ("1e5", "wrong_type"),
        ("0", "out_of_range"),
        ("-3", "out_of_range"),
        ("null", "required"),
        (&"9".repeat(5001), "too_long"),
    ] {
        put(&format!(r#"{{"publicKeyMod":{value},"publicKeyExp":3}}"#))
            .fields(&[&format!("/publicKeyMod {code}")]);
    }
    put("{}").fields(&["/publicKeyMod required", "/publicKeyExp required"]);
}

#[test]
fn a_bad_key_timestamp_is_refused_together_with_the_fields() {
    let world = with_application();
    for bad in ["2031-02-30T10_11_12", "2031-05-06T10:11:12", "latest", "2031-05-06", "2031-05-06T24_00_00"] {
        let path = key_path("crm-v1", bad);
        world.get(&path).refused(400, "invalid_key_timestamp");
        world.delete(&path).refused(400, "invalid_key_timestamp");
        world.put(&path, "{").refused(400, "malformed_body");
        world.put(&path, "{}").refused(400, "invalid_key_timestamp");
        world.get(&key_path("none-v1", bad)).refused(400, "invalid_key_timestamp");
    }
    for bad in ["a", "a%20b", "%C3%A9t", &"a".repeat(65)] {
        world.put(&key_path(bad, "latest"), "{}").refused(400, "invalid_application_identifier");
        world.get(&key_path(bad, KID)).refused(404, "application_not_found");
        world.delete(&format!("/applications/{bad}")).refused(404, "application_not_found");
    }
    world.put(&key_path(&"a".repeat(64), KID), KEY).is(202);
    world.get(&key_path("crm-v1", "2031-05-06T10_11_13")).refused(404, "signature_not_found");
    world.delete(&key_path("crm-v1", "2031-05-06T10_11_13")).refused(404, "signature_not_found");
    world.get(&key_path("none-v1", KID)).refused(404, "application_not_found");
}

#[test]
fn a_permission_names_a_group_that_exists() {
    let world = with_application();
    let base = "/applications/crm-v1/permissions";
    let body = |group: &str, letters: &str| json!(may(group, letters)).to_string();
    let refused = world.post(base, body("none", "R")).refused(400, "unknown_reference").json();
    assert_eq!(refused["errors"][0]["field"], "/permittableEndpointGroupIdentifier");
    world
        .post(base, "{}")
        .fields(&["/permittableEndpointGroupIdentifier required", "/allowedOperations required"]);
    world.post("/applications/none-v1/permissions", body("none", "R")).refused(404, "application_not_found");
    world.post(base, body("identity__v1__users", "DR")).is(202);
    world.post(base, body("identity__v1__roles", "")).is(202);
    world.post(base, body("identity__v1__users", "R")).refused(409, "identifier_taken");
    let all = json!([may("identity__v1__roles", ""), may("identity__v1__users", "RD")]);
    assert_eq!(world.get(base).is(200).json(), all);
    let one = format!("{base}/identity__v1__users");
    assert_eq!(world.get(&one).is(200).json(), all[1]);
    world.put(&one, body("identity__v1__roles", "R")).refused(400, "identifier_mismatch");
    world.put(&one, body("identity__v1__users", "C")).is(202);
    assert_eq!(world.get(&one).json(), json!(may("identity__v1__users", "C")));
    for method in ["GET", "DELETE"] {
        world.call(method, &format!("{base}/none"), "").refused(404, "permission_not_found");
        world
            .call(method, "/applications/none-v1/permissions/none", "")
            .refused(404, "application_not_found");
    }
    world.put(&format!("{base}/none"), body("none", "R")).refused(404, "permission_not_found");
    world.delete(&one).is(202);
    world.get(&one).refused(404, "permission_not_found");
    world.get("/applications/none-v1/permissions").refused(404, "application_not_found");
}

#[test]
fn a_call_endpoint_set_keeps_order_and_repeats() {
    let world = with_application();
    let base = "/applications/crm-v1/callendpointset";
    let set = |name: &str, groups: Value| json!({ "identifier": name, "permittableEndpointGroupIdentifiers": groups });
    world.post(base, set("s1", json!(["g2", "g1", "g2"])).to_string()).is(202);
    world.post(base, set("a1", json!([])).to_string()).is(202);
    world.post(base, set("s1", json!([])).to_string()).refused(409, "identifier_taken");
    let all = json!([set("a1", json!([])), set("s1", json!(["g2", "g1", "g2"]))]);
    assert_eq!(world.get(base).is(200).json(), all);
    let one = format!("{base}/s1");
    world.put(&one, set("s2", json!([])).to_string()).refused(400, "identifier_mismatch");
    world.put(&one, set("s1", json!(["g3"])).to_string()).is(202);
    assert_eq!(world.get(&one).is(200).json(), set("s1", json!(["g3"])));
    world.post(base, set("s", json!([null, "x", 5])).to_string()).fields(&[
        "/identifier too_short",
        "/permittableEndpointGroupIdentifiers/0 required",
        "/permittableEndpointGroupIdentifiers/1 too_short",
        "/permittableEndpointGroupIdentifiers/2 wrong_type",
    ]);
    world.delete(&one).is(202);
    for method in ["GET", "DELETE"] {
        world.call(method, &one, "").refused(404, "call_endpoint_set_not_found");
    }
    world.put(&one, set("s1", json!([])).to_string()).refused(404, "call_endpoint_set_not_found");
    world.get("/applications/none-v1/callendpointset").refused(404, "application_not_found");
    let strict = World::with(|config| config.strict_references = true);
    strict.put(&key_path("crm-v1", KID), KEY).is(202);
    strict.post(base, set("s1", json!(["none"])).to_string()).refused(400, "unknown_reference");
}

#[test]
fn a_consent_is_a_bare_boolean() {
    let world = with_application();
    world
        .post("/applications/crm-v1/permissions", json!(may("identity__v1__users", "R")).to_string())
        .is(202);
    let user = json!({ "identifier": "anna", "role": "clerk", "password": "blue kettle 7" });
    world.post("/users", user.to_string()).is(202);
    let path = |application: &str, group: &str, user: &str| {
        format!("/applications/{application}/permissions/{group}/users/{user}/enabled")
    };
    let good = path("crm-v1", "identity__v1__users", "anna");
    assert_eq!(world.get(&good).is(200).text(), "false");
    for body in ["", "null", "1", "\"true\"", "{}", "[true]", "TRUE"] {
        world.put(&good, body).refused(400, "malformed_body");
    }
    world.put(&good, "true").is(202);
    assert_eq!(world.get(&good).text(), "true");
    let tag = world.get(&good).header("etag");
    world.put(&good, " false ").is(202);
    let stale = world.request("PUT", &good).header("if-match", tag).body("true");
    world.send(stale).refused(412, "precondition_failed");
    for (bad, code) in [
        (path("none-v1", "identity__v1__users", "anna"), "application_not_found"),
        (path("crm-v1", "none", "anna"), "permission_not_found"),
        (path("crm-v1", "identity__v1__users", "bert"), "user_not_found"),
        (path("crm-v1", "none", "bert"), "permission_not_found"),
    ] {
        world.get(&bad).refused(404, code);
        world.put(&bad, "true").refused(404, code);
    }
    // A deleted user takes the consents along, and a deleted permission, too.
    world.put(&good, "true").is(202);
    world.delete("/users/anna").is(202);
    world.post("/users", user.to_string()).is(202);
    assert_eq!(world.get(&good).text(), "false");
    world.put(&good, "true").is(202);
    world.delete("/applications/crm-v1/permissions/identity__v1__users").is(202);
    world
        .post("/applications/crm-v1/permissions", json!(may("identity__v1__users", "R")).to_string())
        .is(202);
    assert_eq!(world.get(&good).text(), "false");
}

#[test]
fn nothing_of_a_deleted_application_comes_back() {
    let world = with_application();
    world
        .post("/applications/crm-v1/permissions", json!(may("identity__v1__users", "R")).to_string())
        .is(202);
    let set = json!({ "identifier": "s1", "permittableEndpointGroupIdentifiers": [] });
    world.post("/applications/crm-v1/callendpointset", set.to_string()).is(202);
    world.delete("/applications/crm-v1").is(202);
    world.put(&key_path("crm-v1", "2031-05-06T10_11_13"), KEY).is(202);
    for list in ["permissions", "callendpointset"] {
        assert_eq!(world.get(&format!("/applications/crm-v1/{list}")).json(), json!([]));
    }
    assert_eq!(world.get("/applications/crm-v1/signatures").json(), json!(["2031-05-06T10_11_13"]));
}
