//! Day reports: numbered by the daemon, written once, never changed. And transactions one by one.

use crate::support::counter::{Counter, digits, same, teller};
use serde_json::{Value, json};

fn reports(counter: &Counter, code: &str) -> Value {
    counter.world.get(&format!("/offices/accra/teller/{code}/reports")).is(200).json()
}

#[test]
fn a_report_sums_up_what_the_session_came_to() {
    let counter = Counter::active("2000");
    let account = counter.account("anna");
    counter.transact("ACCO", &account, None, "500", "included").is(202);
    counter.transact("CDPT", &account, None, "100.50", "excluded").is(202);
    counter.transact("CWDL", &account, None, "50", "included").is(202);
    counter.pause("T1").is(202);
    counter.count("T1", "2556.00").is(202);
    counter.count("T1", "2560").is(202);
    counter.world.clock.advance(3600);
    counter.command("T1", json!({ "action": "CLOSE", "adjustment": "CREDIT", "amount": 2500 })).is(202);
    let report = counter.world.get("/offices/accra/teller/T1/reports/1").is(200);
    // A charge in cash and the payment are two movements of the drawer.
    let expected = r#"{"number":1,"officeIdentifier":"accra","tellerCode":"T1","employeeIdentifier":"emp1","day":"2031-05-06","openedOn":"2031-05-06T07:08:09.123Z","openedBy":"guest","closedOn":"2031-05-06T08:08:09.123Z","closedBy":"guest","movements":[{"message":"Teller adjustment.","count":2,"received":2000,"disbursed":2500},{"message":"ACCO","count":1,"received":505,"disbursed":0},{"message":"CDPT","count":1,"received":100.50,"disbursed":0},{"message":"CWDL","count":2,"received":1.50,"disbursed":50},{"message":"Teller denomination adjustment.","count":2,"received":4.00,"disbursed":1.00}],"cashReceivedTotal":2611.00,"cashDisbursedTotal":2551.00,"expectedTotal":2557.00,"countedTotal":2560,"difference":3.00,"cashOnHand":60.00}"#;
    assert_eq!(report.text(), expected);
    assert_eq!(reports(&counter, "T1"), json!([report.json()]));
    let balance = counter.balance("T1");
    for (of_report, of_balance) in [
        ("cashReceivedTotal", "cashReceivedTotal"),
        ("cashDisbursedTotal", "cashDisbursedTotal"),
        ("cashOnHand", "cashOnHand"),
    ] {
        assert_eq!(report.json()[of_report], balance[of_balance]);
    }
}

#[test]
fn what_was_not_counted_has_no_difference() {
    let counter = Counter::start();
    counter.open("T1", "emp1", "5");
    counter.close("T1").is(202);
    let report = counter.world.get("/offices/accra/teller/T1/reports/latest").is(200).json();
    for property in ["expectedTotal", "countedTotal", "difference"] {
        assert_eq!(report[property], Value::Null);
    }
    same(&report["cashOnHand"], "5");
}

#[test]
fn numbers_run_without_gaps_for_each_teller_and_reports_never_change() {
    let counter = Counter::start();
    counter.teller_with(&teller("T2")).is(202);
    assert_eq!(reports(&counter, "T1"), json!([]));
    let mut first = String::new();
    for session in 1..=3 {
        counter.open("T1", "emp1", "10");
        // What is refused takes no number.
        let too_much = json!({ "action": "CLOSE", "adjustment": "CREDIT", "amount": 1000 });
        counter.command("T1", too_much).refused(409, "insufficient_cash");
        counter.close("T1").is(202);
        counter.close("T1").refused(409, "wrong_state");
        assert_eq!(reports(&counter, "T1").as_array().unwrap().len(), session);
        let one = counter.world.get("/offices/accra/teller/T1/reports/1").text();
        first = if session == 1 { one } else { assert_same(one, first) };
    }
    counter.open("T2", "emp2", "1");
    counter.close("T2").is(202);
    let numbers = |code: &str| {
        let found = reports(&counter, code);
        found.as_array().unwrap().iter().map(|report| digits(&report["number"])).collect::<Vec<_>>()
    };
    assert_eq!((numbers("T1"), numbers("T2")), (vec!["1".into(), "2".into(), "3".into()], vec!["1".into()]));
}

#[track_caller]
fn assert_same(found: String, expected: String) -> String {
    assert_eq!(found, expected);
    found
}

#[test]
fn of_closings_at_once_one_writes_a_report() {
    let counter = Counter::start();
    counter.open("T1", "emp1", "5");
    let close = || {
        let path = "/offices/accra/teller/T1/commands";
        counter.world.request("POST", path).body(r#"{"action":"CLOSE"}"#)
    };
    let answers = counter.world.send_all((0..8).map(|_| close()).collect());
    assert_eq!(answers.iter().filter(|answer| answer.status == 202).count(), 1);
    assert_eq!(reports(&counter, "T1").as_array().unwrap().len(), 1);
}

#[test]
fn a_report_is_found_by_its_number_under_its_teller_only() {
    let counter = Counter::start();
    counter.open("T1", "emp1", "5");
    let get = |path: &str| counter.world.get(&format!("/offices/{path}"));
    get("accra/teller/T1/reports/latest").refused(404, "report_not_found");
    counter.close("T1").is(202);
    for number in ["0", "2", "01", "+1", "one", "-1", "99999999999999999999"] {
        get(&format!("accra/teller/T1/reports/{number}")).refused(404, "report_not_found");
    }
    for path in ["reports", "reports/1"] {
        get(&format!("none/teller/T1/{path}")).refused(404, "office_not_found");
        get(&format!("accra/teller/T9/{path}")).refused(404, "teller_not_found");
    }
    assert_eq!(get("accra/teller/T1/reports/1").text(), get("accra/teller/T1/reports/latest").text());
}

#[test]
fn a_transaction_reads_the_same_alone_and_in_a_list() {
    let counter = Counter::active("100");
    counter.teller_with(&teller("T2")).is(202);
    let account = counter.account("anna");
    let transaction = counter.quote(&Counter::request("ACCO", &account, "100"));
    let path = format!("/teller/T1/transactions/{transaction}");
    let listed = |query: &str| counter.world.get(&format!("/teller/T1/transactions{query}")).is(200).json();
    assert_eq!(counter.world.get(&path).is(200).json(), listed("?status=PENDING")[0]);
    counter.finish("T1", &transaction, "command=CONFIRM").is(202);
    assert_eq!(counter.world.get(&path).is(200).json()["state"], "CONFIRMED");
    assert_eq!(listed("?status=PENDING"), json!([]));
    assert_eq!(counter.world.get(&path).json(), listed("")[0]);
    counter.world.get("/teller/T9/transactions/x").refused(404, "teller_not_found");
    counter.world.get("/teller/T1/transactions/x").refused(404, "transaction_not_found");
    let elsewhere = counter.world.get(&format!("/teller/T2/transactions/{transaction}"));
    elsewhere.refused(404, "transaction_not_found");
}

#[test]
fn identifiers_of_transactions_sort_by_the_moment_in_which_they_were_made() {
    let counter = Counter::active("100");
    let account = counter.account("anna");
    let request = Counter::request("ACCO", &account, "100");
    let create = || {
        counter.world.clock.advance(1);
        let quote = counter.create("T1", &request).is(200).json();
        quote["tellerTransactionIdentifier"].as_str().unwrap().to_owned()
    };
    let made: Vec<_> = (0..5).map(|_| create()).collect();
    assert!(made.is_sorted(), "{made:?}");
}
