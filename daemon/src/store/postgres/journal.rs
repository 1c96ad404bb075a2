//! The journal: what was committed, when, by whom and on which request.
//!
//! A sequence is the number that PostgreSQL itself gave the transaction, so no counter is a row that every
//! commit would fight for. Numbers are given before the commit, so a page ends before the oldest
//! transaction that is still under way: nothing with a lower number can appear later.

use super::commit::Ended;
use super::session::Session;
use super::trouble::Trouble;
use crate::store::engine::{Change, Commit, Space};
use futures_util::future::try_join3;
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

/// Keys of a commit, with its place in the journal.
type KeysOfOne = (u64, Vec<(Space, Vec<u8>)>);

/// What was read of the journal.
#[derive(Debug, Default)]
pub(super) struct Read {
    /// The commits, in their order.
    pub(super) commits: Vec<(u64, Commit)>,
    /// The keys of commits, in their order, where keys are asked for.
    pub(super) keys: Vec<KeysOfOne>,
    /// Up to where the page of keys goes; nothing where it goes to the end.
    pub(super) reached: Option<u64>,
    /// The last sequence before which nothing can appear any more.
    pub(super) end: u64,
    /// The last visible commit that put a key, where keys that were put are asked for.
    pub(super) last: Option<u64>,
}

/// What is asked of the commits.
#[derive(Debug, Clone)]
pub(super) enum Asked {
    /// Everything.
    Whole,
    /// The keys of these spaces, of the commits that changed one.
    Changed(Vec<Space>),
    /// The keys of a space that were put, of the commits that changed one.
    Put(Space),
}

/// A page of the journal that is asked for.
pub(super) struct Page {
    after: u64,
    limit: usize,
    /// To the very end, also behind what is still under way.
    still: bool,
    asked: Asked,
    slot: Slot,
}

impl Page {
    /// What to read, and where the page will be.
    pub(super) fn new(after: u64, limit: usize, still: bool, asked: Asked) -> (Slot, Self) {
        let slot = Slot::default();
        (slot.clone(), Self { after, limit, still, asked, slot })
    }
}

pub(super) fn read_page(session: &Session, runtime: &Runtime, page: &Page) -> Ended {
    let after = i64::try_from(page.after).unwrap_or(i64::MAX);
    let limit = i64::try_from(page.limit).unwrap_or(i64::MAX);
    // The number of the oldest transaction that is under way comes on top of this.
    let base = if page.still { END } else { session.journal_base };
    let numbers = |spaces: &[Space]| spaces.iter().map(|space| i16::from(space.id)).collect();
    let (spaces, put): (Vec<i16>, bool) = match &page.asked {
        Asked::Whole => (Vec::new(), false),
        Asked::Changed(spaces) => (numbers(spaces), false),
        Asked::Put(space) => (numbers(&[*space]), true),
    };
    let whole: [&(dyn ToSql + Sync); 3] = [&after, &base, &limit];
    let of_keys: [&(dyn ToSql + Sync); 5] = [&after, &base, &limit, &spaces, &put];
    // Without a page only the end is asked for, of what is final or of all.
    let ends: [&(dyn ToSql + Sync); 1] = if page.limit == 0 { [&base] } else { [&session.journal_base] };
    let is_whole = matches!(page.asked, Asked::Whole);
    // In this order: what is committed between the two is read, but comes after the end.
    let end = session.client.query_one(&session.statements.journal_end, &ends);
    let rows = if is_whole {
        session.client.query(&session.statements.journal, &whole)
    } else {
        session.client.query(&session.statements.journal_keys, &of_keys)
    };
    // Last of all, so that it sees whatever was committed before.
    let of_last: [&(dyn ToSql + Sync); 2] = [&after, &spaces];
    let last = async {
        match page.asked {
            Asked::Put(_) => session.client.query_opt(&session.statements.last_put, &of_last).await,
            Asked::Whole | Asked::Changed(_) => Ok(None),
        }
    };
    let read = session.wait(runtime, try_join3(end, rows, last)).and_then(|(end, rows, last)| {
        let end: i64 = end.try_get(0).map_err(Trouble::from)?;
        let last: Option<i64> = last.map(|row| row.try_get(0)).transpose().map_err(Trouble::from)?;
        let last = last.map(i64::unsigned_abs);
        let mut read = Read { end: end.unsigned_abs(), last, ..Read::default() };
        if is_whole {
            read.commits = rows.iter().map(commit).collect::<Result<_, _>>().map_err(Trouble::from)?;
        } else {
            let found = rows.iter().filter_map(|row| keys(row).transpose());
            read.keys = found.collect::<Result<_, _>>().map_err(Trouble::from)?;
            let cut: Option<i64> =
                rows.first().map_or(Ok(None), |row| row.try_get(0)).map_err(Trouble::from)?;
            let full = read.keys.len() >= page.limit;
            let last = read.keys.last().filter(|_| full).map(|(sequence, _)| *sequence);
            read.reached = last.or(cut.map(i64::unsigned_abs));
        }
        Ok(read)
    });
    match read {
        Ok(read) => {
            *page.slot.lock().unwrap_or_else(PoisonError::into_inner) = read;
            Ended { answer: Ok(()), usable: true }
        }
        Err(trouble) => trouble.into(),
    }
}

/// A space of which only the number is known.
fn space(number: i16) -> Space {
    Space { id: u8::try_from(number).unwrap_or(u8::MAX), name: "" }
}

/// The keys of a commit; nothing in the only row of a page without commits.
fn keys(row: &Row) -> Result<Option<KeysOfOne>, tokio_postgres::Error> {
    let Some(sequence) = row.try_get::<_, Option<i64>>(1)? else { return Ok(None) };
    // There is no array where none of them was put.
    let (spaces, keys): (Option<Vec<i16>>, Option<Vec<Vec<u8>>>) = (row.try_get(2)?, row.try_get(3)?);
    let spaces = spaces.unwrap_or_default().into_iter().map(space);
    Ok(Some((sequence.unsigned_abs(), spaces.zip(keys.unwrap_or_default()).collect())))
}

fn commit(row: &Row) -> Result<(u64, Commit), tokio_postgres::Error> {
    let sequence: i64 = row.try_get(0)?;
    let time: SystemTime = row.try_get(1)?;
    let (spaces, keys): (Vec<i16>, Vec<Vec<u8>>) = (row.try_get(4)?, row.try_get(5)?);
    let values: Vec<Option<Vec<u8>>> = row.try_get(6)?;
    let changes = spaces.into_iter().zip(keys).zip(values);
    let changes = changes.map(|((number, key), value)| Change { space: space(number), key, value }).collect();
    let millis = time.duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    let time = Timestamp::from_millis(i64::try_from(millis).unwrap_or(i64::MAX));
    let (actor, request) = (row.try_get(2)?, row.try_get(3)?);
    Ok((sequence.unsigned_abs(), Commit { time, actor, request, changes }))
}
