//! The audit trail. Contract: `audit.md` sections 1 to 3.

mod check;
mod lists;
mod pages;
mod prune;

pub use check::check_trail;
pub use lists::{Pieces, pieces, put_pieces};
pub use pages::Trail;
pub use prune::{Cleared, before, clear, cut, lines};

use super::listing::json;
use super::{Caller, Stored};
use crate::random;
use crate::store::record::{Record, numbered};
use crate::store::records::{
    AUDIT, AuditEnd, AuditIndexed, AuditPlace, PendingAudit, StoreFacts, StoreLine, StoredTeller,
};
use crate::store::seed::SYSTEM_ACTOR;
use crate::store::{Tx, trail};
use mfa_shared::api::audit::*;
use mfa_shared::api::ledger::{AccountRole, LedgerAccount};
use mfa_shared::fault::{self, Fault};
use mfa_shared::identifier::shown;
use mfa_shared::kind::resource;
use mfa_shared::node::Node;
use mfa_shared::path::split;
use mfa_shared::time::Timestamp;
use mfa_shared::wire::{Json, Nothing, Query};
use serde::Serialize;

/// `GET /audit`
pub fn list(
    tx: &mut Tx<'_>,
    _: &Caller,
    _: &ListAudit,
    Query(query): &Query<AuditQuery>,
) -> Result<Trail, Fault> {
    Trail::new(tx, query)
}

/// `GET /audit/{sequence}`
pub fn get(
    tx: &mut Tx<'_>,
    _: &Caller,
    at: &GetAuditRecord,
    _: &Nothing,
) -> Result<Stored<AuditRecord>, Fault> {
    // `7` is the name of the record, `07` and `+7` are none.
    let number = at.sequence.parse::<u64>().ok().filter(|number| number.to_string() == at.sequence);
    let stored = match number {
        Some(number) => tx.value(AUDIT, &numbered(&[], number))?,
        None => None,
    };
    let none = || {
        let detail = format!("the audit trail has no record {}", shown(&at.sequence));
        Fault::new(fault::AUDIT_RECORD_NOT_FOUND, detail)
    };
    stored.map(Stored::new).ok_or_else(none)
}

/// `GET /audit/head`
pub fn head(tx: &mut Tx<'_>, _: &Caller, _: &GetAuditHead, _: &Nothing) -> Result<Json<AuditHead>, Fault> {
    let none = || Fault::new(fault::AUDIT_RECORD_NOT_FOUND, "the audit trail has no record yet");
    let end = tx.get::<AuditEnd>(AuditEnd::KEY)?.ok_or_else(none)?;
    let sequence = i64::try_from(end.sequence).unwrap_or(i64::MAX);
    Ok(Json(AuditHead { sequence, hash: end.hash, occurred_on: end.occurred_on }))
}

/// Records what was done on the machine itself, or by the daemon.
pub fn record_own(
    tx: &mut Tx<'_>,
    operation: &str,
    request: &str,
    resource: Option<String>,
    changes: Vec<AuditChange>,
) {
    let record = AuditRecord {
        actor: SYSTEM_ACTOR.to_owned(),
        origin: Some("local".to_owned()),
        request_id: request.to_owned(),
        resource,
        affects: tx.take_besides().records,
        changes,
        ..AuditRecord::of(operation, tx.now())
    };
    tx.audit(record);
}

/// Records that the daemon gave up some work.
pub fn record_failed(
    tx: &mut Tx<'_>,
    operation: &str,
    request: &str,
    resource: String,
    changes: Vec<AuditChange>,
) {
    let actor = SYSTEM_ACTOR.to_owned();
    let request_id = request.to_owned();
    let resource = Some(resource);
    let outcome = AuditOutcome::Failed;
    let record = AuditRecord::of(operation, tx.now());
    tx.audit(AuditRecord { actor, request_id, resource, outcome, changes, ..record });
}

/// A change that is made, of a whole record.
pub fn made<T: Serialize>(record: &T) -> AuditChange {
    AuditChange { field: String::new(), before: None, after: Node::parse(&json(record)).ok() }
}

/// What was done, in words.
pub fn made_of(field: &str, text: &str) -> AuditChange {
    let after = Some(Node::Text(text.to_owned()));
    AuditChange { field: field.to_owned(), before: None, after }
}

