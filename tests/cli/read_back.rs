//! A change whose record cannot be read back was made: no command says otherwise, and none shows something
//! else in place of what was asked for.

use crate::support::guarded::{As, may};
use crate::support::run::{Ran, run};
use crate::support::world::World;
use serde_json::json;

/// A store with a product.
fn office() -> World {
    let world = World::guarded();
    let product: serde_json::Value = serde_json::from_str(crate::api::definitions::PRODUCT).unwrap();
    world.login("olga").post("/definitions", product).is(202);
    world
}

/// A user who may open accounts but not see them.
fn kofi(world: &World) -> As<'_> {
    world.user_with("kofi", &[may("deposit__v1__instance", "C")])
}

/// Opens an account as that user.
fn open(world: &World, kofi: &As<'_>, how: &[&str]) -> Ran {
    let mut command = world.mfa(&[&["accounts", "create", "-c", "Maria", "-p", "savings"], how].concat());
    command.env("MFA_TOKEN", &kofi.token);
    run(command)
}

#[test]
fn the_result_has_the_identifier_where_the_record_has_it() {
    let world = office();
    let kofi = kofi(&world);
    let made = open(&world, &kofi, &["-o", "json"]).json();
    let account = "Maria.9100.00001";
    assert_eq!(made, json!({ "identifier": account, "result": "created", "accountIdentifier": account }));
    assert_eq!(open(&world, &kofi, &["-o", "id"]).ok(), "Maria.9100.00002\n");
    let shown = open(&world, &kofi, &["-o", "table"]);
    assert!(
        shown.exit == 0 && shown.out.is_empty() && shown.err.contains("cannot be read back"),
        "{shown:?}"
    );
}

#[test]
fn columns_and_members_that_cannot_be_shown_are_a_failure_behind_the_change() {
    let world = office();
    let kofi = kofi(&world);
    let ways: [&[&str]; 4] = [
        &["--columns", "account,state"],
        &["-o", "csv", "--columns", "state"],
        &["--jq", ".state"],
        &["-q", "--jq", "."],
    ];
    for (number, how) in (1..).zip(ways) {
        let said = open(&world, &kofi, how).fails(1);
        let account =
            format!("account Maria.9100.0000{number} cannot be read back: kofi holds no permission");
        assert!(said.contains(&account), "{how:?}: {said}");
        assert!(said.contains("; the change was made nevertheless"), "{how:?}: {said}");
        assert!(said.contains("--idempotency-key"), "{how:?}: {said}");
    }
    let error = open(&world, &kofi, &["-o", "json", "--jq", ".state"]).fails_in_json(1);
    let key = error["idempotencyKey"].as_str().unwrap();
    let again = open(&world, &kofi, &["-o", "json", "--idempotency-key", key]).json();
    assert_eq!(again["accountIdentifier"], "Maria.9100.00005");
    let accounts = world.login("olga").get("/instances?customer=Maria").is(200).json();
    assert_eq!(accounts.as_array().unwrap().len(), 5);
}

#[test]
fn an_expression_that_fails_behind_a_change_is_no_wrong_usage() {
    let world = World::start();
    let create = ["offices", "create", "osu", "--name", "Osu", "--jq", ".name | .first"];
    let said = run(world.mfa(&create)).fails(1);
    assert!(
        said.contains("; the change was made nevertheless") && said.contains("--idempotency-key"),
        "{said}"
    );
    world.get("/offices/osu").is(200);
    let said = run(world.mfa(&["offices", "get", "osu", "--jq", ".name | .first"])).fails(2);
    assert!(!said.contains("nevertheless"), "{said}");
    std::fs::write(world.dir.path().join("rows.csv"), "identifier,surname\nc-1,Mensah\n").unwrap();
    let mut import = world.mfa(&["customers", "import", "rows.csv", "--jq", ".rows | .first"]);
    import.current_dir(world.dir.path());
    let said = run(import).fails(1);
    assert!(said.contains("; none of the 1 rows failed"), "{said}");
}
