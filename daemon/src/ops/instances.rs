//! Product instances: the accounts of customers. Contract: `deposits.md` section 3.

use crate::store::Tx;
use crate::store::engine::{Range, Space};
use crate::store::record::Record;
use crate::store::record::prefix;
use crate::store::records::{INSTANCES_BY_NUMBER, StoredInstance};
use crate::store::tx::decode;
use mfa_shared::fault::Fault;

/// The account of a customer with this account identifier, or else with this alternative number.
pub fn find_by_any_number(tx: &mut Tx<'_>, number: &str) -> Result<Option<StoredInstance>, Fault> {
    match tx.get(&[number])? {
        Some(found) => Ok(Some(found)),
        None => by_index(tx, INSTANCES_BY_NUMBER, number),
    }
}

fn by_index<R: Record>(tx: &mut Tx<'_>, index: Space, part: &str) -> Result<Option<R>, Fault> {
    let under = prefix(&[part]);
    let entries = tx.scan(index, &Range::prefix(&under), false, 1)?;
    let Some((entry, _)) = entries.first() else { return Ok(None) };
    let value = tx.value(R::SPACE, &entry[under.len()..])?;
    value.map(|bytes| decode(R::SPACE, &bytes)).transpose()
}
