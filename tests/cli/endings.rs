//! Verbs that end something ask on a terminal, and proceed if no question can be asked.

use super::tree::{commands, shell, words};
use crate::support::run::run;
use crate::support::sample::sample;
use crate::support::stored::in_folder;
use crate::support::terminal::Terminal;
use crate::support::world::World;
use serde_json::Value;

/// Last words of commands that end something.
const ENDS: &[&str] =
    &["close", "close-account", "deactivate", "delete", "disable", "end", "end-all", "lock"];

/// Last words of commands that make or change something, which can be changed again.
const GOES_ON: &[&str] = &[
    "activate",
    "add",
    "add-branch",
    "batch",
    "cancel",
    "confirm",
    "create",
    "deposit",
    "distribute",
    "edit",
    "enable",
    "login",
    "logout",
    "open",
    "open-account",
    "pause",
    "pay-interest",
    "position",
    "receipt",
    "reopen",
    "resume",
    "run",
    "set",
    "set-password",
    "set-role",
    "test",
    "transaction",
    "transfer",
    "unlock",
    "update",
    "withdraw",
];

/// Commands of the store itself that end something, each with a line and what is typed to confirm it.
const ENDS_HERE: &[(&str, &str, &str)] = &[
    ("admin recover-user", "mfa admin recover-user esi", "esi"),
    ("audit prune", "mfa audit prune --before 2020-01-01 --out old.ndjson", "2020-01-01"),
    ("backup restore", "mfa backup restore whole.mfab --replace", "data"),
];

/// Commands without a request of their own that end nothing: they look, make, write files, or can be undone.
/// What `apply`, `batch`, `api` and `import` send is asked about in their own tests.
const GOES_ON_HERE: &[&str] = &[
    "accounts statement",
    "admin add-account",
    "admin archive-journal",
    "admin rotate-key",
    "api",
    "applications keygen",
    "apply",
    "audit export",
    "audit follow",
    "audit verify",
    "auth token",
    "backup list",
    "backup show",
    "backup verify",
    "check",
    "commands",
    "complete",
    "completions",
    "config example",
    "config path",
    "config view",
    "daemon logs",
    "daemon restart",
    "daemon run",
    "daemon start",
    "daemon stop",
    "dev",
    "diff",
    "docs",
    "doctor",
    "events follow",
    "explain",
    "export",
    "help",
    "init",
    "migrate",
    "profile add",
    "profile list",
    "profile remove",
    "profile show",
    "profile use",
    "quickstart",
    "roles matrix",
    "service install",
    "service print",
    "statement",
    "teller reports print",
    "teller reports save",
    "tls generate",
    "tls show",
    "tls trust",
    "wait",
];

/// The commands that end something, each with its first example, without a yes in it.
fn ending() -> Vec<(String, String)> {
    let mut found = Vec::new();
    for command in commands() {
        let last = *words(&command).last().unwrap();
        let changes = command["endpoint"].is_string() && command["method"] != "GET";
        let ends = ENDS.contains(&last);
        if changes {
            assert!(ends != GOES_ON.contains(&last), "does it end something? {command}");
            assert!(ends || command["method"] != "DELETE" || last == "logout", "{command}");
        }
        if ends && changes {
            found.push((words(&command).join(" "), example(&command)));
        }
    }
    assert!(found.len() > 20, "{found:?}");
    found
}

fn example(command: &Value) -> String {
    command["examples"][0].as_str().unwrap().replace(" --yes", "")
}

#[test]
fn every_verb_that_ends_something_asks_on_a_terminal() {
    let world = World::start();
    sample(&world);
    let terminal = Terminal::start(&world, 120, &[]);
    for (_, line) in ending() {
        terminal.type_line(&format!("clear; {line}; echo exit=$?"));
        terminal.wait_for_any(&["[y/N]", "to go on:"]);
        terminal.type_line("");
        terminal.wait_for("exit=1\n$");
    }
}

/// A store with a backup of it, in which the commands of the store itself find what they would end.
fn kept_here() -> (World, String) {
    let world = World::with(in_folder);
    sample(&world);
    run(world.mfa(&["backup", "create", "--out", world.dir.path().join("whole.mfab").to_str().unwrap()]))
        .ok();
    let store = world.config().data_dir.display().to_string();
    (world, store)
}

