//! `deposits.md` section 3.

use crate::api::definitions::PRODUCT;
use crate::support::counter::Counter;
use crate::support::stored;
use crate::support::world::{Seen, World};
use mfa_daemon::store::records::AccountCounter;
use serde_json::{Value, json};

const NEW: &str = r#"{"customerIdentifier":"Maria","productIdentifier":"savings"}"#;
const FIRST: &str = "/instances/Maria.9100.00001";

fn sold() -> World {
    let world = World::start();
    world.post("/definitions", PRODUCT).is(202);
    world
}

fn opened() -> World {
    let world = sold();
    world.post("/instances", NEW).is(202);
    world
}

fn command(world: &World, path: &str, word: &str) -> Seen {
    world.send(world.request("POST", &format!("{path}?command={word}")))
}

fn new(customer: &str, more: Value) -> String {
    let mut body = json!({ "customerIdentifier": customer, "productIdentifier": "savings" });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body.to_string()
}

#[test]
fn a_new_account_is_pending_with_nothing_on_it() {
    let world = sold();
    let sent = new(
        "Maria",
        json!({ "beneficiaries": ["Zoë, née B.", "Ama", "Ama"], "balance": 5, "state": "ACTIVE", "openedOn": "2020-01-01" }),
    );
    let made = world.post("/instances", sent).is(202);
    assert_eq!((made.header("location").as_str(), made.text().as_str()), (FIRST, ""));
    let expected = r#"{"customerIdentifier":"Maria","productIdentifier":"savings","accountIdentifier":"Maria.9100.00001","alternativeAccountNumber":null,"beneficiaries":["Zoë, née B.","Ama"],"openedOn":null,"lastTransactionDate":null,"state":"PENDING","balance":0}"#;
    assert_eq!(world.get(FIRST).is(200).text(), expected);
    assert_eq!(world.get("/instances?customer=Maria").text(), format!("[{expected}]"));
    assert_eq!(world.get("/definitions/savings/instances").text(), format!("[{expected}]"));
    let account = world.get("/ledger/accounts/Maria.9100.00001").is(200).json();
    let shown = json!({
        "identifier": "Maria.9100.00001", "name": "Savings", "kind": "LIABILITY", "role": "CUSTOMER",
        "ledgerIdentifier": "9100", "customerIdentifier": "Maria", "currency": "USD", "balance": 0,
        "debitTotal": 0, "creditTotal": 0, "createdOn": crate::support::world::NOW, "lastEntryOn": null,
    });
    assert_eq!(account, shown);
}

#[test]
fn the_account_of_a_share_is_equity() {
    let world = World::start();
    world.post("/definitions", PRODUCT.replace("SAVINGS", "SHARE")).is(202);
    world.post("/instances", NEW).is(202);
    assert_eq!(world.get("/ledger/accounts/Maria.9100.00001").json()["kind"], "EQUITY");
}

#[test]
fn each_bad_field_of_an_instance_is_named() {
    let world = sold();
    world.post("/instances", "{}").fields(&["/customerIdentifier required", "/productIdentifier required"]);
    for (customer, code) in [
        (json!(" "), "blank"),
        (json!("a/b"), "bad_characters"),
        (json!(".."), "bad_characters"),
        (json!("x".repeat(33)), "too_long"),
        (json!(7), "wrong_type"),
    ] {
        let body = new("x", json!({ "customerIdentifier": customer }));
        world.post("/instances", body).fields(&[&format!("/customerIdentifier {code}")]);
    }
    for (more, expected) in [
        (json!({ "productIdentifier": "p" }), "/productIdentifier too_short"),
        (json!({ "alternativeAccountNumber": "" }), "/alternativeAccountNumber blank"),
        (json!({ "alternativeAccountNumber": "a/b" }), "/alternativeAccountNumber bad_characters"),
        (json!({ "alternativeAccountNumber": "x".repeat(65) }), "/alternativeAccountNumber too_long"),
        (json!({ "beneficiaries": ["a", " "] }), "/beneficiaries/1 blank"),
        (json!({ "beneficiaries": [null] }), "/beneficiaries/0 required"),
        (json!({ "beneficiaries": "Ama" }), "/beneficiaries wrong_type"),
        (json!({ "beneficiaries": vec!["x"; 101] }), "/beneficiaries too_many"),
    ] {
        world.post("/instances", new("Maria", more)).fields(&[expected]);
    }
    let unknown = new("Maria", json!({ "productIdentifier": "none" }));
    let refused = world.post("/instances", unknown).refused(400, "unknown_reference");
    assert_eq!(refused.json()["errors"][0]["field"], "/productIdentifier");
    assert_eq!(world.get("/instances?customer=Maria").text(), "[]");
}

