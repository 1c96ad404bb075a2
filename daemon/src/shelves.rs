//! The orders of lists in memory, which follow the store: whatever was committed before a list is requested
//! is in it, no matter which daemon committed it.

use crate::domain::shelf::{Row, Shelf, SortKey, texts};
use crate::ops::listing::{Findable, Shelved};
use crate::store::engine::{Changed, Followed, Range, Space};
use crate::store::record::{Record, key};
use crate::store::records::{StoredEmployee, StoredInstance, StoredOffice};
use crate::store::tx::decode;
use crate::store::{Store, Tx};
use mfa_shared::api::customers::{Customer, ListCustomers};
use mfa_shared::api::employees::ListEmployees;
use mfa_shared::api::instances::ListInstances;
use mfa_shared::api::ledger::{LedgerAccount, ListLedgerAccounts};
use mfa_shared::api::offices::ListOffices;
use mfa_shared::endpoint::Endpoint;
use mfa_shared::fault::{self, Fault};
use mfa_shared::query::Params;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;
use tokio::sync::{Mutex, oneshot};

/// Records that are read in one transaction.
const CHUNK_RECORDS: usize = 500;
/// Commits that are followed at once.
const COMMITS_AT_ONCE: usize = 1_000;
/// How long a list waits for its order.
const WAIT: Duration = Duration::from_secs(15);
const RETRY_AFTER_S: u32 = 5;
/// Time between two looks at what was committed, so that the next list has little to follow.
const FOLLOW_PAUSE: Duration = Duration::from_secs(1);

type Keys = Vec<(Space, Vec<u8>)>;

/// A noun whose lists have a shelf.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Noun {
    /// Customers.
    Customers,
    /// Employees.
    Employees,
    /// Offices.
    Offices,
    /// Accounts of the ledger.
    LedgerAccounts,
    /// Accounts of customers.
    Instances,
}

const NOUNS: [Noun; 5] =
    [Noun::Customers, Noun::Employees, Noun::Offices, Noun::LedgerAccounts, Noun::Instances];

impl Noun {
    /// The noun that a row lists, where these parameters ask for an order or a term.
    pub fn of(row: &str, params: &Params) -> Option<Self> {
        let has = |name: &str| params.one(name).is_ok_and(|text| text.is_some_and(|text| !text.is_empty()));
        match row {
            _ if row == ListCustomers::META.name => Some(Self::Customers),
            _ if row == ListEmployees::META.name => Some(Self::Employees),
            _ if row == ListOffices::META.name => Some(Self::Offices),
            _ if row == ListLedgerAccounts::META.name => Some(Self::LedgerAccounts),
            // The accounts of one customer are few.
            _ if row == ListInstances::META.name => {
                (has("term") && !has("customer")).then_some(Self::Instances)
            }
            _ => None,
        }
    }

    fn space(self) -> Space {
        match self {
            Self::Customers => Customer::SPACE,
            Self::Employees => StoredEmployee::SPACE,
            Self::Offices => StoredOffice::SPACE,
            Self::LedgerAccounts => LedgerAccount::SPACE,
            Self::Instances => StoredInstance::SPACE,
        }
    }

    fn row(self, value: &[u8], columns: &[String]) -> Result<Row, Fault> {
        match self {
            Self::Customers => row::<Customer>(value, columns),
            Self::Employees => row::<StoredEmployee>(value, columns),
            Self::Offices => row::<StoredOffice>(value, columns),
            Self::LedgerAccounts => row::<LedgerAccount>(value, columns),
            Self::Instances => row::<StoredInstance>(value, columns),
        }
    }
}

fn row<R: Shelved>(value: &[u8], columns: &[String]) -> Result<Row, Fault> {
    if columns.is_empty() {
        return Ok(row_of(&decode::<R::Brief>(R::SPACE, value)?, Vec::new()));
    }
    let record: R = decode(R::SPACE, value)?;
    let keys = columns.iter().map(|column| record.sort_key(column)).collect();
    Ok(row_of(&record, keys))
}

