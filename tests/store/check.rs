//! `mfa check`: a sound store, doctored stores, and the findings.

use crate::support::run::{Ran, run};
use crate::support::sample::sample;
use crate::support::stored;
use crate::support::stored::in_folder;
use crate::support::world::World;
use mfa_daemon::Daemon;
use mfa_daemon::store::records::StoreFacts;
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;

/// A stopped daemon with the sample institution.
fn stopped() -> World {
    let mut world = World::start();
    sample(&world);
    // The user of the sample has this role, which does not exist until `mfa init` was run.
    world.post("/roles", r#"{"identifier":"clerk","permissions":[]}"#).is(202);
    world.stop();
    world
}

fn check(world: &World, arguments: &[&str]) -> Ran {
    run(world.mfa_on_store(&[&["check", "-o", "json"], arguments].concat()))
}

/// What a check finds: `record field detail`.
#[track_caller]
fn findings(world: &World, what: &str) -> Vec<String> {
    let ran = check(world, &[what]);
    let found: Value = serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{}", ran.err));
    let found = found.as_array().unwrap().clone();
    assert_eq!(ran.exit, i32::from(!found.is_empty()), "{}", ran.err);
    // Findings are data, and no failure of the command.
    assert!(!ran.err.contains("\"error\""), "{}", ran.err);
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let shown = |f: &Value| [text(&f["record"]), text(&f["field"]), text(&f["detail"])].join(" ");
    found.iter().map(shown).collect()
}

#[test]
fn everything_holds_in_the_sample_institution_and_a_check_changes_nothing() {
    let world = stopped();
    for _ in 0..2 {
        let ran = check(&world, &[]);
        assert_eq!((ran.exit, ran.out.as_str()), (0, "[]\n"), "{}", ran.err);
        assert_eq!(ran.err, "store: all holds\nledger: all holds\nreferences: all holds\n");
    }
    for what in ["store", "ledger", "references"] {
        assert_eq!(check(&world, &[what, "-q"]).err, "");
    }
    check(&world, &["weather"]).fails(2);
}

#[test]
fn a_check_makes_no_store() {
    let world = World::with(in_folder);
    let none = world.dir.path().join("none");
    let at = none.to_str().unwrap();
    for what in
        [&["check"][..], &["check", "store"], &["admin", "rotate-key"], &["admin", "recover-user", "u"]]
    {
        let said = run(world.mfa(&[what, &["--data-dir", at]].concat())).fails(2);
        assert!(said.contains(&format!("there is no store in {at}")), "{said}");
    }
    assert!(!none.exists());
}

#[test]
fn every_dangling_reference_is_listed_with_its_field() {
    let mut world = World::start();
    let put = |path: &str, body: Value| drop(world.post(path, body.to_string()).is(202));
    put("/offices", json!({ "identifier": "accra", "name": "Accra" }));
    put("/customers", json!({ "identifier": "good", "type": "PERSON", "assignedOffice": "accra" }));
    put(
        "/customers",
        json!({ "identifier": "c 1", "type": "PERSON", "assignedOffice": "tema", "assignedEmployee": "kofi",
            "referenceCustomer": "nobody" }),
    );
    put("/employees", json!({ "identifier": "ama", "assignedOffice": "tema" }));
    put("/users", json!({ "identifier": "u1", "role": "gone", "password": "a long password" }));
    put("/users", json!({ "identifier": "u2", "role": "deactivated", "password": "a long password" }));
    let group =
        |name: &str| json!({ "permittableEndpointGroupIdentifier": name, "allowedOperations": ["READ"] });
    put(
        "/roles",
        json!({ "identifier": "r1", "permissions": [group("identity__v1__users"), group("none")] }),
    );
    let key = json!({ "publicKeyMod": 3, "publicKeyExp": 65_537 }).to_string();
    let _ = world.put("/applications/crm-v1/signatures/2031-05-06T10_11_12", key);
    let set =
        json!({ "identifier": "s1", "permittableEndpointGroupIdentifiers": ["identity__v1__users", "none"] });
    let made = world.post("/applications/crm-v1/callendpointset", set.to_string());
    let charge =
        json!({ "actionIdentifier": "Open", "incomeAccountIdentifier": "7352", "name": "Fee", "amount": 1 });
    put(
        "/definitions",
        json!({ "identifier": "p1", "type": "SHARE", "name": "P", "equityLedgerIdentifier": "9100",
            "currency": { "code": "USD", "name": "Dollar", "sign": "$", "scale": 2 }, "charges": [charge],
            "cashAccountIdentifier": "7352", "expenseAccountIdentifier": "3010",
            "term": { "interestPayable": "MONTHLY" } }),
    );
    put("/instances", json!({ "customerIdentifier": "c 2", "productIdentifier": "p1" }));
    put(
        "/offices/accra/teller",
        json!({ "code": "T1", "password": "1234", "cashdrawLimit": 10, "tellerAccountIdentifier": "3010",
            "vaultAccountIdentifier": "v1", "chequesReceivableAccount": "q1", "cashOverShortAccount": "o1",
            "denominationRequired": false, "assignedEmployee": "yaw" }),
    );
    world.stop();
    let mut expected = vec![
        r#"employee ama /assignedOffice there is no office "tema""#,
        r#"customer c 1 /referenceCustomer there is no customer "nobody""#,
        r#"customer c 1 /assignedOffice there is no office "tema""#,
        r#"customer c 1 /assignedEmployee there is no employee "kofi""#,
        r#"user u1 /role there is no role "gone""#,
        r#"role r1 /permissions/1/permittableEndpointGroupIdentifier there is no permittable group "none""#,
        r#"call endpoint set s1 of application crm-v1 /permittableEndpointGroupIdentifiers/1 there is no permittable group "none""#,
        "definition p1 /charges/0/incomeAccountIdentifier ledger account 7352 is ASSET, and this field wants REVENUE",
        r#"instance c 2.9100.00001 /customerIdentifier there is no customer "c 2""#,
        "teller T1 /tellerAccountIdentifier ledger account 3010 is EXPENSE, and this field wants ASSET",
        r#"teller T1 /assignedEmployee there is no employee "yaw""#,
    ];
    assert_eq!(made.status, 202, "{}", made.text());
    expected.retain(|line| !line.is_empty());
    assert_eq!(findings(&world, "references"), expected);
    let csv = run(world.mfa_on_store(&["check", "references", "-o", "csv", "--columns", "record,names"]));
    assert!(csv.out.starts_with("record,names\nemployee ama,tema\ncustomer c 1,nobody\n"), "{}", csv.out);
}

#[test]
fn an_index_that_differs_from_the_journal_is_reported_once() {
    let mut world = World::with(in_folder);
    world.stop();
    fs::remove_dir_all(data(&world, "index")).unwrap();
    assert_eq!(findings(&world, "store"), ["index - it is missing; it was made anew from the journal"]);
    assert_eq!(findings(&world, "store"), [""; 0]);
}

fn data(world: &World, name: &str) -> PathBuf {
    world.dir.path().join("data").join(name)
}

#[test]
fn records_of_a_later_form_are_refused_before_anything_is_read_of_them() {
    let world = stopped();
    let store = stored::open(world.config(), world.clock.clone());
    let later = StoreFacts::FORM + 1;
    let altered = store.write("doctor", move |tx| {
        let facts: StoreFacts = tx.get(&["store"])?.unwrap();
        tx.put(&StoreFacts { form: later, program: Some("7.8.9".to_owned()), ..facts })
    });
    world.block_on(altered).unwrap();
    world.block_on(store.close());
    drop(store);
    let refused = world.block_on(Daemon::start(world.config().clone(), world.clock.clone()));
    let why = refused.map(drop).unwrap_err().to_string();
    assert!(why.contains(&format!("are of form {later}, and mfa ")), "{why}");
    assert!(why.contains(&format!(" reads {}:", StoreFacts::forms_read())), "{why}");
    assert!(why.ends_with("use mfa 7.8.9 or a later version"), "{why}");
    let ran = check(&world, &["ledger"]);
    let said = ran.err.contains(&format!("of form {later}"));
    assert!(ran.exit != 0 && ran.out.is_empty() && said, "{}{}", ran.out, ran.err);
}

#[test]
fn a_broken_chain_of_the_journal_is_refused_with_the_file() {
    let mut world = World::with(in_folder);
    for number in 0..3 {
        let body = json!({ "identifier": format!("c{number}"), "type": "PERSON" }).to_string();
        world.post("/customers", body).is(202);
    }
    world.stop();
    let file = data(&world, "journal/00000001.log");
    let mut bytes = fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&file, bytes).unwrap();
    let ran = check(&world, &["store"]);
    assert!(
        ran.exit == 1 && ran.out.is_empty() && ran.err.contains("00000001.log is damaged"),
        "{}",
        ran.err
    );
}

#[test]
fn an_image_without_owner_and_an_owner_without_image_are_found() {
    let images = crate::support::images::Images::with(in_folder);
    images.portrait(&crate::support::images::picture(3_000, 2)).is(202);
    let mut world = images.0;
    world.stop();
    let folder = data(&world, "objects");
    let kept = fs::read_dir(&folder).unwrap().flatten().map(|entry| entry.path());
    let kept =
        kept.filter(|path| path.is_dir()).find_map(|path| fs::read_dir(path).unwrap().flatten().next());
    let kept = kept.unwrap().path();
    let name = kept.file_name().unwrap().to_str().unwrap().to_owned();
    let stray = format!("{:064x}", 0xab);
    fs::create_dir_all(folder.join("00")).unwrap();
    fs::rename(&kept, folder.join("00").join(&stray)).unwrap();
    let expected = [
        format!("portrait of customer c-1 - its image {name} is missing"),
        format!("image {stray} - no record names it; a daemon removes it within some hours"),
    ];
    assert_eq!(findings(&world, "store"), expected);
}