#[test]
fn numbers_count_per_customer_over_all_products() {
    let world = opened();
    let other = PRODUCT.replace("\"savings\"", "\"shares\"").replace("9100", "9200");
    world.post("/definitions", other).is(202);
    let location = |body: String| world.post("/instances", body).is(202).header("location");
    assert_eq!(
        location(new("Maria", json!({ "productIdentifier": "shares" }))),
        "/instances/Maria.9200.00002"
    );
    assert_eq!(location(new("José Ñ", json!({}))), "/instances/Jos%C3%A9%20%C3%91.9100.00001");
    world.get("/instances/Jos%C3%A9%20%C3%91.9100.00001").is(200);
    assert_eq!(location(new("Maria", json!({}))), "/instances/Maria.9100.00003");
    let longest = "c".repeat(32);
    assert_eq!(location(new(&longest, json!({}))), format!("/instances/{longest}.9100.00001"));
}

#[test]
fn a_number_that_gives_a_known_account_is_passed_over() {
    let world = sold();
    world.post("/instances", new("b1", json!({ "alternativeAccountNumber": "Maria.9100.00001" }))).is(202);
    world
        .post("/definitions", PRODUCT.replace("\"savings\"", "\"p2\"").replace("3000", "Maria.9100.00002"))
        .is(202);
    let own = json!({ "alternativeAccountNumber": "Maria.9100.00003" });
    let made = world.post("/instances", new("Maria", own)).is(202);
    assert_eq!(made.header("location"), "/instances/Maria.9100.00004");
}

#[test]
fn an_alternative_number_is_unique_over_all_numbers() {
    let world = opened();
    let take =
        |number: &str| world.post("/instances", new("b1", json!({ "alternativeAccountNumber": number })));
    take("77 0815").is(202);
    for taken in ["77 0815", "Maria.9100.00001", "b1.9100.00001", "1000", "4000"] {
        take(taken).refused(409, "identifier_taken");
    }
    // An alternative number never occurs in a path, so it may look like a segment of one.
    for number in ["77 0816", ".", "..", "77-0817"] {
        take(number).is(202);
    }
    take("..").refused(409, "identifier_taken");
    // Nor does an account come into being under such a number.
    let mut product: Value = serde_json::from_str(PRODUCT).unwrap();
    product["identifier"] = json!("second");
    product["cashAccountIdentifier"] = json!("77-0817");
    world.post("/definitions", product.to_string()).refused(400, "account_kind_mismatch");
    world.get("/instances/77%200815").refused(404, "instance_not_found");
    assert_eq!(world.get("/instances/b1.9100.00002").json()["alternativeAccountNumber"], "77 0816");
}

#[test]
fn accounts_that_are_made_at_once_have_numbers_of_their_own_without_gaps() {
    let world = sold();
    let requests = (0..160).map(|_| world.request("POST", "/instances").body(NEW)).collect::<Vec<_>>();
    let mut found = Vec::new();
    let mut requests = requests.into_iter().peekable();
    while requests.peek().is_some() {
        let answers = world.send_all(requests.by_ref().take(16).collect());
        found.extend(answers.into_iter().map(|answer| answer.is(202).header("location")));
    }
    found.sort();
    let expected: Vec<_> = (1..=160).map(|n| format!("/instances/Maria.9100.{n:05}")).collect();
    assert_eq!(found, expected);
    let listed = world.get("/instances?customer=Maria").json();
    let listed: Vec<_> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|i| format!("/instances/{}", i["accountIdentifier"].as_str().unwrap()))
        .collect();
    assert_eq!(listed, expected);
}

