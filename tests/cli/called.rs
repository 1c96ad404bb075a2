//! The second name of the program, `mfactl`: what is typed is what help and hints say.

use super::tree::{commands, words};
use crate::support::run::{Ran, run};
use crate::support::world::mfa;
use std::os::unix::process::CommandExt;
use std::path::Path;

fn mfactl(home: &Path, arguments: &[&str]) -> Ran {
    let mut command = mfa(home, arguments);
    command.arg0("/usr/local/bin/mfactl");
    run(command)
}

/// The lines that hold a command with the name that was not typed.
fn misnamed<'a>(text: &'a str, commands: &[String]) -> Vec<&'a str> {
    let begins = |line: &str, at: usize| {
        let (before, piece) = (&line[..at], &line[at + "mfa ".len()..]);
        let word = piece.split([' ', ',', '"']).next().unwrap_or_default();
        !before.ends_with(|c: char| c.is_alphanumeric() || c == '/')
            && (word.starts_with("--") || commands.iter().any(|name| word == name))
    };
    text.lines().filter(|line| line.match_indices("mfa ").any(|(at, _)| begins(line, at))).collect()
}

#[test]
fn help_and_hints_say_the_name_that_was_typed() {
    let home = tempfile::tempdir().unwrap();
    let ask = |arguments: &[&str]| mfactl(home.path(), arguments);
    assert_eq!(ask(&["--version"]).ok(), format!("mfactl {}\n", env!("CARGO_PKG_VERSION")));
    let nothing = ask(&[]).fails(2);
    assert!(nothing.contains("mfactl needs a command") && nothing.contains("mfactl quickstart"), "{nothing}");
    let unknown = ask(&["custmers"]).fails(2);
    assert!(
        unknown.contains("no command mfactl custmers") && unknown.contains("see: mfactl --help"),
        "{unknown}"
    );
    let absent = ask(&["--url", "http://127.0.0.1:1", "customers", "list"]).fails(10);
    assert!(absent.contains("start it: mfactl --url http://127.0.0.1:1 daemon start"), "{absent}");
    let usage = ask(&["customers", "create", "--help"]).ok();
    assert!(usage.contains("\nUsage: mfactl customers create"), "{usage}");
    assert!(usage.contains("\n  mfactl customers create c-100"), "{usage}");
}

#[test]
fn no_page_of_the_help_names_the_program_that_was_not_typed() {
    let home = tempfile::tempdir().unwrap();
    let names: Vec<_> = commands().iter().map(|command| words(command)[0].to_owned()).collect();
    let listed = mfactl(home.path(), &["commands", "-o", "json"]).ok();
    let topics =
        ["teller-day", "import", "apply", "output", "paper", "backup", "tls", "postgres", "environment"];
    let mut texts = vec![listed, mfactl(home.path(), &["--help"]).ok()];
    texts.extend(topics.map(|topic| mfactl(home.path(), &["help", topic]).ok()));
    let groups = ["customers", "teller", "service", "audit", "backup"];
    texts.extend(groups.map(|group| mfactl(home.path(), &[group, "--help"]).ok()));
    for text in &texts {
        assert!(text.contains("mfactl "), "{text}");
        assert_eq!(misnamed(text, &names), Vec::<&str>::new());
    }
    // This test sees what it looks for.
    let own = run(mfa(home.path(), &["--help"])).ok();
    assert!(!misnamed(&own, &names).is_empty() && !own.contains("mfactl"), "{own}");
}
