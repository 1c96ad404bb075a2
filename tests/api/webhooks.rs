//! Subscriptions of webhooks: `audit.md` sections 4 and 6.

use super::tokens::{KID, application, claims, sign_in};
use crate::support::assertion::Key;
use crate::support::guarded::{As, may};
use crate::support::servers::Receiver;
use crate::support::world::World;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

pub const EVENTS: &str = "events__v1__events";

/// A daemon that may call receivers of this machine.
pub fn open() -> World {
    World::with(|config| {
        config.webhook_plaintext = true;
        config.webhook_private_addresses = vec!["127.0.0.0/8".parse().unwrap()];
    })
}

/// One with access control, whose receivers are here.
pub fn guarded() -> World {
    World::guarded_with(|config| {
        config.webhook_plaintext = true;
        config.webhook_private_addresses = vec!["127.0.0.1".parse().unwrap()];
    })
}

pub fn subscribe(world: &World, id: &str, receiver: &Receiver, more: Value) -> Value {
    let mut body = json!({ "identifier": id, "url": receiver.url() });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    world.post("/events/subscriptions", body.to_string()).is(200).json()
}

pub fn shown(world: &World, id: &str) -> Value {
    world.get(&format!("/events/subscriptions/{id}")).is(200).json()
}

#[test]
fn a_subscription_is_created_read_changed_deleted_with_a_secret_once() {
    let world = World::start();
    world.post("/customers", r#"{"identifier":"c-1"}"#).is(202);
    let given = json!({ "identifier": "sync", "url": "https://example.org/mfa", "kinds": ["customer"] });
    let made = world.post("/events/subscriptions", given.to_string()).is(200).json();
    let names: Vec<_> = made.as_object().unwrap().keys().cloned().collect();
    let expected = [
        "identifier",
        "url",
        "kinds",
        "secret",
        "state",
        "reason",
        "createdBy",
        "createdOn",
        "position",
        "failures",
    ];
    assert_eq!(names, expected);
    assert!(made["secret"].as_str().unwrap().starts_with("whsec_"), "{made}");
    assert_eq!((&made["state"], &made["failures"]), (&json!("ACTIVE"), &json!(0)));
    let mut hidden = made.clone();
    hidden["secret"] = Value::Null;
    let read = world.get("/events/subscriptions/sync").is(200);
    assert_eq!(read.json(), hidden);
    assert_eq!(world.get("/events/subscriptions").is(200).json(), json!([hidden]));
    world.post("/events/subscriptions", given.to_string()).refused(409, "identifier_taken");

    let tag = read.header("etag");
    let change = json!({ "state": "paused", "kinds": ["Account", "CUSTOMER"] }).to_string();
    let put = |tag: &str| {
        let request = world.request("PUT", "/events/subscriptions/sync").header("if-match", tag.to_owned());
        world.send(request.body(change.clone()))
    };
    put("\"x\"").refused(412, "precondition_failed");
    put(&tag).is(202);
    let read = shown(&world, "sync");
    assert_eq!((&read["state"], &read["kinds"]), (&json!("PAUSED"), &json!(["account", "customer"])));
    assert_eq!(read["url"], "https://example.org/mfa");
    let other = json!({ "identifier": "other" }).to_string();
    world.put("/events/subscriptions/sync", other).refused(400, "identifier_mismatch");

    world.put("/events/subscriptions/sync/position", r#"{"position":0}"#).is(202);
    assert_eq!(shown(&world, "sync")["position"], 0);
    for (bad, code) in [("-1", "out_of_range"), ("999999", "out_of_range"), ("\"x\"", "wrong_type")] {
        let body = format!(r#"{{"position":{bad}}}"#);
        world.put("/events/subscriptions/sync/position", body).fields(&[&format!("/position {code}")]);
    }
    assert_eq!(world.get("/events/subscriptions/sync/deliveries").is(200).json(), json!([]));

    world.delete("/events/subscriptions/sync").is(202);
    for (method, path) in [
        ("GET", ""),
        ("PUT", ""),
        ("DELETE", ""),
        ("PUT", "/position"),
        ("GET", "/deliveries"),
        ("POST", "/test"),
    ] {
        let path = format!("/events/subscriptions/sync{path}");
        world.call(method, &path, r#"{"position":0}"#).refused(404, "subscription_not_found");
    }
}

#[test]
fn bad_input_is_refused_by_the_field() {
    let world = World::start();
    let refused = |field: &str, value: Value, code: &str| {
        let mut body = json!({ "identifier": "sync", "url": "https://example.org" });
        body[field] = value;
        let pointer =
            if code == "unknown_value" && field == "kinds" { "/kinds/0" } else { &format!("/{field}") };
        let expected = format!("{pointer} {code}");
        world.post("/events/subscriptions", body.to_string()).fields(&[&expected]);
    };
    for (url, code) in [
        ("ftp://x", "bad_characters"),
        ("https://", "bad_characters"),
        ("https:///path", "bad_characters"),
        ("https://bank:word@example.org", "bad_characters"),
        ("http://x", "unknown_value"),
        ("https://localhost", "unknown_value"),
        ("https://127.0.0.1/x", "unknown_value"),
        ("https://[::1]/x", "unknown_value"),
        ("https://169.254.169.254/", "unknown_value"),
        ("https://192.168.1.1/", "unknown_value"),
    ] {
        refused("url", json!(url), code);
    }
    refused("kinds", json!(["nothing"]), "unknown_value");
    refused("secret", json!("whsec_c2hvcnQ="), "too_short");
    refused("secret", json!("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"), "too_short");
    refused("identifier", json!("z"), "too_short");
    refused("state", json!("OFF"), "unknown_value");
    world.post("/events/subscriptions", "{}").fields(&["/identifier required", "/url required"]);
    assert_eq!(world.get("/events/subscriptions").json(), json!([]));
    let change = json!({ "url": "https://localhost" }).to_string();
    world.post("/events/subscriptions", r#"{"identifier":"sync","url":"https://example.org"}"#).is(200);
    world.put("/events/subscriptions/sync", change).fields(&["/url unknown_value"]);
}

#[test]
fn there_is_a_bound_of_subscriptions() {
    let world = World::start();
    for n in 0..100 {
        let body = json!({ "identifier": format!("s-{n}"), "url": "https://example.org", "state": "PAUSED" });
        world.post("/events/subscriptions", body.to_string()).is(200);
    }
    let more = r#"{"identifier":"more","url":"https://example.org"}"#;
    world.post("/events/subscriptions", more).refused(409, "too_many_subscriptions");
    world.delete("/events/subscriptions/s-7").is(202);
    world.post("/events/subscriptions", more).is(200);
}

#[test]
fn no_trail_no_journal_and_no_repetition_shows_a_secret() {
    let mut world = World::start();
    let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    let body = json!({ "identifier": "sync", "url": "https://example.org", "secret": secret }).to_string();
    let create = || {
        let request = world.request("POST", "/events/subscriptions").header("idempotency-key", "k-1");
        world.send(request.body(body.clone()))
    };
    assert_eq!(create().is(200).json()["secret"], secret);
    create().refused(409, "identifier_taken");
    let empty = world.request("POST", "/events/subscriptions").header("idempotency-key", "");
    world.send(empty.body("{}")).refused(400, "invalid_idempotency_key");
    let change = json!({ "secret": "whsec_AfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" }).to_string();
    world.put("/events/subscriptions/sync", change).is(202);
    let trail = world.get("/audit?sortDirection=ASC").is(200);
    assert!(!trail.text().contains("fKQ9r8GKYq"), "{}", trail.text());
    let records = trail.json()["records"].clone();
    let changed = &records[1]["changes"];
    assert_eq!(changed, &json!([{ "field": "/secret", "before": "***", "after": "***" }]), "{records}");
    assert_eq!(records[1]["resource"], "webhook/sync");
    if world.config().store.postgres().is_some() {
        return;
    }
    world.stop();
    let mut folders = vec![world.config().data_dir.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            if entry.path().is_dir() {
                folders.push(entry.path());
                continue;
            }
            let bytes = std::fs::read(entry.path()).unwrap();
            let found = bytes.windows(10).any(|part| part == b"fKQ9r8GKYq");
            assert!(!found, "{} holds the secret", entry.path().display());
        }
    }
}

#[test]
fn who_sets_the_address_gets_what_they_may_read_and_nothing_else() {
    let world = guarded();
    let olga = world.login("olga");
    let ama = world.user_with("ama", &[may("customer__v1__customer", "RC"), may(EVENTS, "RC")]);
    let deaf = world.user_with("dora", &[may(EVENTS, "C")]);
    let (all, own, none) = (Receiver::start(&[]), Receiver::start(&[]), Receiver::start(&[]));
    let make = |who: &As<'_>, id: &str, receiver: &Receiver| {
        let body = json!({ "identifier": id, "url": receiver.url(), "kinds": ["office", "customer"] });
        who.post("/events/subscriptions", body).is(200);
    };
    make(&olga, "all", &all);
    make(&ama, "own", &own);
    make(&deaf, "none", &none);
    olga.post("/offices", json!({ "identifier": "xx", "name": "X" })).is(202);
    ama.post("/customers", json!({ "identifier": "c-1" })).is(202);
    let resources = |receiver: &Receiver, count: usize| -> Vec<String> {
        receiver.events(count);
        receiver.came().iter().flat_map(crate::support::servers::Came::resources).collect()
    };
    assert_eq!(resources(&all, 2), ["office/xx", "customer/c-1"]);
    assert_eq!(resources(&own, 1), ["customer/c-1"]);
    // A subscription of a user with more rights, pointed at one's own address, brings no more.
    ama.put("/events/subscriptions/all", json!({ "url": own.url().replace("/hook", "/taken") })).is(202);
    olga.post("/offices", json!({ "identifier": "yy", "name": "Y" })).is(202);
    ama.post("/customers", json!({ "identifier": "c-2" })).is(202);
    let reported = resources(&own, 3);
    assert!(reported.iter().all(|resource| resource.starts_with("customer/")), "{reported:?}");
    assert!(none.came().is_empty());
    // Whose login is gone is served no more, and the trail says so.
    olga.delete("/users/ama").is(202);
    olga.post("/customers", json!({ "identifier": "c-3" })).is(202);
    let paused = paused(&olga, "own");
    assert!(paused["reason"].as_str().unwrap().starts_with("ama, who set its url"), "{paused}");
    let failed = olga.get("/audit?operation=DeliverWebhook").is(200).json();
    let record = &failed["records"][0];
    assert_eq!((&record["outcome"], &record["actor"]), (&json!("FAILED"), &json!("system")), "{failed}");
    // Who sets the same address again takes it over.
    olga.put("/events/subscriptions/own", json!({ "url": paused["url"], "state": "ACTIVE" })).is(202);
    assert_eq!(resources(&own, 4).last().unwrap(), "customer/c-3");
}

/// The receiver of a subscription to offices, whose address the application has set.
fn subscribed(world: &World, key: &Key) -> Receiver {
    let token = sign_in(world, key, &claims(world, "j1"), None).is(200).json();
    let receiver = Receiver::start(&[]);
    let hook = json!({ "identifier": "hook", "url": receiver.url(), "kinds": ["office"] });
    world.bearer(&token["access_token"]).post("/events/subscriptions", hook).is(200);
    receiver
}

/// A subscription once it is paused, which is seen at its next event.
pub fn paused(client: &As<'_>, id: &str) -> Value {
    let until = Instant::now() + Duration::from_secs(20);
    loop {
        let shown = client.get(&format!("/events/subscriptions/{id}")).is(200).json();
        if shown["state"] == "PAUSED" {
            return shown;
        }
        assert!(Instant::now() < until, "{shown}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_webhook_ends_with_the_keys_of_the_application_that_set_its_address() {
    let world = guarded();
    let permissions = [("office__v1__offices", "R"), ("events__v1__events", "RC")];
    let (key, registrar) = application(&world, &permissions);
    let receiver = subscribed(&world, &key);
    let olga = world.login("olga");
    let office = |id: &str| olga.post("/offices", json!({ "identifier": id, "name": "X" })).is(202);
    office("one");
    receiver.events(1);
    registrar.delete(&format!("/applications/crm-v1/signatures/{KID}")).is(202);
    office("two");
    let reason = "application crm-v1, which set its url, has no key any more to sign in with";
    assert_eq!(paused(&olga, "hook")["reason"], reason);
    assert_eq!(receiver.events(1).len(), 1);
}

#[test]
fn a_webhook_of_a_deleted_application_is_not_that_of_another_one_of_its_name() {
    let world = guarded();
    let permissions = [("office__v1__offices", "R"), ("events__v1__events", "RC")];
    let (key, registrar) = application(&world, &permissions);
    let receiver = subscribed(&world, &key);
    let deleted = registrar.delete("/applications/crm-v1").is(202);
    let olga = world.login("olga");
    let at = format!("/audit?requestId={}", deleted.header("x-request-id"));
    let record = olga.get(&at).is(200).json()["records"][0].clone();
    assert!(record["affects"].as_array().unwrap().contains(&json!("webhook/hook")), "{record}");
    let reason = "application crm-v1, which set its url, was deleted";
    assert_eq!(paused(&olga, "hook")["reason"], reason);
    // Resumed beside another application of that name, it brings nothing either.
    registrar.call("PUT", &format!("/applications/crm-v1/signatures/{KID}"), key.public()).is(202);
    registrar.post("/applications/crm-v1/permissions", json!(may("office__v1__offices", "R"))).is(202);
    olga.put("/events/subscriptions/hook", json!({ "state": "ACTIVE" })).is(202);
    olga.post("/offices", json!({ "identifier": "one", "name": "X" })).is(202);
    assert_eq!(paused(&olga, "hook")["reason"], "it is not known who set its url; set it again");
    assert!(receiver.came().is_empty());
    olga.put("/events/subscriptions/hook", json!({ "url": receiver.url(), "state": "ACTIVE" })).is(202);
    receiver.events(1);
}
