//! Sessions and tokens, of users and of applications: `identity.md` sections 3 and 6.

use crate::support::assertion::Key;
use crate::support::guarded::{As, PASSWORD, may, missing};
use crate::support::servers::Receiver;
use crate::support::world::{Seen, World};
use mfa_shared::api::tokens::JWT_BEARER;
use serde_json::{Value, json};

pub const KID: &str = "2031-05-06T10_11_12";
const PRIMES: &[u32] = &[1279, 2203];
/// The moment at which every test begins, in seconds.
const NOW: i64 = 1_935_817_689;

fn refresh(world: &World, token: &Value) -> Seen {
    world.token(&json!({ "grant_type": "refresh_token", "refresh_token": token["refresh_token"] }))
}

#[test]
fn a_session_goes_on_with_a_new_refresh_token_each_time() {
    let world = World::guarded();
    let first = world.try_login("admin", PASSWORD).is(200).json();
    world.clock.advance(1000);
    let second = refresh(&world, &first).is(200).json();
    assert_ne!(first["refresh_token"], second["refresh_token"]);
    // The old access token lives to its own end.
    assert!(world.bearer(&first["access_token"]).lives() && world.bearer(&second["access_token"]).lives());
    world.clock.advance(200);
    let ended = world.bearer(&first["access_token"]).get("/users").refused(401, "unauthenticated");
    assert_eq!(ended.header("www-authenticate"), "Bearer error=\"invalid_token\"");
    assert!(world.bearer(&second["access_token"]).lives());
    // A spent refresh token ends the whole session.
    refresh(&world, &first).refused(401, "refresh_token_invalid");
    assert!(!world.bearer(&second["access_token"]).lives());
    refresh(&world, &second).refused(401, "refresh_token_invalid");
}

#[test]
fn a_session_is_never_extended() {
    let world = World::guarded_with(|config| config.refresh_token_seconds = 3000);
    let mut token = world.try_login("admin", PASSWORD).is(200).json();
    for expires_in in [1200, 1000] {
        world.clock.advance(1000);
        token = refresh(&world, &token).is(200).json();
        assert_eq!(token["expires_in"], expires_in);
    }
    world.clock.advance(999);
    assert!(world.bearer(&token["access_token"]).lives());
    world.clock.advance(1);
    assert!(!world.bearer(&token["access_token"]).lives());
    refresh(&world, &token).refused(401, "refresh_token_invalid");
}

#[test]
fn logging_out_ends_this_session_or_all() {
    let world = World::guarded();
    let tokens: Vec<_> = (0..3).map(|_| world.try_login("admin", PASSWORD).is(200).json()).collect();
    let clients: Vec<_> = tokens.iter().map(|token| world.bearer(&token["access_token"])).collect();
    let current = clients[0].get("/token/_current").is(200).json();
    let expected = json!({ "user": "admin", "role": "pharaoh", "application": null,
        "expiresAt": "2031-05-06T07:28:09.123Z", "passwordChangeRequired": false });
    assert_eq!(current, expected);
    let out = clients[0].delete("/token/_current").is(200);
    assert!(out.body.is_empty());
    assert_eq!(clients.iter().map(As::lives).collect::<Vec<_>>(), [false, true, true]);
    refresh(&world, &tokens[0]).refused(401, "refresh_token_invalid");
    clients[1].delete("/token").is(200);
    assert_eq!(clients.iter().map(As::lives).collect::<Vec<_>>(), [false, false, false]);
    refresh(&world, &tokens[2]).refused(401, "refresh_token_invalid");
}

#[test]
fn the_oldest_of_fifty_sessions_ends_when_another_begins() {
    let world = World::guarded();
    let mut oldest = Vec::new();
    for i in 0..51 {
        world.clock.advance(1);
        let client = world.login("admin");
        if i < 2 {
            oldest.push(client);
        }
    }
    assert_eq!(oldest.iter().map(As::lives).collect::<Vec<_>>(), [false, true]);
}

#[test]
fn sessions_survive_a_restart() {
    let mut world = World::guarded();
    let token = world.try_login("admin", PASSWORD).is(200).json();
    world.restart();
    assert!(world.bearer(&token["access_token"]).lives());
    refresh(&world, &token).is(200);
}

