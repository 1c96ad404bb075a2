//! The pending transactions of a teller. CLOSE cancels all of them in one commit, so there is a bound:
//! without it a script could make a drawer that nobody can close. The contract (`tellers.md` sections 3 and
//! 5) has none.

use crate::store::Tx;
use crate::store::engine::Range;
use crate::store::record::prefix;
use crate::store::records::{StoredTransaction, TRANSACTIONS_PENDING};
use mfa_shared::api::tellers::TransactionState;
use mfa_shared::fault::{self, Fault};

/// Far more than a counter ever has, and what one commit cancels in a moment.
const PENDING_MAX: usize = 5_000;
/// They are counted for each transaction whose number is a multiple of this, so that the count costs the
/// others nothing. A refused transaction takes no number: the next one is counted again.
const COUNTED_EVERY: u64 = 256;
/// What one CLOSE cancels at most. A teller can have so many only from before there was a bound.
const CANCELLED_MAX: usize = 6 * PENDING_MAX;

/// Whether the teller may have the transaction with this number.
pub fn check_room(tx: &mut Tx<'_>, teller: &str, number: u64) -> Result<(), Fault> {
    if number.is_multiple_of(COUNTED_EVERY) && are_more(tx, teller, PENDING_MAX - 1)? {
        return Err(too_many(teller, PENDING_MAX));
    }
    Ok(())
}

/// Cancels all of a teller.
pub fn cancel_all(tx: &mut Tx<'_>, teller: &str) -> Result<(), Fault> {
    if are_more(tx, teller, CANCELLED_MAX)? {
        return Err(too_many(teller, CANCELLED_MAX));
    }
    for mut pending in tx.indexed::<StoredTransaction>(TRANSACTIONS_PENDING, &[teller])? {
        cancel(tx, &mut pending)?;
        tx.note_changed("transaction", &[teller, &pending.transaction.identifier]);
    }
    Ok(())
}

/// Cancels a transaction; nothing moves.
pub fn cancel(tx: &mut Tx<'_>, stored: &mut StoredTransaction) -> Result<(), Fault> {
    stored.transaction.state = TransactionState::Canceled;
    stored.transaction.finished_on = Some(tx.now());
    tx.put(stored)
}

fn are_more(tx: &mut Tx<'_>, teller: &str, than: usize) -> Result<bool, Fault> {
    let pending = tx.scan(TRANSACTIONS_PENDING, &Range::prefix(&prefix(&[teller])), false, than + 1)?;
    Ok(pending.len() > than)
}

fn too_many(teller: &str, most: usize) -> Fault {
    let detail =
        format!("teller {teller} has {most} transactions or more that are neither confirmed nor cancelled");
    Fault::new(fault::TOO_MANY_PENDING, detail)
}
