//! The journal: what was committed, when, by whom and on which request.
//!
//! A sequence follows from the number that PostgreSQL itself gave the transaction, so no counter is a row
//! that every commit would fight for: [`PLACES`] times that number, and one more for each commit of a
//! transaction. Numbers are given before the commit, so a page ends before the oldest transaction that is
//! still under way: nothing with a lower number can appear later. Of two transactions that change the same
//! record the later one has the higher number, since the other one is run again if it has begun before. The
//! exception is a record that one removes and the other puts without having read it (`WriteWork`).

use super::commit::Ended;
use super::known::{Known, millis};
use super::session::Session;
use super::shared::Shared;
use super::statements::PLACES;
use super::trouble::Trouble;
use crate::store::engine::{Change, Commit, Followed, Space};
use futures_util::future::{try_join, try_join3};
use mfa_shared::time::Timestamp;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;
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
    /// What was there and what was under way before the keys were read, where changed keys are asked for.
    pub(super) standing: Standing,
}

/// What one snapshot of the database shows of the journal.
#[derive(Debug, Clone, Default)]
pub(super) struct Standing {
    /// The last visible commit.
    pub(super) last: u64,
    /// The same, as it is known again.
    pub(super) known: Option<Known>,
    /// The first places of all transactions that are under way.
    pub(super) under_way: Vec<u64>,
}

impl Standing {
    fn of(row: &Row, base: i64) -> Result<Self, tokio_postgres::Error> {
        let numbers: Vec<i64> = row.try_get(3)?;
        let under_way = numbers.iter().map(|number| (base + PLACES as i64 * number).unsigned_abs()).collect();
        let Some(sequence) = row.try_get::<_, Option<i64>>(0)? else {
            return Ok(Self { under_way, ..Self::default() });
        };
        let known = Some(Known { sequence, time: row.try_get(1)?, request: row.try_get(2)? });
        Ok(Self { last: sequence.unsigned_abs(), known, under_way })
    }

    /// How far somebody comes who was somewhere, and has read all commits that were not seen up to a place,
    /// or to the end, at a later moment than this. What came in between is read again.
    pub(super) fn followed(&self, from: &Followed, reached: Option<u64>) -> Followed {
        let upto = reached.map_or(self.last, |reached| reached.min(self.last));
        let next = from.next.max(upto + 1);
        let still_open = |place: &&u64| **place < next && (**place >= from.next || from.open.contains(place));
        Followed { next, open: self.under_way.iter().filter(still_open).copied().collect() }
    }
}

