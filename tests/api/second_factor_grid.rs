//! The second factor as a whole grid, and what its secrets are kept from: `identity.md` section 13.

use crate::support::guarded::{As, PASSWORD, may};
use crate::support::world::{Seen, World};
use ring::hmac::{HMAC_SHA1_FOR_LEGACY_USE_ONLY, Key, sign};
use serde_json::{Value, json};

const STEP: i64 = 30;

/// What an authenticator shows for the secret, some steps from now.
fn code(world: &World, secret: &str, steps: i64) -> String {
    let letter = |c: u8| u64::from(if c.is_ascii_digit() { c - b'2' + 26 } else { c - b'A' });
    let block = |chunk: &[u8]| chunk.iter().fold(0_u64, |n, c| n << 5 | letter(*c)).to_be_bytes();
    let bytes: Vec<u8> = secret.as_bytes().chunks(8).flat_map(|chunk| block(chunk)[3..].to_vec()).collect();
    let step = world.clock.now().millis() / 1000 / STEP + steps;
    let tag = sign(&Key::new(HMAC_SHA1_FOR_LEGACY_USE_ONLY, &bytes), &step.to_be_bytes());
    let (hash, at) = (tag.as_ref(), usize::from(tag.as_ref()[19] & 15));
    let number = u32::from_be_bytes(hash[at..at + 4].try_into().unwrap()) & 0x7fff_ffff;
    format!("{:06}", number % 1_000_000)
}

fn path(user: &str) -> String {
    format!("/users/{user}/second-factor")
}

fn begin(user: &As<'_>, name: &str) -> String {
    user.post(&path(name), json!({})).is(200).json()["secret"].as_str().unwrap().to_owned()
}

/// Sets a factor up, and waits until the authenticator shows another code.
fn active(world: &World, user: &As<'_>, name: &str) -> String {
    let secret = begin(user, name);
    user.put(&path(name), json!({ "code": code(world, &secret, 0) })).is(200);
    world.clock.advance(STEP);
    secret
}

fn log_in(world: &World, otp: &str) -> Seen {
    world.token(&json!({ "grant_type": "password", "username": "anna", "password": PASSWORD, "otp": otp }))
}

fn outcome(seen: &Seen) -> String {
    match seen.status {
        200 | 202 => seen.status.to_string(),
        _ => format!("{} {}", seen.status, seen.json()["code"].as_str().unwrap_or("?")),
    }
}

/// State, endpoint, code, answer, state afterwards.
const GRID: &str = "
    NONE    GET    -     200              NONE
    NONE    POST   -     200              PENDING
    NONE    PUT    good  409 wrong_state  NONE
    NONE    DELETE good  409 wrong_state  NONE
    PENDING POST   -     200              PENDING
    PENDING PUT    good  200              ACTIVE
    PENDING PUT    wrong 400 wrong_code   PENDING
    PENDING DELETE wrong 400 wrong_code   PENDING
    PENDING DELETE good  202              NONE
    ACTIVE  POST   -     409 wrong_state  ACTIVE
    ACTIVE  PUT    good  200              ACTIVE
    ACTIVE  PUT    wrong 400 wrong_code   ACTIVE
    ACTIVE  PUT    used  400 wrong_code   ACTIVE
    ACTIVE  DELETE wrong 400 wrong_code   ACTIVE
    ACTIVE  DELETE used  400 wrong_code   ACTIVE
    ACTIVE  DELETE good  202              NONE
";

#[test]
fn each_state_answers_each_endpoint_and_code_as_the_grid_says() {
    let world = World::guarded();
    let mut other = Vec::new();
    for (number, row) in GRID.lines().map(str::trim).filter(|row| !row.is_empty()).enumerate() {
        let cells: Vec<_> = row.split_whitespace().collect();
        let (state, method, which, after) = (cells[0], cells[1], cells[2], cells[cells.len() - 1]);
        let name = format!("user-{number}");
        let user = world.user(&name, "clerk");
        let secret = match state {
            "NONE" => "A".repeat(32),
            "PENDING" => begin(&user, &name),
            _ => active(&world, &user, &name),
        };
        let good = code(&world, &secret, 0);
        let typed = match which {
            "used" => code(&world, &secret, -1),
            "wrong" => format!("{:06}", (good.parse::<u32>().unwrap() + 500_000) % 1_000_000),
            _ => good,
        };
        let body = if method == "POST" { json!({}) } else { json!({ "code": typed }) };
        let seen = outcome(&user.call(method, &path(&name), body.to_string()));
        let now = user.get(&path(&name)).is(200).json()["state"].clone();
        if (seen.as_str(), now.as_str()) != (&cells[3..cells.len() - 1].join(" "), Some(after)) {
            other.push(format!("{row}: {seen}, {now}"));
        }
    }
    assert!(other.is_empty(), "{other:#?}");
}

