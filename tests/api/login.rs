//! `POST /token`: `identity.md` section 6.

use crate::support::guarded::PASSWORD;
use crate::support::stored;
use crate::support::world::{Seen, World};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};

fn form(world: &World, body: &str) -> Seen {
    let request = world.request("POST", "/token").header("content-type", "application/x-www-form-urlencoded");
    world.send(request.body(body.to_owned()))
}

/// Holds a refusal to its OAuth 2.0 word, too.
#[track_caller]
fn refused(seen: Seen, status: u16, code: &str, word: &str) -> Seen {
    let seen = seen.refused(status, code);
    assert_eq!(seen.json()["error"], word);
    seen
}

#[test]
fn a_login_answers_exactly_what_oauth_asks_for() {
    let world = World::guarded();
    let seen = form(&world, "grant_type=password&username=admin&password=blue+kettle+7").is(200);
    assert_eq!(seen.header("content-type"), "application/json;charset=UTF-8");
    assert_eq!(seen.header("cache-control"), "no-store");
    assert_eq!(seen.header("set-cookie"), "");
    let token = seen.json();
    let names: Vec<_> = token.as_object().unwrap().keys().cloned().collect();
    let expected = ["access_token", "token_type", "expires_in", "refresh_token", "password_change_required"];
    assert_eq!(names, expected);
    let text = |name: &str| token[name].as_str().unwrap().to_owned();
    assert!(text("access_token").starts_with("mfaa_") && text("refresh_token").starts_with("mfar_"));
    assert_eq!((text("access_token").len(), text("refresh_token").len()), (48, 48));
    let rest = (&token["token_type"], &token["expires_in"], &token["password_change_required"]);
    assert_eq!(rest, (&json!("Bearer"), &json!(1200), &json!(false)));
    // Without a content type it is a form; the old prefix works; an Authorization header means nothing.
    let body = "grant_type=password&username=admin&password=blue%20kettle%207&x=y";
    let request = world.request("POST", "/identity/v1/token/").header("authorization", "Basic eDp5");
    world.send(request.body(body)).is(200);
    world.try_login("admin", PASSWORD).is(200);
}