#[test]
fn every_destructive_command_on_a_store_asks_and_names_the_store() {
    for command in commands().iter().filter(|command| command["endpoint"].is_null()) {
        let name = words(command).join(" ");
        let transfers = ["import", "export"].iter().any(|verb| name.ends_with(&format!("s {verb}")));
        let ends = ENDS_HERE.iter().any(|(known, ..)| *known == name);
        assert!(
            ends != (transfers || GOES_ON_HERE.contains(&name.as_str())),
            "does it end something? {name}"
        );
    }
    let (world, store) = kept_here();
    let key = world.config().secret_key_file.display().to_string();
    let terminal = Terminal::start(&world, 200, &[("MFA_DATA_DIR", &store), ("MFA_SECRET_KEY_FILE", &key)]);
    for (_, line, _) in ENDS_HERE {
        terminal.type_line(&format!("clear; {line}; echo exit=$?"));
        let asked = terminal.wait_for(&format!("in {store}? [y/N]"));
        assert!(!asked.contains("http"), "{asked}");
        terminal.type_line("");
        terminal.wait_for("error: nothing was done\nexit=1\n$");
    }
    assert!(!world.dir.path().join("old.ndjson").exists());
    // A protected profile wants to hear the name, and says for which store.
    run(world.mfa(&["profile", "add", "bank", "--url", &world.url(), "--protected"])).ok();
    for (_, line, typed) in ENDS_HERE {
        let typed = if *typed == "data" { &store } else { *typed };
        terminal.type_line(&format!("clear; {line} --profile bank --yes; echo exit=$?"));
        let asked = terminal.wait_for(&format!("type {typed} to go on:"));
        assert!(asked.contains(&format!(" in {store}\n")), "{asked}");
        terminal.type_line("");
        terminal.wait_for("error: nothing was done\nexit=1\n$");
        let line = format!("MFA_DATA_DIR={store} {line} --profile bank --yes");
        let said = run(shell(&world, &line)).fails(2);
        assert!(said.contains(&format!("error: --confirm {typed} is needed")), "{line}\n{said}");
    }
}

#[test]
fn in_a_protected_profile_every_destructive_verb_asks_for_the_name() {
    let world = World::start();
    sample(&world);
    run(world.mfa(&["profile", "add", "bank", "--url", &world.url(), "--protected"])).ok();
    for (name, line) in ending() {
        let line = line.replacen("mfa ", "mfa --profile bank ", 1);
        // What is booked at the counter is asked about with its charges, not by a name.
        let flag = if name == "teller close-account" { "--yes" } else { "--confirm" };
        let yes = if flag == "--yes" { "" } else { " --yes" };
        let said = run(shell(&world, &format!("{line}{yes}"))).fails(2);
        assert!(said.contains(&format!("error: {flag}")), "{line}\n{said}");
    }
}

#[test]
fn no_question_is_asked_about_a_deletion_that_is_refused_anyway() {
    let world = World::start();
    sample(&world);
    run(world.mfa(&["users", "set-role", "esi", "counter"])).ok();
    let terminal = Terminal::start(&world, 120, &[]);
    for (line, uses) in [
        ("mfa products delete savings", "instances"),
        ("mfa offices delete head-office", "head-office"),
        ("mfa roles delete counter", "user"),
    ] {
        let screen = terminal.run(line);
        let refused = screen.contains("exit 6\n") && screen.contains(uses);
        assert!(refused && !screen.contains("[y/N]"), "{screen}");
    }
}

