//! The search by words and its column in memory, which follows the store: whatever was committed before a
//! search is found by it, by whichever daemon it was committed.

mod alike;
mod best;
mod column;
mod line;
mod marks;
pub mod records;
mod runs;

pub use alike::Apart;

use crate::domain::search::{Found, Kind, Phrase};
use crate::store::Store;
use crate::store::engine::{Changed, Followed, Space};
use crate::store::records::{CARDS, CUSTOMERS, EMPLOYEES, INSTANCES, INSTANCES_BY_CUSTOMER, OFFICES};
use column::Column;
use line::Line;
use marks::Marks;
use mfa_shared::fault::{self, Fault};
use records::{Named, Wanted};
use runs::{UNSORTED_MAX, UNSORTED_WHILE_MADE};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use std::thread::available_parallelism;
use std::time::{Duration, Instant};
use tokio::sync::{Mutex, Semaphore, oneshot};

/// Records that are read in one transaction.
const CHUNK_RECORDS: usize = 500;
/// The same for records that were changed, which may be anywhere. A database is queried at once for what
/// belongs to them, which has to fit into what a transaction keeps.
const CHUNK_CHANGED: usize = 250;
/// Commits that are followed at once.
const COMMITS_AT_ONCE: usize = 1_000;
/// Searches that look through the column at the same time; more wait for their turn.
const SEARCHES_AT_ONCE: usize = 2;
/// Threads of a search, however many processors there are.
const THREADS_MAX: usize = 4;
/// How long a search waits while the column is made or brought up to date.
const WAIT: Duration = Duration::from_secs(10);
/// Time between two looks at what was committed, so that the next search has little to follow.
const FOLLOW_PAUSE: Duration = Duration::from_secs(2);
const RETRY_AFTER_S: u32 = 5;
/// What the lines are made of.
const SPACES: [Space; 6] = [OFFICES, EMPLOYEES, CUSTOMERS, CARDS, INSTANCES_BY_CUSTOMER, INSTANCES];

/// The search of a daemon.
#[derive(Debug)]
pub struct Search {
    column: Arc<RwLock<Column>>,
    /// Up to where in the journal the column has followed; `None` until it was made.
    followed: Mutex<Option<Followed>>,
    /// Whether the column was made.
    made: AtomicBool,
    /// When it was begun to make it.
    making: OnceLock<Instant>,
    /// How many times it was begun to follow.
    begun: AtomicU64,
    /// The last of them that came to its end.
    ended: AtomicU64,
    /// What customers are known by who may be one person.
    marks: Marks,
    turns: Arc<Semaphore>,
    /// Threads of a search beside which there is no other.
    threads: usize,
}

impl Default for Search {
    fn default() -> Self {
        let column = Arc::default();
        Self {
            column,
            followed: Mutex::new(None),
            made: AtomicBool::new(false),
            begun: AtomicU64::new(0),
            ended: AtomicU64::new(0),
            making: OnceLock::new(),
            marks: Marks::default(),
            turns: Arc::new(Semaphore::new(SEARCHES_AT_ONCE)),
            threads: available_parallelism().map_or(1, |processors| processors.get().min(THREADS_MAX)),
        }
    }
}

fn busy() -> Fault {
    let detail = "what is searched is being read from the store; try again soon";
    Fault::new(fault::UNAVAILABLE, detail).retry_after(RETRY_AFTER_S)
}

impl Search {
    /// The best finds, best first. Words are taken as they are; only if they find nothing, long ones may
    /// differ in a letter, and then the answer says so.
    pub async fn find(
        self: &Arc<Self>,
        store: &Store,
        phrase: &Arc<Phrase>,
        kinds: &[Kind],
        limit: usize,
    ) -> Result<(Vec<Found>, bool), Fault> {
        if phrase.is_empty() || kinds.is_empty() {
            return Ok((Vec::new(), false));
        }
        tokio::time::timeout(WAIT, self.follow_to_the_end(store)).await.unwrap_or_else(|_| Err(busy()))?;
        let turn = tokio::time::timeout(WAIT, self.turns.clone().acquire_owned()).await;
        let turn = turn.map_err(|_| busy())?.map_err(|_| busy())?;
        let is_alone = self.turns.available_permits() > 0;
        let threads = if is_alone { self.threads } else { 1 };
        let column = self.column.clone();
        let phrase = phrase.clone();
        let kinds = kinds.to_vec();
        let looked = tokio::task::spawn_blocking(move || {
            // Who asked may be gone by now; the turn ends with the search.
            let _turn = turn;
            let column = column.read().unwrap_or_else(PoisonError::into_inner);
            let find = |near| column.find(&phrase, &kinds, near, limit, threads);
            let found = find(false);
            if found.is_empty() { (find(true), true) } else { (found, false) }
        });
        looked.await.map_err(|_| busy())
    }

