//! Subscriptions that change while they are served, and slow receivers: `audit.md` section 4.

use super::webhook_deliveries::{create, deliveries, until};
use super::webhooks::{EVENTS, guarded, open, paused, shown, subscribe};
use crate::support::guarded::may;
use crate::support::servers::{Receiver, Treat};
use crate::support::world::World;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use std::time::{Duration, Instant};

#[test]
fn a_webhook_ends_with_its_owners_right_to_read_events() {
    let world = guarded();
    let (olga, admin) = (world.login("olga"), world.login("admin"));
    let reads = may("customer__v1__customer", "RC");
    let ama = world.user_with("ama", &[reads.clone(), may(EVENTS, "RC")]);
    let receiver = Receiver::start(&[]);
    let hook = json!({ "identifier": "own", "url": receiver.url(), "kinds": ["customer"] });
    ama.post("/events/subscriptions", hook).is(200);
    olga.post("/customers", json!({ "identifier": "c-1" })).is(202);
    receiver.events(1);
    admin.put("/roles/role-ama", json!({ "identifier": "role-ama", "permissions": [reads] })).is(202);
    olga.post("/customers", json!({ "identifier": "c-2" })).is(202);
    assert_eq!(paused(&olga, "own")["reason"], "ama, who set its url, may not read events any more");
    assert_eq!(receiver.events(1).len(), 1);
    // Who sets the same address again takes it over.
    let again = json!({ "url": receiver.url(), "state": "ACTIVE" });
    olga.put("/events/subscriptions/own", again).is(202);
    receiver.events(2);
    assert_eq!(receiver.came()[1].resources(), ["customer/c-2"]);
}

#[test]
fn eighty_receivers_that_hang_hold_up_no_other() {
    let (world, quick) = (open(), Receiver::start(&[]));
    let hangs = Receiver::start(&vec![Treat::Hang; 80]);
    let customers = || json!({ "kinds": ["customer"] });
    // They are begun in turn, from any one on: two that are far from each other are not both among the first.
    for part in ["a", "b"] {
        for n in 10..50 {
            subscribe(&world, &format!("{part}-{n}"), &hangs, customers());
        }
        subscribe(&world, &format!("{part}-quick"), &quick, customers());
    }
    create(&world, "c-1");
    let began = Instant::now();
    quick.events(2);
    assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
}

/// The url is changed while a receiver holds a delivery, which then answers so; the last try, noted as it is.
fn moved(said: &str) -> (World, Value) {
    let (world, go_on) = (open(), Arc::new(AtomicBool::new(false)));
    let old = Receiver::start(&[Treat::Late(go_on.clone(), said.to_owned())]);
    let new = Receiver::start(&[]);
    subscribe(&world, "sync", &old, json!({ "kinds": ["customer"] }));
    create(&world, "c-1");
    old.wait(1);
    world.put("/events/subscriptions/sync", json!({ "url": new.url() }).to_string()).is(202);
    create(&world, "c-2");
    go_on.store(true, SeqCst);
    new.events(2);
    let resources: Vec<_> = new.taken().iter().flat_map(|came| came.resources()).collect();
    assert_eq!(resources, ["customer/c-1", "customer/c-2"]);
    assert_eq!(old.came().len(), 1, "what is changed gets no more");
    let tried = until(|| deliveries(&world, "sync").into_iter().rev().find(|tried| tried["number"] == 1));
    assert!(tried["detail"].as_str().unwrap().starts_with("sent to the url of before: "), "{tried}");
    (world, tried)
}

#[test]
fn an_answer_of_the_url_of_before_moves_nothing_and_counts_no_failure() {
    let (_, taken) = moved("HTTP/1.1 204 X\r\ncontent-length: 0\r\n\r\n");
    assert_eq!((&taken["outcome"], &taken["status"]), (&json!("DELIVERED"), &json!(204)));
    let (world, refused) = moved("HTTP/1.1 500 X\r\ncontent-length: 0\r\n\r\n");
    assert_eq!((&refused["outcome"], &refused["nextTryOn"]), (&json!("FAILED"), &Value::Null));
    assert_eq!(shown(&world, "sync")["failures"], 0);
}

#[test]
fn the_outcome_of_a_test_has_room_for_the_longest_url() {
    let (world, receiver) = (open(), Receiver::start(&[]));
    let begin = receiver.url();
    let url = format!("{begin}/{}", "x".repeat(2048 - begin.len() - 1));
    world.post("/events/subscriptions", json!({ "identifier": "sync", "url": url }).to_string()).is(200);
    assert_eq!(world.post("/events/subscriptions/sync/test", "").is(200).json()["to"], url);
    let described = world.get("/openapi.json").is(200).json();
    let most = &described["components"]["schemas"]["TestOutcome"]["properties"]["to"]["maxLength"];
    assert_eq!(most, &json!(2048));
}
