//! `mfa teller receipt`: the original, its copies, and a receipt by its number.

use crate::support::run::{Ran, run};
use crate::support::sample::sample;
use crate::support::world::World;
use serde_json::json;

fn teller(world: &World, line: &[&str]) -> Ran {
    run(world.mfa(&[&["teller"], line].concat()))
}

/// The identifiers of the transactions at desk-2 in a state.
fn transactions(world: &World, state: &str) -> Vec<String> {
    let listed = teller(world, &["transactions", "list", "desk-2", "--status", state, "-o", "id"]).ok();
    listed.lines().map(str::to_owned).collect()
}

#[test]
fn a_receipt_is_issued_for_the_teller_of_the_day_and_reprinted_as_a_copy() {
    let world = World::start();
    sample(&world);
    let confirmed = transactions(&world, "confirmed");
    let said = teller(&world, &["receipt", &confirmed[1]]).fails(2);
    assert!(said.contains("CODE is needed") && said.contains("--teller CODE; list them"), "{said}");
    let pin = world.dir.path().join("pin");
    std::fs::write(&pin, "4711\n").unwrap();
    teller(&world, &["pause", "desk-2"]).ok();
    let unlock = ["unlock", "desk-2", "--employee", "kwame", "--password-file", pin.to_str().unwrap()];
    teller(&world, &unlock).ok();
    // The sample has given out number 1.
    let original = teller(&world, &["receipt", &confirmed[1], "-o", "json"]).json();
    assert_eq!((&original["number"], &original["copy"]), (&json!(2), &json!(1)));
    let copy = teller(&world, &["receipt", &confirmed[1], "--teller", "desk-2", "-o", "json"]).json();
    assert_eq!((&copy["number"], &copy["copy"]), (&json!(2), &json!(2)));
    let office = ["--office", "head-office"];
    let line = [&["receipts", "get", "desk-2", "2", "-o", "json"], &office[..]].concat();
    assert_eq!(teller(&world, &line).json(), copy);
    let table =
        teller(&world, &[&["receipts", "get", "desk-2", "2", "-o", "table"], &office[..]].concat()).ok();
    assert!(table.contains("number") && table.contains("copy"), "{table}");
    let line = [&["receipts", "get", "desk-2", "9"], &office[..]].concat();
    assert!(teller(&world, &line).fails(3).contains("teller desk-2 has no receipt \"9\""));
}

#[test]
fn what_is_not_confirmed_has_no_receipt() {
    let world = World::start();
    sample(&world);
    let pending = transactions(&world, "pending");
    let said = teller(&world, &["receipt", "--teller", "desk-2", &pending[0]]).fails(6);
    assert!(said.contains("is PENDING, and only a CONFIRMED one has a receipt"), "{said}");
    teller(&world, &["receipt", "--teller", "desk-2", "none"]).fails(3);
    assert_eq!(teller(&world, &["receipt"]).exit, 2);
}

