//! Completion: what may be typed next, and the script of the one shell that is everywhere.

use crate::support::run::run;
use crate::support::sample::sample;
use crate::support::terminal::Terminal;
use crate::support::world::{World, mfa};
use serde_json::json;
use std::os::unix::fs::symlink;
use std::process::Command;
use std::time::{Duration, Instant};

fn next(world: &World, words: &[&str]) -> Vec<String> {
    let line = [&["complete", "-q", "-o", "id", "--"][..], words].concat();
    run(world.mfa(&line)).ok().lines().map(str::to_owned).collect()
}

#[test]
fn what_fits_is_offered_and_nothing_else() {
    let world = World::start();
    sample(&world);
    assert_eq!(next(&world, &["cust"]), ["customers"]);
    assert_eq!(next(&world, &["customer", "l"]), ["list", "lock"]);
    assert_eq!(next(&world, &["customers", "get", "c-00"]), ["c-001", "c-002", "c-003", "c-004"]);
    assert_eq!(next(&world, &["offices", "create", "--par"]), ["--parent"]);
    assert_eq!(next(&world, &["offices", "create", "--parent", "m"]), ["market"]);
    assert_eq!(next(&world, &["-o", "js"]), ["json", "jsonl"]);
    let mut at_an_office = world.mfa(&["complete", "-q", "-o", "id", "--", "teller", "balance", "desk"]);
    at_an_office.env("MFA_OFFICE", "head-office");
    assert_eq!(run(at_an_office).ok(), "desk-1\ndesk-2\ndesk-3\n");
    assert_eq!(
        next(&world, &["help", "e"]),
        ["exit-codes", "environment", "employees", "events", "export", "explain"]
    );
    let nothing: [&str; 0] = [];
    assert_eq!(next(&world, &["offices", "create", ""]), nothing, "nothing is known of a new record");
    assert_eq!(next(&world, &["customers", "get", "c-001", ""]), nothing, "there is no second identifier");
}

#[test]
fn gateways_of_the_kind_that_is_typed_are_offered() {
    let world = World::start();
    sample(&world);
    let second = r#"{"identifier":"night","auth_token":"word","account_sid":"AC1","sender_number":"Bank"}"#;
    world.post("/configuration/sms", second).is(201);
    for verb in ["get", "update", "delete", "test"] {
        assert_eq!(next(&world, &["gateways", "email", verb, ""]), ["main"], "{verb}");
        assert_eq!(next(&world, &["gateways", "sms", verb, ""]), ["main", "night"], "{verb}");
    }
}

#[test]
fn without_a_daemon_it_is_silent_and_quick() {
    let home = tempfile::tempdir().unwrap();
    let line = ["complete", "-o", "id", "--url", "http://127.0.0.1:1", "--", "customers", "get", "c"];
    let began = Instant::now();
    let ran = run(mfa(home.path(), &line));
    assert_eq!((ran.exit, ran.out.as_str(), ran.err.as_str()), (0, "", ""));
    assert!(began.elapsed() < Duration::from_secs(2));
}

#[test]
fn the_script_for_bash_asks_the_program() {
    let world = World::start();
    sample(&world);
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../completions/mfa.bash");
    let folder = tempfile::tempdir().unwrap();
    for name in ["mfa", "mfactl"] {
        // Only the name that is typed is there: the other may be another program.
        let own = folder.path().join(name);
        symlink(env!("CARGO_BIN_EXE_mfa"), &own).unwrap();
        let typed = format!(
            "COMP_WORDS=({name} customers get c-00); COMP_CWORD=3; COMP_LINE='{name} customers get c-00'
            _mfa; echo ${{COMPREPLY[*]}}; complete -p {name}"
        );
        let mut command = Command::new("bash");
        command.args(["--norc", "-c", &format!("source {script}; {typed}")]).env("MFA_URL", world.url());
        command.env("PATH", format!("{}:/usr/bin:/bin", folder.path().display()));
        assert_eq!(run(command).ok(), format!("c-001 c-002 c-003 c-004\ncomplete -F _mfa {name}\n"));
        std::fs::remove_file(own).unwrap();
    }
}

