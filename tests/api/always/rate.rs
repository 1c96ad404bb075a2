//! How often a token and an address may ask.

use crate::support::guarded::{As, PASSWORD};
use crate::support::run::run;
use crate::support::served::{Home, Served};
use crate::support::world::{Seen, World};
use mfa_daemon::Rates;
use serde_json::json;

const HERE: &str = "192.0.2.10";
const STRANGER: &str = "203.0.113.66";

/// A daemon behind a proxy, where a token may send 4 requests at once and 2 a second.
fn limited(change: impl FnOnce(&mut Rates)) -> World {
    World::guarded_with(|config| {
        config.trusted_proxies = vec!["127.0.0.1".parse().unwrap()];
        config.rates = Rates { token: Some(2), address: Some(0), unauthenticated: Some(0), burst_seconds: 2 };
        change(&mut config.rates);
    })
}

/// Sends to the first daemon, which alone counts it.
fn ask(world: &World, path: &str, from: &str, token: Option<&As<'_>>) -> Seen {
    let request = world.request_at(0, "GET", path).header("x-forwarded-for", from);
    world.send(match token {
        Some(token) => request.bearer_auth(&token.token),
        None => request,
    })
}

fn limit(seen: &Seen) -> [String; 3] {
    ["ratelimit-policy", "ratelimit", "retry-after"].map(|name| seen.header(name))
}

#[test]
fn a_greedy_token_waits_and_others_do_not_notice() {
    let world = limited(|_| {});
    let (hungry, other) = (world.login("olga"), world.login("olga"));
    for expected in ["", "", "\"token\";r=1;t=2", "\"token\";r=0;t=2"] {
        let seen = ask(&world, "/offices", HERE, Some(&hungry)).is(200);
        assert_eq!(seen.header("ratelimit"), expected, "it is said when less than half is left");
    }
    let refused = ask(&world, "/offices", HERE, Some(&hungry)).refused(429, "too_many_requests");
    assert_eq!(limit(&refused), ["\"token\";q=4;w=2", "\"token\";r=0;t=1", "1"]);
    assert_eq!(refused.json()["retryAfter"], 1);
    assert_eq!(refused.json()["detail"], "this access token has sent more than 2 requests a second over 2 s");
    ask(&world, "/offices", HERE, Some(&other)).is(200);
    world.clock.advance(1);
    for status in [200, 200, 429] {
        ask(&world, "/nowhere/at/all", HERE, Some(&hungry)).is(if status == 200 { 404 } else { status });
    }
}

#[test]
fn what_is_refused_changes_nothing_and_can_be_sent_again() {
    let world = limited(|_| {});
    let olga = world.login("olga");
    let create = || {
        let request = world.request_at(0, "POST", "/offices").bearer_auth(&olga.token);
        let body = json!({ "identifier": "accra", "name": "Accra" }).to_string();
        world.send(request.header("idempotency-key", "k-1").body(body))
    };
    (0..4).for_each(|_| drop(ask(&world, "/offices", HERE, Some(&olga)).is(200)));
    create().refused(429, "too_many_requests");
    world.clock.advance(2);
    ask(&world, "/offices/accra", HERE, Some(&olga)).refused(404, "office_not_found");
    create().is(202);
}

#[test]
fn requests_without_a_live_token_count_for_their_address() {
    let world = limited(|rates| (rates.token, rates.unauthenticated) = (Some(0), Some(2)));
    let olga = world.login("olga");
    let made_up = As { world: &world, token: olga.token.chars().rev().collect() };
    ask(&world, "/offices", STRANGER, None).is(401);
    ask(&world, "/offices", STRANGER, Some(&made_up)).is(401);
    ask(&world, "/nowhere/at/all", STRANGER, None).is(401);
    ask(&world, "/version", STRANGER, None).is(200);
    let refused = ask(&world, "/offices", STRANGER, Some(&made_up)).refused(429, "too_many_requests");
    let expected = ["\"unauthenticated\";q=4;w=2", "\"unauthenticated\";r=0;t=1", "1"];
    assert_eq!(limit(&refused), expected);
    let detail =
        "203.0.113.66 has sent, without a valid access token, more than 2 requests a second over 2 s";
    assert_eq!(refused.json()["detail"], detail);
    ask(&world, "/version", STRANGER, None).is(429);
    ask(&world, "/offices", STRANGER, Some(&olga)).is(200);
    ask(&world, "/offices", HERE, None).is(401);
    // A token that was live counts for its address from its end on.
    olga.delete("/token/_current").is(200);
    ask(&world, "/offices", STRANGER, Some(&olga)).is(429);
}

#[test]
fn an_address_has_a_limit_for_all_its_requests() {
    let world = limited(|rates| (rates.token, rates.address) = (Some(0), Some(1)));
    let (one, two) = (world.login("olga"), world.login("olga"));
    ask(&world, "/offices", HERE, Some(&one)).is(200);
    ask(&world, "/offices", HERE, Some(&two)).is(200);
    let refused = ask(&world, "/offices", HERE, Some(&one)).refused(429, "too_many_requests");
    assert_eq!(limit(&refused), ["\"address\";q=2;w=2", "\"address\";r=0;t=1", "1"]);
    ask(&world, "/offices", STRANGER, Some(&one)).is(200);
}

