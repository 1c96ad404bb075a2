//! What reports are made from, kept up to date beside the requests: the days that are summed up from the
//! journal, and the calendar in memory of what came and went, once a report has asked for it.

use crate::ops::reports::{calendar, days};
use crate::store::engine::{Changed, Followed};
use crate::store::seed::SYSTEM_ACTOR;
use crate::store::{Store, Tx};
use mfa_shared::api::reports::{GetCashReport, GetCustomerReport, GetDepositReport};
use mfa_shared::endpoint::Endpoint;
use mfa_shared::fault::Fault;
use std::collections::BTreeSet;
use std::sync::{Arc, PoisonError};
use std::time::Duration;
use tokio::sync::Mutex;

/// Records that are read in one transaction.
const CHUNK_RECORDS: usize = 500;
/// Commits that are followed at once.
const COMMITS_AT_ONCE: usize = 1_000;
/// How long a report waits for its figures.
const WAIT: Duration = Duration::from_secs(15);
/// Time between two looks at what was committed.
const PAUSE: Duration = Duration::from_secs(2);

/// Keeps the figures of reports up to date.
#[derive(Debug, Default)]
pub struct Reports {
    /// Up to where in the journal of the engine the calendar has followed; `None` until it was made.
    followed: Mutex<Option<Followed>>,
    /// Held while days are summed up.
    summing: Mutex<()>,
}

impl Reports {
    /// Whether a row is a report.
    pub fn has(row: &str) -> bool {
        [GetCashReport::META.name, GetDepositReport::META.name, GetCustomerReport::META.name].contains(&row)
    }

    /// Brings the data of a report up to date with everything that was acknowledged before. After a long wait
    /// the report goes on without, and is then refused until the figures are there.
    pub async fn ready(self: &Arc<Self>, store: &Store, row: &str) {
        let counted = row != GetCashReport::META.name;
        let summed = row != GetCustomerReport::META.name;
        let reports = self.clone();
        let store = store.clone();
        // It runs to its end, even if the report no longer waits.
        let made = tokio::spawn(async move {
            if counted {
                reports.follow(&store).await?;
            }
            if summed && !store.read(false, days::is_near).await? {
                reports.sum_up(&store, days::WORTH_A_COMMIT).await?;
            }
            Ok::<_, Fault>(())
        });
        if let Ok(Ok(Err(fault))) = tokio::time::timeout(WAIT, made).await {
            tracing::debug!(%fault, "the figures of reports could not be brought up to date");
        }
    }

    /// Sums up the entries that are not summed up yet. The sums are worked out beside the writers, who only
    /// take its result.
    async fn sum_up(&self, store: &Store, worth: u64) -> Result<(), Fault> {
        let _summing = self.summing.lock().await;
        while let Some(sum) = store.read(true, move |tx| days::sum_up(tx, worth, days::AT_ONCE)).await? {
            let write = move |tx: &mut Tx<'_>| {
                tx.set_actor(SYSTEM_ACTOR);
                days::keep(tx, &sum)
            };
            store.write("reports", write).await?;
        }
        Ok(())
    }

    /// Follows what was committed since the last time, or makes the calendar.
    async fn follow(&self, store: &Store) -> Result<(), Fault> {
        let mut followed = self.followed.lock().await;
        let mut after = match &*followed {
            Some(after) => after.clone(),
            None => {
                let now = store.place().await?;
                make(store).await?;
                now
            }
        };
        loop {
            let Changed { keys, followed: upto, more } =
                store.changed_since(after.clone(), COMMITS_AT_ONCE, &calendar::SPACES).await?;
            let proofs: Vec<_> = keys.into_iter().collect::<BTreeSet<_>>().into_iter().collect();
            for part in proofs.chunks(CHUNK_RECORDS) {
                let part = part.to_vec();
                let events = store.read(true, move |tx| calendar::events(tx, &part)).await?;
                store.calendar().write().unwrap_or_else(PoisonError::into_inner).note(events);
            }
            after = upto;
            *followed = Some(after.clone());
            if !more {
                store.calendar().write().unwrap_or_else(PoisonError::into_inner).made = true;
                return Ok(());
            }
        }
    }

    /// Keeps the figures up to date for as long as the daemon serves.
    pub async fn keep_up(self: Arc<Self>, store: Store) {
        loop {
            let wanted = store.calendar().read().unwrap_or_else(PoisonError::into_inner).wanted;
            // A report that makes it at this moment holds the lock.
            let made = self.followed.try_lock().is_ok_and(|followed| followed.is_some());
            if (wanted || made)
                && let Err(fault) = self.follow(&store).await
            {
                tracing::debug!(%fault, "what came and went could not be counted");
            }
            if let Err(fault) = self.sum_up(&store, days::WORTH_A_COMMIT).await {
                tracing::debug!(%fault, "the days of the journal could not be summed up");
            }
            tokio::time::sleep(PAUSE).await;
        }
    }
}

/// Reads every record that proves an event, a short transaction for each chunk.
async fn make(store: &Store) -> Result<(), Fault> {
    for space in calendar::SPACES {
        let mut from = Some(Vec::new());
        while let Some(start) = from {
            let look = move |tx: &mut Tx<'_>| calendar::chunk(tx, space, start.clone(), CHUNK_RECORDS);
            let (events, next) = store.read(true, look).await?;
            store.calendar().write().unwrap_or_else(PoisonError::into_inner).note(events);
            from = next;
        }
    }
    let events = store.calendar().read().unwrap_or_else(PoisonError::into_inner).events();
    tracing::debug!(events, "ready to report");
    Ok(())
}
