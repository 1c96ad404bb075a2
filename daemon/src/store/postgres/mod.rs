//! PostgreSQL as the engine: several daemons may share one database, and every transaction that writes is
//! `SERIALIZABLE` there, but for work that says that a snapshot is enough (`Engine::write_on_snapshot`).
//!
//! A fixed number of threads hold one connection each, with a runtime of their own: the work of a
//! transaction is synchronous, so its questions go out and come back on one thread without a hand-over.
//! A request waits in a queue until one of the connections is free. All threads but two connect when the
//! others do not suffice (`reserve.rs`).

mod address;
mod claim;
mod commit;
mod drafts;
mod entrance;
mod error;
mod group;
mod held_back;
mod journal;
mod known;
mod lane;
mod object_statements;
mod objects;
mod options;
mod passfile;
mod questions;
mod reserve;
mod schema;
mod seen;
mod send;
mod session;
mod shared;
mod statements;
mod tls;
mod trouble;
mod turns;
mod unconfirmed;
mod view;

pub use address::{Address, SCHEMES};
pub use error::OpenError;
pub use held_back::{HeldBack, look_at_database};
pub use options::Options;

use crate::store::engine::{
    Changed, Commit, Engine, Followed, Pending, Put, ReadWork, Space, View, Visit, WriteWork,
};
use crate::store::figures::{Figures, Own};
use crate::store::objects::Objects;
use claim::Claim;
use entrance::{Entrance, Queues};
use journal::Asked;
use lane::{Lane, Work};
use mfa_shared::fault::Fault;
use objects::TableObjects;
use seen::Foreseen;
use shared::Shared;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use trouble::unavailable;
use turns::Beside;

/// Requests that may wait for a connection.
const QUEUE_LENGTH_MAX: usize = 4096;
/// How long opening waits for a server that is not there (yet).
const OPEN_WAIT: Duration = Duration::from_secs(10);
const OPEN_PAUSE: Duration = Duration::from_millis(5);
/// Connections that a daemon always has: work goes on where one is lost.
const ALWAYS: usize = 2;
/// Most transactions of the journal that a replay reads at once.
const REPLAYED_AT_ONCE: usize = 500;

/// An open store on PostgreSQL.
#[derive(Debug)]
pub struct Postgres {
    entrance: Entrance,
    objects: Arc<TableObjects>,
    lanes: Arc<Mutex<Vec<JoinHandle<()>>>>,
}

impl Postgres {
    /// Connects, and sets the tables up if they are not there. This blocks.
    pub fn open(options: Options) -> Result<Self, OpenError> {
        let shared = Arc::new(Shared::new(&options)?);
        let until = Instant::now() + OPEN_WAIT;
        // A thread of its own, since a runtime cannot be started inside another one.
        let set_up = {
            let (shared, options) = (shared.clone(), options.clone());
            std::thread::spawn(move || schema::set_up(&shared, &options, until))
        };
        set_up.join().unwrap_or_else(|_| Err(OpenError::Refused("the set-up has panicked".to_owned())))?;
        // The set-up may have waited for that of another daemon.
        let until = Instant::now() + OPEN_WAIT;
        let (short, short_jobs) = mpsc::channel(QUEUE_LENGTH_MAX);
        let (long, long_jobs) = mpsc::channel(QUEUE_LENGTH_MAX);
        let (short_jobs, long_jobs) = (lane::Queue::new(short_jobs), lane::Queue::new(long_jobs));
        let mut lanes = Vec::new();
        let requests = options.connections_max.max(1);
        for number in 0..requests + Options::long_connections(requests) {
            let long = number >= requests;
            let jobs = if long { long_jobs.clone() } else { short_jobs.clone() };
            let claim = match (options.alone, number) {
                (false, _) => Claim::Shared,
                (true, 0) => Claim::Alone,
                (true, _) => Claim::Helping,
            };
            // Work alone begins with all it may have, a daemon with few.
            let waits = !options.alone && number >= ALWAYS;
            let lane = Lane::new(shared.clone(), jobs, long, claim, waits);
            let thread = std::thread::Builder::new().name(format!("store-{number}"));
            let failed = |e| OpenError::Refused(format!("a thread cannot be started: {e}"));
            lanes.push(thread.spawn(move || lane.run()).map_err(failed)?);
        }
        let needed = if options.alone { lanes.len() } else { 1 };
        while shared.connected() < needed {
            if Instant::now() > until {
                shared.close();
                return Err(shared.unreachable());
            }
            std::thread::sleep(OPEN_PAUSE);
        }
        let queues = Arc::new(Mutex::new(Some(Queues { short, long })));
        let entrance = Entrance { shared, queues };
        let objects = TableObjects::new(entrance.clone());
        let failed = |e| OpenError::Refused(format!("there is no room for the drafts of images: {e}"));
        let objects = Arc::new(objects.map_err(failed)?);
        Ok(Self { entrance, objects, lanes: Arc::new(Mutex::new(lanes)) })
    }

    /// At most `limit` committed transactions with a sequence above `after`, in order, and fewer where they
    /// are large. What is still under way anywhere is left out together with all that follows it, so none is
    /// ever missed.
    pub fn journal(&self, after: u64, limit: usize) -> Pending<Vec<(u64, Commit)>> {
        self.entrance.page(after, limit)
    }
}

