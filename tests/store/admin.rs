//! `mfa admin`: what is done to a store on its own machine, while no daemon runs.

use crate::support::run::{Ran, run};
use crate::support::stored::in_folder;
use crate::support::world::World;
use serde_json::{Value, json};
use std::fs;
use std::process::Stdio;
use std::time::Duration;

const PASSWORD: &str = "tulip-49 over the hill";

/// A world with a secret in its store.
fn world() -> World {
    let world = World::start();
    let email = json!({ "identifier": "main", "host": "h", "port": "25", "app_password": PASSWORD });
    world.post("/configuration/email", email.to_string()).is(201);
    world
}

fn admin(world: &World, arguments: &[&str]) -> Ran {
    run(world.mfa_on_store(&[&["admin", "-o", "json"], arguments].concat()))
}

fn secret(world: &World) -> Value {
    world.get("/configuration/email/main").is(200).json()["app_password"].clone()
}

/// Names of the keys in the file, the one in use first.
fn keys(world: &World) -> Vec<String> {
    let text = fs::read_to_string(world.dir.path().join("data.key")).unwrap();
    let keys = text.lines().filter(|line| line.starts_with("mfa-key-1 "));
    keys.map(|line| line.split(' ').nth(1).unwrap().to_owned()).collect()
}

#[test]
fn nothing_is_done_to_a_store_that_a_daemon_works_on() {
    let world = world();
    let before = keys(&world);
    let locked = |arguments: &[&str]| {
        let ran = run(world.mfa_on_store(&[arguments, &["-o", "json"]].concat()));
        let error = serde_json::from_str::<Value>(ran.err.lines().last().unwrap()).unwrap()["error"].clone();
        assert_eq!((ran.exit, &error["code"]), (11, &"data_dir_locked".into()), "{}", ran.err);
        assert!(error["hint"].as_str().unwrap().contains("mfa daemon stop"), "{error}");
    };
    locked(&["admin", "rotate-key"]);
    locked(&["check", "store"]);
    if world.config().store.postgres().is_none() {
        locked(&["admin", "add-account", "7352", "asset"]);
        locked(&["admin", "recover-user", "admin"]);
        locked(&["check"]);
        locked(&["check", "ledger"]);
        locked(&["check", "references"]);
    }
    assert_eq!(keys(&world), before);
    world.get("/ledger/accounts/7352").refused(404, "account_not_found");
}

#[test]
fn a_new_key_is_in_use_at_once_and_the_older_one_stays_in_the_file() {
    let mut world = world();
    world.stop();
    let [first] = keys(&world).try_into().unwrap();
    let rotated = admin(&world, &["rotate-key"]).json();
    let file = world.dir.path().join("data.key").display().to_string();
    assert_eq!((&rotated["file"], &rotated["result"]), (&file.into(), &"in use".into()));
    assert_eq!(keys(&world), [rotated["identifier"].as_str().unwrap(), &first]);
    world.restart();
    assert_eq!(secret(&world), PASSWORD);
}

#[test]
fn a_missing_or_wrong_key_file_is_reported_and_not_touched() {
    let mut world = world();
    world.stop();
    let file = world.dir.path().join("data.key");
    let good = fs::read(&file).unwrap();
    fs::remove_file(&file).unwrap();
    let said = admin(&world, &["rotate-key"]).fails_in_json(2)["message"].as_str().unwrap().to_owned();
    assert!(said.contains(&format!("key file {} is missing", file.display())), "{said}");
    assert!(!file.exists());
    let other = World::with(in_folder);
    fs::copy(other.dir.path().join("data.key"), &file).unwrap();
    let said = admin(&world, &["rotate-key"]).fails_in_json(2)["message"].as_str().unwrap().to_owned();
    assert!(said.contains("are encrypted with key") && said.contains("holds other keys"), "{said}");
    assert_eq!(keys(&world), keys(&other), "a key is added only where the present one is right");
    fs::write(&file, good).unwrap();
    world.restart();
    assert_eq!(secret(&world), PASSWORD);
}

#[test]
fn a_change_of_the_key_that_is_killed_at_any_moment_loses_no_secret() {
    let mut world = world();
    world.stop();
    let mut changed = 0;
    for round in 0..24u64 {
        let before = keys(&world).len();
        let mut child = world.mfa_on_store(&["admin", "rotate-key"]);
        let mut child = child.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(round * 4));
        let _ = child.kill();
        child.wait().unwrap();
        changed += keys(&world).len() - before;
        world.restart();
        assert_eq!(secret(&world), PASSWORD, "round {round}");
        world.stop();
    }
    assert!((0..24).contains(&changed), "{changed}");
}

#[test]
fn an_account_that_was_added_satisfies_strict_references() {
    let mut world = World::with(|config| config.strict_references = true);
    let office = json!({ "identifier": "accra", "name": "Accra" }).to_string();
    world.post("/offices", office).is(202);
    let teller = json!({ "code": "T1", "password": "1234", "cashdrawLimit": 10, "tellerAccountIdentifier": "d1",
        "vaultAccountIdentifier": "v1", "chequesReceivableAccount": "q1", "cashOverShortAccount": "o1",
        "denominationRequired": false });
    let create = |world: &World| world.post("/offices/accra/teller", teller.to_string());
    create(&world).refused(400, "unknown_reference");
    world.stop();
    for (identifier, kind) in [("d1", "asset"), ("v1", "ASSET"), ("q1", "Asset"), ("o1", "expense")] {
        let added = admin(&world, &["add-account", identifier, kind]).json();
        assert_eq!((&added["identifier"], &added["kind"]), (&identifier.into(), &kind.to_uppercase().into()));
        assert_eq!((&added["role"], &added["balance"]), (&Value::Null, &json!(0)));
    }
    let taken = admin(&world, &["add-account", "d1", "asset"]).fails_in_json(6);
    assert_eq!(
        (&taken["code"], &taken["message"]),
        (&"identifier_taken".into(), &"there is a ledger account \"d1\" already".into())
    );
    for bad in ["x", "a b", "x/y", &"x".repeat(35)] {
        let refused = admin(&world, &["add-account", bad, "asset"]).fails_in_json(7);
        assert_eq!((&refused["code"], &refused["field"]), (&"invalid_fields".into(), &"/identifier".into()));
    }
    admin(&world, &["add-account", "d2", "cash"]).fails_in_json(2);
    world.restart();
    create(&world).is(202);
}

#[test]
fn the_password_of_an_unknown_user_is_not_recovered() {
    let mut world = World::start();
    world.stop();
    let refused = admin(&world, &["recover-user", "nobody"]).fails_in_json(3);
    assert_eq!(refused["code"], "user_not_found");
}
