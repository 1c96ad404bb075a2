//! Receipts: numbered by the daemon for each teller, written once; later ones are copies.

use crate::support::counter::{Counter, same, teller};
use crate::support::world::Seen;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// A confirmed transaction at a teller; its identifier.
fn confirmed(counter: &Counter, code: &str, kind: &str, account: &str, amount: &str) -> String {
    let quote = counter.create(code, &Counter::request(kind, account, amount)).is(200).json();
    let transaction = quote["tellerTransactionIdentifier"].as_str().unwrap().to_owned();
    counter.finish(code, &transaction, "command=CONFIRM&charges=excluded").is(202);
    transaction
}

fn issue(counter: &Counter, code: &str, transaction: &str) -> Seen {
    counter.world.post(&format!("/teller/{code}/transactions/{transaction}/receipt"), "")
}

fn read(counter: &Counter, code: &str, number: &str) -> Seen {
    counter.world.get(&format!("/offices/accra/teller/{code}/receipts/{number}"))
}

/// Number and copy.
fn place(receipt: &Value) -> (u64, u64) {
    (receipt["number"].as_u64().unwrap(), receipt["copy"].as_u64().unwrap())
}

fn anna(counter: &Counter) {
    let anna = json!({ "identifier": "anna", "givenName": "Anna", "middleName": " ", "surname": "Mensah" });
    counter.world.post("/customers", anna.to_string()).is(202);
}

#[test]
fn a_receipt_shows_everything_that_is_printed_on_it() {
    let counter = Counter::active("2000");
    anna(&counter);
    let account = counter.account("anna");
    confirmed(&counter, "T1", "ACCO", &account, "500");
    let transaction = confirmed(&counter, "T1", "CDPT", &account, "100.50");
    let entry = counter.journal().pop().unwrap();
    // It does not show what happens later.
    counter.transact("CWDL", &account, None, "50", "included").is(202);
    counter.world.clock.advance(60);
    let receipt = issue(&counter, "T1", &transaction).is(200);
    let expected = format!(
        r#"{{"number":1,"copy":1,"issuedOn":"2031-05-06T07:09:09.123Z","issuedBy":"guest","officeIdentifier":"accra","officeName":"Accra","tellerCode":"T1","clerk":"guest","transactionIdentifier":"{transaction}","transactionType":"CDPT","transactionDate":"2031-05-06T07:08:09.123Z","confirmedOn":"2031-05-06T07:08:09.123Z","journalEntryIdentifier":{},"customerIdentifier":"anna","customerName":"Anna Mensah","productIdentifier":"saver","customerAccountIdentifier":"{account}","targetAccountIdentifier":null,"currency":{{"code":"USD","name":"Dollar","sign":"$","scale":2}},"amount":100.50,"charges":[{{"code":"Deposit","incomeAccountIdentifier":"income","name":"Deposit","amount":1.50}}],"chargesIncluded":false,"totalAmount":102.00,"balance":594.00}}"#,
        entry["identifier"]
    );
    assert_eq!(receipt.text(), expected);
    assert_eq!(read(&counter, "T1", "1").is(200).text(), expected);
}

#[test]
fn a_receipt_of_what_moved_no_money_has_no_entry_and_no_balance() {
    let counter = Counter::active("5");
    counter.define(&crate::support::counter::plain_product("plain", "USD", 2));
    let account = counter.account_of("anna", "plain");
    let mut request = Counter::request("ACCO", &account, "0");
    request["productIdentifier"] = json!("plain");
    let transaction = counter.quote(&request);
    counter.finish("T1", &transaction, "command=CONFIRM").is(202);
    let receipt = issue(&counter, "T1", &transaction).is(200).json();
    for property in ["journalEntryIdentifier", "balance", "customerName"] {
        assert_eq!(receipt[property], Value::Null, "{property}");
    }
    same(&receipt["totalAmount"], "0");
}

#[test]
fn each_teller_numbers_receipts_without_gaps_and_reprints_are_copies() {
    let mut counter = Counter::active("2000");
    counter.teller_with(&teller("T2")).is(202);
    counter.open("T2", "emp2", "100");
    counter.unlock("T2", "emp2");
    anna(&counter);
    let account = counter.account("anna");
    let first = confirmed(&counter, "T1", "ACCO", &account, "500");
    let second = confirmed(&counter, "T1", "CDPT", &account, "20");
    let elsewhere = confirmed(&counter, "T2", "CDPT", &account, "30");
    // In the order in which they are asked for.
    let original = issue(&counter, "T1", &second).is(200).json();
    assert_eq!(place(&original), (1, 1));
    assert_eq!(place(&issue(&counter, "T1", &first).is(200).json()), (2, 1));
    assert_eq!(place(&issue(&counter, "T2", &elsewhere).is(200).json()), (1, 1));
    // A reprint says what the original says, whatever has changed since, also behind a restart.
    counter
        .world
        .put("/customers/anna", json!({ "identifier": "anna", "surname": "Owusu" }).to_string())
        .is(202);
    counter.world.clock.advance(3600);
    counter.world.restart();
    for copy in 2..=4 {
        let mut expected = original.clone();
        expected["copy"] = json!(copy);
        assert_eq!(issue(&counter, "T1", &second).is(200).json(), expected);
        assert_eq!(read(&counter, "T1", "1").is(200).json(), expected, "a read counts as no copy");
    }
    assert_eq!(place(&read(&counter, "T1", "2").is(200).json()), (2, 1));
    for number in ["0", "3", "01", "+1", "latest", "99999999999999999999"] {
        read(&counter, "T1", number).refused(404, "receipt_not_found");
    }
    read(&counter, "T9", "1").refused(404, "teller_not_found");
}