#[test]
fn only_one_bearer_header_with_a_live_access_token_counts() {
    let world = World::guarded();
    let token = world.try_login("admin", PASSWORD).is(200).json();
    let (access, refresh) =
        (token["access_token"].as_str().unwrap(), token["refresh_token"].as_str().unwrap());
    let sent =
        |value: &str| world.send(world.request("GET", "/users").header("authorization", value.to_owned()));
    sent(&format!("Bearer {access}")).is(200);
    sent(&format!("bearer {access}")).is(200);
    let bad = "Bearer error=\"invalid_token\"";
    for (value, challenge) in [
        (format!("Bearer {}", &access[..47]), bad),
        (format!("Bearer {access}x"), bad),
        (format!("Bearer {refresh}"), bad),
        ("Bearer".to_owned(), bad),
        (format!("Basic {access}"), "Bearer"),
        (access.to_owned(), "Bearer"),
    ] {
        let refused = sent(&value).refused(401, "unauthenticated");
        assert_eq!(refused.header("www-authenticate"), challenge, "{value}");
    }
    let none = world.get("/users").refused(401, "unauthenticated");
    assert_eq!(none.header("www-authenticate"), "Bearer");
    let two = world
        .request("GET", "/users")
        .bearer_auth(access)
        .header("authorization", format!("Bearer {access}"));
    world.send(two).refused(401, "unauthenticated");
    world.get(&format!("/users?access_token={access}")).refused(401, "unauthenticated");
}

/// Registers the application with permissions on these groups; who registered it may go on with it.
pub fn application<'w>(world: &'w World, permissions: &[(&str, &str)]) -> (Key, As<'w>) {
    let mut held: Vec<_> = permissions.iter().map(|(group, _)| may(group, "RCD")).collect();
    held.push(may("identity__v1__applications", "RCD"));
    let (registrar, key) = (world.user_with("registrar", &held), Key::new(PRIMES));
    registrar.call("PUT", &format!("/applications/crm-v1/signatures/{KID}"), key.public()).is(202);
    for (group, letters) in permissions {
        registrar.post("/applications/crm-v1/permissions", json!(may(group, letters))).is(202);
    }
    (key, registrar)
}

pub fn claims(world: &World, jti: &str) -> Value {
    let instance = world.get("/version").is(200).json()["instance"].clone();
    json!({ "iss": "crm-v1", "aud": instance, "exp": NOW + 300, "jti": jti })
}

pub fn sign_in(world: &World, key: &Key, claims: &Value, scope: Option<&str>) -> Seen {
    let assertion = key.sign(KID, claims);
    world.token(&json!({ "grant_type": JWT_BEARER, "assertion": assertion, "scope": scope }))
}

#[test]
fn an_application_signs_in_with_its_key() {
    let mut world = World::guarded();
    let (key, _) = application(&world, &[("office__v1__offices", "R"), ("identity__v1__app_self", "R")]);
    let token = sign_in(&world, &key, &claims(&world, "j1"), None).is(200).json();
    assert_eq!((&token["refresh_token"], &token["expires_in"]), (&Value::Null, &json!(1200)));
    let crm = world.bearer(&token["access_token"]);
    let current = crm.get("/token/_current").is(200).json();
    assert_eq!(
        (&current["user"], &current["role"], &current["application"]),
        (&Value::Null, &Value::Null, &json!("crm-v1"))
    );
    crm.get("/offices").is(200);
    crm.get("/applications/crm-v1/permissions").is(200);
    crm.get("/applications/pay-v1/permissions").refused(403, "forbidden");
    crm.post("/offices", json!({})).refused(403, "forbidden");
    crm.delete("/token").refused(403, "login_token_required");
    // An assertion is used once, also after a restart.
    let (token, again) = (token["access_token"].clone(), claims(&world, "j1"));
    world.restart();
    assert!(world.bearer(&token).lives());
    let reused = sign_in(&world, &key, &again, None).refused(401, "assertion_invalid");
    assert_eq!(reused.json()["error"], "invalid_grant");
    // Another state than the one that is meant ends nothing.
    let other = world
        .request("DELETE", "/token/_current")
        .bearer_auth(token.as_str().unwrap())
        .header("if-match", "\"other\"");
    world.send(other).refused(412, "precondition_failed");
    assert!(world.bearer(&token).lives());
    world.bearer(&token).delete("/token/_current").is(200);
    assert!(!world.bearer(&token).lives());
}