impl Engine for Postgres {
    fn read(&self, work: ReadWork, long: bool) -> Pending<()> {
        self.entrance.submit(Work::Read(work), long)
    }

    fn write(&self, work: WriteWork) -> Pending<()> {
        self.entrance.write(work, Beside::Others)
    }

    fn write_rehearsed(&self, work: WriteWork) -> Pending<()> {
        self.entrance.write(work, Beside::OthersRehearsed)
    }

    fn write_alone(&self, work: WriteWork) -> Pending<()> {
        self.entrance.write(work, Beside::Nobody)
    }

    fn write_on_snapshot(&self, work: WriteWork) -> Pending<()> {
        self.entrance.write(work, Beside::Anyone)
    }

    fn rehearse(&self, work: &mut dyn FnMut(&mut dyn View)) -> Option<Vec<(Space, Vec<u8>)>> {
        let Foreseen { places, is_all } = self.entrance.shared.seen.rehearse(work);
        is_all.then(|| places.into_iter().map(|(id, key)| (Space { id, name: "" }, key)).collect())
    }

    fn objects(&self) -> Arc<dyn Objects> {
        self.objects.clone()
    }

    fn write_fault(&self) -> Option<Fault> {
        self.entrance.shared.fault()
    }

    fn pressing_fault(&self) -> Option<Fault> {
        self.entrance.shared.unconfirmed.fault()
    }

    /// A database that is away comes back, or another server takes its place; but what is in memory is wrong
    /// when that one lacks commits, and work alone is over when others can come in.
    fn final_fault(&self) -> Option<Fault> {
        self.entrance.shared.over()
    }

    fn is_shared(&self) -> bool {
        true
    }

    /// Commits are read as soon as they are visible: what was under way then is open, and asked for by its
    /// place.
    fn changed_since(&self, followed: Option<Followed>, limit: usize, spaces: &[Space]) -> Pending<Changed> {
        let (entrance, spaces) = (self.entrance.clone(), spaces.to_vec());
        Box::pin(async move {
            let Some(from) = followed else {
                let read = entrance.keys(0, 0, Asked::Standing).await?;
                let followed = read.standing.followed(&Followed::default(), None);
                return Ok(Changed { followed, ..Changed::default() });
            };
            let asked = Asked::Changed(spaces, from.open.clone());
            let read = entrance.keys(from.next.saturating_sub(1), limit, asked).await?;
            let followed = read.standing.followed(&from, read.reached);
            let keys = read.keys.into_iter().flat_map(|(_, keys)| keys).collect();
            Ok(Changed { keys, followed, more: read.reached.is_some() })
        })
    }

    fn put_since(&self, space: Space, after: u64, limit: usize) -> Pending<Put> {
        let page = self.entrance.keys(after, limit, Asked::Put(space));
        Box::pin(async move {
            let read = page.await?;
            let last = read.keys.last().map_or(after, |(sequence, _)| *sequence);
            let end = last.max(read.end);
            // Behind the end nothing is final while a transaction of anybody is under way, perhaps for hours.
            let more = read.reached.is_some_and(|reached| reached <= end);
            let upto = read.reached.map_or(end, |reached| reached.min(end));
            let keys = |keys: Vec<(Space, Vec<u8>)>| keys.into_iter().map(|(_, key)| key).collect();
            let commits = read.keys.into_iter().map(|(sequence, put)| (sequence, keys(put))).collect();
            Ok(Put { commits, upto, more, unsettled: read.last.filter(|last| *last > upto) })
        })
    }

    fn commits_since(&self, after: u64, limit: usize) -> Pending<Vec<(u64, Commit)>> {
        self.journal(after, limit)
    }

    fn last_commit(&self) -> Pending<u64> {
        self.entrance.last()
    }

    fn replay(&self, mut visit: Visit) -> Pending<()> {
        let entrance = self.entrance.clone();
        Box::pin(async move {
            let mut after = 0;
            loop {
                let page = entrance.page_of_all(after, REPLAYED_AT_ONCE).await?;
                let Some((last, _)) = page.last() else { return Ok(()) };
                after = *last;
                page.into_iter().for_each(|(_, commit)| visit(commit));
            }
        })
    }

    fn figures(&self) -> Figures {
        let counts = &self.entrance.shared.counts;
        let own = Own::Postgres {
            round_trips: counts.round_trips.get(),
            retries: counts.retries.get(),
            connections: self.entrance.shared.connected() as u64,
        };
        Figures { commits: counts.commits.counted(), waiting: self.entrance.waiting(), own }
    }

    fn close(&self) -> Pending<()> {
        self.entrance.shared.close();
        self.entrance.queues.lock().unwrap_or_else(PoisonError::into_inner).take();
        let lanes = self.lanes.clone();
        Box::pin(async move {
            let ended = tokio::task::spawn_blocking(move || {
                let lanes = std::mem::take(&mut *lanes.lock().unwrap_or_else(PoisonError::into_inner));
                lanes.into_iter().all(|lane| lane.join().is_ok())
            });
            match ended.await {
                Ok(true) => Ok(()),
                _ => Err(unavailable("a connection to the database ended by a defect")),
            }
        })
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.entrance.shared.close();
    }
}
