//! `tellers.md` section 14, number 10: what was refused left no trace but the count of wrong PINs.

use crate::support::counter::{Counter, teller};
use crate::support::stored::at_rest;
use crate::support::world::Seen;
use serde_json::{Value, json};

/// A day at two tellers, with transactions of T1 that wait and cannot be confirmed.
struct Day {
    counter: Counter,
    account: String,
    /// An account that was not opened.
    other: String,
    closing: String,
    paying: String,
    too_much: String,
}

impl Day {
    fn start() -> Self {
        let counter = Counter::active("50");
        let (account, other) = (counter.account("anna"), counter.account("bela"));
        counter.transact("ACCO", &account, None, "500", "included").is(202);
        // The cash of the account goes to the vault, so that the drawer has less than the account.
        let take = json!({ "action": "CLOSE", "adjustment": "CREDIT", "amount": 505 });
        counter.command("T1", take).is(202);
        counter.open("T1", "emp1", "0");
        counter.unlock("T1", "emp1");
        let mut second = teller("T2");
        second["denominationRequired"] = json!(true);
        counter.teller_with(&second).is(202);
        counter.open("T2", "emp2", "10");
        let quote = |kind: &str, amount: &str| counter.quote(&Counter::request(kind, &account, amount));
        let (closing, paying) = (quote("ACCC", "10"), quote("CWDL", "100"));
        let too_much = quote("CWDL", "1000");
        Self { counter, account, other, closing, paying, too_much }
    }

    /// The content of the store without the index of the embedded one, which is written after the journal.
    fn at_rest(&self) -> Vec<(String, Vec<u8>)> {
        let world = &self.counter.world;
        let mut found = world.block_on(at_rest(world.config()));
        found.retain(|(place, _)| !place.contains("/index/"));
        found.sort();
        found
    }

    fn change(&self, field: &str, value: &str) -> Seen {
        let change = json!({ "code": "T1", "password": "4712", field: value });
        self.counter.world.put("/offices/accra/teller/T1", change.to_string())
    }

    fn create(&self, kind: &str, account: &str, amount: &str) -> Seen {
        self.counter.create("T1", &Counter::request(kind, account, amount))
    }

    fn confirm(&self, transaction: &str) -> Seen {
        self.counter.finish("T1", transaction, "command=CONFIRM&charges=included")
    }

    /// The answers to requests that are refused, and what they must be.
    fn refused(&self, place: usize) -> Option<(&'static str, Seen)> {
        let (counter, account) = (&self.counter, self.account.as_str());
        let command = |command: Value| counter.command("T1", command);
        Some(match place {
            0 => ("409 identifier_taken", counter.teller_with(&teller("T2"))),
            1 => ("409 teller_used", counter.world.delete("/offices/accra/teller/T1")),
            2 => ("409 wrong_state", self.change("assignedEmployee", "emp9")),
            3 => ("400 account_kind_mismatch", self.change("tellerAccountIdentifier", account)),
            4 => ("409 wrong_state", command(json!({ "action": "OPEN", "assignedEmployeeIdentifier": "e" }))),
            5 => {
                let close = json!({ "action": "CLOSE", "adjustment": "CREDIT", "amount": 5_000 });
                ("409 insufficient_cash", command(close))
            }
            6 => ("409 denomination_required", counter.close("T2")),
            7 => ("400 teller_not_paused", counter.count("T1", "1")),
            8 => ("409 wrong_state", counter.pause("T2")),
            9 => ("403 not_assigned_employee", counter.try_unlock("T1", "emp9", "wrong")),
            10 => ("409 below_minimum_balance", self.create("ACCO", &self.other, "99.99")),
            11 => ("409 over_cashdraw_limit", self.create("CWDL", account, "1000.01")),
            12 => ("409 wrong_state", self.create("CDPT", &self.other, "1")),
            13 => ("400 invalid_fields", self.create("CDPT", account, "1.005")),
            14 => ("400 unknown_reference", self.create("CDPT", "anna.9100.77777", "1")),
            15 => ("409 remaining_balance", self.confirm(&self.closing)),
            16 => ("409 insufficient_cash", self.confirm(&self.paying)),
            17 => ("409 insufficient_balance", self.confirm(&self.too_much)),
            18 => ("404 transaction_not_found", self.confirm("none")),
            19 => ("400 invalid_parameter", counter.finish("T1", &self.paying, "command=RESUME")),
            _ => return None,
        })
    }
}

#[test]
fn a_refusal_leaves_no_trace_but_a_denied_access() {
    let day = Day::start();
    let reported = || {
        // What is recorded after an answer waits in the daemon that gave it, for less than a second, and so do the
        // lists of the trail, which are written beside serving.
        std::thread::sleep(std::time::Duration::from_millis(1_000));
        // The audit trail is up to date when it is read.
        day.counter.world.get("/audit?outcome=REFUSED").is(200).json()["totalElements"].as_u64()
    };
    let (mut known, mut before) = (reported(), day.at_rest());
    let refused = (0..).map_while(|place| day.refused(place));
    let count = refused.map(|(expected, seen)| {
        let (status, code) = expected.split_once(' ').unwrap();
        seen.refused(status.parse().unwrap(), code);
        if status == "403" {
            let now = reported();
            assert_eq!(now, known.map(|known| known + 1), "{expected}");
            (known, before) = (now, day.at_rest());
        }
        assert!(day.at_rest() == before, "{expected} left something behind");
    });
    assert_eq!(count.count(), 20);
    day.counter.try_unlock("T1", "emp1", "wrong").refused(403, "wrong_drawer_password");
    assert!(day.at_rest() != before, "a wrong PIN is not counted");
}