fn row_of(record: &impl Findable, keys: Vec<SortKey>) -> Row {
    let identifier = record.identifier().to_owned();
    Row { identifier, texts: texts(record.texts()), group: record.group(), keys }
}

fn busy() -> Fault {
    let detail = "the order of this list is being made from the store; try again soon";
    Fault::new(fault::UNAVAILABLE, detail).retry_after(RETRY_AFTER_S)
}

/// A shelf, and how far it has followed the store.
#[derive(Debug, Default)]
struct Follower {
    shelf: Arc<RwLock<Shelf>>,
    /// Up to where in the journal it has followed; `None` until it was made.
    followed: Mutex<Option<Followed>>,
    /// How many times it was begun to follow.
    begun: AtomicU64,
    /// The last of them that came to its end.
    ended: AtomicU64,
    /// Held while the order of one more column is made.
    making: Mutex<()>,
}

/// The shelves of a daemon. Each follows the store by itself, so that no list waits for the order of another.
#[derive(Debug, Default)]
pub struct Shelves([Follower; NOUNS.len()]);

impl Shelves {
    fn of(&self, noun: Noun) -> &Follower {
        &self.0[noun as usize]
    }

    fn reading(&self, noun: Noun) -> RwLockReadGuard<'_, Shelf> {
        self.of(noun).shelf.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn writing(&self, noun: Noun) -> RwLockWriteGuard<'_, Shelf> {
        self.of(noun).shelf.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// The shelf of a noun, up to date with the store, with the order of a column; `None` where it cannot
    /// follow the store, and then the list is read from the store. While the shelf is being built, no one
    /// reads the whole store in parallel: a caller who has waited too long is asked to retry.
    pub async fn ready(
        self: &Arc<Self>,
        store: &Store,
        noun: Noun,
        column: Option<&str>,
    ) -> Result<Option<Arc<RwLock<Shelf>>>, Fault> {
        let make = async {
            if self.of(noun).ended.load(SeqCst) == 0 {
                self.to_the_end(
                    store,
                    move |shelves, store| async move { shelves.follow(&store, noun).await },
                )
                .await?;
            } else {
                self.follow(store, noun).await?;
            }
            if let Some(column) = column.filter(|_| !self.reading(noun).has(column)) {
                let column = column.to_owned();
                self.to_the_end(store, move |shelves, store| async move {
                    shelves.make_column(&store, noun, &column).await
                })
                .await?;
            }
            Ok::<_, Fault>(self.of(noun).shelf.clone())
        };
        match tokio::time::timeout(WAIT, make).await {
            Ok(Ok(shelf)) => Ok(Some(shelf)),
            Ok(Err(fault)) => {
                tracing::debug!(%fault, "the orders of lists could not be brought up to date");
                Ok(None)
            }
            Err(_) => Err(busy()),
        }
    }

    /// Does what is done to its end even if no one waits for it any more.
    async fn to_the_end<F>(
        self: &Arc<Self>,
        store: &Store,
        work: impl FnOnce(Arc<Self>, Store) -> F,
    ) -> Result<(), Fault>
    where
        F: Future<Output = Result<(), Fault>> + Send + 'static,
    {
        tokio::spawn(work(self.clone(), store.clone())).await.unwrap_or_else(|_| Err(busy()))
    }

    /// Makes the order of a column, one at a time: those who wait for the same one have it then.
    async fn make_column(&self, store: &Store, noun: Noun, column: &str) -> Result<(), Fault> {
        let _making = self.of(noun).making.lock().await;
        if !self.reading(noun).has(Some(column)) {
            self.add_column(store, noun, column).await?;
        }
        self.follow(store, noun).await
    }

