//! The flags of a call that its hints repeat, so that a hint that is pasted reaches the same daemon.

use crate::output::called;
use std::sync::Arc;

/// `--profile` and `--url` of the command line; those of the environment reach a pasted line by themselves.
#[derive(Debug, Clone, Default)]
pub struct Carried {
    /// Each flag with its value, as a shell takes them.
    flags: Arc<[(&'static str, String)]>,
    /// The commands that can be given them.
    commands: Arc<[&'static str]>,
}

impl Carried {
    /// The flags of a call, for these commands.
    pub fn new(flags: Vec<(&'static str, String)>, commands: Vec<&'static str>) -> Self {
        Self { flags: flags.into(), commands: commands.into() }
    }

    /// A text whose commands begin with the name that was typed and have the flags of the call.
    pub fn put_in(&self, text: &str) -> String {
        called::spoken(&self.with_flags(text))
    }

    fn with_flags(&self, text: &str) -> String {
        let mut pieces = text.split("mfa ");
        let mut carried = pieces.next().unwrap_or_default().to_owned();
        for piece in pieces {
            // The end of another word, as in a name, begins no command.
            let begins = carried.chars().last().is_none_or(|c| !c.is_alphanumeric());
            let end = piece.find(|c: char| !c.is_ascii_lowercase() && c != '-').unwrap_or(piece.len());
            carried.push_str("mfa ");
            if begins && self.commands.contains(&&piece[..end]) {
                // What the command names already is not given twice.
                let own = piece.split([';', '\n']).next().unwrap_or_default();
                let given = self.flags.iter().filter(|(flag, _)| !own.contains(*flag));
                carried.extend(given.map(|(flag, value)| format!("{flag} {value} ")));
            }
            carried.push_str(piece);
        }
        carried
    }
}

#[cfg(test)]
mod tests {
    use super::Carried;

    #[test]
    fn commands_in_a_hint_are_given_the_flags_of_the_call() {
        let flags = vec![("--profile", "bank".to_owned()), ("--url", "http://x:1".to_owned())];
        let carried = Carried::new(flags, vec!["users", "login"]);
        let hint = carried.put_in("list them: mfa users list; see: mfa help output; not a plumfa users");
        let flags = "--profile bank --url http://x:1";
        let expected = format!("list them: mfa {flags} users list; see: mfa help output; not a plumfa users");
        assert_eq!(hint, expected);
        // What a command names already is not given twice, and what is said of a flag elsewhere is no such thing.
        let hint = carried.put_in("log in: mfa login olga --url http://y:2");
        assert_eq!(hint, "log in: mfa --profile bank login olga --url http://y:2");
        let hint = carried.put_in("it is set by --url; then list them: mfa users list; see --url");
        assert_eq!(hint, format!("it is set by --url; then list them: mfa {flags} users list; see --url"));
        assert_eq!(Carried::default().put_in("mfa users list"), "mfa users list");
    }
}