#[test]
fn after_the_last_number_a_customer_gets_no_more_accounts() {
    let mut world = opened();
    world.stop();
    let store = stored::open(world.config(), world.clock.clone());
    world.block_on(async move {
        let counter = AccountCounter { customer: "Maria".to_owned(), last: 99_998 };
        store.write("test", move |tx| tx.put(&counter)).await.unwrap();
        store.close().await;
    });
    world.restart();
    let last = world.post("/instances", NEW).is(202);
    assert_eq!(last.header("location"), "/instances/Maria.9100.99999");
    let refused = world.post("/instances", NEW).refused(409, "account_numbers_exhausted").json();
    assert_eq!(refused["detail"], "customer Maria has no account number left up to 99999");
    assert_eq!(world.get("/instances?customer=Maria").json().as_array().unwrap().len(), 2);
    world.post("/instances", new("Kofi", json!({}))).is(202);
}

#[test]
fn an_account_with_money_on_it_is_not_closed() {
    let counter = Counter::active("1000");
    let account = counter.account("anna");
    counter.transact("ACCO", &account, None, "400", "included").is(202);
    let path = format!("/instances/{account}");
    let refused = command(&counter.world, &path, "CLOSE").refused(409, "balance_not_zero").json();
    let detail = refused["detail"].as_str().unwrap();
    assert!(detail.contains(&account) && detail.contains("400"), "{detail}");
    assert_eq!(counter.instance(&account)["state"], "ACTIVE");
    counter.transact("ACCC", &account, None, "400", "included").is(202);
    command(&counter.world, &path, "CLOSE").is(202);
    command(&counter.world, &path, "TRANSACTION").refused(409, "wrong_state");
}

#[test]
fn a_customer_is_asked_for_once() {
    let world = opened();
    for path in ["/instances", "/instances/transactiontypes"] {
        for query in ["", "?customer=", "?customer=a&customer=a", "?Customer=Maria"] {
            world.get(&format!("{path}{query}")).refused(400, "invalid_parameter");
        }
        assert_eq!(world.get(&format!("{path}?customer=nobody")).is(200).text(), "[]");
    }
}

#[test]
fn accounts_are_found_by_what_they_contain() {
    let world = opened();
    for customer in ["mario", "Ana"] {
        let new = json!({ "customerIdentifier": customer, "productIdentifier": "savings" });
        world.post("/instances", new.to_string()).is(202);
    }
    let found = |query: &str| -> Vec<String> {
        let found = world.get(&format!("/instances?{query}")).is(200).json();
        let identifier = |account: &Value| account["accountIdentifier"].as_str().unwrap().to_owned();
        found.as_array().unwrap().iter().map(identifier).collect()
    };
    assert_eq!(found("term=MARI"), ["Maria.9100.00001", "mario.9100.00001"]);
    assert_eq!(found("term=00001&size=2"), ["Ana.9100.00001", "Maria.9100.00001"]);
    assert_eq!(found("term=savings&customer=Ana"), ["Ana.9100.00001"]);
    assert_eq!(found("term=mari&customer=Ana"), Vec::<String>::new());
    assert_eq!(found("term=&customer=Ana&size=1"), ["Ana.9100.00001"]);
    assert_eq!(found("term=%25"), Vec::<String>::new());
    let long = format!("term={}", "x".repeat(257));
    for query in ["term=", "term=a&term=a", "term=a&customer=", "term=a&size=0", "term=a&size=1001", &long] {
        world.get(&format!("/instances?{query}")).refused(400, "invalid_parameter");
    }
}

#[test]
fn accounts_found_in_memory_are_those_of_a_walk() {
    let world = opened();
    let names = ["Ämi", "AMI", "kofi", "Kofi-2", "x.9100", "savings"];
    for (n, name) in names.iter().cycle().take(40).enumerate() {
        let number = json!({ "alternativeAccountNumber": format!("GH{:03}-Ämi", n * 37) });
        world.post("/instances", new(name, if n % 3 == 0 { number } else { json!({}) })).is(202);
        if n % 8 > 0 {
            continue;
        }
        for term in ["ämi", "AM", "kofi", "-2.9", "savings", "9100.0000", "gh0", "nothing", ".", "0-Ä", "1"]
        {
            for size in [1, 7, 100] {
                let term = mfa_shared::endpoint::percent_encode(term);
                let path = format!("/instances?term={term}&size={size}");
                // A batch looks at every account.
                let walked = json!({ "operations": [{ "method": "GET", "path": path }] }).to_string();
                let walked = world.post("/batch", walked).is(200).json()["results"][0]["body"].clone();
                assert_eq!(world.get(&path).is(200).json(), walked, "{n} {path}");
            }
        }
    }
}

