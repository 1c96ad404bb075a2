//! The state of the store as one transaction sees it.

use super::seen::{Place, Values};
use super::session::{Session, spread};
use super::trouble::Trouble;
use crate::store::engine::{Pair, Range, Space, View};
use futures_util::future::{OptionFuture, join3};
use mfa_shared::fault::Fault;
use std::collections::HashMap;
use std::future::Future;
use tokio::runtime::Runtime;
use tokio_postgres::Error;
use tokio_postgres::types::ToSql;

/// Answers that a transaction keeps, since many records are looked at twice.
const KEPT_MAX: usize = 4096;

/// Pairs of a range that is asked for together with others. A range with as many is asked for by itself.
const RANGE_PAIRS: i64 = 100;

/// How a wait for the turn of a daemon has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Waited {
    /// It came.
    Came,
    /// It took too long.
    InVain,
}

/// What came of a transaction's questions.
pub(super) struct Ending {
    /// What went wrong, and otherwise what begins the transaction if it has not begun.
    pub(super) begin: Result<Option<&'static str>, Trouble>,
    /// Whether it waited for the turn of its daemon, which then has to be given back.
    pub(super) waited: Option<Waited>,
    /// What was seen.
    pub(super) values: Values,
}

/// A transaction that begins with its first question, in the same message.
pub(super) struct Snapshot<'s> {
    session: &'s Session,
    runtime: &'s Runtime,
    /// What begins the transaction, until it has begun.
    begin: Option<&'static str>,
    /// Whether this daemon is to wait for its turn before, and whether it did.
    in_turn: bool,
    waited: Option<Waited>,
    kept: Values,
    /// Ranges that were asked for together, with all their pairs.
    ranges: HashMap<(u8, Range), Vec<Pair>>,
    trouble: Option<Trouble>,
}

impl<'s> Snapshot<'s> {
    /// Nothing asked yet.
    pub(super) fn new(session: &'s Session, runtime: &'s Runtime, begin: &'static str) -> Self {
        let (kept, ranges) = (Values::new(), HashMap::new());
        let begin = Some(begin);
        Self { session, runtime, begin, in_turn: false, waited: None, kept, ranges, trouble: None }
    }

    /// The same, which waits first until it is the turn of its daemon.
    pub(super) fn in_turn(self, in_turn: bool) -> Self {
        Self { in_turn, ..self }
    }

    /// What came of it.
    pub(super) fn end(self) -> Ending {
        let begin = self.trouble.map_or(Ok(self.begin), Err);
        Ending { begin, waited: self.waited, values: self.kept }
    }

    /// Asks for places that will be asked for, in one message. What goes wrong is found by the next question.
    pub(super) fn foresee(&mut self, places: &[Place]) {
        let _ = self.fetch(places.iter().cloned(), 1);
    }

    /// Asks for those of the places that are not known, if these are not fewer than `least`.
    fn fetch(&mut self, places: impl Iterator<Item = Place>, least: usize) -> Result<(), Fault> {
        // Those beyond what is kept are asked for one by one.
        let unknown: Vec<_> = places.filter(|place| !self.kept.contains_key(place)).take(KEPT_MAX).collect();
        if unknown.len() < least {
            return Ok(());
        }
        if self.kept.len() + unknown.len() > KEPT_MAX {
            self.kept.clear();
        }
        let spreads: Vec<i64> = unknown.iter().map(|(space, key)| spread(*space, key)).collect();
        let spaces: Vec<i16> = unknown.iter().map(|(space, _)| i16::from(*space)).collect();
        let keys: Vec<&[u8]> = unknown.iter().map(|(_, key)| key.as_slice()).collect();
        let session = self.session;
        let params: [&(dyn ToSql + Sync); 3] = [&spreads, &spaces, &keys];
        let rows = self.ask(session.client.query(&session.statements.get_all, &params))?;
        self.kept.extend(unknown.iter().map(|place| (place.clone(), None)));
        let found = rows.into_iter().filter_map(|row| {
            let space = u8::try_from(row.get::<_, i16>(0)).ok()?;
            Some(((space, row.get(1)), Some(row.get(2))))
        });
        self.kept.extend(found);
        Ok(())
    }

    /// Asks; a transaction in which something went wrong is asked no more.
    fn ask<T>(&mut self, question: impl Future<Output = Result<T, Error>>) -> Result<T, Fault> {
        if let Some(trouble) = &self.trouble {
            return Err(trouble.fault());
        }
        let answer = match self.begin.take() {
            None => self.session.wait(self.runtime, question),
            Some(begin) => {
                let client = &self.session.client;
                let take = self.in_turn.then(|| client.batch_execute(&self.session.in_turn.take));
                let all = join3(OptionFuture::from(take), client.batch_execute(begin), question);
                let waited = &mut self.waited;
                self.session.wait(self.runtime, async {
                    let (taken, begun, answer) = all.await;
                    *waited = taken.map(|taken| if taken.is_ok() { Waited::Came } else { Waited::InVain });
                    begun.and(answer)
                })
            }
        };
        answer.map_err(|trouble| {
            // A conflict is not worth a word: the transaction runs again.
            let fault = trouble.fault();
            self.trouble = Some(trouble);
            fault
        })
    }
}

fn stored(space: Space) -> i16 {
    i16::from(space.id)
}