    /// Follows what was committed since the last time, or makes the shelf. Of several who wait for it one
    /// follows for all.
    async fn follow(&self, store: &Store, noun: Noun) -> Result<(), Fault> {
        let Follower { followed, begun, ended, .. } = self.of(noun);
        let arrived = begun.load(SeqCst);
        let mut followed = followed.lock().await;
        // Another has begun after this call, and has come to its end.
        if ended.load(SeqCst) > arrived {
            return Ok(());
        }
        let own = begun.fetch_add(1, SeqCst) + 1;
        let after = match &*followed {
            Some(after) => after.clone(),
            None => {
                let now = store.place().await?;
                self.make(store, noun).await?;
                *followed = Some(now.clone());
                now
            }
        };
        self.go_on(store, noun, after, &mut followed).await?;
        ended.store(own, SeqCst);
        Ok(())
    }

    /// Brings a shelf up to date with what was committed after a place in the journal, and notes how far it
    /// has come.
    async fn go_on(
        &self,
        store: &Store,
        noun: Noun,
        mut after: Followed,
        followed: &mut Option<Followed>,
    ) -> Result<(), Fault> {
        loop {
            let Changed { keys, followed: upto, more } =
                store.changed_since(after.clone(), COMMITS_AT_ONCE, &[noun.space()]).await?;
            for part in changed(noun, &keys).chunks(CHUNK_RECORDS) {
                self.refresh(store, noun, part.to_vec()).await?;
            }
            after = upto;
            *followed = Some(after.clone());
            if !more {
                return Ok(());
            }
        }
    }

    /// Brings records up to date.
    async fn refresh(&self, store: &Store, noun: Noun, names: Vec<String>) -> Result<(), Fault> {
        let columns = self.reading(noun).columns();
        let look = move |tx: &mut Tx<'_>| {
            tx.expect(noun.space(), &names.iter().map(|name| key(&[name])).collect::<Vec<_>>())?;
            let read = |name: &String| {
                let value = tx.value(noun.space(), &key(&[name]))?;
                Ok((name.clone(), value.map(|value| noun.row(&value, &columns)).transpose()?))
            };
            names.iter().map(read).collect::<Result<Vec<_>, Fault>>()
        };
        let changes = store.read(true, look).await?;
        self.writing(noun).apply(changes);
        Ok(())
    }

    /// Reads every record, a short transaction for each chunk.
    async fn make(&self, store: &Store, noun: Noun) -> Result<(), Fault> {
        *self.writing(noun) = Shelf::default();
        let put = |rows: Vec<Row>| {
            let changes = rows.into_iter().map(|row| (row.identifier.clone(), Some(row))).collect();
            self.writing(noun).apply(changes);
        };
        each_chunk(store, noun, Vec::new(), put).await?;
        let shelf = self.reading(noun);
        tracing::debug!(?noun, records = shelf.records(), bytes = shelf.bytes(), "ready to list");
        Ok(())
    }

    /// Keeps the order of another column. The records are read while others list and change; what was changed
    /// meanwhile is read again at the end.
    async fn add_column(&self, store: &Store, noun: Noun, column: &str) -> Result<(), Fault> {
        let begin = store.place().await?;
        let mut keys: BTreeMap<String, SortKey> = BTreeMap::new();
        let put = |rows: Vec<Row>| {
            keys.extend(rows.into_iter().map(|mut row| (row.identifier, row.keys.swap_remove(0))));
        };
        each_chunk(store, noun, vec![column.to_owned()], put).await?;
        let mut followed = self.of(noun).followed.lock().await;
        let Some(after) = followed.clone() else { return Ok(()) };
        self.go_on(store, noun, after, &mut followed).await?;
        let mut from = begin;
        loop {
            let Changed { keys: changes, followed: upto, more } =
                store.changed_since(from.clone(), COMMITS_AT_ONCE, &[noun.space()]).await?;
            let names = changed(noun, &changes);
            let columns = [column.to_owned()];
            for part in names.chunks(CHUNK_RECORDS) {
                let part = part.to_vec();
                let columns = columns.clone();
                let look = move |tx: &mut Tx<'_>| {
                    tx.expect(noun.space(), &part.iter().map(|name| key(&[name])).collect::<Vec<_>>())?;
                    let read = |name: &String| match tx.value(noun.space(), &key(&[name]))? {
                        Some(value) => Ok(Some(noun.row(&value, &columns)?)),
                        None => Ok(None),
                    };
                    part.iter().map(read).collect::<Result<Vec<_>, Fault>>()
                };
                let rows = store.read(true, look).await?;
                keys.extend(
                    rows.into_iter().flatten().map(|mut row| (row.identifier, row.keys.swap_remove(0))),
                );
            }
            from = upto;
            if !more {
                break;
            }
        }
        self.writing(noun).add_column(column, keys);
        Ok(())
    }

    /// Follows the store for as long as the daemon serves, and says when all orders have been made, or cannot
    /// be.
    pub async fn keep_up(self: Arc<Self>, store: Store, made: oneshot::Sender<()>) {
        let mut known = None;
        let mut made = Some(made);
        loop {
            match self.follow_all(&store, known.as_ref()).await {
                Ok(place) => known = Some(place),
                Err(fault) => {
                    tracing::debug!(%fault, "the orders of lists could not be brought up to date");
                }
            }
            made.take().map(|made| made.send(()));
            tokio::time::sleep(FOLLOW_PAUSE).await;
        }
    }

    /// Brings all shelves up to date, unless nothing was committed since a place in the journal; the place
    /// up to which they are then.
    async fn follow_all(&self, store: &Store, known: Option<&Followed>) -> Result<Followed, Fault> {
        let place = store.place().await?;
        if known != Some(&place) {
            for noun in NOUNS {
                self.follow(store, noun).await?;
            }
        }
        Ok(place)
    }
}

