//! A clock that jumps a year forward and back: order, numbers, money and tokens.

use crate::api::interest::bank::{Bank, interest_product};
use crate::support::counter::same;
use crate::support::guarded::PASSWORD;
use crate::support::world::World;
use mfa_daemon::Check;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// A year of days.
const YEAR: i64 = 366;
/// Longer than any test holds a transaction open.
const SEALED_WITHIN: Duration = Duration::from_secs(120);

fn rows(world: &World, path: &str, name: &str) -> Vec<Value> {
    world.get(path).is(200).json()[name].as_array().unwrap().clone()
}

/// The whole trail, once it is sealed. On PostgreSQL a transaction of anybody at the server holds that up, as one of
/// a test beside this one.
fn sealed(world: &World) -> Vec<Value> {
    let ends = Instant::now() + SEALED_WITHIN;
    loop {
        let trail = rows(world, "/audit?size=1000&sortDirection=ASC", "records");
        if trail.iter().all(|record| record["sequence"].is_number()) {
            return trail;
        }
        assert!(Instant::now() < ends, "{trail:?}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Identifier, amount and balance of each line of an account.
fn lines(world: &World, query: &str) -> Vec<String> {
    let rows = rows(world, &format!("/instances/Maria.9100.00001/entries?size=100&{query}"), "entries");
    rows.iter().map(|e| format!("{} {} {}", e["side"].as_str().unwrap(), e["amount"], e["balance"])).collect()
}

#[test]
fn money_stays_in_the_order_of_its_posting_and_nothing_is_counted_twice() {
    let mut bank = Bank::open();
    bank.sell(&interest_product("gain", "36.5", "ANNUALLY"));
    let account = bank.account("Maria", "gain", "1000.00");
    let from = bank.today();
    for (days, kind, amount) in [(YEAR, "CDPT", "500"), (-2 * YEAR, "CWDL", "200"), (YEAR, "CDPT", "50")] {
        bank.days(days);
        bank.act(kind, &account, "gain", amount).is(202);
        // A stop and a start in between make no difference.
        bank.counter.world.restart();
        bank.counter.unlock("T1", "emp1");
    }
    let world = bank.world();
    let expected = ["CREDIT 1000.00 1000.00", "CREDIT 500 1500.00", "DEBIT 200 1300.00", "CREDIT 50 1350.00"];
    assert_eq!(lines(world, ""), expected);
    let mut turned = lines(world, "sortDirection=DESC");
    turned.reverse();
    assert_eq!(turned, expected);
    // Entries are never posted before the one before them, so those after the jump keep its day.
    let on = |range: &str| lines(world, &format!("dateRange={range}"));
    assert_eq!(on("2032-01-01..2032-12-31"), expected[1..]);
    assert_eq!(on("2031-01-01..2031-12-31"), expected[..1]);
    assert_eq!(on("2030-01-01..2030-12-31"), [""; 0]);
    let journal = bank.counter.journal();
    let identifiers: Vec<_> = journal.iter().map(|entry| entry["identifier"].to_string()).collect();
    assert!(identifiers.is_sorted(), "{identifiers:?}");
    // The report of the day has all that was done since the teller opened.
    bank.counter.close("T1").is(202);
    let report = world.get("/offices/accra/teller/T1/reports/latest").is(200).json();
    same(&report["cashOnHand"], "901350");
    // Interest runs each day once, whichever way the clock went.
    bank.days(YEAR);
    bank.run_body(json!({ "from": from })).is(202);
    let runs = bank.runs("").len();
    bank.days(-YEAR);
    bank.run();
    assert_eq!(bank.runs("").len(), runs);
    // The trail goes forward whatever the clock does.
    let trail = sealed(bank.world());
    let of = |name: &str| trail.iter().map(|record| record[name].clone()).collect::<Vec<_>>();
    let sequences: Vec<_> = of("sequence").iter().map(|sequence| sequence.as_u64().unwrap()).collect();
    assert!(sequences.windows(2).all(|pair| pair[1] == pair[0] + 1), "{sequences:?}");
    let times: Vec<_> = of("occurredOn").iter().map(|at| at.as_str().unwrap().to_owned()).collect();
    assert!(times.is_sorted(), "{times:?}");
    bank.counter.world.stop();
    let all = [Check::Store, Check::Ledger];
    assert_eq!(bank.counter.world.check(&all), Vec::<String>::new());
}

#[test]
fn a_token_lives_by_the_clock_and_one_of_the_future_ends_with_its_session() {
    let world = World::guarded();
    let now = world.try_login("admin", PASSWORD).is(200).json();
    world.clock.advance(YEAR * 86_400);
    assert!(!world.bearer(&now["access_token"]).lives());
    // A clock that is right again finds the login as it was.
    world.clock.advance(-YEAR * 86_400);
    assert!(world.bearer(&now["access_token"]).lives());
    // One of the wrong clock would live for a year; ending the sessions ends it.
    world.clock.advance(YEAR * 86_400);
    let future = world.try_login("admin", PASSWORD).is(200).json();
    world.clock.advance(-YEAR * 86_400);
    assert!(world.bearer(&future["access_token"]).lives());
    world.login("admin").delete("/users/admin/sessions").is(202);
    assert!(!world.bearer(&future["access_token"]).lives());
}
