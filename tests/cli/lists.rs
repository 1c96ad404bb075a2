//! What a list shows: filters, and expressions of jq.

use super::run::run;
use super::tree::sample;
use crate::world::World;
use serde_json::json;

#[test]
fn a_filter_keeps_the_records_that_show_its_value() {
    let world = World::start();
    sample(&world);
    let list = |more: &[&str]| run(world.mfa(&[&["customers", "list", "-o", "id"], more].concat())).ok();
    let active = list(&["--filter", "state=ACTIVE"]);
    assert!(!active.is_empty());
    for id in active.lines() {
        assert_eq!(world.get(&format!("/customers/{id}")).json()["currentState"], "ACTIVE");
    }
    assert_eq!(list(&["--filter", "currentState=ACTIVE"]), active, "the name of the wire will do, too");
    let office = world.get(&format!("/customers/{}", active.lines().next().unwrap())).json();
    let office = office["assignedOffice"].as_str().unwrap().to_owned();
    let found = list(&["--filter", "state=ACTIVE", "--filter", &format!("office={office}")]);
    assert!(!found.is_empty() && found.lines().all(|id| active.lines().any(|a| a == id)), "{found}");
    assert_eq!(
        list(&["--filter", "state=ACTIVE", "--limit", "1"]),
        active.lines().next().unwrap().to_owned() + "\n"
    );
    assert_eq!(list(&["--filter", "surname=Nobody"]), "");
    assert_eq!(list(&["--filter", "state=active"]), active, "words are found however they are written");
    for (filter, expected) in [
        ("state=ACTVE", "state is never \"ACTVE\"\nhint: did you mean ACTIVE?"),
        ("state=x", "hint: it is one of PENDING, ACTIVE, LOCKED, CLOSED"),
        ("member=perhaps", "hint: it is one of true, false"),
        ("state=ACTIVE,office=market", "as a flag of its own: --filter office=market"),
        ("office=market, address.city=Accra", "as a flag of its own: --filter address.city=Accra"),
        ("address.citty=Accra", "did you mean city?"),
    ] {
        let said = run(world.mfa(&["customers", "list", "--filter", "surname=Nobody", "--filter", filter]));
        let said = said.fails(2);
        assert!(said.contains(expected), "{filter}: {said}");
    }
    let said = run(world.mfa(&["customers", "list", "--filter", "surnam=x"])).fails(2);
    assert!(said.contains("did you mean surname?"), "{said}");
    run(world.mfa(&["customers", "list", "--filter", "surname"])).fails(2);
}

#[test]
fn an_expression_of_jq_makes_the_output() {
    let world = World::start();
    sample(&world);
    let jq = |line: &[&str], expression: &str| run(world.mfa(&[line, &["--jq", expression]].concat()));
    let list = &["offices", "list"][..];
    let names: Vec<_> = world.get("/offices").json()["offices"]
        .as_array()
        .unwrap()
        .iter()
        .map(|o| o["name"].clone())
        .collect();
    let expected: String = names.iter().map(|name| format!("{}\n", name.as_str().unwrap())).collect();
    assert_eq!(jq(list, ".[].name").ok(), expected);
    assert_eq!(jq(list, "length").ok(), format!("{}\n", names.len()));
    assert_eq!(jq(&["offices", "get", "market"], "{identifier}").json(), json!({ "identifier": "market" }));
    let created = &["offices", "create", "tema", "--name", "Tema"][..];
    assert_eq!(jq(created, ".name").ok(), "Tema\n");
    let said = jq(list, ".[").fails(2);
    assert!(said.contains("no expression of jq"), "{said}");
    let said = jq(list, ".[].name.first").fails(2);
    assert!(said.contains("the expression of --jq fails"), "{said}");
}
