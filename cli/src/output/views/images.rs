//! Columns of scans, images and papers.

use super::{View, WIDE, amount, column, moment};

pub const SCAN: View = View::of("scans")
    .columns(&[column("identifier", "/identifier", 0), column("description", "/description", 1)]);

/// The metadata of an image.
pub const IMAGE: View = View::of("images").columns(&[
    column("identifier", "/identifier", 0),
    column("content-type", "/contentType", 1),
    column("bytes", "/bytes", 0),
    moment("uploaded", "/uploadedOn", 2),
    column("sha256", "/sha256", 3),
    column("file", "/file", WIDE),
]);

/// A paper that was written to a file.
pub const PAPER: View = View::of("papers").columns(&[
    column("file", "/file", 0),
    column("form", "/form", 1),
    column("paper", "/paper", 1),
    amount("bytes", "/bytes", 2),
]);
