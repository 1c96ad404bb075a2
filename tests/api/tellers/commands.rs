//! `tellers.md` section 3: OPEN and CLOSE.

use crate::support::counter::{Counter, decimal, plain_product, same, teller};
use serde_json::{Value, json};

#[test]
fn each_bad_field_of_a_command_is_named() {
    let counter = Counter::start();
    for (command, fields) in [
        (json!({ "action": "PAUSE" }), vec!["/action unknown_value"]),
        (json!({}), vec!["/action required"]),
        (json!({ "action": "OPEN", "adjustment": "SOME" }), vec!["/adjustment unknown_value"]),
        (json!({ "action": "OPEN", "adjustment": "NONE", "amount": 5 }), vec!["/amount out_of_range"]),
        (json!({ "action": "OPEN", "amount": 5 }), vec!["/amount out_of_range"]),
        (json!({ "action": "OPEN", "adjustment": "DEBIT", "amount": -1 }), vec!["/amount out_of_range"]),
        (json!({ "action": "OPEN", "adjustment": "DEBIT", "amount": "1" }), vec!["/amount wrong_type"]),
        (
            json!({ "action": "X", "adjustment": "NONE", "amount": 5 }),
            vec!["/action unknown_value", "/amount out_of_range"],
        ),
        (
            json!({ "action": "OPEN", "assignedEmployeeIdentifier": "x".repeat(33) }),
            vec!["/assignedEmployeeIdentifier too_long"],
        ),
    ] {
        counter.command("T1", command).fields(&fields);
    }
    let ignored = json!({ "action": "close", "assignedEmployeeIdentifier": "x".repeat(33) });
    counter.command("T1", ignored).refused(409, "wrong_state");
}

#[test]
fn opening_assigns_the_employee_and_brings_cash() {
    let counter = Counter::start();
    counter.command("T1", json!({ "action": "OPEN" })).refused(400, "employee_required");
    let blank = json!({ "action": "OPEN", "assignedEmployeeIdentifier": "" });
    counter.command("T1", blank).refused(400, "employee_required");
    let credit = json!({
        "action": "open", "adjustment": "credit", "amount": 1, "assignedEmployeeIdentifier": "emp1"
    });
    counter.command("T1", credit).refused(409, "insufficient_cash");
    assert_eq!(counter.teller("T1")["state"], "CLOSED");
    counter.open("T1", "emp1", "2000");
    let opened = counter.teller("T1");
    assert_eq!((&opened["state"], &opened["assignedEmployee"]), (&json!("OPEN"), &json!("emp1")));
    assert_eq!((&opened["lastOpenedBy"], &opened["lastModifiedBy"]), (&json!("guest"), &json!("guest")));
    assert_eq!(opened["lastOpenedOn"], "2031-05-06T07:08:09.123Z");
    assert_eq!(counter.last_lines(), ["DEBIT drawer-T1 2000", "CREDIT vault 2000"]);
    let entry = counter.journal().pop().unwrap();
    assert_eq!((&entry["type"], &entry["message"]), (&json!("DAJT"), &json!("Teller adjustment.")));
    assert_eq!((&entry["tellerCode"], &entry["clerk"]), (&json!("T1"), &json!("guest")));
    assert_eq!(entry["tellerTransactionIdentifier"], Value::Null);
    same(&counter.ledger("vault"), "-2000");
    counter.command("T1", json!({ "action": "OPEN" })).refused(409, "wrong_state");
}

#[test]
fn the_employee_noted_on_a_closed_teller_opens_it_and_blocks_no_one() {
    let counter = Counter::start();
    let mut second = teller("T2");
    second["assignedEmployee"] = json!("emp1");
    counter.teller_with(&second).is(202);
    counter.open("T1", "emp1", "0");
    counter.command("T2", json!({ "action": "OPEN" })).refused(409, "employee_has_open_teller");
    counter.close("T1").is(202);
    assert_eq!(counter.teller("T1")["assignedEmployee"], Value::Null);
    counter.command("T2", json!({ "action": "OPEN" })).is(202);
    assert_eq!(counter.teller("T2")["assignedEmployee"], "emp1");
    assert!(counter.journal().is_empty(), "nothing was moved");
}

