//! What dry runs, batches, imports and plans come to.

use super::{View, WIDE, column};

/// What a change would come to that was only tried.
pub const DRY_RUN: View = View {
    plural: "dry runs",
    id: "/path",
    state: "",
    columns: &[
        column("method", "/method", 0),
        column("path", "/path", 0),
        column("result", "/result", 1),
        column("location", "/location", 3),
    ],
};

/// What became of the operations of a batch.
pub const BATCH: View = View {
    plural: "operations",
    id: "/operation",
    state: "",
    columns: &[
        column("operation", "/operation", 0),
        column("method", "/method", 1),
        column("path", "/path", 1),
        column("status", "/status", 0),
        column("code", "/problem/code", 0),
        column("detail", "/problem/detail", 2),
        column("location", "/location", 4),
        column("replayed", "/replayed", WIDE),
        column("etag", "/etag", WIDE),
    ],
};
