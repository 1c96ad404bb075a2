//! `Possible-Duplicates`: the answer to a new customer names those who may be the same person, to callers who
//! may read customers.

use super::said::SaidCustomer;
use super::state::State;
use crate::config::Auth;
use crate::domain::search::Kind;
use crate::ops::{self, Caller};
use crate::search::Apart;
use mfa_shared::api::batch::DUPLICATES_MAX;
use mfa_shared::endpoint::percent_encode;
use mfa_shared::fault::Fault;
use std::time::Duration;

/// Name of the header.
pub const HEADER: &str = "possible-duplicates";
/// Longest time for which the answer to a change waits for this.
const WAIT: Duration = Duration::from_secs(2);

/// Notes what a customer is known by now, so that the next one is compared with it.
pub fn note(state: &State, customer: &SaidCustomer) {
    state.search.note_alike(&customer.identifier, &customer.alike);
}

/// For each new customer the others who may be the same person; `made` says that the new ones are there now.
/// It is a service: what takes too long is left out, and so is what cannot be found out.
pub async fn others(state: &State, customers: &[&SaidCustomer], made: bool) -> Vec<Vec<String>> {
    let mut found = vec![Vec::new(); customers.len()];
    if customers.is_empty() {
        return found;
    }
    let look = async {
        state.search.ready_for_alike(&state.store).await?;
        // First all of them: those of one batch may be alike, too.
        let apart = Apart::default();
        for customer in customers {
            if made {
                note(state, customer);
            } else {
                apart.add(&customer.identifier, &customer.alike);
            }
        }
        for (customer, others) in customers.iter().zip(&mut found) {
            *others = state.search.alike(&state.store, &customer.identifier, &customer.alike).await?;
            others.extend(apart.alike(&customer.identifier, &customer.alike));
            // Of an answer that is given again, those of the batch are in the store, too.
            others.sort();
            others.dedup();
            others.truncate(DUPLICATES_MAX);
        }
        Ok::<_, Fault>(())
    };
    if let Ok(Err(fault)) = tokio::time::timeout(WAIT, look).await {
        tracing::debug!(%fault, "no customers could be compared with a new one");
    }
    found
}

/// Whether a caller may learn about other customers.
pub fn may_see_others(state: &State, caller: &Caller) -> bool {
    state.config.auth == Auth::Off || ops::search::may_read(caller, Kind::Customer)
}

/// The value of the header.
pub fn value(others: &[String]) -> String {
    others.iter().map(|other| percent_encode(other)).collect::<Vec<_>>().join(", ")
}
