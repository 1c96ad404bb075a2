//! `mfa teller receipt`: the original, its copies, and a receipt by its number.

use super::run::{Ran, run};
use super::tree::sample;
use crate::world::World;
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
fn a_receipt_is_given_out_for_the_teller_of_the_day_and_printed_again_as_a_copy() {
    let world = World::start();
    sample(&world);
    let confirmed = transactions(&world, "confirmed");
    let said = teller(&world, &["receipt", &confirmed[1]]).fails(2);
    assert!(said.contains("CODE is needed"), "{said}");
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
