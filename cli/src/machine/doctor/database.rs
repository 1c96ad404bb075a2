//! The database of a store in PostgreSQL.

use super::Finding::{self, Fine, Warning};
use super::{AS_DAEMON, Seen};
use crate::machine::daemon::look;

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

/// Whether somebody on the network could take the place of the database.
pub(super) fn server(seen: &Seen<'_>) -> Option<Finding> {
    Some(match look::unverified(seen.cx, &seen.flags)? {
        None => Fine("nobody else can take the place of the database".to_owned()),
        Some(hosts) => {
            let found = format!(
                "nothing shows that {hosts} is the database that is meant: who answers in its place gets the \
                 password and all records"
            );
            let mend =
                "add sslmode=verify-full&sslrootcert=FILE to the address of the store: mfa help postgres";
            Warning(found, mend.to_owned())
        }
    })
}