#[test]
fn logins_readiness_and_metrics_are_answered_throughout() {
    let world = limited(|rates| {
        *rates = Rates { token: Some(1), address: Some(1), unauthenticated: Some(1), burst_seconds: 1 };
    });
    let olga = world.login("olga");
    ask(&world, "/offices", HERE, Some(&olga)).is(200);
    ask(&world, "/offices", HERE, Some(&olga)).is(429);
    for path in ["/live", "/ready"] {
        (0..5).for_each(|_| drop(ask(&world, path, HERE, None).is(200)));
    }
    let page = ask(&world, "/metrics", HERE, Some(&olga)).is(200).text();
    for (bucket, count) in [("address", 1), ("unauthenticated", 0), ("token", 0)] {
        let line = format!("mfa_http_requests_limited_total{{bucket=\"{bucket}\"}} {count}\n");
        assert!(page.contains(&line), "{page}");
    }
    let body = json!({ "grant_type": "password", "username": "olga", "password": PASSWORD }).to_string();
    for _ in 0..3 {
        let request = world.request_at(0, "POST", "/token").header("x-forwarded-for", HERE);
        world.send(request.header("content-type", "application/json").body(body.clone())).is(200);
    }
}

#[test]
fn who_may_not_see_the_metrics_and_who_asks_for_methods_is_counted() {
    let world = limited(|rates| {
        *rates = Rates { token: Some(0), address: Some(3), unauthenticated: Some(2), burst_seconds: 1 };
    });
    let olga = world.login("olga");
    for status in [401, 401, 429, 429] {
        ask(&world, "/metrics", STRANGER, None).is(status);
    }
    let options = || {
        let request = world.request_at(0, "OPTIONS", "/offices").header("x-forwarded-for", STRANGER);
        world.send(request)
    };
    for _ in 0..3 {
        assert_eq!(options().is(204).header("allow"), "GET, HEAD, POST, OPTIONS");
    }
    assert_eq!(limit(&options().refused(429, "too_many_requests"))[0], "\"address\";q=3;w=1");
    ask(&world, "/offices", STRANGER, Some(&olga)).is(429);
    (0..5).for_each(|_| drop(ask(&world, "/metrics", STRANGER, Some(&olga)).is(200)));
}

#[test]
fn a_batch_counts_as_its_operations() {
    let world = limited(|_| {});
    let olga = world.login("olga");
    let operation = json!({ "method": "GET", "path": "/offices" });
    let batch = |count: usize| {
        let body = json!({ "operations": vec![operation.clone(); count] }).to_string();
        world.send(world.request_at(0, "POST", "/batch").bearer_auth(&olga.token).body(body))
    };
    let seen = batch(10).is(200);
    assert_eq!(seen.json()["results"].as_array().unwrap().len(), 10, "what was read is carried out");
    let refused = batch(1).refused(429, "too_many_requests");
    // Ten requests of a token that had four: six and the next one, two a second.
    assert_eq!(refused.header("retry-after"), "4");
    world.clock.advance(4);
    batch(1).is(200);
}

#[test]
fn unless_a_setting_says_so_this_machine_has_no_limit() {
    let world = World::guarded_with(|config| config.rates.burst_seconds = 1);
    for _ in 0..1_100 {
        world.send(world.request_at(0, "GET", "/version")).is(200);
    }
    let world = World::guarded_with(|config| {
        config.trusted_proxies = vec!["127.0.0.1".parse().unwrap()];
        config.rates.burst_seconds = 1;
    });
    for _ in 0..1_000 {
        ask(&world, "/version", STRANGER, None).is(200);
    }
    ask(&world, "/version", STRANGER, None).refused(429, "too_many_requests");
}

/// A daemon that answers so many requests a second.
fn served(home: &Home, a_second: &str) -> Served {
    let mut serve = home.mfa(&["daemon", "run", "--listen", "127.0.0.1:0", "--auth", "off"]);
    serve.env("MFA_REQUESTS_PER_SECOND_UNAUTHENTICATED", a_second).env("MFA_REQUESTS_BURST_SECONDS", "1");
    Served::start(serve)
}

#[test]
fn an_import_waits_for_its_turn_and_loses_no_row() {
    let home = Home::new();
    let daemon = served(&home, "100");
    let rows: String = (0..350).map(|number| format!("office-{number},Office {number}\n")).collect();
    let file = home.file("offices.csv", &format!("identifier,name\n{rows}"));
    // It waits as long as it must, however seldom other requests are sent again.
    let arguments = ["offices", "import", &file, "--url", &daemon.url, "--retries", "0", "-o", "json"];
    let done = run(home.mfa(&arguments)).json();
    assert_eq!((&done["created"], &done["failed"]), (&json!(350), &json!(0)), "{done}");
}

#[test]
fn a_command_that_would_wait_too_long_says_when_to_try_again() {
    let home = Home::new();
    let daemon = served(&home, "5");
    let batch = json!({ "operations": vec![json!({ "method": "GET", "path": "/offices" }); 900] });
    let file = home.file("batch.json", &batch.to_string());
    run(home.mfa(&["batch", &file, "--url", &daemon.url])).ok();
    let said = run(home.mfa(&["offices", "list", "--url", &daemon.url])).fails(13);
    assert!(said.contains("more than 5 requests a second") && said.contains("try again in"), "{said}");
}

#[test]
fn a_refresh_and_what_is_no_login_count_for_the_address() {
    let world = limited(|rates| rates.unauthenticated = Some(2));
    let token = |form: &str| {
        let request = world.request_at(0, "POST", "/token").header("x-forwarded-for", STRANGER);
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        world.send(request.body(form.to_owned()))
    };
    let (refresh, none) = ("grant_type=refresh_token&refresh_token=x", "grant_type=nothing");
    for form in [refresh, none, refresh, none] {
        assert_ne!(token(form).status, 429);
    }
    for form in [refresh, none] {
        token(form).refused(429, "too_many_requests");
    }
    // A login has a queue of its own.
    token(&format!("grant_type=password&username=olga&password={}", PASSWORD.replace(' ', "+"))).is(200);
}
