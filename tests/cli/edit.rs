//! Records in the editor of the user.

use super::run::{Ran, run};
use super::tree::sample;
use crate::world::World;
use serde_json::json;

/// `mfa LINE` with an editor that is a line of the shell.
fn edit(world: &World, editor: &str, line: &str) -> Ran {
    let words: Vec<_> = line.split(' ').collect();
    let mut command = world.mfa(&words);
    command.env("EDITOR", editor).env_remove("VISUAL");
    run(command)
}

#[test]
fn what_is_changed_in_the_editor_is_shown_and_written() {
    let world = World::start();
    sample(&world);
    let line = "customers edit c-001 --yes -o json";
    let ran = edit(&world, "sed -i 's/^surname: .*/surname: Edited/'", line);
    assert!(ran.err.contains("+ surname: Edited") && ran.err.contains("- surname: "), "{}", ran.err);
    assert!(!ran.err.contains("givenName: Edited"));
    assert_eq!(ran.json()["surname"], "Edited");
    assert_eq!(world.get("/customers/c-001").json()["surname"], "Edited");
}

#[test]
fn an_unchanged_record_is_not_written() {
    let world = World::start();
    sample(&world);
    let tag = world.get("/customers/c-001").header("etag");
    assert_eq!(edit(&world, "true", "customers edit c-001 --yes -o json").json()["identifier"], "c-001");
    assert_eq!(world.get("/customers/c-001").header("etag"), tag);
}

#[test]
fn a_draft_that_breaks_a_rule_or_an_editor_that_fails_changes_nothing() {
    let world = World::start();
    sample(&world);
    let before = world.get("/customers/c-001").text();
    let said = edit(&world, "sed -i 's/^type: .*/type: PLANT/'", "customers edit c-001 --yes").fails(7);
    assert!(said.contains("PLANT") || said.contains("type"), "{said}");
    // What nothing would be done with is no change that is made.
    let said = edit(&world, "sed -i 's/^surname: /surnmae: /'", "customers edit c-001 --yes").fails(2);
    assert_eq!(said, "error: customer has no field /surnmae\nhint: did you mean surname?\n");
    let said =
        edit(&world, "sed -i 's/^address: null/address: {citty: a}/'", "customers edit c-002 --yes").fails(2);
    assert!(said.contains("customer has no field /address/citty\nhint: did you mean city?"), "{said}");
    let said = edit(&world, "sed -i 's/^externalRef.*/externalReferences: 5/'", "offices edit market --yes")
        .fails(2);
    assert!(said.starts_with("error: /externalReferences of office cannot be changed\n"), "{said}");
    let said = edit(&world, "sed -i '1a ][' ", "customers edit c-001 --yes").fails(2);
    assert!(said.contains("no YAML"), "{said}");
    let said = edit(&world, "false", "customers edit c-001 --yes").fails(2);
    assert!(said.contains("the editor false failed"), "{said}");
    edit(&world, "true", "customers edit nobody --yes").fails(3);
    // Without a terminal somebody must have said yes.
    edit(&world, "true", "customers edit c-001").fails(2);
    assert_eq!(world.get("/customers/c-001").text(), before);
}

#[test]
fn of_two_who_edit_at_once_the_second_one_keeps_the_draft() {
    let world = World::start();
    sample(&world);
    // While the editor is open, somebody else is faster.
    let other = format!("curl -s -X PUT -H content-type:application/json -d @other.json {}", world.url());
    let mut office = world.get("/offices/market").json();
    office["name"] = json!("Faster");
    std::fs::write(world.dir.path().join("other.json"), office.to_string()).unwrap();
    let editor = format!("{other}/offices/market; sed -i 's/^name: .*/name: Slower/'");
    let mut command = world.mfa(&["offices", "edit", "market", "--yes"]);
    command.env("EDITOR", editor).current_dir(world.dir.path());
    let said = run(command).fails(6);
    assert_eq!(world.get("/offices/market").json()["name"], "Faster");
    let kept = said.split("the draft is kept in ").nth(1).unwrap().lines().next().unwrap();
    assert!(std::fs::read_to_string(kept).unwrap().contains("name: Slower"), "{said}");
    std::fs::remove_file(kept).unwrap();
}
