//! `deposits.md` section 2.

use crate::support::world::World;
use serde_json::{Value, json};

pub const PRODUCT: &str = r#"{"type":"SAVINGS","identifier":"savings","name":"Savings","description":"Text","currency":{"code":"USD","name":"Dollar","sign":"$","scale":2},"minimumBalance":100.00,"equityLedgerIdentifier":"9100","cashAccountIdentifier":"1000","expenseAccountIdentifier":"3000","accrueAccountIdentifier":"8000","interest":1.250,"term":{"period":12,"timeUnit":"MONTH","interestPayable":"MATURITY"},"charges":[{"actionIdentifier":"Open","incomeAccountIdentifier":"4000","name":"Opening","description":null,"proportional":false,"amount":2.00},{"actionIdentifier":"Withdraw","incomeAccountIdentifier":"4000","name":"Leaving","description":"","proportional":true,"amount":3}],"flexible":false,"active":false}"#;

/// The product with one value changed; null takes the property away.
fn with(pointer: &str, value: Value) -> String {
    let mut product: Value = serde_json::from_str(PRODUCT).unwrap();
    match product.pointer_mut(pointer) {
        Some(place) => *place = value,
        None => panic!("a product has no {pointer}"),
    }
    product.to_string()
}

fn number(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn sold() -> World {
    let world = World::start();
    world.post("/definitions", PRODUCT).is(202);
    world
}

fn open_account(world: &World) -> String {
    let new = r#"{"customerIdentifier":"Maria","productIdentifier":"savings"}"#;
    world.post("/instances", new).is(202).header("location")
}

fn change(value: Value) -> String {
    let mut body = json!({ "identifier": "savings" });
    body.as_object_mut().unwrap().extend(value.as_object().unwrap().clone());
    body.to_string()
}

#[test]
fn a_definition_comes_back_as_it_was_sent_digit_for_digit() {
    let world = sold();
    assert_eq!(world.get("/definitions/savings").is(200).text(), PRODUCT);
    assert_eq!(world.get("/definitions").is(200).text(), format!("[{PRODUCT}]"));
    assert_eq!(world.get("/definitions/savings/commands").is(200).text(), "[]");
    assert_eq!(world.get("/definitions/savings/instances").is(200).text(), "[]");
}

#[test]
fn what_a_new_definition_leaves_out_has_a_default() {
    let world = World::start();
    let new = r#"{"type":"share","identifier":"shares","name":"Shares","currency":{"code":"USD","name":"Dollar","sign":"$","scale":0},"equityLedgerIdentifier":"9100","cashAccountIdentifier":"1000","expenseAccountIdentifier":"3000","term":{"interestPayable":"annually"},"active":true}"#;
    world.post("/definitions", new).is(202);
    let shown = world.get("/definitions/shares").json();
    for (name, value) in [
        ("type", json!("SHARE")),
        ("description", json!(null)),
        ("minimumBalance", json!(0)),
        ("accrueAccountIdentifier", json!(null)),
        ("interest", json!(null)),
        ("term", json!({ "period": null, "timeUnit": null, "interestPayable": "ANNUALLY" })),
        ("charges", json!([])),
        ("flexible", json!(false)),
        ("active", json!(false)),
    ] {
        assert_eq!(shown[name], value, "{name}");
    }
    assert_eq!(shown.as_object().unwrap().len(), 15);
}

#[test]
fn each_bad_field_of_a_definition_is_named() {
    let world = World::start();
    for (pointer, value, code) in [
        ("/identifier", json!(null), "required"),
        ("/identifier", json!("z"), "too_short"),
        ("/identifier", json!("xy~mn"), "bad_characters"),
        ("/identifier", json!("x/y"), "bad_characters"),
        ("/identifier", json!("x".repeat(33)), "too_long"),
        ("/type", json!("CURRENT"), "unknown_value"),
        ("/type", json!(null), "required"),
        ("/term/timeUnit", json!("WEEK"), "unknown_value"),
        ("/term/timeUnit", json!(null), "required"),
        ("/term/period", json!(null), "required"),
        ("/term/period", json!(0), "out_of_range"),
        ("/term/period", json!(1201), "out_of_range"),
        ("/term/interestPayable", json!("DAILY"), "unknown_value"),
        ("/currency/scale", json!(6), "out_of_range"),
        ("/currency/scale", json!(-1), "out_of_range"),
        ("/currency/scale", json!("2"), "wrong_type"),
        ("/currency/code", json!("ABCDE"), "too_long"),
        ("/currency/code", json!(" "), "blank"),
        ("/currency", json!(null), "required"),
        ("/accrueAccountIdentifier", json!(null), "required"),
        ("/equityLedgerIdentifier", json!("x".repeat(35)), "too_long"),
        ("/minimumBalance", json!(-1), "out_of_range"),
        ("/minimumBalance", number("0.000001"), "too_many_decimals"),
        ("/minimumBalance", number("1000000000000000"), "out_of_range"),
        ("/minimumBalance", json!("2.00"), "wrong_type"),
        ("/interest", number("-0.5"), "out_of_range"),
        ("/interest", number("1000.01"), "out_of_range"),
        ("/charges/1/amount", number("100.01"), "out_of_range"),
        ("/charges/0/amount", json!(-2), "out_of_range"),
        ("/charges/0/amount", number("2.005"), "too_many_decimals"),
        ("/charges/0/amount", json!("2.00"), "wrong_type"),
        ("/charges/0/amount", json!(null), "required"),
        ("/charges/0/actionIdentifier", json!("a b"), "bad_characters"),
        ("/charges/1/name", json!("Opening"), "duplicate"),
        ("/charges/1/proportional", json!("true"), "wrong_type"),
        ("/charges/1", json!(null), "required"),
        ("/flexible", json!(1), "wrong_type"),
    ] {
        let refused = world.post("/definitions", with(pointer, value));
        refused.fields(&[&format!("{pointer} {code}")]);
    }
    let charge =
        json!({ "actionIdentifier": "Open", "incomeAccountIdentifier": "4000", "name": "x", "amount": 1 });
    let many: Vec<_> = (0..101).map(|_| charge.clone()).collect();
    world.post("/definitions", with("/charges", json!(many))).fields(&["/charges too_many"]);
    assert_eq!(world.get("/definitions").text(), "[]");
    world.get("/ledger/accounts/1000").refused(404, "account_not_found");
}

#[test]
fn rules_over_several_fields_are_reported_together_with_the_others() {
    let world = World::start();
    let bad = r#"{"type":"SAVINGS","identifier":"z","name":"Savings","currency":{"code":"USD","name":"Dollar","sign":"$","scale":2},"equityLedgerIdentifier":"9100","cashAccountIdentifier":"1000","expenseAccountIdentifier":"3000","term":{"period":1,"interestPayable":"MONTHLY"},"charges":[{"actionIdentifier":"Open","incomeAccountIdentifier":"4000","name":" ","amount":2.005}]}"#;
    world.post("/definitions", bad).fields(&[
        "/identifier too_short",
        "/term/timeUnit required",
        "/charges/0/name blank",
        "/charges/0/amount too_many_decimals",
        "/accrueAccountIdentifier required",
    ]);
    // A name that comes again is found beside what else is bad in either charge, but not where it is bad itself.
    let charge = |name: &str, amount: i64| {
        json!({
            "actionIdentifier": "Open", "incomeAccountIdentifier": "4000", "name": name, "amount": amount,
        })
    };
    let charges = [charge("Fee", -1), charge("Fee", 1), charge("Fee", -1), charge(" ", 1), charge(" ", 1)];
    world.post("/definitions", with("/charges", json!(charges))).fields(&[
        "/charges/0/amount out_of_range",
        "/charges/1/name duplicate",
        "/charges/2/name duplicate",
        "/charges/2/amount out_of_range",
        "/charges/3/name blank",
        "/charges/4/name blank",
    ]);
}

#[test]
fn a_share_needs_no_accrual_account_and_every_other_type_does() {
    let world = World::start();
    let product = |kind: &str| {
        let mut product: Value = serde_json::from_str(PRODUCT).unwrap();
        product["type"] = json!(kind);
        product["accrueAccountIdentifier"] = json!(null);
        product.to_string()
    };
    for kind in ["SAVINGS", "checking"] {
        world.post("/definitions", product(kind)).fields(&["/accrueAccountIdentifier required"]);
    }
    world.post("/definitions", product("share")).is(202);
    let refused = world.put("/definitions/savings", change(json!({ "accrueAccountIdentifier": "8000" })));
    refused.refused(400, "immutable_field");
}

#[test]
fn numbers_at_the_edge_of_their_range_are_good() {
    let world = World::start();
    for (i, (pointer, value)) in [
        ("/minimumBalance", "999999999999999.99999"),
        ("/minimumBalance", "0.00"),
        ("/minimumBalance", "2.1000000"),
        ("/interest", "0"),
        ("/interest", "1000"),
        ("/charges/1/amount", "100"),
        ("/charges/1/amount", "0.00001"),
        ("/charges/0/amount", "2.000"),
        ("/charges/0/amount", "0"),
        ("/term/period", "1200"),
        ("/currency/scale", "5"),
    ]
    .into_iter()
    .enumerate()
    {
        let mut product: Value = serde_json::from_str(&with(pointer, number(value))).unwrap();
        product["identifier"] = json!(format!("p{i}"));
        world.post("/definitions", product.to_string()).is(202);
    }
}

#[test]
fn the_references_of_a_definition_are_checked_before_its_identifier() {
    let world = sold();
    let unknown = with("/charges/0/actionIdentifier", json!("None"));
    let refused = world.post("/definitions", unknown).refused(400, "unknown_reference");
    assert_eq!(refused.json()["errors"][0]["field"], "/charges/0/actionIdentifier");
    let account = open_account(&world).trim_start_matches("/instances/").to_owned();
    for pointer in
        ["/cashAccountIdentifier", "/expenseAccountIdentifier", "/charges/1/incomeAccountIdentifier"]
    {
        let refused = world.post("/definitions", with(pointer, json!(account)));
        let refused = refused.refused(400, "account_kind_mismatch");
        assert_eq!(refused.json()["errors"][0]["field"], pointer);
    }
    world.post("/definitions", PRODUCT).refused(409, "identifier_taken");
}

#[test]
fn named_accounts_come_into_being_with_the_kind_of_their_role() {
    let world = sold();
    for (account, kind, role) in [
        ("1000", "ASSET", "PRODUCT_CASH"),
        ("3000", "EXPENSE", "PRODUCT_EXPENSE"),
        ("8000", "LIABILITY", "PRODUCT_ACCRUE"),
        ("4000", "REVENUE", "INCOME"),
    ] {
        let shown = world.get(&format!("/ledger/accounts/{account}")).is(200).json();
        assert_eq!((&shown["kind"], &shown["role"]), (&json!(kind), &json!(role)), "{account}");
        assert_eq!((&shown["balance"], &shown["currency"]), (&json!(0), &json!(null)));
    }
    world.get("/ledger/accounts/9100").refused(404, "account_not_found");
    world.put("/definitions/savings", change(json!({ "expenseAccountIdentifier": "3001" }))).is(202);
    assert_eq!(world.get("/ledger/accounts/3001").json()["kind"], "EXPENSE");
    world.get("/ledger/accounts/3000").is(200);
    world.delete("/definitions/savings").is(202);
    world.get("/ledger/accounts/4000").is(200);
}

#[test]
fn an_account_keeps_the_kind_of_its_first_role_unless_strict() {
    for (strict, status) in [(false, 202), (true, 400)] {
        let world = World::with(|config| config.strict_references = strict);
        let answer = world.post("/definitions", with("/expenseAccountIdentifier", json!("1000"))).is(status);
        if strict {
            let refused = answer.refused(400, "account_kind_mismatch");
            assert_eq!(refused.json()["errors"][0]["field"], "/expenseAccountIdentifier");
        } else {
            assert_eq!(world.get("/ledger/accounts/1000").json()["kind"], "ASSET");
        }
    }
}

#[test]
fn a_change_keeps_what_is_null_and_empties_what_is_empty() {
    let world = sold();
    world.put("/definitions/savings", r#"{"identifier":"savings","active":true}"#).is(202);
    assert_eq!(world.get("/definitions/savings").text(), PRODUCT);
    let new = json!({
        "name": "New", "description": "", "minimumBalance": 5, "equityLedgerIdentifier": "9200",
        "term": { "interestPayable": "QUARTERLY" }, "charges": [], "flexible": true, "type": "savings",
        "cashAccountIdentifier": "1000", "accrueAccountIdentifier": "8000", "interest": number("1.25"),
    });
    world.put("/definitions/savings", change(new)).is(202);
    let shown = world.get("/definitions/savings").json();
    for (name, value) in [
        ("name", json!("New")),
        ("description", json!("")),
        ("minimumBalance", json!(5)),
        ("equityLedgerIdentifier", json!("9200")),
        ("term", json!({ "period": null, "timeUnit": null, "interestPayable": "QUARTERLY" })),
        ("charges", json!([])),
        ("flexible", json!(true)),
    ] {
        assert_eq!(shown[name], value, "{name}");
    }
}

#[test]
fn the_checks_of_a_change_come_in_their_order() {
    let world = sold();
    world.put("/definitions/none", r#"{"identifier":"z"}"#).fields(&["/identifier too_short"]);
    world.put("/definitions/none", r#"{"identifier":"other"}"#).refused(404, "definition_not_found");
    let stale = world.request("PUT", "/definitions/savings").header("if-match", "\"old\"");
    world.send(stale.body(r#"{"identifier":"other"}"#)).refused(412, "precondition_failed");
    let other = r#"{"identifier":"other","type":"SHARE"}"#;
    world.put("/definitions/savings", other).refused(400, "identifier_mismatch");
    open_account(&world);
    let income = |action: &str| json!([{ "actionIdentifier": action, "incomeAccountIdentifier": "Maria.9100.00001", "name": "x", "amount": 1 }]);
    let euro = json!({ "code": "EUR", "name": "Euro", "sign": "€", "scale": 2 });
    let mut body = json!({ "type": "SHARE", "interest": 2, "charges": income("None"), "currency": euro });
    for (code, repair) in [
        ("immutable_field", ("type", json!("SAVINGS"))),
        ("interest_not_flexible", ("interest", json!(null))),
        ("unknown_reference", ("charges", income("Open"))),
        ("account_kind_mismatch", ("charges", json!(null))),
    ] {
        world.put("/definitions/savings", change(body.clone())).refused(400, code);
        body[repair.0] = repair.1;
    }
    world.put("/definitions/savings", change(body)).refused(409, "in_use");
    assert_eq!(world.get("/definitions/savings").text(), PRODUCT);
}

#[test]
fn what_never_changes_is_refused_by_name() {
    let world = sold();
    for (field, value) in
        [("type", "CHECKING"), ("cashAccountIdentifier", "1001"), ("accrueAccountIdentifier", "8001")]
    {
        let refused = world.put("/definitions/savings", change(json!({ field: value })));
        let refused = refused.refused(400, "immutable_field").json();
        assert_eq!(refused["errors"][0]["field"], format!("/{field}"));
        assert_eq!(refused["errors"][0]["code"], "immutable_field");
    }
}

#[test]
fn interest_changes_only_where_the_stored_definition_is_flexible() {
    let world = sold();
    let put = |value: Value| world.put("/definitions/savings", change(value));
    put(json!({ "interest": 2, "flexible": true })).refused(400, "interest_not_flexible");
    put(json!({ "interest": number("1.25") })).is(202);
    put(json!({ "flexible": true })).is(202);
    put(json!({ "interest": 2, "flexible": false })).is(202);
    put(json!({ "interest": 3 })).refused(400, "interest_not_flexible");
    assert_eq!(world.get("/definitions/savings").json()["interest"], 2);
}

#[test]
fn code_and_scale_of_the_currency_stay_while_there_is_an_instance() {
    let world = sold();
    let currency = |code: &str, scale: u32| {
        change(json!({ "currency": { "code": code, "name": "N", "sign": "S", "scale": scale } }))
    };
    world.put("/definitions/savings", currency("EUR", 3)).is(202);
    let location = open_account(&world);
    world.put("/definitions/savings", currency("USD", 3)).refused(409, "in_use");
    world.put("/definitions/savings", currency("EUR", 2)).refused(409, "in_use");
    world.put("/definitions/savings", currency("EUR", 3)).is(202);
    world.send(world.request("POST", &format!("{location}?command=CLOSE"))).is(202);
    world.put("/definitions/savings", currency("USD", 3)).refused(409, "in_use");
}

#[test]
fn a_fixed_charge_is_no_finer_than_the_stored_currency() {
    let world = sold();
    let charge = |amount: &str| json!([{ "actionIdentifier": "Open", "incomeAccountIdentifier": "4000", "name": "x", "amount": number(amount) }]);
    let put = |value: Value| world.put("/definitions/savings", change(value));
    put(json!({ "charges": charge("2.005") })).fields(&["/charges/0/amount too_many_decimals"]);
    put(json!({ "charges": charge("2.250") })).is(202);
    let coarse = json!({ "code": "USD", "name": "N", "sign": "S", "scale": 1 });
    put(json!({ "currency": coarse })).fields(&["/currency/scale out_of_range"]);
    put(json!({ "currency": coarse, "charges": charge("2.5") })).is(202);
    // What is wrong with the body is said before what it may not change.
    let fixed = json!({ "type": "SHARE", "charges": charge("2.005") });
    put(fixed).fields(&["/charges/0/amount too_many_decimals"]);
    // Zero may have a sign.
    let mut whole: Value = serde_json::from_str(PRODUCT).unwrap();
    whole["identifier"] = json!("whole");
    whole["currency"]["scale"] = number("-0");
    whole["charges"] = charge("2.5");
    world.post("/definitions", whole.to_string()).fields(&["/charges/0/amount too_many_decimals"]);
}

#[test]
fn the_scale_of_a_product_with_accounts_stays_whatever_its_charges() {
    let world = sold();
    let charge = json!([{ "actionIdentifier": "Open", "incomeAccountIdentifier": "4000", "name": "x", "amount": number("2.25") }]);
    world.put("/definitions/savings", change(json!({ "charges": charge }))).is(202);
    let coarse = change(json!({ "currency": { "code": "USD", "name": "N", "sign": "S", "scale": 1 } }));
    world.put("/definitions/savings", coarse.clone()).fields(&["/currency/scale out_of_range"]);
    open_account(&world);
    world.put("/definitions/savings", coarse).refused(409, "in_use");
}

#[test]
fn commands_switch_a_definition_and_every_one_is_recorded() {
    let world = sold();
    let command = |body: Value| world.post("/definitions/savings/commands", body.to_string());
    let active = || world.get("/definitions/savings").json()["active"].clone();
    for (action, expected) in
        [("DEACTIVATE", false), ("ACTIVATE", true), ("activate", true), ("DEACTIVATE", false)]
    {
        command(json!({ "action": action, "note": "why" })).is(202);
        assert_eq!(active(), json!(expected), "{action}");
        world.clock.advance(1);
    }
    command(json!({ "action": "ACTIVATE" })).is(202);
    world.put("/definitions/savings", change(json!({ "active": false }))).is(202);
    assert_eq!(active(), json!(true));
    let done = world.get("/definitions/savings/commands").json();
    let actions: Vec<_> = done.as_array().unwrap().iter().map(|c| c["action"].as_str().unwrap()).collect();
    assert_eq!(actions, ["DEACTIVATE", "ACTIVATE", "ACTIVATE", "DEACTIVATE", "ACTIVATE"]);
    let first = json!({ "action": "DEACTIVATE", "note": "why", "createdBy": "guest", "createdOn": crate::support::world::NOW });
    assert_eq!(done[0], first);
    command(json!({ "action": "SUSPEND" })).fields(&["/action unknown_value"]);
    command(json!({})).fields(&["/action required"]);
    command(json!({ "action": "ACTIVATE", "note": "x".repeat(2049) })).fields(&["/note too_long"]);
    let none = world.post("/definitions/none/commands", r#"{"action":"ACTIVATE"}"#);
    none.refused(404, "definition_not_found");
    world.get("/definitions/none/commands").refused(404, "definition_not_found");
}

#[test]
fn a_definition_with_an_instance_stays_also_if_that_is_closed() {
    let world = sold();
    let location = open_account(&world);
    world.send(world.request("POST", &format!("{location}?command=CLOSE"))).is(202);
    let refused = world.delete("/definitions/savings").refused(409, "in_use");
    assert_eq!(refused.json()["detail"], "product definition savings has 1 instance");
    world.delete("/definitions/none").refused(404, "definition_not_found");
    world.get("/definitions/none").refused(404, "definition_not_found");
    world.get("/definitions/none/instances").refused(404, "definition_not_found");
    let listed = world.get("/definitions/savings/instances").is(200).json();
    assert_eq!(
        (&listed[0]["accountIdentifier"], &listed[0]["state"]),
        (&json!("Maria.9100.00001"), &json!("CLOSED"))
    );
}

#[test]
fn a_deleted_definition_takes_its_commands_with_it() {
    let world = sold();
    world.post("/definitions/savings/commands", r#"{"action":"ACTIVATE"}"#).is(202);
    let stale = world.request("DELETE", "/definitions/savings").header("if-match", "\"old\"");
    world.send(stale).refused(412, "precondition_failed");
    world.delete("/definitions/savings").is(202);
    world.get("/definitions/savings").refused(404, "definition_not_found");
    world.post("/definitions", PRODUCT).is(202);
    assert_eq!(world.get("/definitions/savings/commands").text(), "[]");
}
