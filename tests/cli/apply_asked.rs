//! `mfa apply` asks before it does anything: with a user at the terminal, without one, and with each kind of
//! standard input.

use crate::support::run::{run, run_with};
use crate::support::terminal::Terminal;
use crate::support::world::World;

const OFFICE: &str = "kind: office\nidentifier: osu\nname: Osu\n";

/// A world with a file of one office that does not exist.
fn world() -> World {
    let world = World::start();
    std::fs::write(world.dir.path().join("osu.yaml"), OFFICE).unwrap();
    world
}

#[test]
fn on_a_terminal_the_plan_is_shown_and_only_a_yes_carries_it_out() {
    let world = world();
    let terminal = Terminal::start(&world, 120, &[]);
    for answer in ["n", ""] {
        terminal.type_line("clear; mfa apply -f osu.yaml; echo exit $?");
        let screen = terminal.wait_for("? [y/N]");
        assert!(screen.contains("+ office osu (osu.yaml, document 1)\ndo this at http://"), "{screen}");
        terminal.type_line(answer);
        let screen = terminal.wait_for("$");
        assert!(screen.contains("error: nothing was done\nexit 1\n"), "{answer:?}: {screen}");
    }
    terminal.type_line("clear; mfa apply -f osu.yaml; echo exit $?");
    terminal.wait_for("? [y/N]");
    terminal.press("C-c");
    let screen = terminal.wait_for("exit 130\n$");
    assert!(screen.contains("error: interrupted\n"), "{screen}");
    assert_eq!(world.get("/offices/osu").status, 404, "nothing is done before the yes");
    terminal.type_line("clear; mfa apply -f osu.yaml; echo exit $?");
    terminal.wait_for("? [y/N]");
    terminal.type_line("y");
    let screen = terminal.wait_for("exit 0\n$");
    assert!(screen.contains("created"), "{screen}");
    world.get("/offices/osu").is(200);
}

#[test]
fn an_answer_given_by_a_flag_is_not_asked_for_and_no_input_asks_nothing() {
    let world = world();
    let terminal = Terminal::start(&world, 120, &[]);
    let screen = terminal.run("mfa apply -f osu.yaml --no-input");
    let refused = "error: --yes is needed: questions are switched off\nhint: give --yes\nexit 2";
    assert!(screen.contains(refused), "{screen}");
    let screen = terminal.run("mfa apply -f - <osu.yaml");
    assert!(screen.contains("error: --yes is needed: standard input is no terminal\n"), "{screen}");
    assert_eq!(world.get("/offices/osu").status, 404);
    let screen = terminal.run("MFA_NO_INPUT=1 mfa apply -f osu.yaml --yes");
    assert!(screen.contains("created") && screen.contains("exit 0"), "{screen}");
    world.get("/offices/osu").is(200);
    for (line, said) in [
        ("mfa apply -f osu.yaml", "no changes: the one record is as the files say\nexit 0\n$"),
        ("mfa diff -f osu.yaml", "no differences: the one record is as the files say\nexit 0\n$"),
        ("mfa diff -f osu.yaml -o wide", "no differences: the one record is as the files say\nexit 0\n$"),
    ] {
        let screen = terminal.run(line);
        assert!(screen.ends_with(said) && screen.matches("no ").count() == 1, "{line}: {screen}");
    }
}

#[test]
fn standard_input_holds_the_documents_and_so_no_answer() {
    let world = World::start();
    let apply = |more: &[&str], text: &str| {
        run_with(world.mfa(&[&["apply", "-f", "-", "-o", "json"], more].concat()), text)
    };
    let error = apply(&[], OFFICE).fails_in_json(2);
    assert_eq!(
        (&error["code"], &error["message"]),
        (&"input_needed".into(), &"--yes is needed: there is no terminal".into())
    );
    assert_eq!(world.get("/offices/osu").status, 404);
    let made = apply(&["--yes"], OFFICE).json();
    assert_eq!((&made[0]["identifier"], &made[0]["result"]), (&"osu".into(), &"created".into()));
    assert_eq!(made[0]["document"], "standard input, document 1");
    assert_eq!(apply(&[], OFFICE).json(), serde_json::json!([]), "what changes nothing is not asked about");
    // JSON instead of YAML, several records of one text.
    let text = r#"[{"kind":"office","identifier":"tema","name":"Tema","parentIdentifier":"osu"},
        {"kind":"office","identifier":"osu","name":"Osu Central"}]"#;
    let mut command = world.mfa(&["apply", "--file", "-", "-o", "json"]);
    command.env("MFA_YES", "1");
    let done = run_with(command, text).json();
    assert_eq!(done.as_array().map(Vec::len), Some(2), "{done}");
    assert_eq!(world.get("/offices/osu").json()["name"], "Osu Central");
    assert_eq!(world.get("/offices/tema").json()["parentIdentifier"], "osu");
    let said = apply(&["--yes"], "").fails_in_json(2);
    assert_eq!(said["hint"], "what a document looks like: mfa help apply");
    let mut nothing = world.mfa(&["apply", "-f", "-", "--yes"]);
    nothing.stdin(std::process::Stdio::null());
    run(nothing).fails(2);
}
