//! The events of the calendar, as the records prove them.

use crate::domain::calendar::{Event, Happened};
use crate::store::Tx;
use crate::store::engine::{Range, Space};
use crate::store::record::Record;
use crate::store::records::{StoredCommand, StoredInstance};
use crate::store::tx::decode;
use mfa_shared::api::customers::{Customer, CustomerAction};
use mfa_shared::fault::Fault;
use mfa_shared::time::{Date, Timestamp};
use serde::Deserialize;

/// The spaces whose records prove events.
pub const SPACES: [Space; 3] = [Customer::SPACE, StoredCommand::SPACE, StoredInstance::SPACE];

/// Of a customer only what proves an event; the same of a command and of an account below.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CreatedCustomer {
    created_on: Timestamp,
}

#[derive(Deserialize)]
struct GivenCommand {
    record: Given,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Given {
    action: CustomerAction,
    created_on: Timestamp,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OpenedAccount {
    product_identifier: String,
    opened_on: Option<Date>,
    closed_on: Option<Timestamp>,
}

/// Events, and where the next chunk begins.
type Chunk = (Vec<Event>, Option<Vec<u8>>);

/// The events of the next records of a space.
pub fn chunk(tx: &mut Tx<'_>, space: Space, from: Vec<u8>, limit: usize) -> Result<Chunk, Fault> {
    let pairs = tx.scan(space, &Range { from, to: None }, false, limit)?;
    let mut events = Vec::new();
    for (key, value) in &pairs {
        events.extend(events_of(space, key, value)?);
    }
    let next = pairs.last().filter(|_| pairs.len() == limit).map(|(last, _)| [last, &[0u8][..]].concat());
    Ok((events, next))
}

/// The events that these records prove.
pub fn events(tx: &mut Tx<'_>, keys: &[(Space, Vec<u8>)]) -> Result<Vec<Event>, Fault> {
    tx.expect_places(keys)?;
    let mut events = Vec::new();
    for (space, key) in keys {
        if let Some(value) = tx.value(*space, key)? {
            events.extend(events_of(*space, key, &value)?);
        }
    }
    Ok(events)
}

fn events_of(space: Space, key: &[u8], value: &[u8]) -> Result<Vec<Event>, Fault> {
    let event = |what, day| Event { record: [&[space.id], key].concat(), what, day };
    if space == Customer::SPACE {
        let customer: CreatedCustomer = decode(space, value)?;
        return Ok(vec![event(Happened::Created, customer.created_on.day())]);
    }
    if space == StoredCommand::SPACE {
        let command = decode::<GivenCommand>(space, value)?.record;
        let what = match command.action {
            CustomerAction::Close => Happened::Closed,
            CustomerAction::Reopen => Happened::Reopened,
            CustomerAction::Activate | CustomerAction::Lock | CustomerAction::Unlock => return Ok(Vec::new()),
        };
        return Ok(vec![event(what, command.created_on.day())]);
    }
    let account: OpenedAccount = decode(space, value)?;
    let Some(opened) = account.opened_on else { return Ok(Vec::new()) };
    let product = account.product_identifier;
    let ended = account.closed_on.map(|on| event(Happened::Ended(product.clone()), on.day()));
    Ok([event(Happened::Opened(product), opened)].into_iter().chain(ended).collect())
}
