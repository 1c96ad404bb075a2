//! Figures about records for monitoring: numbers, never a name.

use crate::ops::{backups, events};
use crate::store::Tx;
use crate::store::records::{SESSIONS_BY_TIME, StoredSubscription, StoredTeller};
use mfa_shared::api::tellers::TellerState;
use mfa_shared::api::webhooks::SubscriptionState;
use mfa_shared::fault::Fault;
use mfa_shared::time::Timestamp;

/// Sessions that are counted. There may be a million, and this is asked every few seconds.
const SESSIONS_MAX: usize = 10_000;

/// The states of a teller, in the order of [`Figures::tellers`].
pub const TELLER_STATES: [TellerState; 4] =
    [TellerState::Closed, TellerState::Open, TellerState::Active, TellerState::Paused];

/// The numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Figures {
    /// Sessions whose end has not come, 10,000 of them at most.
    pub sessions: u64,
    /// Tellers in each of the [`TELLER_STATES`].
    pub tellers: [u64; TELLER_STATES.len()],
    /// Moment of the last backup that a daemon made by itself.
    pub backup_made: Option<Timestamp>,
    /// Its size.
    pub backup_bytes: Option<u64>,
    /// Whether one failed since.
    pub backup_missed: bool,
    /// The number of the last sealed record of the audit trail; 0 where there is none.
    pub audit_sequence: u64,
    /// How many records the active webhook furthest behind has still to look at.
    pub webhook_lag: u64,
}

/// Looks at the records. Tellers are few: an institution has some for each office.
pub fn look(tx: &mut Tx<'_>) -> Result<Figures, Fault> {
    let now = tx.now();
    let sessions = tx.count_from(SESSIONS_BY_TIME, now, SESSIONS_MAX)?;
    let mut tellers = [0; TELLER_STATES.len()];
    for stored in tx.all::<StoredTeller>(&[])? {
        let places = TELLER_STATES.iter().zip(&mut tellers);
        places.filter(|(state, _)| **state == stored.teller.state).for_each(|(_, count)| *count += 1);
    }
    let backups = backups::seen(tx)?;
    let audit_sequence = events::last(tx)?;
    // There is a bound to how many an institution may have.
    let webhooks = tx.all::<StoredSubscription>(&[])?.into_iter();
    let active = webhooks.filter(|webhook| webhook.state == SubscriptionState::Active);
    let furthest = active.map(|webhook| webhook.position).min();
    Ok(Figures {
        sessions,
        tellers,
        backup_made: backups.made.as_ref().map(|made| made.moment),
        backup_bytes: backups.made.map(|made| made.bytes),
        backup_missed: backups.missed.is_some(),
        audit_sequence,
        webhook_lag: furthest.map_or(0, |position| audit_sequence.saturating_sub(position)),
    })
}
