//! Failed logins by address: `identity.md` section 13.

use crate::support::counter::{Counter, PIN};
use crate::support::guarded::PASSWORD;
use crate::support::world::{Seen, World};
use mfa_daemon::Config;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::thread::{available_parallelism, sleep};
use std::time::{Duration, Instant};

/// A daemon behind a proxy, so that a test can log in from anywhere.
fn behind_a_proxy() -> World {
    World::guarded_with(proxied)
}

fn proxied(config: &mut Config) {
    config.trusted_proxies = vec!["127.0.0.1".parse().unwrap()];
}

fn log_in(world: &World, from: &str, name: &str, password: &str) -> Seen {
    let body = json!({ "grant_type": "password", "username": name, "password": password });
    let request = world.request("POST", "/token").header("content-type", "application/json");
    world.send(request.header("x-forwarded-for", from).body(body.to_string()))
}

const OFFICE: &str = "192.0.2.10";
const STRANGER: &str = "203.0.113.66";

#[test]
fn one_stranger_tries_thirty_passwords_whatever_the_names() {
    let world = behind_a_proxy();
    for number in 0..30 {
        log_in(&world, STRANGER, &format!("name{number}"), "wrong kettle").refused(401, "login_failed");
    }
    let locked = log_in(&world, STRANGER, "olga", PASSWORD).refused(429, "too_many_attempts");
    assert_eq!(locked.header("retry-after"), "60");
    // An assertion is not checked either, and others are as before.
    let form = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=a.b.c";
    let request = world.request("POST", "/token").header("x-forwarded-for", STRANGER).body(form);
    world.send(request).refused(429, "too_many_attempts");
    log_in(&world, OFFICE, "olga", PASSWORD).is(200);
    world.clock.advance(61);
    log_in(&world, STRANGER, "olga", PASSWORD).is(200);
    // The next lock of the address is longer, although a user has logged in from there.
    for number in 0..30 {
        log_in(&world, STRANGER, &format!("other{number}"), "wrong kettle").refused(401, "login_failed");
    }
    let locked = log_in(&world, STRANGER, "olga", PASSWORD).refused(429, "too_many_attempts");
    assert_eq!(locked.header("retry-after"), "120");
}

#[test]
fn all_addresses_of_one_ipv6_network_are_one_stranger() {
    let world = behind_a_proxy();
    for number in 1..=30 {
        log_in(&world, &format!("2001:db8:0:7::{number:x}"), &format!("name{number}"), "wrong kettle")
            .refused(401, "login_failed");
    }
    log_in(&world, "2001:db8:0:7:ffff::1", "olga", PASSWORD).refused(429, "too_many_attempts");
    // Another network is another client.
    log_in(&world, "2001:db8:0:8::1", "olga", PASSWORD).is(200);
}

#[test]
fn assertions_that_are_refused_count_for_their_address() {
    let mut world = behind_a_proxy();
    let form = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=a.b.c";
    let sign_in = |world: &World| {
        let request = world.request("POST", "/token").header("x-forwarded-for", STRANGER);
        world.send(request.header("content-type", "application/x-www-form-urlencoded").body(form))
    };
    for _ in 0..30 {
        sign_in(&world).refused(401, "assertion_invalid");
    }
    sign_in(&world).refused(429, "too_many_attempts");
    world.restart();
    sign_in(&world).refused(429, "too_many_attempts");
    log_in(&world, OFFICE, "olga", PASSWORD).is(200);
}

#[test]
fn a_stranger_locks_no_user_out_at_the_address_they_work_from() {
    let world = behind_a_proxy();
    log_in(&world, OFFICE, "olga", PASSWORD).is(200);
    for _ in 0..5 {
        log_in(&world, STRANGER, "olga", "wrong kettle").refused(401, "login_failed");
    }
    log_in(&world, STRANGER, "olga", PASSWORD).refused(429, "too_many_attempts");
    log_in(&world, "192.0.2.11", "olga", PASSWORD).refused(429, "too_many_attempts");
    log_in(&world, OFFICE, "olga", PASSWORD).is(200);
    // That login gives the stranger no further guesses.
    log_in(&world, STRANGER, "olga", "wrong kettle").refused(429, "too_many_attempts");
    // Five failures from there lock there, too; a password set by another user opens both.
    for _ in 0..5 {
        log_in(&world, OFFICE, "olga", "wrong kettle").refused(401, "login_failed");
    }
    log_in(&world, OFFICE, "olga", PASSWORD).refused(429, "too_many_attempts");
    let admin = world.login("admin");
    admin.put("/users/olga/password", json!({ "password": "green kettle 8" })).is(202);
    log_in(&world, OFFICE, "olga", "green kettle 8").is(200);
}

