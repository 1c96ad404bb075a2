//! Who may do what: `identity.md` sections 1, 3 and 11, over every endpoint of the table.

use crate::support::guarded::{As, missing};
use crate::support::world::World;
use mfa_shared::api::roles::Operation;
use mfa_shared::api::rows;
use mfa_shared::endpoint::{Meta, Method, render};
use serde_json::json;

/// Endpoints that need no token.
const PUBLIC: &[&str] = &["CreateToken", "GetLive", "GetReady", "GetVersion"];
/// Endpoints that every user may call for the own record, or with any token.
const OWN: &[&str] = &[
    "GetCurrentToken",
    "DeleteCurrentToken",
    "DeleteTokens",
    "SetConsent",
    "SendBatch",
    "Search",
    "BeginSecondFactor",
    "EnableSecondFactor",
];

fn guarded_rows() -> impl Iterator<Item = &'static Meta> {
    rows().filter(|row| !PUBLIC.contains(&row.name))
}

/// The path of a row, with parameters that name nothing.
fn path(row: &Meta) -> String {
    let params = vec!["nothing"; row.path.matches('{').count()];
    render(row.path, &params)
}

fn call(client: &As<'_>, row: &Meta) -> crate::support::world::Seen {
    client.call(row.method.as_str(), &path(row), "")
}

#[test]
fn without_a_token_every_endpoint_is_401_and_the_public_ones_are_not() {
    let world = World::guarded();
    for row in guarded_rows() {
        let seen = world.call(row.method.as_str(), &path(row), "{");
        seen.refused(401, "unauthenticated");
    }
    for path in ["/live", "/ready", "/version"] {
        let request = world.request("GET", path).header("authorization", "Bearer nonsense");
        world.send(request).is(200);
    }
    world.get("/nothing/here").refused(401, "unauthenticated");
    world.call("PATCH", "/users", "").refused(401, "unauthenticated");
    world.send(world.request("OPTIONS", "/users")).is(204);
    world.get("/identity/v1/users").refused(401, "unauthenticated");
}

#[test]
fn without_a_permission_every_endpoint_is_403_and_says_which_would_do() {
    let world = World::guarded();
    let nobody = world.user("nobody", "no-such-role");
    for row in guarded_rows().filter(|row| !OWN.contains(&row.name)) {
        let seen = call(&nobody, row).refused(403, "forbidden");
        let missing = missing(&seen);
        assert!(!missing.is_empty(), "{}", row.name);
        let letter = match row.method {
            Method::Get => Operation::Read,
            Method::Post | Method::Put => Operation::Change,
            Method::Delete => Operation::Delete,
        };
        let letter = &letter.as_str()[..1];
        assert!(missing.iter().all(|m| m.ends_with(&format!(" {letter}"))), "{}: {missing:?}", row.name);
    }
    nobody.get("/nothing/here").refused(404, "route_not_found");
    nobody.call("PATCH", "/users", "").refused(405, "method_not_allowed");
}

#[test]
fn with_the_permission_every_endpoint_goes_on_to_its_own_checks() {
    let world = World::guarded();
    let (olga, admin) = (world.login("olga"), world.login("admin"));
    for row in guarded_rows().filter(|row| !OWN.contains(&row.name)) {
        let seen = call(&olga, row);
        assert!(!matches!(seen.status, 401 | 403), "{}: {}", row.name, seen.text());
    }
    // A pharaoh grants everything, but may do only what the four built-in groups cover.
    admin.get("/users").is(200);
    admin.get("/customers").refused(403, "forbidden");
}

#[test]
fn who_may_only_read_reads_and_changes_nothing() {
    let world = World::guarded();
    let groups: Vec<_> = {
        let list = world.login("admin").get("/permittablegroups").is(200).json();
        list.as_array().unwrap().iter().map(|g| g["identifier"].as_str().unwrap().to_owned()).collect()
    };
    let permissions: Vec<_> = groups.iter().map(|group| crate::support::guarded::may(group, "R")).collect();
    let reader = world.user_with("reader", &permissions);
    for row in guarded_rows().filter(|row| !OWN.contains(&row.name)) {
        let seen = call(&reader, row);
        assert_eq!(seen.status != 403, row.method == Method::Get, "{}: {}", row.name, seen.text());
    }
}