/// What is asked of the commits.
#[derive(Debug, Clone)]
pub(super) enum Asked {
    /// Everything.
    Whole,
    /// The keys of these spaces, of the commits that changed one, also of those of the transactions that have
    /// their first places here.
    Changed(Vec<Space>, Vec<u64>),
    /// No commit, only how the journal stands.
    Standing,
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

pub(super) fn read_page(session: &Session, runtime: &Runtime, shared: &Shared, page: &Page) -> Ended {
    let read = match &page.asked {
        Asked::Changed(spaces, open) => read_changed(session, runtime, page, spaces, open),
        Asked::Standing => read_standing(session, runtime),
        Asked::Put(space) => read_put(session, runtime, page, *space),
        Asked::Whole => read_whole(session, runtime, page),
    };
    match read {
        Ok(read) => {
            read.standing.known.iter().for_each(|known| shared.known.note(known.clone()));
            *page.slot.lock().unwrap_or_else(PoisonError::into_inner) = read;
            Ended { answer: Ok(()), usable: true }
        }
        Err(trouble) => trouble.into(),
    }
}

fn whole_number(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Whole commits, and where the journal ends.
fn read_whole(session: &Session, runtime: &Runtime, page: &Page) -> Result<Read, Trouble> {
    let (after, limit) = (whole_number(page.after), i64::try_from(page.limit).unwrap_or(i64::MAX));
    // The number of the oldest transaction that is under way comes on top of this.
    let base = if page.still { END } else { session.journal_base };
    let (ends, whole): ([&(dyn ToSql + Sync); 1], [&(dyn ToSql + Sync); 3]) =
        ([&base], [&after, &base, &limit]);
    // In this order: what is committed between the two is read, but comes after the end.
    let end = session.client.query_one(&session.statements.journal_end, &ends);
    let rows = session.client.query(&session.statements.journal, &whole);
    let (end, rows) = session.wait(runtime, try_join(end, rows))?;
    let commits = rows.iter().map(commit).collect::<Result<_, _>>()?;
    Ok(Read { end: end.try_get::<_, i64>(0)?.unsigned_abs(), commits, ..Read::default() })
}

/// The keys that were put, in an order that is final.
fn read_put(session: &Session, runtime: &Runtime, page: &Page, space: Space) -> Result<Read, Trouble> {
    let (after, limit) = (whole_number(page.after), i64::try_from(page.limit).unwrap_or(i64::MAX));
    let spaces = [i16::from(space.id)].to_vec();
    let base = session.journal_base;
    let (ends, keys): ([&(dyn ToSql + Sync); 1], [&(dyn ToSql + Sync); 4]) =
        ([&base], [&after, &base, &limit, &spaces]);
    let of_last: [&(dyn ToSql + Sync); 2] = [&after, &spaces];
    // In this order: what is committed between the first two is read, but comes after the end.
    let end = session.client.query_one(&session.statements.journal_end, &ends);
    let rows = session.client.query(&session.statements.journal_put, &keys);
    // Last of all, so that it sees whatever was committed before.
    let last = session.client.query_opt(&session.statements.last_put, &of_last);
    let (end, rows, last) = session.wait(runtime, try_join3(end, rows, last))?;
    let last: Option<i64> = last.map(|row| row.try_get(0)).transpose()?;
    let keys = keys_of(&rows)?;
    let reached =
        keys.last().filter(|_| keys.len() >= page.limit).map(|(sequence, _)| *sequence).or(cut(&rows)?);
    let end = end.try_get::<_, i64>(0)?.unsigned_abs();
    Ok(Read { keys, reached, end, last: last.map(i64::unsigned_abs), ..Read::default() })
}

/// How the journal stands.
fn read_standing(session: &Session, runtime: &Runtime) -> Result<Read, Trouble> {
    let standing = session.client.query_one(&session.statements.journal_standing, &[]);
    let standing = session.wait(runtime, standing)?;
    Ok(Read { standing: Standing::of(&standing, session.journal_base)?, ..Read::default() })
}

/// The keys that were changed by commits that were not seen yet, in whatever order they came.
fn read_changed(
    session: &Session,
    runtime: &Runtime,
    page: &Page,
    spaces: &[Space],
    open: &[u64],
) -> Result<Read, Trouble> {
    let (after, limit) = (whole_number(page.after), i64::try_from(page.limit).unwrap_or(i64::MAX));
    let spaces: Vec<i16> = spaces.iter().map(|space| i16::from(space.id)).collect();
    let open: Vec<i64> = open.iter().copied().map(whole_number).collect();
    let unseen: [&(dyn ToSql + Sync); 4] = [&after, &open, &limit, &spaces];
    // In this order: what is committed between the two is read, and counts as not seen.
    let standing = session.client.query_one(&session.statements.journal_standing, &[]);
    let rows = session.client.query(&session.statements.journal_changed, &unseen);
    let (standing, rows) = session.wait(runtime, try_join(standing, rows))?;
    let keys = keys_of(&rows)?;
    let new = keys.iter().filter(|(sequence, _)| *sequence > page.after).count();
    let reached = keys.last().filter(|_| new >= page.limit).map(|(sequence, _)| *sequence).or(cut(&rows)?);
    Ok(Read { keys, reached, standing: Standing::of(&standing, session.journal_base)?, ..Read::default() })
}

/// Up to where a page goes that went through as many commits as it may.
fn cut(rows: &[Row]) -> Result<Option<u64>, tokio_postgres::Error> {
    let cut: Option<i64> = rows.first().map_or(Ok(None), |row| row.try_get(0))?;
    Ok(cut.map(i64::unsigned_abs))
}

fn keys_of(rows: &[Row]) -> Result<Vec<KeysOfOne>, tokio_postgres::Error> {
    rows.iter().filter_map(|row| keys(row).transpose()).collect()
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
    let time = Timestamp::from_millis(millis(time));
    let (actor, request) = (row.try_get(2)?, row.try_get(3)?);
    Ok((sequence.unsigned_abs(), Commit { time, actor, request, changes }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Transactions by their places, as a database has them.
    #[derive(Debug, Default)]
    struct Database {
        last: u64,
        under_way: Vec<u64>,
        committed: Vec<u64>,
    }

    #[derive(Debug, Clone)]
    enum Step {
        Begin,
        End { which: usize, commits: bool },
    }

    impl Database {
        fn go(&mut self, step: &Step) {
            match step {
                Step::Begin => {
                    self.last += 1;
                    self.under_way.push(self.last);
                }
                Step::End { which, commits } if !self.under_way.is_empty() => {
                    let ended = self.under_way.remove(which % self.under_way.len());
                    if *commits {
                        self.committed.push(ended);
                    }
                }
                Step::End { .. } => {}
            }
        }

        fn standing(&self) -> Standing {
            let last = self.committed.iter().copied().max().unwrap_or_default();
            Standing { last, known: None, under_way: self.under_way.clone() }
        }

        /// What was not seen, and up to where that goes if it is not to the end.
        fn unseen(&self, from: &Followed, limit: usize) -> (Vec<u64>, Option<u64>) {
            let mut new: Vec<u64> =
                self.committed.iter().copied().filter(|place| *place >= from.next).collect();
            new.sort_unstable();
            new.truncate(limit);
            let reached = new.last().copied().filter(|_| new.len() == limit);
            let opened = self.committed.iter().filter(|place| from.open.contains(place));
            (opened.copied().chain(new.clone()).collect(), reached)
        }
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let end = (any::<usize>(), any::<bool>()).prop_map(|(which, commits)| Step::End { which, commits });
        proptest::collection::vec(prop_oneof![Just(Step::Begin), end], 0..6)
    }

    proptest! {
        #[test]
        fn whoever_follows_sees_each_commit_and_none_again_and_again(
            looks in proptest::collection::vec((steps(), steps(), 1usize..4), 1..40),
        ) {
            let mut database = Database::default();
            let mut followed = Followed::default();
            let mut seen = Vec::new();
            for (before, between, limit) in looks {
                before.iter().for_each(|step| database.go(step));
                let acknowledged = database.committed.clone();
                let mut between = between.as_slice();
                loop {
                    let standing = database.standing();
                    std::mem::take(&mut between).iter().for_each(|step| database.go(step));
                    let (found, reached) = database.unseen(&followed, limit);
                    seen.extend(found);
                    followed = standing.followed(&followed, reached);
                    prop_assert!(followed.open.iter().all(|place| *place < followed.next));
                    if reached.is_none() {
                        break;
                    }
                }
                prop_assert!(acknowledged.iter().all(|commit| seen.contains(commit)), "{seen:?} {followed:?}");
                prop_assert!(database.committed.iter().all(|c| *c > followed.place() || seen.contains(c)));
            }
            // Some are still under way, yet nothing comes again.
            let (again, _) = database.unseen(&database.standing().followed(&followed, None), 100);
            prop_assert!(again.is_empty(), "{again:?}");
        }
    }
}
