//! What shelves read of the store.

use super::noun::Noun;
use crate::domain::shelf::{Row, SortKey};
use crate::store::engine::{Changed, Followed, Range, Space};
use crate::store::record::key;
use crate::store::{Store, Tx};
use mfa_shared::fault::{self, Fault};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Records that are read in one transaction.
pub(super) const CHUNK_RECORDS: usize = 500;
/// Commits that are followed at once.
pub(super) const COMMITS_AT_ONCE: usize = 1_000;
const RETRY_AFTER_S: u32 = 5;

type Keys = Vec<(Space, Vec<u8>)>;

pub(super) fn busy() -> Fault {
    let detail = "the order of this list is being made from the store; try again soon";
    Fault::new(fault::UNAVAILABLE, detail).retry_after(RETRY_AFTER_S)
}

/// Does what takes long, or waits for readers of a shelf, where no one else waits for it.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Fault> {
    tokio::task::spawn_blocking(work).await.map_err(|_| busy())
}

/// The keys of a column of all records that were changed since a place in the journal; the place up to which
/// they are read.
pub(super) async fn keys_since(
    store: &Store,
    noun: Noun,
    column: &str,
    mut from: Followed,
    keys: &mut BTreeMap<String, SortKey>,
) -> Result<Followed, Fault> {
    loop {
        let Changed { keys: changes, followed: upto, more } =
            store.changed_since(from, COMMITS_AT_ONCE, &[noun.space()]).await?;
        for part in changed(noun, &changes).chunks(CHUNK_RECORDS) {
            let rows = rows(store, noun, part.to_vec(), vec![column.to_owned()]).await?;
            let key = |row: Option<Row>| row.map_or(SortKey::Null, |mut row| row.keys.swap_remove(0));
            keys.extend(rows.into_iter().map(|(name, row)| (name, key(row))));
        }
        from = upto;
        if !more {
            return Ok(from);
        }
    }
}

/// Records by their identifiers, with their keys of these columns.
pub(super) async fn rows(
    store: &Store,
    noun: Noun,
    names: Vec<String>,
    columns: Vec<String>,
) -> Result<Vec<(String, Option<Row>)>, Fault> {
    let look = move |tx: &mut Tx<'_>| {
        tx.expect(noun.space(), &names.iter().map(|name| key(&[name])).collect::<Vec<_>>())?;
        let read = |name: &String| {
            let value = tx.value(noun.space(), &key(&[name]))?;
            Ok((name.clone(), value.map(|value| noun.row(&value, &columns)).transpose()?))
        };
        names.iter().map(read).collect()
    };
    store.read(true, look).await
}

/// Puts every record of a noun, with its keys of these columns, into something. Meanwhile the next ones are
/// read.
pub(super) async fn each_chunk<T: Send + 'static>(
    store: &Store,
    noun: Noun,
    columns: Vec<String>,
    mut into: T,
    put: fn(&mut T, Vec<Row>),
) -> Result<T, Fault> {
    let columns = Arc::new(columns);
    let read = async |start: Vec<u8>| {
        let range = Range { from: start, to: None };
        store.read(true, move |tx| tx.scan(noun.space(), &range, false, CHUNK_RECORDS)).await
    };
    let mut pairs = read(Vec::new()).await?;
    while let Some((last, _)) = pairs.last() {
        let behind = [last.as_slice(), &[0]].concat();
        let columns = columns.clone();
        let work = blocking(move || {
            let rows = pairs.iter().map(|(_, value)| noun.row(value, &columns));
            put(&mut into, rows.collect::<Result<_, Fault>>()?);
            Ok::<_, Fault>(into)
        });
        let (put, next) = tokio::join!(work, read(behind));
        into = put??;
        pairs = next?;
    }
    Ok(into)
}

/// The records of a noun among changed keys, each once.
pub(super) fn changed(noun: Noun, keys: &Keys) -> Vec<String> {
    let of_noun = keys.iter().filter(|(space, _)| *space == noun.space());
    let name = |(_, key): &(Space, Vec<u8>)| {
        let first = key.split(|byte| *byte == 0).next().unwrap_or_default();
        String::from_utf8_lossy(first).into_owned()
    };
    of_noun.map(name).collect::<BTreeSet<_>>().into_iter().collect()
}
