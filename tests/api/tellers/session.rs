//! `tellers.md` sections 9, 12 and 13: a whole session, step by step.

use crate::support::counter::{Counter, digits, same};
use serde_json::{Value, json};

/// The worked example up to a step, with the accounts a and b.
fn played(steps: usize) -> (Counter, String, String) {
    let counter = Counter::active("2000");
    assert_eq!(counter.last_lines(), ["DEBIT drawer-T1 2000", "CREDIT vault 2000"]);
    same(&counter.ledger("vault"), "-2000");
    let (a, b) = (counter.account("anna"), counter.account("bela"));
    let script: [(&str, &str, Option<&str>, &str, &str); 10] = [
        ("ACCO", &a, None, "100", "included"),
        ("ACCO", &b, None, "500", "excluded"),
        ("CDPT", &a, None, "400", "included"),
        ("CDPT", &b, None, "1", "excluded"),
        ("CWDL", &a, None, "50.50", "excluded"),
        ("CWDL", &b, None, "81.50", "included"),
        ("ACCT", &a, Some(&b), "100", "excluded"),
        ("ACCT", &b, Some(&a), "200", "included"),
        ("ACCC", &a, None, "536.73", "excluded"),
        ("ACCC", &b, None, "313", "included"),
    ];
    let lines: [&[&str]; 10] = [
        &["DEBIT d 105", "CREDIT a 100", "CREDIT i 5"],
        &["DEBIT d 500", "DEBIT b 5", "CREDIT b 500", "CREDIT i 5"],
        &["DEBIT d 401.50", "CREDIT a 400", "CREDIT i 1.50"],
        &["DEBIT d 1", "DEBIT b 1.50", "CREDIT b 1", "CREDIT i 1.50"],
        &["DEBIT a 50.50", "DEBIT a 1.52", "CREDIT d 50.50", "CREDIT i 1.52"],
        &["DEBIT b 81.50", "DEBIT d 2.44", "CREDIT d 81.50", "CREDIT i 2.44"],
        &["DEBIT a 100", "DEBIT a 1.25", "CREDIT b 100", "CREDIT i 1.25"],
        &["DEBIT b 200", "DEBIT d 2.50", "CREDIT a 200", "CREDIT i 2.50"],
        &["DEBIT a 536.73", "DEBIT a 10", "CREDIT d 536.73", "CREDIT i 10"],
        &["DEBIT b 313", "DEBIT d 10", "CREDIT d 313", "CREDIT i 10"],
    ];
    let after = [
        "2105 100 0 5",
        "2605 100 495 10",
        "3006.50 500 495 11.50",
        "3007.50 500 494.50 13.00",
        "2957.00 447.98 494.50 14.52",
        "2877.94 447.98 413.00 16.96",
        "2877.94 346.73 513.00 18.21",
        "2880.44 546.73 313.00 20.71",
        "2343.71 0.00 313.00 30.71",
        "2040.71 0.00 0.00 40.71",
    ];
    for (step, (kind, account, to, amount, charges)) in script.into_iter().enumerate().take(steps) {
        counter.world.clock.advance(1);
        counter.transact(kind, account, to, amount, charges).is(202);
        let short = |line: String| {
            line.replace("drawer-T1", "d").replace(&a, "a").replace(&b, "b").replace("income", "i")
        };
        let found: Vec<_> = counter.last_lines().into_iter().map(short).collect();
        assert_eq!(found.len(), lines[step].len(), "step {}: {found:?}", step + 2);
        for (found, expected) in found.iter().zip(lines[step]) {
            let (place, amount) = found.rsplit_once(' ').unwrap();
            let (expected_place, expected_amount) = expected.rsplit_once(' ').unwrap();
            assert_eq!(place, expected_place, "step {}", step + 2);
            same(&serde_json::from_str(amount).unwrap(), expected_amount);
        }
        check(&counter, &a, &b, after[step]);
    }
    (counter, a, b)
}

/// Balances of drawer, a, b and income; the drawer also as cash on hand.
fn check(counter: &Counter, a: &str, b: &str, expected: &str) {
    let expected: Vec<_> = expected.split(' ').collect();
    same(&counter.ledger("drawer-T1"), expected[0]);
    same(&counter.balance("T1")["cashOnHand"], expected[0]);
    same(&counter.instance(a)["balance"], expected[1]);
    same(&counter.instance(b)["balance"], expected[2]);
    let income = counter.world.get("/ledger/accounts/income").is(200).json();
    same(&income["balance"], expected[3]);
}

