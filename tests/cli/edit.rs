//! Records in the editor of the user.

use crate::support::run::{Ran, run};
use crate::support::sample::sample;
use crate::support::terminal::Terminal;
use crate::support::world::World;
use serde_json::json;

/// `mfa LINE` with an editor that is a line of the shell.
fn edit(world: &World, editor: &str, line: &str) -> Ran {
    let words: Vec<_> = line.split(' ').collect();
    let mut command = world.mfa(&words);
    // A draft that is kept goes with the world.
    command.env("EDITOR", editor).env_remove("VISUAL").env("TMPDIR", world.dir.path());
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
    // A refusal speaks of the change, which the user knows, and not of a batch.
    let said =
        edit(&world, "sed -i 's/^identifier: .*/identifier: c-9/'", "customers edit c-001 --yes").fails(7);
    assert!(
        said.starts_with("error: the body names customer \"c-9\", the path \"c-001\"; the draft"),
        "{said}"
    );
    // An edit that would have no effect is refused.
    let said = edit(&world, "sed -i 's/^surname: /surnmae: /'", "customers edit c-001 --yes").fails(2);
    assert!(said.starts_with("error: customer has no field /surnmae; the draft is kept in "), "{said}");
    assert!(said.ends_with("\nhint: did you mean surname?\n"), "{said}");
    let said =
        edit(&world, "sed -i 's/^address: null/address: {citty: a}/'", "customers edit c-002 --yes").fails(2);
    assert!(
        said.contains("customer has no field /address/citty;") && said.contains("did you mean city?"),
        "{said}"
    );
    let said = edit(&world, "sed -i 's/^externalRef.*/externalReferences: 5/'", "offices edit market --yes")
        .fails(2);
    assert!(said.starts_with("error: /externalReferences of office cannot be changed;"), "{said}");
    let said = edit(&world, "sed -i '1a ][' ", "customers edit c-001 --yes").fails(2);
    assert!(said.contains("not YAML"), "{said}");
    let said = edit(&world, "false", "customers edit c-001 --yes").fails(2);
    assert!(said.contains("the editor false failed"), "{said}");
    edit(&world, "true", "customers edit nobody --yes").fails(3);
    // Without a terminal, --yes is required.
    edit(&world, "true", "customers edit c-001").fails(2);
    assert_eq!(world.get("/customers/c-001").text(), before);
}

