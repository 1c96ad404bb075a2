//! `tellers.md` section 4: unlocking and pausing.

use crate::support::counter::{Counter, PIN, teller};
use serde_json::{Value, json};

#[test]
fn an_unlock_shows_open_and_is_active() {
    let counter = Counter::start();
    counter.open("T1", "emp1", "5");
    counter.world.clock.advance(3);
    let shown = counter.try_unlock("T1", "emp1", PIN).is(200).json();
    assert_eq!((&shown["state"], &shown["password"]), (&json!("OPEN"), &Value::Null));
    assert_eq!(shown["lastModifiedOn"], "2031-05-06T07:08:12.123Z");
    let mut read = counter.teller("T1");
    assert_eq!(read["state"], "ACTIVE");
    read["state"] = json!("OPEN");
    assert_eq!(read, shown);
}

#[test]
fn the_checks_of_an_unlock_come_in_their_order() {
    let counter = Counter::start();
    let unlock = |code: &str, body: &str| counter.world.post(&format!("/teller/{code}/drawer"), body);
    unlock("none", "{}").fields(&["/employeeIdentifier required", "/password required"]);
    unlock("none", r#"{"employeeIdentifier":"emp1","password":null}"#).fields(&["/password required"]);
    counter.try_unlock("none", "emp1", PIN).refused(404, "teller_not_found");
    counter.try_unlock("T1", "emp1", PIN).refused(409, "wrong_state");
    counter.open("T1", "emp1", "5");
    counter.try_unlock("T1", "Emp1", "wrong").refused(403, "not_assigned_employee");
    counter.try_unlock("T1", "emp1", "wrong").refused(403, "wrong_drawer_password");
    counter.try_unlock("T1", "emp1", "").refused(403, "wrong_drawer_password");
    assert_eq!(counter.teller("T1")["state"], "OPEN");
}

#[test]
fn five_wrong_passwords_lock_the_drawer_for_a_minute_then_two() {
    let mut counter = Counter::start();
    counter.open("T1", "emp1", "5");
    let before = counter.teller("T1");
    for _ in 0..5 {
        counter.try_unlock("T1", "emp1", "wrong").refused(403, "wrong_drawer_password");
        counter.world.clock.advance(10);
    }
    let locked = counter.try_unlock("T1", "emp1", PIN).refused(429, "too_many_attempts");
    assert_eq!(locked.header("retry-after"), "50");
    counter.try_unlock("T1", "other", PIN).refused(403, "not_assigned_employee");
    assert_eq!(counter.teller("T1"), before, "the count is all that changed");
    counter.world.restart();
    let locked = counter.try_unlock("T1", "emp1", PIN).refused(429, "too_many_attempts");
    assert_eq!(locked.header("retry-after"), "50");
    counter.world.clock.advance(50);
    for _ in 0..5 {
        counter.try_unlock("T1", "emp1", "wrong").refused(403, "wrong_drawer_password");
    }
    let locked = counter.try_unlock("T1", "emp1", PIN).refused(429, "too_many_attempts");
    assert_eq!(locked.header("retry-after"), "120");
}

#[test]
fn a_right_password_and_a_new_one_clear_the_count() {
    let counter = Counter::start();
    counter.open("T1", "emp1", "5");
    let wrong = |times: usize| {
        for _ in 0..times {
            counter.try_unlock("T1", "emp1", "wrong").refused(403, "wrong_drawer_password");
        }
    };
    wrong(4);
    counter.unlock("T1", "emp1");
    wrong(5);
    counter.try_unlock("T1", "emp1", PIN).refused(429, "too_many_attempts");
    let change = json!({ "code": "T1", "password": "0815" });
    counter.world.put("/offices/accra/teller/T1", change.to_string()).is(202);
    counter.try_unlock("T1", "emp1", PIN).refused(403, "wrong_drawer_password");
    counter.try_unlock("T1", "emp1", "0815").is(200);
}

#[test]
fn wrong_employees_are_not_counted_and_each_drawer_counts_for_itself() {
    let counter = Counter::start();
    counter.teller_with(&teller("T2")).is(202);
    counter.open("T1", "emp1", "5");
    counter.open("T2", "emp2", "5");
    for _ in 0..6 {
        counter.try_unlock("T1", "emp2", "wrong").refused(403, "not_assigned_employee");
    }
    for _ in 0..5 {
        counter.try_unlock("T2", "emp2", "wrong").refused(403, "wrong_drawer_password");
    }
    counter.unlock("T1", "emp1");
    counter.try_unlock("T2", "emp2", PIN).refused(429, "too_many_attempts");
}

#[test]
fn a_repeated_unlock_with_its_key_is_answered_once() {
    let counter = Counter::start();
    counter.open("T1", "emp1", "5");
    let send = || {
        let body = json!({ "employeeIdentifier": "emp1", "password": PIN }).to_string();
        let request = counter.world.request("POST", "/teller/T1/drawer");
        counter.world.send(request.header("idempotency-key", "k1").body(body))
    };
    let first = send().is(200);
    counter.pause("T1").is(202);
    let again = send().is(200);
    assert_eq!(again.header("idempotency-replayed"), "true");
    assert_eq!(again.text(), first.text());
    assert_eq!(counter.teller("T1")["state"], "PAUSED");
}

#[test]
fn pausing_takes_its_word_from_query_form_or_plain_text() {
    let counter = Counter::active("5");
    let world = &counter.world;
    let post = |body: &'static str, kind: &str| {
        let request = world.request("POST", "/teller/T1").header("content-type", kind);
        world.send(request.body(body))
    };
    for (body, kind) in
        [("command=PAUSE", "application/x-www-form-urlencoded"), ("command=pause", "text/plain")]
    {
        post(body, kind).is(202);
        assert_eq!(counter.teller("T1")["state"], "PAUSED");
        counter.unlock("T1", "emp1");
    }
    world.post("/teller/T1?command=Pause", "").is(202);
    for bad in ["/teller/none", "/teller/none?command=RESUME", "/teller/none?command=PAUSE&command=RESUME"] {
        world.post(bad, "").refused(400, "invalid_parameter");
    }
    world.post("/teller/none?command=PAUSE", "").refused(404, "teller_not_found");
    counter.pause("T1").refused(409, "wrong_state");
}