#[test]
fn closing_gives_cash_back_and_cancels_what_is_pending() {
    let counter = Counter::active("100");
    let account = counter.account("anna");
    let pending = counter.quote(&Counter::request("ACCO", &account, "100"));
    let confirmed = counter.quote(&Counter::request("ACCO", &account, "200"));
    counter.finish("T1", &confirmed, "command=CONFIRM&charges=included").is(202);
    let more = json!({ "action": "CLOSE", "adjustment": "CREDIT", "amount": decimal("305.01") });
    counter.command("T1", more).refused(409, "insufficient_cash");
    let some = json!({ "action": "CLOSE", "adjustment": "CREDIT", "amount": decimal("300") });
    counter.command("T1", some).is(202);
    assert_eq!(counter.last_lines(), ["DEBIT vault 300", "CREDIT drawer-T1 300"]);
    assert_eq!(counter.journal().pop().unwrap()["type"], "CAJT");
    let closed = counter.teller("T1");
    assert_eq!((&closed["state"], &closed["assignedEmployee"]), (&json!("CLOSED"), &Value::Null));
    assert_eq!(closed["lastOpenedBy"], "guest");
    same(&counter.balance("T1")["cashOnHand"], "5");
    let listed = counter.world.get("/teller/T1/transactions").is(200).json();
    assert_eq!((&listed[0]["identifier"], &listed[0]["state"]), (&json!(pending), &json!("CANCELED")));
    assert_eq!(listed[1]["state"], "CONFIRMED");
    assert_eq!(listed[0]["finishedOn"], "2031-05-06T07:08:09.123Z");
}

#[test]
fn a_closing_may_bring_cash_and_an_opening_may_take_it() {
    let counter = Counter::start();
    counter.open("T1", "emp1", "10");
    counter.command("T1", json!({ "action": "CLOSE", "adjustment": "DEBIT", "amount": 5 })).is(202);
    same(&counter.balance("T1")["cashOnHand"], "15");
    let open = json!({
        "action": "OPEN", "adjustment": "CREDIT", "amount": 15, "assignedEmployeeIdentifier": "emp1"
    });
    counter.command("T1", open).is(202);
    same(&counter.balance("T1")["cashOnHand"], "0");
    same(&counter.ledger("vault"), "0");
}

#[test]
fn where_a_count_is_required_a_teller_closes_after_one() {
    let counter = Counter::start();
    let mut careful = teller("T2");
    careful["denominationRequired"] = json!(true);
    counter.teller_with(&careful).is(202);
    for _ in 0..2 {
        counter.command("T2", json!({ "action": "OPEN", "assignedEmployeeIdentifier": "emp2" })).is(202);
        let close = json!({ "action": "CLOSE", "adjustment": "CREDIT", "amount": 999 });
        counter.command("T2", close).refused(409, "denomination_required");
        counter.unlock("T2", "emp2");
        counter.pause("T2").is(202);
        counter.count("T2", "0").is(202);
        counter.close("T2").is(202);
    }
}

#[test]
fn accounts_of_two_currencies_are_never_joined() {
    let counter = Counter::active("100");
    counter.define(&plain_product("euro", "EUR", 2));
    let (dollars, euros) = (counter.account("anna"), counter.account_of("bela", "euro"));
    counter.transact("ACCO", &dollars, None, "100", "included").is(202);
    // The vault takes the currency of the drawer that brings cash to it.
    counter.command("T1", json!({ "action": "CLOSE", "adjustment": "CREDIT", "amount": 1 })).is(202);
    counter.command("T1", json!({ "action": "OPEN", "assignedEmployeeIdentifier": "emp1" })).is(202);
    counter.unlock("T1", "emp1");
    let mut request = Counter::request("ACCO", &euros, "100");
    request["productIdentifier"] = json!("euro");
    counter.create("T1", &request).refused(409, "currency_mismatch");
    // Another drawer takes euros; then its vault cannot be the one of the dollars.
    counter.teller_with(&teller("T2")).is(202);
    counter.command("T2", json!({ "action": "OPEN", "assignedEmployeeIdentifier": "emp2" })).is(202);
    counter.unlock("T2", "emp2");
    let quote = counter.create("T2", &request).is(200).json();
    let transaction = quote["tellerTransactionIdentifier"].as_str().unwrap();
    counter.finish("T2", transaction, "command=CONFIRM").is(202);
    let close = json!({ "action": "CLOSE", "adjustment": "CREDIT", "amount": 100 });
    counter.command("T2", close).refused(409, "currency_mismatch");
    counter.close("T2").is(202);
    let open = json!({
        "action": "OPEN", "adjustment": "CREDIT", "amount": 100, "assignedEmployeeIdentifier": "emp2"
    });
    counter.command("T2", open).refused(409, "currency_mismatch");
    assert_eq!(counter.teller("T2")["state"], "CLOSED");
    let moved = json!({ "code": "T2", "password": "4711", "tellerAccountIdentifier": "drawer-T1" });
    let put = counter.world.put("/offices/accra/teller/T2", moved.to_string());
    put.refused(409, "currency_mismatch");
    let transfer = |code: &str, from: &str, to: &str| {
        let mut request = Counter::request("ACCT", from, "1");
        request["targetAccountIdentifier"] = json!(to);
        counter.create(code, &request)
    };
    transfer("T1", &dollars, &euros).refused(409, "currency_mismatch");
}
