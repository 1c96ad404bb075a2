//! `POST /batch`: many operations in one request.

use crate::support::guarded::{As, may};
use crate::support::world::{Seen, World};
use mfa_shared::api::batch::{OPERATIONS_MAX, PASSWORDS_MAX};
use serde_json::{Value, json};
use std::time::Duration;

fn customer(identifier: &str) -> Value {
    json!({ "method": "POST", "path": "/customers", "body": { "identifier": identifier } })
}

fn operation(method: &str, path: &str) -> Value {
    json!({ "method": method, "path": path })
}

fn batch(world: &World, operations: &[Value]) -> Seen {
    world.post("/batch", json!({ "operations": operations }).to_string())
}

fn atomic(world: &World, operations: &[Value]) -> Seen {
    world.post("/batch", json!({ "atomic": true, "operations": operations }).to_string())
}

/// `202`, or `409 identifier_taken`, for each operation.
fn results(seen: &Seen) -> Vec<String> {
    let list = seen.json()["results"].as_array().unwrap().clone();
    let shown = |result: &Value| match result["problem"]["code"].as_str() {
        Some(code) => {
            assert_eq!(result["status"], result["problem"]["status"]);
            format!("{} {code}", result["status"])
        }
        None => result["status"].to_string(),
    };
    list.iter().map(shown).collect()
}

