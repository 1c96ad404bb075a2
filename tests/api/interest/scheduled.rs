//! `interest_run_at`: daemons that run yesterday by themselves; and what a run ends.

use super::bank::{Bank, interest_product};
use crate::support::stored;
use crate::support::world::World;
use mfa_daemon::Clock;
use mfa_daemon::store::Tx;
use mfa_daemon::store::records::InterestState;
use serde_json::json;
use std::time::{Duration, Instant};

/// Longest wait for a run; one who died is waited for as well.
const WAIT_MAX: Duration = Duration::from_secs(60);

/// A bank whose daemons run at one o'clock, with an account that earns. It is past seven, so the day before
/// it opened is run at once.
fn bank() -> Bank {
    let bank = Bank::on(World::with(|config| config.interest_run_at = Some(60)));
    bank.sell(&interest_product("gain", "36.5", "MONTHLY"));
    bank.account("Maria", "gain", "1000");
    bank
}

/// Waits for the run of a day.
#[track_caller]
fn has_run(bank: &Bank, date: &str) -> serde_json::Value {
    let begun = Instant::now();
    loop {
        let mut runs = bank.runs(&format!("dateRange={date}..{date}"));
        if let Some(run) = runs.pop() {
            assert_eq!(runs, Vec::<serde_json::Value>::new(), "each product and day at most once");
            return run;
        }
        assert!(begun.elapsed() < WAIT_MAX, "{date} is not run");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn yesterday_is_run_once_by_the_daemons_themselves() {
    let bank = bank();
    for (date, accrued) in [("2031-05-06", "1.00000"), ("2031-05-07", "1.00000"), ("2031-05-08", "1.00000")] {
        bank.days(1);
        let run = has_run(&bank, date);
        assert_eq!((&run["ranBy"], &run["outcome"]), (&json!("system"), &json!("DONE")));
        assert_eq!(run["accrued"].to_string(), accrued);
    }
    // Before the minute nothing runs.
    let to_midnight = 86_400 - bank.world().clock.now().millis() / 1000 % 86_400;
    bank.world().clock.advance(to_midnight + 59 * 60);
    std::thread::sleep(Duration::from_secs(3));
    assert_eq!(bank.runs("dateRange=2031-05-09..2031-05-09"), Vec::<serde_json::Value>::new());
    bank.world().clock.advance(60);
    has_run(&bank, "2031-05-09");
    let booked: Vec<_> = bank.entries();
    let days = ["2031-05-06", "2031-05-07", "2031-05-08", "2031-05-09"];
    assert_eq!(booked, days.map(|day| format!("INTA {day} 1.00 DEBIT expense-gain CREDIT accrue-gain")));
    bank.check();
}

#[test]
fn the_run_of_a_daemon_that_died_is_taken_over() {
    let mut bank = bank();
    bank.days(1);
    has_run(&bank, "2031-05-06");
    // A daemon began with the next day and was killed before its first step.
    bank.counter.world.stop();
    let clock = Clock::fixed(bank.world().clock.now());
    let store = stored::open(bank.world().config(), clock);
    let die = |tx: &mut Tx<'_>| {
        let mut state = tx.get::<InterestState>(InterestState::KEY)?.unwrap();
        state.runner = Some("dead".to_owned());
        tx.put(&state)
    };
    bank.world().block_on(store.write("test", die)).unwrap();
    bank.world().block_on(store.close());
    drop(store);
    bank.counter.world.restart();
    bank.days(1);
    has_run(&bank, "2031-05-07");
    bank.days(1);
    has_run(&bank, "2031-05-08");
    bank.check();
}

#[test]
fn nothing_is_posted_any_more_on_a_day_that_was_run() {
    let bank = Bank::open();
    bank.sell(&interest_product("gain", "1.5", "MONTHLY"));
    // What it earns in a day is too little to be booked, so the run itself posts nothing.
    let account = bank.account("Maria", "gain", "100");
    bank.days(2);
    let today = bank.today();
    bank.run();
    assert_eq!(bank.entries(), Vec::<String>::new());
    // The clock was ahead, or that of another machine is behind.
    bank.days(-1);
    bank.act("CDPT", &account, "gain", "1000").is(202);
    let entries = bank.world().get("/ledger/journal?sortDirection=DESC&size=1").is(200).json();
    let posted_on = entries["entries"][0]["postedOn"].as_str().unwrap();
    assert!(posted_on.starts_with(&today), "{posted_on} {today} {entries}");
    bank.days(1);
    bank.check();
}