#[test]
fn failures_come_in_their_order() {
    let world = World::guarded();
    let query = |body: &str| {
        let request = world.request("POST", "/token?username=admin&password=x");
        world.send(request.header("content-type", "application/x-www-form-urlencoded").body(body.to_owned()))
    };
    let kind = |kind: &str| {
        let request = world.request("POST", "/token").header("content-type", kind);
        world.send(request.body("grant_type=password"))
    };
    for other in
        ["text/plain", "application/xml", "application/vnd.x+json", "multipart/form-data; boundary=x"]
    {
        refused(kind(other), 415, "unsupported_media_type", "invalid_request");
    }
    let large = format!("grant_type={}", "x".repeat(32_768));
    refused(form(&world, &large), 413, "body_too_large", "invalid_request");
    refused(query("grant_type=%zz"), 400, "malformed_body", "invalid_request");
    refused(query("grant_type=blah"), 400, "credentials_in_query", "invalid_request");
    let request = world.request("POST", "/token?password=50%off");
    let unread = request.header("content-type", "application/x-www-form-urlencoded").body("grant_type=x");
    refused(world.send(unread), 400, "credentials_in_query", "invalid_request");
    refused(form(&world, ""), 400, "invalid_fields", "invalid_request");
    form(&world, "grant_type=password&username=&password=a&password=b")
        .fields(&["/username too_short", "/password duplicate"]);
    world
        .token(&json!({ "grant_type": "refresh_token", "refresh_token": 5 }))
        .fields(&["/refresh_token wrong_type"]);
    world.post("/token", "[]").refused(400, "malformed_body");
    world.post("/token", r#"{"grant_type":"password","grant_type":"x"}"#).refused(400, "malformed_body");
    refused(form(&world, "grant_type=blah"), 400, "unsupported_grant_type", "unsupported_grant_type");
    let failed = refused(world.try_login("admin", "wrong one"), 401, "login_failed", "invalid_grant");
    assert_eq!(failed.header("www-authenticate"), "Bearer");
    let refresh = json!({ "grant_type": "refresh_token", "refresh_token": "mfar_x" });
    refused(world.token(&refresh), 401, "refresh_token_invalid", "invalid_grant");
    world.get("/token").refused(401, "unauthenticated");
    let admin = world.login("admin");
    let put = admin.call("PUT", "/token", "").refused(405, "method_not_allowed");
    assert_eq!(put.header("allow"), "POST, DELETE, OPTIONS");
}

#[test]
fn whatever_is_wrong_the_answer_is_the_same() {
    let world = World::guarded();
    let admin = world.login("admin");
    let body = json!({ "identifier": "gone", "role": "deactivated", "password": PASSWORD });
    admin.post("/users", body).is(202);
    let shown = |seen: Seen| {
        let mut problem = refused(seen, 401, "login_failed", "invalid_grant").json();
        problem["requestId"] = Value::Null;
        problem
    };
    let expected = shown(world.try_login("admin", "wrong one"));
    let long = "x".repeat(5000);
    for (name, password) in [
        ("nobody", PASSWORD),
        ("gone", PASSWORD),
        ("admin", &long),
        ("not a name", PASSWORD),
        ("..", PASSWORD),
        ("a\u{0}b", PASSWORD),
        (&long, PASSWORD),
        ("Admin", PASSWORD),
    ] {
        assert_eq!(shown(world.try_login(name, password)), expected, "{name:.40}");
    }
}

#[test]
fn the_fifth_failure_locks_for_a_growing_time() {
    let mut world = World::guarded();
    for name in ["admin", "nobody", "not a name"] {
        for _ in 0..5 {
            world.try_login(name, "wrong one").refused(401, "login_failed");
        }
        let locked = refused(world.try_login(name, PASSWORD), 429, "too_many_attempts", "invalid_grant");
        assert_eq!(
            (locked.header("retry-after"), &locked.json()["retryAfter"]),
            ("60".to_owned(), &json!(60))
        );
    }
    world.restart();
    world.clock.advance(59);
    let locked = world.try_login("admin", PASSWORD).refused(429, "too_many_attempts");
    assert_eq!(locked.header("retry-after"), "1");
    // Other names are not concerned.
    world.login("olga");
    world.clock.advance(1);
    for _ in 0..5 {
        world.try_login("admin", "wrong one").refused(401, "login_failed");
    }
    let locked = world.try_login("admin", PASSWORD).refused(429, "too_many_attempts");
    assert_eq!(locked.header("retry-after"), "120");
    world.clock.advance(120);
    world.login("admin");
    // A success starts the locks at one minute again.
    for _ in 0..5 {
        world.try_login("admin", "wrong one").refused(401, "login_failed");
    }
    assert_eq!(world.try_login("admin", PASSWORD).header("retry-after"), "60");
}

#[test]
fn locks_grow_to_an_hour_and_start_over_after_a_day_without_a_failure() {
    let world = World::guarded();
    let locked_seconds = || {
        for _ in 0..5 {
            world.try_login("olga", "wrong one").refused(401, "login_failed");
        }
        let locked = world.try_login("olga", PASSWORD).refused(429, "too_many_attempts");
        locked.header("retry-after").parse::<i64>().unwrap()
    };
    for minutes in [1, 2, 4, 8, 16, 32, 60, 60] {
        assert_eq!(locked_seconds(), minutes * 60);
        // What is tried during a lock makes it no longer.
        world.clock.advance(minutes * 60 - 1);
        assert_eq!(world.try_login("olga", "wrong one").header("retry-after"), "1");
        world.clock.advance(1);
    }
    world.clock.advance(24 * 3600 - 3600 - 1);
    assert_eq!(locked_seconds(), 3600, "the last failure was not yet a day ago");
    world.clock.advance(24 * 3600);
    assert_eq!(locked_seconds(), 60);
}

#[test]
fn no_guess_of_many_at_once_gets_in_and_the_right_password_does_after() {
    let world = World::guarded();
    let names = ["admin", "olga", "nobody", "not a name"];
    let guess = |number: usize| {
        let name = names[number % names.len()];
        let password = format!("guess number {number}");
        let body = json!({ "grant_type": "password", "username": name, "password": password });
        world.request("POST", "/token").header("content-type", "application/json").body(body.to_string())
    };
    let (mut failed, mut sent_away) = (0, 0);
    // Few of one address wait at a time, so the guesses that were sent away come again, as a guesser's would.
    for round in 0.. {
        let before = (failed, sent_away);
        for seen in world.send_all((0..400).map(guess).collect()) {
            let (word, code) = (seen.json()["error"].clone(), seen.json()["code"].clone());
            match seen.status {
                401 => {
                    assert_eq!((word, code), (json!("invalid_grant"), json!("login_failed")));
                    failed += 1;
                }
                429 => assert_eq!((word, code), (json!("invalid_grant"), json!("too_many_attempts"))),
                503 => {
                    assert_eq!((word, code), (json!("temporarily_unavailable"), json!("unavailable")));
                    assert_ne!(seen.header("retry-after"), "");
                    sent_away += 1;
                }
                status => panic!("{status}: {}", seen.text()),
            }
        }
        if (failed, sent_away) == before {
            break;
        }
        assert!(round < 50, "the guesses never end: {failed} failed");
    }
    assert!(sent_away > 0);
    assert_eq!(failed, 5 * names.len(), "five guesses count for each name, and then it is locked");
    world.clock.advance(60);
    world.login("admin");
    world.login("olga");
}

#[test]
fn failures_count_for_fifteen_minutes() {
    let world = World::guarded();
    for _ in 0..4 {
        world.try_login("admin", "wrong one").refused(401, "login_failed");
    }
    world.clock.advance(15 * 60 + 1);
    world.try_login("admin", "wrong one").refused(401, "login_failed");
    world.login("admin");
}

#[test]
fn a_lock_spares_live_tokens_and_refreshing_and_ends_by_a_new_password() {
    let world = World::guarded();
    world.user("anna", "clerk");
    let token = world.try_login("anna", PASSWORD).is(200).json();
    for _ in 0..5 {
        world.try_login("anna", "wrong one").refused(401, "login_failed");
    }
    assert!(world.bearer(&token["access_token"]).lives());
    let refresh = json!({ "grant_type": "refresh_token", "refresh_token": token["refresh_token"] });
    world.token(&refresh).is(200);
    world.try_login("anna", PASSWORD).refused(429, "too_many_attempts");
    let admin = world.login("admin");
    admin.put("/users/anna/password", json!({ "password": "green kettle 8" })).is(202);
    world.try_login("anna", "green kettle 8").is(200);
}

#[test]
fn guesses_at_once_lock_as_guesses_in_turn_do() {
    let world = World::guarded();
    let guess = |password: &str| {
        let body = json!({ "grant_type": "password", "username": "admin", "password": password });
        world.request("POST", "/token").header("content-type", "application/json").body(body.to_string())
    };
    let seen = world.insist_all((0..12).map(|i| guess(&format!("guess number {i}"))).collect());
    let count = |status: u16| seen.iter().filter(|seen| seen.status == status).count();
    assert_eq!((count(401), count(429)), (5, 7));
}

#[test]
fn before_the_initialisation_no_one_logs_in() {
    let world = World::with(|config| config.auth = mfa_daemon::Auth::On);
    world.try_login("admin", PASSWORD).refused(401, "login_failed");
    world.get("/users").refused(401, "unauthenticated");
    assert_eq!(world.get("/version").is(200).json()["initialised"], false);
    assert_eq!(World::guarded().get("/version").is(200).json()["initialised"], true);
}

#[test]
fn no_secret_is_in_the_store_or_beside_it() {
    let mut world = World::guarded();
    let token = world.try_login("admin", PASSWORD).is(200).json();
    let admin = world.bearer(&token["access_token"]);
    let body = json!({ "identifier": "anna", "role": "clerk", "password": "first password" });
    let request = world.request("POST", "/users").bearer_auth(&admin.token).header("idempotency-key", "k1");
    world.send(request.body(body.to_string())).is(202);
    world.try_login("anna", "a wrong password").refused(401, "login_failed");
    world.restart();
    let secrets = [PASSWORD, "first password", "a wrong password"].map(str::to_owned);
    let tokens = ["access_token", "refresh_token"].map(|name| token[name].as_str().unwrap().to_owned());
    let places = [stored::files(world.dir.path()), world.block_on(stored::at_rest(world.config()))].concat();
    for (place, bytes) in &places {
        for secret in secrets.iter().chain(&tokens) {
            let found = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
            assert!(!found, "{secret} is in {place}");
        }
    }
    let read: usize = places.iter().map(|(_, bytes)| bytes.len()).sum();
    assert!(read > 1000, "{read} bytes were searched");
}

#[test]
fn a_stranger_with_a_hundred_connections_does_not_block_other_logins() {
    let world = World::guarded();
    let elsewhere =
        reqwest::Client::builder().no_proxy().local_address(Some([127, 0, 0, 9].into())).build().unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let sent_away = Arc::new(AtomicUsize::new(0));
    let strangers: Vec<_> = (0..100)
        .map(|number| {
            let (http, url) = (elsewhere.clone(), format!("{}/token", world.url()));
            let (stop, sent_away) = (stop.clone(), sent_away.clone());
            world.spawn(async move {
                for guess in 0.. {
                    if stop.load(SeqCst) {
                        return;
                    }
                    let name = format!("somebody{number}x{guess}");
                    let body = json!({ "grant_type": "password", "username": name, "password": "a guess" });
                    let request = http.post(&url).header("content-type", "application/json");
                    let answer = request.body(body.to_string()).send().await.unwrap();
                    sent_away.fetch_add(usize::from(answer.status() == 503), SeqCst);
                }
            })
        })
        .collect();
    while sent_away.load(SeqCst) < 200 {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    for _ in 0..10 {
        world.try_login("olga", PASSWORD).is(200);
    }
    stop.store(true, SeqCst);
    strangers.into_iter().for_each(|stranger| world.wait(stranger));
}
