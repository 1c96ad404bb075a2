//! Users: `identity.md` sections 7 and 12.

use crate::support::guarded::{PASSWORD, may};
use crate::support::world::World;
use serde_json::{Value, json};

fn user(identifier: &str, role: &str) -> String {
    json!({ "identifier": identifier, "role": role, "password": PASSWORD }).to_string()
}

#[test]
fn a_user_is_created_and_read_without_the_password() {
    let world = World::start();
    for name in ["bert", "Anna", "9to5", "a.*-_"] {
        world.post("/users", user(name, "nobody-knows-it")).is(202);
    }
    let anna = json!({ "identifier": "Anna", "role": "nobody-knows-it" });
    assert_eq!(world.get("/users/Anna").is(200).json(), anna);
    let names: Vec<_> = world.get("/users").is(200).json().as_array().unwrap().clone();
    let names: Vec<_> = names.iter().map(|u| u["identifier"].as_str().unwrap().to_owned()).collect();
    assert_eq!(names, ["9to5", "Anna", "a.*-_", "bert"]);
    let lines = world.send(world.request("GET", "/users").header("accept", "application/x-ndjson"));
    assert_eq!(lines.text().lines().count(), 4);
    world.post("/users", user("bert", "x1")).refused(409, "identifier_taken");
}

