//! Lists whose order is kept in memory hold what a look at every record finds: `organisation.md` 1.4.

use crate::api::tellers::races::branch;
use crate::support::counter::Counter;
use crate::support::world::World;
use mfa_shared::amount::Amount;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::{Duration, Instant};

const NAMES: [&str; 8] = ["Mensah", "mensah", "Öse", "ÖSE", "Groß", "Addo", "", "A b"];

fn customer(n: usize, name: usize) -> String {
    json!({ "identifier": format!("c-{n:03}"), "surname": NAMES[name % NAMES.len()], "member": n.is_multiple_of(3),
        "givenName": NAMES[(n + name) % 5], "assignedOffice": format!("o-{}", name % 3) })
    .to_string()
}

fn lines(world: &World, path: &str) -> Vec<Value> {
    let request = world.request("GET", path).header("accept", "application/x-ndjson");
    world.send(request).is(200).text().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The records of a plain look that are wanted, sorted by the test itself.
fn expected(all: &[Value], column: &str, descending: bool, keep: impl Fn(&Value) -> bool) -> Vec<Value> {
    let mut found: Vec<_> = all.iter().filter(|record| keep(record)).cloned().collect();
    found.sort_by(|a, b| a["identifier"].as_str().cmp(&b["identifier"].as_str()));
    let key = |record: &Value| match &record[column] {
        Value::Null => (0, None, String::new()),
        Value::Number(amount) => (1, Some(Amount::parse(&amount.to_string()).unwrap()), String::new()),
        Value::Bool(word) => (1, None, u8::from(*word).to_string()),
        value => (1, None, value.as_str().unwrap().to_owned()),
    };
    if descending {
        found.sort_by_key(|record| std::cmp::Reverse(key(record)));
    } else {
        found.sort_by_key(key);
    }
    found
}

/// What is asked of a list, as a query.
fn asked(column: &str, descending: bool, term: &str) -> String {
    let direction = if descending { "DESC" } else { "asc" };
    let term = mfa_shared::endpoint::percent_encode(term);
    format!("sortColumn={column}&sortDirection={direction}&term={term}")
}

/// Whether one of these fields contains a term.
fn has(record: &Value, fields: &[&str], term: &str) -> bool {
    let text = |name: &&str| record[name].as_str().unwrap_or_default().to_lowercase();
    term.is_empty() || fields.iter().any(|name| text(name).contains(&term.to_lowercase()))
}

/// The page of a list is the part of `whole` that it should be, and its lines are all of it.
fn compare(world: &World, path: &str, noun: &str, whole: &[Value], part: (usize, usize)) {
    let (page, size) = part;
    let seen = world.get(&format!("{path}&pageIndex={page}&size={size}")).is(200).json();
    let part: Vec<_> = whole.iter().skip(page * size).take(size).cloned().collect();
    assert_eq!(&seen[noun], &json!(part), "{path}, page {page} of {size}");
    assert_eq!(&seen["totalElements"], whole.len());
    assert_eq!(&seen["totalPages"], whole.len().div_ceil(size));
    assert_eq!(lines(world, path), whole, "{path}");
}

#[test]
fn every_page_of_customers_is_what_a_plain_look_at_all_of_them_finds() {
    let mut world = World::start();
    for n in 0..120 {
        world.post("/customers", customer(n, n * 7)).is(202);
    }
    for n in (0..120).step_by(5) {
        let close = |action: &str| json!({ "action": action }).to_string();
        world.post(&format!("/customers/c-{n:03}/commands"), close("ACTIVATE")).is(202);
        world.post(&format!("/customers/c-{n:03}/commands"), close("CLOSE")).is(202);
    }
    for n in (0..120).step_by(7) {
        world.put(&format!("/customers/c-{n:03}"), customer(n, n * 3 + 1)).is(202);
    }
    for restarted in [false, true] {
        let all = lines(&world, "/customers?includeClosed=true");
        assert_eq!(all.len(), 120);
        let columns = ["identifier", "surname", "givenName", "member", "assignedOffice", "currentState"];
        let terms = ["", "mens", "MENS", "ö", "ß", "C-0", "nothing like it", "a b"];
        let case = (0..columns.len(), any::<bool>(), 0..terms.len(), any::<bool>(), 0usize..8, 1usize..40);
        let mut runner = TestRunner::new(Config::with_cases(60));
        let tried = runner.run(&case, |(column, descending, term, closed, page, size)| {
            let (column, term) = (columns[column], terms[term]);
            let fields = ["identifier", "givenName", "middleName", "surname"];
            let whole = expected(&all, column, descending, |customer| {
                (closed || customer["currentState"] != "CLOSED") && has(customer, &fields, term)
            });
            let path = format!("/customers?{}&includeClosed={closed}", asked(column, descending, term));
            compare(&world, &path, "customers", &whole, (page, size));
            Ok(())
        });
        tried.unwrap();
        if !restarted {
            world.restart();
        }
    }
}

#[test]
fn every_page_of_ledger_accounts_is_what_a_plain_look_finds() {
    let (mut counter, accounts) = branch(World::start());
    for (n, account) in accounts.iter().enumerate().skip(3) {
        let mut request = Counter::request("CDPT", account, &format!("{}.{n}0", n % 3));
        request["productIdentifier"] = json!("plain");
        let transaction = counter.quote(&request);
        counter.finish("T1", &transaction, "command=CONFIRM").is(202);
    }
    for n in 0..30 {
        counter.account_of(&format!("c-{:02}", n % 7), "saver");
    }
    for restarted in [false, true] {
        let all = lines(&counter.world, "/ledger/accounts");
        assert!(all.len() >= 40, "{}", all.len());
        let columns = ["identifier", "name", "kind", "balance", "createdOn"];
        let (terms, kinds) = (["", "ANNA", "c-0", "nothing like it"], ["", "ASSET", "liability", "REVENUE"]);
        let case = (0..columns.len(), any::<bool>(), 0..terms.len(), 0..kinds.len(), 0usize..8, 1usize..20);
        let mut runner = TestRunner::new(Config::with_cases(60));
        let tried = runner.run(&case, |(column, descending, term, kind, page, size)| {
            let (column, term, kind) = (columns[column], terms[term], kinds[kind]);
            let whole = expected(&all, column, descending, |account| {
                let of_kind = kind.is_empty() || account["kind"] == kind.to_uppercase();
                of_kind && has(account, &["identifier", "name"], term)
            });
            let kind = if kind.is_empty() { String::new() } else { format!("&kind={kind}") };
            let path = format!("/ledger/accounts?{}{kind}", asked(column, descending, term));
            compare(&counter.world, &path, "accounts", &whole, (page, size));
            Ok(())
        });
        tried.unwrap();
        if !restarted {
            counter.world.restart();
        }
    }
}

#[test]
fn an_earlier_change_by_any_daemon_is_in_a_list() {
    let world = World::start();
    let page = |query: &str| world.get(&format!("/customers?{query}")).is(200).json();
    for n in 0..60 {
        world.post("/customers", customer(n, n)).is(202);
        let newest = page("sortDirection=DESC&size=1");
        assert_eq!(newest["customers"][0]["identifier"], format!("c-{n:03}"), "{newest}");
        assert_eq!(newest["totalElements"], n + 1);
        let renamed =
            json!({ "identifier": format!("c-{n:03}"), "surname": format!("Zz{n:03}") }).to_string();
        world.put(&format!("/customers/c-{n:03}"), renamed).is(202);
        let last = page("sortColumn=surname&sortDirection=DESC&size=1");
        assert_eq!(last["customers"][0]["surname"], format!("Zz{n:03}"), "{last}");
        assert_eq!(page(&format!("term=zZ{n:03}"))["totalElements"], 1);
    }
    for (noun, path) in [("employees", "/employees"), ("offices", "/offices")] {
        for n in 0..5 {
            let body = json!({ "identifier": format!("x-{n}"), "name": format!("Name {n}") }).to_string();
            world.post(path, body).is(202);
            assert_eq!(world.get(&format!("{path}?size=1")).json()["totalElements"], n + 1, "{noun}");
        }
        world.delete(&format!("{path}/x-3")).is(202);
        let left = world.get(&format!("{path}?sortDirection=DESC")).is(200).json();
        let names: Vec<_> = left[noun].as_array().unwrap().iter().map(|r| r["identifier"].clone()).collect();
        assert_eq!(names, ["x-4", "x-2", "x-1", "x-0"]);
    }
}

#[test]
fn pages_beside_writers_hold_each_record_once_and_in_order() {
    let world = World::start();
    for n in 0..40 {
        world.post("/customers", customer(n, n)).is(202);
    }
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for writer in 0..2 {
            let (world, stop) = (&world, &stop);
            scope.spawn(move || {
                let mut n = 0;
                while !stop.load(SeqCst) {
                    n += 1;
                    let id = (n * 2 + writer) % 40;
                    world.put(&format!("/customers/c-{id:03}"), customer(id, n)).is(202);
                }
            });
        }
        let end = Instant::now() + Duration::from_secs(4);
        let mut looked = 0;
        while Instant::now() < end {
            let seen = world.get("/customers?sortColumn=surname&size=40").is(200).json();
            assert_eq!(seen["totalElements"], 40);
            let records = seen["customers"].as_array().unwrap();
            let of = |name: &str| -> Vec<String> {
                records.iter().map(|r| r[name].as_str().unwrap_or_default().to_owned()).collect()
            };
            let (mut names, surnames) = (of("identifier"), of("surname"));
            assert!(surnames.is_sorted(), "{surnames:?}");
            names.sort();
            names.dedup();
            assert_eq!(names.len(), 40);
            looked += 1;
        }
        stop.store(true, SeqCst);
        assert!(looked > 3, "{looked}");
    });
}
