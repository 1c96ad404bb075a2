//! Lists as lines in an order that is kept in memory. The order is that of one moment and taken before the
//! answer begins, four bytes for a record; the records are read bit by bit, as fast as the client takes them.

use super::access;
use super::reply::Content;
use super::request::Request;
use super::response::{respond, stream};
use crate::domain::shelf::{Order, OtherKeys, Shelf};
use crate::ops::list::{Cursor, List, Ordered};
use crate::shelves::Noun;
use crate::store::Tx;
use mfa_shared::fault::{self, Fault};
use std::net::IpAddr;
use std::sync::{Arc, PoisonError, RwLock};
use warp::reply::Response;

/// How often an order that others keep changing is taken again, before it is made from the store.
const TRIES: usize = 10;

/// Answers a request of an address for lines; `None` if they need no order, or if none can be taken.
pub async fn read(request: &Arc<Request>, from: IpAddr) -> Result<Option<Response>, Fault> {
    let Some(noun) = request.noun.filter(|_| request.lines) else { return Ok(None) };
    let state = &request.state;
    let asking = request.clone();
    let ask = move |tx: &mut Tx<'_>| {
        let caller = access::admit(&asking.state, tx, &asking.asked)?;
        asking.shown(tx, &caller)
    };
    let reply = state.store.read(true, ask).await?;
    let list = match &reply.content {
        Content::List(list) if list.is_ordered() => list.clone(),
        _ => return Ok(None),
    };
    let Some(order) = ordered(request, noun, &list).await? else { return Ok(None) };
    let room = state.unread.begin(from, usize::MAX);
    room.grow_to(order.bytes())?;
    let lines = stream(state.store.clone(), list, Cursor::Order(Arc::new(order), 0), room);
    Ok(Some(respond(reply, Some(lines))))
}

/// The order of a list at the moment that it shows. Records that were touched since have the places that they
/// had then; the order is taken again if the shelf learns of more before that is known.
async fn ordered(request: &Request, noun: Noun, list: &Arc<dyn List>) -> Result<Option<Ordered>, Fault> {
    let state = &request.state;
    for _ in 0..TRIES {
        let Some(shelf) = state.shelves.ready(&state.store, noun, list.column()).await? else {
            return Ok(None);
        };
        let (Some(order), changes) = taken(&shelf, list, OtherKeys::new()).await? else { continue };
        let asked = list.clone();
        let others = state.store.read(true, move |tx| asked.other_keys(tx)).await?;
        if others.is_empty() {
            return Ok(Some(Ordered::new(shelf, order)));
        }
        if let (Some(order), now) = taken(&shelf, list, others).await?
            && now == changes
        {
            return Ok(Some(Ordered::new(shelf, order)));
        }
    }
    Ok(None)
}

/// The order of a list, and how often the shelf had been changed by then.
async fn taken(
    shelf: &Arc<RwLock<Shelf>>,
    list: &Arc<dyn List>,
    others: OtherKeys,
) -> Result<(Option<Order>, u64), Fault> {
    let (shelf, list) = (shelf.clone(), list.clone());
    let take = move || {
        let shelf = shelf.read().unwrap_or_else(PoisonError::into_inner);
        (list.order(&shelf, &others), shelf.changes())
    };
    let taken = tokio::task::spawn_blocking(take).await;
    taken.map_err(|_| Fault::new(fault::INTERNAL, "looking up the order of a list broke off"))
}