#[test]
fn an_address_is_known_for_thirty_days() {
    let world = behind_a_proxy();
    let days = |days: i64| world.clock.advance(days * 24 * 3600);
    let locked_by_a_stranger = || {
        for _ in 0..5 {
            log_in(&world, STRANGER, "olga", "wrong kettle").refused(401, "login_failed");
        }
    };
    log_in(&world, OFFICE, "olga", PASSWORD).is(200);
    days(29);
    locked_by_a_stranger();
    log_in(&world, OFFICE, "olga", PASSWORD).is(200);
    days(31);
    locked_by_a_stranger();
    log_in(&world, OFFICE, "olga", PASSWORD).refused(429, "too_many_attempts");
}

#[test]
fn addresses_of_failed_logins_stand_in_the_audit_trail_alone() {
    let mut world = behind_a_proxy();
    // Where a session began is shown to its user; where one was only tried is the auditor's business.
    log_in(&world, OFFICE, "olga", PASSWORD).is(200);
    log_in(&world, STRANGER, "olga", "wrong kettle").refused(401, "login_failed");
    world.restart();
    for (place, bytes) in world.block_on(crate::support::stored::at_rest(world.config())) {
        for at in memchr::memmem::find_iter(&bytes, STRANGER) {
            assert!(bytes[..at].ends_with(b"\"origin\":\""), "{STRANGER} is in {place}");
        }
    }
}

/// Logins that may wait at once, however many addresses they come from.
const WAITING_MAX: usize = 64;

#[test]
fn strangers_who_fill_the_queue_of_logins_keep_no_teller_from_unlocking() {
    let counter = Counter::with(World::with(proxied));
    counter.open("T1", "emp1", "5");
    let world = &counter.world;
    let (stop, sent_away) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    // More than wait and are worked on at once, so that there is always one that does not fit.
    let strangers = WAITING_MAX + available_parallelism().map_or(1, usize::from) + 16;
    let log_in = |stranger: usize| {
        let (http, url, stop, sent_away) = (world.http(), world.url(), stop.clone(), sent_away.clone());
        world.spawn(async move {
            for turn in (0..=u8::MAX).cycle().take_while(|_| !stop.load(SeqCst)) {
                // Another address and name each time: none is locked, and none has too many waiting.
                let from = format!("100.{}.{}.{turn}", stranger / 256, stranger % 256);
                let request = http.post(format!("{url}/token")).header("content-type", "application/json");
                let body = json!({ "grant_type": "password", "username": from, "password": "wrong kettle" });
                let request = request.header("x-forwarded-for", from).body(body.to_string());
                // Where the test fails, the daemon is gone before its strangers are.
                let Ok(answer) = request.send().await else { return };
                let (status, text) = (answer.status().as_u16(), answer.text().await.unwrap());
                if status == 503 {
                    assert!(text.contains("too many passwords and signatures wait"), "{text}");
                    sent_away.fetch_add(1, SeqCst);
                    tokio::time::sleep(Duration::from_millis(5)).await;
                } else {
                    assert_eq!(status, 401, "{text}");
                }
            }
        })
    };
    let logins: Vec<_> = (0..strangers).map(log_in).collect();
    let queue_is_full = || {
        let (before, began) = (sent_away.load(SeqCst), Instant::now());
        while sent_away.load(SeqCst) == before {
            assert!(began.elapsed() < Duration::from_secs(60), "the queue is not filled");
            sleep(Duration::from_millis(1));
        }
    };
    for _ in 0..5 {
        queue_is_full();
        let body = json!({ "employeeIdentifier": "emp1", "password": PIN }).to_string();
        world.send(world.request_at(0, "POST", "/teller/T1/drawer").body(body)).is(200);
    }
    queue_is_full();
    stop.store(true, SeqCst);
    logins.into_iter().for_each(|login| world.wait(login));
}

#[test]
fn a_stranger_keeps_no_user_from_changing_the_password() {
    let world = behind_a_proxy();
    let token = log_in(&world, OFFICE, "olga", PASSWORD).is(200).json()["access_token"].clone();
    let change = |present: &str, new: &str| {
        let body = json!({ "password": new, "currentPassword": present });
        let request = world.request("PUT", "/users/olga/password").header("content-type", "application/json");
        let request = request.header("x-forwarded-for", OFFICE).bearer_auth(token.as_str().unwrap());
        world.send(request.body(body.to_string()))
    };
    for _ in 0..5 {
        log_in(&world, STRANGER, "olga", "wrong kettle").refused(401, "login_failed");
    }
    log_in(&world, STRANGER, "olga", PASSWORD).refused(429, "too_many_attempts");
    // Guesses that come with a login of the user count, wherever the name is locked.
    for _ in 0..5 {
        change("wrong kettle", "green kettle 8").refused(403, "wrong_password");
    }
    change(PASSWORD, "green kettle 8").refused(429, "too_many_attempts");
    log_in(&world, OFFICE, "olga", PASSWORD).refused(429, "too_many_attempts");
    world.clock.advance(61);
    for _ in 0..4 {
        log_in(&world, STRANGER, "olga", "wrong kettle");
    }
    change(PASSWORD, "green kettle 8").is(202);
    log_in(&world, OFFICE, "olga", "green kettle 8").is(200);
}
