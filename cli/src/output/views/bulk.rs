//! Results of dry runs, batches, imports and plans.

use super::{View, WIDE, column};

/// The result that a tried change would have.
pub const DRY_RUN: View = View::of("dry runs").id("/path").columns(&[
    column("method", "/method", 0),
    column("path", "/path", 0),
    column("result", "/result", 1),
    column("location", "/location", 3),
]);

/// The results of the operations of a batch.
pub const BATCH: View = View::of("operations").columns(&[
    column("operation", "/operation", 0),
    column("method", "/method", 1),
    column("path", "/path", 1),
    column("status", "/status", 0),
    column("code", "/problem/code", 0),
    column("detail", "/problem/detail", 2),
    column("location", "/location", 4),
    column("replayed", "/replayed", WIDE),
    column("etag", "/etag", WIDE),
]);

pub const IMPORT: View = View::of("imports").id("/report").columns(&[
    column("noun", "/noun", 3),
    column("file", "/file", 1),
    column("rows", "/rows", 0),
    column("created", "/created", 0),
    column("updated", "/updated", 0),
    column("skipped", "/skipped", 0),
    column("done-before", "/doneBefore", 0),
    column("valid", "/valid", 0),
    column("failed", "/failed", 0),
    column("rows-per-second", "/rowsPerSecond", 4),
    column("report", "/report", 2),
    column("failed-rows", "/failedRows", 2),
]);

/// The result of a set of files.
pub const PLAN: View = View::of("changes").id("/identifier").columns(&[
    column("action", "/action", 3),
    column("kind", "/kind", 0),
    column("identifier", "/identifier", 0),
    column("result", "/result", 0),
    column("code", "/code", 4),
    column("message", "/message", 1),
    column("fields", "/fields/*/field", 5),
    column("document", "/document", 2),
]);

pub const EXPORTED: View = View::of("files").id("/file").columns(&[
    column("kind", "/kind", 0),
    column("records", "/records", 0),
    column("file", "/file", 0),
]);
