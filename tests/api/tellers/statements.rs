//! `GET /instances/{account}/entries` of `deposits.md` section 3: what a statement is made of.

use crate::support::counter::{Counter, same};
use crate::support::world::World;
use serde_json::Value;

/// Side, amount and balance of each line of a list.
fn lines(world: &World, path: &str) -> Vec<String> {
    let page = world.get(path).is(200).json();
    let line = |e: &Value| format!("{} {} {}", e["side"].as_str().unwrap(), e["amount"], e["balance"]);
    page["entries"].as_array().unwrap().iter().map(line).collect()
}

/// An account with three entries of two lines each: the amount, and the charge that is taken from it.
fn charged() -> (Counter, String) {
    let counter = Counter::active("2000");
    let account = counter.account("anna");
    for (kind, amount) in [("ACCO", "500"), ("CDPT", "40"), ("CWDL", "100")] {
        counter.world.clock.advance(86_400);
        counter.transact(kind, &account, None, amount, "excluded").is(202);
    }
    (counter, account)
}

#[test]
fn each_line_has_its_balance_and_the_last_one_that_of_the_ledger() {
    let (counter, account) = charged();
    let path = format!("/instances/{account}/entries");
    let expected = [
        "DEBIT 5 -5",
        "CREDIT 500 495",
        "DEBIT 1.50 493.50",
        "CREDIT 40 533.50",
        "DEBIT 100 433.50",
        "DEBIT 3.00 430.50",
    ];
    let found = lines(&counter.world, &path);
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for (found, expected) in found.iter().zip(expected) {
        let (line, balance) = found.rsplit_once(' ').unwrap();
        let (expected_line, expected_balance) = expected.rsplit_once(' ').unwrap();
        let (side, amount) = line.split_once(' ').unwrap();
        let (expected_side, expected_amount) = expected_line.split_once(' ').unwrap();
        assert_eq!(side, expected_side, "{found}");
        same(&serde_json::from_str(amount).unwrap(), expected_amount);
        same(&serde_json::from_str(balance).unwrap(), expected_balance);
    }
    let turned = lines(&counter.world, &format!("{path}?sortDirection=DESC&size=1"));
    assert_eq!(turned, found[5..]);
    // All but the balance is what the ledger shows, whose balances are those after whole entries.
    let strip = |path: &str| {
        let mut page = counter.world.get(path).is(200).json();
        let entries = page["entries"].as_array_mut().unwrap().iter_mut();
        let balances: Vec<_> =
            entries.map(|e| e.as_object_mut().unwrap().remove("balance").unwrap()).collect();
        (page, balances)
    };
    let (own, of_lines) = strip(&path);
    let (ledger, of_entries) = strip(&format!("/ledger/accounts/{account}/entries"));
    assert_eq!(own, ledger);
    for (place, balance) in of_entries.iter().enumerate() {
        assert_eq!(&of_lines[place | 1], balance, "the last line of entry {}", place / 2);
    }
}

#[test]
fn a_part_of_the_lines_is_asked_for_as_in_the_ledger() {
    let (counter, account) = charged();
    let world = &counter.world;
    let path = format!("/instances/{account}/entries");
    let count = |query: &str| lines(world, &format!("{path}?{query}")).len();
    assert_eq!(count("dateRange=2031-05-07..2031-05-08"), 4);
    assert_eq!(count("dateRange=2031-05-09Z..2031-05-09Z&size=1&pageIndex=1"), 1);
    assert_eq!(count("dateRange=2031-05-10..2031-05-10"), 0);
    let page = world.get(&format!("{path}?size=4")).is(200).json();
    assert_eq!((&page["totalPages"], &page["totalElements"]), (&2.into(), &6.into()));
    for bad in ["dateRange=2031-05-01", "dateRange=2031-05-02..2031-05-01", "size=0", "sortDirection=up"] {
        for path in [path.as_str(), "/instances/none/entries"] {
            world.get(&format!("{path}?{bad}")).refused(400, "invalid_parameter");
        }
    }
    for other in ["none", "vault", "transactiontypes"] {
        world.get(&format!("/instances/{other}/entries")).refused(404, "instance_not_found");
    }
    let streamed = world.request("GET", &path).header("accept", "application/x-ndjson");
    let streamed = world.send(streamed).is(200).text();
    assert_eq!(streamed.lines().count(), 6);
    world.get(&format!("/deposit/v1{path}")).is(200);
}

#[test]
fn clerk_and_teller_read_account_lines_without_access_to_the_ledger() {
    let world = World::guarded();
    for (name, role) in [("carl", "clerk"), ("tina", "teller")] {
        let user = world.user(name, role);
        user.get("/instances/none/entries").refused(404, "instance_not_found");
        user.get("/ledger/accounts/none/entries").refused(403, "forbidden");
    }
}
