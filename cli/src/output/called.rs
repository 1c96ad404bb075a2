//! The name by which the program was called: `mfa`, or `mfactl` where another program of the machine is
//! called mfa as well. Help and hints use it, so that what is pasted reaches this program.

use std::path::Path;
use std::sync::{LazyLock, OnceLock};

/// The program's own name, in which its texts are written.
const OWN: &str = "mfa";
/// Its second name.
const SECOND: &str = "mfactl";

static NAME: LazyLock<&'static str> = LazyLock::new(|| {
    let first = std::env::args_os().next();
    let second = first.is_some_and(|path| Path::new(&path).file_name().is_some_and(|name| name == SECOND));
    if second { SECOND } else { OWN }
});

/// The words that commands begin with.
static COMMANDS: OnceLock<Vec<&'static str>> = OnceLock::new();

/// Sets the words that commands begin with.
pub fn know(words: impl Iterator<Item = &'static str>) {
    COMMANDS.get_or_init(|| words.collect());
}

/// What was typed.
pub fn name() -> &'static str {
    &NAME
}

/// A text whose commands begin with the name that was typed.
pub fn spoken(text: &str) -> String {
    if name() == OWN { text.to_owned() } else { renamed(text, name()) }
}

/// Replaces the name of the program in the commands of a text. A command is the word mfa before a name of the
/// command tree, a flag, or a placeholder for either: `NOUN`.
fn renamed(text: &str, name: &str) -> String {
    let mut pieces = text.split("mfa ");
    let mut renamed = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let within = renamed.chars().last().is_some_and(|c| c.is_alphanumeric() || "/@-_.".contains(c));
        renamed.push_str(if !within && begins_command(piece) { name } else { OWN });
        renamed.push(' ');
        renamed.push_str(piece);
    }
    renamed
}

fn begins_command(text: &str) -> bool {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '-').unwrap_or(text.len());
    let word = &text[..end];
    word.starts_with(|c: char| c == '-' || c.is_ascii_uppercase())
        || COMMANDS.get().is_some_and(|commands| commands.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::{know, renamed};

    #[test]
    fn only_commands_get_the_name_that_was_typed() {
        know(["check", "customer", "help", "login"].into_iter());
        for (text, expected) in [
            ("begin with mfa login; see: mfa --help", "begin with mfactl login; see: mfactl --help"),
            ("(mfa help TOPIC) or mfa NOUN import", "(mfactl help TOPIC) or mfactl NOUN import"),
            ("sudo -u mfa mfa check", "sudo -u mfa mfactl check"),
            (
                "the user mfa owns /var/lib/mfa and plumfa users",
                "the user mfa owns /var/lib/mfa and plumfa users",
            ),
            ("echo 1 | mfa customer list, mfa", "echo 1 | mfactl customer list, mfa"),
        ] {
            assert_eq!(renamed(text, "mfactl"), expected);
        }
    }
}