    fn put(&self, lines: &[Line]) {
        let mut column = self.column.write().unwrap_or_else(PoisonError::into_inner);
        for line in lines {
            column.put(line);
            self.note(line);
        }
        column.tidy(UNSORTED_WHILE_MADE);
    }

    /// Sorts what was written, unless it is little.
    async fn tidy(&self) -> Result<(), Fault> {
        if !self.column.read().unwrap_or_else(PoisonError::into_inner).is_untidy(UNSORTED_MAX) {
            return Ok(());
        }
        let column = self.column.clone();
        let tidy = move || column.write().unwrap_or_else(PoisonError::into_inner).tidy(UNSORTED_MAX);
        tokio::task::spawn_blocking(tidy).await.map_err(|_| busy())
    }

    fn note(&self, line: &Line) {
        if let Some(alike) = &line.alike {
            self.note_alike(&line.record.identifier, alike);
        }
    }

    /// Follows what was committed since the last time, or makes the column. Of several who wait for it one
    /// follows for all. Those who may stop waiting [follow to the end](Self::follow_to_the_end).
    async fn follow(self: &Arc<Self>, store: &Store) -> Result<(), Fault> {
        let arrived = self.begun.load(SeqCst);
        let mut followed = self.followed.lock().await;
        // Another has begun after this call, and has come to its end.
        if self.ended.load(SeqCst) > arrived {
            return Ok(());
        }
        let own = self.begun.fetch_add(1, SeqCst) + 1;
        let mut after = match &*followed {
            Some(after) => after.clone(),
            None => {
                let now = store.place().await?;
                self.making.get_or_init(Instant::now);
                self.make(store).await?;
                *followed = Some(now.clone());
                self.made.store(true, SeqCst);
                now
            }
        };
        loop {
            let Changed { keys, followed: upto, more } =
                store.changed_since(after.clone(), COMMITS_AT_ONCE, &SPACES).await?;
            let changed = self.wanted(changed_records(store, keys).await?);
            for chunk in changed.chunks(CHUNK_CHANGED) {
                self.refresh(store, chunk.to_vec()).await?;
            }
            after = upto;
            *followed = Some(after.clone());
            if !more {
                self.ended.store(own, SeqCst);
                return Ok(());
            }
        }
    }

    /// Reads every record, a short transaction for each chunk.
    async fn make(self: &Arc<Self>, store: &Store) -> Result<(), Fault> {
        for kind in [Kind::Office, Kind::Employee, Kind::Customer] {
            let read = async |from: Option<Vec<u8>>| match from {
                Some(start) => {
                    store.read(true, move |tx| records::chunk(tx, kind, start.clone(), CHUNK_RECORDS)).await
                }
                None => Ok((Vec::new(), None)),
            };
            let (mut lines, mut next) = read(Some(Vec::new())).await?;
            while !lines.is_empty() {
                let search = self.clone();
                // While some are put in, the next ones are read.
                let put = tokio::task::spawn_blocking(move || search.put(&lines));
                let (put, chunk) = tokio::join!(put, read(next));
                put.map_err(|_| busy())?;
                (lines, next) = chunk?;
            }
        }
        self.make_ownerless(store).await?;
        self.tidy().await?;
        let column = self.column.read().unwrap_or_else(PoisonError::into_inner);
        let records = column.records();
        let bytes = column.bytes();
        tracing::debug!(records, bytes, "ready to search");
        Ok(())
    }

