//! The end of a day beside the requests: what its report says of tellers is read in one transaction, the
//! sums of all accounts in many short ones, and the transaction that writes it is short, too.

use crate::ops::days::{self, Day, Order};
use crate::store::Store;
use mfa_shared::fault::Fault;

/// The result of the day; nothing where it was ended before.
pub async fn gather(order: Order, store: Store) -> Result<Option<Day>, Fault> {
    if order.is_ended {
        return Ok(None);
    }
    let day = store.read(true, move |tx| days::gather(tx, &order)).await?;
    let mut totals = day.totals();
    while !totals.is_done() {
        let added = totals.clone();
        totals = store.read(true, move |tx| added.clone().add_next(tx)).await?;
    }
    Ok(Some(day.with_totals(&totals)))
}