#[test]
fn own_rights_need_no_permission() {
    let world = World::guarded();
    let anna = world.user("anna", "no-such-role");
    world.user("bert", "no-such-role");
    anna.get("/users/anna").is(200);
    anna.call("HEAD", "/users/anna", "").is(200);
    anna.get("/identity/v1/users/anna/permissions/").is(200);
    anna.get("/users/%61nna").is(200);
    anna.get("/users/bert").refused(403, "forbidden");
    let enabled = |user: &str| format!("/applications/crm-v1/permissions/g1/users/{user}/enabled");
    anna.get(&enabled("anna")).refused(404, "application_not_found");
    anna.get(&enabled("bert")).refused(403, "forbidden");
    anna.call("PUT", &enabled("anna"), "true").refused(404, "application_not_found");
    anna.call("PUT", &enabled("bert"), "true").refused(403, "not_own_record");
    world.login("admin").call("PUT", &enabled("anna"), "true").refused(403, "not_own_record");
    anna.put("/users/bert/password", json!({ "password": "blue kettle 7" })).refused(403, "forbidden");
    anna.delete("/token").is(200);
}

#[test]
fn the_first_failure_decides() {
    let world = World::guarded();
    let (admin, anna) = (world.login("admin"), world.user("anna", "no-such-role"));
    let broken = |client: &As<'_>, path: &str, kind: &str, body: String| {
        let request = world.request("POST", path).bearer_auth(&client.token);
        world.send(request.header("content-type", kind).header("idempotency-key", "a b").body(body))
    };
    let large = "x".repeat(1_048_577);
    // 401 before all else, then 403, 413, 415, the key, and only then the syntax.
    let request = world.request("POST", "/users").header("content-type", "text/plain").body(large.clone());
    world.send(request).refused(401, "unauthenticated");
    broken(&anna, "/users", "text/plain", large.clone()).refused(403, "forbidden");
    broken(&admin, "/users", "text/plain", large).refused(413, "body_too_large");
    broken(&admin, "/users", "text/plain", "{".to_owned()).refused(415, "unsupported_media_type");
    broken(&admin, "/users", "application/json", "{".to_owned()).refused(400, "invalid_idempotency_key");
    // Syntax, fields, the path's records, the tag, references.
    let put = |path: &str, body: &str, tag: &str| {
        let request = world.request("PUT", path).bearer_auth(&admin.token).header("if-match", tag);
        world.send(request.body(body.to_owned()))
    };
    put("/roles/none", "{", "\"x\"").refused(400, "malformed_body");
    put("/roles/none", "{}", "\"x\"").refused(400, "invalid_fields");
    let other = r#"{"identifier":"other","permissions":[]}"#;
    put("/roles/none", other, "\"x\"").refused(404, "role_not_found");
    put("/roles/clerk", other, "\"x\"").refused(412, "precondition_failed");
    put("/roles/clerk", other, "*").refused(400, "identifier_mismatch");
    put("/roles/pharaoh", r#"{"identifier":"pharaoh","permissions":[]}"#, "*").refused(409, "built_in");
}

#[test]
fn with_access_control_off_a_valid_token_still_names_the_caller() {
    let world = World::start();
    let user = json!({ "identifier": "anna", "role": "clerk", "password": "blue kettle 7" });
    world.post("/users", user.to_string()).is(202);
    let guest = world.get("/token/_current").is(200).json();
    assert_eq!((&guest["user"], &guest["expiresAt"]), (&json!(null), &json!(null)));
    let token = world.try_login("anna", "blue kettle 7").is(200).json();
    let anna = world.bearer(&token["access_token"]);
    assert_eq!(anna.get("/token/_current").json()["user"], "anna");
    let customer = |id: &str| json!({ "identifier": id, "givenName": "Ama" });
    anna.post("/customers", customer("C1")).is(202);
    world.post("/customers", customer("C2").to_string()).is(202);
    let bad =
        world.request("POST", "/customers").bearer_auth("mfaa_nonsense").body(customer("C3").to_string());
    world.send(bad).is(202);
    for (id, name) in [("C1", "anna"), ("C2", "guest"), ("C3", "guest")] {
        assert_eq!(world.get(&format!("/customers/{id}")).json()["createdBy"], name);
    }
    // The rules of privilege do not apply; the built-in role stays.
    let pharaoh = r#"{"identifier":"pharaoh"}"#;
    anna.call("PUT", "/users/anna/roleIdentifier", pharaoh).is(202);
    world.delete("/users/anna").refused(409, "last_pharaoh");
}

