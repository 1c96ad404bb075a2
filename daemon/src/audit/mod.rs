//! The audit trail outside of requests: records reported after an answer was written, sealing what several
//! daemons have committed, and updating the lists that find records. Contract: `audit.md` sections 1 and 2.

mod lists;
mod waiting;

use crate::clock::Deadline;
use crate::ops::audit as trail;
use crate::ops::events;
use crate::store::records::AUDIT_PENDING;
use crate::store::seed::SYSTEM_ACTOR;
use crate::store::{Store, Tx};
use lists::Seen;
use mfa_shared::api::audit::AuditRecord;
use mfa_shared::fault::{self, Fault};
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{Notify, OwnedMutexGuard, watch};
use waiting::{TAKEN_AT_ONCE, WAITING_MAX, Waiting};

/// How long records are collected before a commit, so that a flood causes few commits.
const GATHER: Duration = Duration::from_millis(100);
/// Pause after a flood: as many records as may wait are written in this time, and those beyond are counted.
const FLOOD_PAUSE: Duration = Duration::from_millis(800);
/// How often a daemon looks for what others have committed.
const LOOK: Duration = Duration::from_millis(250);
/// How long somebody who looks waits for what is not sealed yet, and how often it is tried meanwhile.
const SETTLE_MAX: Duration = Duration::from_secs(1);
const SETTLE_PAUSE: Duration = Duration::from_millis(10);
/// Commits with records that are looked at together: a database unpacks all that they wrote.
const COMMITS_AT_ONCE: usize = 64;
/// Records that are sealed in one transaction.
const SEALED_AT_ONCE: usize = 256;
/// Receives records, and keeps the trail in order.
#[derive(Debug, Default)]
pub struct Auditor {
    waiting: Mutex<Waiting>,
    bell: Notify,
    /// The number of the last record.
    news: watch::Sender<u64>,
    /// The last run that brought the trail up to date, and held by the one that does.
    turn: Arc<tokio::sync::Mutex<Run>>,
    /// How many runs have begun.
    begun: AtomicU64,
}

/// A run that brought the trail up to date.
#[derive(Debug, Clone, Default)]
pub struct Run {
    number: u64,
    /// Queued records that were written.
    written: usize,
    /// Up to where in the journal of a shared engine everything is sealed, and the last commit behind it,
    /// which cannot be sealed yet.
    sealed: u64,
    unsettled: Option<u64>,
    /// Whether that could not be found out.
    failed: bool,
    /// The number of the last record then; none where it could not be read.
    last: Option<u64>,
}

/// What was found when the journal was followed.
#[derive(Debug, Default)]
struct Followed {
    /// Whether anything of the trail was committed, by anybody.
    moved: bool,
    unsettled: Option<u64>,
}

impl Auditor {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues a record without waiting for the write; when the queue is full, the record is only counted.
    pub fn add(&self, record: AuditRecord) {
        self.waiting().add(record);
        self.bell.notify_one();
    }

    /// Brings the trail up to date with everything that was reported and committed before. Of those who ask
    /// while a run goes on, the next one does it for all: a thousand listeners may come at once.
    pub async fn catch_up(self: &Arc<Self>, store: &Store) -> Run {
        let begun = self.begun.load(SeqCst);
        let turn = self.turn.clone().lock_owned().await;
        if turn.number > begun {
            return turn.clone();
        }
        // A task of its own, which goes on when the one who asks goes away: what it has taken out of the
        // queue is written or put back.
        let run = self.clone().run(turn, store.clone());
        tokio::spawn(run).await.unwrap_or(Run { failed: true, ..Run::default() })
    }