#[test]
fn what_ends_a_customer_or_an_account_asks_on_a_terminal() {
    let world = World::start();
    sample(&world);
    let account = "c-003.9100.00001";
    let state = |path: &str, name: &str| world.get(path).is(200).json()[name].as_str().unwrap().to_owned();
    let customer = || state("/customers/c-001", "currentState");
    let terminal = Terminal::start(&world, 120, &[]);
    let no = |line: &str, question: &str| {
        terminal.type_line(&format!("clear; {line}; echo exit=$?"));
        terminal.wait_for(&format!("{question} at {}? [y/N]", world.url()));
        terminal.type_line("n");
        let screen = terminal.wait_for("\n$");
        assert!(screen.contains("\nexit=") && !screen.contains("exit=0"), "{screen}");
    };
    let before = state(&format!("/instances/{account}"), "state");
    no("mfa customers lock c-001", "lock customer c-001");
    no("mfa customers close c-001", "close customer c-001");
    no("mfa products deactivate savings", "take product savings off sale");
    no(&format!("mfa accounts close {account}"), &format!("close account {account} for good"));
    assert_eq!((customer(), state(&format!("/instances/{account}"), "state")), ("ACTIVE".to_owned(), before));
    let at_desk =
        |line: &[&str]| run(world.mfa(&[&["teller"], line, &["desk-2", "--office", "head-office"]].concat()));
    at_desk(&["close"]).ok();
    let close = "mfa teller close desk-2 --office head-office";
    assert!(!terminal.run(close).contains("[y/N]"), "it is closed already");
    at_desk(&["open", "-e", "kwame"]).ok();
    no(close, "close teller desk-2 without a count");
    terminal.type_line("clear; mfa customers lock c-001; echo exit=$?");
    terminal.wait_for(&format!("lock customer c-001 at {}? [y/N]", world.url()));
    terminal.press("C-d");
    terminal.wait_for("? [y/N]\nerror: nothing was done\nexit=1\n$");
    terminal.type_line("clear; mfa customers lock c-001");
    terminal.wait_for(&format!("lock customer c-001 at {}? [y/N]", world.url()));
    terminal.type_line("y");
    terminal.wait_for("\n$");
    assert_eq!(customer(), "LOCKED");
    terminal
        .type_line("clear; mfa customers unlock c-001 --no-read; mfa customers lock c-001 -y; echo exit=$?");
    terminal.wait_for("exit=0\n$");
    // A script is not asked; in a protected profile it has to name what ends.
    run(world.mfa(&["customers", "unlock", "c-001"])).ok();
    run(world.mfa(&["customers", "lock", "c-001"])).ok();
    run(world.mfa(&["profile", "add", "bank", "--url", &world.url(), "--protected"])).ok();
    let bank = |words: &[&str]| run(world.mfa(&[words, &["--profile", "bank"]].concat()));
    bank(&["customers", "unlock", "c-001"]).ok();
    bank(&["customers", "lock", "c-001", "--yes"]).fails(2);
    bank(&["customers", "lock", "c-001", "--confirm", "c-001"]).ok();
    assert_eq!(customer(), "LOCKED");
}

#[test]
fn a_deletion_by_mfa_api_asks_on_a_terminal_and_in_protected_profiles() {
    let world = World::start();
    sample(&world);
    let two =
        r#"[{"method":"DELETE","path":"/employees/kojo"},{"method":"delete","path":"/employees/none"}]"#;
    std::fs::write(world.dir.path().join("two.json"), two).unwrap();
    std::fs::write(world.dir.path().join("read.json"), r#"[{"method":"GET","path":"/offices"}]"#).unwrap();
    let terminal = Terminal::start(&world, 120, &[]);
    for (line, question) in
        [("mfa api delete /employees/kojo", "send DELETE"), ("mfa batch two.json", "delete 2 records")]
    {
        terminal.type_line(&format!("clear; {line}; echo exit=$?"));
        let asked = terminal.wait_for("[y/N]");
        assert!(asked.contains(question), "{asked}");
        terminal.type_line("");
        terminal.wait_for("exit=1\n$");
    }
    let screen = terminal.run("mfa batch read.json; mfa api delete /employees/kojo --dry-run");
    assert!(screen.contains("exit 0\n"), "{screen}");
    world.get("/employees/kojo").is(200);
    run(world.mfa(&["profile", "add", "bank", "--url", &world.url(), "--protected"])).ok();
    let bank = |words: &[&str]| run(world.mfa(&[words, &["--profile", "bank", "--yes"]].concat()));
    let file = world.dir.path().join("two.json").display().to_string();
    assert!(bank(&["api", "DELETE", "/employees/kojo?x=1"]).fails(2).contains("--confirm kojo"));
    assert!(bank(&["batch", &file]).fails(2).contains("--confirm 2"));
    world.get("/employees/kojo").is(200);
    bank(&["api", "DELETE", "/employees/kojo", "--confirm", "kojo"]).ok();
    world.get("/employees/kojo").is(404);
    // A script is not asked.
    run(world.mfa(&["api", "DELETE", "/employees/efua.sarpong"])).ok();
    world.get("/employees/efua.sarpong").is(404);
}