#[test]
fn fields_of_a_user_keep_their_rules() {
    let world = World::start();
    let table: &[(Value, &[&str])] = &[
        (json!({}), &["/identifier required", "/role required", "/password required"]),
        (
            json!({ "identifier": null, "role": null, "password": null }),
            &["/identifier required", "/role required", "/password required"],
        ),
        (
            json!({ "identifier": "a", "role": "r", "password": "1234567" }),
            &["/identifier too_short", "/role too_short", "/password too_short"],
        ),
        (
            json!({ "identifier": "a".repeat(33), "role": "r".repeat(33), "password": "p".repeat(4097) }),
            &["/identifier too_long", "/role too_long", "/password too_long"],
        ),
        (
            json!({ "identifier": "a b", "role": "a/b", "password": "         " }),
            &["/identifier bad_characters", "/role bad_characters", "/password blank"],
        ),
        (
            json!({ "identifier": "..", "role": "é", "password": 12345678 }),
            &["/identifier bad_characters", "/role bad_characters", "/password wrong_type"],
        ),
        (
            json!({ "identifier": "guest", "role": "r@x", "password": ["x"] }),
            &["/identifier reserved", "/role bad_characters", "/password wrong_type"],
        ),
    ];
    for (body, expected) in table {
        world.post("/users", body.to_string()).fields(expected);
    }
    for name in ["system", "seshat", "wepemnefret"] {
        world.post("/users", user(name, "r1")).fields(&["/identifier reserved"]);
    }
    let refused =
        world.post("/users", json!({ "identifier": "aa", "role": "rr", "password": "secret!" }).to_string());
    assert!(!refused.text().contains("secret!"));
    world.post("/users", user("aa", &"r".repeat(32)).replace(PASSWORD, &"äö".repeat(1024))).is(202);
    world.put("/users/aa/roleIdentifier", "{}").fields(&["/identifier required"]);
    world.put("/users/aa/password", r#"{"password":"short"}"#).fields(&["/password too_short"]);
}

#[test]
fn a_name_that_breaks_its_rule_names_nothing() {
    let world = World::start();
    world.post("/users", user("anna", "r1")).is(202);
    for path in ["%7Bx%7D", "o'neil", "%C3%A9", "Anna", "a%2Fb", "a%00b"] {
        world.get(&format!("/users/{path}")).refused(404, "user_not_found");
        world.delete(&format!("/users/{path}")).refused(404, "user_not_found");
        world.get(&format!("/users/{path}/permissions")).refused(404, "user_not_found");
    }
    // A client library would take `..` for a step up; the wire does not.
    assert!(world.raw("GET /users/%2e%2e HTTP/1.1").contains("user_not_found"));
    for path in ["/users/%zz", "/users/%ff", "/users//permissions"] {
        world.get(path).refused(404, "route_not_found");
    }
    let body = json!({ "password": PASSWORD }).to_string();
    world.put("/users/none/password", body).refused(404, "user_not_found");
    world.put("/users/none/roleIdentifier", r#"{"identifier":"r1"}"#).refused(404, "user_not_found");
}

#[test]
fn of_racing_creates_one_succeeds() {
    let world = World::start();
    let requests = (0..8).map(|_| world.request("POST", "/users").body(user("anna", "r1"))).collect();
    let mut statuses: Vec<_> = world.send_all(requests).iter().map(|seen| seen.status).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [202, 409, 409, 409, 409, 409, 409, 409]);
}

#[test]
fn a_tag_is_compared_with_the_record() {
    let world = World::start();
    world.post("/users", user("anna", "r1")).is(202);
    let tag = world.get("/users/anna").header("etag");
    let role = |tag: &str, role: &str| {
        let request = world.request("PUT", "/users/anna/roleIdentifier").header("if-match", tag);
        world.send(request.body(json!({ "identifier": role }).to_string()))
    };
    role("\"x\"", "r2").refused(412, "precondition_failed");
    role(&tag, "r2").is(202);
    role(&tag, "r3").refused(412, "precondition_failed");
    let delete = world.request("DELETE", "/users/anna").header("if-match", &tag);
    world.send(delete).refused(412, "precondition_failed");
}

#[test]
fn a_role_need_not_exist_unless_references_are_strict() {
    let world = World::with(|config| config.strict_references = true);
    world.post("/users", user("anna", "clerk")).refused(400, "unknown_reference");
    world.post("/users", user("anna", "deactivated")).is(202);
    let set = |role: &str| world.put("/users/anna/roleIdentifier", json!({ "identifier": role }).to_string());
    let refused = set("clerk").refused(400, "unknown_reference").json();
    assert_eq!(refused["errors"][0]["field"], "/identifier");
    world.post("/roles", json!({ "identifier": "clerk", "permissions": [] }).to_string()).is(202);
    set("clerk").is(202);
    set("deactivated").is(202);
}

#[test]
fn effective_permissions_are_those_of_the_role_and_the_own_record() {
    let world = World::start();
    let permissions = |role: &str, list: Value| {
        let name = format!("user-of-{role}");
        world.post("/users", user(&name, role)).is(202);
        if !list.is_null() {
            world.post("/roles", json!({ "identifier": role, "permissions": list }).to_string()).is(202);
        }
        world.get(&format!("/users/{name}/permissions")).is(200).json()
    };
    let own = may("identity__v1__self", "RCD");
    let unknown = may("no-such-group", "R");
    assert_eq!(permissions("nothing", Value::Null), json!([own]));
    assert_eq!(permissions("deactivated", Value::Null), json!([]));
    assert_eq!(permissions("clerk", json!([unknown])), json!([unknown, own]));
    let list = json!([may("identity__v1__self", "R"), unknown]);
    assert_eq!(permissions("teller", list), json!([own, unknown]));
}

#[test]
fn the_last_pharaoh_stays() {
    let world = World::start();
    for name in ["anna", "bert"] {
        world.post("/users", user(name, "pharaoh")).is(202);
    }
    let set = |name: &str, role: &str| {
        world.put(&format!("/users/{name}/roleIdentifier"), json!({ "identifier": role }).to_string())
    };
    set("anna", "deactivated").is(202);
    for role in ["clerk", "deactivated"] {
        set("bert", role).refused(409, "last_pharaoh");
    }
    world.delete("/users/bert").refused(409, "last_pharaoh");
    set("bert", "pharaoh").is(202);
    set("anna", "pharaoh").is(202);
    world.delete("/users/bert").is(202);
    world.get("/users/bert").refused(404, "user_not_found");
}

#[test]
fn of_two_pharaohs_who_go_at_once_one_stays() {
    let world = World::start();
    for name in ["anna", "bert"] {
        world.post("/users", user(name, "pharaoh")).is(202);
    }
    let requests = ["anna", "bert"].map(|name| world.request("DELETE", &format!("/users/{name}"))).into();
    let mut statuses: Vec<_> = world.send_all(requests).iter().map(|seen| seen.status).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [202, 409]);
}

