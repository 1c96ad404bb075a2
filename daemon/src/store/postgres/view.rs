//! The state of the store as one transaction sees it.

use super::session::{Session, spread};
use super::trouble::Trouble;
use crate::store::engine::{Pair, Range, Space, View};
use futures_util::future::join;
use mfa_shared::fault::Fault;
use std::collections::HashMap;
use std::future::Future;
use tokio::runtime::Runtime;
use tokio_postgres::Error;
use tokio_postgres::types::ToSql;

/// Answers that a transaction keeps, since many records are looked at twice.
const KEPT_MAX: usize = 1024;

/// A transaction that begins with its first question, in the same message.
pub(super) struct Snapshot<'s> {
    session: &'s Session,
    runtime: &'s Runtime,
    /// What begins the transaction, until it has begun.
    begin: Option<&'static str>,
    kept: HashMap<(u8, Vec<u8>), Option<Vec<u8>>>,
    trouble: Option<Trouble>,
}

impl<'s> Snapshot<'s> {
    /// Nothing asked yet.
    pub(super) fn new(session: &'s Session, runtime: &'s Runtime, begin: &'static str) -> Self {
        Self { session, runtime, begin: Some(begin), kept: HashMap::new(), trouble: None }
    }

    /// What went wrong, and otherwise what begins the transaction if it has not begun.
    pub(super) fn end(self) -> Result<Option<&'static str>, Trouble> {
        self.trouble.map_or(Ok(self.begin), Err)
    }

    /// Asks; a transaction in which something went wrong is asked no more.
    fn ask<T>(&mut self, question: impl Future<Output = Result<T, Error>>) -> Result<T, Fault> {
        if let Some(trouble) = &self.trouble {
            return Err(trouble.fault());
        }
        let answer = match self.begin.take() {
            None => self.session.wait(self.runtime, question),
            Some(begin) => {
                let both = join(self.session.client.batch_execute(begin), question);
                self.session.wait(self.runtime, async {
                    let (begun, answer) = both.await;
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
        for keys in keys.chunks(KEPT_MAX) {
            let unknown = keys.iter().filter(|key| !self.kept.contains_key(&(space.id, key.to_vec())));
            let unknown: Vec<&[u8]> = unknown.map(Vec::as_slice).collect();
            // A single key takes one query either way.
            if unknown.len() < 2 {
                continue;
            }
            if self.kept.len() + unknown.len() > KEPT_MAX {
                self.kept.clear();
            }
            let spreads: Vec<i64> = unknown.iter().map(|key| spread(space.id, key)).collect();
            let session = self.session;
            let number = stored(space);
            let params: [&(dyn ToSql + Sync); 3] = [&spreads, &number, &unknown];
            let rows = self.ask(session.client.query(&session.statements.get_all, &params))?;
            self.kept.extend(unknown.iter().map(|key| ((space.id, key.to_vec()), None)));
            self.kept.extend(rows.into_iter().map(|row| ((space.id, row.get(0)), Some(row.get(1)))));
        }
        Ok(())
    }

    fn scan(&mut self, space: Space, range: &Range, reverse: bool, limit: usize) -> Result<Vec<Pair>, Fault> {
        if range.is_empty() || limit == 0 {
            return Ok(Vec::new());
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

    fn holds_object(&mut self, hash: &str) -> Result<bool, Fault> {
        let session = self.session;
        let held = self.ask(session.client.query_opt(&session.statements.objects.held, &[&hash]))?;
        Ok(held.is_some())
    }
}
