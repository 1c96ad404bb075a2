//! Long lists as `application/x-ndjson`: one record a line, never as a whole in memory, and the ledger as one
//! moment.

use crate::support::counter::Counter;
use crate::support::stored;
use crate::support::world::World;
use mfa_daemon::ops::{Caller, instances};
use mfa_daemon::store::Tx;
use mfa_shared::amount::Amount;
use mfa_shared::api::instances::{CreateInstance, NewInstance};
use mfa_shared::api::ledger::AccountKind::{Asset, Expense};
use mfa_shared::api::ledger::LedgerAccount;
use mfa_shared::wire::Json;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use tokio::task::JoinHandle;

/// More than a stream reads at once.
const ACCOUNTS: usize = 1_203;
/// Offices that are never removed.
const STAY: usize = 350;

/// A counter with an account `anna.9100.00001` that is open, and many more of one customer.
fn crowded() -> Counter {
    let mut counter = Counter::active("1000");
    let account = counter.account("anna");
    counter.transact("ACCO", &account, None, "100", "included").is(202);
    counter.world.stop();
    let store = stored::open(counter.world.config(), counter.world.clock.clone());
    counter.world.block_on(async move {
        let make = |tx: &mut Tx<'_>| {
            let new = NewInstance {
                customer_identifier: "c-1".to_owned(),
                product_identifier: "saver".to_owned(),
                alternative_account_number: None,
                beneficiaries: None,
            };
            (0..ACCOUNTS).try_for_each(|_| {
                instances::create(tx, &Caller::guest(), &CreateInstance {}, &Json(new.clone())).map(drop)
            })
        };
        store.write("test", make).await.unwrap();
        store.close().await;
    });
    counter.world.restart();
    counter
}

