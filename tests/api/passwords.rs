//! Which passwords are taken, and the present one: `identity.md` section 13.

use crate::support::guarded::PASSWORD;
use crate::support::world::World;
use serde_json::json;

#[test]
fn a_password_that_is_tried_first_is_not_taken() {
    let world = World::guarded();
    let admin = world.login("admin");
    let anna = world.user("anna-mensah", "clerk");
    let common = ["12345678", "Password1", "QWERTYUIOP", "iloveyou", "aaaaaaaa", "ääääääää"];
    for password in common.iter().chain(&["anna-mensah", "hasnem-anna"]) {
        let change = json!({ "password": password });
        anna.put("/users/anna-mensah/password", change.clone()).fields(&["/password too_common"]);
        admin.put("/users/anna-mensah/password", change).fields(&["/password too_common"]);
    }
    for password in common.iter().chain(&["esi-owusu", "usuwo-ise"]) {
        let new = json!({ "identifier": "esi-owusu", "role": "clerk", "password": password });
        let refused = admin.post("/users", new).fields(&["/password too_common"]);
        assert!(!refused.text().contains(&format!("{password}\"")), "{}", refused.text());
    }
    // Nothing stricter: near misses are taken.
    for password in ["12345678 ", "aaaaaaab", "anna-mensah1", "esi-owusu"] {
        admin.put("/users/anna-mensah/password", json!({ "password": password })).is(202);
    }
}

#[test]
fn all_errors_of_a_new_user_are_reported_at_once() {
    let world = World::start();
    let new = json!({ "identifier": "administrator", "role": "x", "password": "administrator" });
    world.post("/users", new.to_string()).fields(&["/role too_short", "/password too_common"]);
    let new = json!({ "identifier": "short1", "role": "r1", "password": "short1" });
    world.post("/users", new.to_string()).fields(&["/password too_short"]);
    // The fields come before the record, as with every other rule.
    let change = json!({ "password": "nobody-here" }).to_string();
    world.put("/users/nobody-here/password", change).fields(&["/password too_common"]);
}

#[test]
fn a_present_password_that_is_wrong_is_refused_and_counts() {
    let world = World::guarded();
    let anna = world.user("anna", "clerk");
    let set = |present: &str, new: &str| {
        anna.put("/users/anna/password", json!({ "password": new, "currentPassword": present }))
    };
    for _ in 0..5 {
        let refused = set("another kettle", "green kettle 8").refused(403, "wrong_password");
        assert!(!refused.text().contains("kettle"));
    }
    // From now on not even the right one is checked, here and at a login.
    set(PASSWORD, "green kettle 8").refused(429, "too_many_attempts");
    world.try_login("anna", PASSWORD).refused(429, "too_many_attempts");
    world.clock.advance(61);
    set(PASSWORD, "green kettle 8").is(202);
    world.try_login("anna", PASSWORD).refused(401, "login_failed");
    world.try_login("anna", "green kettle 8").is(200);
}

#[test]
fn guesses_at_the_present_password_at_once_count_each() {
    let world = World::guarded();
    let anna = world.user("anna", "clerk");
    let guess = |number: usize| {
        let body = json!({ "password": "green kettle 8", "currentPassword": format!("guess {number}") });
        world.request("PUT", "/users/anna/password").bearer_auth(&anna.token).body(body.to_string())
    };
    let mut failed = 0;
    for round in 0..4 {
        for seen in world.send_all((round * 8..round * 8 + 8).map(guess).collect()) {
            match seen.status {
                403 => failed += 1,
                // Those that are too many at once wait, and are not checked.
                429 | 503 => {}
                status => panic!("{status}: {}", seen.text()),
            }
        }
    }
    assert_eq!(failed, 5);
}

#[test]
fn the_present_password_can_be_made_a_must_for_the_own_one() {
    let world = World::guarded_with(|config| config.current_password_required = true);
    let admin = world.login("admin");
    let new = json!({ "identifier": "anna", "role": "clerk", "password": "first password" });
    admin.post("/users", new).is(202);
    let anna = world.bearer(&world.try_login("anna", "first password").is(200).json()["access_token"]);
    let change = json!({ "password": PASSWORD });
    anna.put("/users/anna/password", change.clone()).fields(&["/currentPassword required"]);
    let same = json!({ "password": "first password", "currentPassword": "first password" });
    anna.put("/users/anna/password", same).fields(&["/password password_unchanged"]);
    let right = json!({ "password": PASSWORD, "currentPassword": "first password" });
    anna.put("/users/anna/password", right).is(202);
    // Setting the password of another user does not require the old one.
    admin.put("/users/anna/password", change).is(202);
}

#[test]
fn a_present_password_is_no_part_of_a_batch() {
    let world = World::guarded();
    let anna = world.user("anna", "clerk");
    let change = json!({ "password": "green kettle 8", "currentPassword": "guess number 1" });
    let order =
        json!({ "operations": [{ "method": "PUT", "path": "/users/anna/password", "body": change }] });
    let answer = anna.post("/batch", order);
    assert!(answer.text().contains("not_in_batch"), "{}", answer.text());
}
