//! Who works at a teller names it once: it is remembered until it is closed, or until the day ends.

use crate::support::run::{Ran, run};
use crate::support::sample::sample;
use crate::support::terminal::Terminal;
use crate::support::world::World;
use serde_json::{Value, json};

const ACCOUNT: &str = "c-003.9100.00002";

fn counter() -> World {
    let world = World::start();
    sample(&world);
    world
}

fn teller(world: &World, line: &[&str]) -> Ran {
    run(world.mfa(&[&["teller"], line].concat()))
}

fn unlock(world: &World, code: &str) {
    std::fs::write(world.dir.path().join("pin"), "4711\n").unwrap();
    let file = world.dir.path().join("pin");
    let line = ["unlock", code, "--employee", "kwame", "--password-file", file.to_str().unwrap()];
    teller(world, &line).ok();
}

fn remembered(world: &World) -> std::path::PathBuf {
    world.dir.path().join("state/mfa/tellers.json")
}

#[test]
fn an_unlocked_teller_need_not_be_named_again_until_it_is_closed() {
    let world = counter();
    let said = teller(&world, &["deposit", "-a", ACCOUNT, "-m", "5", "-y"]).fails(2);
    assert!(said.contains("CODE is needed"), "{said}");
    assert!(said.contains("MFA_TELLER"), "{said}");
    teller(&world, &["pause", "desk-2"]).ok();
    unlock(&world, "desk-2");
    let ran = teller(&world, &["deposit", "-a", ACCOUNT, "-m", "5", "-y", "-o", "json"]);
    assert!(ran.err.contains("at teller desk-2\n"), "{}", ran.err);
    assert_eq!(ran.json()["state"], "CONFIRMED");
    teller(&world, &["pause"]).ok();
    assert_eq!(
        teller(&world, &["balance", "--office", "head-office", "-o", "json"]).json()["cashOnHand"],
        610
    );
    assert!(teller(&world, &["transactions", "list", "-o", "id"]).ok().lines().count() > 1);
    teller(&world, &["close", "--office", "head-office", "-y"]).ok();
    assert!(!remembered(&world).exists());
    teller(&world, &["pause"]).fails(2);
}

#[test]
fn an_opened_teller_is_remembered_with_its_office_unless_one_is_named() {
    let world = counter();
    teller(&world, &["close", "desk-2", "--office", "head-office", "-y"]).ok();
    teller(&world, &["open", "desk-2", "--office", "head-office", "-e", "kwame", "-f", "10"]).ok();
    assert_eq!(teller(&world, &["balance", "-o", "json"]).json()["cashOnHand"], 615);
    let said = teller(&world, &["balance", "desk-1"]).fails(2);
    assert!(said.contains("--office is needed"), "the office of another teller is not taken: {said}");
    let mut set = world.mfa(&["teller", "balance", "--office", "head-office"]);
    let said = run({
        set.env("MFA_TELLER", "desk-77");
        set
    })
    .fails(3);
    assert!(said.contains("desk-77"), "the setting beats what is remembered: {said}");
}

#[test]
fn a_teller_is_forgotten_the_next_day_and_that_of_others_is_not_used() {
    let world = counter();
    teller(&world, &["pause", "desk-2"]).ok();
    unlock(&world, "desk-2");
    let file = remembered(&world);
    let kept: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    let changed = |property: &str, value: &str| {
        let mut other = kept.clone();
        other[0][property] = json!(value);
        std::fs::write(&file, other.to_string()).unwrap();
        teller(&world, &["transactions", "list", "-o", "id"]).fails(2);
    };
    for (property, value) in
        [("day", "2001-01-01"), ("caller", "somebody"), ("profile", "test"), ("url", "http://127.0.0.1:1")]
    {
        changed(property, value);
    }
    // A file that cannot be read is only a convenience that is lost.
    std::fs::write(&file, "{").unwrap();
    teller(&world, &["transactions", "list"]).fails(2);
    teller(&world, &["transactions", "list", "desk-2"]).ok();
    std::fs::write(&file, kept.to_string()).unwrap();
    teller(&world, &["transactions", "list"]).ok();
}

#[test]
fn at_the_counter_the_customer_is_shown_by_name_before_anything_is_asked() {
    let world = counter();
    let card = json!({ "type": "Passport", "number": "P-1",
        "expirationDate": { "year": 2019, "month": 2, "day": 28 } });
    world.post("/customers/c-003/identifications", card.to_string()).is(202);
    let terminal = Terminal::start(&world, 120, &[]);
    terminal.type_line(&format!("clear; mfa teller deposit desk-2 -a {ACCOUNT} -m 5"));
    let screen = terminal.wait_for("paid by the account? [y/N]");
    let customer = world.get("/customers/c-003").json();
    let name =
        format!("{} {}", customer["givenName"].as_str().unwrap(), customer["surname"].as_str().unwrap());
    assert!(screen.contains(&format!("of {name} (customer c-003), at teller desk-2")), "{screen}");
    assert!(screen.contains("warning: card P-1 of customer c-003 expired on 2019-02-28; "), "{screen}");
    terminal.type_line("n");
    terminal.wait_for("$");
}
