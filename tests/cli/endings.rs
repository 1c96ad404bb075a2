//! Verbs that end something ask on a terminal, and go on where nobody can be asked.

use super::run::run;
use super::tree::sample;
use crate::terminal::Terminal;
use crate::world::World;

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
    no(&format!("mfa accounts close {account}"), &format!("close account {account} for good"));
    assert_eq!((customer(), state(&format!("/instances/{account}"), "state")), ("ACTIVE".to_owned(), before));
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
