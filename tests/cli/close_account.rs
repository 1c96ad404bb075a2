//! `mfa teller close-account`: what is paid out where no amount is given.

use crate::api::interest::bank::{Bank, interest_product};
use crate::support::counter::same;
use crate::support::run::{Ran, run, run_with};
use crate::support::sample::sample;
use crate::support::terminal::Terminal;
use crate::support::world::World;
use serde_json::{Value, json};

/// An account of the sample that holds 100.
const ACCOUNT: &str = "c-003.9100.00002";

fn counter() -> World {
    let world = World::start();
    sample(&world);
    world
}

/// Closing an account of the product costs these charges: a fixed amount, or with `%` a part of what is paid.
fn charge(world: &World, charges: &[&str]) {
    let charge = |(number, charge): (usize, &&str)| {
        let amount: Value = serde_json::from_str(charge.trim_end_matches('%')).unwrap();
        json!({
            "actionIdentifier": "Close", "incomeAccountIdentifier": "fees", "name": format!("fee {number}"),
            "amount": amount, "proportional": charge.ends_with('%')
        })
    };
    let body = json!({ "charges": charges.iter().enumerate().map(charge).collect::<Vec<_>>() });
    run_with(world.mfa(&["products", "update", "savings", "--from", "-"]), &body.to_string()).ok();
}

fn close(world: &World, more: &[&str]) -> Ran {
    let line = ["teller", "close-account", "desk-2", "--account", ACCOUNT];
    run(world.mfa(&[&line[..], more].concat()))
}

fn balance(world: &World) -> Value {
    world.get(&format!("/instances/{ACCOUNT}")).is(200).json()["balance"].clone()
}

fn states(world: &World) -> Vec<Value> {
    let listed = world.get("/teller/desk-2/transactions").is(200).json();
    listed.as_array().unwrap().iter().map(|transaction| transaction["state"].clone()).collect()
}

#[test]
fn without_an_amount_the_whole_balance_is_paid_out_less_its_charges() {
    // The charges, who pays them, and what is paid out of 100.
    let cases: &[(&[&str], &str, &str)] = &[
        (&[], "excluded", "100"),
        (&["7.25"], "excluded", "92.75"),
        (&["7.25"], "included", "100"),
        (&["100"], "excluded", "0"),
        (&["3%"], "excluded", "97.09"),
        (&["3%", "1.50"], "excluded", "95.63"),
        (&["60%"], "excluded", "62.50"),
        (&["60%"], "included", "100"),
    ];
    for (charges, payer, paid) in cases {
        let world = counter();
        charge(&world, charges);
        let closed = close(&world, &["--charges", payer, "--yes", "-o", "json"]).json();
        same(&closed["amount"], paid);
        assert_eq!(closed["state"], "CONFIRMED");
        same(&balance(&world), "0");
        assert_eq!(world.get(&format!("/instances/{ACCOUNT}")).json()["state"], "CLOSED");
        // Finding the amount leaves no transaction behind.
        assert_eq!(states(&world).len(), 4, "{:?}", states(&world));
    }
}

#[test]
fn an_account_whose_charges_cannot_be_met_stays_open_and_says_why() {
    let world = counter();
    // More than there is; and 50.25 and its half, rounded, are 0.01 less than the balance, 50.26 and its half
    // are 0.01 more.
    for (charges, held) in [(&["100.01"], "100"), (&["100%"], "100.01")] {
        charge(&world, charges);
        if held != "100" {
            let deposit = ["teller", "deposit", "desk-2", "--account", ACCOUNT, "--amount", "0.01", "--yes"];
            run(world.mfa(&[&deposit[..], &["--charges", "included"]].concat())).ok();
        }
        let said = close(&world, &["--yes"]).fails(6);
        assert!(said.contains("\nhint: ") && said.contains("in cash: --charges included"), "{said}");
        same(&balance(&world), held);
        assert!(states(&world)[3..].iter().all(|state| state != "PENDING"), "{said}");
    }
    close(&world, &["--yes", "--charges", "included"]).ok();
    same(&balance(&world), "0");
}

