//! The guide to error codes, made from the list of them, so that it has every code once.

use crate::failure::codes;
use mfa_shared::fault::{TABLE, exit};
use std::fmt::Write;

/// Path of the guide in the source tree.
pub const FILE: &str = "docs/guides/troubleshooting.md";

/// The guide in Markdown: what to do first, then the codes by the way in which a command ends.
pub fn guide() -> String {
    let mut out = include_str!("../help/troubleshooting.md").to_owned();
    for (code, meaning) in exit::TABLE {
        let of_daemon = TABLE.iter().filter(|kind| kind.exit() == *code);
        let of_daemon =
            of_daemon.map(|kind| (kind.code, format!("{} ({})", kind.title, kind.status), kind.hint));
        let own = codes::TABLE.iter().filter(|kind| kind.exit == *code);
        let own = own.map(|kind| (kind.code, kind.title.to_owned(), kind.hint));
        let mut rows = of_daemon.chain(own).peekable();
        if rows.peek().is_none() {
            continue;
        }
        let _ = write!(out, "\n### Exit {code}: {meaning}\n\n| code | | what to do |\n|---|---|---|\n");
        for (code, what, hint) in rows {
            let _ = writeln!(out, "| `{code}` | {what} | {} |", hint.replace('|', "\\|"));
        }
    }
    out
}