fn streamed(world: &World, path: &str) -> Vec<Value> {
    let request = world.request("GET", path).header("accept", "application/x-ndjson");
    let streamed = world.send(request).is(200);
    assert_eq!(streamed.header("content-type"), "application/x-ndjson");
    assert_eq!(streamed.header("content-length"), "", "the length is not known beforehand");
    streamed.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn many_accounts_of_a_product_are_streamed_one_a_line() {
    let counter = crowded();
    for (path, count) in
        [("/definitions/saver/instances", ACCOUNTS + 1), ("/instances?customer=c-1", ACCOUNTS)]
    {
        let array = counter.world.get(path).is(200).json();
        let lines = streamed(&counter.world, path);
        assert_eq!((lines.len(), Value::Array(lines)), (count, array));
    }
}

/// Deposits one after the other, until they are stopped; how many there were.
fn deposits(counter: &Counter) -> (Arc<AtomicBool>, JoinHandle<u32>) {
    let (stop, http, url) = (Arc::new(AtomicBool::new(false)), counter.world.http(), counter.world.url());
    let (stopped, request) = (stop.clone(), Counter::request("CDPT", "anna.9100.00001", "1.07").to_string());
    // Each deposit moves an account at the beginning of the list, and two at its end.
    let deposits = counter.world.spawn(async move {
        let mut count = 0;
        while !stopped.load(SeqCst) {
            let create = http.post(format!("{url}/teller/T1/transactions")).body(request.clone());
            let quote = create.header("content-type", "application/json").send().await.unwrap();
            let quote: Value = serde_json::from_slice(&quote.bytes().await.unwrap()).unwrap();
            let identifier = quote["tellerTransactionIdentifier"].as_str().unwrap();
            let confirm =
                format!("{url}/teller/T1/transactions/{identifier}?command=CONFIRM&charges=included");
            assert_eq!(http.post(confirm).send().await.unwrap().status(), 202);
            count += 1;
        }
        count
    });
    (stop, deposits)
}

#[test]
fn accounts_that_are_streamed_beside_postings_balance() {
    let counter = crowded();
    let (stop, deposits) = deposits(&counter);
    let mut totals = Vec::new();
    for path in ["/ledger/accounts", "/ledger/accounts?sortColumn=balance&sortDirection=DESC"].repeat(10) {
        let accounts = streamed(&counter.world, path).into_iter();
        let accounts: Vec<LedgerAccount> = accounts.map(|a| serde_json::from_value(a).unwrap()).collect();
        assert!(accounts.len() > ACCOUNTS);
        let of = |debit: bool| {
            let side = accounts.iter().filter(|account| matches!(account.kind, Asset | Expense) == debit);
            Amount::sum(side.map(|account| account.balance))
        };
        assert_eq!(of(true), of(false), "{path}");
        let is_before =
            |a: &LedgerAccount, b: &LedgerAccount| (b.balance, &a.identifier) < (a.balance, &b.identifier);
        assert!(accounts.is_sorted_by(is_before) || !path.contains("DESC"), "{path}");
        totals.push(of(false));
    }
    stop.store(true, SeqCst);
    assert!(counter.world.wait(deposits) > 0);
    assert!(totals.first() < totals.last(), "{totals:?}");
}

#[test]
fn trial_balances_and_pages_read_beside_postings_are_of_one_moment() {
    let counter = crowded();
    let (stop, deposits) = deposits(&counter);
    let amount = |value: &Value| Amount::parse(&value.to_string()).unwrap();
    let mut totals = Vec::new();
    for _ in 0..40 {
        let trial = counter.world.get("/ledger/trial-balance").is(200).json();
        let rows = trial["rows"].as_array().unwrap();
        let sum = |side: &str| Amount::sum(rows.iter().map(|row| amount(&row[side])));
        assert_eq!(
            (sum("debit"), sum("credit")),
            (amount(&trial["totalDebit"]), amount(&trial["totalCredit"]))
        );
        assert_eq!(sum("debit"), sum("credit"));
        totals.push(sum("debit"));
        let page = counter.world.get("/ledger/journal?size=1000&sortDirection=DESC").is(200).json();
        let sequences = page["entries"].as_array().unwrap().iter().map(|entry| entry["sequence"].as_u64());
        let due = (1..=page["totalElements"].as_u64().unwrap()).rev().take(1000);
        assert!(sequences.eq(due.map(Some)), "no gaps, and none that is not counted");
    }
    stop.store(true, SeqCst);
    assert!(counter.world.wait(deposits) > 0);
    assert!(totals.first() < totals.last(), "{totals:?}");
}

#[test]
fn a_sorted_stream_beside_writers_has_each_record_once() {
    let world = World::start();
    let name_of = |n: usize| format!("o-{n:03}");
    let office = |n: usize, name: usize| {
        json!({ "identifier": name_of(n), "name": format!("Office {name}") }).to_string()
    };
    for n in 0..STAY {
        world.post("/offices", office(n, n % 7)).is(202);
    }
    let (stop, mut seen) = (AtomicBool::new(false), Vec::new());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for n in (0..STAY).cycle().take_while(|_| !stop.load(SeqCst)) {
                world.put(&format!("/offices/{}", name_of(n)), office(n, n * 5 % 11)).is(202);
                // Another one takes the place in memory of each that goes.
                world.post("/offices", office(STAY + n, n % 11)).is(202);
                world.delete(&format!("/offices/{}", name_of(STAY + n))).is(202);
            }
        });
        let order = ["sortColumn=name", "sortColumn=lastModifiedOn&sortDirection=DESC", "sortDirection=DESC"];
        let asked = order.into_iter().chain(["term=OFFICE", "term=office&sortColumn=name"]);
        for query in asked.cycle().take(40) {
            seen.push((query, streamed(&world, &format!("/offices?{query}"))));
        }
        stop.store(true, SeqCst);
    });
    let all: Vec<_> = (0..STAY).map(name_of).collect();
    for (query, offices) in seen {
        let names = offices.iter().map(|office| office["identifier"].as_str().unwrap());
        let mut stayed: Vec<_> = names.filter(|name| *name < name_of(STAY).as_str()).collect();
        stayed.sort_unstable();
        assert_eq!(stayed, all, "{query}");
    }
}

#[test]
fn a_list_is_lines_only_for_who_wants_lines() {
    let world = World::start();
    for (accept, lines) in [
        ("application/x-ndjson", true),
        ("application/json, Application/X-NDJSON; q=0.5", true),
        ("application/x-ndjson;q=0", false),
        ("application/json, application/x-ndjson; q=0.000", false),
        ("*/*", false),
    ] {
        for path in ["/roles", "/offices"] {
            let seen = world.send(world.request("GET", path).header("accept", accept)).is(200);
            assert_eq!(seen.header("content-type") == "application/x-ndjson", lines, "{path} {accept}");
        }
    }
}