#[test]
fn the_limit_of_a_teller_is_for_what_is_paid_out_and_not_for_its_charges() {
    let world = counter();
    let limit = |limit: &str| {
        std::fs::write(world.dir.path().join("pin"), "4711\n").unwrap();
        let pin = world.dir.path().join("pin");
        let line = ["teller", "update", "desk-2", "--office", "head-office", "--limit", limit];
        run(world.mfa(&[&line[..], &["--password-file", pin.to_str().unwrap()]].concat())).ok();
    };
    charge(&world, &["3%"]);
    for too_low in ["97.08", "50"] {
        limit(too_low);
        let said = close(&world, &["--yes"]).fails(6);
        assert!(said.contains(&format!("teller desk-2 pays out at most {too_low} at once")), "{said}");
    }
    limit("97.09");
    same(&close(&world, &["--yes", "-o", "json"]).json()["amount"], "97.09");
    same(&balance(&world), "0");
}

#[test]
fn the_amount_of_a_closing_is_shown_before_it_is_confirmed() {
    let world = counter();
    charge(&world, &["2%"]);
    let terminal = Terminal::start(&world, 80, &[]);
    terminal.type_line(&format!("clear; mfa teller close-account desk-2 --account {ACCOUNT}; echo exit $?"));
    let asked = terminal.wait_for("confirm it, with the charges paid by the account? [y/N]");
    for line in ["amount        98.04", "charge fee 0  1.96", "account       100.00 -> 0.00 (-100.00)"] {
        assert!(asked.contains(line), "{asked}");
    }
    terminal.type_line("n");
    terminal.wait_for("exit 1\n$");
    same(&balance(&world), "100");
    let tried = close(&world, &["--dry-run"]);
    assert!(tried.err.contains("98.04") && tried.out.contains("nothing was changed"), "{tried:?}");
    same(&balance(&world), "100");
}

#[test]
fn a_key_covers_one_amount_so_a_closing_under_it_needs_one() {
    let world = counter();
    charge(&world, &[]);
    let said = close(&world, &["--yes", "--idempotency-key", "end-1"]).fails(2);
    assert!(said.contains("give --amount, too"), "{said}");
    same(&balance(&world), "100");
    let line = ["--yes", "--idempotency-key", "end-1", "--amount", "100", "-o", "json"];
    let first = close(&world, &line).json();
    assert_eq!(close(&world, &line).json(), first);
}

#[test]
fn interest_that_is_paid_first_is_part_of_what_is_paid_out() {
    let bank = Bank::open();
    bank.sell(&interest_product("gain", "2.50", "MONTHLY"));
    let accounts: Vec<_> =
        ["Maria", "Nana", "Ama"].iter().map(|customer| bank.account(customer, "gain", "1000")).collect();
    bank.days(1);
    bank.run();
    let mfa = |account: &str, more: &[&str]| {
        let line = ["teller", "close-account", "T1", "--account", account, "--yes"];
        run(bank.world().mfa(&[&line[..], more].concat()))
    };
    mfa(&accounts[0], &[]).fails(2);
    let tried = mfa(&accounts[0], &["--pay-interest", "--dry-run"]);
    assert!(tried.err.contains("it would be paid first, and then be part of the balance"), "{tried:?}");
    same(&bank.interest(&accounts[0])["paidTotal"], "0");
    same(&mfa(&accounts[0], &["--pay-interest", "-o", "json"]).json()["amount"], "1000.07");
    same(&mfa(&accounts[1], &["--forfeit-interest", "-o", "json"]).json()["amount"], "1000");
    // A repetition finds no interest that it could pay first.
    let line = ["--pay-interest", "--amount", "1000.07", "--idempotency-key", "end-1", "-o", "json"];
    let first = mfa(&accounts[2], &line).json();
    assert_eq!(mfa(&accounts[2], &line).json(), first);
    for account in &accounts {
        assert_eq!(bank.counter.instance(account)["state"], "CLOSED");
    }
    bank.check();
}
