//! Payments that are asked for, and what happens to interest when an account is closed.

use super::bank::{Bank, interest_product, refusal};
use crate::support::counter::same;
use serde_json::json;

#[test]
fn accrued_interest_is_paid_when_it_is_asked_for() {
    let bank = Bank::open();
    bank.sell(&interest_product("gain", "2.50", "ANNUALLY"));
    let account = bank.account("Maria", "gain", "1000.00");
    let pending = bank.counter.account_of("Nana", "gain");
    assert_eq!(refusal(&bank.pay(&account)), "409 nothing_accrued");
    assert_eq!(refusal(&bank.pay(&pending)), "409 wrong_state");
    assert_eq!(refusal(&bank.pay("nobody.9100.00001")), "404 instance_not_found");
    assert_eq!(
        bank.world().get("/instances/nobody.9100.00001/interest").is(404).json()["code"],
        "instance_not_found"
    );
    let path = format!("/instances/{account}/interest");
    for (body, refused) in [
        ("{}", "400 invalid_fields /action required"),
        (r#"{"action":"KEEP"}"#, "400 invalid_fields /action unknown_value"),
        (r#"{"action":1}"#, "400 invalid_fields /action wrong_type"),
    ] {
        assert_eq!(refusal(&bank.world().post(&path, body)), refused);
    }
    bank.days(3);
    bank.run_body(json!({ "from": "2031-05-06" })).is(202);
    // Three times 0.06849 is 0.20547: 0.21 is paid, and what was paid too much is held against what comes.
    bank.pay(&account).is(202);
    let interest = bank.interest(&account);
    same(&interest["accrued"], "-0.00453");
    same(&interest["paidTotal"], "0.21");
    let payment = &interest["payments"][0];
    assert_eq!(payment["date"], "2031-05-08");
    same(&payment["amount"], "0.21");
    let entry = bank.counter.journal().pop().unwrap();
    assert_eq!((&entry["type"], &entry["identifier"]), (&json!("INTP"), &payment["journalEntryIdentifier"]));
    assert_eq!(refusal(&bank.pay(&account)), "409 nothing_accrued");
    bank.check();
}

#[test]
fn a_closed_account_gives_up_what_was_not_paid() {
    let bank = Bank::open();
    bank.sell(&interest_product("gain", "2.50", "MONTHLY"));
    let forfeits = bank.account("Maria", "gain", "1000.00");
    let takes = bank.account("Nana", "gain", "1000.00");
    let by_command = bank.account("Kofi", "gain", "1000.00");
    bank.days(1);
    bank.run();
    bank.act("ACCC", &forfeits, "gain", "1000.00").is(202);
    bank.pay(&takes).is(202);
    bank.act("ACCC", &takes, "gain", "1000.07").is(202);
    bank.act("CWDL", &by_command, "gain", "1000.00").is(202);
    bank.world().post(&format!("/instances/{by_command}?command=CLOSE"), "").is(202);
    let given_up: Vec<_> = bank.entries().into_iter().filter(|entry| entry.starts_with("INTF")).collect();
    assert_eq!(given_up, vec!["INTF 2031-05-07 0.07 DEBIT accrue-gain CREDIT expense-gain"; 2]);
    same(&bank.interest(&forfeits)["accrued"], "-0.00151");
    same(&bank.interest(&takes)["paidTotal"], "0.07");
    assert_eq!(bank.interest(&forfeits)["nextPayment"], json!(null));
    assert_eq!(refusal(&bank.pay(&forfeits)), "409 wrong_state");
    bank.days(30);
    bank.run();
    same(&bank.interest(&forfeits)["paidTotal"], "0");
    bank.check();
}

#[test]
fn accounts_that_are_closed_beside_a_run_give_up_all_that_they_accrue() {
    /// More than the first step of a day looks at, and those that are closed behind them.
    const OTHERS: usize = 340;
    const CLOSED: usize = 40;
    let bank = Bank::open();
    bank.sell(&interest_product("gain", "36.5", "MONTHLY"));
    for number in 0..OTHERS {
        let account = bank.counter.account_of(&format!("a{number:03}"), "gain");
        bank.world().post(&format!("/instances/{account}?command=ACTIVATE"), "").is(202);
    }
    let accounts: Vec<_> =
        (0..CLOSED).map(|number| bank.account(&format!("z{number:02}"), "gain", "1000")).collect();
    bank.days(3);
    for account in &accounts {
        bank.act("CWDL", account, "gain", "1000").is(202);
    }
    let run = bank.world().request("POST", "/interest/runs").header("content-type", "application/json");
    let close = accounts
        .iter()
        .map(|account| bank.world().request("POST", &format!("/instances/{account}?command=CLOSE")));
    let run = run.body(r#"{"from":"2031-05-06"}"#);
    for seen in bank.world().insist_all(std::iter::once(run).chain(close).collect()) {
        seen.is(202);
    }
    for account in &accounts {
        same(&bank.interest(account)["accrued"], "0");
        assert_eq!(bank.interest(account)["accruedUntil"], "2031-05-08");
    }
    assert!(bank.runs("").iter().all(|run| run["accounts"] == CLOSED), "{:?}", bank.runs(""));
    bank.check();
}

#[test]
fn what_a_closed_account_earned_before_is_accrued_and_never_paid() {
    let bank = Bank::open();
    bank.sell(&interest_product("gain", "36.5", "MONTHLY"));
    let account = bank.account("Maria", "gain", "1000.00");
    bank.days(2);
    bank.act("ACCC", &account, "gain", "1000.00").is(202);
    bank.days(30);
    bank.run_body(json!({ "from": "2031-05-06" })).is(202);
    let interest = bank.interest(&account);
    same(&interest["paidTotal"], "0");
    same(&interest["accrued"], "0");
    assert_eq!(interest["accruedUntil"], "2031-05-07");
    // What was earned on a day is given up on that day, once it was booked.
    let expected = ["2031-05-06", "2031-05-07"].map(|day| {
        [
            format!("INTA {day} 1.00 DEBIT expense-gain CREDIT accrue-gain"),
            format!("INTF {day} 1.00 DEBIT accrue-gain CREDIT expense-gain"),
        ]
    });
    assert_eq!(bank.entries(), expected.concat());
    same(&bank.counter.ledger("accrue-gain"), "0");
    bank.check();
}
