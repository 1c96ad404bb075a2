//! The journal: what was committed, when, by whom and on which request.
//!
//! A sequence is the number that PostgreSQL itself gave the transaction, so no counter is a row that every
//! commit would fight for. Numbers are given before the commit, so a page ends before the oldest
//! transaction that is still under way: nothing with a lower number can appear later.

use super::commit::Ended;
use super::session::Session;
use super::trouble::Trouble;
use crate::store::engine::{Change, Commit, Space};
use futures_util::future::try_join;
use mfa_shared::time::Timestamp;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::runtime::Runtime;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

/// A sequence that no journal reaches, with room for the number of a transaction on top of it.
const END: i64 = i64::MAX / 2;

/// Where a page will be.
pub(super) type Slot = Arc<Mutex<Read>>;

/// What was read of the journal.
#[derive(Debug, Default)]
pub(super) struct Read {
    /// The commits, in their order.
    pub(super) commits: Vec<(u64, Commit)>,
    /// The last sequence before which nothing can appear any more.
    pub(super) end: u64,
}

/// A page of the journal that is asked for.
pub(super) struct Page {
    after: u64,
    limit: usize,
    /// Nothing is under way, so that the page can go to the very end.
    still: bool,
    /// With the values, and not only the keys.
    values: bool,
    slot: Slot,
}

impl Page {
    /// What to read, and where the page will be.
    pub(super) fn new(after: u64, limit: usize, still: bool, values: bool) -> (Slot, Self) {
        let slot = Slot::default();
        (slot.clone(), Self { after, limit, still, values, slot })
    }
}

pub(super) fn read_page(session: &Session, runtime: &Runtime, page: &Page) -> Ended {
    let after = i64::try_from(page.after).unwrap_or(i64::MAX);
    let limit = i64::try_from(page.limit).unwrap_or(i64::MAX);
    // The number of the oldest transaction that is under way comes on top of this.
    let base = if page.still { END } else { session.journal_base };
    let params: [&(dyn ToSql + Sync); 4] = [&after, &base, &limit, &page.values];
    let ends: [&(dyn ToSql + Sync); 1] = [&session.journal_base];
    // In this order: what is committed between the two is read, but comes after the end.
    let end = session.client.query_one(&session.statements.journal_end, &ends);
    let rows = session.client.query(&session.statements.journal, &params);
    let read = session.wait(runtime, try_join(end, rows)).and_then(|(end, rows)| {
        let end: i64 = end.try_get(0).map_err(Trouble::from)?;
        let commits = rows.iter().map(commit).collect::<Result<Vec<_>, _>>().map_err(Trouble::from)?;
        Ok(Read { commits, end: end.unsigned_abs() })
    });
    match read {
        Ok(read) => {
            *page.slot.lock().unwrap_or_else(PoisonError::into_inner) = read;
            Ended { answer: Ok(()), usable: true }
        }
        Err(trouble) => trouble.into(),
    }
}

fn commit(row: &Row) -> Result<(u64, Commit), tokio_postgres::Error> {
    let sequence: i64 = row.try_get(0)?;
    let time: SystemTime = row.try_get(1)?;
    let (spaces, keys): (Vec<i16>, Vec<Vec<u8>>) = (row.try_get(4)?, row.try_get(5)?);
    let values: Vec<Option<Vec<u8>>> = row.try_get(6)?;
    let changes = spaces.into_iter().zip(keys).zip(values).map(|((space, key), value)| {
        let space = Space { id: u8::try_from(space).unwrap_or(u8::MAX), name: "" };
        Change { space, key, value }
    });
    let changes = changes.collect();
    let millis = time.duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    let time = Timestamp::from_millis(i64::try_from(millis).unwrap_or(i64::MAX));
    let (actor, request) = (row.try_get(2)?, row.try_get(3)?);
    Ok((sequence.unsigned_abs(), Commit { time, actor, request, changes }))
}