#[test]
fn an_assertion_that_breaks_a_rule_is_refused() {
    let world = World::guarded();
    let (key, _) = application(&world, &[]);
    world.user("anna", "clerk");
    let admin = world.login("admin");
    let new = |name: &str, role: &str| json!({ "identifier": name, "role": role, "password": PASSWORD });
    admin.post("/users", new("fresh", "clerk")).is(202);
    let with = |name: &str, value: Value| {
        let mut claims = claims(&world, &format!("{name}-{value}"));
        claims[name] = value;
        sign_in(&world, &key, &claims, None)
    };
    with("iss", json!("pay-v1")).refused(401, "assertion_invalid");
    with("aud", json!("urn:mfa:instance:other")).refused(401, "assertion_invalid");
    with("exp", json!(NOW - 31)).refused(401, "assertion_invalid");
    with("exp", json!(NOW + 331)).refused(401, "assertion_invalid");
    for sub in ["nobody", "fresh", "", "a b"] {
        with("sub", json!(sub)).refused(401, "assertion_invalid");
    }
    with("sub", json!("anna")).is(200);
    with("sub", json!("crm-v1")).is(200);
    let other = Key::new(&[1279, 2281]);
    let forged = sign_in(&world, &other, &claims(&world, "j2"), None).refused(401, "assertion_invalid");
    assert_eq!(forged.json()["detail"], "the assertion is not valid");
    let assertion = key.sign("2031-05-06T10_11_12Z", &claims(&world, "j3"));
    let body = json!({ "grant_type": JWT_BEARER, "assertion": assertion });
    world.token(&body).refused(401, "assertion_invalid");
    world.token(&json!({ "grant_type": JWT_BEARER, "assertion": "a.b.c" })).refused(401, "assertion_invalid");
}

#[test]
fn a_refused_sign_in_names_the_application_whose_signature_is_right() {
    let world = World::guarded();
    let (key, _) = application(&world, &[]);
    let recorded = |seen: &Seen| {
        let olga = world.login("olga");
        let found = olga.get(&format!("/audit?requestId={}", seen.header("x-request-id"))).is(200).json();
        let record = &found["records"][0];
        ["actor", "application", "resource", "outcome"].map(|field| record[field].clone())
    };
    let named = [json!("application:crm-v1"), json!("crm-v1"), json!("application/crm-v1"), json!("REFUSED")];
    let mut late = claims(&world, "j1");
    late["exp"] = json!(NOW - 31);
    let late = sign_in(&world, &key, &late, None).refused(401, "assertion_invalid");
    assert_eq!(recorded(&late), named);
    sign_in(&world, &key, &claims(&world, "j2"), None).is(200);
    let again = sign_in(&world, &key, &claims(&world, "j2"), None).refused(401, "assertion_invalid");
    assert_eq!(recorded(&again), named);
    let forged = sign_in(&world, &Key::new(&[1279, 2281]), &claims(&world, "j3"), None);
    let unknown = [json!("unknown"), Value::Null, Value::Null, json!("REFUSED")];
    assert_eq!(recorded(&forged.refused(401, "assertion_invalid")), unknown);
}

#[test]
fn of_the_same_assertion_sent_at_once_one_is_taken() {
    let world = World::guarded();
    let (key, _) = application(&world, &[]);
    let body =
        json!({ "grant_type": JWT_BEARER, "assertion": key.sign(KID, &claims(&world, "j1")) }).to_string();
    let send =
        || world.request("POST", "/token").header("content-type", "application/json").body(body.clone());
    // As many as may wait of one address.
    let mut statuses: Vec<_> =
        world.send_all((0..4).map(|_| send()).collect()).iter().map(|s| s.status).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 401, 401, 401]);
}

#[test]
fn in_the_name_of_a_user_both_must_hold_it_and_the_user_must_agree() {
    let world = World::guarded();
    let (key, _) = application(&world, &[("office__v1__offices", "RC"), ("customer__v1__customer", "R")]);
    let anna = world.user_with("anna", &[may("office__v1__offices", "R"), may("identity__v1__users", "R")]);
    let mut claims = claims(&world, "j1");
    claims["sub"] = json!("anna");
    let token = sign_in(&world, &key, &claims, None).is(200).json();
    let crm = world.bearer(&token["access_token"]);
    let current = crm.get("/token/_current").is(200).json();
    assert_eq!(
        (&current["user"], &current["role"], &current["application"]),
        (&json!("anna"), &json!("role-anna"), &json!("crm-v1"))
    );
    crm.get("/offices").refused(403, "forbidden");
    let enabled = |group: &str| format!("/applications/crm-v1/permissions/{group}/users/anna/enabled");
    crm.call("PUT", &enabled("office__v1__offices"), "true").refused(403, "login_token_required");
    anna.call("PUT", &enabled("office__v1__offices"), "true").is(202);
    assert_eq!(anna.get(&enabled("office__v1__offices")).is(200).text(), "true");
    crm.get("/offices").is(200);
    crm.post("/offices", json!({})).refused(403, "forbidden");
    crm.get("/users").refused(403, "forbidden");
    crm.get("/users/anna").refused(403, "forbidden");
    crm.put("/users/anna/password", json!({ "password": PASSWORD })).refused(403, "login_token_required");
    // A consent may be given before the user holds the permission.
    anna.call("PUT", &enabled("customer__v1__customer"), "true").is(202);
    crm.get("/customers").refused(403, "forbidden");
    let admin = world.login("admin");
    let permissions = json!([may("customer__v1__customer", "RC"), may("office__v1__offices", "RC")]);
    admin.put("/roles/role-anna", json!({ "identifier": "role-anna", "permissions": permissions })).is(202);
    crm.get("/customers").is(200);
    let office = json!({ "identifier": "accra", "name": "Accra" });
    crm.post("/offices", office).is(202);
    anna.call("PUT", &enabled("office__v1__offices"), "false").is(202);
    crm.get("/offices").refused(403, "forbidden");
    // A new role of the user ends the tokens in the user's name.
    admin.put("/users/anna/roleIdentifier", json!({ "identifier": "clerk" })).is(202);
    assert!(!crm.lives());
}