fn customers(world: &World) -> Vec<String> {
    let page = world.get("/customers?size=1000").is(200).json();
    let list = page["customers"].as_array().unwrap().iter();
    list.map(|customer| customer["identifier"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn refusals_that_would_fill_the_memory_are_told_without_their_fields() {
    let world = World::start();
    let bad = json!({ "method": "POST", "path": "/roles",
        "body": { "identifier": "r1", "permissions": vec![json!({}); 52] } });
    let answer = batch(&world, &vec![bad; OPERATIONS_MAX]).is(200);
    assert!(answer.body.len() < 2 * 1024 * 1024, "{} bytes", answer.body.len());
    let list = answer.json()["results"].as_array().unwrap().clone();
    let fields = |result: &Value| result["problem"]["errors"].as_array().map_or(0, Vec::len);
    assert!(
        list.iter().all(|result| result["status"] == 400 && result["problem"]["code"] == "invalid_fields")
    );
    assert_eq!((fields(&list[0]), fields(&list[OPERATIONS_MAX - 1])), (100, 0));
    let detail = list[OPERATIONS_MAX - 1]["problem"]["detail"].as_str().unwrap();
    assert!(detail.contains("the first: /permissions/0/"), "{detail}");
}

#[test]
fn every_operation_has_its_own_result_and_sees_what_was_done_before_it() {
    let world = World::start();
    let seen = batch(
        &world,
        &[
            customer("c-1"),
            customer("c-1"),
            json!({ "method": "post", "path": "/customers", "body": { "identifier": "c-2", "member": 1 } }),
            json!({ "method": "POST", "path": "/customers/c-1/commands", "body": { "action": "activate" } }),
            operation("GET", "/customer/v1/customers/c-1/"),
            json!({ "method": "PUT", "path": "/customers/c-1/address", "ifMatch": "\"old\"", "body": {
                "street": "1 Quay", "city": "Tema", "countryCode": "GH", "country": "Ghana" } }),
            operation("GET", "/customers/none"),
            operation("GET", "/nothing/here"),
            operation("DELETE", "/customers"),
            operation("GET", "/customers?size=1"),
        ],
    );
    let expected = [
        "202",
        "409 identifier_taken",
        "400 invalid_fields",
        "202",
        "200",
        "412 precondition_failed",
        "404 customer_not_found",
        "404 route_not_found",
        "405 method_not_allowed",
        "200",
    ];
    assert_eq!(results(&seen.is(200)), expected);
    assert_eq!(customers(&world), ["c-1"]);
}

#[test]
fn a_result_holds_what_a_request_of_its_own_would_have_been_answered() {
    let world = World::start();
    world.post("/customers", r#"{"identifier":"c-1"}"#).is(202);
    let body = json!({ "identifier": "c-2", "givenName": 5 });
    let operations =
        [operation("GET", "/customers/c-1"), json!({ "method": "POST", "path": "/customers", "body": body })];
    let seen = batch(&world, &operations).is(200);
    let alone = world.get("/customers/c-1");
    let read = &seen.json()["results"][0];
    assert_eq!(
        (read["etag"].as_str().unwrap(), &read["body"]),
        (alone.header("etag").as_str(), &alone.json())
    );
    let refused = &seen.json()["results"][1]["problem"];
    let mut expected = world.post("/customers", body.to_string()).fields(&["/givenName wrong_type"]).json();
    expected["requestId"] = refused["requestId"].clone();
    assert_eq!(refused, &expected);
    assert_eq!(refused["requestId"], seen.header("x-request-id"));
}

#[test]
fn a_refused_operation_leaves_nothing_behind() {
    let world = World::start();
    let office =
        json!({ "method": "POST", "path": "/offices", "body": { "identifier": "o1", "name": "One" } });
    let used = json!({ "method": "PUT", "path": "/offices/o1/references", "body": { "type": "x", "state": "ACTIVE" } });
    let seen =
        batch(&world, &[office, used, operation("DELETE", "/offices/o1"), operation("GET", "/offices/o1")]);
    assert_eq!(results(&seen.is(200)), ["202", "202", "409 in_use", "200"]);
    assert_eq!(world.get("/offices/o1").is(200).json()["externalReferences"], true);
}

#[test]
fn an_atomic_batch_is_all_or_nothing_and_names_the_first_refusal() {
    let world = World::start();
    assert_eq!(results(&atomic(&world, &[customer("c-1"), customer("c-2")]).is(200)), ["202", "202"]);
    let refused = atomic(&world, &[customer("c-3"), customer("c-1"), customer("")]);
    let problem = refused.refused(409, "identifier_taken").json();
    assert_eq!(problem["operation"], 1);
    let detail = problem["detail"].as_str().unwrap();
    assert_eq!(detail, "operation 1 of the batch, POST /customers: there is a customer \"c-1\" already");
    let bad =
        atomic(&world, &[customer("c-3"), customer("")]).fields(&["/operations/1/body/identifier blank"]);
    assert_eq!(bad.json()["operation"], 1);
    atomic(&world, &[customer("c-3"), operation("GET", "/x")]).refused(404, "route_not_found");
    assert_eq!(customers(&world), ["c-1", "c-2"]);
}

#[test]
fn an_operation_with_a_key_is_done_once_in_whatever_batch_it_travels() {
    let world = World::start();
    let keyed = |identifier: &str, key: &str| {
        let mut operation = customer(identifier);
        operation["idempotencyKey"] = json!(key);
        operation
    };
    batch(&world, &[keyed("c-1", "k1"), keyed("c-1", "k2")]).is(200);
    let again = batch(
        &world,
        &[customer("c-0"), keyed("c-1", "k1"), keyed("c-1", "k2"), keyed("c-9", "k1"), keyed("c-9", "a b")],
    )
    .is(200);
    let expected =
        ["202", "202", "409 identifier_taken", "422 idempotency_key_reused", "400 invalid_idempotency_key"];
    assert_eq!(results(&again), expected);
    assert_eq!(
        (&again.json()["results"][0]["replayed"], &again.json()["results"][1]["replayed"]),
        (&json!(false), &json!(true))
    );
    // Alone or in a batch, it is the same request.
    let alone =
        world.request("POST", "/customers").header("idempotency-key", "k1").body(r#"{"identifier":"c-1"}"#);
    assert_eq!(world.send(alone).is(202).header("idempotency-replayed"), "true");
}

#[test]
fn a_repeated_batch_gets_its_first_answer_again() {
    let world = World::start();
    let keyed = |key: &str, operations: &[Value]| {
        let request = world.request("POST", "/batch").header("idempotency-key", key);
        world.send(request.body(json!({ "operations": operations }).to_string()))
    };
    let send = |operations: &[Value]| keyed("night-1", operations);
    let first = send(&[customer("c-1"), customer("c-1")]).is(200);
    let again = send(&[customer("c-1"), customer("c-1")]).is(200);
    assert_eq!((again.header("idempotency-replayed").as_str(), again.text()), ("true", first.text()));
    send(&[customer("c-2")]).refused(422, "idempotency_key_reused");
    assert_eq!(customers(&world), ["c-1"]);
    // Where everything was refused nothing is kept, as of a request that was refused.
    for operations in [vec![operation("POST", &format!("/{}", "x".repeat(8_000))); 2], vec![customer("c-1")]]
    {
        let refused = keyed("night-2", &operations).is(200);
        assert_eq!(refused.header("idempotency-replayed"), "");
    }
    assert_eq!(results(&keyed("night-2", &[customer("c-2")]).is(200)), ["202"]);
}

/// The answer is kept, and what was read may be the password of a gateway.
#[test]
fn a_batch_with_a_key_of_its_own_shows_nothing() {
    let world = World::start();
    let webhook = json!({ "method": "POST", "path": "/events/subscriptions",
        "body": { "identifier": "sync", "url": "https://example.org/mfa" } });
    let operations = [customer("c-1"), operation("GET", "/customers/c-1"), webhook.clone()];
    let body = json!({ "operations": operations });
    let request = world.request("POST", "/batch").header("idempotency-key", "k").body(body.to_string());
    let seen = world.send(request).is(200);
    assert_eq!(results(&seen), ["202", "400 not_in_batch", "400 not_in_batch"]);
    assert!(!seen.text().contains("whsec_"), "{}", seen.text());
    world.get("/events/subscriptions/sync").refused(404, "subscription_not_found");
    assert_eq!(results(&batch(&world, &[webhook]).is(200)), ["200"]);
}

#[test]
fn a_batch_is_bounded_in_operations_bytes_and_passwords() {
    let world = World::start();
    let many = |count: usize| vec![operation("GET", "/live"); count];
    assert_eq!(results(&batch(&world, &many(OPERATIONS_MAX)).is(200)).len(), OPERATIONS_MAX);
    batch(&world, &many(OPERATIONS_MAX + 1)).fields(&["/operations too_many"]);
    let long =
        json!({ "method": "POST", "path": "/offices", "body": { "description": "x".repeat(1_048_576) } });
    batch(&world, &[long]).refused(413, "body_too_large");
    let user = |n: usize| {
        json!({ "method": "POST", "path": "/users", "body": {
        "identifier": format!("u{n:03}"), "role": "clerk", "password": "blue kettle 7" } })
    };
    let users: Vec<_> = (0..=PASSWORDS_MAX).map(user).collect();
    batch(&world, &users).fields(&["/operations too_many"]);
    assert_eq!(results(&batch(&world, &users[..2]).is(200)), ["202", "202"]);
    assert_eq!(world.try_login("u001", "blue kettle 7").is(200).json()["password_change_required"], true);
    batch(&world, &[]).is(200);
    // What it reads is bounded, too.
    let large = json!({ "identifier": "o1", "name": "One", "description": "é".repeat(2048) });
    world.post("/offices", large.to_string()).is(202);
    let read = results(&batch(&world, &vec![operation("GET", "/offices?size=1000"); 1000]).is(200));
    assert_eq!((read[0].as_str(), read[999].as_str()), ("200", "413 body_too_large"));
}

#[test]
fn a_batch_that_cannot_be_read_is_refused_as_a_whole() {
    let world = World::start();
    world.post("/batch", "{").refused(400, "malformed_body");
    world.post("/batch", "[]").refused(400, "malformed_body");
    let bad =
        json!({ "atomic": 1, "operations": [{ "method": "PATCH", "path": "/x" }, { "method": "GET" }] });
    world.post("/batch", bad.to_string()).fields(&[
        "/atomic wrong_type",
        "/operations/0/method unknown_value",
        "/operations/1/path required",
    ]);
    let text = world.request("POST", "/batch").header("content-type", "text/plain").body("{}");
    world.send(text).refused(415, "unsupported_media_type");
    world.get("/batch").refused(405, "method_not_allowed");
}

#[test]
fn images_tokens_messages_and_batches_do_not_travel() {
    let world = World::start();
    world.post("/customers", r#"{"identifier":"c-1"}"#).is(202);
    for (method, path) in [
        ("POST", "/token"),
        ("DELETE", "/token/_current"),
        ("POST", "/batch"),
        ("GET", "/ready"),
        ("POST", "/customers/c-1/portrait"),
        ("GET", "/customers/c-1/portrait"),
        ("POST", "/configuration/email/main/test"),
    ] {
        let seen = batch(&world, &[operation(method, path)]).is(200);
        assert_eq!(results(&seen), ["400 not_in_batch"], "{method} {path}");
    }
    // A wrong drawer password must count, so it cannot be tried where everything is rolled back.
    let unlock = json!({ "method": "POST", "path": "/teller/T1/drawer", "body": {
        "employeeIdentifier": "efua", "password": "0000" } });
    assert_eq!(results(&batch(&world, &[unlock]).is(200)), ["400 not_in_batch"]);
    assert_eq!(results(&batch(&world, &[operation("DELETE", "/customers/c-1/portrait")]).is(200)), ["202"]);
}

#[test]
fn a_command_travels_with_its_query_or_as_a_form() {
    let counter = crate::support::counter::Counter::start();
    let world = &counter.world;
    let account = counter.account("c-1");
    let command = |body: Value, query: &str| json!({ "method": "POST", "path": format!("/instances/{account}{query}"), "body": body });
    let operations = [command(Value::Null, "?command=activate"), command(json!("command=TRANSACTION"), "")];
    assert_eq!(results(&batch(world, &operations).is(200)), ["202", "202"]);
    assert_eq!(counter.instance(&account)["state"], "ACTIVE");
}

fn send(client: &As<'_>, operations: &[Value]) -> Seen {
    client.post("/batch", json!({ "operations": operations }))
}

#[test]
fn every_operation_needs_the_permission_that_it_needs_alone() {
    let world = World::guarded();
    world.post("/batch", "{").refused(401, "unauthenticated");
    let reader =
        world.user_with("reader", &[may("customer__v1__customer", "R"), may("office__v1__offices", "RC")]);
    let office =
        json!({ "method": "POST", "path": "/offices", "body": { "identifier": "o1", "name": "One" } });
    let operations = [
        customer("c-1"),
        office,
        operation("GET", "/customers/c-1"),
        operation("GET", "/users/reader"),
        operation("GET", "/users/olga"),
        operation("GET", "/nothing"),
    ];
    let seen = send(&reader, &operations).is(200);
    let expected =
        ["403 forbidden", "202", "404 customer_not_found", "200", "403 forbidden", "404 route_not_found"];
    assert_eq!(results(&seen), expected);
    let missing = &seen.json()["results"][0]["problem"]["missing"][0];
    assert_eq!(missing["permittableEndpointGroupIdentifier"], "customer__v1__customer");
    let all = json!({ "atomic": true, "operations": operations });
    reader.post("/batch", all).refused(403, "forbidden");
    assert_eq!(reader.get("/customers").json()["totalElements"], 0);
}

#[test]
fn rights_granted_in_a_batch_do_not_count_within_it_or_after_a_rollback() {
    let world = World::guarded();
    let admin = world.login("admin");
    let permission = json!({ "permittableEndpointGroupIdentifier": "customer__v1__customer",
        "allowedOperations": ["READ", "CHANGE"] });
    let role = json!({ "method": "PUT", "path": "/roles/own", "body": {
        "identifier": "own", "permissions": [permission] } });
    let ama = world.user_with("ama", &[may("identity__v1__roles", "RC")]);
    admin.post("/roles", json!({ "identifier": "own", "permissions": [] })).is(202);
    admin.put("/users/ama/roleIdentifier", json!({ "identifier": "own" })).is(202);
    assert!(!ama.lives(), "a new role ends the session");
    let ama = world.login("ama");
    send(&ama, &[customer("c-1")]).is(200);
    // Atomic, and the second operation is refused: the grant is gone with it.
    let both = json!({ "atomic": true, "operations": [role.clone(), operation("GET", "/customers/none")] });
    admin.post("/batch", both).refused(403, "forbidden");
    assert_eq!(results(&send(&ama, &[customer("c-1")]).is(200)), ["403 forbidden"]);
    assert_eq!(results(&send(&admin, &[role]).is(200)), ["202"]);
    assert_eq!(results(&send(&ama, &[customer("c-1")]).is(200)), ["202"]);
}

#[test]
fn groups_that_a_refused_batch_would_have_changed_are_not_remembered() {
    let world = World::guarded();
    let (admin, olga) = (world.login("admin"), world.login("olga"));
    let group = |paths: &[&str]| {
        let permittable = |path: &&str| json!({ "path": path, "method": "GET" });
        json!({ "identifier": "g1", "permittables": paths.iter().map(permittable).collect::<Vec<_>>() })
    };
    admin.post("/permittablegroups", group(&[])).is(202);
    let ama = world.user_with("ama", &[may("g1", "R")]);
    let put = |body: Value| json!({ "method": "PUT", "path": "/permittablegroups/g1", "body": body });
    let wide = put(group(&["customer-v1/customers/*"]));
    let batch = json!({ "atomic": true, "operations": [wide, operation("GET", "/roles/clerk"), operation("GET", "/roles/none")] });
    admin.post("/batch", batch).refused(404, "role_not_found");
    ama.get("/customers").refused(403, "forbidden");
    assert_eq!(results(&send(&admin, &[put(group(&["office-v1/offices/*"]))]).is(200)), ["202"]);
    ama.get("/customers").refused(403, "forbidden");
    ama.get("/offices").is(200);
    olga.get("/customers").is(200);
}

#[test]
fn a_user_who_must_change_the_password_cannot_send_a_batch() {
    let world = World::guarded();
    let admin = world.login("admin");
    admin
        .post("/users", json!({ "identifier": "new", "role": "clerk", "password": "first password" }))
        .is(202);
    let token = world.try_login("new", "first password").is(200).json();
    let new = world.bearer(&token["access_token"]);
    let own =
        json!({ "method": "PUT", "path": "/users/new/password", "body": { "password": "blue kettle 7" } });
    send(&new, &[own]).refused(403, "password_change_required");
}

#[test]
fn a_batch_of_reads_may_take_long_and_a_read_beside_changes_may_not() {
    let world = World::with(|config| config.batch_read_time = Duration::ZERO);
    world.post("/customers", json!({ "identifier": "c-1" }).to_string()).is(202);
    let (list, one) = (operation("GET", "/customers"), operation("GET", "/customers/c-1"));
    let seen = batch(&world, &[list.clone(), one.clone(), operation("GET", "/offices")]).is(200);
    assert_eq!(results(&seen), ["200", "200", "200"]);
    // A lookup by key delays no one.
    let seen = batch(&world, &[customer("c-2"), one]).is(200);
    assert_eq!(results(&seen), ["202", "200"]);
    let seen = batch(&world, &[customer("c-3"), list.clone()]).refused(503, "unavailable");
    let said = seen.text();
    assert!(said.contains("GET /customers") && said.contains("a request of its own"), "{said}");
    assert_eq!(customers(&world), ["c-1", "c-2"], "nothing of it was done");
    // With time enough it is done.
    let world = World::start();
    let seen = batch(&world, &[customer("c-3"), list]).is(200);
    assert_eq!(results(&seen), ["202", "200"]);
}

#[test]
fn reads_beside_operations_that_are_refused_anyway_are_no_reads_beside_changes() {
    let world = World::guarded_with(|config| config.batch_read_time = Duration::ZERO);
    let reader = world.user_with("reader", &[may("customer__v1__customer", "R")]);
    let list = operation("GET", "/customers");
    let seen = send(&reader, &[list.clone(), operation("DELETE", "/nothing"), customer("c-1")]).is(200);
    assert_eq!(results(&seen), ["200", "404 route_not_found", "403 forbidden"]);
    let writer = world.user_with("writer", &[may("customer__v1__customer", "RC")]);
    send(&writer, &[list, operation("DELETE", "/nothing"), customer("c-1")]).refused(503, "unavailable");
    reader.get("/customers/c-1").refused(404, "customer_not_found");
}

#[test]
fn the_reads_of_a_batch_with_changes_have_one_time_for_all_of_them() {
    let world = World::with(|config| config.batch_read_time = Duration::from_millis(200));
    let many: Vec<_> = (0..1_000).map(|number| customer(&format!("m-{number}"))).collect();
    batch(&world, &many).is(200);
    let beside = |identifier: &str, reads: usize| {
        let list = operation("GET", "/customers?term=nobody");
        batch(&world, &[vec![customer(identifier)], vec![list; reads]].concat())
    };
    beside("few", 5).is(200);
    let said = beside("many", 999).refused(503, "unavailable").text();
    assert!(said.contains("a request of its own"), "{said}");
    world.get("/customers/few").is(200);
    world.get("/customers/many").refused(404, "customer_not_found");
}

#[test]
fn a_read_that_outlasts_its_moment_ends_and_says_what_to_do() {
    let world = World::with(|config| config.read_time = Duration::ZERO);
    world.post("/customers", json!({ "identifier": "c-1" }).to_string()).is(202);
    for path in ["/ledger/trial-balance", "/roles"] {
        let said = world.get(path).refused(503, "unavailable").text();
        assert!(said.contains("more than 60 seconds") && said.contains("a shorter period"), "{path}: {said}");
    }
    batch(&world, &[operation("GET", "/customers/c-1"), operation("GET", "/roles")])
        .refused(503, "unavailable");
    // What is found by its key, a page of an order, a change and an export go on.
    for path in ["/customers/c-1", "/customers", "/ledger/accounts"] {
        world.get(path).is(200);
    }
    batch(&world, &[customer("c-2")]).is(200);
    let export = world.request("GET", "/customers").header("accept", "application/x-ndjson");
    assert_eq!(world.send(export).is(200).text().lines().count(), 2);
}