/// The words of each line that has some.
fn lines(text: &str) -> Vec<String> {
    text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn a_confirmed_transaction_prints_its_receipt_at_once() {
    let world = World::start();
    sample(&world);
    let deposit = |more: &[&str]| {
        let line = ["deposit", "desk-2", "-a", "c-003.9100.00002", "-m", "50", "--yes"];
        teller(&world, &[&line[..], more].concat())
    };
    let receipt = deposit(&["--receipt"]).ok();
    assert!(receipt.lines().all(|line| line.chars().count() <= 40), "{receipt}");
    // The reference is longer than the room beside its name, and whole below it.
    let listed = world.get("/teller/desk-2/transactions?status=CONFIRMED").is(200).json();
    let reference = listed.as_array().unwrap().last().unwrap()["identifier"].as_str().unwrap().to_owned();
    assert!(receipt.contains(&format!("\nReference\n{reference:>40}\n")), "{receipt}");
    let found = lines(&receipt);
    for line in [
        "Receipt 2",
        "Transaction cash deposit",
        "Account c-003.9100.00002",
        "Holder Esi Addo (c-003)",
        "Charges paid by the account",
        "Amount 50.00",
        "Deposit 1.00",
        "Total 51.00",
        "Balance of the account 149.00",
    ] {
        assert!(found.contains(&line.to_owned()), "{line}: {receipt}");
    }
    // Its size is a setting of its own, and the options of papers ask for it, too.
    let wide = deposit(&["--paper", "a4"]).ok();
    assert!(lines(&wide).contains(&"Receipt 3".to_owned()) && wide.contains(&"_".repeat(20)), "{wide}");
    let record = deposit(&["--receipt", "-o", "json"]).json();
    assert_eq!((&record["number"], &record["copy"]), (&json!(4), &json!(1)));
    let file = world.dir.path().join("receipt.pdf");
    deposit(&["--charges", "included", "--out", file.to_str().unwrap()]).ok();
    assert!(std::fs::read(&file).unwrap().starts_with(b"%PDF-"));
    // Without, nothing is given out.
    deposit(&[]).ok();
    let office = ["receipts", "get", "desk-2", "6", "--office", "head-office"];
    teller(&world, &office).fails(3);
}

#[test]
fn a_receipt_that_is_printed_again_says_that_it_is_a_copy() {
    let world = World::start();
    sample(&world);
    let pending = transactions(&world, "pending");
    let line = ["transactions", "confirm", "desk-2", &pending[0], "--receipt"];
    let original = teller(&world, &line).ok();
    assert!(lines(&original).contains(&"Receipt 2".to_owned()) && !original.contains("COPY"), "{original}");
    let copy = || teller(&world, &["receipt", "--teller", "desk-2", &pending[0]]).ok();
    let (first, second) = (copy(), copy());
    assert!(lines(&first).contains(&"Receipt 2 COPY".to_owned()), "{first}");
    assert!(lines(&first).contains(&"Copy 1".to_owned()) && lines(&second).contains(&"Copy 2".to_owned()));
    assert_eq!(first.replace("Copy         1", "Copy         2"), second);
}

#[test]
fn a_change_whose_output_cannot_be_written_is_said_to_be_made_with_the_key_that_repeats_it() {
    let world = World::start();
    sample(&world);
    let full = || std::fs::File::options().write(true).open("/dev/full").unwrap();
    let line = ["teller", "deposit", "desk-2", "-a", "c-003.9100.00002", "-m", "50", "--yes", "-o", "json"];
    let before = transactions(&world, "confirmed").len();
    let ended = world.mfa(&line).stdout(full()).output().unwrap();
    let error: serde_json::Value =
        serde_json::from_str(String::from_utf8(ended.stderr).unwrap().lines().last().unwrap()).unwrap();
    assert_eq!(ended.status.code(), Some(1), "{error}");
    assert!(
        error["error"]["message"].as_str().unwrap().ends_with("; the change was made nevertheless"),
        "{error}"
    );
    assert_eq!(transactions(&world, "confirmed").len(), before + 1);
    let key = error["error"]["idempotencyKey"].as_str().unwrap();
    run(world.mfa(&[&line[..], &["--idempotency-key", key]].concat())).ok();
    assert_eq!(transactions(&world, "confirmed").len(), before + 1);
    // A read has changed nothing.
    let ended = world.mfa(&["customers", "list"]).stdout(full()).output().unwrap();
    assert!(!String::from_utf8(ended.stderr).unwrap().contains("nevertheless"));
}

#[test]
fn a_receipt_that_cannot_be_written_says_that_the_money_has_moved() {
    let world = World::start();
    sample(&world);
    let deposit = |out: &str| {
        let line = ["deposit", "desk-2", "-a", "c-003.9100.00002", "-m", "50", "--yes", "--out", out];
        teller(&world, &line).fails(1)
    };
    // What is known before moves nothing, and gives out no receipt.
    let all = || ["pending", "confirmed"].map(|state| transactions(&world, state));
    let before = all();
    let folder = world.dir.path().display().to_string();
    for out in ["nowhere/receipt.pdf", &folder] {
        let said = deposit(out);
        assert!(said.contains(&format!("cannot write {out}")) && !said.contains("confirmed"), "{said}");
        let line = ["receipt", "--teller", "desk-2", &before[1][1], "--out", out];
        teller(&world, &line).fails(1);
    }
    assert_eq!(all(), before);
    let original = teller(&world, &["receipt", "--teller", "desk-2", &before[1][1]]).ok();
    assert!(!original.contains("COPY"), "{original}");
    let said = deposit("/dev/full");
    assert!(said.contains("is confirmed nevertheless"), "{said}");
    let again = said.split_once("print the receipt again: mfa ").unwrap().1.trim();
    let ran = run(world.mfa(&again.split(' ').collect::<Vec<_>>()));
    assert!(ran.ok().contains("COPY"));
}