#[test]
fn the_worked_session_comes_out_to_the_cent() {
    let (counter, a, b) = played(10);
    assert_eq!(counter.instance(&a)["state"], "CLOSED");
    assert_eq!(counter.instance(&b)["state"], "CLOSED");
    counter.pause("T1").is(202);
    counter.count("T1", "2040.00").is(202);
    assert_eq!(counter.last_lines(), ["DEBIT over-short 0.71", "CREDIT drawer-T1 0.71"]);
    same(&counter.ledger("over-short"), "0.71");
    check(&counter, &a, &b, "2040.00 0 0 40.71");
    counter.count("T1", "2045.00").is(202);
    assert_eq!(counter.last_lines(), ["DEBIT drawer-T1 5.00", "CREDIT over-short 5.00"]);
    same(&counter.ledger("over-short"), "-4.29");
    counter.command("T1", json!({ "action": "CLOSE", "adjustment": "CREDIT", "amount": 2000 })).is(202);
    assert_eq!(counter.last_lines(), ["DEBIT vault 2000", "CREDIT drawer-T1 2000"]);
    same(&counter.ledger("vault"), "0");
    check(&counter, &a, &b, "45.00 0 0 40.71");
    let balance = counter.balance("T1");
    same(&balance["cashReceivedTotal"], "3027.44");
    same(&balance["cashDisbursedTotal"], "2982.44");
    same(&balance["cashOnHand"], "45.00");
    assert_eq!(balance["cashEntries"].as_array().unwrap().len(), 15);
    let trial = counter.world.get("/ledger/trial-balance").is(200).json();
    same(&trial["totalDebit"], "45.00");
    same(&trial["totalCredit"], "45.00");
    for (account, side, amount) in
        [("drawer-T1", "debit", "45.00"), ("over-short", "credit", "4.29"), ("income", "credit", "40.71")]
    {
        let rows = trial["rows"].as_array().unwrap();
        let row = rows.iter().find(|row| row["accountIdentifier"] == account).unwrap();
        same(&row[side], amount);
    }
    counter.open("T1", "emp1", "500");
    let balance = counter.balance("T1");
    let entry = |i: usize, field: &str| balance["cashEntries"][i][field].clone();
    assert_eq!(balance["cashEntries"].as_array().unwrap().len(), 2);
    assert_eq!((entry(0, "type"), entry(0, "message")), (json!("DEBIT"), json!("Cash carried over.")));
    assert_eq!(entry(0, "transactionDate"), counter.teller("T1")["lastOpenedOn"]);
    same(&entry(0, "amount"), "45");
    assert_eq!((entry(1, "type"), entry(1, "message")), (json!("DEBIT"), json!("Teller adjustment.")));
    same(&entry(1, "amount"), "500");
    same(&balance["cashReceivedTotal"], "545");
    same(&balance["cashDisbursedTotal"], "0");
    same(&balance["cashOnHand"], "545");
}

#[test]
fn the_worked_refusals_are_refused_by_name() {
    let (counter, a, b) = played(6);
    let fresh = counter.account("cilla");
    let refused = |kind: &str, account: &str, amount: &str, charges: &str, code: &str| {
        counter.transact(kind, account, None, amount, charges).refused(409, code);
    };
    refused("ACCO", &fresh, "99.99", "included", "below_minimum_balance");
    let above = Counter::request("CWDL", &a, "1000.01");
    counter.create("T1", &above).refused(409, "over_cashdraw_limit");
    refused("CWDL", &a, "1000.00", "excluded", "insufficient_balance");
    refused("CWDL", &a, "440", "excluded", "insufficient_balance");
    refused("CWDL", &a, "340", "excluded", "below_minimum_balance");
    refused("ACCC", &a, "447.98", "excluded", "insufficient_balance");
    refused("ACCC", &a, "400", "excluded", "remaining_balance");
    check(&counter, &a, &b, "2877.94 447.98 413.00 16.96");
    let close = json!({ "action": "CLOSE", "adjustment": "CREDIT", "amount": crate::support::counter::decimal("2877.95") });
    counter.command("T1", close).refused(409, "insufficient_cash");
    assert_eq!(counter.teller("T1")["state"], "ACTIVE");
    counter.transact("CWDL", &a, None, "340", "included").is(202);
    same(&counter.instance(&a)["balance"], "107.98");
    let empty = counter.account("dora");
    counter.world.post(&format!("/instances/{empty}?command=ACTIVATE"), "").is(202);
    refused("CDPT", &empty, "1", "excluded", "insufficient_balance");
    counter.transact("CDPT", &empty, None, "1.50", "excluded").is(202);
    same(&counter.instance(&empty)["balance"], "0");
}

