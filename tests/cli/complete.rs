//! Completion: what may be typed next, and the script of the one shell that is everywhere.

use super::run::run;
use super::tree::sample;
use crate::world::{World, mfa};
use std::path::Path;
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
    assert_eq!(next(&world, &["help", "e"]), ["exit-codes", "environment", "employees", "explain"]);
    let nothing: [&str; 0] = [];
    assert_eq!(next(&world, &["offices", "create", ""]), nothing, "nothing is known of a new record");
    assert_eq!(next(&world, &["customers", "get", "c-001", ""]), nothing, "there is no second identifier");
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
    let typed = "COMP_WORDS=(mfa customers get c-00); COMP_CWORD=3; _mfa; echo ${COMPREPLY[*]}";
    let mut command = Command::new("bash");
    command.args(["--norc", "-c", &format!("source {script}; {typed}")]).env("MFA_URL", world.url());
    let program = Path::new(env!("CARGO_BIN_EXE_mfa")).parent().unwrap();
    command.env("PATH", format!("{}:{}", program.display(), std::env::var("PATH").unwrap()));
    assert_eq!(run(command).ok(), "c-001 c-002 c-003 c-004\n");
}
