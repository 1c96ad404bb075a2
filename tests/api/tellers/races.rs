//! Many clients at once: nothing is lost, nothing is booked twice, nothing is overdrawn.

use crate::support::counter::{Counter, plain_product, same, teller};
use crate::support::world::World;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Clients that ask at the same time.
pub const CLIENTS: usize = 32;
/// Drawers at which they ask.
pub const TELLERS: usize = 4;
const ACCOUNTS: usize = 10;
const ROUNDS: usize = 4;

/// Four open drawers and ten accounts with 100 each.
pub fn branch(world: World) -> (Counter, Vec<String>) {
    let counter = Counter::with(world);
    counter.define(&plain_product("plain", "USD", 2));
    for number in 1..=TELLERS {
        let code = format!("T{number}");
        if number > 1 {
            counter.teller_with(&teller(&code)).is(202);
        }
        counter.open(&code, &format!("emp{number}"), "100");
        counter.unlock(&code, &format!("emp{number}"));
    }
    let accounts: Vec<_> = (0..ACCOUNTS).map(|_| counter.account_of("anna", "plain")).collect();
    for account in &accounts {
        let mut request = Counter::request("ACCO", account, "100");
        request["productIdentifier"] = json!("plain");
        let transaction = counter.quote(&request);
        counter.finish("T1", &transaction, "command=CONFIRM").is(202);
    }
    (counter, accounts)
}

/// The transactions of one round: who asks for what at which teller.
fn wishes(accounts: &[String], round: usize) -> Vec<(String, Value)> {
    let wish = |client: usize| {
        let account = &accounts[(client * 3 + round) % ACCOUNTS];
        let (kind, amount) =
            [("CWDL", "35.01"), ("ACCT", "12.50"), ("CDPT", "7"), ("CWDL", "60")][client % 4];
        let mut request = Counter::request(kind, account, amount);
        request["productIdentifier"] = json!("plain");
        request["targetAccountIdentifier"] = json!(accounts[(client * 3 + round + 1) % ACCOUNTS]);
        (format!("T{}", client % TELLERS + 1), request)
    };
    (0..CLIENTS).map(wish).collect()
}

#[test]
fn many_clients_at_four_drawers_book_every_confirmed_transaction_once() {
    let (mut counter, accounts) = branch(World::start());
    let mut confirmed: BTreeMap<String, Value> = BTreeMap::new();
    for round in 0..ROUNDS {
        let wishes = wishes(&accounts, round);
        let creates = wishes.iter().map(|(code, request)| {
            counter.world.request("POST", &format!("/teller/{code}/transactions")).body(request.to_string())
        });
        let quotes = counter.world.send_all(creates.collect());
        let transactions: Vec<(String, String, Value)> = quotes
            .into_iter()
            .zip(wishes)
            .map(|(quote, (code, request))| {
                let quote = quote.is(200).json();
                (code, quote["tellerTransactionIdentifier"].as_str().unwrap().to_owned(), request)
            })
            .collect();
        // Every client sends its confirmation twice at once, as after an answer that was lost.
        let confirms = transactions.iter().flat_map(|(code, transaction, _)| {
            let path = format!("/teller/{code}/transactions/{transaction}?command=CONFIRM");
            let send = || counter.world.request("POST", &path).header("idempotency-key", transaction);
            [send(), send()]
        });
        let answers = counter.world.send_all(confirms.collect());
        for (answers, (_, transaction, request)) in answers.chunks(2).zip(transactions) {
            // A refusal is not remembered: of two sendings one may come before and one after the
            // deposit that makes it possible. Done is done once, whatever the answers say.
            let done = answers.iter().filter(|a| a.status == 202);
            let (replayed, first): (Vec<_>, Vec<_>) =
                done.partition(|a| a.header("idempotency-replayed") == "true");
            assert!(first.len() <= 1 && replayed.len() <= first.len(), "booked twice: {transaction}");
            for refused in answers.iter().filter(|a| a.status != 202) {
                let code = refused.json()["code"].as_str().unwrap_or_default().to_owned();
                let known = ["insufficient_balance", "insufficient_cash", "below_minimum_balance"];
                assert!(refused.status == 409 && known.contains(&code.as_str()), "{code}");
            }
            if !first.is_empty() {
                assert!(confirmed.insert(transaction, request).is_none());
            }
        }
        if round % 2 == 1 {
            counter.world.restart();
        }
    }
    assert!(confirmed.len() > CLIENTS, "most of them could be paid");
    check(&counter, &accounts, &confirmed);
}

