//! Columns of scans and images.

use super::{View, WIDE, column, moment};

/// Scans of identification cards.
pub const SCAN: View = View {
    plural: "scans",
    id: "/identifier",
    state: "",
    columns: &[column("identifier", "/identifier", 0), column("description", "/description", 1)],
};

/// What is known of an image beside its bytes.
pub const IMAGE: View = View {
    plural: "images",
    id: "/identifier",
    state: "",
    columns: &[
        column("identifier", "/identifier", 0),
        column("content-type", "/contentType", 1),
        column("bytes", "/bytes", 0),
        moment("uploaded", "/uploadedOn", 2),
        column("sha256", "/sha256", 3),
        column("file", "/file", WIDE),
    ],
};