#[test]
fn an_account_is_closed_by_what_it_holds_after_its_charges() {
    let (counter, a, _) = played(6);
    counter.transact("ACCC", &a, None, "437.98", "excluded").is(202);
    assert_eq!(counter.instance(&a)["state"], "CLOSED");
    same(&counter.instance(&a)["balance"], "0");
}

#[test]
fn a_drawer_pays_out_what_it_holds_with_the_charges_it_takes_in() {
    let counter = Counter::start();
    counter.open("T1", "emp1", "50");
    counter.unlock("T1", "emp1");
    let account = counter.account("anna");
    counter.transact("ACCO", &account, None, "500", "included").is(202);
    let back = json!({ "action": "CLOSE", "adjustment": "CREDIT", "amount": 505 });
    counter.command("T1", back).is(202);
    counter.command("T1", json!({ "action": "OPEN", "assignedEmployeeIdentifier": "emp1" })).is(202);
    counter.unlock("T1", "emp1");
    same(&counter.balance("T1")["cashOnHand"], "50");
    counter.transact("CWDL", &account, None, "60", "included").refused(409, "insufficient_cash");
    counter.transact("CWDL", &account, None, "51.50", "included").is(202);
    same(&counter.balance("T1")["cashOnHand"], "0.04");
}

#[test]
fn a_balance_shows_its_session_and_no_other() {
    let counter = Counter::start();
    counter.teller_with(&crate::support::counter::teller("T2")).is(202);
    let never = counter.balance("T1");
    let expected = r#"{"day":null,"cashOnHand":0,"cashReceivedTotal":0,"cashDisbursedTotal":0,"chequesReceivedTotal":0,"cashEntries":null,"chequeEntries":null}"#;
    assert_eq!(never, serde_json::from_str::<Value>(expected).unwrap());
    counter.command("T1", json!({ "action": "OPEN", "assignedEmployeeIdentifier": "emp1" })).is(202);
    let opened = counter.balance("T1");
    assert_eq!(opened["day"], "2031-05-06");
    assert_eq!((&opened["cashEntries"], &opened["chequeEntries"]), (&json!([]), &json!([])));
    counter.close("T1").is(202);
    counter.open("T1", "emp1", "10");
    counter.open("T2", "emp2", "7");
    let take = json!({ "action": "CLOSE", "adjustment": "CREDIT", "amount": 4 });
    counter.command("T1", take).is(202);
    let closed = counter.balance("T1");
    let entries = closed["cashEntries"].as_array().unwrap();
    let shown: Vec<_> = entries.iter().map(|e| format!("{} {}", e["type"], digits(&e["amount"]))).collect();
    assert_eq!(shown, ["\"DEBIT\" 10", "\"CREDIT\" 4"]);
    same(&closed["cashOnHand"], "6");
    counter.world.clock.advance(24 * 3600);
    counter.command("T1", json!({ "action": "OPEN", "assignedEmployeeIdentifier": "emp1" })).is(202);
    let next = counter.balance("T1");
    assert_eq!(next["day"], "2031-05-07");
    assert_eq!(next["cashEntries"].as_array().unwrap().len(), 1);
    same(&next["cashReceivedTotal"], "6");
    same(&next["cashDisbursedTotal"], "0");
}

#[test]
fn tellers_that_share_an_account_count_their_own_cash() {
    let counter = Counter::start();
    for (code, employee) in [("S1", "emp7"), ("S2", "emp8")] {
        let mut shared = crate::support::counter::teller(code);
        shared["tellerAccountIdentifier"] = json!("box");
        shared["vaultAccountIdentifier"] = json!("box");
        counter.teller_with(&shared).is(202);
        counter.open(code, employee, "30");
    }
    same(&counter.balance("S1")["cashOnHand"], "30");
    same(&counter.balance("S2")["cashOnHand"], "30");
    same(&counter.ledger("box"), "0");
    let too_much = json!({ "action": "CLOSE", "adjustment": "CREDIT", "amount": 31 });
    counter.command("S1", too_much).refused(409, "insufficient_cash");
}
