//! What all connections of a store have in common.

use super::address::{Address, Server};
use super::group::Groups;
use super::known::KnownCommits;
use super::reserve::Reserve;
use super::seen::Seen;
use super::trouble::{Trouble, unavailable};
use super::turns::Turns;
use super::unconfirmed::Unconfirmed;
use super::{OpenError, Options, tls};
use crate::clock::Clock;
use crate::count::{Counter, Spread};
use crate::store::figures::COMMIT_MICROS;
use mfa_shared::fault::{Fault, UNAVAILABLE};
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use tokio_postgres_rustls::MakeRustlsConnect;

/// So long nobody waits for the turn of this daemon after somebody did so in vain.
const MISSED_PAUSE: Duration = Duration::from_secs(2);

/// What is counted while the lanes work.
#[derive(Debug)]
pub(super) struct Counts {
    /// How long it took to write and commit a transaction.
    pub(super) commits: Spread,
    /// Messages that were sent and answered, each of one statement or of several.
    pub(super) round_trips: Counter,
    /// Transactions that were retried after a conflict.
    pub(super) retries: Counter,
}

impl Default for Counts {
    fn default() -> Self {
        let (round_trips, retries) = (Counter::default(), Counter::default());
        Self { commits: Spread::over(COMMIT_MICROS), round_trips, retries }
    }
}

/// What all lanes have in common.
pub(super) struct Shared {
    pub(super) address: Address,
    /// That must agree with the clock of the database.
    pub(super) clock: Option<Clock>,
    pub(super) servers: Vec<Server>,
    pub(super) good_server: AtomicUsize,
    pub(super) tls: MakeRustlsConnect,
    pub(super) counts: Arc<Counts>,
    pub(super) seen: Seen,
    pub(super) connected: AtomicUsize,
    pub(super) closing: AtomicBool,
    /// Why nothing more is done, where that is so for good.
    over: OnceLock<Fault>,
    /// The commits that are known to be there.
    pub(super) known: KnownCommits,
    /// Whether commits wait for a standby in vain.
    pub(super) unconfirmed: Arc<Unconfirmed>,
    last_trouble: Mutex<String>,
    pub(super) turns: Turns,
    pub(super) groups: Groups,
    /// When a wait for the turn of this daemon was in vain.
    missed_turn: Mutex<Option<Instant>>,
    /// The lanes for requests, and those for reads that take long.
    pub(super) reserves: [Reserve; 2],
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Shared {
    /// Nothing connected yet.
    pub(super) fn new(options: &Options) -> Result<Self, OpenError> {
        Ok(Self {
            tls: tls::connector(&options.address)?,
            servers: options.address.servers(),
            address: options.address.clone(),
            clock: options.clock.clone(),
            good_server: AtomicUsize::new(0),
            counts: Arc::default(),
            seen: Seen::default(),
            connected: AtomicUsize::new(0),
            closing: AtomicBool::new(false),
            over: OnceLock::new(),
            known: KnownCommits::default(),
            unconfirmed: Arc::default(),
            last_trouble: Mutex::new(String::new()),
            turns: Turns::new(options.connections_max),
            groups: Groups::default(),
            missed_turn: Mutex::new(None),
            reserves: Default::default(),
        })
    }

    /// How many lanes have a connection.
    pub(super) fn connected(&self) -> usize {
        self.connected.load(SeqCst)
    }

    /// Why no request can be served at present.
    pub(super) fn fault(&self) -> Option<Fault> {
        if let Some(fault) = self.over() {
            return Some(fault);
        }
        if self.closing.load(SeqCst) {
            return Some(unavailable("the store is closed"));
        }
        (self.connected() == 0).then(|| unavailable("the database cannot be reached at present"))
    }

    /// The lanes of a queue: that for requests, or that for reads that take long.
    pub(super) fn reserve(&self, long: bool) -> &Reserve {
        &self.reserves[usize::from(long)]
    }

    /// Ends all work for good: others may use the store from now on, and this program was to be alone.
    pub(super) fn lose_alone(&self) {
        self.end_for_good(
            "the connection that kept daemons away from the store was lost, so the work was broken off: run \
             the command again",
        );
    }

    /// Ends all work for good; several lanes may find the reason at once.
    pub(super) fn end_for_good(&self, why: &str) {
        if self.closing.load(SeqCst) {
            return;
        }
        if self.over.set(Fault::new(UNAVAILABLE, why)).is_ok() {
            tracing::error!(why, "the store is of no use any more");
        }
        self.close();
    }

    /// Why no more is done, if that is so for good.
    pub(super) fn over(&self) -> Option<Fault> {
        self.over.get().cloned()
    }

    /// Notes that a wait for the turn of this daemon was in vain: whoever has it takes long.
    pub(super) fn miss_turn(&self) {
        *self.missed_turn.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    /// Whether it is worth while to wait for it.
    pub(super) fn waits_for_turn(&self) -> bool {
        let missed = *self.missed_turn.lock().unwrap_or_else(PoisonError::into_inner);
        missed.is_none_or(|missed| missed.elapsed() > MISSED_PAUSE)
    }

    /// Lets the lanes end.
    pub(super) fn close(&self) {
        self.closing.store(true, SeqCst);
        self.reserves.iter().for_each(Reserve::close);
    }

    /// Remembers why a connection could not be made; a new reason goes to the log.
    pub(super) fn note(&self, trouble: &Trouble) {
        let why = trouble.to_string();
        let mut last = self.last_trouble.lock().unwrap_or_else(PoisonError::into_inner);
        if *last != why {
            tracing::warn!(why, "cannot connect to the database");
            *last = why;
        }
    }

    /// Remembers it for the error alone.
    pub(super) fn note_silently(&self, trouble: &Trouble) {
        *self.last_trouble.lock().unwrap_or_else(PoisonError::into_inner) = trouble.to_string();
    }

    /// The last reason as an error.
    pub(super) fn unreachable(&self) -> OpenError {
        let why = self.last_trouble.lock().unwrap_or_else(PoisonError::into_inner).clone();
        OpenError::Unreachable { address: self.address.to_string(), why }
    }
}
