//! The second factor: `identity.md` section 13.

use crate::support::guarded::{As, PASSWORD, may};
use crate::support::world::{Seen, World};
use mfa_daemon::domain::second_factor::{from_base32, step_code};
use serde_json::{Value, json};

const PATH: &str = "/users/anna/second-factor";

/// The code of a secret now, some steps later or earlier.
fn code(world: &World, secret: &str, steps: i64) -> String {
    step_code(&from_base32(secret).unwrap(), world.clock.now().plus_seconds(30 * steps))
}

fn begin(anna: &As<'_>) -> String {
    let made = anna.post(PATH, json!({})).is(200).json();
    let names: Vec<_> = made.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(names, ["secret", "uri"]);
    let secret = made["secret"].as_str().unwrap().to_owned();
    assert_eq!(secret.len(), 32, "160 bits");
    let uri = made["uri"].as_str().unwrap();
    assert!(uri.starts_with("otpauth://totp/") && uri.contains(&format!("secret={secret}")), "{uri}");
    secret
}

/// Sets up the factor of anna: its secret and recovery codes.
fn enable(world: &World, anna: &As<'_>) -> (String, Vec<String>) {
    let secret = begin(anna);
    let answer = anna.put(PATH, json!({ "code": code(world, &secret, 0) })).is(200).json();
    let codes = answer["recoveryCodes"].as_array().unwrap();
    let codes: Vec<_> = codes.iter().map(|code| code.as_str().unwrap().to_owned()).collect();
    assert_eq!(codes.len(), 10);
    (secret, codes)
}

fn login(world: &World, password: &str, otp: Option<&str>) -> Seen {
    let mut body = json!({ "grant_type": "password", "username": "anna", "password": password });
    if let Some(otp) = otp {
        body["otp"] = json!(otp);
    }
    world.token(&body)
}

fn state(anna: &As<'_>) -> Value {
    anna.get(PATH).is(200).json()
}

