//! `tellers.md` sections 1, 2 and 15: tellers as the management sees them.

use crate::support::counter::{Counter, PIN, decimal, digits, same, teller};
use crate::support::world::World;
use serde_json::{Value, json};

const T: &str = "/offices/accra/teller";

fn change() -> Value {
    json!({ "code": "T1", "password": PIN })
}

#[test]
fn a_teller_is_read_as_it_was_created() {
    let counter = Counter::start();
    let mut new = teller("A1");
    new["cashdrawLimit"] = decimal("500.50");
    new["assignedEmployee"] = json!("Maria Gomez");
    let created = counter.teller_with(&new).is(202);
    assert_eq!(created.text(), "");
    let read = counter.world.get(&format!("{T}/A1")).is(200);
    let expected = r#"{"code":"A1","password":null,"cashdrawLimit":500.50,"tellerAccountIdentifier":"drawer-A1","vaultAccountIdentifier":"vault","chequesReceivableAccount":"cheques","cashOverShortAccount":"over-short","denominationRequired":false,"assignedEmployee":"Maria Gomez","state":"CLOSED","createdBy":"guest","createdOn":"2031-05-06T07:08:09.123Z","lastModifiedBy":null,"lastModifiedOn":null,"lastOpenedBy":null,"lastOpenedOn":null}"#;
    assert_eq!(read.text(), expected);
    assert!(read.header("etag").starts_with('"'));
    let listed = counter.world.get(&format!("{T}/")).is(200).json();
    let codes: Vec<_> = listed.as_array().unwrap().iter().map(|t| digits(&t["code"])).collect();
    assert_eq!(codes, ["\"A1\"", "\"T1\""]);
    counter.world.get("/teller/v1/offices/accra/teller/A1").is(200);
}

#[test]
fn each_bad_field_of_a_teller_is_named() {
    let counter = Counter::start();
    let with = |field: &str, value: Value| {
        let mut new = teller("A1");
        new[field] = value;
        counter.teller_with(&new)
    };
    for (field, value, code) in [
        ("code", json!("x"), "too_short"),
        ("code", json!("a b"), "bad_characters"),
        ("code", json!("x".repeat(33)), "too_long"),
        ("code", Value::Null, "required"),
        ("password", json!("123"), "too_short"),
        ("password", Value::Null, "required"),
        ("password", json!("x".repeat(4097)), "too_long"),
        ("cashdrawLimit", decimal("-0.01"), "out_of_range"),
        ("cashdrawLimit", decimal("2000000000"), "out_of_range"),
        ("cashdrawLimit", decimal("1000000000.00001"), "out_of_range"),
        ("cashdrawLimit", decimal("0.000001"), "too_many_decimals"),
        ("cashdrawLimit", json!("5"), "wrong_type"),
        ("cashdrawLimit", Value::Null, "required"),
        ("tellerAccountIdentifier", Value::Null, "required"),
        ("tellerAccountIdentifier", json!("x".repeat(35)), "too_long"),
        ("vaultAccountIdentifier", json!("a/b"), "bad_characters"),
        ("chequesReceivableAccount", Value::Null, "required"),
        ("cashOverShortAccount", json!(7), "wrong_type"),
        ("denominationRequired", json!("true"), "wrong_type"),
        ("assignedEmployee", json!("x".repeat(33)), "too_long"),
    ] {
        with(field, value).fields(&[&format!("/{field} {code}")]);
    }
    counter.world.get(&format!("{T}/A1")).refused(404, "teller_not_found");
    with("cashdrawLimit", decimal("1000000000")).is(202);
}

