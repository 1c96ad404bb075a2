//! What the store knows of the backups that daemons make by themselves.

use super::audit::{record_failed, record_own};
use crate::store::Tx;
use crate::store::records::{BackupMade, BackupMissed, ScheduledBackups};
use mfa_shared::api::audit::AuditChange;
use mfa_shared::fault::Fault;
use mfa_shared::node::Node;
use mfa_shared::time::Timestamp;

/// How the audit trail calls the work.
const OPERATION: &str = "Backup";
/// The request of work that no client asked for.
const REQUEST: &str = "backup";

/// What is known; nothing before the first try.
pub fn seen(tx: &mut Tx<'_>) -> Result<ScheduledBackups, Fault> {
    Ok(tx.get::<ScheduledBackups>(ScheduledBackups::KEY)?.unwrap_or_default())
}

/// Notes a backup that was made.
pub fn made(tx: &mut Tx<'_>, made: &BackupMade) -> Result<(), Fault> {
    let texts = [
        ("/digest", made.digest.clone()),
        ("/moment", made.moment.to_string()),
        ("/file", made.file.clone()),
    ];
    record_own(tx, OPERATION, REQUEST, Some(resource(made.moment)), texts.map(set).into());
    tx.put(&ScheduledBackups { made: Some(made.clone()), missed: None })
}

/// Notes why none could be made.
pub fn missed(tx: &mut Tx<'_>, why: &str) -> Result<(), Fault> {
    let on = tx.now();
    let before = seen(tx)?;
    record_failed(tx, OPERATION, REQUEST, resource(on), vec![set(("/reason", why.to_owned()))]);
    tx.put(&ScheduledBackups { missed: Some(BackupMissed { on, why: why.to_owned() }), ..before })
}

fn resource(moment: Timestamp) -> String {
    format!("backup/{}", moment.day())
}

fn set((field, text): (&str, String)) -> AuditChange {
    AuditChange { field: field.to_owned(), before: None, after: Some(Node::Text(text)) }
}