#[test]
fn a_factor_goes_from_none_over_pending_to_active_and_back() {
    let world = World::guarded();
    let anna = world.user("anna", "clerk");
    let none = json!({ "state": "NONE", "enabledOn": null, "recoveryCodesLeft": 0 });
    assert_eq!(state(&anna), none);
    anna.put(PATH, json!({ "code": "123456" })).refused(409, "wrong_state");
    anna.call("DELETE", PATH, r#"{"code":"123456"}"#).refused(409, "wrong_state");
    anna.put(PATH, json!({})).fields(&["/code required"]);
    let first = begin(&anna);
    assert_eq!(state(&anna)["state"], "PENDING");
    login(&world, PASSWORD, None).is(200);
    // A new secret replaces one that was not used yet.
    let secret = begin(&anna);
    assert_ne!(first, secret);
    anna.put(PATH, json!({ "code": code(&world, &first, 0) })).refused(400, "wrong_code");
    anna.put(PATH, json!({ "code": code(&world, &secret, 2) })).refused(400, "wrong_code");
    let codes = anna.put(PATH, json!({ "code": code(&world, &secret, 0) })).is(200).json();
    assert_eq!(codes.as_object().unwrap().len(), 1);
    let shown = state(&anna);
    assert_eq!((&shown["state"], &shown["recoveryCodesLeft"]), (&json!("ACTIVE"), &json!(10)));
    assert!(shown["enabledOn"].is_string());
    anna.post(PATH, json!({})).refused(409, "wrong_state");
    anna.call("DELETE", PATH, "").fields(&["/code required"]);
    anna.call("DELETE", PATH, r#"{"code":"000000"}"#).refused(400, "wrong_code");
    // The code that enabled it is spent.
    let spent = json!({ "code": code(&world, &secret, 0) }).to_string();
    anna.call("DELETE", PATH, spent).refused(400, "wrong_code");
    world.clock.advance(30);
    anna.call("DELETE", PATH, json!({ "code": code(&world, &secret, 0) }).to_string()).is(202);
    assert_eq!(state(&anna), none);
    login(&world, PASSWORD, None).is(200);
}

#[test]
fn a_login_needs_a_code_and_each_code_is_good_once() {
    let world = World::guarded();
    let (secret, _) = enable(&world, &world.user("anna", "clerk"));
    world.clock.advance(300);
    let seen = login(&world, PASSWORD, None).refused(401, "second_factor_required");
    assert_eq!(seen.json()["error"], "mfa_required");
    // A caller who does not know the password learns nothing of the factor.
    login(&world, "wrong kettle", None).refused(401, "login_failed");
    login(&world, "wrong kettle", Some(&code(&world, &secret, 0))).refused(401, "login_failed");
    let now = code(&world, &secret, 0);
    let token = login(&world, PASSWORD, Some(&now)).is(200).json();
    assert_eq!(token.as_object().unwrap().len(), 5, "{token}");
    let seen = login(&world, PASSWORD, Some(&now)).refused(401, "second_factor_invalid");
    assert_eq!(seen.json()["error"], "invalid_grant");
    // One step of tolerance, and never a step before the last one that was used.
    login(&world, PASSWORD, Some(&code(&world, &secret, -1))).refused(401, "second_factor_invalid");
    login(&world, PASSWORD, Some(&code(&world, &secret, 1))).is(200);
    let form = format!("grant_type=password&username=anna&password={}", PASSWORD.replace(' ', "+"));
    world.clock.advance(120);
    let form = format!("{form}&otp={}", code(&world, &secret, 0));
    let request = world.request("POST", "/token").header("content-type", "application/x-www-form-urlencoded");
    world.send(request.body(form)).is(200);
    // A session continues without a code.
    let refresh = json!({ "grant_type": "refresh_token", "refresh_token": token["refresh_token"] });
    world.token(&refresh).is(200);
}

#[test]
fn a_recovery_code_is_good_once_and_wrong_codes_lock() {
    let world = World::guarded();
    let anna = world.user("anna", "clerk");
    let (secret, codes) = enable(&world, &anna);
    login(&world, PASSWORD, Some(&codes[3])).is(200);
    login(&world, PASSWORD, Some(&codes[3])).refused(401, "second_factor_invalid");
    login(&world, PASSWORD, Some(&codes[4].to_uppercase().replace('-', ""))).is(200);
    assert_eq!(state(&anna)["recoveryCodesLeft"], 8);
    for _ in 0..5 {
        login(&world, PASSWORD, Some("000000")).refused(401, "second_factor_invalid");
    }
    world.clock.advance(30);
    login(&world, PASSWORD, Some(&code(&world, &secret, 0))).refused(429, "too_many_attempts");
}

#[test]
fn only_the_user_sets_one_up_and_who_may_delete_users_removes_it() {
    let world = World::guarded();
    let anna = world.user("anna", "clerk");
    enable(&world, &anna);
    let bert = world.user_with("bert", &[may("identity__v1__users", "RCD")]);
    bert.post(PATH, json!({})).refused(403, "not_own_record");
    bert.put(PATH, json!({ "code": "123456" })).refused(403, "not_own_record");
    assert_eq!(bert.get(PATH).is(200).json(), json!({ "state": "ACTIVE" }));
    bert.get("/users/nobody/second-factor").refused(404, "user_not_found");
    let carl = world.user_with("carl", &[may("identity__v1__users", "R")]);
    carl.get(PATH).is(200);
    carl.delete(PATH).refused(403, "forbidden");
    world.user("dora", "clerk").get(PATH).refused(403, "forbidden");
    bert.delete(PATH).is(202);
    bert.delete(PATH).refused(409, "wrong_state");
    login(&world, PASSWORD, None).is(200);
}

#[test]
fn a_role_can_ask_for_a_factor_before_anything_else() {
    let world = World::guarded_with(|config| config.second_factor_roles = vec!["clerk".to_owned()]);
    let admin = world.login("admin");
    let body = json!({ "identifier": "anna", "role": "clerk", "password": "first password" });
    admin.post("/users", body).is(202);
    let token = login(&world, "first password", None).is(200).json();
    let first = world.bearer(&token["access_token"]);
    first.put("/users/anna/password", json!({ "password": PASSWORD })).is(202);
    let token = login(&world, PASSWORD, None).is(200).json();
    assert_eq!(token["second_factor_setup_required"], true, "{token}");
    let anna = world.bearer(&token["access_token"]);
    anna.get("/customers").refused(403, "second_factor_setup_required");
    anna.get("/users/anna").refused(403, "second_factor_setup_required");
    anna.get("/token/_current").is(200);
    let (secret, _) = enable(&world, &anna);
    anna.get("/customers").is(200);
    world.clock.advance(60);
    let token = login(&world, PASSWORD, Some(&code(&world, &secret, 0))).is(200).json();
    assert_eq!(token.get("second_factor_setup_required"), None);
    world.login("olga").get("/customers").is(200);
}

#[test]
fn secrets_are_shown_once_never_kept_in_clear_and_in_no_batch() {
    let mut world = World::guarded();
    let anna = world.user("anna", "clerk");
    let post = |body: &str| {
        let request = world.request("POST", PATH).bearer_auth(&anna.token).header("idempotency-key", "k-1");
        world.send(request.body(body.to_owned())).is(200).json()["secret"].clone()
    };
    assert_ne!(post("{}"), post("{}"), "an answer with a secret is kept for no repetition");
    let operation = json!({ "method": "POST", "path": PATH, "body": {} });
    let results = anna.post("/batch", json!({ "operations": [operation] })).is(200).json();
    assert_eq!(results["results"][0]["problem"]["code"], "not_in_batch");
    let (secret, codes) = enable(&world, &anna);
    let token = anna.token.clone();
    world.restart();
    for (place, bytes) in world.block_on(crate::support::stored::at_rest(world.config())) {
        for text in codes.iter().chain([&secret]) {
            assert!(!bytes.windows(text.len()).any(|window| window == text.as_bytes()), "{place}");
        }
    }
    // It survives a restart, and a new key of the store.
    assert_eq!(state(&world.bearer(&json!(token)))["state"], "ACTIVE");
    world.clock.advance(60);
    login(&world, PASSWORD, Some(&code(&world, &secret, 0))).is(200);
}
