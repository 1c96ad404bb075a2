//! Permittable groups: `identity.md` sections 9, 11 and 12.

use crate::support::guarded::may;
use crate::support::world::World;
use serde_json::{Value, json};

fn group(identifier: &str, permittables: Value) -> String {
    json!({ "identifier": identifier, "permittables": permittables }).to_string()
}

fn names(list: &Value) -> Vec<String> {
    list.as_array().unwrap().iter().map(|g| g["identifier"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_fresh_store_has_the_four_built_in_groups() {
    let world = World::start();
    let list = world.get("/permittablegroups").is(200).json();
    let four = ["identity__v1__app_self", "identity__v1__roles", "identity__v1__self", "identity__v1__users"];
    assert_eq!(names(&list), four);
    let roles = world.get("/permittablegroups/identity__v1__roles").is(200).json();
    let permittables = roles["permittables"].as_array().unwrap();
    assert_eq!(permittables.len(), 8);
    let first = json!({ "path": "identity-v1/roles/*", "method": "GET", "groupId": null,
        "acceptTokenIntendedForForeignApplication": false });
    assert_eq!(permittables[0], first);
    assert_eq!(
        (&permittables[3]["method"], &permittables[4]["path"]),
        (&json!("DELETE"), &json!("identity-v1/permittablegroups/*"))
    );
    for built_in in four {
        world.delete(&format!("/permittablegroups/{built_in}")).refused(409, "built_in");
        let put = world.put(&format!("/permittablegroups/{built_in}"), group(built_in, json!([])));
        put.refused(409, "built_in");
    }
}

#[test]
fn an_initialised_store_has_all_groups_and_roles() {
    let world = World::guarded();
    let admin = world.login("admin");
    assert_eq!(names(&admin.get("/permittablegroups").is(200).json()).len(), 22);
    let roles = ["administrator", "auditor", "branch-manager", "clerk", "pharaoh", "teller"];
    assert_eq!(names(&admin.get("/roles").is(200).json()), roles);
    let office = admin.get("/permittablegroups/office__v1__self").is(200).json();
    let shown: Vec<_> = office["permittables"]
        .as_array()
        .unwrap()
        .iter()
        .map(|p| format!("{} {}", p["method"].as_str().unwrap(), p["path"].as_str().unwrap()))
        .collect();
    assert_eq!(
        shown,
        [
            "GET office-v1/employees/{useridentifier}",
            "PUT office-v1/employees/{useridentifier}",
            "GET office-v1/employees/{useridentifier}/contacts",
            "PUT office-v1/employees/{useridentifier}/contacts",
            "DELETE office-v1/employees/{useridentifier}/contacts",
        ]
    );
    let teller = admin.get("/roles/teller").is(200).json();
    assert_eq!(
        teller["permissions"].as_array().unwrap().last().unwrap(),
        &json!(may("teller__v1__operation", "RC"))
    );
}

#[test]
fn a_group_keeps_what_it_was_given() {
    let world = World::start();
    let permittables = json!([
        { "path": "/x/y/z", "method": "post", "groupId": "free\ttext", "acceptTokenIntendedForForeignApplication": true },
        { "path": " a", "method": "HEAD", "groupId": null, "acceptTokenIntendedForForeignApplication": null },
        { "path": " a", "method": "HEAD" },
    ]);
    world.post("/permittablegroups", group("g1", permittables)).is(202);
    let repeated = json!({ "path": " a", "method": "HEAD", "groupId": null, "acceptTokenIntendedForForeignApplication": false });
    let expected = json!([
        { "path": "/x/y/z", "method": "POST", "groupId": "free\ttext", "acceptTokenIntendedForForeignApplication": true },
        repeated, repeated,
    ]);
    let shown = world.get("/permittablegroups/g1").is(200);
    assert_eq!(shown.json()["permittables"], expected);
    assert!(!shown.header("etag").is_empty());
    world.post("/permittablegroups", group("g1", json!([]))).refused(409, "identifier_taken");
    world.put("/permittablegroups/g1", group("g1", json!([]))).is(202);
    assert_eq!(world.get("/permittablegroups/g1").json()["permittables"], json!([]));
    world.put("/permittablegroups/g1", group("g2", json!([]))).refused(400, "identifier_mismatch");
    world.put("/permittablegroups/g2", group("g2", json!([]))).refused(404, "group_not_found");
    world.get("/permittablegroups/g2").refused(404, "group_not_found");
    world.delete("/permittablegroups/g2").refused(404, "group_not_found");
    world.delete("/permittablegroups/g1").is(202);
}

#[test]
fn fields_of_a_group_keep_their_rules() {
    let world = World::start();
    world.post("/permittablegroups", "{}").fields(&["/identifier required", "/permittables required"]);
    let with = |permittable: Value| world.post("/permittablegroups", group("g1", json!([permittable])));
    with(json!(null)).fields(&["/permittables/0 required"]);
    with(json!({})).fields(&["/permittables/0/path required", "/permittables/0/method required"]);
    for (method, code) in [
        (json!("blah"), "unknown_value"),
        (json!("PATCH"), "unknown_value"),
        (json!(""), "unknown_value"),
        (json!(0), "wrong_type"),
    ] {
        with(json!({ "path": "x", "method": method })).fields(&[&format!("/permittables/0/method {code}")]);
    }
    for (path, code) in [
        (json!(" "), "blank"),
        (json!("a\u{7}"), "bad_characters"),
        (json!("x".repeat(1025)), "too_long"),
        (json!(1), "wrong_type"),
    ] {
        with(json!({ "path": path, "method": "GET" })).fields(&[&format!("/permittables/0/path {code}")]);
    }
    for flag in [json!("true"), json!(1)] {
        with(json!({ "path": "x", "method": "GET", "acceptTokenIntendedForForeignApplication": flag }))
            .fields(&["/permittables/0/acceptTokenIntendedForForeignApplication wrong_type"]);
    }
    with(json!({ "path": "x", "method": "GET", "groupId": "g".repeat(257) }))
        .fields(&["/permittables/0/groupId too_long"]);
    let many = vec![json!({ "path": "x", "method": "GET" }); 1001];
    world.post("/permittablegroups", group("g1", json!(many))).fields(&["/permittables too_many"]);
}

#[test]
fn a_group_that_is_named_stays() {
    let world = World::start();
    world.post("/permittablegroups", group("g1", json!([]))).is(202);
    world.post("/roles", json!({ "identifier": "r1", "permissions": [may("g1", "")] }).to_string()).is(202);
    let key = r#"{"publicKeyMod":123,"publicKeyExp":3}"#;
    world.put("/applications/crm-v1/signatures/2031-05-06T10_11_12", key).is(202);
    world.post("/applications/crm-v1/permissions", json!(may("g1", "R")).to_string()).is(202);
    let set = json!({ "identifier": "s1", "permittableEndpointGroupIdentifiers": ["g1", "g1"] });
    world.post("/applications/crm-v1/callendpointset", set.to_string()).is(202);
    let refused = world.delete("/permittablegroups/g1").refused(409, "in_use").json();
    let detail = "group g1 is named by 1 role, 1 application permission, 1 call endpoint set";
    assert_eq!(refused["detail"], detail);
    world.delete("/roles/r1").is(202);
    world.delete("/applications/crm-v1/permissions/g1").is(202);
    world.delete("/permittablegroups/g1").refused(409, "in_use");
    world.delete("/applications/crm-v1/callendpointset/s1").is(202);
    world.delete("/permittablegroups/g1").is(202);
}

#[test]
fn a_change_of_a_group_counts_from_the_next_request_on() {
    let world = World::guarded();
    let admin = world.login("admin");
    let permittable = json!([{ "path": "office-v1/offices/*", "method": "GET" }]);
    admin.post("/permittablegroups", json!({ "identifier": "g1", "permittables": permittable })).is(202);
    let anna = world.user_with("anna", &[may("g1", "R"), may("g2", "R")]);
    anna.get("/offices").is(200);
    anna.call("HEAD", "/offices", "").is(200);
    admin.put("/permittablegroups/g1", json!({ "identifier": "g1", "permittables": [] })).is(202);
    anna.get("/offices").refused(403, "forbidden");
    // A permission on a group gives nothing until the group exists.
    let head = json!([{ "path": "office-v1/offices/*", "method": "HEAD" }]);
    admin.post("/permittablegroups", json!({ "identifier": "g2", "permittables": head })).is(202);
    anna.call("HEAD", "/offices", "").is(200);
    anna.get("/offices").refused(403, "forbidden");
}
