//! What a list shows: filters, and expressions of jq.

use crate::api::interest::bank::{Bank, interest_product};
use crate::support::run::run;
use crate::support::sample::sample;
use crate::support::world::World;
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
    let closed = list(&["--include-closed", "--filter", "state=closed"]);
    assert!(!closed.is_empty());
    assert_eq!(
        list(&["--filter", "state=closed"]),
        closed,
        "closed ones are listed where they are asked for"
    );
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
    assert!(said.contains("not a jq expression"), "{said}");
    let said = jq(list, ".[].name.first").fails(2);
    assert!(said.contains("the expression of --jq fails"), "{said}");
}

#[test]
fn amounts_are_sorted_and_filtered_by_what_they_are_worth() {
    let bank = Bank::open();
    bank.sell(&interest_product("gain", "2.50", "MONTHLY"));
    let account = |customer: &str, amount: &str| bank.account(customer, "gain", amount);
    let accounts = [account("Ama", "9.75"), account("Kofi", "100"), account("Yaw", "10.05")];
    let list = |more: &[&str]| {
        let words = ["ledger", "accounts", "list", "--term", "00001", "-o", "id"];
        run(bank.world().mfa(&[&words[..], more].concat())).ok()
    };
    let expected = [&accounts[1], &accounts[2], &accounts[0]].map(|account| format!("{account}\n")).concat();
    assert_eq!(list(&["--sort", "-balance"]), expected);
    assert_eq!(list(&["--sort", "kind,-balance"]), expected);
    for balance in ["100", "100.00", "1e2"] {
        assert_eq!(list(&["--filter", &format!("balance={balance}")]), format!("{}\n", accounts[1]));
    }
    assert_eq!(list(&["--filter", "balance=100.01"]), "");
}

#[test]
fn events_are_listed_beyond_what_one_answer_holds() {
    let world = World::start();
    let rows: String = (0..1_001).map(|number| format!("c-{number}\n")).collect();
    let file = world.dir.path().join("rows.csv");
    std::fs::write(&file, format!("identifier\n{rows}")).unwrap();
    run(world.mfa(&["customers", "import", file.to_str().unwrap()])).ok();
    let list = |limit: &str| {
        let words = ["events", "list", "--kind", "customer", "--limit", limit, "-o", "id"];
        run(world.mfa(&words)).ok().lines().count()
    };
    assert_eq!([list("1000"), list("1001"), list("5000")], [1000, 1001, 1001]);
}

#[test]
fn a_text_is_not_passed_over_by_a_list_that_cannot_be_searched() {
    let world = World::start();
    sample(&world);
    for (list, searched) in [
        ("customers list", true),
        ("offices branches head-office", true),
        ("ledger accounts list", true),
        ("ledger journal list", false),
        ("ledger entries vault", false),
        ("accounts entries c-003.9100.00002", false),
        ("audit list", false),
        ("customers history c-001", false),
        ("interest runs", false),
    ] {
        let words: Vec<_> = list.split(' ').collect();
        let ran = run(world.mfa(&[&words[..], &["--term", "nothing has this", "-o", "id"]].concat()));
        if searched {
            assert_eq!(ran.ok(), "", "{list}")
        } else {
            assert!(ran.fails(2).contains("cannot be searched"), "{list}")
        }
        let help = run(world.mfa(&[&words[..], &["--help"]].concat())).ok();
        assert_eq!(help.contains("--term"), searched, "{list}");
    }
}

#[test]
fn the_last_day_alone_may_be_any_day() {
    let world = World::start();
    sample(&world);
    for list in ["ledger journal list", "ledger entries vault", "audit list", "interest runs"] {
        let words: Vec<_> = list.split(' ').collect();
        let until = |day: &str| run(world.mfa(&[&words[..], &["--to", day, "-o", "id"]].concat())).ok();
        assert_eq!(until("1969-12-31"), "", "{list}");
        assert_eq!(until("0000-01-01"), "", "{list}");
        assert_eq!(until("9999-12-31").is_empty(), list == "interest runs", "{list}");
    }
}

#[test]
fn a_list_of_accounts_that_is_cut_says_so() {
    let world = World::start();
    sample(&world);
    let list = |limit: &str| {
        let ran = run(world.mfa(&["accounts", "list", "--term", "c-003", "--limit", limit, "-o", "id"]));
        (ran.out.lines().count(), ran.err)
    };
    assert_eq!(list("2"), (2, "the first 2; there may be more: --limit\n".to_owned()));
    assert_eq!(list("1000"), (3, String::new()));
}
