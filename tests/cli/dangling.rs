//! What is said about references that a command leaves leading nowhere.

use super::run::{Ran, run, run_with};
use super::tree::sample;
use crate::guarded::PASSWORD;
use crate::terminal::Terminal;
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

#[test]
fn what_an_import_an_apply_or_a_batch_leaves_leading_nowhere_is_said_once_for_all_records() {
    let world = World::start();
    let rows = "identifier,assignedOffice,referenceCustomer\nc-1,harbour,c-3\nc-2,harbour,\nc-3,port,\n";
    std::fs::write(world.dir.path().join("rows.csv"), rows).unwrap();
    let mfa = |line: &[&str]| {
        let mut command = world.mfa(line);
        command.current_dir(world.dir.path());
        run(command)
    };
    let warnings = |ran: &Ran| -> Vec<String> {
        assert_eq!(ran.exit, 0, "{}", ran.err);
        let lines = ran.err.lines().filter_map(|line| line.strip_prefix("warning: "));
        lines.map(str::to_owned).collect()
    };
    let said = [
        "/referenceCustomer names \"c-3\", which did not exist when it was sent",
        "/assignedOffice names \"harbour\", which did not exist when it was sent, 2 times",
        "/assignedOffice names \"port\", which did not exist when it was sent",
    ];
    assert_eq!(warnings(&mfa(&["customers", "import", "rows.csv", "--validate-only"])), said);
    assert_eq!(warnings(&mfa(&["customers", "import", "rows.csv"])), said);
    world.get("/customers/c-3").is(200);
    let teller = "kind: teller\noffice: osu\ncode: osu-1\npassword: first-password\n\
                tellerAccountIdentifier: drawer\nvaultAccountIdentifier: vault\n\
                chequesReceivableAccount: cheques\ncashdrawLimit: 5\n\
                cashOverShortAccount: over\n---\nkind: office\nidentifier: osu\nname: Osu\n";
    let applied = run_with(world.mfa(&["apply", "-f", "-", "--yes"]), teller);
    assert_eq!((applied.exit, warnings(&applied)), (0, Vec::new()), "{}", applied.err);
    let employee =
        r#"[{"method":"POST","path":"/employees","body":{"identifier":"ama","assignedOffice":"quay"}}]"#;
    let sent = run_with(world.mfa(&["batch", "-", "-o", "json"]), employee);
    assert_eq!(warnings(&sent), ["/assignedOffice names \"quay\", which did not exist when it was sent"]);
    assert_eq!(sent.json()["results"][0]["danglingReferences"][0], "/assignedOffice");
}

#[test]
fn a_name_that_leads_nowhere_is_told_with_the_one_that_was_meant() {
    let world = World::start();
    sample(&world);
    let mistyped = ["accounts", "create", "--customer", "c-001", "--product", "savigns"];
    let said = run(world.mfa(&mistyped)).fails(7);
    let hint = "hint: did you mean savings? create the named record first, or correct the name\n";
    assert!(said.ends_with(hint), "{said}");
    let said = run(world.mfa(&["offices", "create", "quay", "--name", "Quay", "--parent", "marke"])).fails(7);
    assert!(said.contains("hint: did you mean market? "), "{said}");
    let terminal = Terminal::start(&world, 200, &[]);
    let screen = terminal.run("mfa employees create esi --surname Addo --assigned-office marktet");
    let warning = "warning: /assignedOffice names \"marktet\", which does not exist; did you mean market?\n";
    assert!(screen.contains(warning), "{screen}");
    let strict = World::with(|config| config.strict_references = true);
    strict.post("/offices", r#"{"identifier":"market","name":"Market"}"#).is(202);
    let customer = ["customers", "create", "c-9", "--surname", "Addo", "--assigned-office", "markett"];
    let error = run(strict.mfa(&[&customer[..], &["-o", "json"]].concat())).fails_in_json(7);
    assert_eq!((&error["code"], &error["field"]), (&"unknown_reference".into(), &"/assignedOffice".into()));
    assert!(error["hint"].as_str().unwrap().starts_with("did you mean market? "), "{error}");
}