#[test]
fn a_name_that_logged_in_is_never_given_out_again() {
    let world = World::guarded();
    let admin = world.login("admin");
    let new = |name: &str| {
        admin.post("/users", json!({ "identifier": name, "role": "clerk", "password": PASSWORD }))
    };
    new("anna").is(202);
    new("bert").is(202);
    world.login("anna");
    for name in ["anna", "bert"] {
        admin.delete(&format!("/users/{name}")).is(202);
        world.try_login(name, PASSWORD).refused(401, "login_failed");
    }
    new("anna").refused(409, "identifier_retired");
    new("bert").is(202);
}

#[test]
fn another_role_and_a_password_set_by_anyone_end_all_tokens() {
    let mut world = World::guarded();
    world.user("anna", "clerk");
    let admin = world.login("admin");
    let (first, second) = (world.login("anna"), world.login("anna"));
    admin.put("/users/anna/roleIdentifier", json!({ "identifier": "clerk" })).is(202);
    assert!(first.lives() && second.lives());
    admin.put("/users/anna/roleIdentifier", json!({ "identifier": "teller" })).is(202);
    assert!(!first.lives() && !second.lives());
    let (first, second) = (world.login("anna"), world.login("anna"));
    first.put("/users/anna/password", json!({ "password": "green kettle 8" })).is(202);
    assert!(!first.lives() && !second.lives());
    world.try_login("anna", PASSWORD).refused(401, "login_failed");
    let token = world.try_login("anna", "green kettle 8").is(200).json()["access_token"].clone();
    let (anna, admin) = (token.clone(), admin.token);
    world.restart();
    let (anna, admin) = (world.bearer(&anna), world.bearer(&json!(admin)));
    assert!(anna.lives());
    admin.put("/users/anna/roleIdentifier", json!({ "identifier": "deactivated" })).is(202);
    assert!(!anna.lives());
    world.try_login("anna", "green kettle 8").refused(401, "login_failed");
    admin.put("/users/anna/roleIdentifier", json!({ "identifier": "clerk" })).is(202);
    world.try_login("anna", "green kettle 8").is(200);
}

#[test]
fn a_password_set_by_someone_else_must_be_changed_first() {
    let world = World::guarded();
    let admin = world.login("admin");
    let body = json!({ "identifier": "anna", "role": "administrator", "password": PASSWORD });
    admin.post("/users", body).is(202);
    let first = world.try_login("anna", PASSWORD).is(200).json();
    assert_eq!((&first["password_change_required"], &first["refresh_token"]), (&json!(true), &Value::Null));
    let anna = world.bearer(&first["access_token"]);
    assert_eq!(anna.get("/token/_current").is(200).json()["passwordChangeRequired"], true);
    for (method, path) in
        [("GET", "/users/anna"), ("GET", "/offices"), ("DELETE", "/token"), ("POST", "/users")]
    {
        anna.call(method, path, "{}").refused(403, "password_change_required");
    }
    anna.get("/nothing/here").refused(404, "route_not_found");
    anna.call("PATCH", "/users", "").refused(405, "method_not_allowed");
    let set = |password: &str| anna.put("/users/anna/password", json!({ "password": password }));
    set(PASSWORD).fields(&["/password password_unchanged"]);
    set("short").fields(&["/password too_short"]);
    set("green kettle 8").is(202);
    assert!(!anna.lives());
    let second = world.try_login("anna", "green kettle 8").is(200).json();
    assert_eq!(second["password_change_required"], false);
    let anna = world.bearer(&second["access_token"]);
    anna.get("/offices").is(200);
    // The present password may be set again by a user who does not have to change it.
    anna.put("/users/anna/password", json!({ "password": "green kettle 8" })).is(202);
    admin.put("/users/anna/password", json!({ "password": "green kettle 8" })).is(202);
    let third = world.try_login("anna", "green kettle 8").is(200).json();
    assert_eq!(third["password_change_required"], true);
}
