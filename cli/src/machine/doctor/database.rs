//! The database of a store in PostgreSQL.

use super::Finding::{self, Fine, Warning};
use super::{AS_DAEMON, Seen};

/// How long a transaction may hold the audit trail back.
const HELD_SECONDS_MAX: i64 = 60;

/// Whether a transaction of any program holds the audit trail back.
pub(super) fn database(seen: &Seen<'_>) -> Option<Finding> {
    Some(match seen.database.as_ref()? {
        // Perhaps it is open to the user of the daemon alone.
        Err(why) => Warning(why.clone(), AS_DAEMON.to_owned()),
        Ok(Some(held)) if held.seconds > HELD_SECONDS_MAX => {
            let minutes = held.seconds / 60;
            let found =
                format!("{} has held up the audit trail, events and backups for {minutes} min", held.by);
            Warning(found, format!("end it where it runs, or as its user in psql: {}", held.end))
        }
        Ok(_) => Fine("no transaction holds up the audit trail, events and backups".to_owned()),
    })
}
