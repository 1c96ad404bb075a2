//! Columns of work on stores.

use super::{View, WIDE, column};

/// A store that was made.
pub const STORE: View = View {
    plural: "stores",
    id: "/identifier",
    state: "",
    columns: &[
        column("identifier", "/identifier", 0),
        column("result", "/result", 0),
        column("instance", "/instance", 1),
        column("passwords", "/passwords", 2),
        column("added", "/added", WIDE),
    ],
};

/// What a check has found.
pub const DEFECT: View = View {
    plural: "findings",
    id: "/record",
    state: "",
    columns: &[
        column("check", "/check", 0),
        column("record", "/record", 0),
        column("field", "/field", 1),
        column("names", "/names", WIDE),
        column("detail", "/detail", 0),
    ],
};

/// A key of the secrets in a store.
pub const SECRET_KEY: View = View {
    plural: "keys",
    id: "/identifier",
    state: "",
    columns: &[column("key", "/identifier", 0), column("result", "/result", 0), column("file", "/file", 1)],
};

/// A store that was copied.
pub const STORE_COPY: View = View {
    plural: "copies",
    id: "/identifier",
    state: "",
    columns: &[
        column("identifier", "/identifier", 0),
        column("result", "/result", 0),
        column("pairs", "/pairs", 0),
        column("images", "/images", 0),
        column("resumed", "/resumed", 2),
        column("sha256", "/sha256", 1),
    ],
};