#[test]
fn who_acts_for_a_user_does_not_take_the_second_factor_of_the_user_away() {
    let world = World::guarded();
    let (key, _) = application(&world, &[("identity__v1__users", "D")]);
    let anna = world.user_with("anna", &[may("identity__v1__users", "RD")]);
    let enabled = "/applications/crm-v1/permissions/identity__v1__users/users/anna/enabled";
    anna.call("PUT", enabled, "true").is(202);
    let factor = "/users/anna/second-factor";
    anna.post(factor, json!({})).is(200);
    let mut claims = claims(&world, "j1");
    claims["sub"] = json!("anna");
    let token = sign_in(&world, &key, &claims, None).is(200).json();
    world.bearer(&token["access_token"]).call("DELETE", factor, "").refused(403, "login_token_required");
    assert_eq!(anna.get(factor).is(200).json()["state"], "PENDING");
}

#[test]
fn more_operations_clear_the_consents_and_fewer_keep_them() {
    let world = World::guarded();
    let (_, registrar) = application(&world, &[("office__v1__offices", "RC")]);
    let anna = world.user("anna", "clerk");
    let path = "/applications/crm-v1/permissions/office__v1__offices";
    let enabled = format!("{path}/users/anna/enabled");
    anna.call("PUT", &enabled, "true").is(202);
    registrar.put(path, json!(may("office__v1__offices", "R"))).is(202);
    assert_eq!(anna.get(&enabled).text(), "true");
    registrar.put(path, json!(may("office__v1__offices", "RD"))).is(202);
    assert_eq!(anna.get(&enabled).text(), "false");
}

#[test]
fn a_scope_narrows_a_token_whole_or_not_at_all() {
    let world = World::guarded();
    let (key, registrar) =
        application(&world, &[("office__v1__offices", "RC"), ("customer__v1__customer", "R")]);
    let set = |name: &str, groups: &[&str]| {
        let body = json!({ "identifier": name, "permittableEndpointGroupIdentifiers": groups });
        registrar.post("/applications/crm-v1/callendpointset", body).is(202);
    };
    set("doorway", &["office__v1__offices"]);
    set("wide", &["office__v1__offices", "teller__v1__operation"]);
    let scoped = |jti: &str, scope: &str| sign_in(&world, &key, &claims(&world, jti), Some(scope));
    let unknown = scoped("j1", "none").refused(400, "scope_unknown");
    assert_eq!(unknown.json()["error"], "invalid_scope");
    let wide = scoped("j1", "wide").refused(403, "scope_not_covered");
    assert_eq!(
        (missing(&wide), &wide.json()["error"]),
        (vec!["teller__v1__operation ".to_owned()], &json!("invalid_scope"))
    );
    // A refused request used no assertion up.
    let token = scoped("j1", "doorway").is(200).json();
    let crm = world.bearer(&token["access_token"]);
    crm.get("/offices").is(200);
    crm.get("/customers").refused(403, "forbidden");
    let anna = world.user_with("anna", &[may("office__v1__offices", "R")]);
    let for_anna = |jti: &str| {
        let mut claims = claims(&world, jti);
        claims["sub"] = json!("anna");
        sign_in(&world, &key, &claims, Some("doorway"))
    };
    assert_eq!(missing(&for_anna("a1").refused(403, "scope_not_covered")), ["office__v1__offices RC"]);
    let enabled = "/applications/crm-v1/permissions/office__v1__offices/users/anna/enabled";
    anna.call("PUT", enabled, "true").is(202);
    assert_eq!(missing(&for_anna("a1").refused(403, "scope_not_covered")), ["office__v1__offices C"]);
}

