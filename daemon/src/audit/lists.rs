//! Updating of the lists that find records of the trail: how many at once, and how often, so that those who
//! write do not wait for them.

use crate::ops::audit as trail;
use crate::store::seed::SYSTEM_ACTOR;
use crate::store::{Store, Tx};
use mfa_shared::fault::Fault;

/// Records that are put into the lists at once, and those where the lists lack more than that: each write
/// waits for its turn among others, and writes a common name once.
pub(super) const LISTED_AT_ONCE: u64 = 128;
pub(super) const LISTED_WHEN_BEHIND: u64 = 1_024;
/// Up to so many new records between two looks, the lists take them and some that they lack. Beyond that they
/// wait for a quieter time, but for one look of so many: they cost as much as the records themselves.
pub(super) const BUSY_RECORDS: u64 = 256;
pub(super) const BUSY_LOOKS: u64 = 8;
/// So many records the lists may lack; then they do the same however busy it is, because a query for a common
/// name goes through all that they lack.
pub(super) const BEHIND_RECORDS: u64 = 1 << 14;
pub(super) const MORE_STEPS: u64 = 2;
/// Up to so many new records between two looks, the lists also catch up, by so many steps at each look.
pub(super) const QUIET_RECORDS: u64 = 64;
pub(super) const CATCH_UP_STEPS: u64 = 20;

/// What a look at the lists saw.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// The number of the last record.
    last: u64,
    /// How many records the lists lack, and whether that was found out.
    pub(super) behind: u64,
    known: bool,
}

impl Seen {
    /// Notes how many records the lists lack.
    pub(super) fn note(&mut self, behind: u64) {
        (self.behind, self.known) = (behind, true);
    }

    /// Whether the lists lack nothing.
    pub(super) fn is_complete(&self) -> bool {
        self.known && self.behind == 0
    }

    /// Notes the number of the last record; how many are new. The first look only learns where it is.
    pub(super) fn look(&mut self, now: u64) -> u64 {
        let before = std::mem::replace(&mut self.last, now);
        let new = if before == 0 { 0 } else { now.saturating_sub(before) };
        self.behind += new;
        new
    }
}

/// Brings the lists up to date, more slowly while others write: queries do not depend on it. `seen` is what
/// the look before this one saw, `look` the number of this one.
pub(super) async fn update(store: &Store, last: u64, seen: &mut Seen, look: u64) -> Result<(), Fault> {
    let new = seen.look(last);
    if new == 0 && seen.is_complete() {
        return Ok(());
    }
    for _ in 0..steps(new, seen.behind, look) {
        seen.note(list(store, at_once(seen.behind)).await?);
        if seen.behind == 0 {
            break;
        }
    }
    Ok(())
}

/// How often the lists take the next records, where so many are new since the look before and so many were
/// lacking.
pub(super) fn steps(new: u64, behind: u64, look: u64) -> u64 {
    let takes_all = new <= BUSY_RECORDS || behind > BEHIND_RECORDS;
    match new {
        0..=QUIET_RECORDS => CATCH_UP_STEPS,
        _ if takes_all => new.div_ceil(LISTED_AT_ONCE) + MORE_STEPS,
        _ => u64::from(look.is_multiple_of(BUSY_LOOKS)),
    }
}

/// How many records one step takes, where so many are lacking.
pub(super) fn at_once(behind: u64) -> u64 {
    if behind > LISTED_AT_ONCE { LISTED_WHEN_BEHIND } else { LISTED_AT_ONCE }
}

/// Adds the next records to the lists, and says how many they lack then. The entries are worked out outside
/// of the write transaction, which only stores them.
async fn list(store: &Store, at_once: u64) -> Result<u64, Fault> {
    // Sealed records never change, and lists only here.
    let Some(pieces) = store.read_latest(move |tx| trail::pieces(tx, at_once)).await? else {
        return Ok(0);
    };
    let behind = pieces.behind;
    let write = move |tx: &mut Tx<'_>| {
        tx.set_actor(SYSTEM_ACTOR);
        trail::put_pieces(tx, &pieces)
    };
    // A snapshot is enough: all that writes the lists, or begins to remove them, writes how far they go.
    store.write_on_snapshot("audit", write).await?;
    Ok(behind)
}
