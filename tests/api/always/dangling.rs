//! Dangling references, reported in the answer to the change that makes them: `decisions.md` section 5.

use crate::support::counter::teller;
use crate::support::guarded::{As, PASSWORD, may};
use crate::support::world::{Seen, World};
use serde_json::{Value, json};

fn dangling(seen: Seen) -> String {
    seen.is(202).header("dangling-references")
}

fn permission(group: &str) -> Value {
    json!({ "permittableEndpointGroupIdentifier": group, "allowedOperations": ["READ"] })
}

#[test]
fn a_change_that_names_what_does_not_exist_is_made_and_says_so() {
    let world = World::start();
    let user = json!({ "identifier": "esi", "role": "nowhere", "password": PASSWORD });
    let create = || {
        let request = world.request("POST", "/users").header("idempotency-key", "k1");
        world.send(request.header("content-type", "application/json").body(user.to_string()))
    };
    assert_eq!(dangling(create()), "/role");
    assert_eq!(dangling(create()), "/role", "a repeated request gets the first answer again");
    let set_role =
        |role: &str| world.put("/users/esi/roleIdentifier", json!({ "identifier": role }).to_string());
    assert_eq!(dangling(set_role("gone")), "/identifier");
    assert_eq!(dangling(set_role("pharaoh")), "");
    let groups = ["identity__v1__users", "see-none", "see-nothing"].map(permission);
    let role = json!({ "identifier": "clerk", "permissions": groups });
    let field = |i: usize| format!("/permissions/{i}/permittableEndpointGroupIdentifier");
    assert_eq!(dangling(world.post("/roles", role.to_string())), format!("{}, {}", field(1), field(2)));
    let customer = json!({ "identifier": "c-1", "assignedOffice": "nowhere", "assignedEmployee": "nobody" });
    assert_eq!(
        dangling(world.post("/customers", customer.to_string())),
        "/assignedOffice, /assignedEmployee"
    );
    assert_eq!(
        dangling(world.put("/customers/c-1", customer.to_string())),
        "",
        "no dangling reference was made"
    );
    let mut teller = teller("T1");
    teller["assignedEmployee"] = json!("nobody");
    world.post("/offices", r#"{"identifier":"accra","name":"Accra"}"#).is(202);
    assert_eq!(dangling(world.post("/offices/accra/teller", teller.to_string())), "/assignedEmployee");
    let open = |employee: Option<&str>| {
        let command = json!({ "action": "OPEN", "assignedEmployeeIdentifier": employee });
        dangling(world.post("/offices/accra/teller/T1/commands", command.to_string()))
    };
    assert_eq!(open(None), "", "it was noted before");
    world.post("/offices/accra/teller/T1/commands", r#"{"action":"CLOSE"}"#).is(202);
    assert_eq!(open(Some("nobody")), "/assignedEmployeeIdentifier");
    let employee = json!({ "identifier": "kofi", "assignedOffice": "nowhere" });
    assert_eq!(dangling(world.post("/employees", employee.to_string())), "/assignedOffice");
}

#[test]
fn only_the_first_of_very_many_are_named_and_none_by_a_refused_change() {
    let world = World::start();
    let groups: Vec<_> = (0..40).map(|i| permission(&format!("g-{i}"))).collect();
    let role = json!({ "identifier": "clerk", "permissions": groups });
    let seen = dangling(world.post("/roles", role.to_string()));
    assert_eq!(seen.split(", ").count(), 20);
    let refused = world.post("/roles", role.to_string()).refused(409, "identifier_taken");
    assert_eq!(refused.header("dangling-references"), "");
    let user = |name: &str, role: &str| {
        let body = json!({ "identifier": name, "role": role, "password": PASSWORD });
        json!({ "method": "POST", "path": "/users", "body": body })
    };
    let operations = [user("esi", "nowhere"), user("esi", "nowhere"), user("kofi", "clerk")];
    let batch = json!({ "atomic": false, "operations": operations });
    let seen = world.post("/batch", batch.to_string()).is(200);
    assert_eq!(seen.header("dangling-references"), "");
    let results = seen.json()["results"].as_array().unwrap().clone();
    let found: Vec<_> = results.iter().map(|result| result["danglingReferences"].to_string()).collect();
    assert_eq!(found, [r#"["/role"]"#, "null", "null"], "each result names its own");
}

#[test]
fn a_request_can_ask_that_what_names_nothing_is_refused() {
    let world = World::start();
    let ask = |method: &str, path: &str, value: &str, body: &Value| {
        let request = world.request(method, path).header("existing-only", value);
        let request = request.header("content-type", "application/json").header("idempotency-key", path);
        world.send(request.body(body.to_string()))
    };
    let employee = json!({ "identifier": "kofi", "assignedOffice": "accra" });
    ask("POST", "/employees", "true", &employee).refused(400, "unknown_reference");
    ask("POST", "/employees", "perhaps", &employee).refused(400, "invalid_parameter");
    world.get("/employees/kofi").refused(404, "employee_not_found");
    world.post("/offices", r#"{"identifier":"accra","name":"Accra"}"#).is(202);
    // The refusal has not used up the key.
    let made = ask("POST", "/employees", "true", &employee).is(202);
    assert_eq!(
        (made.header("existing-only"), made.header("dangling-references")),
        ("true".into(), "".into())
    );
    // An account that a teller names would be created; here it has to exist.
    ask("POST", "/offices/accra/teller", "true", &teller("T1")).refused(400, "unknown_reference");
    let user = json!({ "identifier": "esi", "role": "nowhere", "password": PASSWORD });
    ask("POST", "/users", "false", &user).is(202);
    ask("PUT", "/users/esi/roleIdentifier", "true", &json!({ "identifier": "gone" }))
        .refused(400, "unknown_reference");
    let post = |path: &str, body: Value| json!({ "method": "POST", "path": path, "body": body });
    let office = post("/offices", json!({ "identifier": "tema", "name": "Tema" }));
    let works_in = |name: &str, office: &str| {
        post("/employees", json!({ "identifier": name, "assignedOffice": office }))
    };
    let operations = json!([office, works_in("ama", "tema"), works_in("abi", "quay")]);
    let sent = ask("POST", "/batch", "true", &json!({ "operations": operations })).is(200);
    assert_eq!(sent.header("existing-only"), "true");
    let results = sent.json()["results"].clone();
    let statuses: Vec<_> = (0..3).map(|i| results[i]["status"].as_i64().unwrap()).collect();
    assert_eq!(statuses, [202, 202, 400]);
    assert_eq!(results[2]["problem"]["code"], "unknown_reference");
}

#[test]
fn who_may_not_read_a_kind_does_not_learn_what_exists_of_it() {
    let world = World::guarded();
    let admin = world.login("olga");
    admin.post("/offices", json!({ "identifier": "accra", "name": "Accra" })).is(202);
    let customer = |office: &str, name: &str| {
        json!({ "identifier": name, "referenceCustomer": "nobody", "assignedOffice": office,
            "assignedEmployee": "nobody" })
    };
    let send = |who: &As<'_>, header: &str, body: &Value| {
        let request = world.request("POST", "/customers").bearer_auth(&who.token).header(header, "true");
        world.send(request.header("content-type", "application/json").body(body.to_string()))
    };
    let group = "customer__v1__customer";
    let desk = world.user_with("desk", &[may(group, "RC")]);
    let blind = world.user_with("blind", &[may(group, "C")]);
    let front = [may(group, "RC"), may("office__v1__offices", "R"), may("office__v1__employees", "R")];
    let front = world.user_with("front", &front);
    for office in ["accra", "quay"] {
        let body = customer(office, "c-1");
        let tried = |who: &As<'_>| send(who, "dry-run", &body).is(202).header("dangling-references");
        assert_eq!((tried(&desk).as_str(), tried(&blind).as_str()), ("/referenceCustomer", ""));
        let all = if office == "quay" {
            "/referenceCustomer, /assignedOffice, /assignedEmployee"
        } else {
            "/referenceCustomer, /assignedEmployee"
        };
        assert_eq!((tried(&front).as_str(), tried(&admin).as_str()), (all, all));
        let only = json!({ "identifier": "c-1", "assignedOffice": office });
        let refused = send(&desk, "existing-only", &only).refused(403, "forbidden").json();
        let says = format!("with Existing-Only the answer would say whether office {office} exists");
        assert!(refused["detail"].as_str().unwrap().starts_with(&says), "{refused}");
    }
    let operation = |body: Value| json!({ "method": "POST", "path": "/customers", "body": body });
    let batch = json!({ "operations": [operation(customer("quay", "c-2"))] });
    let results = desk.post("/batch", batch).is(200).json()["results"].clone();
    assert_eq!(results[0]["danglingReferences"], json!(["/referenceCustomer"]));
    admin.get("/customers/c-1").refused(404, "customer_not_found");
    // What they may read is checked as ever.
    let known = json!({ "identifier": "c-3", "referenceCustomer": "c-2" });
    send(&desk, "existing-only", &known).is(202);
}
