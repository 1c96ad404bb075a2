//! What is told of the machine and of the interface itself.

use super::{View, column};

/// Findings of `mfa doctor`.
pub const FINDING: View = View {
    plural: "findings",
    id: "/check",
    state: "/result",
    columns: &[
        column("check", "/check", 0),
        column("result", "/result", 0),
        column("found", "/found", 0),
        column("mend", "/mend", 1),
    ],
};

/// Objects of the wire.
pub const OBJECT: View = View {
    plural: "objects",
    id: "/name",
    state: "",
    columns: &[column("name", "/name", 0), column("doc", "/doc", 1)],
};

/// An answer of the daemon of which nothing else is known.
pub const ANSWER: View =
    View { plural: "answers", id: "/identifier", state: "", columns: &[column("answer", "", 0)] };