#[test]
fn records_bear_the_user_or_the_application() {
    let world = World::guarded();
    let olga = world.login("olga");
    olga.post("/customers", json!({ "identifier": "C1", "givenName": "Ama" })).is(202);
    assert_eq!(olga.get("/customers/C1").is(200).json()["createdBy"], "olga");
}

#[test]
fn what_is_said_to_be_allowed_is_what_happens() {
    let world = World::guarded();
    let olga = world.login("olga");
    for role in ["clerk", "teller", "no-such-role"] {
        let user = world.user(&format!("a-{role}"), role);
        // A deletion of the own sessions would end the test.
        for row in guarded_rows().filter(|row| row.name != "DeleteTokens" && row.name != "DeleteCurrentToken")
        {
            let status = call(&user, row).status;
            let operation = match row.method {
                Method::Get => "READ",
                Method::Post | Method::Put => "CHANGE",
                Method::Delete => "DELETE",
            };
            let asked = format!("/users/a-{role}/access?operation={operation}&path={}", path(row));
            let found = olga.get(&asked).is(200).json();
            let of_method =
                found.as_array().unwrap().iter().find(|found| found["method"] == row.method.as_str());
            assert_eq!(of_method.unwrap()["allowed"], status != 403, "{role}: {} {status}", row.name);
        }
    }
}

#[test]
fn what_is_allowed_is_shown_to_the_user_and_to_who_may_see_the_user() {
    let world = World::guarded();
    let clerk = world.user("esi", "clerk");
    let olga = world.login("olga");
    let ask = |client: &As<'_>, user: &str, words: &str| client.get(&format!("/users/{user}/access?{words}"));
    let may = "operation=change&path=/customers";
    let found = ask(&clerk, "esi", may).is(200).json();
    let allowed = json!([{ "method": "POST", "path": "/customers", "allowed": true, "code": null, "detail": null,
        "missing": [] }]);
    assert_eq!(found, allowed);
    let found =
        ask(&clerk, "esi", "operation=DELETE&path=/customer/v1/customers/C1/portrait/").is(200).json();
    assert_eq!((&found[0]["allowed"], &found[0]["code"]), (&json!(false), &json!("forbidden")));
    let missing = json!([{
        "permittableEndpointGroupIdentifier": "customer__v1__portrait", "allowedOperations": ["DELETE"]
    }]);
    assert_eq!(found[0]["missing"], missing);
    // The own record is an own right; another user is for who may read that user.
    ask(&clerk, "olga", may).refused(403, "forbidden");
    assert_eq!(ask(&olga, "esi", may).is(200).json(), allowed);
    ask(&olga, "nobody", may).refused(404, "user_not_found");
    let own = "operation=READ&path=/users/esi/permissions";
    assert_eq!(ask(&olga, "esi", own).json()[0]["allowed"], true);
    assert_eq!(ask(&olga, "esi", "operation=READ&path=/version").json()[0]["allowed"], true);
    for bad in [
        "",
        "operation=READ",
        "path=/customers",
        "operation=WRITE&path=/x",
        "operation=READ&path=/x",
        "operation=DELETE&path=/customers",
        "operation=READ&path=customers",
        "operation=READ&path=/customers%253",
    ] {
        ask(&olga, "esi", bad).refused(400, "invalid_parameter");
    }
    // A user who cannot log in, or has to set a password first, may do nothing else.
    olga.post("/users", json!({ "identifier": "new", "role": "clerk", "password": "first password" }))
        .is(202);
    assert_eq!(ask(&olga, "new", may).json()[0]["code"], "password_change_required");
    olga.put("/users/esi/roleIdentifier", json!({ "identifier": "deactivated" })).is(202);
    assert_eq!(ask(&olga, "esi", own).json()[0]["code"], "unauthenticated");
}
