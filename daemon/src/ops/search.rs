//! What a search shows: the records that were found, as they are now.

use super::Caller;
use super::access::may_list;
use crate::domain::search::{Found, Kind, Phrase};
use crate::search::records::{self, Wanted};
use crate::store::Tx;
use crate::store::records::{StoredEmployee, StoredInstance, StoredOffice};
use mfa_shared::api::customers::{Customer, ListCustomers};
use mfa_shared::api::employees::ListEmployees;
use mfa_shared::api::instances::ListInstances;
use mfa_shared::api::offices::ListOffices;
use mfa_shared::api::search::{Hit, HitKind, SearchHits};
use mfa_shared::endpoint::Endpoint;
use mfa_shared::fault::Fault;

/// The word for a kind.
pub fn hit_kind(kind: Kind) -> HitKind {
    match kind {
        Kind::Customer => HitKind::Customer,
        Kind::Employee => HitKind::Employee,
        Kind::Office => HitKind::Office,
        Kind::Account => HitKind::Account,
    }
}

/// Whether the caller may list the records of a kind.
pub fn may_read(caller: &Caller, kind: Kind) -> bool {
    let row = match kind {
        Kind::Customer => ListCustomers::META,
        Kind::Employee => ListEmployees::META,
        Kind::Office => ListOffices::META,
        Kind::Account => ListInstances::META,
    };
    may_list(caller, &row)
}

/// At most `size` of the finds, in their order; what fits the phrase no more is left out.
pub fn hits(
    tx: &mut Tx<'_>,
    phrase: &Phrase,
    found: &[Found],
    near: bool,
    size: usize,
) -> Result<SearchHits, Fault> {
    let owner = |find: &Found| {
        let kind = if find.kind == Kind::Account { Kind::Customer } else { find.kind };
        Wanted::from((kind, find.owner.clone()))
    };
    records::announce(tx, &found.iter().take(size).map(owner).collect::<Vec<_>>())?;
    let mut hits = Vec::new();
    for find in found {
        if hits.len() == size {
            break;
        }
        let Some(line) = records::line(tx, &owner(find))? else { continue };
        let finds = line.finds(phrase, &[find.kind], near);
        if let Some(now) = finds.iter().find(|now| now.identifier == find.identifier) {
            hits.push(hit(tx, now, near)?);
        }
    }
    Ok(SearchHits { hits })
}

fn hit(tx: &mut Tx<'_>, found: &Found, near: bool) -> Result<Hit, Fault> {
    let owner: &[&str] = &[&found.owner];
    let (state, office) = match found.kind {
        Kind::Office => (None, tx.get::<StoredOffice>(owner)?.and_then(|office| office.parent_identifier)),
        Kind::Employee => {
            (None, tx.get::<StoredEmployee>(owner)?.and_then(|employee| employee.assigned_office))
        }
        Kind::Customer | Kind::Account => {
            let customer = tx.get::<Customer>(owner)?;
            let state = match found.kind {
                Kind::Account => tx.get::<StoredInstance>(&[&found.identifier])?.map(|a| a.state.as_str()),
                _ => customer.as_ref().map(|customer| customer.current_state.as_str()),
            };
            (state.map(str::to_owned), customer.and_then(|customer| customer.assigned_office))
        }
    };
    Ok(Hit {
        kind: hit_kind(found.kind),
        identifier: found.identifier.clone(),
        label: found.label.clone(),
        state,
        office,
        matched: found.matched.iter().map(|field| field.as_str().to_owned()).collect(),
        near,
    })
}
