//! `deposits.md` section 4: what can be read of the ledger, over a store with entries on several days.

use crate::support::stored;
use crate::support::world::World;
use mfa_daemon::ops::ledger::{Entry, credit, debit, name_account, post};
use mfa_daemon::store::Tx;
use mfa_daemon::store::seed::seed;
use mfa_daemon::{Clock, Config};
use mfa_shared::amount::Amount;
use mfa_shared::api::ledger::AccountRole::{Drawer, Income, OverShort, Vault};
use mfa_shared::api::ledger::{AccountRole, JournalLine};
use mfa_shared::fault::Fault;
use mfa_shared::time::Timestamp;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

fn move_cash(tx: &mut Tx<'_>, r#type: &str, lines: Vec<JournalLine>) -> Result<(), Fault> {
    let at = Timestamp::parse("2030-01-01T00:00:00Z").filter(|_| r#type == "CAJT");
    let entry = Entry {
        r#type,
        message: "Teller adjustment.",
        transaction_date: at,
        clerk: "ama",
        teller_code: Some("T1"),
        teller_transaction: None,
        lines,
    };
    post(tx, entry).map(drop)
}

/// 2031-05-01: 100.00 into the drawer. 05-02: 0.71 short, 4.29 over. 05-04: 30 back. On the day of the
/// test nothing happened yet.
fn posted() -> World {
    let before = |runtime: &Runtime, config: &Config| {
        runtime.block_on(async {
            let clock = Clock::fixed(Timestamp::parse("2031-05-01T23:59:59.999Z").unwrap());
            let store = stored::open(config, clock.clone());
            seed(&store).await.unwrap();
            let day = |r#type: &'static str,
                       dr: (&'static str, AccountRole),
                       cr: (&'static str, AccountRole),
                       sum: &'static str| {
                store.write("test", move |tx| {
                    for (account, role) in
                        [("d1", Drawer), ("v1", Vault), ("o1", OverShort), ("unused", Income)]
                    {
                        name_account(tx, "/x", account, role)?;
                    }
                    let sum = Amount::parse(sum).unwrap();
                    move_cash(tx, r#type, vec![debit(dr.0, dr.1, sum), credit(cr.0, cr.1, sum)])
                })
            };
            day("DAJT", ("d1", Drawer), ("v1", Vault), "100.00").await.unwrap();
            clock.advance(1);
            day("CAJT", ("o1", OverShort), ("d1", Drawer), "0.71").await.unwrap();
            day("DAJT", ("d1", Drawer), ("o1", OverShort), "5.000").await.unwrap();
            clock.advance(2 * 86_400);
            day("CAJT", ("v1", Vault), ("d1", Drawer), "30").await.unwrap();
            store.close().await;
        });
    };
    World::prepared(|_| {}, before)
}

fn sequences(world: &World, path: &str) -> (Vec<i64>, Value) {
    let page = world.get(path).is(200).json();
    let found = page["entries"].as_array().unwrap().iter().map(|e| e["sequence"].as_i64().unwrap()).collect();
    (found, json!([page["totalPages"], page["totalElements"]]))
}

#[test]
fn an_account_shows_its_balance_and_its_totals() {
    let world = posted();
    let shown = world.get("/ledger/accounts/d1").is(200).text();
    let expected = r#""kind":"ASSET","role":"DRAWER","ledgerIdentifier":null,"customerIdentifier":null,"currency":null,"balance":74.290,"debitTotal":105.000,"creditTotal":30.71,"#;
    assert!(shown.contains(expected), "{shown}");
    assert!(shown.ends_with(r#""lastEntryOn":"2031-05-04T00:00:00.999Z"}"#), "{shown}");
    assert_eq!(world.get("/ledger/accounts/o1").json()["balance"].to_string(), "-4.290");
    assert_eq!(world.get("/ledger/accounts/unused").json()["lastEntryOn"], Value::Null);
    world.get("/ledger/accounts/none").refused(404, "account_not_found");
    world.get("/ledger/accounts/none/entries").refused(404, "account_not_found");
}

#[test]
fn accounts_are_found_by_term_and_kind_and_sorted_by_their_columns() {
    let world = posted();
    let order = |query: &str| -> Vec<String> {
        let page = world.get(&format!("/ledger/accounts?{query}")).is(200).json();
        page["accounts"]
            .as_array()
            .unwrap()
            .iter()
            .map(|a| a["identifier"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(order(""), ["d1", "o1", "unused", "v1"]);
    assert_eq!(order("sortColumn=balance"), ["v1", "o1", "unused", "d1"]);
    assert_eq!(order("sortColumn=balance&sortDirection=DESC&size=1"), ["d1"]);
    assert_eq!(order("sortColumn=kind"), ["d1", "v1", "o1", "unused"]);
    assert_eq!(order("kind=asset"), ["d1", "v1"]);
    assert_eq!(order("kind=ASSET&term=V"), ["v1"]);
    for bad in ["kind=MONEY", "sortColumn=role", "size=0", "kind=ASSET&kind=ASSET"] {
        world.get(&format!("/ledger/accounts?{bad}")).refused(400, "invalid_parameter");
    }
}

#[test]
fn the_lines_of_an_account_stand_in_the_order_of_posting() {
    let world = posted();
    let page = world.get("/ledger/accounts/d1/entries").is(200).json();
    let shown: Vec<_> = page["entries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|e| {
            format!("{} {} {} {} {}", e["sequence"], e["side"], e["amount"], e["balance"], e["postedOn"])
        })
        .collect();
    let expected = [
        r#"1 "DEBIT" 100.00 100.00 "2031-05-01T23:59:59.999Z""#,
        r#"2 "CREDIT" 0.71 99.29 "2031-05-02T00:00:00.999Z""#,
        r#"3 "DEBIT" 5.000 104.290 "2031-05-02T00:00:00.999Z""#,
        r#"4 "CREDIT" 30 74.290 "2031-05-04T00:00:00.999Z""#,
    ];
    assert_eq!(shown, expected);
    let first = page["entries"][1].as_object().unwrap();
    let names: Vec<_> = first.keys().map(String::as_str).collect();
    let expected = "journalEntryIdentifier sequence side role amount balance type message postedOn transactionDate tellerCode";
    assert_eq!(names, expected.split(' ').collect::<Vec<_>>());
    assert_eq!(
        (&first["transactionDate"], &first["tellerCode"]),
        (&json!("2030-01-01T00:00:00.000Z"), &json!("T1"))
    );
}

#[test]
fn a_range_of_dates_takes_both_ends_in() {
    let world = posted();
    for (query, expected) in [
        ("", vec![1, 2, 3, 4]),
        ("dateRange=2031-05-01..2031-05-01", vec![1]),
        ("dateRange=2031-05-02Z..2031-05-03Z", vec![2, 3]),
        ("dateRange=2031-05-03..2031-05-03", vec![]),
        ("dateRange=2031-05-02..2031-05-04&sortDirection=desc", vec![4, 3, 2]),
        ("dateRange=2000-01-01..2099-12-31", vec![1, 2, 3, 4]),
        ("dateRange=0000-01-01..9999-12-31", vec![1, 2, 3, 4]),
        ("dateRange=2031-05-02..9999-12-30", vec![2, 3, 4]),
        ("dateRange=9999-12-31..9999-12-31", vec![]),
        ("size=3&pageIndex=1", vec![4]),
        ("size=3&sortDirection=DESC", vec![4, 3, 2]),
        ("size=3&pageIndex=7", vec![]),
    ] {
        for path in ["/ledger/journal", "/ledger/accounts/d1/entries"] {
            assert_eq!(sequences(&world, &format!("{path}?{query}")).0, expected, "{path} {query}");
        }
    }
    assert_eq!(sequences(&world, "/ledger/journal?size=3").1, json!([2, 4]));
    assert_eq!(sequences(&world, "/ledger/accounts/o1/entries?size=3").1, json!([1, 2]));
    for bad in [
        "dateRange=2031-05-01",
        "dateRange=2031-02-30..2031-03-01",
        "dateRange=2031-05-02..2031-05-01",
        "dateRange=",
        "size=1001",
        "sortDirection=up",
    ] {
        for path in ["/ledger/journal", "/ledger/accounts/d1/entries", "/ledger/accounts/none/entries"] {
            world.get(&format!("{path}?{bad}")).refused(400, "invalid_parameter");
        }
    }
}

#[test]
fn the_journal_is_filtered_by_account_and_type() {
    let world = posted();
    for (query, expected) in [
        ("account=o1", vec![2, 3]),
        ("account=v1&sortDirection=DESC", vec![4, 1]),
        ("account=none", vec![]),
        ("account=o1%00", vec![]),
        ("type=DAJT", vec![1, 3]),
        ("type=dajt", vec![]),
        ("type=CAJT&account=v1", vec![4]),
        ("type=CAJT&account=d1&dateRange=2031-05-02..2031-05-02", vec![2]),
    ] {
        assert_eq!(sequences(&world, &format!("/ledger/journal?{query}")).0, expected, "{query}");
    }
}

#[test]
fn an_entry_is_read_by_its_identifier_and_streamed_a_line_each() {
    let world = posted();
    let page = world.get("/ledger/journal").json();
    let entry = &page["entries"][1];
    let identifier = entry["identifier"].as_str().unwrap();
    assert_eq!(identifier.len(), 32);
    assert_eq!(&world.get(&format!("/ledger/journal/{identifier}")).is(200).json(), entry);
    let expected = json!([
        { "accountIdentifier": "o1", "side": "DEBIT", "role": "OVER_SHORT", "amount": entry["lines"][0]["amount"] },
        { "accountIdentifier": "d1", "side": "CREDIT", "role": "DRAWER", "amount": entry["lines"][1]["amount"] },
    ]);
    assert_eq!((&entry["lines"], entry["lines"][0]["amount"].to_string()), (&expected, "0.71".to_owned()));
    assert_eq!((&entry["clerk"], &entry["tellerTransactionIdentifier"]), (&json!("ama"), &json!(null)));
    world.get("/ledger/journal/none").refused(404, "entry_not_found");
    let lines = |path: &str| {
        let request = world.request("GET", path).header("accept", "application/x-ndjson");
        world.send(request).is(200).text().lines().count()
    };
    assert_eq!(lines("/ledger/journal?size=1"), 4);
    assert_eq!(lines("/ledger/journal?type=DAJT&sortDirection=DESC"), 2);
    assert_eq!(lines("/ledger/accounts/o1/entries"), 2);
    assert_eq!(lines("/ledger/accounts?kind=REVENUE"), 1);
}

#[test]
fn a_trial_balance_is_that_of_the_end_of_its_day() {
    let world = posted();
    for (query, as_of, rows, total) in [
        ("?asOf=2031-04-30", "2031-04-30", vec![], "0"),
        ("?asOf=2031-05-01", "2031-05-01", vec!["d1 100.00 0", "v1 0 100.00"], "100.00"),
        ("?asOf=2031-05-03Z", "2031-05-03", vec!["d1 104.290 0", "o1 0 4.290", "v1 0 100.00"], "104.290"),
        ("", "2031-05-06", vec!["d1 74.290 0", "o1 0 4.290", "v1 0 70.00"], "74.290"),
        ("?asOf=2099-12-31", "2099-12-31", vec!["d1 74.290 0", "o1 0 4.290", "v1 0 70.00"], "74.290"),
    ] {
        let sheet = world.get(&format!("/ledger/trial-balance{query}")).is(200).json();
        let shown: Vec<_> = sheet["rows"]
            .as_array()
            .unwrap()
            .iter()
            .map(|r| format!("{} {} {}", r["accountIdentifier"].as_str().unwrap(), r["debit"], r["credit"]))
            .collect();
        assert_eq!(
            (sheet["asOf"].as_str().unwrap(), shown),
            (as_of, rows.iter().map(|r| (*r).to_owned()).collect())
        );
        assert_eq!(sheet["totalDebit"].to_string(), total, "{query}");
        assert_eq!(sheet["totalDebit"], sheet["totalCredit"]);
    }
    for bad in ["?asOf=2031-02-30", "?asOf=now", "?asOf="] {
        world.get(&format!("/ledger/trial-balance{bad}")).refused(400, "invalid_parameter");
    }
}

#[test]
fn nothing_of_the_ledger_can_be_written_from_outside() {
    let world = posted();
    for path in ["/ledger/accounts", "/ledger/accounts/d1", "/ledger/journal", "/ledger/trial-balance"] {
        for method in ["POST", "PUT", "DELETE"] {
            world.call(method, path, "{}").refused(405, "method_not_allowed");
        }
    }
}
