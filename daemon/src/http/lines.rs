//! Lists as lines in an order that is kept in memory. The order is that of one moment and taken before the
//! answer begins, four bytes for a record; the records are read bit by bit, as fast as the client takes them.

use super::access;
use super::reply::Content;
use super::request::{READS_TOO_LONG, Request};
use super::response::{respond, stream};
use crate::clock::Deadline;
use crate::domain::shelf::{Order, OtherKeys, Shelf};
use crate::ops::list::{Cursor, List, Ordered};
use crate::shelves::{self, Noun, TRIES};
use crate::store::Tx;
use mfa_shared::fault::Fault;
use std::net::IpAddr;
use std::sync::{Arc, RwLock};
use warp::reply::Response;

/// Answers a request of an address for lines; `None` if they need no order, or if none can be taken.
pub async fn read(request: &Arc<Request>, from: IpAddr) -> Result<Option<Response>, Fault> {
    let Some(noun) = request.noun.filter(|_| request.lines) else { return Ok(None) };
    let state = &request.state;
    let asking = request.clone();
    let deadline = Deadline::after(state.config.read_time);
    let ask = move |tx: &mut Tx<'_>| {
        let caller = access::admit(&asking.state, tx, &asking.asked)?;
        tx.until(deadline, READS_TOO_LONG, |tx| asking.shown(tx, &caller))
    };
    let reply = state.store.read(true, ask).await?;
    let list = match &reply.content {
        Content::List(list) if list.is_ordered() => list.clone(),
        _ => return Ok(None),
    };
    let Some(order) = ordered(request, noun, (&list, from), deadline).await? else { return Ok(None) };
    let room = state.unread.begin(from, usize::MAX);
    room.grow_to(order.bytes())?;
    let lines = stream(state.store.clone(), list, Cursor::Order(Arc::new(order), 0), room);
    Ok(Some(respond(reply, Some(lines))))
}

/// The order of a list at the moment that it shows. Records that were touched since have the places that they
/// had then; the order is taken again if the shelf learns of more before that is known.
async fn ordered(
    request: &Request,
    noun: Noun,
    (list, from): (&Arc<dyn List>, IpAddr),
    deadline: Deadline,
) -> Result<Option<Ordered>, Fault> {
    let state = &request.state;
    for _ in 0..TRIES {
        let Some(shelf) = state.shelves.ready(&state.store, noun, list.column()).await? else {
            return Ok(None);
        };
        let (Some(order), changes) = taken(&shelf, list, OtherKeys::new()).await? else { continue };
        let (asked, room) = (list.clone(), state.unread.begin(from, usize::MAX));
        let look = move |tx: &mut Tx<'_>| {
            tx.limits.room = Some(room.clone());
            tx.until(deadline, READS_TOO_LONG, |tx| asked.other_keys(tx))
        };
        let others = state.store.read(true, look).await?;
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
    let list = list.clone();
    shelves::look(shelf, move |shelf| (list.order(shelf, &others), shelf.changes())).await
}