#[test]
fn a_webhook_brings_no_more_than_the_narrowed_token_that_set_its_address() {
    let world = World::guarded_with(|config| {
        config.webhook_plaintext = true;
        config.webhook_private_addresses = vec!["127.0.0.1".parse().unwrap()];
    });
    let permissions =
        [("office__v1__offices", "R"), ("customer__v1__customer", "R"), ("events__v1__events", "RC")];
    let (key, registrar) = application(&world, &permissions);
    let groups = ["office__v1__offices", "events__v1__events"];
    let set = json!({ "identifier": "doorway", "permittableEndpointGroupIdentifiers": groups });
    registrar.post("/applications/crm-v1/callendpointset", set).is(202);
    let (narrow, whole) = (Receiver::start(&[]), Receiver::start(&[]));
    for (jti, scope, receiver) in [("j1", Some("doorway"), &narrow), ("j2", None, &whole)] {
        let token = sign_in(&world, &key, &claims(&world, jti), scope).is(200).json();
        let kinds = ["office", "customer"];
        let hook = json!({ "identifier": format!("hook-{jti}"), "url": receiver.url(), "kinds": kinds });
        world.bearer(&token["access_token"]).post("/events/subscriptions", hook).is(200);
    }
    let olga = world.login("olga");
    olga.post("/customers", json!({ "identifier": "c-1" })).is(202);
    olga.post("/offices", json!({ "identifier": "xx", "name": "X" })).is(202);
    let brought = |receiver: &Receiver, count: usize| -> Vec<String> {
        receiver.events(count);
        receiver.came().iter().flat_map(crate::support::servers::Came::resources).collect()
    };
    assert_eq!(brought(&whole, 2), ["customer/c-1", "office/xx"]);
    assert_eq!(brought(&narrow, 1), ["office/xx"]);
}

#[test]
fn a_token_intended_for_other_parts_needs_the_flag() {
    let world = World::guarded();
    let admin = world.login("admin");
    let permittable = |path: &str, flag: bool| json!([{ "path": path, "method": "GET", "acceptTokenIntendedForForeignApplication": flag }]);
    let group = |name: &str, permittables: Value| {
        admin.post("/permittablegroups", json!({ "identifier": name, "permittables": permittables })).is(202);
    };
    group("customers-foreign", permittable("customer-v1/customers", true));
    group("customers-own", permittable("customer-v1/customers/*", false));
    let permissions = [("customers-foreign", "R"), ("customers-own", "R"), ("office__v1__offices", "R")];
    let (key, _) = application(&world, &permissions);
    let intended = |jti: &str, others: &[&str]| {
        let mut claims = claims(&world, jti);
        let mut audience = vec![claims["aud"].clone()];
        audience.extend(others.iter().map(|other| json!(other)));
        claims["aud"] = json!(audience);
        sign_in(&world, &key, &claims, None).is(200).json()["access_token"].clone()
    };
    for (jti, others, offices, one) in
        [("j1", &["office-v1"][..], 200, 403), ("j2", &["customer-v1"], 403, 404), ("j3", &[], 200, 404)]
    {
        let crm = world.bearer(&intended(jti, others));
        assert_eq!(crm.get("/offices").status, offices, "{others:?}");
        assert_eq!(crm.get("/customers").status, 200, "{others:?}");
        assert_eq!(crm.get("/customers/C1").status, one, "{others:?}");
    }
}

#[test]
fn a_deleted_key_or_application_ends_its_tokens_and_nothing_revives() {
    let world = World::guarded();
    let (key, registrar) = application(&world, &[("office__v1__offices", "R")]);
    let register = || {
        registrar.call("PUT", &format!("/applications/crm-v1/signatures/{KID}"), key.public()).is(202);
    };
    let sign = |jti: &str| {
        let token = sign_in(&world, &key, &claims(&world, jti), None).is(200).json();
        world.bearer(&token["access_token"])
    };
    let first = sign("j1");
    registrar.delete(&format!("/applications/crm-v1/signatures/{KID}")).is(202);
    assert!(!first.lives());
    sign_in(&world, &key, &claims(&world, "j2"), None).refused(401, "assertion_invalid");
    register();
    assert!(!first.lives());
    let second = sign("j3");
    registrar.delete("/applications/crm-v1").is(202);
    assert!(!second.lives());
    register();
    assert!(!second.lives());
    sign("j4").get("/offices").refused(403, "forbidden");
    sign_in(&world, &key, &claims(&world, "j3"), None).refused(401, "assertion_invalid");
}
