//! `tellers.md` section 11: every cell of the grid.

use crate::support::counter::{Counter, PIN};
use crate::support::world::Seen;
use serde_json::json;

/// A teller in a state, an account, and a pending transaction of the teller.
fn teller_in(state: &str) -> (Counter, String, String) {
    let counter = Counter::active("1000");
    let account = counter.account("anna");
    let transaction = counter.quote(&Counter::request("ACCO", &account, "100"));
    match state {
        "CLOSED" => {
            counter.close("T1").is(202);
        }
        "OPEN" => {
            counter.close("T1").is(202);
            counter.open("T1", "emp1", "1");
        }
        "PAUSED" => {
            counter.pause("T1").is(202);
        }
        _ => {}
    }
    assert_eq!(counter.teller("T1")["state"], state);
    (counter, account, transaction)
}

type Step = fn(&Counter, &str, &str) -> Seen;

const STEPS: [Step; 10] = [
    |c, _, _| c.command("T1", json!({ "action": "OPEN", "assignedEmployeeIdentifier": "emp1" })),
    |c, _, _| c.close("T1"),
    |c, _, _| c.try_unlock("T1", "emp1", PIN),
    |c, _, _| c.pause("T1"),
    |c, account, _| c.create("T1", &Counter::request("ACCO", account, "100")),
    |c, _, transaction| c.finish("T1", transaction, "command=CONFIRM"),
    |c, _, transaction| c.finish("T1", transaction, "command=CANCEL"),
    |c, _, _| c.count("T1", "1"),
    |c, _, _| c.world.put("/offices/accra/teller/T1", json!({ "code": "T1", "password": PIN }).to_string()),
    |c, _, _| c.world.delete("/offices/accra/teller/T1"),
];

#[test]
fn the_grid_of_states_and_operations() {
    let grid = "
        CLOSED 202,OPEN 409         409             409         409        409        409        400 202 409
        OPEN   409      202,CLOSED  200,ACTIVE      409         409        409        409        400 202 409
        ACTIVE 409      202,CLOSED  200,ACTIVE      202,PAUSED  200,ACTIVE 202,ACTIVE 202,ACTIVE 400 202 409
        PAUSED 409      202,CLOSED  200,ACTIVE      409         409        409        409        202 202 409";
    for row in grid.trim().lines() {
        let mut cells = row.split_whitespace();
        let state = cells.next().unwrap();
        for (place, cell) in cells.enumerate() {
            let (counter, account, transaction) = teller_in(state);
            let seen = STEPS[place](&counter, &account, &transaction);
            let (status, after) = cell.split_once(',').unwrap_or((cell, state));
            let code = match (status, place) {
                ("409", 9) => Some("teller_used"),
                ("409", _) => Some("wrong_state"),
                ("400", _) => Some("teller_not_paused"),
                _ => None,
            };
            match code {
                Some(code) => drop(seen.refused(status.parse().unwrap(), code)),
                None => {
                    let seen = seen.is(status.parse().unwrap());
                    if place == 2 {
                        assert_eq!(seen.json()["state"], "OPEN", "{state}");
                    }
                }
            }
            assert_eq!(counter.teller("T1")["state"], after, "{state}, step {place}");
            for read in ["", "/balance", "/denominations"] {
                counter.world.get(&format!("/offices/accra/teller/T1{read}")).is(200);
            }
            counter.world.get("/teller/T1/transactions").is(200);
        }
    }
}

#[test]
fn a_teller_that_was_never_opened_can_be_deleted() {
    let counter = Counter::start();
    counter.world.delete("/offices/accra/teller/T1").is(202);
}

#[test]
fn the_grid_of_transactions() {
    for (first, second, status) in [
        ("CONFIRM", "CONFIRM", 409),
        ("CONFIRM", "CANCEL", 409),
        ("CANCEL", "CONFIRM", 409),
        ("CANCEL", "CANCEL", 409),
    ] {
        let (counter, _, transaction) = teller_in("ACTIVE");
        counter.finish("T1", &transaction, &format!("command={first}&charges=included")).is(202);
        counter.finish("T1", &transaction, &format!("command={second}")).refused(status, "wrong_state");
        counter.close("T1").is(202);
        let listed = counter.world.get("/teller/T1/transactions").json();
        let expected = if first == "CONFIRM" { "CONFIRMED" } else { "CANCELED" };
        assert_eq!(listed[0]["state"], expected);
    }
}
