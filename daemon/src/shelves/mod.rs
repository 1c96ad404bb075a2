//! The orders of lists in memory, which follow the store: whatever was committed before a list is requested
//! is in it, no matter which daemon committed it.

mod noun;
mod records;
#[cfg(test)]
mod tests;

pub use noun::Noun;

use crate::domain::shelf::{NewColumn, Row, Shelf};
use crate::store::Store;
use crate::store::engine::{Changed, Followed};
use mfa_shared::fault::{self, Fault};
use noun::NOUNS;
use records::{CHUNK_RECORDS, COMMITS_AT_ONCE, blocking, busy, changed, each_chunk, keys_since, rows};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};
use std::time::Duration;
use tokio::sync::{Mutex, oneshot};

/// How long a list waits for its order.
const WAIT: Duration = Duration::from_secs(15);
/// Time between two looks at what was committed, so that the next list has little to follow.
const FOLLOW_PAUSE: Duration = Duration::from_secs(1);

/// How often a list is looked up again whose records others change meanwhile, before it is read from the
/// store.
pub const TRIES: usize = 10;

/// Looks at a shelf, perhaps for long, where no request waits for the one that looks.
pub async fn look<T: Send + 'static>(
    shelf: &Arc<RwLock<Shelf>>,
    look: impl FnOnce(&Shelf) -> T + Send + 'static,
) -> Result<T, Fault> {
    let shelf = shelf.clone();
    let looked =
        tokio::task::spawn_blocking(move || look(&shelf.read().unwrap_or_else(PoisonError::into_inner)));
    looked.await.map_err(|_| Fault::new(fault::INTERNAL, "looking up a list broke off"))
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

    /// Changes a shelf where no one else waits for those who read it.
    async fn change(
        &self,
        noun: Noun,
        change: impl FnOnce(&mut Shelf) + Send + 'static,
    ) -> Result<(), Fault> {
        let shelf = self.of(noun).shelf.clone();
        blocking(move || change(&mut shelf.write().unwrap_or_else(PoisonError::into_inner))).await
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
            self.to_the_end(store, move |shelves, store| async move { shelves.follow(&store, noun).await })
                .await?;
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

    /// Does what is done to its end even if no one waits for it any more: what was read must not come into a
    /// shelf after what another one has read later.
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
        let changes = rows(store, noun, names, columns).await?;
        self.change(noun, |shelf| shelf.apply(changes)).await
    }

    /// Reads every record, a short transaction for each chunk.
    async fn make(&self, store: &Store, noun: Noun) -> Result<(), Fault> {
        self.change(noun, |shelf| *shelf = Shelf::default()).await?;
        let put = |shelf: &mut Arc<RwLock<Shelf>>, rows: Vec<Row>| {
            let changes = rows.into_iter().map(|row| (row.identifier.clone(), Some(row))).collect();
            shelf.write().unwrap_or_else(PoisonError::into_inner).apply(changes);
        };
        each_chunk(store, noun, Vec::new(), self.of(noun).shelf.clone(), put).await?;
        let shelf = self.reading(noun);
        tracing::debug!(?noun, records = shelf.records(), bytes = shelf.bytes(), "ready to list");
        Ok(())
    }

    /// Keeps the order of another column. The records are read and sorted while others list and change; what
    /// was changed meanwhile is read again, and only for the last of it the others wait.
    async fn add_column(&self, store: &Store, noun: Noun, column: &str) -> Result<(), Fault> {
        let Follower { shelf, followed, .. } = self.of(noun);
        let Some(begin) = followed.lock().await.clone() else { return Ok(()) };
        let put = |keys: &mut BTreeMap<_, _>, rows: Vec<Row>| {
            keys.extend(rows.into_iter().map(|mut row| (row.identifier, row.keys.swap_remove(0))));
        };
        let keys = each_chunk(store, noun, vec![column.to_owned()], BTreeMap::new(), put).await?;
        let (own, name) = (shelf.clone(), column.to_owned());
        let made = blocking(move || NewColumn::of(&own, &name, keys)).await?;
        let mut changed = BTreeMap::new();
        let begin = keys_since(store, noun, column, begin, &mut changed).await?;
        let _followed = followed.lock().await;
        keys_since(store, noun, column, begin, &mut changed).await?;
        let own = shelf.clone();
        let keep = move || {
            let column = own.read().unwrap_or_else(PoisonError::into_inner).fitted(made, changed);
            let gone = own.write().unwrap_or_else(PoisonError::into_inner).keep(column);
            // Others list again while its memory is given back.
            drop(gone);
        };
        blocking(keep).await
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
    /// up to which they are then. One that cannot follow, as when a record of it cannot be read, leaves the
    /// others.
    async fn follow_all(&self, store: &Store, known: Option<&Followed>) -> Result<Followed, Fault> {
        let place = store.place().await?;
        let mut followed = Ok(());
        if known != Some(&place) {
            for noun in NOUNS {
                followed = followed.and(self.follow(store, noun).await);
            }
        }
        followed.map(|()| place)
    }
}
