//! The first accounts that contain a text. Which these are is known in memory, as for pages of other lists.

use crate::domain::shelf::{Found, Shelf, Wanted, lower};
use crate::ops::list::{Cursor, List};
use crate::ops::listing::{Findable, Shelved, SortKey, json};
use crate::store::Tx;
use crate::store::engine::Range;
use crate::store::record::{Record, key};
use crate::store::records::StoredInstance;
use crate::store::tx::decode;
use mfa_shared::api::instances::Instance;
use mfa_shared::api::ledger::LedgerAccount;
use mfa_shared::fault::Fault;

type Show = fn(&mut Tx<'_>, StoredInstance) -> Result<Instance, Fault>;

/// The accounts that contain a text, as many as were asked for.
#[derive(Debug)]
pub struct Containing {
    /// The text in lower case.
    term: String,
    most: usize,
    show: Show,
}

impl Findable for StoredInstance {
    fn identifier(&self) -> &str {
        &self.account_identifier
    }
    fn texts(&self) -> Vec<Option<&str>> {
        let number = self.alternative_account_number.as_deref();
        // The identifier begins with that of the customer.
        vec![Some(&self.account_identifier), Some(&self.product_identifier), number]
    }
}

impl Shelved for StoredInstance {
    type Brief = Self;
    fn sort_key(&self, _: &str) -> SortKey {
        SortKey::Null
    }
}

/// Whether an account contains a text in lower case.
pub(super) fn contains(instance: &StoredInstance, term: &str) -> bool {
    let customer = std::iter::once(Some(instance.customer_identifier.as_str()));
    instance.texts().into_iter().chain(customer).flatten().any(|text| lower(text).contains(term))
}

impl Containing {
    /// The first accounts with a text.
    pub(super) fn new(term: &str, most: usize, show: Show) -> Self {
        Self { term: lower(term), most, show }
    }

    /// The accounts, by a walk where they were not looked up.
    fn stored(&self, tx: &mut Tx<'_>) -> Result<Vec<StoredInstance>, Fault> {
        let Some(Found { records, .. }) = tx.take_found() else { return self.walk(tx) };
        let mut stored = Vec::with_capacity(records.len());
        let keys: Vec<_> = records.iter().map(|(account, _)| key(&[account])).collect();
        tx.expect(StoredInstance::SPACE, &keys)?;
        tx.expect(LedgerAccount::SPACE, &keys)?;
        for key in keys {
            match tx.at::<StoredInstance>(&key)? {
                Some(instance) => stored.push(instance),
                None => {
                    tx.note_moved();
                    return Ok(Vec::new());
                }
            }
        }
        Ok(stored)
    }

    fn walk(&self, tx: &mut Tx<'_>) -> Result<Vec<StoredInstance>, Fault> {
        let mut found = Vec::new();
        tx.walk(StoredInstance::SPACE, Range::prefix(&[]), &mut |_, value| {
            let instance: StoredInstance = decode(StoredInstance::SPACE, value)?;
            if contains(&instance, &self.term) {
                found.push(instance);
            }
            Ok(found.len() < self.most)
        })?;
        Ok(found)
    }

    fn shown(&self, tx: &mut Tx<'_>) -> Result<Vec<Vec<u8>>, Fault> {
        let stored = self.stored(tx)?;
        stored.into_iter().map(|instance| Ok(json(&(self.show)(tx, instance)?))).collect()
    }
}

impl List for Containing {
    fn is_shelved(&self) -> bool {
        true
    }

    fn find(&self, shelf: &Shelf) -> Option<Found> {
        let term = Some(self.term.as_str());
        shelf.page(&Wanted { column: None, descending: false, group: None, term, passed: 0, size: self.most })
    }

    fn page(&self, tx: &mut Tx<'_>) -> Result<Vec<u8>, Fault> {
        Ok([b"[".as_slice(), &self.shown(tx)?.join(&b','), b"]"].concat())
    }

    fn lines(&self, tx: &mut Tx<'_>, _: Cursor) -> Result<(Vec<u8>, Cursor), Fault> {
        let lines = self.shown(tx)?.into_iter().flat_map(|line| [line, b"\n".to_vec()].concat());
        Ok((lines.collect(), Cursor::End))
    }
}