/// A secret that was changed.
pub fn secret_changed(field: &str) -> AuditChange {
    let cover = || Some(Node::Text(COVER.to_owned()));
    AuditChange { field: field.to_owned(), before: cover(), after: cover() }
}

/// A record that was reported without its transaction, with what only the store says of the record that its
/// path names: the paths of the counter name a teller without its office, and those of the ledger do not say
/// whether an account is that of a customer.
pub fn looked_up(tx: &mut Tx<'_>, mut record: AuditRecord) -> Result<AuditRecord, Fault> {
    let path = record.path.as_deref().filter(|_| record.resource.is_none()).and_then(split);
    let segments: Vec<_> = path.iter().flatten().map(String::as_str).collect();
    record.resource = match segments[..] {
        ["teller", code, ..] => {
            let teller = tx.get::<StoredTeller>(&[code])?;
            teller.map(|teller| resource("teller", &[teller.office, code.to_owned()]))
        }
        ["ledger", "accounts", name, ..] => tx.get::<LedgerAccount>(&[name])?.map(|account| {
            let is_of_customer = account.role == Some(AccountRole::Customer);
            resource(if is_of_customer { "account" } else { "ledger" }, &[account.identifier])
        }),
        _ => record.resource,
    };
    Ok(record)
}

/// Up to where in the journal of a shared engine records are sealed.
pub fn place(tx: &mut Tx<'_>) -> Result<u64, Fault> {
    Ok(tx.get::<AuditPlace>(AuditPlace::KEY)?.map_or(0, |place| place.journal))
}

/// Whether the trail was cut, and what was cut off is not removed yet.
pub fn is_clearing(tx: &mut Tx<'_>) -> Result<bool, Fault> {
    Ok(tx.get::<AuditIndexed>(AuditIndexed::KEY)?.is_some_and(|indexed| indexed.clearing))
}

/// Whether the store is prepared for the trail.
pub fn is_begun(tx: &mut Tx<'_>) -> Result<bool, Fault> {
    tx.has::<AuditPlace>(AuditPlace::KEY)
}

/// Prepares a store that this program, or this place, sees for the first time: what was left unsealed where
/// it was copied from is sealed in the order of its time, and later commits are sealed from this place in
/// the journal on.
pub fn begin(tx: &mut Tx<'_>, journal: u64) -> Result<(), Fault> {
    if is_begun(tx)? {
        return Ok(());
    }
    if tx.has::<StoreFacts>(&["store"])? {
        record_own(tx, "Migrate", "migrate", None, Vec::new());
    }
    seal_left(tx, journal)
}

/// Prepares a store that comes from a backup, and records that.
pub fn restored(
    tx: &mut Tx<'_>,
    journal: u64,
    digest: &str,
    moment: Timestamp,
    reached: Option<u64>,
) -> Result<(), Fault> {
    let mut changes = vec![made_of("/digest", digest), made_of("/moment", &moment.to_string())];
    changes.extend(reached.map(|sequence| made_of("/journalSequence", &sequence.to_string())));
    record_own(tx, "Restore", "restore", None, changes);
    tx.add(&StoreLine { line: random::hex::<8>() });
    seal_left(tx, journal)
}

/// Seals what was left unsealed elsewhere; commits of this store are sealed from this place on.
fn seal_left(tx: &mut Tx<'_>, journal: u64) -> Result<(), Fault> {
    let left: Vec<PendingAudit> = tx.all(&[])?;
    left.iter().for_each(|pending| tx.remove(pending));
    trail::seal(tx, left.into_iter().map(|pending| pending.record).collect())?;
    tx.put(&AuditPlace { journal })
}

/// Seals the records under these keys; false if another has sealed since the place was looked up.
pub fn seal(tx: &mut Tx<'_>, place_before: u64, upto: u64, keys: &[Vec<u8>]) -> Result<bool, Fault> {
    if place(tx)? != place_before {
        return Ok(false);
    }
    tx.expect(PendingAudit::SPACE, keys)?;
    let mut records = Vec::with_capacity(keys.len());
    for key in keys {
        if let Some(pending) = tx.at::<PendingAudit>(key)? {
            tx.remove(&pending);
            records.push(pending.record);
        }
    }
    trail::seal(tx, records)?;
    tx.put(&AuditPlace { journal: upto })?;
    Ok(true)
}
