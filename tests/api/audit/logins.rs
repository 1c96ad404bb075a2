//! Audit records of logins, sessions and drawers.

use super::{of, records, the};
use crate::support::counter::{Counter, PIN};
use crate::support::guarded::PASSWORD;
use crate::support::world::World;
use serde_json::{Value, json};

fn facts(record: &Value) -> [Value; 4] {
    ["actor", "resource", "outcome", "code"].map(|field| record[field].clone())
}

#[test]
fn logins_are_recorded_done_refused_and_locked_but_never_unknown_names() {
    let world = World::guarded();
    world.user("anna", "clerk");
    let done = world.try_login("anna", PASSWORD).is(200);
    assert_eq!(facts(&the(&world, &done)), [json!("anna"), json!("user/anna"), json!("DONE"), json!(null)]);
    let refused = world.try_login("anna", "a wrong word").refused(401, "login_failed");
    let expected = [json!("anna"), json!("user/anna"), json!("REFUSED"), json!("login_failed")];
    assert_eq!(facts(&the(&world, &refused)), expected);
    let unknown = world.try_login("green-kettle-9", "a wrong word").refused(401, "login_failed");
    let record = the(&world, &unknown);
    assert_eq!(facts(&record), [json!("unknown"), json!(null), json!("REFUSED"), json!("login_failed")]);
    assert!(!record.to_string().contains("kettle"), "people type a password in the place of their name");
    let mut last = None;
    for _ in 0..6 {
        last = Some(world.try_login("anna", "a wrong word"));
    }
    let locked = last.unwrap().refused(429, "too_many_attempts");
    let record = the(&world, &locked);
    assert_eq!((&record["status"], &record["code"]), (&json!(429), &json!("too_many_attempts")));
}

#[test]
fn a_refresh_is_recorded_and_a_spent_token_as_refused() {
    let world = World::guarded();
    world.user("anna", "clerk");
    let login = world.try_login("anna", PASSWORD).is(200).json();
    let refresh = json!({ "grant_type": "refresh_token", "refresh_token": login["refresh_token"] });
    let done = world.token(&refresh).is(200);
    assert_eq!(facts(&the(&world, &done)), [json!("anna"), json!("user/anna"), json!("DONE"), json!(null)]);
    let again = world.token(&refresh).refused(401, "refresh_token_invalid");
    let expected = [json!("anna"), json!("user/anna"), json!("REFUSED"), json!("refresh_token_invalid")];
    assert_eq!(facts(&the(&world, &again)), expected);
}

#[test]
fn a_logout_is_recorded() {
    let world = World::guarded();
    let anna = world.user("anna", "clerk");
    let out = anna.delete("/token/_current").is(200);
    let record = the(&world, &out);
    assert_eq!(
        (&record["operation"], &record["resource"]),
        (&json!("DeleteCurrentToken"), &json!("user/anna"))
    );
    let again = world.login("anna");
    let out = again.delete("/token").is(200);
    assert_eq!(the(&world, &out)["operation"], "DeleteTokens");
}

#[test]
fn an_unlocked_and_a_refused_drawer_are_recorded() {
    let counter = Counter::start();
    counter.open("T1", "emp1", "500");
    let wrong = counter.try_unlock("T1", "emp1", "0000").refused(403, "wrong_drawer_password");
    let record = the(&counter.world, &wrong);
    assert_eq!((&record["outcome"], &record["code"]), (&json!("REFUSED"), &json!("wrong_drawer_password")));
    let done = counter.try_unlock("T1", "emp1", PIN).is(200);
    let record = the(&counter.world, &done);
    assert_eq!(record["outcome"], "DONE");
    assert!(record["resource"].as_str().unwrap().starts_with("teller/") && !record.to_string().contains(PIN));
}

#[test]
fn a_changed_password_is_recorded_without_its_text() {
    let world = World::guarded();
    let anna = world.user("anna", "clerk");
    let body = json!({ "password": "a quite new word 7", "currentPassword": PASSWORD });
    let changed = anna.put("/users/anna/password", body).is(202);
    let record = the(&world, &changed);
    let changes = record["changes"].as_array().unwrap();
    let expected = json!({ "field": "/password", "before": "***", "after": "***" });
    assert!(changes.contains(&expected), "{record}");
    let all = records(&world, "size=1000");
    let text = serde_json::to_string(&all).unwrap();
    assert!(!text.contains("a quite new word 7") && !text.contains(PASSWORD));
    assert_eq!(of(&world, &changed).len(), 1);
}