#[test]
fn the_grid_of_states_and_commands() {
    for (state, word, expected) in [
        ("PENDING", "ACTIVATE", Ok("ACTIVE")),
        ("PENDING", "CLOSE", Ok("CLOSED")),
        ("PENDING", "TRANSACTION", Ok("PENDING")),
        ("ACTIVE", "ACTIVATE", Ok("ACTIVE")),
        ("ACTIVE", "CLOSE", Ok("CLOSED")),
        ("ACTIVE", "TRANSACTION", Ok("ACTIVE")),
        ("CLOSED", "ACTIVATE", Err("wrong_state")),
        ("CLOSED", "CLOSE", Ok("CLOSED")),
        ("CLOSED", "TRANSACTION", Err("wrong_state")),
    ] {
        let world = opened();
        let before: &[&str] = match state {
            "PENDING" => &[],
            "ACTIVE" => &["ACTIVATE"],
            _ => &["CLOSE"],
        };
        before.iter().for_each(|word| drop(command(&world, FIRST, word).is(202)));
        let put = world.put(FIRST, r#"{"accountIdentifier":"Maria.9100.00001","beneficiaries":["x"]}"#);
        if state == "CLOSED" {
            drop(put.refused(409, "wrong_state"))
        } else {
            drop(put.is(202))
        }
        let answer = command(&world, FIRST, word);
        match expected {
            Ok(after) => {
                answer.is(202);
                assert_eq!(world.get(FIRST).json()["state"], after, "{state} {word}");
            }
            Err(code) => drop(answer.refused(409, code)),
        }
    }
}

#[test]
fn activation_sets_the_opening_day_once_and_a_transaction_its_time() {
    let world = opened();
    world.clock.advance(86_400);
    command(&world, FIRST, "activate").is(202);
    world.clock.advance(86_400);
    command(&world, FIRST, "ACTIVATE").is(202);
    command(&world, FIRST, "Transaction").is(202);
    let shown = world.get(FIRST).json();
    assert_eq!(shown["openedOn"], "2031-05-07");
    assert_eq!(shown["lastTransactionDate"], "2031-05-08T07:08:09.123Z");
    assert_eq!(shown["balance"], 0);
}

#[test]
fn a_command_travels_in_the_query_or_in_a_body_of_any_type() {
    let world = opened();
    for (kind, body) in [
        ("application/x-www-form-urlencoded", "command=TRANSACTION"),
        ("text/plain", "command=transaction\r\n"),
        ("application/json", "command=Transaction"),
        ("application/octet-stream", "x=1&command=TRANSACTION"),
    ] {
        let request = world.request("POST", FIRST).header("content-type", kind).body(body);
        world.send(request).is(202);
    }
    world.send(world.request("POST", &format!("{FIRST}?command=TRANSACTION")).body("{}")).is(202);
    for (query, body) in [
        ("", ""),
        ("?command=FREEZE", ""),
        ("", "command=FREEZE"),
        ("?command=", ""),
        ("", r#"{"command":"ACTIVATE"}"#),
        ("?command=ACTIVATE", "command=CLOSE"),
        ("", "command=%zz"),
    ] {
        let refused = world.send(world.request("POST", &format!("{FIRST}{query}")).body(body));
        refused.refused(400, "invalid_parameter");
    }
    command(&world, "/instances/none", "FREEZE").refused(400, "invalid_parameter");
    command(&world, "/instances/none", "ACTIVATE").refused(404, "instance_not_found");
    world.get("/instances/none").refused(404, "instance_not_found");
}

#[test]
fn the_types_of_transaction_are_the_union_over_all_accounts() {
    let world = opened();
    let types = || world.get("/instances/transactiontypes?customer=Maria").json();
    let shown =
        |words: &[&str]| json!(words.iter().map(|w| json!({ "transactionType": w })).collect::<Vec<_>>());
    assert_eq!(types(), shown(&["ACCO"]));
    command(&world, FIRST, "ACTIVATE").is(202);
    assert_eq!(types(), shown(&["ACCC", "ACCT", "CDPT", "CWDL"]));
    world.post("/instances", NEW).is(202);
    assert_eq!(types(), shown(&["ACCC", "ACCO", "ACCT", "CDPT", "CWDL"]));
    command(&world, FIRST, "CLOSE").is(202);
    command(&world, "/instances/Maria.9100.00002", "CLOSE").is(202);
    assert_eq!(types(), shown(&[]));
}

#[test]
fn the_checks_of_a_change_come_in_their_order() {
    let world = opened();
    world
        .put("/instances/none", r#"{"beneficiaries":[""]}"#)
        .fields(&["/beneficiaries/0 blank", "/accountIdentifier required"]);
    world.put("/instances/none", r#"{"accountIdentifier":"x"}"#).refused(404, "instance_not_found");
    let stale = world.request("PUT", FIRST).header("if-match", "\"old\"");
    world.send(stale.body(r#"{"accountIdentifier":"x"}"#)).refused(412, "precondition_failed");
    world
        .put(FIRST, r#"{"accountIdentifier":"x","productIdentifier":"p2"}"#)
        .refused(400, "identifier_mismatch");
    command(&world, FIRST, "CLOSE").is(202);
    for field in ["customerIdentifier", "productIdentifier", "alternativeAccountNumber"] {
        let body = json!({ "accountIdentifier": "Maria.9100.00001", field: "other" }).to_string();
        let refused = world.put(FIRST, body).refused(400, "immutable_field").json();
        assert_eq!(refused["errors"][0]["field"], format!("/{field}"));
    }
    world.put(FIRST, r#"{"accountIdentifier":"Maria.9100.00001"}"#).refused(409, "wrong_state");
}

#[test]
fn a_change_replaces_the_beneficiaries_and_nothing_else() {
    let world = opened();
    let put = |more: Value| {
        let mut body = json!({ "accountIdentifier": "Maria.9100.00001", "customerIdentifier": "Maria",
            "productIdentifier": "savings", "state": "whatever", "balance": "x" });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        world.put(FIRST, body.to_string()).is(202);
        world.get(FIRST).json()
    };
    assert_eq!(put(json!({ "beneficiaries": ["b", "a", "b"] }))["beneficiaries"], json!(["b", "a"]));
    let kept = put(json!({}));
    assert_eq!((&kept["beneficiaries"], &kept["state"]), (&json!(["b", "a"]), &json!("PENDING")));
    assert_eq!(put(json!({ "beneficiaries": [] }))["beneficiaries"], json!([]));
}

#[test]
fn with_strict_references_customer_and_product_are_looked_at() {
    let world = World::with(|config| config.strict_references = true);
    world.post("/definitions", PRODUCT).is(202);
    let refused = world.post("/instances", NEW).refused(400, "unknown_reference");
    assert_eq!(refused.json()["errors"][0]["field"], "/customerIdentifier");
    world.post("/customers", r#"{"identifier":"Maria"}"#).is(202);
    world.post("/instances", NEW).refused(409, "product_inactive");
    world.post("/definitions/savings/commands", r#"{"action":"ACTIVATE"}"#).is(202);
    world.post("/instances", NEW).is(202);
    world.post("/definitions/savings/commands", r#"{"action":"DEACTIVATE"}"#).is(202);
    command(&world, FIRST, "ACTIVATE").is(202);
}

#[test]
fn a_customer_with_an_account_that_is_not_closed_stays() {
    let world = opened();
    world.post("/instances", NEW).is(202);
    world.post("/customers", r#"{"identifier":"Maria"}"#).is(202);
    let close = || world.post("/customers/Maria/commands", r#"{"action":"CLOSE"}"#);
    let refused = close().refused(409, "in_use");
    assert_eq!(refused.json()["detail"], "customer Maria has 2 product instances that are not CLOSED");
    command(&world, FIRST, "CLOSE").is(202);
    let refused = close().refused(409, "in_use");
    assert_eq!(refused.json()["detail"], "customer Maria has 1 product instance that is not CLOSED");
    command(&world, "/instances/Maria.9100.00002", "CLOSE").is(202);
    close().is(202);
    world.post("/instances", NEW).is(202);
    close().refused(409, "wrong_state");
}
