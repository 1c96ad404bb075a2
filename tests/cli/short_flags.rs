//! The short flags of what staff type most: they stay what they are, since hands know them.

use crate::support::run::run;
use crate::support::world::mfa;

/// Command, and its own short flags with the long ones.
const KNOWN: [(&str, &[(char, &str)]); 12] = [
    ("customers create", &[('t', "type"), ('g', "given-name"), ('s', "surname"), ('d', "date-of-birth")]),
    ("customers list", &[('n', "limit")]),
    ("cards create", &[('t', "type"), ('e', "expires"), ('i', "issuer")]),
    ("accounts create", &[('c', "customer"), ('p', "product")]),
    ("accounts list", &[('c', "customer")]),
    ("teller open", &[('e', "employee"), ('f', "from-vault"), ('t', "to-vault")]),
    ("teller unlock", &[('e', "employee")]),
    ("teller deposit", &[('a', "account"), ('m', "amount"), ('c', "charges")]),
    ("teller withdraw", &[('a', "account"), ('m', "amount"), ('c', "charges")]),
    ("teller transfer", &[('a', "account"), ('m', "amount"), ('c', "charges"), ('t', "to")]),
    ("teller open-account", &[('a', "account"), ('m', "amount"), ('c', "charges")]),
    ("teller close", &[('f', "from-vault"), ('t', "to-vault"), ('c', "counted"), ('d', "denominations")]),
];
/// What every command has.
const OF_ALL: [&str; 5] = ["output", "yes", "quiet", "verbose", "help"];

#[test]
fn the_commands_that_staff_type_most_have_the_short_flags_that_hands_know() {
    let home = tempfile::tempdir().unwrap();
    for (command, expected) in KNOWN {
        let words: Vec<_> = command.split(' ').chain(["--help"]).collect();
        let help = run(mfa(home.path(), &words)).ok();
        let mut found: Vec<_> = help.lines().filter_map(short).collect();
        found.retain(|(_, long)| !OF_ALL.contains(&long.as_str()));
        found.sort();
        let mut expected: Vec<_> = expected.iter().map(|(c, long)| (*c, (*long).to_owned())).collect();
        expected.sort();
        assert_eq!(found, expected, "{command}");
    }
}

/// `-a, --account <ACCOUNT>` in a line of help.
fn short(line: &str) -> Option<(char, String)> {
    let (short, long) = line.trim_start().strip_prefix('-')?.split_once(", --")?;
    let long: String = long.chars().take_while(|c| c.is_ascii_lowercase() || *c == '-').collect();
    Some((short.chars().next()?, long))
}