    /// Reads the accounts whose customer does not exist.
    async fn make_ownerless(self: &Arc<Self>, store: &Store) -> Result<(), Fault> {
        let mut from = Some(Vec::new());
        while let Some(start) = from {
            let (mut named, next) =
                store.read(true, move |tx| records::named(tx, start.clone(), CHUNK_RECORDS)).await?;
            {
                let column = self.column.read().unwrap_or_else(PoisonError::into_inner);
                named.retain(|(kind, customer)| !column.has(*kind, customer));
            }
            let wanted: Vec<_> = named.into_iter().map(Wanted::from).collect();
            for chunk in wanted.chunks(CHUNK_CHANGED) {
                self.refresh(store, chunk.to_vec()).await?;
            }
            from = next;
        }
        Ok(())
    }

    /// A new customer, of whom nothing else has changed, has neither cards nor accounts: whatever comes later
    /// is followed later, and accounts that were there before the customer have a line.
    fn wanted(&self, changed: BTreeMap<Named, bool>) -> Vec<Wanted> {
        if changed.is_empty() {
            // Nobody waits here for a search that is under way.
            return Vec::new();
        }
        let column = self.column.read().unwrap_or_else(PoisonError::into_inner);
        let is_new = |name: &str| ![Kind::Customer, Kind::Account].iter().any(|kind| column.has(*kind, name));
        let wanted = |(named, alone): (Named, bool)| {
            let bare = alone && named.0 == Kind::Customer && is_new(&named.1);
            Wanted { named, bare }
        };
        changed.into_iter().map(wanted).collect()
    }

    /// Brings the lines of records up to date.
    async fn refresh(self: &Arc<Self>, store: &Store, records: Vec<Wanted>) -> Result<(), Fault> {
        let looked = store.read(true, move |tx| records::lines(tx, records.clone())).await?;
        let search = self.clone();
        // It may wait for a search that is under way.
        tokio::task::spawn_blocking(move || search.apply(looked)).await.map_err(|_| busy())?;
        self.tidy().await
    }

    fn apply(&self, looked: Vec<(Named, Option<Line>)>) {
        let mut column = self.column.write().unwrap_or_else(PoisonError::into_inner);
        for ((kind, identifier), line) in looked {
            if kind == Kind::Customer {
                // Accounts that stood alone belong to the customer now.
                column.remove(Kind::Account, &identifier);
            }
            match line {
                Some(line) => {
                    column.put(&line);
                    self.note(&line);
                }
                None => column.remove(kind, &identifier),
            }
        }
    }

    /// Follows to the end even if no one waits for it any more: what was read must not come into the column
    /// after what another one has read later.
    async fn follow_to_the_end(self: &Arc<Self>, store: &Store) -> Result<(), Fault> {
        let (search, store) = (self.clone(), store.clone());
        let made = tokio::spawn(async move { search.follow(&store).await });
        made.await.unwrap_or_else(|_| Err(busy()))
    }

    /// Follows the store for as long as the daemon serves. The orders of lists, which are asked for before
    /// anybody searches, are made first, unless a search does not wait for that.
    pub async fn keep_up(self: Arc<Self>, store: Store, lists_made: oneshot::Receiver<()>) {
        let _ = lists_made.await;
        loop {
            if let Err(fault) = self.follow(&store).await {
                tracing::debug!(%fault, "what is searched could not be brought up to date");
            }
            tokio::time::sleep(FOLLOW_PAUSE).await;
        }
    }
}