#[test]
fn the_value_of_a_flag_is_offered_by_its_kind() {
    let world = World::start();
    sample(&world);
    assert_eq!(next(&world, &["customers", "list", "--columns", "identifier,sur"]), ["identifier,surname"]);
    assert_eq!(next(&world, &["customers", "list", "--columns=sur"]), ["--columns=surname"]);
    assert_eq!(next(&world, &["customers", "list", "--sort", "given"]), ["givenName"]);
    assert_eq!(next(&world, &["customers", "list", "--sort", "surname,-given"]), ["surname,-givenName"]);
    assert_eq!(next(&world, &["customers", "list", "--filter", "sta"]), ["state="]);
    let states = ["PENDING", "ACTIVE", "LOCKED", "CLOSED"].map(|state| format!("state={state}"));
    let mut found = next(&world, &["customers", "list", "--filter", "state="]);
    found.sort_by_key(|state| states.iter().position(|other| other == state));
    assert_eq!(found, states);
    assert_eq!(next(&world, &["wait", "cust"]), ["customer/"]);
    assert_eq!(
        next(&world, &["wait", "customer/c-00"]),
        ["c-001", "c-002", "c-003", "c-004"].map(|c| format!("customer/{c}"))
    );
    assert_eq!(next(&world, &["wait", "teller/head-office/desk"]).len(), 3);
    assert_eq!(next(&world, &["wait", "customer/c-001", "--for", "state=L"]), ["state=LOCKED"]);
    assert_eq!(next(&world, &["wait", "customer/c-001", "--for", "g"]), ["given-name=", "gone"]);
    assert_eq!(next(&world, &["explain", "error", "wrong_s"]), ["wrong_state"]);
    assert_eq!(next(&world, &["explain", "err"]), ["error"]);
    let accounts = next(&world, &["teller", "deposit", "desk-2", "--customer", "c-003", "--account", ""]);
    assert!(
        accounts.len() > 1 && accounts.iter().all(|account| account.starts_with("c-003.")),
        "{accounts:?}"
    );
    assert_eq!(next(&world, &["accounts", "statement", "c-003.9100"]), accounts);
    assert_eq!(next(&world, &["teller", "balance", "--office", "head-office", "desk"]).len(), 3);
    assert_eq!(next(&world, &["teller", "deposit", "d", "--charges", "i"]), ["included"]);
    assert_eq!(next(&world, &["apply", "-f", ""]), [":files"], "the script looks for files here");
    let nothing: [&str; 0] = [];
    assert_eq!(next(&world, &["customers", "get", "nobody"]), nothing, "and nowhere else");
}

/// What a completion finally offers. On a busy machine it may offer nothing at first, because it waits no
/// longer than 300 ms.
fn patiently(mut ask: impl FnMut() -> Vec<String>) -> Vec<String> {
    (0..20).map(|_| ask()).find(|found| !found.is_empty()).unwrap_or_default()
}

#[test]
fn an_identifier_is_found_among_thousands_and_no_file_is_offered() {
    let world = World::start();
    world.post("/offices", r#"{"identifier":"main","name":"Main"}"#).is(202);
    for thousand in 0..3 {
        let customer = |n: u32| {
            let identifier = format!("m-{:05}", 1000 * thousand + n);
            json!({ "method": "POST", "path": "/customers", "body": {
                "identifier": identifier, "type": "PERSON", "assignedOffice": "main" } })
        };
        let operations: Vec<_> = (0..1000).map(customer).collect();
        let done = world.post("/batch", json!({ "operations": operations }).to_string()).is(200).json();
        assert!(done["results"].as_array().unwrap().iter().all(|result| result["status"] == 202), "{done}");
    }
    let found = patiently(|| next(&world, &["customers", "get", "m-0234"]));
    assert_eq!(found, (0..10).map(|n| format!("m-0234{n}")).collect::<Vec<_>>());
    let found = patiently(|| next(&world, &["customers", "get", "m-0"]));
    assert_eq!((found.len(), found[0].as_str(), found[100].as_str()), (101, "m-00000", "m-02999"));
    // In an interactive shell the identifier is completed, and a file of a similar name is not.
    std::fs::write(world.dir.path().join("m-file"), "").unwrap();
    let terminal = Terminal::start(&world, 100, &[]);
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../completions/mfa.bash");
    terminal.type_line("bash --norc --noprofile");
    terminal.type_line(&format!("PS1='$ '; source {script}; clear"));
    terminal.wait_for("$");
    let keys = |text: &str| {
        terminal.keys(text);
        let before = terminal.wait_for(text);
        for _ in 0..20 {
            terminal.press("Tab");
            std::thread::sleep(Duration::from_millis(400));
            if terminal.screen() != before {
                break;
            }
        }
        terminal.screen()
    };
    let screen = keys("mfa customers get m-0123");
    assert!(screen.contains("m-01230") && screen.contains("m-01239"), "{screen}");
    terminal.press("C-u");
    let screen = keys("mfa customers list --filter state=AC");
    assert!(screen.ends_with("--filter state=ACTIVE"), "{screen}");
    terminal.press("C-u");
    terminal.keys("mfa customers get m-f");
    terminal.press("Tab");
    std::thread::sleep(Duration::from_millis(800));
    assert!(terminal.screen().ends_with("get m-f"), "{}", terminal.screen());
}