/// The books have every confirmed transaction once and nothing else, and nothing is below 0.
pub fn check(counter: &Counter, accounts: &[String], confirmed: &BTreeMap<String, Value>) {
    let amount = |value: &Value| mfa_shared::amount::Amount::parse(&value.to_string()).unwrap();
    let journal = counter.journal();
    let booked: Vec<_> =
        journal.iter().filter_map(|entry| entry["tellerTransactionIdentifier"].as_str()).collect();
    assert_eq!(booked.len(), confirmed.len() + accounts.len(), "an entry for each, and for each opening");
    let once: BTreeSet<_> = booked.iter().copied().collect();
    assert_eq!(once.len(), booked.len(), "no transaction has two entries");
    for transaction in confirmed.keys() {
        assert!(once.contains(transaction.as_str()), "{transaction} is not in the journal");
    }
    let sequences: Vec<_> = journal.iter().map(|entry| entry["sequence"].as_i64().unwrap()).collect();
    assert!(sequences.iter().zip(1..).all(|(found, expected)| *found == expected), "no gaps");
    for account in accounts {
        let mut expected = amount(&json!(100));
        for request in confirmed.values() {
            let moved = amount(&request["amount"]);
            let (kind, own) =
                (&request["transactionType"], request["customerAccountIdentifier"] == **account);
            match (kind.as_str().unwrap(), own) {
                ("CDPT", true) => expected = expected.plus(moved),
                ("CWDL" | "ACCT", true) => expected = expected.minus(moved),
                ("ACCT", false) if request["targetAccountIdentifier"] == **account => {
                    expected = expected.plus(moved);
                }
                _ => {}
            }
        }
        assert!(!expected.is_negative(), "{account} was overdrawn");
        same(&counter.instance(account)["balance"], &expected.to_string());
    }
    for number in 1..=TELLERS {
        let code = format!("T{number}");
        let balance = counter.balance(&code);
        assert!(!amount(&balance["cashOnHand"]).is_negative());
        same(&counter.ledger(&format!("drawer-{code}")), &balance["cashOnHand"].to_string());
    }
    let trial = counter.world.get("/ledger/trial-balance").is(200).json();
    assert_eq!(amount(&trial["totalDebit"]), amount(&trial["totalCredit"]));
}

#[test]
fn of_two_openings_by_one_employee_one_succeeds() {
    let counter = Counter::start();
    let codes: Vec<_> = (2..8).map(|number| format!("T{number}")).collect();
    for code in &codes {
        counter.teller_with(&teller(code)).is(202);
    }
    let open = json!({ "action": "OPEN", "assignedEmployeeIdentifier": "emp1" }).to_string();
    let requests = codes.iter().map(|code| {
        counter.world.request("POST", &format!("/offices/accra/teller/{code}/commands")).body(open.clone())
    });
    let answers = counter.world.send_all(requests.collect());
    assert_eq!(answers.iter().filter(|answer| answer.status == 202).count(), 1);
    assert!(answers.iter().filter(|answer| answer.status != 202).all(|answer| answer.status == 409));
}

#[test]
fn wrong_passwords_that_come_at_once_are_all_counted() {
    let counter = Counter::start();
    counter.open("T1", "emp1", "5");
    let body = json!({ "employeeIdentifier": "emp1", "password": "wrong" }).to_string();
    let requests = (0..12).map(|_| counter.world.request("POST", "/teller/T1/drawer").body(body.clone()));
    let answers = counter.world.send_all(requests.collect());
    let with = |status: u16| answers.iter().filter(|answer| answer.status == status).count();
    assert_eq!((with(403), with(429)), (5, 7));
}
