//! What is reported about the dangling references that a command leaves.

use crate::support::guarded::PASSWORD;
use crate::support::run::{Ran, run, run_with};
use crate::support::sample::sample;
use crate::support::terminal::Terminal;
use crate::support::world::World;

const WARNING: &str = "warning: /role names \"nowhere\", which does not exist\n";

#[test]
fn a_command_that_leaves_a_dangling_reference_warns_and_does_its_work() {
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
fn dangling_references_of_many_records_are_reported_once() {
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
fn a_dangling_reference_is_reported_with_the_name_that_was_meant() {
    let world = World::start();
    sample(&world);
    let mistyped = ["accounts", "create", "--customer", "c-001", "--product", "savigns"];
    let said = run(world.mfa(&mistyped)).fails(7);
    let hint = "hint: did you mean savings? create the named record first, or correct the name\n";
    assert!(said.ends_with(hint), "{said}");
    let said = run(world.mfa(&["offices", "create", "quay", "--name", "Quay", "--parent", "marke"])).fails(7);
    assert!(said.contains("hint: did you mean market? "), "{said}");
    let strict = World::with(|config| config.strict_references = true);
    strict.post("/offices", r#"{"identifier":"market","name":"Market"}"#).is(202);
    let customer = ["customers", "create", "c-9", "--surname", "Addo", "--assigned-office", "markett"];
    let error = run(strict.mfa(&[&customer[..], &["-o", "json"]].concat())).fails_in_json(7);
    assert_eq!((&error["code"], &error["field"]), (&"unknown_reference".into(), &"/assignedOffice".into()));
    assert!(error["hint"].as_str().unwrap().starts_with("did you mean market? "), "{error}");
}

#[test]
fn on_a_terminal_a_dangling_reference_is_asked_about_before_the_change() {
    let world = World::start();
    sample(&world);
    let terminal = Terminal::start(&world, 80, &[]);
    let asked = |line: &str, missing: &str, answer: &str| {
        terminal.type_line(&format!("clear; {line}; echo exit $?"));
        let screen = terminal.wait_for("make the change anyway? [y/N]");
        assert!(screen.contains(missing), "{screen}");
        terminal.type_line(answer);
        terminal.wait_for("\n$")
    };
    let employee = "mfa employees create esi --surname Addo --assigned-office marktet";
    let market = "there is no office \"marktet\"; did you mean market?\n";
    let screen = asked(employee, market, "");
    assert!(screen.contains("error: nothing was done\n") && screen.contains("exit 1\n"), "{screen}");
    world.get("/employees/esi").refused(404, "employee_not_found");
    // The trial has not used up the key, and a user who agreed is not warned again.
    let screen = asked(&format!("{employee} --idempotency-key till-1"), market, "y");
    assert!(!screen.contains("warning:") && screen.contains("exit 0\n"), "{screen}");
    assert_eq!(world.get("/employees/esi").json()["assignedOffice"], "marktet");
    let screen = terminal.run(&format!("{employee} --idempotency-key till-1"));
    assert!(!screen.contains("[y/N]") && screen.contains("exit 0\n"), "{screen}");
    // Every change is asked about in the same way, whichever verb it has.
    let customer = "there is no customer \"c-01\"; did you mean c-001?\n";
    let kojo = "there is no employee \"koo\"; did you mean kojo?\n";
    let counter = "there is no role \"countr\"; did you mean counter?\n";
    let records = || {
        let teller = "/offices/head-office/teller/desk-1";
        ["/customers/c-001", "/instances?customer=c-01", teller, "/users/esi"]
            .map(|path| world.get(path).is(200).text())
    };
    let before = records();
    for (line, missing) in [
        ("mfa accounts create --customer c-01 --product savings", customer),
        ("mfa teller open desk-1 --office head-office --employee koo", kojo),
        ("mfa customers update c-001 --assigned-office marktet", market),
        ("mfa users set-role esi countr", counter),
        ("mfa api PUT /users/esi/roleIdentifier -F identifier=countr", counter),
    ] {
        let screen = asked(line, missing, "n");
        assert!(screen.contains("error: nothing was done\n"), "{screen}");
        assert_eq!(records(), before, "{line}");
    }
    // What names only what is there, and what was agreed to before, goes through without a question.
    let screen = terminal.run("mfa customers update c-001 --assigned-office market --no-read");
    assert!(!screen.contains("[y/N]") && screen.contains("exit 0\n"), "{screen}");
    let screen = terminal.run("mfa customers update c-001 --assigned-office marktet --no-read --yes");
    assert!(
        screen.replace('\n', " ").contains("did you mean market?") && screen.contains("exit 0\n"),
        "{screen}"
    );
    let screen = terminal.run("mfa customers update c-002 --assigned-office marktet --dry-run");
    assert!(!screen.contains("[y/N]") && screen.contains("nothing was changed"), "{screen}");
}

#[test]
fn with_existing_only_what_names_nothing_is_refused_and_nothing_is_made() {
    let world = World::start();
    sample(&world);
    let in_home = |line: &[&str], input: &str| {
        let mut command = world.mfa(&[line, &["--existing-only", "-o", "json"]].concat());
        command.current_dir(world.dir.path());
        run_with(command, input)
    };
    let refused = |line: &[&str], field: &str| {
        let error = in_home(line, "").fails_in_json(7);
        assert_eq!(
            (&error["code"], &error["field"]),
            (&"unknown_reference".into(), &field.into()),
            "{line:?}"
        );
        error["hint"].as_str().unwrap().to_owned()
    };
    let account = ["accounts", "create", "--customer", "c-01", "--product", "savings"];
    assert!(refused(&account, "/customerIdentifier").starts_with("did you mean c-001? "));
    assert_eq!(world.get("/instances?customer=c-01").json(), serde_json::json!([]));
    let open = ["teller", "open", "desk-1", "--office", "head-office", "--employee", "koo"];
    assert!(refused(&open, "/assignedEmployeeIdentifier").starts_with("did you mean kojo? "));
    let employee = ["employees", "create", "yaa", "--surname", "Addo", "--assigned-office", "marktet"];
    refused(&employee, "/assignedOffice");
    refused(&[&employee[..], &["--dry-run"]].concat(), "/assignedOffice");
    let posted = ["api", "POST", "/employees", "-F", "identifier=yaa", "-F", "assignedOffice=marktet"];
    refused(&posted, "/assignedOffice");
    world.get("/employees/yaa").refused(404, "employee_not_found");
    in_home(&["employees", "create", "yaa", "--surname", "Addo", "--assigned-office", "market"], "").json();
    // Of many records those are refused that name nothing; what an earlier row makes is there.
    let rows = "identifier,assignedOffice,referenceCustomer\nr-1,market,\nr-2,marktet,\nr-3,market,r-1\n";
    std::fs::write(world.dir.path().join("rows.csv"), rows).unwrap();
    assert_eq!(in_home(&["customers", "import", "rows.csv"], "").exit, 9);
    world.get("/customers/r-2").refused(404, "customer_not_found");
    assert_eq!(world.get("/customers/r-3").is(200).json()["referenceCustomer"], "r-1");
    let batch =
        r#"[{"method":"POST","path":"/employees","body":{"identifier":"abi","assignedOffice":"quay"}}]"#;
    assert_eq!(in_home(&["batch", "-"], batch).exit, 9);
    let documents = "kind: employee\nidentifier: abi\nassignedOffice: quay\n";
    assert_ne!(in_home(&["apply", "-f", "-", "--yes"], documents).exit, 0);
    world.get("/employees/abi").refused(404, "employee_not_found");
}