#[test]
fn only_a_confirmed_transaction_of_a_teller_at_work_has_a_receipt() {
    let counter = Counter::active("2000");
    counter.teller_with(&teller("T2")).is(202);
    let account = counter.account("anna");
    let done = confirmed(&counter, "T1", "ACCO", &account, "500");
    let pending = counter.quote(&Counter::request("CDPT", &account, "5"));
    let cancelled = counter.quote(&Counter::request("CDPT", &account, "6"));
    counter.finish("T1", &cancelled, "command=CANCEL").is(202);
    issue(&counter, "T1", &pending).refused(409, "wrong_state");
    issue(&counter, "T1", &cancelled).refused(409, "wrong_state");
    issue(&counter, "T1", "none").refused(404, "transaction_not_found");
    issue(&counter, "T9", &done).refused(404, "teller_not_found");
    issue(&counter, "T2", &done).refused(409, "wrong_state");
    counter.open("T2", "emp2", "1");
    issue(&counter, "T2", &done).refused(409, "other_teller");
    read(&counter, "T1", "1").refused(404, "receipt_not_found");
    // Paper moves no money, so the drawer may be locked.
    counter.pause("T1").is(202);
    assert_eq!(place(&issue(&counter, "T1", &done).is(200).json()), (1, 1));
    counter.close("T1").is(202);
    issue(&counter, "T1", &done).refused(409, "wrong_state");
    assert_eq!(place(&read(&counter, "T1", "1").is(200).json()), (1, 1));
}

#[test]
fn a_retry_with_its_key_adds_no_copy_and_a_dry_run_takes_no_number() {
    let counter = Counter::active("2000");
    let account = counter.account("anna");
    let done = confirmed(&counter, "T1", "ACCO", &account, "500");
    let send = |header: (&str, &str)| {
        let path = format!("/teller/T1/transactions/{done}/receipt");
        counter.world.send(counter.world.request("POST", &path).header(header.0, header.1)).is(200)
    };
    assert_eq!(place(&send(("dry-run", "true")).json()), (1, 1));
    read(&counter, "T1", "1").refused(404, "receipt_not_found");
    let first = send(("idempotency-key", "k1")).text();
    for _ in 0..3 {
        let again = send(("idempotency-key", "k1"));
        assert_eq!((again.header("idempotency-replayed").as_str(), again.text()), ("true", first.clone()));
    }
    assert_eq!(place(&read(&counter, "T1", "1").json()), (1, 1));
    assert_eq!(place(&send(("idempotency-key", "k2")).json()), (1, 2));
}

#[test]
fn concurrent_receipts_have_numbers_without_gaps_and_counted_copies() {
    const TRANSACTIONS: usize = 12;
    let counter = Counter::active("2000");
    let account = counter.account("anna");
    confirmed(&counter, "T1", "ACCO", &account, "500");
    let transactions: Vec<_> =
        (0..TRANSACTIONS).map(|_| confirmed(&counter, "T1", "CDPT", &account, "5")).collect();
    // Each of them twice, and all of them at the same time; on PostgreSQL at two daemons.
    let requests = transactions.iter().flat_map(|transaction| {
        let path = format!("/teller/T1/transactions/{transaction}/receipt");
        [0, 1].map(|_| counter.world.request("POST", &path))
    });
    let answers = counter.world.insist_all(requests.collect());
    let places: BTreeSet<_> = answers.into_iter().map(|answer| place(&answer.is(200).json())).collect();
    let expected: BTreeSet<_> =
        (1..=TRANSACTIONS as u64).flat_map(|number| [(number, 1), (number, 2)]).collect();
    assert_eq!(places, expected);
}

#[test]
fn the_trail_records_who_issued_each_receipt_and_copy() {
    let counter = Counter::active("2000");
    let account = counter.account("anna");
    let done = confirmed(&counter, "T1", "ACCO", &account, "500");
    let receipt = issue(&counter, "T1", &done).is(200).json();
    issue(&counter, "T1", &done).is(200);
    if counter.world.config().store.postgres().is_some() {
        std::thread::sleep(std::time::Duration::from_millis(300));
    }
    let trail = counter.world.get("/audit?resource=receipt/accra/T1/1&sortDirection=ASC").is(200).json();
    let records = trail["records"].as_array().unwrap();
    assert_eq!(records.len(), 2, "{trail}");
    for record in records {
        assert_eq!((&record["operation"], &record["outcome"]), (&json!("IssueReceipt"), &json!("DONE")));
        let affects = [format!("transaction/T1/{done}"), format!("account/{account}")];
        assert_eq!(record["affects"], json!(affects));
    }
    assert_eq!(records[0]["changes"], json!([{ "field": "", "before": null, "after": receipt }]));
    assert_eq!(records[1]["changes"], json!([{ "field": "/copy", "before": 1, "after": 2 }]));
}
