//! What requests hold while they wait for others.

use crate::api::always::connections::connect;
use crate::support::guarded::PASSWORD;
use crate::support::world::{Seen, World};
use mfa_shared::api::batch::{OPERATIONS_MAX, PASSWORDS_MAX};
use reqwest::RequestBuilder;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;
use tokio::task::JoinHandle;

/// An SMS service that answers nothing, and a daemon that has it as a gateway.
fn silent() -> (TcpListener, World) {
    let service = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/{{account_sid}}", service.local_addr().unwrap());
    let world = World::with(|config| config.sms_endpoint = Some(url));
    let sms = json!({ "identifier": "main", "auth_token": "rose-17", "account_sid": "A1",
        "sender_number": "Bank" });
    world.post("/configuration/sms", sms.to_string()).is(201);
    (service, world)
}

const TEST: &str = "/configuration/sms/main/test";

/// A test message by the first daemon: each counts what it holds by itself.
fn message(world: &World, body: &str) -> RequestBuilder {
    let request = world.request_at(0, "POST", TEST).header("content-type", "application/json");
    request.body(body.to_owned())
}

/// Sends a test message, which waits for the service; with the connection on which it does.
fn waiting(world: &World, service: &TcpListener, body: &str) -> (JoinHandle<u16>, TcpStream) {
    let request = message(world, body);
    let sent = world.spawn(async move { request.send().await.unwrap().status().as_u16() });
    (sent, service.accept().unwrap().0)
}

fn unavailable(seen: Seen, words: &str) {
    assert!(!seen.header("retry-after").is_empty());
    let problem = seen.refused(503, "unavailable").json();
    let detail = problem["detail"].as_str().unwrap();
    assert!(detail.contains(words), "{detail}");
}

/// Lets the service end the connections: the messages were not sent.
fn end(world: &World, under_way: Vec<(JoinHandle<u16>, TcpStream)>) {
    for (sent, connection) in under_way {
        drop(connection);
        assert_eq!(world.wait(sent), 502);
    }
}

#[test]
fn a_body_of_too_many_values_is_refused_and_the_largest_batch_is_not() {
    let world = World::start();
    let many: Value = vec![json!([0]); 50_000].into();
    let batch = json!({ "operations": [{ "method": "GET", "path": "/users/me/permissions", "body": many }] });
    for (path, body) in [("/batch", &batch), ("/customers", &json!({ "identifier": "c-1", "more": many }))] {
        let problem = world.post(path, body.to_string()).refused(413, "body_too_large").json();
        assert_eq!(problem["detail"], "the body must have at most 100000 JSON values");
    }
    let customer = |number: usize| {
        let contact = |value: &str| {
            json!({ "type": "EMAIL", "group": "PRIVATE", "value": value,
            "preferenceLevel": 1 })
        };
        let contacts = ["ama@example.org", "esi@example.org", "kofi@example.org"].map(contact);
        let address = json!({ "street": "x".repeat(200), "city": "Accra", "region": "Greater Accra",
            "countryCode": "GH", "country": "Ghana" });
        let body = json!({ "identifier": format!("c-{number}"), "type": "PERSON", "givenName": "Ama",
            "surname": "y".repeat(200), "dateOfBirth": { "year": 1980, "month": 1, "day": 2 },
            "address": address, "contactDetails": contacts });
        json!({ "method": "POST", "path": "/customers", "body": body })
    };
    let operations: Vec<_> = (0..OPERATIONS_MAX).map(customer).collect();
    let body = json!({ "operations": operations }).to_string();
    assert!(body.len() > 900_000, "{} bytes", body.len());
    let done = world.post("/batch", body).is(200).json();
    assert!(done["results"].as_array().unwrap().iter().all(|result| result["status"] == 202));
}

#[test]
fn a_request_that_waits_keeps_the_room_that_its_body_takes() {
    let (service, world) = silent();
    let large = json!({ "to": "+233201234567", "more": vec![0; 90_000] }).to_string();
    let under_way = vec![waiting(&world, &service, &large), waiting(&world, &service, &large)];
    unavailable(world.send(message(&world, &large)), "the bodies of requests for which your address waits");
    end(&world, under_way);
    end(&world, vec![waiting(&world, &service, &large)]);
}

#[test]
fn one_caller_has_four_test_messages_under_way_and_other_errands_need_no_place() {
    let (service, world) = silent();
    let body = json!({ "to": "+233201234567" }).to_string();
    let begin = |_| waiting(&world, &service, &body);
    let under_way: Vec<_> = (0..4).map(begin).collect();
    unavailable(world.send(message(&world, &body)), "4 test messages of yours are under way");
    // One that is only tried sends nothing, and an interest run is no message.
    world.send(message(&world, &body).header("dry-run", "true")).is(204);
    world.post("/interest/runs", json!({ "date": "2031-05-05" }).to_string()).is(202);
    end(&world, under_way);
    end(&world, vec![waiting(&world, &service, &body)]);
}

/// Waits until the first daemon answers so many requests beside the one that asks it.
fn wait_for_running(world: &World, count: usize) {
    let line = format!("mfa_http_requests_running {}", count + 1);
    let look = || world.send(world.request_at(0, "GET", "/metrics")).is(200).text();
    for _ in 0..6_000 {
        if look().lines().any(|seen| seen == line) {
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("not {count} requests: {}", look());
}

#[test]
fn batches_of_a_caller_take_turns_and_one_of_a_gone_client_is_not_done() {
    let world = World::start();
    let post = |path: &str, body: Value| json!({ "method": "POST", "path": path, "body": body });
    // A batch with so many passwords takes seconds.
    let user = |number: usize| {
        post("/users", json!({ "identifier": format!("u-{number}"), "role": "clerk", "password": PASSWORD }))
    };
    let users = json!({ "operations": (0..PASSWORDS_MAX).map(user).collect::<Vec<_>>() }).to_string();
    let customers = |name: &str| {
        let customer =
            |number: usize| post("/customers", json!({ "identifier": format!("{name}-{number}") }));
        json!({ "operations": (0..10).map(customer).collect::<Vec<_>>() }).to_string()
    };
    let send = |body: String| {
        let request = world.request_at(0, "POST", "/batch").header("content-type", "application/json");
        let request = request.body(body);
        world.spawn(async move { request.send().await.unwrap().status().as_u16() })
    };
    let first = send(users);
    wait_for_running(&world, 1);
    // Until it has its turn, shorter ones overtake it.
    let waits = |number: usize| {
        std::thread::sleep(Duration::from_millis(300));
        let (body, mut stream) = (customers(&format!("gone-{number}")), connect(&world));
        let length = body.len();
        write!(stream, "POST /batch HTTP/1.1\r\nhost: localhost\r\ncontent-length: {length}\r\n").unwrap();
        write!(stream, "content-type: application/json\r\n\r\n{body}").unwrap();
        stream.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
        stream.read_exact(&mut [0]).is_err().then_some((number, stream))
    };
    let (number, gone) = (0..9).find_map(waits).unwrap();
    wait_for_running(&world, 2);
    let next = send(customers("next"));
    wait_for_running(&world, 3);
    // A change by itself does not wait for the batches.
    world.send(world.request_at(0, "POST", "/customers").body(r#"{"identifier":"alone"}"#)).is(202);
    assert!(!first.is_finished() && !next.is_finished());
    drop(gone);
    wait_for_running(&world, 2);
    assert_eq!((world.wait(first), world.wait(next)), (200, 200));
    world.get("/customers/next-9").is(200);
    world.get(&format!("/customers/gone-{number}-0")).refused(404, "customer_not_found");
}
