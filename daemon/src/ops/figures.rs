//! Figures about records for monitoring: numbers, never a name.

use crate::ops::backups;
use crate::store::Tx;
use crate::store::records::{SESSIONS_BY_TIME, StoredTeller};
use mfa_shared::api::tellers::TellerState;
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
    /// Whether one failed since.
    pub backup_missed: bool,
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
    let made = backups.made.map(|made| made.moment);
    let missed = backups.missed.is_some();
    Ok(Figures { sessions, tellers, backup_made: made, backup_missed: missed })
}
