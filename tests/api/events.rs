//! Events: `audit.md` section 4.

use crate::support::guarded::may;
use crate::support::world::World;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

fn events(world: &World, query: &str) -> Vec<Value> {
    world.get(&format!("/events?{query}")).is(200).json().as_array().unwrap().clone()
}

fn create(world: &World, id: &str) {
    world.post("/customers", json!({ "identifier": id }).to_string()).is(202);
}

#[test]
fn every_change_is_an_event_in_order_and_nothing_else_is() {
    let world = World::start();
    create(&world, "c-1");
    world.post("/offices", r#"{"identifier":"ho","name":"Head"}"#).is(202);
    world.post("/customers", "{}").refused(400, "invalid_fields");
    world.put("/customers/c-1", r#"{"identifier":"c-1","surname":"Addo"}"#).is(202);
    let found = events(&world, "");
    let said: Vec<_> =
        found.iter().map(|event| (event["operation"].clone(), event["resource"].clone())).collect();
    let line = |operation: &str, resource: &str| (json!(operation), json!(resource));
    assert_eq!(
        said,
        [
            line("CreateCustomer", "customer/c-1"),
            line("CreateOffice", "office/ho"),
            line("UpdateCustomer", "customer/c-1")
        ]
    );
    let names: Vec<_> = found[0].as_object().unwrap().keys().cloned().collect();
    let expected = ["sequence", "occurredOn", "operation", "resource", "affects", "actor", "requestId"];
    assert_eq!(names, expected);
    assert_eq!(events(&world, "kind=office").len(), 1);
    assert_eq!(events(&world, "kind=office&kind=customer&after=1").len(), 2);
    assert_eq!(events(&world, "kind=Office,CUSTOMER&after=1").len(), 2);
    assert_eq!(events(&world, "size=1&after=1")[0]["sequence"], 2);
    assert_eq!(events(&world, "after=99999"), Vec::<Value>::new());
    for bad in [
        "kind=nothing",
        "kind=office,",
        "after=-1",
        "after=x",
        "size=0",
        "size=1001",
        "waitSeconds=61",
        "waitSeconds=x",
    ] {
        world.get(&format!("/events?{bad}")).refused(400, "invalid_parameter");
    }
}

#[test]
fn as_lines_events_are_all_there_are_and_may_wait_for_the_first() {
    let world = World::start();
    for n in 0..250 {
        create(&world, &format!("c-{n}"));
    }
    let lines = |query: &str| {
        let request =
            world.request("GET", &format!("/events{query}")).header("accept", "application/x-ndjson");
        let seen = world.send(request).is(200);
        assert_eq!(seen.header("content-type"), "application/x-ndjson");
        seen.text().lines().map(|line| serde_json::from_str::<Value>(line).unwrap()).collect::<Vec<_>>()
    };
    let all = events(&world, "size=1000");
    assert_eq!(all.len(), 250);
    // The size is checked and not applied, as in every other list.
    assert_eq!(lines("?size=1"), all);
    assert_eq!(lines("?after=248").len(), 2);
    assert_eq!(lines("?kind=office").len(), 0);
    let refused = world.request("GET", "/events?size=0").header("accept", "application/x-ndjson");
    world.send(refused).refused(400, "invalid_parameter");
    let last = world.get("/audit/head").is(200).json()["sequence"].as_u64().unwrap();
    let request = world.request("GET", &format!("/events?after={last}&kind=customer&waitSeconds=30"));
    let waiting = request.header("accept", "application/x-ndjson").send();
    let waiting = world.spawn(async move { waiting.await.unwrap().text().await.unwrap() });
    std::thread::sleep(Duration::from_millis(300));
    create(&world, "c-late");
    assert!(world.wait(waiting).contains("customer/c-late"));
}

#[test]
fn an_array_waits_for_its_first_event_and_no_longer() {
    let world = World::start();
    create(&world, "c-1");
    let last = events(&world, "").last().unwrap()["sequence"].as_u64().unwrap();
    let began = Instant::now();
    assert_eq!(events(&world, &format!("after={last}&waitSeconds=1")), Vec::<Value>::new());
    assert!(began.elapsed() >= Duration::from_millis(900), "{:?}", began.elapsed());
    let waiting = world.request("GET", &format!("/events?after={last}&waitSeconds=30")).send();
    let waiting = world.spawn(async move { waiting.await.unwrap().text().await.unwrap() });
    std::thread::sleep(Duration::from_millis(300));
    create(&world, "c-2");
    let heard: Value = serde_json::from_str(&world.wait(waiting)).unwrap();
    assert_eq!(heard[0]["resource"], "customer/c-2");
    assert!(began.elapsed() < Duration::from_secs(20));
}

#[test]
fn a_listener_gets_no_events_that_they_may_not_read() {
    let world = World::guarded();
    let customers =
        world.user_with("ama", &[may("customer__v1__customer", "RC"), may("events__v1__events", "R")]);
    let deaf = world.user("dora", "clerk");
    deaf.get("/events").refused(403, "forbidden");
    customers.post("/customers", json!({ "identifier": "c-1" })).is(202);
    let token = world.as_olga().unwrap();
    let office =
        world.request("POST", "/offices").bearer_auth(&token).body(r#"{"identifier":"xx","name":"X"}"#);
    world.send(office).is(202);
    let heard = customers.get("/events?size=1000").is(200).json();
    let kinds: Vec<_> = heard.as_array().unwrap().iter().map(|event| event["resource"].clone()).collect();
    // Everyone may read their own user.
    let others: Vec<_> = kinds.iter().filter(|resource| **resource != "user/ama").collect();
    assert_eq!(others, ["customer/c-1"]);
    let all = world.send(world.request("GET", "/events?size=1000").bearer_auth(&token)).is(200).json();
    let named: Vec<_> = all.as_array().unwrap().iter().map(|event| event["resource"].clone()).collect();
    assert!(named.contains(&json!("office/xx")) && named.contains(&json!("customer/c-1")), "{named:?}");
}

#[test]
fn an_array_says_up_to_where_it_looked_so_that_no_one_looks_there_twice() {
    let world = World::guarded();
    let clerk = world.user_with("ama", &[may("office__v1__offices", "R"), may("events__v1__events", "R")]);
    let token = world.as_olga().unwrap();
    let change = |path: &str, body: Value| {
        world.send(world.request("POST", path).bearer_auth(&token).body(body.to_string())).is(202);
    };
    let end = || {
        let head = world.send(world.request("GET", "/audit/head").bearer_auth(&token)).is(200);
        head.json()["sequence"].to_string()
    };
    change("/customers", json!({ "identifier": "c-1" }));
    change("/offices", json!({ "identifier": "ho", "name": "Head" }));
    for number in 2..6 {
        change("/customers", json!({ "identifier": format!("c-{number}") }));
    }
    let all = clerk.get("/events?kind=office").is(200);
    let office = all.json()[0]["sequence"].to_string();
    assert_eq!((all.json().as_array().unwrap().len(), all.header("last-event-id")), (1, end()));
    // A full page ends with its last event, and nothing is for this listener behind it.
    assert_eq!(clerk.get("/events?kind=office&size=1").header("last-event-id"), office);
    let rest = clerk.get(&format!("/events?after={office}")).is(200);
    assert_eq!((rest.text(), rest.header("last-event-id")), ("[]".to_owned(), end()));
    // Behind every number there is nothing yet; the answer says where that is.
    let none = clerk.get(&format!("/events?after={}", i64::MAX)).is(200);
    assert_eq!((none.text(), none.header("last-event-id")), ("[]".to_owned(), end()));
}

/// Reads a stream until it has so many events; their identifiers and data.
async fn stream(request: reqwest::RequestBuilder, count: usize) -> Vec<(String, Value)> {
    let mut response = request.header("accept", "text/event-stream").send().await.unwrap();
    assert_eq!(response.status().as_u16(), 200);
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let (mut text, mut heard) = (String::new(), Vec::new());
    while heard.len() < count {
        let chunk =
            tokio::time::timeout(Duration::from_secs(20), response.chunk()).await.expect("nothing comes");
        text.push_str(std::str::from_utf8(&chunk.unwrap().expect("the stream ended")).unwrap());
        while let Some((event, rest)) = text.split_once("\n\n").map(|(e, r)| (e.to_owned(), r.to_owned())) {
            text = rest;
            let field =
                |name: &str| event.lines().find_map(|line| line.strip_prefix(name).map(str::to_owned));
            if let (Some(id), Some(data)) = (field("id: "), field("data: ")) {
                heard.push((id, serde_json::from_str(&data).unwrap()));
            }
        }
    }
    heard
}

#[test]
fn a_stream_goes_on_where_it_was_without_gap_or_repetition() {
    let world = World::start();
    create(&world, "c-0");
    let first = events(&world, "").last().unwrap()["sequence"].as_u64().unwrap();
    // Without a position only new events are sent.
    let fresh = world.spawn(stream(world.request("GET", "/events"), 1));
    std::thread::sleep(Duration::from_millis(700));
    for n in 1..=30 {
        create(&world, &format!("c-{n}"));
    }
    assert_eq!(world.wait(fresh)[0].1["resource"], "customer/c-1");
    let request = world.request("GET", "/events").header("last-event-id", first.to_string());
    let mut heard = world.block_on(stream(request, 12));
    heard.truncate(12);
    let next = heard[11].0.clone();
    let request = world.request("GET", "/events?after=0").header("last-event-id", &next);
    let rest = world.block_on(stream(request, 18));
    let named: Vec<_> = heard.iter().chain(&rest).map(|(_, event)| event["resource"].clone()).collect();
    let expected: Vec<_> = (1..=30).map(|n| json!(format!("customer/c-{n}"))).collect();
    assert_eq!(named, expected);
    assert!(heard.iter().all(|(id, event)| event["sequence"].as_u64() == id.parse().ok()));
    // Nothing that is no position is as if none was given: what was missed would stay so.
    for bad in [&[&b"x"[..]][..], &[b"\xff"], &[b""], &[b"0", b"1"]] {
        let mut request = world.request("GET", "/events").header("accept", "text/event-stream");
        for value in bad {
            request = request.header("last-event-id", *value);
        }
        world.send(request).refused(400, "invalid_parameter");
    }
    // A store that was restored has fewer events than a listener has heard.
    let request = world.request("GET", "/events").header("accept", "text/event-stream");
    let told = world.send(request.header("last-event-id", "99999")).refused(400, "invalid_parameter");
    assert!(told.text().contains("event 99999 does not exist"), "{}", told.text());
}

#[test]
fn listeners_that_break_off_and_go_on_hear_each_event_once_in_order() {
    const LISTENERS: usize = 40;
    const EVENTS: usize = 120;
    let world = World::start();
    create(&world, "c-0");
    let first = events(&world, "").last().unwrap()["sequence"].as_u64().unwrap();
    // Each listens to all daemons in turn, and breaks off after another number of events.
    let daemons = if world.config().store.postgres().is_some() { 2 } else { 1 };
    let listeners: Vec<_> = (0..LISTENERS)
        .map(|number| {
            let at = |at: usize| world.request_at(at % daemons, "GET", "/events?kind=customer");
            let requests: Vec<_> = (0..EVENTS).map(at).collect();
            world.spawn(async move {
                let (mut heard, mut last) = (Vec::new(), first.to_string());
                for (turn, request) in requests.into_iter().enumerate() {
                    let wanted = (1 + (number * 7 + turn * 5) % 23).min(EVENTS - heard.len());
                    let mut more = stream(request.header("last-event-id", &last), wanted).await;
                    // What else has arrived is lost with the connection.
                    more.truncate(wanted);
                    last.clone_from(&more[wanted - 1].0);
                    heard.extend(more);
                    if heard.len() == EVENTS {
                        break;
                    }
                }
                heard
            })
        })
        .collect();
    for round in 0..EVENTS / 10 {
        let body = |n: usize| json!({ "identifier": format!("c-{}", 1 + round * 10 + n) }).to_string();
        let request = |n: usize| world.request_at(n % daemons, "POST", "/customers").body(body(n));
        for seen in world.insist_all((0..10).map(request).collect()) {
            seen.is(202);
        }
    }
    let trail: Vec<_> = events(&world, &format!("after={first}&size=1000"));
    assert_eq!(trail.len(), EVENTS);
    for listener in listeners {
        let heard: Vec<_> = world.wait(listener).into_iter().map(|(_, event)| event).collect();
        assert!(heard == trail, "{heard:?}");
    }
}

#[test]
fn a_listener_who_does_not_read_is_closed_and_no_one_else() {
    const BATCHES: usize = 4;
    const CUSTOMERS: usize = 1_000;
    let world = World::with(|config| config.listener_patience = Duration::from_secs(1));
    let mut socket = TcpStream::connect(world.url().strip_prefix("http://").unwrap()).unwrap();
    let asks = b"GET /events?after=0 HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n";
    socket.write_all(asks).unwrap();
    let other = world.request_at(0, "GET", "/events?after=0&kind=customer");
    let other = world.spawn(stream(other, BATCHES * CUSTOMERS));
    for batch in 0..BATCHES {
        // More than the system holds for a client.
        let created = |n: usize| {
            json!({ "method": "POST", "path": "/customers",
                "body": { "identifier": format!("c-{batch}-{n}") } })
        };
        let operations: Vec<_> = (0..CUSTOMERS).map(created).collect();
        world.post("/batch", json!({ "operations": operations }).to_string()).is(200);
    }
    let gone = || {
        let metrics = world.send(world.request_at(0, "GET", "/metrics")).is(200).text();
        metrics.lines().any(|line| line == "mfa_event_listeners 0")
    };
    assert_eq!(world.wait(other).len(), BATCHES * CUSTOMERS);
    let begun = Instant::now();
    while !gone() {
        assert!(begun.elapsed() < Duration::from_secs(20), "it is still sent events");
        std::thread::sleep(Duration::from_millis(100));
    }
    // What was on its way is there; then the connection ends, and says nothing of an end of the answer.
    socket.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    let mut heard = Vec::new();
    socket.read_to_end(&mut heard).unwrap();
    assert!(heard.starts_with(b"HTTP/1.1 200 OK\r\n") && !heard.ends_with(b"\r\n0\r\n\r\n"));
}

#[test]
fn a_stream_ends_with_the_token() {
    let world = World::guarded();
    let listener =
        world.user_with("ama", &[may("customer__v1__customer", "RC"), may("events__v1__events", "R")]);
    let request =
        world.request("GET", "/events").bearer_auth(&listener.token).header("accept", "text/event-stream");
    let open = world.spawn(async move { request.send().await.unwrap().text().await.unwrap() });
    std::thread::sleep(Duration::from_millis(500));
    listener.delete("/token/_current").is(200);
    assert_eq!(world.wait(open), "");
}

#[test]
fn listeners_of_one_caller_and_all_listeners_leave_others_connections() {
    let world = World::guarded_with(|config| config.connections_max = 16);
    let rights = [may("customer__v1__customer", "RC"), may("events__v1__events", "R")];
    let [ama, kofi, esi] = ["ama", "kofi", "esi"].map(|name| world.user_with(name, &rights));
    let ask = |token: &str, path: &str| world.request_at(0, "GET", path).bearer_auth(token);
    let listen = |token: &str| {
        let request = ask(token, "/events").header("accept", "text/event-stream");
        world.block_on(async { request.send().await.unwrap() })
    };
    let hear = |token: &str, count: usize| -> Vec<_> {
        let streams: Vec<_> = (0..count).map(|_| listen(token)).collect();
        assert!(streams.iter().all(|stream| stream.status().as_u16() == 200));
        streams
    };
    let refused = |request: reqwest::RequestBuilder, words: &str| {
        let seen = world.send(request).refused(503, "unavailable");
        assert_eq!((seen.header("retry-after"), seen.text().contains(words)), ("10".to_owned(), true));
    };
    let own = hear(&ama.token, 8);
    let half = "8 requests of ama, half of the connections";
    refused(ask(&ama.token, "/events").header("accept", "text/event-stream"), half);
    refused(ask(&ama.token, "/events?waitSeconds=1"), half);
    world.send(ask(&ama.token, "/events")).is(200);
    let others = hear(&kofi.token, 4);
    let most = "12 requests, three quarters of the connections";
    refused(ask(&esi.token, "/events").header("accept", "text/event-stream"), most);
    world.send(ask(&esi.token, "/customers")).is(200);
    drop((own, others));
    let began = Instant::now();
    while listen(&ama.token).status().as_u16() != 200 {
        assert!(began.elapsed() < Duration::from_secs(20), "those who went are still counted");
        std::thread::sleep(Duration::from_millis(50));
    }
}
