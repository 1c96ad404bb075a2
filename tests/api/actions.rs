//! `deposits.md` section 1.

use crate::support::world::World;
use serde_json::{Value, json};

fn action(identifier: &str, transaction_type: &str) -> Value {
    json!({ "identifier": identifier, "name": "Name", "transactionType": transaction_type })
}

#[test]
fn a_fresh_store_holds_five_actions_and_new_ones_stand_behind_them() {
    let world = World::start();
    world.post("/actions", action("Audit", "zzzz").to_string()).is(202);
    let expected = [
        ("Open", "Account Opening", "ACCO"),
        ("Transfer", "Account Transfer", "ACCT"),
        ("Close", "Account Closing", "ACCC"),
        ("Deposit", "Cash Deposit", "CDPT"),
        ("Withdraw", "Cash Withdrawal", "CWDL"),
        ("Audit", "Name", "zzzz"),
    ];
    let expected: Vec<_> = expected
        .iter()
        .map(|(identifier, name, kind)| {
            json!({ "identifier": identifier, "name": name, "description": null, "transactionType": kind })
        })
        .collect();
    assert_eq!(world.get("/actions").is(200).json(), Value::Array(expected));
    assert_eq!(world.get("/deposit/v1/actions").is(200).json().as_array().unwrap().len(), 6);
}

#[test]
fn each_bad_field_of_an_action_is_named() {
    let world = World::start();
    for (identifier, code) in [
        (json!(null), "required"),
        (json!("z"), "too_short"),
        (json!("xy~mn"), "bad_characters"),
        (json!("x/y"), "bad_characters"),
        (json!("x".repeat(33)), "too_long"),
    ] {
        let mut body = action("a1", "ACCO");
        body["identifier"] = identifier;
        world.post("/actions", body.to_string()).fields(&[&format!("/identifier {code}")]);
    }
    world.post("/actions", "{}").fields(&[
        "/identifier required",
        "/name required",
        "/transactionType required",
    ]);
    let body =
        json!({ "identifier": "a1", "name": " ", "description": "x".repeat(2049), "transactionType": "a b" });
    let refused = world.post("/actions", body.to_string());
    refused.fields(&["/name blank", "/description too_long", "/transactionType bad_characters"]);
    assert_eq!(world.get("/actions").json().as_array().unwrap().len(), 5);
}

#[test]
fn an_action_is_made_once_and_never_changed() {
    let world = World::start();
    world.post("/actions", action("Open", "ACCO").to_string()).refused(409, "identifier_taken");
    world.post("/actions", action("open", "ACCO").to_string()).is(202);
    world.get("/actions/Open").refused(404, "route_not_found");
    world.put("/actions/Open", action("Open", "ACCO").to_string()).refused(404, "route_not_found");
    world.delete("/actions/Open").refused(404, "route_not_found");
}