#[test]
fn of_two_who_edit_at_once_the_second_one_keeps_the_draft() {
    let world = World::start();
    sample(&world);
    // While the editor is open, another user is faster.
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

#[test]
fn what_is_typed_into_a_draft_is_applied_or_refused_and_never_dropped() {
    let world = World::start();
    sample(&world);
    let line = "customers edit c-001 --yes -o json";
    let before = world.get("/customers/c-001").text();
    // The contract keeps what these fields were, so a change of them would be no change.
    for (typed, refused) in [
        ("s/^type: .*/type: null/", "/type of customer cannot be emptied here"),
        ("/^type: /d", "/type of customer cannot be emptied here"),
        ("s/^currentState: .*/currentState: CLOSED/", "/currentState of customer cannot be changed here"),
        ("/^createdBy: /d", "/createdBy of customer cannot be changed"),
        ("s/^createdOn: .*/createdOn: yesterday/", "/createdOn of customer cannot be changed"),
        ("s/^identifier: .*/identifier: c-9/", "c-9"),
        ("/^identifier: /d", "/identifier"),
        ("s/^surname: .*/surname: A\\nsurname: B/", "\"surname\" is given twice"),
        ("s/^surname: .*/&  # ask him/", "this one would be lost: # ask him"),
        ("s/^surname: .*/# &/", "this one would be lost: # surname"),
        ("2,$d; s/.*/text/", "the draft holds no fields"),
    ] {
        let ran = edit(&world, &format!("sed -i '{typed}'"), line);
        assert!(ran.exit == 2 || ran.exit == 7 || ran.exit == 6, "{typed}: {ran:?}");
        assert!(ran.err.contains(&refused.replace('"', "\\\"")), "{typed}: {}", ran.err);
        let kept = ran.err.split("the draft is kept in ").nth(1).unwrap_or_else(|| panic!("{}", ran.err));
        let kept = kept.split('"').next().unwrap();
        assert!(std::fs::remove_file(kept).is_ok(), "{}", ran.err);
        assert_eq!(world.get("/customers/c-001").text(), before, "{typed}");
    }
    // A removed field is emptied, and a sign within a text is no comment.
    let ran = edit(&world, "sed -i '/^givenName: /d; s/^surname: .*/surname: \"Ama # 1\"/'", line);
    assert!(ran.err.contains("+ givenName: null"), "{}", ran.err);
    let customer = ran.json();
    assert_eq!((&customer["givenName"], &customer["surname"]), (&json!(null), &json!("Ama # 1")));
    // More zeros are the same amount.
    let account = "accounts edit c-003.9100.00002 --yes -o json";
    let said = edit(&world, "sed -i 's/^balance: .*/balance: 7.00/'", account);
    assert!(said.exit == 2 && said.err.contains("/balance of "), "{said:?}");
}

#[test]
fn on_a_terminal_a_refused_draft_is_edited_again_or_kept() {
    let world = World::start();
    sample(&world);
    // The editor writes something else each time.
    let editor = world.dir.path().join("editor");
    let script = "#!/bin/sh\nn=$(cat count 2>/dev/null || echo 0)\necho $((n + 1)) >count\n\
        sed -i 's/^surname: .*/surname: Typed/' $1\n\
        if [ $n = 0 ]; then sed -i 's/^type: .*/type: PLANT/' $1\n\
        else sed -i 's/^type: .*/type: PERSON/' $1; fi\n";
    std::fs::write(&editor, script).unwrap();
    let editor = format!("sh {}", editor.display());
    let terminal = Terminal::start(&world, 120, &[("EDITOR", &editor)]);
    terminal.type_line("clear; mfa customers edit c-001");
    terminal.wait_for("edit it again? [y/N]");
    terminal.type_line("y");
    // The second question, not the first one, which stays on the screen for a while yet.
    let screen = terminal.wait_for(&format!("change customer c-001 at {}? [y/N]", world.url()));
    assert!(screen.contains("+ surname: Typed"), "{screen}");
    terminal.type_line("y");
    terminal.wait_for("$");
    assert_eq!(world.get("/customers/c-001").json()["surname"], "Typed");
    // A user who gives up finds the draft in a file, also after the last question.
    std::fs::remove_file(world.dir.path().join("count")).unwrap();
    terminal.type_line("clear; mfa customers edit c-002");
    terminal.wait_for("edit it again? [y/N]");
    terminal.type_line("n");
    let screen = terminal.wait_for("$");
    let kept = |screen: &str| {
        let joined: String = screen.lines().collect();
        let path = joined.split("the draft is kept in ").nth(1).unwrap().split(".yaml").next().unwrap();
        let path = format!("{path}.yaml");
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::remove_file(path).unwrap();
        text
    };
    assert!(kept(&screen).contains("surname: Typed"), "{screen}");
    terminal.type_line("clear; mfa customers edit c-002");
    terminal.wait_for("[y/N]");
    terminal.press("C-c");
    let screen = terminal.wait_for("$");
    assert!(kept(&screen).contains("type: PERSON"), "{screen}");
    assert_ne!(world.get("/customers/c-002").json()["surname"], "Typed");
}

#[test]
fn ctrl_c_in_an_editor_ends_the_command_and_keeps_what_was_typed() {
    let world = World::start();
    sample(&world);
    let script = "sed -i 's/^surname: .*/surname: Kept/' \"$1\"\necho up\n\
                  while ! read key </dev/tty; do :; done\n";
    std::fs::write(world.dir.path().join("ends"), script).unwrap();
    let tmp = world.dir.path().display().to_string();
    let terminal = Terminal::start(&world, 200, &[("TMPDIR", &tmp), ("EDITOR", "sh ends")]);
    terminal.type_line("clear; mfa customers edit c-001; echo exit $?");
    terminal.wait_for("up");
    terminal.press("C-c");
    let screen = terminal.wait_for("exit 130\n$");
    assert!(screen.contains("error: interrupted, nothing was changed; the draft is kept in "), "{screen}");
}
