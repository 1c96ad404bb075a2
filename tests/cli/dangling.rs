//! What is said about references that a command leaves leading nowhere.

use super::run::run;
use crate::guarded::PASSWORD;
use crate::world::World;

const WARNING: &str = "warning: /role names \"nowhere\", which does not exist\n";

#[test]
fn a_command_that_leaves_a_reference_leading_nowhere_warns_of_it_and_does_its_work() {
    let world = World::start();
    let file = world.dir.path().join("password");
    std::fs::write(&file, PASSWORD).unwrap();
    let create = |name: &str, more: &[&str]| {
        let password = ["--password-file", file.to_str().unwrap()];
        run(world.mfa(&[&["users", "create", name, "--role", "nowhere"], &password[..], more].concat()))
    };
    let tried = create("esi", &["--dry-run"]);
    assert_eq!((tried.exit, tried.err.as_str()), (0, WARNING));
    let made = create("esi", &["-o", "json"]);
    assert_eq!(made.err, WARNING);
    assert_eq!(made.json()["role"], "nowhere");
    assert_eq!(create("kofi", &["--quiet"]).err, "");
    let set = run(world.mfa(&["users", "set-role", "esi", "pharaoh"]));
    assert_eq!((set.exit, set.err.as_str()), (0, ""));
    let body = r#"{"identifier":"tema","assignedOffice":"harbour"}"#;
    let input = world.dir.path().join("employee.json");
    std::fs::write(&input, body).unwrap();
    let sent = run(world.mfa(&["api", "POST", "/employees", "--input", input.to_str().unwrap()]));
    assert_eq!(sent.err, "warning: /assignedOffice names \"harbour\", which does not exist\n");
}
