//! Where commands take their secrets from.

use super::tree::{commands, words};
use crate::support::guarded::PASSWORD;
use crate::support::run::{run, run_with};
use crate::support::terminal::Terminal;
use crate::support::world::World;
use std::io::Write;
use std::process::{Command, Stdio};

/// Words in the name of a flag whose value is a secret, unless it names the file of one.
const SECRETS: &[&str] = &["password", "secret", "token", "passphrase", "pin"];

#[test]
fn a_password_that_was_made_up_and_could_not_be_shown_is_a_failure() {
    let world = World::start();
    let mut create = world.mfa(&["users", "create", "esi", "--role", "pharaoh", "--generate-password"]);
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let ended = create.stderr(full).output().unwrap();
    assert_eq!(ended.status.code(), Some(1), "{ended:?}");
}

#[test]
fn every_command_with_a_password_takes_it_from_stdin_and_from_a_file() {
    let mut taking = Vec::new();
    for command in commands() {
        let flags = command["flags"].as_array().unwrap();
        let named = |name: &str| flags.iter().any(|flag| flag["name"] == name);
        assert_eq!(named("--password-stdin"), named("--password-file"), "{}", command["command"]);
        if named("--password-stdin") {
            taking.push(words(&command).join(" "));
        }
        for flag in flags.iter().filter(|flag| flag["value"].is_string()) {
            let name = flag["name"].as_str().unwrap().trim_start_matches('-');
            let secret = name.split('-').any(|word| SECRETS.contains(&word));
            assert!(!secret || flag["value"] == "FILE", "{} --{name} is in argv", command["command"]);
        }
    }
    for command in ["login", "init", "users create", "users set-password", "teller create", "teller unlock"] {
        assert!(taking.iter().any(|taking| taking == command), "{command} is not among {taking:?}");
    }
}

/// Runs a command with a text as its standard input.
fn fed(mut command: Command, text: &str) -> i32 {
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    child.wait().unwrap().code().unwrap()
}

