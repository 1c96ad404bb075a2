//! The day at a teller, from the command line.

use super::run::run;
use super::tree::sample;
use crate::world::World;
use serde_json::json;

fn branch() -> World {
    let world = World::start();
    sample(&world);
    world
}

#[test]
fn a_deposit_shows_its_charges_and_is_booked() {
    let world = branch();
    let line = ["teller", "deposit", "desk-2", "--account", "c-003.9100.00002", "--amount", "50.50"];
    let ran = run(world.mfa(&[&line[..], &["--charges", "included", "--yes", "-o", "json"]].concat()));
    assert!(ran.err.contains("amount 50.50\n  Deposit 1\ntotal 51.50"), "{}", ran.err);
    let record = ran.json();
    assert_eq!((&record["state"], &record["chargesIncluded"]), (&json!("CONFIRMED"), &json!(true)));
    let account = world.get("/instances/c-003.9100.00002").json();
    assert_eq!(account["balance"].to_string(), "150.50");
}

#[test]
fn without_a_terminal_money_moves_only_after_yes() {
    let world = branch();
    let before = world.get("/teller/desk-2/transactions").text();
    let line = ["teller", "deposit", "desk-2", "--account", "c-003.9100.00002", "--amount", "5"];
    let said = run(world.mfa(&line)).fails(2);
    assert!(said.contains("--yes is needed"), "{said}");
    assert_eq!(world.get("/teller/desk-2/transactions").text(), before);
}

#[test]
fn what_cannot_be_confirmed_is_cancelled() {
    let world = branch();
    let line = ["teller", "withdraw", "desk-2", "--account", "c-003.9100.00002", "--amount", "4000", "--yes"];
    let error = run(world.mfa(&[&line[..], &["-q", "-o", "json"]].concat())).fails_in_json(6);
    assert_eq!(error["code"], "insufficient_balance");
    let listed = world.get("/teller/desk-2/transactions").json();
    assert_eq!(listed.as_array().unwrap().last().unwrap()["state"], "CANCELED");
}

#[test]
fn a_closing_with_a_count_reports_the_day() {
    let world = branch();
    let line = ["teller", "close", "desk-2", "--office", "head-office", "--denominations", "100x6,2x2"];
    let ran = run(world.mfa(&[&line[..], &["--to-vault", "600", "--yes", "-o", "json"]].concat()));
    assert!(ran.err.contains("expected 605, counted 604, difference -1"), "{}", ran.err);
    let expected = json!({
        "teller": "desk-2", "day": world.get("/offices/head-office/teller/desk-2/balance").json()["day"],
        "entries": 5, "received": 605, "disbursed": 601, "expected": 605, "counted": 604, "difference": -1,
        "left": 4,
    });
    assert_eq!(ran.json(), expected);
    assert_eq!(world.get("/offices/head-office/teller/desk-2").json()["state"], "CLOSED");
}

#[test]
fn a_pin_is_never_part_of_a_command_line() {
    let world = branch();
    let line = ["teller", "unlock", "desk-2", "--employee", "kwame"];
    let said = run(world.mfa(&line)).fails(2);
    assert!(said.contains("--password-file is needed"), "{said}");
    run(world.mfa(&[&line[..], &["--password", "4711"]].concat())).fails(2);
    let file = world.dir.path().join("pin");
    std::fs::write(&file, "4711\n").unwrap();
    let given = [&line[..], &["--password-file", file.to_str().unwrap(), "-o", "tsv"]].concat();
    let out = run(world.mfa(&given)).ok();
    assert!(out.contains("ACTIVE") && !out.contains("4711"), "{out}");
}
