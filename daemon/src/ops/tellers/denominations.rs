//! Counting the cash. Contract: `tellers.md` section 10.

use super::{cash, managed};
use crate::domain::teller::{TellerStep, next_state};
use crate::ops::rows::Rows;
use crate::ops::{Caller, ledger};
use crate::store::Tx;
use crate::store::records::{Count, StoredDenomination};
use mfa_shared::amount::Amount;
use mfa_shared::api::tellers::*;
use mfa_shared::fault::{self, Fault};
use mfa_shared::wire::{Accepted, Json, Query};

/// `POST /offices/{office}/teller/{teller}/denominations`
pub fn create(
    tx: &mut Tx<'_>,
    caller: &Caller,
    at: &CreateDenomination,
    Json(new): &Json<NewDenomination>,
) -> Result<Accepted, Fault> {
    let mut stored = managed(tx, &at.office, &at.teller)?;
    if next_state(stored.teller.state, TellerStep::Count).is_none() {
        let detail = format!(
            "teller {} is {}; its cash is counted while it is PAUSED",
            at.teller, stored.teller.state
        );
        return Err(Fault::new(fault::TELLER_NOT_PAUSED, detail));
    }
    let counted = new.counted_total;
    let difference = counted.minus(ledger::drawer_cash(tx, &at.teller)?);
    let entry = cash::settle(tx, caller, &stored.teller, difference)?;
    let denomination = Denomination {
        counted_total: counted,
        note: new.note.clone(),
        adjusting_journal_entry: entry.map(|entry| entry.identifier),
        created_on: tx.now(),
        created_by: caller.name.clone(),
    };
    let teller = at.teller.clone();
    let after = ledger::last_sequence(tx)?;
    let number = tx.next_number::<StoredDenomination>(&[&at.teller])?;
    tx.put(&StoredDenomination { teller, number, after, denomination })?;
    if let Some(session) = &mut stored.session {
        let before = session.count.map_or(Amount::ZERO, |count| count.difference);
        session.count = Some(Count { counted, difference: before.plus(difference) });
    }
    tx.put(&stored)?;
    Ok(Accepted)
}

/// `GET /offices/{office}/teller/{teller}/denominations`
pub fn list(
    tx: &mut Tx<'_>,
    _: &Caller,
    at: &ListDenominations,
    Query(query): &Query<DenominationQuery>,
) -> Result<Rows<StoredDenomination, Denomination>, Fault> {
    managed(tx, &at.office, &at.teller)?;
    let range = query.date_range;
    let within =
        move |stored: &StoredDenomination| range.is_none_or(|r| r.contains(stored.denomination.created_on));
    Ok(Rows::all(&[&at.teller], |_, stored: StoredDenomination| Ok(stored.denomination))
        .only(within)
        .newest_first())
}