#[test]
fn a_user_gives_the_present_password_with_the_new_one() {
    let world = World::guarded();
    assert_eq!(fed(world.mfa(&["login", "olga", "--password-stdin"]), PASSWORD), 0);
    let file = |name: &str, text: &str| {
        let path = world.dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let (wrong, right) = (file("wrong", "no such kettle"), file("right", PASSWORD));
    let (common, new) = (file("common", "Password1"), file("new", "green kettle 8"));
    let set = |present: &str, new: &str| {
        let files = ["--current-password-file", present, "--password-file", new];
        run(world.mfa(&[&["users", "set-password", "olga"][..], &files].concat()))
    };
    let said = set(&wrong, &new).fails(5);
    assert!(said.contains("present password of user olga") && !said.contains("kettle"), "{said}");
    assert!(set(&right, &common).fails(7).contains("10,000 most common"));
    set(&right, &new).ok();
    world.try_login("olga", "green kettle 8").is(200);
}

#[test]
fn on_a_terminal_the_present_password_is_asked_for_before_the_own_new_one() {
    let world = World::guarded_with(|config| config.current_password_required = true);
    assert_eq!(fed(world.mfa(&["login", "olga", "--password-stdin"]), PASSWORD), 0);
    let terminal = Terminal::start(&world, 100, &[]);
    terminal.type_line("mfa users set-password olga");
    terminal.wait_for("present password of olga: ");
    terminal.type_line(PASSWORD);
    terminal.wait_for("new password of olga: ");
    terminal.type_line("green kettle 8");
    terminal.wait_for("new password of olga again: ");
    terminal.type_line("green kettle 8");
    terminal.wait_for("given a new password\n$ ");
    world.try_login("olga", "green kettle 8").is(200);
}

#[test]
fn a_password_from_standard_input_is_the_password() {
    let world = World::guarded();
    assert_eq!(fed(world.mfa(&["login", "olga", "--password-stdin"]), "wrong kettle 7\n"), 4);
    assert_eq!(fed(world.mfa(&["login", "olga", "--password-stdin"]), &format!("{PASSWORD}\n")), 0);
    let create = ["users", "create", "esi", "--role", "clerk", "--password-stdin"];
    assert_eq!(fed(world.mfa(&create), "blue kettle 7\n"), 0);
    world.try_login("esi", "blue kettle 7").is(200);
    assert_eq!(
        fed(world.mfa(&["users", "set-password", "esi", "--password-stdin"]), "green kettle 8\r\n"),
        0
    );
    world.try_login("esi", "green kettle 8").is(200);
    run(world.mfa(&["login", "esi", "--password-stdin", "--password-file", "x"])).fails(2);
    run(world.mfa(&[
        "users",
        "create",
        "afua",
        "--role",
        "clerk",
        "--password-stdin",
        "--generate-password",
    ]))
    .fails(2);
    assert!(run(world.mfa(&["login", "esi"])).fails(2).contains("--password-stdin is needed"));
}

#[test]
fn passwords_that_were_made_up_are_lines_for_people_and_json_for_programs() {
    let world = World::start();
    let terminal = Terminal::start(&world, 80, &[]);
    let screen = terminal.run("mfa init --data-dir first --no-input --operator olga");
    let made = |user: &str| {
        let words = format!("the password of {user} is ");
        let said = screen.split_once(&words).unwrap_or_else(|| panic!("{screen}")).1;
        said.split(':').next().unwrap().to_owned()
    };
    for user in ["admin", "olga"] {
        let line = format!("{user}: {}", made(user));
        assert!(screen.lines().any(|shown| shown.ends_with(&line)), "{line}\n{screen}");
    }
    assert!(!screen.contains('{') && screen.ends_with("exit 0\n$"), "{screen}");
    let init = |arguments: &[&str]| {
        let mut command = world.mfa(&[&["init", "--no-input", "--data-dir"], arguments].concat());
        command.current_dir(world.dir.path());
        run(command).ok()
    };
    let record = init(&["second", "-o", "json"]);
    let record: serde_json::Value = serde_json::from_str(&record).unwrap();
    assert!(record["passwords"]["admin"].is_string(), "{record}");
    let line = init(&["third", "-o", "csv", "--columns", "passwords", "--no-header"]);
    assert!(line.contains(r#"{""admin"":"#), "{line}");
}

#[test]
fn ctrl_c_at_a_password_is_said_once_and_always_ends_with_130() {
    let world = World::guarded();
    let terminal = Terminal::start(&world, 100, &[]);
    for _ in 0..5 {
        terminal.type_line("clear; mfa login olga; echo exit $?");
        terminal.wait_for("password of olga: ");
        terminal.press("C-c");
        let screen = terminal.wait_for_any(&["exit 130\n$", "exit 1\n$"]);
        assert!(screen.ends_with("exit 130\n$"), "{screen}");
        assert_eq!(screen.matches("error: ").count(), 1, "{screen}");
    }
    let screen = terminal.run("stty -a | grep -qw -- -echo");
    assert!(screen.ends_with("exit 1\n$"), "the terminal shows again what is typed: {screen}");
}

#[test]
fn a_signal_during_a_question_leaves_the_terminal_as_it_was() {
    let world = World::guarded();
    for (line, question) in
        [("mfa login olga", "password of olga: "), ("mfa customers create", "> PERSON\n  BUSINESS")]
    {
        for (signal, exit) in [("TERM", 143), ("HUP", 129)] {
            let terminal = Terminal::start(&world, 100, &[]);
            run_with(world.mfa(&["login", "admin", "--password-stdin"]), PASSWORD).ok();
            // Another shell sends the signal, since this one waits.
            terminal
                .type_line(&format!("sh -c 'echo $$ >pid; exec {line}'; code=$?; clear; echo exit $code"));
            if line.ends_with("create") {
                terminal.answer("Identifier:", "c-9");
            }
            terminal.wait_for(question);
            let pid = std::fs::read_to_string(world.dir.path().join("pid")).unwrap();
            assert!(Command::new("kill").args(["-s", signal, pid.trim()]).status().unwrap().success());
            // A list may take any signal for a Ctrl-C.
            terminal.wait_for_any(&[&format!("exit {exit}\n$"), "exit 130\n$"]);
            let screen = terminal.run("stty -a | grep -qwe -echo -e -icanon");
            assert!(screen.ends_with("exit 1\n$"), "{line}: no echo after {signal}: {screen}");
        }
    }
}

#[test]
fn a_byte_order_mark_before_a_password_is_no_part_of_it() {
    let world = World::guarded();
    world.user("kojo", "administrator");
    let file = world.dir.path().join("marked").display().to_string();
    std::fs::write(&file, "\u{feff}green kettle 8\r\n").unwrap();
    run_with(world.mfa(&["login", "admin", "--password-stdin"]), PASSWORD).ok();
    run(world.mfa(&["users", "set-password", "kojo", "--password-file", &file])).ok();
    world.try_login("kojo", "green kettle 8").is(200);
    std::fs::write(&file, "\u{feff}\n").unwrap();
    let said = run(world.mfa(&["users", "set-password", "kojo", "--password-file", &file])).fails(2);
    assert!(said.contains("holds no password"), "{said}");
}
