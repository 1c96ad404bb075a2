//! What a change may name: with `Existing-Only: true` one that names a record which does not exist is
//! refused, in the transaction that would make it; otherwise `Dangling-References` of the answer says which
//! fields do. Who may not read a kind of record learns neither way which of that kind exist. A batch has it
//! for all of its operations.

use super::dry_run::switch;
use super::reply::Reply;
use crate::ops::Caller;
use crate::ops::access::may_list;
use crate::store::Tx;
use crate::store::engine::Space;
use crate::store::records::{CUSTOMERS, EMPLOYEES, GROUPS, LEDGER_ACCOUNTS, OFFICES, ROLES};
use mfa_shared::api::customers::ListCustomers;
use mfa_shared::api::employees::ListEmployees;
use mfa_shared::api::groups::ListGroups;
use mfa_shared::api::ledger::ListLedgerAccounts;
use mfa_shared::api::offices::ListOffices;
use mfa_shared::api::roles::ListRoles;
use mfa_shared::endpoint::{Endpoint, Meta};
use mfa_shared::fault::Fault;
use warp::http::HeaderMap;

/// Name of the header, in the request and in the answer.
const HEADER: &str = "existing-only";

/// The header that lists the dangling references of a body.
pub const DANGLING: &str = "dangling-references";

/// The kinds of record that bodies name freely, each with the list that shows which there are.
const NAMED: [(Space, Meta); 6] = [
    (CUSTOMERS, ListCustomers::META),
    (EMPLOYEES, ListEmployees::META),
    (OFFICES, ListOffices::META),
    (LEDGER_ACCOUNTS, ListLedgerAccounts::META),
    (ROLES, ListRoles::META),
    (GROUPS, ListGroups::META),
];

/// Whether a request asks for it. What cannot be understood is refused: it might be meant as that.
pub fn asked(headers: &HeaderMap) -> Result<bool, Fault> {
    switch(headers, HEADER, "Existing-Only")
}

/// Has a transaction refuse what does not exist.
pub fn begin(tx: &mut Tx<'_>, caller: &Caller) {
    let hidden = NAMED.iter().filter(|(_, list)| !may_list(caller, list)).map(|(kind, _)| *kind);
    tx.set_existing_only(hidden.collect());
}

/// Says in the answer to a change which of its fields name what does not exist.
pub fn report(tx: &mut Tx<'_>, caller: &Caller, reply: &mut Reply) {
    let mut dangling = tx.take_dangling();
    let hidden = |kind| NAMED.iter().any(|(named, list)| Some(*named) == kind && !may_list(caller, list));
    dangling.retain(|(_, kind)| !hidden(*kind));
    if !dangling.is_empty() {
        let fields: Vec<_> = dangling.into_iter().map(|(field, _)| field).collect();
        reply.headers.push((DANGLING.to_owned(), fields.join(", ")));
    }
}

/// Says in an answer that it was heard.
pub fn mark(reply: &mut Reply) {
    reply.headers.push((HEADER.to_owned(), "true".to_owned()));
}
