//! Roles: `identity.md` sections 8, 11 and 12.

use crate::support::guarded::may;
use crate::support::world::World;
use serde_json::{Value, json};

fn role(identifier: &str, permissions: Value) -> String {
    json!({ "identifier": identifier, "permissions": permissions }).to_string()
}

#[test]
fn a_fresh_store_has_the_role_pharaoh_only() {
    let world = World::start();
    let groups =
        ["identity__v1__roles", "identity__v1__users", "identity__v1__self", "identity__v1__app_self"];
    let permissions: Vec<_> = groups.iter().map(|group| may(group, "RCD")).collect();
    let pharaoh = json!({ "identifier": "pharaoh", "permissions": permissions });
    assert_eq!(world.get("/roles").is(200).json(), json!([pharaoh]));
    assert_eq!(world.get("/users").is(200).json(), json!([]));
    assert_eq!(world.get("/applications").is(200).json(), json!([]));
}

#[test]
fn a_role_keeps_the_order_and_unites_repeats() {
    let world = World::start();
    let sent = r#"{"identifier":"clerk","permissions":[
        {"permittableEndpointGroupIdentifier":"g2","allowedOperations":["delete","Read","READ"]},
        {"permittableEndpointGroupIdentifier":"g1","allowedOperations":[]},
        {"permittableEndpointGroupIdentifier":"g2","allowedOperations":["CHANGE"]}]}"#;
    world.post("/roles", sent).is(202);
    let shown = json!({ "identifier": "clerk", "permissions": [may("g2", "RCD"), may("g1", "")] });
    assert_eq!(world.get("/roles/clerk").is(200).json(), shown);
    world.put("/roles/clerk", role("clerk", json!([]))).is(202);
    assert_eq!(world.get("/roles/clerk").json()["permissions"], json!([]));
    world.post("/roles", role("clerk", json!([]))).refused(409, "identifier_taken");
    world.post("/roles", role("pharaoh", json!([]))).refused(409, "identifier_taken");
}

#[test]
fn fields_of_a_role_keep_their_rules() {
    let world = World::start();
    world.post("/roles", "{}").fields(&["/identifier required", "/permissions required"]);
    world
        .post("/roles", role("deactivated", json!(null)))
        .fields(&["/identifier reserved", "/permissions required"]);
    world
        .post("/roles", role("clerk", json!([null, 5])))
        .fields(&["/permissions/0 required", "/permissions/1 wrong_type"]);
    world.post("/roles", role("clerk", json!({}))).fields(&["/permissions wrong_type"]);
    let with = |operations: Value| {
        let permission =
            json!({ "permittableEndpointGroupIdentifier": "g1", "allowedOperations": operations });
        world.post("/roles", role("clerk", json!([permission])))
    };
    with(json!(["WRITE"])).fields(&["/permissions/0/allowedOperations/0 unknown_value"]);
    with(json!([0])).fields(&["/permissions/0/allowedOperations/0 wrong_type"]);
    with(json!("READ")).fields(&["/permissions/0/allowedOperations wrong_type"]);
    with(json!([null])).fields(&["/permissions/0/allowedOperations/0 required"]);
    let many = vec![may("g1", "R"); 1001];
    world.post("/roles", role("clerk", json!(many))).fields(&["/permissions too_many"]);
    world.post("/roles", role("clerk", json!(many[1..]))).is(202);
}

#[test]
fn a_change_names_the_role_of_its_path() {
    let world = World::start();
    world.put("/roles/clerk", role("clerk", json!([]))).refused(404, "role_not_found");
    world.post("/roles", role("clerk", json!([]))).is(202);
    world.put("/roles/clerk", role("other", json!([]))).refused(400, "identifier_mismatch");
    world.put("/roles/none", "{}").fields(&["/identifier required", "/permissions required"]);
    world.get("/roles/none").refused(404, "role_not_found");
    world.delete("/roles/none").refused(404, "role_not_found");
}

#[test]
fn the_built_in_role_and_a_role_with_users_stay() {
    let world = World::start();
    world.put("/roles/pharaoh", role("pharaoh", json!([]))).refused(409, "built_in");
    world.delete("/roles/pharaoh").refused(409, "built_in");
    world.post("/roles", role("clerk", json!([]))).is(202);
    for name in ["anna", "bert"] {
        let user = json!({ "identifier": name, "role": "clerk", "password": "blue kettle 7" });
        world.post("/users", user.to_string()).is(202);
    }
    let refused = world.delete("/roles/clerk").refused(409, "in_use").json();
    assert!(refused["detail"].as_str().unwrap().contains("2 users"), "{refused}");
    world.delete("/users/anna").is(202);
    world.put("/users/bert/roleIdentifier", r#"{"identifier":"other"}"#).is(202);
    world.delete("/roles/clerk").is(202);
    world.get("/roles/clerk").refused(404, "role_not_found");
}

#[test]
fn strict_references_name_the_group_that_is_missing() {
    let world = World::with(|config| config.strict_references = true);
    let permissions = json!([may("identity__v1__users", "R"), may("none", "R")]);
    let refused = world.post("/roles", role("clerk", permissions)).refused(400, "unknown_reference").json();
    assert_eq!(refused["errors"][0]["field"], "/permissions/1/permittableEndpointGroupIdentifier");
    world.post("/roles", role("clerk", json!([may("identity__v1__users", "R")]))).is(202);
}

#[test]
fn a_change_of_a_role_counts_from_the_next_request_on() {
    let world = World::guarded();
    let anna = world.user_with("anna", &[may("office__v1__offices", "R")]);
    let admin = world.login("admin");
    anna.get("/offices").is(200);
    admin.put("/roles/role-anna", json!({ "identifier": "role-anna", "permissions": [] })).is(202);
    anna.get("/offices").refused(403, "forbidden");
    let permissions = json!([may("office__v1__offices", "R")]);
    admin.put("/roles/role-anna", json!({ "identifier": "role-anna", "permissions": permissions })).is(202);
    anna.get("/offices").is(200);
}
