//! Sessions of a user, seen and ended one by one: `identity.md` section 13.

use crate::support::guarded::{PASSWORD, may};
use crate::support::world::World;
use serde_json::{Value, json};
use std::time::Duration;

fn sessions(world: &World, token: &str, user: &str) -> Vec<Value> {
    let listed = world.bearer(&json!(token)).get(&format!("/users/{user}/sessions")).is(200).json();
    listed.as_array().unwrap().clone()
}

fn text<'a>(session: &'a Value, property: &str) -> &'a str {
    session[property].as_str().unwrap()
}

/// Gives the daemons of one store the time to exchange the last uses.
fn settle(world: &World) {
    if world.config().store.postgres().is_some() {
        std::thread::sleep(Duration::from_millis(1_500));
    }
}

#[test]
fn each_login_is_a_session_and_the_newest_comes_first() {
    let world = World::guarded();
    let first = world.user("anna", "clerk");
    world.clock.advance(90);
    let second = world.login("anna");
    let listed = sessions(&world, &second.token, "anna");
    assert_eq!(listed.len(), 2);
    let names: Vec<_> = listed[0].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(
        names,
        ["identifier", "createdOn", "lastUsedOn", "origin", "application", "expiresOn", "current"]
    );
    assert_eq!((&listed[0]["current"], &listed[1]["current"]), (&json!(true), &json!(false)));
    assert!(text(&listed[0], "createdOn") > text(&listed[1], "createdOn"));
    for session in &listed {
        assert_eq!((&session["origin"], &session["application"]), (&json!("127.0.0.1"), &json!(null)));
        assert!(text(session, "lastUsedOn").ends_with(":00.000Z"), "to the minute: {session}");
        assert!(!text(session, "identifier").contains(&second.token[5..]), "no token");
    }
    // A use counts, and a look at the list is one.
    let before = text(&listed[1], "lastUsedOn").to_owned();
    world.clock.advance(600);
    first.get("/users/anna").is(200);
    settle(&world);
    let listed = sessions(&world, &second.token, "anna");
    assert!(text(&listed[1], "lastUsedOn") > before.as_str(), "{listed:?}");
}

#[test]
fn an_ended_session_is_over_at_once_and_the_others_go_on() {
    let world = World::guarded();
    world.user("anna", "clerk");
    let (one, two) = (world.try_login("anna", PASSWORD).is(200).json(), world.login("anna"));
    let one_token = world.bearer(&one["access_token"]);
    let listed = sessions(&world, &one_token.token, "anna");
    let current = listed.iter().find(|session| session["current"] == true).unwrap();
    two.delete(&format!("/users/anna/sessions/{}", text(current, "identifier"))).is(202);
    assert!(!one_token.lives() && two.lives());
    let refresh = json!({ "grant_type": "refresh_token", "refresh_token": one["refresh_token"] });
    world.token(&refresh).refused(401, "refresh_token_invalid");
    let gone = format!("/users/anna/sessions/{}", text(current, "identifier"));
    two.delete(&gone).refused(404, "session_not_found");
    two.delete("/users/anna/sessions/nothing").refused(404, "session_not_found");
    assert_eq!(sessions(&world, &two.token, "anna").len(), 2, "the first login of `user`, and this one");
}

#[test]
fn all_sessions_end_or_all_but_this_one() {
    let world = World::guarded();
    let (one, two, three) = (world.user("anna", "clerk"), world.login("anna"), world.login("anna"));
    two.delete("/users/anna/sessions?except=others").refused(400, "invalid_parameter");
    two.delete("/users/anna/sessions?except=current").is(202);
    assert_eq!((one.lives(), two.lives(), three.lives()), (false, true, false));
    let four = world.login("anna");
    four.delete("/users/anna/sessions").is(202);
    assert!(!two.lives() && !four.lives());
    world.login("anna");
}

#[test]
fn the_sessions_of_others_take_permissions_of_users() {
    let world = World::guarded();
    let anna = world.user("anna", "clerk");
    let bert = world.user_with("bert", &[may("identity__v1__users", "R")]);
    let carl = world.user_with("carl", &[may("identity__v1__users", "RD")]);
    world.user("dora", "clerk").get("/users/anna/sessions").refused(403, "forbidden");
    let listed = bert.get("/users/anna/sessions").is(200).json();
    assert_eq!(listed[0]["current"], false);
    let session = format!("/users/anna/sessions/{}", text(&listed[0], "identifier"));
    bert.delete(&session).refused(403, "forbidden");
    bert.delete("/users/anna/sessions").refused(403, "forbidden");
    carl.get("/users/nobody/sessions").refused(404, "user_not_found");
    carl.delete("/users/nobody/sessions").refused(404, "user_not_found");
    carl.delete("/users/nobody/sessions/x").refused(404, "user_not_found");
    carl.delete(&session).is(202);
    assert!(!anna.lives());
    let again = world.login("anna");
    // The caller's own session is not one of them.
    carl.delete("/users/anna/sessions?except=current").is(202);
    assert!(!again.lives() && carl.lives());
}

#[test]
fn an_unused_session_ends_and_a_used_one_does_not() {
    let world = World::guarded_with(|config| {
        (config.session_idle_seconds, config.access_token_seconds) = (600, 86_400);
    });
    world.user("anna", "clerk");
    let (idle, busy) = (world.try_login("anna", PASSWORD).is(200).json(), world.login("anna"));
    for _ in 0..3 {
        world.clock.advance(300);
        assert!(busy.lives());
        settle(&world);
    }
    assert!(!world.bearer(&idle["access_token"]).lives());
    let refresh = json!({ "grant_type": "refresh_token", "refresh_token": idle["refresh_token"] });
    world.token(&refresh).refused(401, "refresh_token_invalid");
    assert_eq!(sessions(&world, &busy.token, "anna").len(), 1);
    settle(&world);
    world.clock.advance(599);
    assert!(busy.lives());
    settle(&world);
    // Where daemons share the store, a use counts to the end of its minute.
    world.clock.advance(if world.config().store.postgres().is_some() { 660 } else { 600 });
    assert!(!busy.lives());
    // Refreshing is a use.
    let kept = world.try_login("anna", PASSWORD).is(200).json();
    world.clock.advance(500);
    let refresh = json!({ "grant_type": "refresh_token", "refresh_token": kept["refresh_token"] });
    let kept = world.token(&refresh).is(200).json();
    world.clock.advance(500);
    assert!(world.bearer(&kept["access_token"]).lives());
}

#[test]
fn a_session_that_one_daemon_serves_has_not_ended_for_another_one() {
    let world = World::guarded_with(|config| {
        (config.session_idle_seconds, config.access_token_seconds) = (600, 86_400);
    });
    let token = world.user("anna", "clerk").token;
    let others = if world.config().store.postgres().is_some() { 1 } else { 0 };
    let lives = |daemon| {
        let request = world.request_at(daemon, "GET", "/token/_current").bearer_auth(&token);
        world.send(request).status == 200
    };
    // Ten past the full minute, of which all daemons learn, and fifty past it, which only this one knows.
    world.clock.advance(61);
    assert!(lives(0));
    settle(&world);
    world.clock.advance(40);
    assert!(lives(0));
    world.clock.advance(599);
    assert!(lives(others));
}

#[test]
fn the_last_use_and_the_origin_survive_a_restart() {
    let mut world = World::guarded();
    let token = world.user("anna", "clerk").token;
    world.clock.advance(600);
    let before = sessions(&world, &token, "anna");
    world.restart();
    let after = sessions(&world, &token, "anna");
    assert_eq!(before, after);
}