#[test]
fn the_checks_of_a_new_teller_come_in_their_order() {
    let counter = Counter::start();
    let account = counter.account("anna");
    let mut new = teller("T1");
    new["tellerAccountIdentifier"] = json!(account);
    let elsewhere = |new: &Value| counter.world.post("/offices/none/teller", new.to_string());
    let mut bad = new.clone();
    bad["password"] = json!("1");
    elsewhere(&bad).fields(&["/password too_short"]);
    elsewhere(&new).refused(404, "office_not_found");
    counter.teller_with(&new).refused(400, "account_kind_mismatch");
    counter.teller_with(&teller("T1")).refused(409, "identifier_taken");
    counter.world.post("/offices", r#"{"identifier":"kumasi","name":"Kumasi"}"#).is(202);
    let taken = counter.world.post("/offices/kumasi/teller", teller("T1").to_string());
    taken.refused(409, "identifier_taken");
}

#[test]
fn a_teller_belongs_to_its_office() {
    let counter = Counter::start();
    counter.world.post("/offices", r#"{"identifier":"kumasi","name":"Kumasi"}"#).is(202);
    let world = &counter.world;
    for path in ["T1", "T1/balance", "T1/denominations"] {
        world.get(&format!("/offices/none/teller/{path}")).refused(404, "office_not_found");
        world.get(&format!("/offices/kumasi/teller/{path}")).refused(404, "teller_not_found");
        world.get(&format!("{T}/{path}")).is(200);
    }
    world.get("/offices/none/teller").refused(404, "office_not_found");
    assert_eq!(world.get("/offices/kumasi/teller").is(200).text(), "[]");
    for (office, code) in [("none", "office_not_found"), ("kumasi", "teller_not_found")] {
        let path = format!("/offices/{office}/teller/T1");
        world.put(&path, change().to_string()).refused(404, code);
        world.post(&format!("{path}/commands"), r#"{"action":"OPEN"}"#).refused(404, code);
        world.post(&format!("{path}/denominations"), r#"{"countedTotal":1}"#).refused(404, code);
        world.delete(&path).refused(404, code);
    }
    counter.command("T1", json!({ "action": "CLOSE" })).refused(409, "wrong_state");
}

#[test]
fn a_change_keeps_what_is_null_but_asks_for_code_and_password() {
    let counter = Counter::start();
    let path = format!("{T}/T1");
    let put = |body: Value| counter.world.put(&path, body.to_string());
    put(json!({})).fields(&["/code required", "/password required"]);
    put(json!({ "code": "T1", "password": "123" })).fields(&["/password too_short"]);
    let before = counter.teller("T1");
    counter.world.clock.advance(60);
    put(change()).is(202);
    let mut after = counter.teller("T1");
    assert_eq!(after["lastModifiedBy"], "guest");
    assert_eq!(after["lastModifiedOn"], "2031-05-06T07:09:09.123Z");
    after["lastModifiedBy"] = Value::Null;
    after["lastModifiedOn"] = Value::Null;
    assert_eq!(after, before);
    let mut all = change();
    all["cashdrawLimit"] = decimal("0.50");
    all["vaultAccountIdentifier"] = json!("vault-2");
    all["chequesReceivableAccount"] = json!("cheques-2");
    all["cashOverShortAccount"] = json!("over-short-2");
    all["tellerAccountIdentifier"] = json!("drawer-2");
    all["denominationRequired"] = json!(true);
    all["assignedEmployee"] = json!("emp9");
    put(all.clone()).is(202);
    let after = counter.teller("T1");
    for field in all.as_object().unwrap().keys().filter(|field| *field != "password") {
        assert_eq!(after[field], all[field], "{field}");
    }
    assert_eq!(after["password"], Value::Null);
    put(json!({ "code": "T1", "password": PIN, "assignedEmployee": "" })).is(202);
    assert_eq!(counter.teller("T1")["assignedEmployee"], Value::Null);
}

#[test]
fn the_checks_of_a_change_come_in_their_order() {
    let counter = Counter::start();
    let account = counter.account("anna");
    let world = &counter.world;
    let bad =
        json!({ "code": "zz", "password": PIN, "vaultAccountIdentifier": account, "assignedEmployee": "x" });
    world.put("/offices/accra/teller/no", bad.to_string()).refused(404, "teller_not_found");
    let stale = world.request("PUT", &format!("{T}/T1")).header("if-match", "\"old\"");
    world.send(stale.body(bad.to_string())).refused(412, "precondition_failed");
    world.put(&format!("{T}/T1"), bad.to_string()).refused(400, "identifier_mismatch");
    counter.open("T1", "emp1", "10");
    let mut body = change();
    body["vaultAccountIdentifier"] = json!(account);
    body["assignedEmployee"] = json!("emp2");
    world.put(&format!("{T}/T1"), body.to_string()).refused(400, "account_kind_mismatch");
    body["vaultAccountIdentifier"] = Value::Null;
    world.put(&format!("{T}/T1"), body.to_string()).refused(409, "wrong_state");
    body["assignedEmployee"] = json!("");
    world.put(&format!("{T}/T1"), body.to_string()).refused(409, "wrong_state");
    body["assignedEmployee"] = json!("emp1");
    let tag = world.get(&format!("{T}/T1")).header("etag");
    let fresh = world.request("PUT", &format!("{T}/T1")).header("if-match", tag);
    world.send(fresh.body(body.to_string())).is(202);
}

#[test]
fn cash_moves_along_to_another_account_and_stays_the_same_cash() {
    let counter = Counter::active("70");
    let before = counter.balance("T1");
    let mut body = change();
    body["tellerAccountIdentifier"] = json!("drawer-new");
    counter.world.put(&format!("{T}/T1"), body.to_string()).is(202);
    let entry = counter.journal().pop().unwrap();
    assert_eq!((&entry["type"], &entry["message"]), (&json!("ADJT"), &json!("Teller account change.")));
    assert_eq!(counter.last_lines(), ["DEBIT drawer-new 70", "CREDIT drawer-T1 70"]);
    assert!(entry["lines"].as_array().unwrap().iter().all(|line| line["role"] == "DRAWER"));
    assert_eq!(counter.balance("T1"), before);
    assert_eq!(counter.teller("T1")["state"], "ACTIVE");
    let back = json!({ "action": "CLOSE", "adjustment": "CREDIT", "amount": 70 });
    counter.command("T1", back).is(202);
    same(&counter.ledger("drawer-new"), "0");
    let entries = counter.journal().len();
    body["tellerAccountIdentifier"] = json!("drawer-third");
    counter.world.put(&format!("{T}/T1"), body.to_string()).is(202);
    assert_eq!(counter.journal().len(), entries, "an empty drawer moves without an entry");
}

#[test]
fn a_teller_names_no_alternative_number_of_an_account() {
    let counter = Counter::active("0");
    let new = json!({ "customerIdentifier": "anna", "productIdentifier": "saver",
        "alternativeAccountNumber": "77-0817" });
    counter.world.post("/instances", new.to_string()).is(202);
    for field in [
        "tellerAccountIdentifier",
        "vaultAccountIdentifier",
        "chequesReceivableAccount",
        "cashOverShortAccount",
    ] {
        let mut named = teller("A1");
        named[field] = json!("77-0817");
        let refused = counter.teller_with(&named).refused(400, "account_kind_mismatch").json();
        assert!(
            refused["detail"].as_str().unwrap().contains(&format!("/{field} names 77-0817")),
            "{refused}"
        );
        let mut changed = change();
        changed[field] = json!("77-0817");
        let seen = counter.world.put(&format!("{T}/T1"), changed.to_string());
        seen.refused(400, "account_kind_mismatch");
    }
    counter.world.get("/ledger/accounts/77-0817").refused(404, "account_not_found");
}

#[test]
fn a_teller_that_was_opened_stays() {
    let counter = Counter::start();
    counter.teller_with(&teller("T2")).is(202);
    counter.world.delete("/offices/accra/teller/T2").is(202);
    counter.world.delete("/offices/accra/teller/T2").refused(404, "teller_not_found");
    counter.try_unlock("T2", "emp1", PIN).refused(404, "teller_not_found");
    counter.teller_with(&teller("T2")).is(202);
    counter.open("T1", "emp1", "5");
    counter.world.delete(&format!("{T}/T1")).refused(409, "teller_used");
    let tagged = counter.world.request("DELETE", &format!("{T}/T2")).header("if-match", "\"old\"");
    counter.world.send(tagged).refused(412, "precondition_failed");
}

#[test]
fn an_office_with_a_teller_is_in_use() {
    let counter = Counter::start();
    assert_eq!(counter.world.get("/offices/accra").json()["externalReferences"], true);
    let refused = counter.world.delete("/offices/accra").refused(409, "in_use");
    assert_eq!(refused.json()["detail"], "office accra has 1 teller");
    counter.world.delete(&format!("{T}/T1")).is(202);
    assert_eq!(counter.world.get("/offices/accra").json()["externalReferences"], false);
    counter.world.delete("/offices/accra").is(202);
}

#[test]
fn with_strict_references_a_teller_names_what_exists() {
    let world = World::with(|config| config.strict_references = true);
    world.post("/offices", r#"{"identifier":"accra","name":"Accra"}"#).is(202);
    let refused = world.post(T, teller("T1").to_string()).refused(400, "unknown_reference");
    assert_eq!(refused.json()["errors"][0]["field"], "/tellerAccountIdentifier");
    // A definition creates its accounts in every setting.
    let mut product = crate::support::counter::product();
    product["cashAccountIdentifier"] = json!("drawer-T1");
    product["expenseAccountIdentifier"] = json!("over-short");
    product["accrueAccountIdentifier"] = json!("owed");
    world.post("/definitions", product.to_string()).is(202);
    let mut new = teller("T1");
    new["vaultAccountIdentifier"] = json!("drawer-T1");
    new["chequesReceivableAccount"] = json!("drawer-T1");
    new["assignedEmployee"] = json!("nobody");
    let refused = world.post(T, new.to_string()).refused(400, "unknown_reference");
    assert_eq!(refused.json()["errors"][0]["field"], "/assignedEmployee");
    new["assignedEmployee"] = Value::Null;
    let mut other = new.clone();
    other["vaultAccountIdentifier"] = json!("owed");
    world.post(T, other.to_string()).refused(400, "account_kind_mismatch");
    world.post(T, new.to_string()).is(202);
    let command = json!({ "action": "OPEN", "assignedEmployeeIdentifier": "nobody" });
    let refused = world.post(&format!("{T}/T1/commands"), command.to_string());
    assert_eq!(
        refused.refused(400, "unknown_reference").json()["errors"][0]["field"],
        "/assignedEmployeeIdentifier"
    );
    world.post("/employees", r#"{"identifier":"emp1","givenName":"A","surname":"B"}"#).is(202);
    let command = json!({ "action": "OPEN", "assignedEmployeeIdentifier": "emp1" });
    world.post(&format!("{T}/T1/commands"), command.to_string()).is(202);
    let refused = world.delete("/employees/emp1").refused(409, "in_use");
    assert!(refused.json()["detail"].as_str().unwrap().contains("1 open teller"));
    world.post(&format!("{T}/T1/commands"), r#"{"action":"CLOSE"}"#).is(202);
    new["assignedEmployee"] = json!("emp1");
    world.put(&format!("{T}/T1"), new.to_string()).is(202);
    let refused = world.delete("/employees/emp1").refused(409, "in_use");
    assert_eq!(refused.json()["detail"], "employee emp1 has 1 closed teller");
    new["assignedEmployee"] = json!("");
    world.put(&format!("{T}/T1"), new.to_string()).is(202);
    world.delete("/employees/emp1").is(202);
}

#[test]
fn an_employee_with_an_open_teller_stays() {
    let counter = Counter::start();
    let world = &counter.world;
    world.post("/employees", r#"{"identifier":"emp1","givenName":"A","surname":"B"}"#).is(202);
    counter.open("T1", "emp1", "5");
    let refused = world.delete("/employees/emp1").refused(409, "in_use");
    assert_eq!(refused.json()["detail"], "employee emp1 has 1 open teller");
    counter.close("T1").is(202);
    let mut noted = change();
    noted["assignedEmployee"] = json!("emp1");
    world.put(&format!("{T}/T1"), noted.to_string()).is(202);
    world.delete("/employees/emp1").is(202);
    assert_eq!(counter.teller("T1")["assignedEmployee"], "emp1");
}
