//! Columns of work on stores.

use super::{Column, View, WIDE, column, moment};
use serde_json::Value;

/// A store that was made.
pub const STORE: View = View::of("stores").columns(&[
    column("identifier", "/identifier", 0),
    column("result", "/result", 0),
    column("instance", "/instance", 2),
    Column { lines: Some(passwords), ..column("passwords", "/passwords", 1) },
    column("added", "/added", WIDE),
]);

/// The passwords that were made up, a line for each user.
fn passwords(store: &Value) -> Vec<String> {
    let made = store["passwords"].as_object().into_iter().flatten();
    made.map(|(user, password)| format!("{user}: {}", password.as_str().unwrap_or_default())).collect()
}

/// What a check has found.
pub const DEFECT: View = View::of("findings").id("/record").columns(&[
    column("check", "/check", 0),
    column("record", "/record", 0),
    column("field", "/field", 1),
    column("names", "/names", WIDE),
    column("detail", "/detail", 0),
]);

/// A key of the secrets in a store.
pub const SECRET_KEY: View = View::of("keys").columns(&[
    column("key", "/identifier", 0),
    column("result", "/result", 0),
    column("file", "/file", 1),
]);

/// Journal files that went into an archive.
pub const ARCHIVED_JOURNAL: View = View::of("archives").columns(&[
    column("identifier", "/identifier", 0),
    column("files", "/files", 0),
    column("bytes", "/bytes", 1),
    column("journalBegins", "/journalBegins", 0),
    column("backup", "/backup", 1),
]);

/// A store that was copied.
pub const STORE_COPY: View = View::of("copies").columns(&[
    column("identifier", "/identifier", 0),
    column("result", "/result", 0),
    column("pairs", "/pairs", 0),
    column("images", "/images", 0),
    column("resumed", "/resumed", 2),
    column("sha256", "/sha256", 1),
]);

/// A backup in a list, or one that was made or verified.
pub const BACKUP: View = View::of("backups").columns(&[
    column("file", "/file", 0),
    column("state", "/state", 0),
    moment("moment", "/moment", 0),
    column("bytes", "/bytes", 1),
    column("pairs", "/pairs", 2),
    column("images", "/images", 3),
    column("program", "/program", WIDE),
    column("engine", "/engine", WIDE),
    column("instance", "/instance", WIDE),
    column("auditSequence", "/auditSequence", WIDE),
    column("digest", "/digest", WIDE),
]);

/// All that one backup says of itself.
pub const BACKUP_FACTS: View = View::of("backups").columns(&[
    column("file", "/file", 0),
    column("format", "/format", 0),
    moment("moment", "/moment", 0),
    column("program", "/program", 1),
    column("form", "/form", 5),
    column("engine", "/engine", 4),
    column("instance", "/instance", 6),
    column("pairs", "/pairs", 1),
    column("changes", "/changes", 6),
    column("images", "/images", 2),
    column("bytes", "/bytes", 2),
    column("journalSequence", "/journalSequence", 5),
    column("auditSequence", "/auditSequence", 4),
    column("auditHash", "/auditHash", 7),
    column("digest", "/digest", 3),
]);

/// A certificate of a file or of a daemon.
pub const CERTIFICATE: View = View::of("certificates").columns(&[
    column("fingerprint", "/fingerprint", 0),
    moment("notAfter", "/notAfter", 0),
    column("names", "/names", 1),
    moment("notBefore", "/notBefore", 2),
    column("file", "/file", 3),
]);

/// A backup that was put back.
pub const RESTORED: View = View::of("stores").columns(&[
    column("identifier", "/identifier", 0),
    column("result", "/result", 0),
    moment("moment", "/moment", 0),
    column("journalSequence", "/journalSequence", WIDE),
    column("setAside", "/setAside", 1),
    column("missingImages", "/missingImages", WIDE),
    column("lacksSecrets", "/lacksSecrets", 1),
    column("digest", "/digest", WIDE),
]);