    async fn run(self: Arc<Self>, mut turn: OwnedMutexGuard<Run>, store: Store) -> Run {
        let number = self.begun.fetch_add(1, SeqCst) + 1;
        let written = self.write_waiting(&store).await;
        let followed = self.follow(&store).await;
        if let Err(fault) = &followed {
            tracing::debug!(%fault, "the audit trail is not up to date");
        }
        let failed = followed.is_err();
        let Followed { moved, unsettled } = followed.unwrap_or_default();
        // A database is asked only where something has happened.
        let is_known = store.is_shared() && !moved && !failed && turn.last.is_some();
        let last = if is_known { turn.last } else { self.announce(&store).await };
        *turn = Run { number, written, sealed: store.numbers().sealed(), unsettled, failed, last };
        turn.clone()
    }

    /// Publishes the number of the last record to those who wait for news, and returns it.
    async fn announce(&self, store: &Store) -> Option<u64> {
        match store.read(false, events::last).await {
            Ok(last) => {
                self.news.send_if_modified(|known| std::mem::replace(known, last) != last);
                Some(last)
            }
            Err(fault) => {
                tracing::debug!(%fault, "the end of the audit trail is not known");
                None
            }
        }
    }

    /// Does the same for somebody who wants to see it. On a shared engine a commit is sealed only when none
    /// that began before it is under way any more; that is waited for, but not for ever, nor for later ones.
    pub async fn settle(self: &Arc<Self>, store: &Store) {
        let patience = Deadline::after(SETTLE_MAX);
        let mut wanted = None;
        loop {
            let run = self.catch_up(store).await;
            if !run.failed {
                let wanted = *wanted.get_or_insert(run.unsettled);
                if run.unsettled.is_none() || wanted <= Some(run.sealed) {
                    return;
                }
            }
            if patience.has_passed() {
                return;
            }
            tokio::time::sleep(SETTLE_PAUSE).await;
        }
    }

    /// Has the next run also say what was left out: for somebody who looks at the trail, and at the end.
    pub fn say_what_was_left_out(&self) {
        self.waiting().is_looked_at();
    }

    /// Keeps it so. What cannot be written at present is tried again.
    pub async fn keep(self: &Arc<Self>, store: &Store) {
        let mut seen = Seen::default();
        for look in 0.. {
            tokio::select! {
                () = self.bell.notified() => tokio::time::sleep(GATHER).await,
                () = tokio::time::sleep(LOOK) => {}
            }
            let run = self.catch_up(store).await;
            if let Some(last) = run.last
                && let Err(fault) = lists::update(store, last, &mut seen, look).await
            {
                tracing::debug!(%fault, "the lists of the audit trail are not up to date");
            }
            if run.written > TAKEN_AT_ONCE {
                tokio::time::sleep(FLOOD_PAUSE).await;
            }
        }
    }

    /// A channel that receives the number of the last record whenever it changes.
    pub fn news(&self) -> watch::Receiver<u64> {
        self.news.subscribe()
    }

