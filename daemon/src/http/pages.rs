//! Pages of lists whose order is kept in memory: the order is brought up to date, the page is looked up while
//! no transaction is open, and the transaction reads its records alone.

use super::access;
use super::reply::{Content, Reply};
use super::request::Request;
use crate::ops::list::List;
use crate::shelves::{self, TRIES};
use crate::store::Tx;
use mfa_shared::fault::Fault;
use std::sync::Arc;

/// Answers a request for a page; `None` if no order is kept, or if others keep changing the page or the
/// orders that are kept.
pub async fn read(request: &Arc<Request>) -> Result<Option<Reply>, Fault> {
    let Some(noun) = request.noun.filter(|_| !request.lines) else { return Ok(None) };
    let state = &request.state;
    let asking = request.clone();
    let ask = move |tx: &mut Tx<'_>| {
        let caller = access::admit(&asking.state, tx, &asking.asked)?;
        asking.run(tx, &caller)
    };
    let Content::List(list) = state.store.read(true, ask).await?.content else { return Ok(None) };
    if !list.is_shelved() {
        return Ok(None);
    }
    for _ in 0..TRIES {
        let Some(shelf) = state.shelves.ready(&state.store, noun, list.column()).await? else {
            return Ok(None);
        };
        let looking: Arc<dyn List> = list.clone();
        // The order of its column may just have made room for another one.
        let Some(found) = shelves::look(&shelf, move |shelf| looking.find(shelf)).await? else { continue };
        let found = Arc::new(found);
        let asking = request.clone();
        let show = move |tx: &mut Tx<'_>| {
            let caller = access::admit(&asking.state, tx, &asking.asked)?;
            tx.show_found(found.as_ref().clone());
            let reply = asking.shown(tx, &caller)?;
            Ok((reply, tx.has_moved()))
        };
        let (reply, moved) = state.store.read(true, show).await?;
        if !moved {
            return Ok(Some(reply));
        }
    }
    Ok(None)
}
