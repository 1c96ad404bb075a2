//! The guide to error codes, made from the list of them, so that it has every code once.

use mfa_shared::fault::{Kind, TABLE, exit};
use std::fmt::Write;

/// Path of the guide in the source tree.
pub const FILE: &str = "docs/guides/troubleshooting.md";

/// The guide in Markdown: what to do first, then the codes by the way in which a command ends.
pub fn guide() -> String {
    let mut out = include_str!("../help/troubleshooting.md").to_owned();
    for (code, meaning) in exit::TABLE {
        let kinds: Vec<&Kind> = TABLE.iter().copied().filter(|kind| kind.exit() == *code).collect();
        if kinds.is_empty() {
            continue;
        }
        let _ = write!(out, "\n### Exit {code}: {meaning}\n\n| code | | what to do |\n|---|---|---|\n");
        for kind in kinds {
            let what = format!("{} ({})", kind.title, kind.status);
            let _ = writeln!(out, "| `{}` | {what} | {} |", kind.code, kind.hint.replace('|', "\\|"));
        }
    }
    out
}
