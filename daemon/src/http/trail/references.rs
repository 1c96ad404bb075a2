//! External references of an office: no read of the office shows them, so a change of one is a field of
//! its own in the audit record.

use crate::ops::listing::json;
use crate::store::Tx;
use crate::store::records::StoredReference;
use mfa_shared::api::audit::AuditChange;
use mfa_shared::api::offices::SetOfficeReference;
use mfa_shared::endpoint::{Endpoint, Meta};
use mfa_shared::fault::Fault;
use mfa_shared::node::Node;

/// The references of the office that a request may change; none for any other request.
pub fn read(tx: &mut Tx<'_>, meta: Meta, params: &[String]) -> Result<Vec<StoredReference>, Fault> {
    match params {
        [office] if meta.name == SetOfficeReference::META.name => tx.all(&[office]),
        _ => Ok(Vec::new()),
    }
}

/// The reference that was added, or has another state than before.
pub fn change(before: &[StoredReference], after: Vec<StoredReference>) -> Option<AuditChange> {
    let is = after.into_iter().find(|reference| !before.contains(reference))?;
    let was = before.iter().find(|reference| reference.r#type == is.r#type).cloned();
    let shown = |reference: StoredReference| Node::parse(&json(&reference.shown())).ok();
    Some(AuditChange { field: "/references".to_owned(), before: was.and_then(shown), after: shown(is) })
}
