//! External references of an office: no read of the office shows them, so a change of one is a field of
//! its own in the audit record.

use crate::ops::listing::json;
use crate::store::Tx;
use crate::store::records::StoredReference;
use mfa_shared::api::audit::AuditChange;
use mfa_shared::fault::Fault;
use mfa_shared::node::Node;

/// The reference of this type, as reads show it.
pub fn read(tx: &mut Tx<'_>, office: &str, r#type: &str) -> Result<Option<Node>, Fault> {
    let stored = tx.get::<StoredReference>(&[office, r#type])?;
    Ok(stored.and_then(|reference| Node::parse(&json(&reference.shown())).ok()))
}

/// The reference that was added, or has another state than before.
pub fn change(before: Option<Node>, after: Option<Node>) -> Option<AuditChange> {
    (before != after).then(|| AuditChange { field: "/references".to_owned(), before, after })
}