/// Hands over every record of a noun, with its keys of these columns. While some are worked out, the next
/// ones are read.
async fn each_chunk(
    store: &Store,
    noun: Noun,
    columns: Vec<String>,
    mut put: impl FnMut(Vec<Row>),
) -> Result<(), Fault> {
    let columns = Arc::new(columns);
    let read = async |start: Vec<u8>| {
        let range = Range { from: start, to: None };
        store.read(true, move |tx| tx.scan(noun.space(), &range, false, CHUNK_RECORDS)).await
    };
    let mut pairs = read(Vec::new()).await?;
    while let Some((last, _)) = pairs.last() {
        let behind = [last.as_slice(), &[0]].concat();
        let columns = columns.clone();
        let rows = tokio::task::spawn_blocking(move || {
            pairs.iter().map(|(_, value)| noun.row(value, &columns)).collect::<Result<Vec<_>, Fault>>()
        });
        let (rows, next) = tokio::join!(rows, read(behind));
        put(rows.unwrap_or_else(|_| Err(busy()))?);
        pairs = next?;
    }
    Ok(())
}

/// The records of a noun among changed keys, each once.
fn changed(noun: Noun, keys: &Keys) -> Vec<String> {
    let of_noun = keys.iter().filter(|(space, _)| *space == noun.space());
    let name = |(_, key): &(Space, Vec<u8>)| {
        let first = key.split(|byte| *byte == 0).next().unwrap_or_default();
        String::from_utf8_lossy(first).into_owned()
    };
    of_noun.map(name).collect::<BTreeSet<_>>().into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;
    use crate::store::embedded::{Embedded, Options};

    #[tokio::test]
    async fn a_list_waits_for_no_order_but_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let engine = Embedded::open(Options::new(folder.path().join("data"))).unwrap();
        let store = Store::new(engine, Clock::system(), false);
        let shelves = Arc::new(Shelves::default());
        let customers = shelves.of(Noun::Customers);
        // The order of the customers is being made, for as long as this lasts.
        let making = customers.followed.lock().await;
        let soon = Duration::from_secs(5);
        let ready = |noun| tokio::time::timeout(soon, shelves.ready(&store, noun, None));
        assert!(ready(Noun::Offices).await.unwrap().unwrap().is_some());
        let waits =
            tokio::time::timeout(Duration::from_millis(100), shelves.ready(&store, Noun::Customers, None));
        assert!(waits.await.is_err());
        drop(making);
        assert!(ready(Noun::Customers).await.unwrap().unwrap().is_some());
        store.close().await;
    }
}