    /// Writes what waits, and not more than may wait at once: while a flood goes on, the queue is never
    /// empty, and whoever looks at the trail would wait for its end.
    async fn write_waiting(&self, store: &Store) -> usize {
        let mut written = 0;
        while written < WAITING_MAX {
            let (records, left_out) = self.waiting().take(WAITING_MAX - written, Instant::now());
            if records.is_empty() && left_out.is_empty() {
                break;
            }
            written += records.len();
            let told = records.clone();
            let counted = left_out.clone();
            let write = move |tx: &mut Tx<'_>| {
                tx.set_actor(SYSTEM_ACTOR);
                for record in &told {
                    let record = trail::looked_up(tx, record.clone())?;
                    tx.audit(record);
                }
                if !counted.is_empty() {
                    tx.audit(waiting::overflow(tx, &counted));
                }
                Ok(())
            };
            if let Err(fault) = store.write("audit", write).await {
                tracing::debug!(%fault, "records of the audit trail wait");
                self.waiting().put_back(records, left_out);
                break;
            }
        }
        written
    }

    /// Seals what several daemons have committed.
    async fn follow(&self, store: &Store) -> Result<Followed, Fault> {
        let mut followed = Followed::default();
        while store.is_shared() && !self.seal(store, &mut followed).await? {}
        Ok(followed)
    }

    /// Seals the next records in the order of their commits; true when no others are left than those that
    /// cannot be sealed yet.
    async fn seal(&self, store: &Store, followed: &mut Followed) -> Result<bool, Fault> {
        let after = match store.numbers().sealed() {
            0 => store.read(false, trail::place).await?,
            looked => looked,
        };
        let put = store.put_since(AUDIT_PENDING, after, COMMITS_AT_ONCE).await?;
        followed.moved |= !put.commits.is_empty();
        followed.unsettled = put.unsettled;
        let mut place = after;
        if put.commits.iter().any(|(_, keys)| !keys.is_empty()) {
            place = store.read(false, trail::place).await?;
            if place > after {
                // Another daemon has sealed some of them.
                store.numbers().note_sealed(place);
                return Ok(false);
            }
        }
        for (upto, keys) in parts(put.commits) {
            let write = move |tx: &mut Tx<'_>| {
                tx.set_actor(SYSTEM_ACTOR);
                trail::seal(tx, place, upto, &keys)
            };
            // A snapshot is enough: all that writes the trail writes its end, or this place in the journal.
            // Serializable, hundreds of sealed records would conflict with every longer change.
            if !store.write_on_snapshot("audit", write).await? {
                // Another daemon was quicker, and perhaps with less: what it has left is looked at again.
                return Ok(false);
            }
            place = upto;
            store.numbers().note_sealed(upto);
        }
        store.numbers().note_sealed(put.upto);
        Ok(!put.more)
    }
}

/// The keys of commits in parts of about as many as are sealed at once, a commit never in two, each with the
/// commit up to which it reaches.
fn parts(commits: Vec<(u64, Vec<Vec<u8>>)>) -> Vec<(u64, Vec<Vec<u8>>)> {
    let mut parts: Vec<(u64, Vec<Vec<u8>>)> = Vec::new();
    for (sequence, keys) in commits.into_iter().filter(|(_, keys)| !keys.is_empty()) {
        match parts.last_mut().filter(|(_, part)| part.len() + keys.len() <= SEALED_AT_ONCE) {
            Some((upto, part)) => {
                *upto = sequence;
                part.extend(keys);
            }
            None => parts.push((sequence, keys)),
        }
    }
    parts
}

/// Seals what is committed, for work without a daemon.
pub(crate) async fn bring_to_an_end(store: &Store) {
    Arc::new(Auditor::default()).settle(store).await;
}

/// Prepares a store for the trail: seals what was left unsealed where it was copied from, and on a shared
/// engine notes the place in the journal from which later commits are sealed. Nothing is reported before.
pub(crate) async fn begin(store: &Store) -> Result<(), Fault> {
    clear(store).await?;
    if store.read(false, trail::is_begun).await? {
        return Ok(());
    }
    let end = if store.is_shared() { store.place().await?.place() } else { 0 };
    let begin = move |tx: &mut Tx<'_>| {
        tx.set_actor(SYSTEM_ACTOR);
        trail::begin(tx, end)
    };
    match store.write("audit", begin).await {
        // It is only served then; the next start on a disk that takes changes makes up for it.
        Err(fault) if fault.kind == fault::DISK_READ_ONLY => Ok(()),
        begun => begun,
    }
}

/// Removes what was cut off; a start goes on where this was interrupted.
pub(crate) async fn clear(store: &Store) -> Result<(), Fault> {
    if !store.read(false, trail::is_clearing).await? {
        return Ok(());
    }
    let mut cleared = Some(trail::Cleared::default());
    while let Some(so_far) = cleared {
        let step = move |tx: &mut Tx<'_>| {
            tx.set_actor(SYSTEM_ACTOR);
            trail::clear(tx, &so_far)
        };
        cleared = store.write("audit-prune", step).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