impl View for Snapshot<'_> {
    fn get(&mut self, space: Space, key: &[u8]) -> Result<Option<Vec<u8>>, Fault> {
        let place = (space.id, key.to_vec());
        if let Some(kept) = self.kept.get(&place) {
            return Ok(kept.clone());
        }
        let session = self.session;
        let spread = spread(space.id, key);
        let number = stored(space);
        let params: [&(dyn ToSql + Sync); 3] = [&spread, &number, &key];
        let row = self.ask(session.client.query_opt(&session.statements.get, &params))?;
        let value: Option<Vec<u8>> = row.map(|row| row.get(0));
        if self.kept.len() < KEPT_MAX {
            self.kept.insert(place, value.clone());
        }
        Ok(value)
    }

    fn expect(&mut self, space: Space, keys: &[Vec<u8>]) -> Result<(), Fault> {
        // A single place takes one question either way.
        self.fetch(keys.iter().map(|key| (space.id, key.clone())), 2)
    }

    fn expect_places(&mut self, places: &[(Space, Vec<u8>)]) -> Result<(), Fault> {
        self.fetch(places.iter().map(|(space, key)| (space.id, key.clone())), 2)
    }

    fn expect_ranges(&mut self, ranges: &[(Space, Range)]) -> Result<bool, Fault> {
        self.ranges.clear();
        let asked: Vec<(Space, &Range, &[u8])> =
            ranges.iter().filter_map(|(space, range)| Some((*space, range, range.to.as_deref()?))).collect();
        if asked.is_empty() {
            return Ok(true);
        }
        let spaces: Vec<i16> = asked.iter().map(|(space, ..)| stored(*space)).collect();
        let first: Vec<&[u8]> = asked.iter().map(|(_, range, _)| range.from.as_slice()).collect();
        let behind: Vec<&[u8]> = asked.iter().map(|(.., behind)| *behind).collect();
        let session = self.session;
        let params: [&(dyn ToSql + Sync); 4] = [&spaces, &first, &behind, &RANGE_PAIRS];
        let rows = self.ask(session.client.query(&session.statements.scan_all, &params))?;
        let mut found = vec![Vec::new(); asked.len()];
        for row in rows {
            let number = usize::try_from(row.get::<_, i64>(0)).unwrap_or_default();
            if let Some(pairs) = number.checked_sub(1).and_then(|at| found.get_mut(at)) {
                pairs.push((row.get(1), row.get(2)));
            }
        }
        let whole = asked.iter().zip(found).filter(|(_, pairs)| pairs.len() < RANGE_PAIRS as usize);
        self.ranges.extend(whole.map(|((space, range, _), pairs)| ((space.id, (*range).clone()), pairs)));
        Ok(true)
    }

    fn scan(&mut self, space: Space, range: &Range, reverse: bool, limit: usize) -> Result<Vec<Pair>, Fault> {
        if range.is_empty() || limit == 0 {
            return Ok(Vec::new());
        }
        if let Some(pairs) = self.ranges.get(&(space.id, range.clone())) {
            let mut pairs = pairs.clone();
            if reverse {
                pairs.reverse();
            }
            pairs.truncate(limit);
            return Ok(pairs);
        }
        let session = self.session;
        let number = stored(space);
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let from = range.from.as_slice();
        let to = range.to.as_deref();
        let statement = &session.statements.scans[usize::from(reverse) * 2 + usize::from(to.is_some())];
        let mut params: Vec<&(dyn ToSql + Sync)> = vec![&number, &from];
        if let Some(to) = &to {
            params.push(to);
        }
        params.push(&limit);
        let rows = self.ask(session.client.query(statement, &params))?;
        Ok(rows.into_iter().map(|row| (row.get(0), row.get(1))).collect())
    }

    fn lasts(&mut self, space: Space, ranges: &[Range]) -> Result<Option<Vec<Option<Pair>>>, Fault> {
        let session = self.session;
        let number = stored(space);
        let first: Vec<&[u8]> = ranges.iter().map(|range| range.from.as_slice()).collect();
        let behind: Vec<&[u8]> = ranges.iter().filter_map(|range| range.to.as_deref()).collect();
        if behind.len() < ranges.len() {
            return Ok(None);
        }
        let params: [&(dyn ToSql + Sync); 3] = [&number, &first, &behind];
        let rows = self.ask(session.client.query(&session.statements.lasts, &params))?;
        let mut found = vec![None; ranges.len()];
        for row in rows {
            let place = usize::try_from(row.get::<_, i64>(0)).ok().and_then(|number| number.checked_sub(1));
            if let Some(last) = place.and_then(|at| found.get_mut(at)) {
                *last = Some((row.get(1), row.get(2)));
            }
        }
        Ok(Some(found))
    }

    fn put_after(&mut self, space: Space, after: u64, limit: usize) -> Result<Option<Vec<Pair>>, Fault> {
        let session = self.session;
        let after = i64::try_from(after).unwrap_or(i64::MAX);
        let (number, limit) = (stored(space), i64::try_from(limit).unwrap_or(i64::MAX));
        let params: [&(dyn ToSql + Sync); 3] = [&after, &number, &limit];
        let rows = self.ask(session.client.query(&session.statements.put_after, &params))?;
        Ok(Some(rows.into_iter().map(|row| (row.get(0), row.get(1))).collect()))
    }

    fn holds_object(&mut self, hash: &str) -> Result<bool, Fault> {
        let session = self.session;
        let held = self.ask(session.client.query_opt(&session.statements.objects.held, &[&hash]))?;
        Ok(held.is_some())
    }
}
