//! `mfa find`: one list of several kinds of records, each as far as one may read it.

use crate::api::definitions::PRODUCT;
use crate::support::guarded::may;
use crate::support::run::{Ran, run};
use crate::support::world::World;
use serde_json::{Value, json};

fn find(world: &World, line: &[&str]) -> Ran {
    run(world.mfa(&[&["find"], line].concat()))
}

/// `kind identifier found-in` of each record.
fn lines(found: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let line = |record: &Value| {
        let places: Vec<_> = record["foundIn"].as_array().unwrap().iter().map(text).collect();
        format!("{} {} {}", text(&record["kind"]), text(&record["identifier"]), places.join(","))
    };
    found.as_array().unwrap().iter().map(line).collect()
}

fn institution() -> World {
    let world = World::start();
    let post = |path: &str, record: Value| world.post(path, record.to_string()).is(202);
    post("/offices", json!({ "identifier": "market", "name": "Market" }));
    post("/employees", json!({ "identifier": "efua.sarpong", "givenName": "Efua" }));
    for (identifier, given, surname) in
        [("c-1", "Ama", "Mensah"), ("c-2", "Yaw", "Owusu"), ("c-3", "Esi", "Addo")]
    {
        let customer = json!({
            "identifier": identifier, "givenName": given, "surname": surname, "assignedOffice": "market"
        });
        post("/customers", customer);
    }
    post("/customers/c-2/commands", json!({ "action": "CLOSE" }));
    world.post("/definitions", PRODUCT).is(202);
    post("/instances", json!({ "customerIdentifier": "c-3", "productIdentifier": "savings" }));
    world
}

#[test]
fn every_kind_is_searched_and_each_hit_says_where_the_text_is() {
    let world = institution();
    let found = |text: &str| lines(&find(&world, &[text, "-o", "json"]).json());
    assert_eq!(found("MENSAH"), ["customer c-1 surname"]);
    assert_eq!(found("market"), ["office market identifier,name"]);
    assert_eq!(found("efua"), ["employee efua.sarpong identifier,givenName"]);
    assert_eq!(found("Mensah ama"), ["customer c-1 givenName,surname"]);
    assert_eq!(
        found("c-3"),
        ["customer c-3 identifier,accountIdentifier", "account c-3.9100.00001 accountIdentifier"]
    );
    assert_eq!(found("addo"), ["customer c-3 surname", "account c-3.9100.00001 surname"]);
    assert_eq!(found("%"), Vec::<String>::new());
    assert_eq!(
        lines(&run(world.mfa(&["find", "esi", "addo", "--kind", "customer", "-o", "json"])).json()).len(),
        1
    );
    let closed = find(&world, &["owusu", "-o", "json"]).json();
    let expected = json!([{
        "kind": "customer", "identifier": "c-2", "name": "Yaw Owusu", "state": "CLOSED", "foundIn": ["surname"],
        "office": "market", "near": false
    }]);
    assert_eq!(closed, expected);
    let near = find(&world, &["mensha", "-o", "id"]);
    assert!(near.err.contains("these differ in a letter"), "{}", near.err);
    assert_eq!(near.ok(), "c-1\n");
    find(&world, &[" "]).fails(2);
    find(&world, &[]).fails(2);
}

#[test]
fn the_list_has_every_format_and_can_be_narrowed() {
    let world = institution();
    assert_eq!(find(&world, &["c-3", "-o", "id"]).ok(), "c-3\nc-3.9100.00001\n");
    let tsv = find(&world, &["c-3", "-o", "tsv"]).ok();
    assert_eq!(tsv.lines().next(), Some("kind\tidentifier\tname\tstate\tfound-in\toffice"));
    assert_eq!(
        tsv.lines().nth(1),
        Some("customer\tc-3\tEsi Addo\tPENDING\tidentifier, accountIdentifier\tmarket")
    );
    let csv = find(&world, &["c-3", "-o", "csv", "--columns", "state,identifier"]).ok();
    assert_eq!(csv, "state,identifier\nPENDING,c-3\nPENDING,c-3.9100.00001\n");
    assert_eq!(find(&world, &["c-3", "--kind", "account", "-o", "id"]).ok(), "c-3.9100.00001\n");
    let few = find(&world, &["c-", "--kind", "customer", "--limit", "2", "-o", "id"]);
    assert!(few.err.contains("the first 2;"), "{}", few.err);
    assert_eq!(few.ok(), "c-1\nc-3\n");
    assert_eq!(find(&world, &["nothing-like-it", "-o", "json"]).json(), json!([]));
    find(&world, &["x", "--kind", "plant"]).fails(2);
    find(&world, &["x", "--limit", "0"]).fails(2);
    find(&world, &["x", "--limit", "51"]).fails(2);
}

#[test]
fn what_one_may_not_read_is_left_out_and_said() {
    let world = World::guarded();
    let olga = world.login("olga");
    olga.post("/customers", json!({ "identifier": "kente-1", "surname": "Kente" })).is(202);
    olga.post("/offices", json!({ "identifier": "kente", "name": "Kente" })).is(202);
    let as_user = |token: &str, line: &[&str]| {
        let mut command = world.mfa(&[&["find"], line].concat());
        command.env("MFA_TOKEN", token);
        run(command)
    };
    let all = as_user(&olga.token, &["kente", "-o", "json"]);
    assert_eq!(all.err, "");
    assert_eq!(lines(&all.json()).len(), 2);
    let reader = world.user_with("ama", &[may("customer__v1__customer", "R")]);
    let some = as_user(&reader.token, &["kente", "-o", "json"]);
    assert!(some.err.contains("may not read them: employee, office, account"), "{}", some.err);
    assert_eq!(lines(&some.json()), ["customer kente-1 identifier,surname"]);
    as_user(&reader.token, &["kente", "--kind", "office", "-o", "json"]).fails_in_json(5);
    let nobody = world.user_with("yaw", &[may("identity__v1__users", "R")]);
    as_user(&nobody.token, &["kente", "-o", "json"]).fails_in_json(5);
    as_user("wrong", &["kente"]).fails(4);
}