/// The records whose lines a change of these keys concerns, and whether nothing else that is in the line has
/// changed.
async fn changed_records(store: &Store, keys: Vec<(Space, Vec<u8>)>) -> Result<BTreeMap<Named, bool>, Fault> {
    let mut records = BTreeMap::new();
    let mut accounts = BTreeSet::new();
    for (space, key) in keys {
        let first = key.split(|byte| *byte == 0).next().unwrap_or_default();
        let name = String::from_utf8_lossy(first).into_owned();
        if space == OFFICES {
            records.insert((Kind::Office, name), true);
        } else if space == EMPLOYEES {
            records.insert((Kind::Employee, name), true);
        } else if space == CUSTOMERS {
            records.entry((Kind::Customer, name)).or_insert(true);
        } else if [CARDS, INSTANCES_BY_CUSTOMER].contains(&space) {
            records.insert((Kind::Customer, name), false);
        } else if space == INSTANCES {
            accounts.insert(name);
        }
    }
    if !accounts.is_empty() {
        let accounts: Vec<_> = accounts.into_iter().collect();
        let owners = store.read(true, move |tx| records::owners(tx, &accounts)).await?;
        records.extend(owners.into_iter().map(|owner| ((Kind::Customer, owner), false)));
    }
    Ok(records)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;
    use crate::store::Tx;
    use crate::store::embedded::{Embedded, Options};
    use crate::store::records::StoredOffice;
    use serde_json::json;
    use tempfile::TempDir;

    /// A store with one office, and the folder that holds it.
    async fn store() -> (Store, TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let engine = Embedded::open(Options::new(folder.path().join("data"))).unwrap();
        let store = Store::new(engine, Clock::system(), false);
        let office: StoredOffice = serde_json::from_value(json!({
            "identifier": "north", "name": "Northern Branch",
            "audit": { "createdBy": "test", "createdOn": "2026-01-01T00:00:00.000Z" },
        }))
        .unwrap();
        store.write("test", move |tx: &mut Tx<'_>| tx.put(&office)).await.unwrap();
        (store, folder)
    }

    #[tokio::test]
    async fn a_search_does_not_wait_until_the_orders_of_lists_are_made() {
        let (store, _folder) = store().await;
        let search = Arc::new(Search::default());
        // No one says that they are made.
        let (made, lists_made) = oneshot::channel();
        let keeping = tokio::spawn(search.clone().keep_up(store.clone(), lists_made));
        let phrase = Arc::new(Phrase::parse("northern"));
        let (found, _) = search.find(&store, &phrase, &[Kind::Office], 10).await.unwrap();
        assert_eq!(found.iter().map(|found| found.identifier.as_str()).collect::<Vec<_>>(), ["north"]);
        assert!(!made.is_closed());
        keeping.abort();
        store.close().await;
    }

    #[tokio::test]
    async fn a_column_that_waits_for_a_search_holds_up_nothing_else() {
        let (store, _folder) = store().await;
        let search = Arc::new(Search::default());
        search.follow(&store).await.unwrap();
        let remove = |tx: &mut Tx<'_>| tx.remove_all::<StoredOffice>(&[]);
        store.write("test", remove).await.unwrap();
        let ((end, ends), (begun, begins)) = (std::sync::mpsc::channel::<()>(), std::sync::mpsc::channel());
        let column = search.column.clone();
        let searching = std::thread::spawn(move || {
            let _column = column.read().unwrap();
            begun.send(()).unwrap();
            let _ = ends.recv_timeout(Duration::from_secs(10));
        });
        begins.recv().unwrap();
        let (own, other) = (search.clone(), store.clone());
        let following = tokio::spawn(async move { own.follow(&other).await });
        // All of this test is one thread.
        tokio::time::sleep(Duration::from_millis(100)).await;
        assert!(!following.is_finished());
        drop(end);
        following.await.unwrap().unwrap();
        assert_eq!(search.column.read().unwrap().records(), 0);
        searching.join().unwrap();
        store.close().await;
    }

    #[tokio::test]
    async fn a_search_that_nobody_waits_for_any_more_keeps_its_turn() {
        let (store, _folder) = store().await;
        let search = Arc::new(Search::default());
        let phrase = Arc::new(Phrase::parse("northern"));
        search.find(&store, &phrase, &[Kind::Office], 10).await.unwrap();
        // As long as this is held, no search can go on.
        let (release, released) = std::sync::mpsc::channel::<()>();
        let (held, is_held) = oneshot::channel();
        let column = search.column.clone();
        let holder = std::thread::spawn(move || {
            let _column = column.write().unwrap();
            held.send(()).unwrap();
            let _ = released.recv();
        });
        is_held.await.unwrap();
        let asked = search.find(&store, &phrase, &[Kind::Office], 10);
        tokio::time::timeout(Duration::from_millis(200), asked).await.unwrap_err();
        assert_eq!(search.turns.available_permits(), SEARCHES_AT_ONCE - 1);
        drop(release);
        holder.join().unwrap();
        let all = u32::try_from(SEARCHES_AT_ONCE).unwrap();
        let free = tokio::time::timeout(Duration::from_secs(10), search.turns.acquire_many(all)).await;
        drop(free.expect("the turn ends with the search").unwrap());
        store.close().await;
    }
}
