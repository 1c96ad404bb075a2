//! `tellers.md` section 4: only the assigned employee works at a teller.

use crate::support::counter::{Counter, PIN, product, teller};
use crate::support::guarded::As;
use crate::support::world::{Seen, World};
use serde_json::{Value, json};

const T1: &str = "/offices/accra/teller/T1";

/// A branch whose callers are asked who they are: T1 is open for `ama`.
fn branch() -> World {
    let world = World::guarded();
    let manager = world.login("olga");
    manager.post("/offices", json!({ "identifier": "accra", "name": "Accra" })).is(202);
    manager.post("/definitions", product()).is(202);
    manager.post("/offices/accra/teller", teller("T1")).is(202);
    let instance = json!({ "customerIdentifier": "anna", "productIdentifier": "saver" });
    manager.post("/instances", instance).is(202);
    world.user("ama", "teller");
    world.user("kofi", "teller");
    world
}

fn open(world: &World) {
    let command = json!({ "action": "OPEN", "assignedEmployeeIdentifier": "ama" });
    world.login("olga").post(&format!("{T1}/commands"), command).is(202);
}

fn unlock(caller: &As<'_>, employee: &str) -> Seen {
    caller.post("/teller/T1/drawer", json!({ "employeeIdentifier": employee, "password": PIN }))
}

fn quote(caller: &As<'_>) -> Seen {
    caller.post("/teller/T1/transactions", Counter::request("ACCO", "anna.9100.00001", "100"))
}

#[test]
fn only_the_assigned_employee_unlocks_pauses_and_transacts() {
    let world = branch();
    let (ama, kofi, olga) = (world.login("ama"), world.login("kofi"), world.login("olga"));
    // No one is assigned to a closed teller, so its state is reported first.
    for caller in [&ama, &kofi] {
        unlock(caller, "ama").refused(409, "wrong_state");
        caller.post("/teller/T1?command=PAUSE", Value::Null).refused(409, "wrong_state");
        quote(caller).refused(409, "wrong_state");
    }
    open(&world);
    for caller in [&kofi, &olga] {
        unlock(caller, "ama").refused(403, "not_assigned_employee");
        caller.post("/teller/T1?command=PAUSE", Value::Null).refused(403, "not_assigned_employee");
        quote(caller).refused(403, "not_assigned_employee");
    }
    unlock(&ama, "kofi").refused(403, "not_assigned_employee");
    unlock(&ama, "ama").is(200);
    let transaction = quote(&ama).is(200).json()["tellerTransactionIdentifier"].as_str().unwrap().to_owned();
    let finish = |caller: &As<'_>, id: &str, command: &str| {
        caller.post(&format!("/teller/T1/transactions/{id}?command={command}"), Value::Null)
    };
    for command in ["CONFIRM", "CANCEL"] {
        finish(&kofi, "none", command).refused(404, "transaction_not_found");
        finish(&kofi, &transaction, command).refused(403, "not_assigned_employee");
    }
    finish(&ama, &transaction, "CONFIRM").is(202);
    let entry = olga.get("/ledger/journal").is(200).json()["entries"][0].clone();
    assert_eq!((&entry["clerk"], &entry["type"]), (&json!("ama"), &json!("ACCO")));
    // A caller who may read tellers may read the transactions.
    let listed = kofi.get("/teller/T1/transactions").is(200).json();
    assert_eq!(listed[0]["clerk"], "ama");
    let shown = olga.get(T1).is(200).json();
    assert_eq!((&shown["lastOpenedBy"], &shown["lastModifiedBy"]), (&json!("olga"), &json!("ama")));
}

#[test]
fn the_assigned_employee_issues_receipts_and_readers_of_tellers_see_them() {
    let world = branch();
    open(&world);
    let (ama, kofi, olga) = (world.login("ama"), world.login("kofi"), world.login("olga"));
    let auditor = world.user("yaw", "auditor");
    unlock(&ama, "ama").is(200);
    let transaction = quote(&ama).is(200).json()["tellerTransactionIdentifier"].as_str().unwrap().to_owned();
    ama.post(&format!("/teller/T1/transactions/{transaction}?command=CONFIRM"), Value::Null).is(202);
    let issue =
        |caller: &As<'_>| caller.post(&format!("/teller/T1/transactions/{transaction}/receipt"), Value::Null);
    for caller in [&kofi, &olga] {
        issue(caller).refused(403, "not_assigned_employee");
    }
    issue(&auditor).refused(403, "forbidden");
    let receipt = issue(&ama).is(200).json();
    assert_eq!((&receipt["number"], &receipt["issuedBy"]), (&json!(1), &json!("ama")));
    for caller in [&ama, &kofi, &olga, &auditor] {
        assert_eq!(caller.get(&format!("{T1}/receipts/1")).is(200).json(), receipt);
    }
}

#[test]
fn others_cannot_lock_a_drawer() {
    let world = branch();
    open(&world);
    let (ama, kofi) = (world.login("ama"), world.login("kofi"));
    let wrong = json!({ "employeeIdentifier": "ama", "password": "wrong" });
    for _ in 0..6 {
        kofi.post("/teller/T1/drawer", wrong.clone()).refused(403, "not_assigned_employee");
    }
    for _ in 0..5 {
        ama.post("/teller/T1/drawer", wrong.clone()).refused(403, "wrong_drawer_password");
    }
    kofi.post("/teller/T1/drawer", wrong).refused(403, "not_assigned_employee");
    unlock(&ama, "ama").refused(429, "too_many_attempts");
}

#[test]
fn a_teller_of_the_counter_does_not_manage_tellers() {
    let world = branch();
    let ama = world.login("ama");
    ama.get(T1).is(200);
    ama.get(&format!("{T1}/balance")).is(200);
    ama.post(&format!("{T1}/commands"), json!({ "action": "OPEN" })).refused(403, "forbidden");
    ama.delete(T1).refused(403, "forbidden");
    world.get(T1).refused(401, "unauthenticated");
}