#[test]
fn bodies_are_checked_before_states() {
    let world = World::guarded();
    let anna = world.user("anna", "clerk");
    let seen = |method: &str, body: &str| outcome(&anna.call(method, &path("anna"), body));
    let mut other = Vec::new();
    for method in ["PUT", "POST"] {
        for body in ["", "[]", "\"x\"", "{"] {
            if seen(method, body) != "400 malformed_body" {
                other.push(format!("{method} {body:?}: {}", seen(method, body)));
            }
        }
    }
    anna.put(&path("anna"), json!({ "code": null })).fields(&["/code required"]);
    anna.put(&path("anna"), json!({ "code": 123_456 })).fields(&["/code wrong_type"]);
    assert!(other.is_empty(), "{other:#?}");
}

#[test]
fn who_needs_no_code_is_not_asked_for_a_body() {
    let world = World::guarded();
    let anna = world.user("anna", "clerk");
    let admin = world.login("admin");
    for (of_type, body) in [("text/plain", "no JSON"), ("application/json", "[]"), ("image/png", "")] {
        active(&world, &anna, "anna");
        let request = world.request("DELETE", &path("anna")).header("content-type", of_type).body(body);
        world.send(request.bearer_auth(&admin.token)).is(202);
    }
    let own = |body: &'static str| outcome(&anna.call("DELETE", &path("anna"), body));
    assert_eq!(own("{"), "409 wrong_state", "there is no factor that a code could take away");
    active(&world, &anna, "anna");
    assert_eq!(own("{"), "400 malformed_body");
    assert_eq!(own("{}"), "400 invalid_fields");
    assert_eq!(own(""), "400 invalid_fields");
    let state = anna.get(&path("anna")).is(200).json();
    assert_eq!(state["state"], "ACTIVE");
}

#[test]
fn the_factor_of_a_pharaoh_is_taken_away_only_by_one() {
    let world = World::guarded();
    let admin = world.login("admin");
    let olga = world.login("olga");
    active(&world, &admin, "admin");
    assert_eq!(outcome(&olga.delete(&path("admin"))), "403 exceeds_own_permissions");
}

#[test]
fn who_has_only_a_token_cannot_guess_codes_for_ever() {
    for method in ["PUT", "DELETE"] {
        let world = World::guarded();
        let anna = world.user("anna", "clerk");
        active(&world, &anna, "anna");
        let guess = || outcome(&anna.call(method, &path("anna"), "{\"code\":\"000000\"}"));
        let seen: Vec<_> = (0..6).map(|_| guess()).collect();
        assert_eq!(seen[5], "429 too_many_attempts", "{method} {seen:?}");
    }
}

#[test]
fn a_dry_run_tries_no_code_and_a_batch_has_none() {
    let world = World::guarded();
    let anna = world.user("anna", "clerk");
    active(&world, &anna, "anna");
    let mut other = Vec::new();
    for (method, body) in
        [("POST", json!({})), ("PUT", json!({"code": "1"})), ("DELETE", json!({"code": "1"}))]
    {
        let request = world.request(method, &path("anna")).bearer_auth(&anna.token).header("dry-run", "true");
        let tried = outcome(&world.send(request.body(body.to_string())));
        let operation = json!({ "method": method, "path": path("anna"), "body": body });
        let batch = anna.post("/batch", json!({ "atomic": true, "operations": [operation] })).text();
        if tried != "400 no_dry_run" || !batch.contains("not_in_batch") {
            other.push(format!("{method}: {tried}, {batch}"));
        }
    }
    assert!(other.is_empty(), "{other:#?}");
}

#[test]
fn a_missing_code_neither_counts_nor_forgets_and_a_wrong_one_locks() {
    let world = World::guarded();
    let anna = world.user("anna", "clerk");
    let secret = active(&world, &anna, "anna");
    for _ in 0..5 {
        world.try_login("anna", PASSWORD).refused(401, "second_factor_required");
        let seen = log_in(&world, "000000").refused(401, "second_factor_invalid").json();
        assert_eq!(seen["error"], "invalid_grant");
    }
    log_in(&world, &code(&world, &secret, 0)).refused(429, "too_many_attempts");
    world.clock.advance(61);
    log_in(&world, &code(&world, &secret, 0)).is(200);
}

#[test]
fn reads_have_a_tag_and_changes_honour_it() {
    let world = World::guarded();
    let anna = world.user("anna", "clerk");
    active(&world, &anna, "anna");
    let tag = anna.get(&path("anna")).is(200).header("etag");
    let request = world.request("PUT", &path("anna")).bearer_auth(&anna.token).header("if-match", "\"x\"");
    let seen = outcome(&world.send(request.body("{\"code\":\"000000\"}")));
    assert_eq!((tag.is_empty(), seen.as_str()), (false, "412 precondition_failed"));
}

#[test]
fn others_see_the_state_alone_and_the_user_all_of_it() {
    let world = World::guarded();
    let anna = world.user("anna", "clerk");
    let none = json!({ "state": "NONE", "enabledOn": null, "recoveryCodesLeft": 0 });
    assert_eq!(anna.get(&path("anna")).is(200).json(), none);
    active(&world, &anna, "anna");
    let reader = world.user_with("rita", &[may("identity__v1__users", "R")]);
    assert_eq!(reader.get(&path("anna")).is(200).json(), json!({ "state": "ACTIVE" }));
    let shown: Value = anna.get(&path("anna")).is(200).json();
    assert_eq!(shown["recoveryCodesLeft"], 10);
}
