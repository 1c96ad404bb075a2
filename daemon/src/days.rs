//! The end of a day beside the requests: everything in its report is read in one transaction that holds up
//! nobody; the one that writes it is short.

use crate::ops::days::{self, Day, Order};
use crate::store::Store;
use mfa_shared::fault::Fault;

/// What the day came to; nothing where it was ended before.
pub async fn gather(order: Order, store: Store) -> Result<Option<Day>, Fault> {
    if order.is_ended {
        return Ok(None);
    }
    store.read(true, move |tx| days::gather(tx, &order).map(Some)).await
}
