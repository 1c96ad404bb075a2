//! Ends of days: the report that was written is what was made.

use crate::http::reply::Reply;
use crate::ops::days::ALREADY_ENDED;
use crate::store::Tx;
use crate::store::record::Record;
use crate::store::records::day_key;
use mfa_shared::api::audit::AuditChange;
use mfa_shared::api::days::{EndOfficeDay, OfficeDay};
use mfa_shared::endpoint::{Endpoint, Meta};
use mfa_shared::fault::Fault;
use mfa_shared::node::Node;

/// The report that a request has written; nothing where the day had been ended before.
pub fn ended(
    tx: &mut Tx<'_>,
    meta: Meta,
    params: &[String],
    reply: &Reply,
) -> Result<Option<AuditChange>, Fault> {
    let before = reply.headers.iter().any(|(name, _)| name == ALREADY_ENDED);
    let [office, date] = params else { return Ok(None) };
    if meta.name != EndOfficeDay::META.name || before {
        return Ok(None);
    }
    let report = tx.value(OfficeDay::SPACE, &day_key(office, date))?;
    let after = report.and_then(|report| Node::parse(&report).ok());
    Ok(after.map(|after| AuditChange { field: String::new(), before: None, after: Some(after) }))
}
