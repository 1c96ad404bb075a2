//! Whose turn it is to write. Most work runs beside the other work of its process, and some of it alone. The
//! wait for a turn needs no connection, and not every connection is given to work that writes: so a read
//! finds one, however many writers wait and however long they take.

use super::seen::Place;
use super::trouble::unavailable;
use crate::store::engine::WriteWork;
use mfa_shared::fault::Fault;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::{Duration, Instant};
use tokio::sync::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard, OwnedSemaphorePermit, RwLock, Semaphore};
use tokio::time::timeout;

/// Attempts beside others before a transaction runs alone, and how long they may take together.
const FREE_ATTEMPTS: u32 = 4;
const FREE_LIMIT: Duration = Duration::from_secs(1);
/// How long one that is to run alone waits for those that run already.
const ALONE_WAIT: Duration = Duration::from_secs(1);
/// How long one that runs alone keeps its turn after conflicts. Others wait meanwhile, and some of them let
/// the other daemons know that this one lives.
const ALONE_LIMIT: Duration = Duration::from_secs(2);
/// How long work waits for its turn.
pub(super) const WAIT: Duration = Duration::from_secs(30);
/// How much work may wait for its turn.
const WAITING_MAX: usize = 4096;

/// Beside whom work that writes runs first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Beside {
    /// The other work of this process.
    Others,
    /// The same, after it was rehearsed.
    OthersRehearsed,
    /// None of it.
    Nobody,
    /// Anyone at all: its snapshot is enough, and no turn is taken.
    Anyone,
}

/// The right to run.
enum Turn {
    /// Beside others who share it.
    Shared { _guard: OwnedRwLockReadGuard<()> },
    /// Alone, since this moment.
    Alone { since: Instant, _guard: OwnedRwLockWriteGuard<()> },
}

impl Turn {
    /// Whether it holds for the next attempt, which may run beside others or not. Those that wait came later,
    /// and what they would write conflicts with that attempt again.
    fn is_kept(&self, shared: bool) -> bool {
        match self {
            Self::Shared { .. } => shared,
            Self::Alone { since, .. } => since.elapsed() < ALONE_LIMIT,
        }
    }
}

/// A turn to run beside others, with the right to a connection.
pub(super) struct Held {
    _turn: Turn,
    _seat: Option<OwnedSemaphorePermit>,
}

/// Work that writes, on its way through one connection or several.
pub(super) struct Writing {
    pub(super) work: WriteWork,
    pub(super) beside: Beside,
    /// How often it has run.
    pub(super) attempt: u32,
    /// What it is known to read.
    pub(super) foreseen: Vec<Place>,
    /// When it ran first: what counts is the time beside others, not the time until it was its turn.
    begun: Option<Instant>,
    turn: Option<Turn>,
    seat: Option<OwnedSemaphorePermit>,
}

impl Writing {
    /// Work that has not run yet.
    pub(super) fn new(work: WriteWork, beside: Beside) -> Self {
        Self { work, beside, attempt: 0, foreseen: Vec::new(), begun: None, turn: None, seat: None }
    }

    /// How long it has been tried.
    pub(super) fn tried_for(&mut self) -> Duration {
        self.begun.get_or_insert_with(Instant::now).elapsed()
    }

    /// Whether the next attempt runs beside others.
    fn is_free(&self) -> bool {
        let begun = self.begun.map_or(Duration::ZERO, |begun| begun.elapsed());
        matches!(self.beside, Beside::Others | Beside::OthersRehearsed)
            && (self.attempt == 0 || self.attempt < FREE_ATTEMPTS && begun < FREE_LIMIT)
    }

    /// Whether it is its turn to run alone.
    pub(super) fn is_alone(&self) -> bool {
        matches!(self.turn, Some(Turn::Alone { .. }))
    }

    /// Whether another attempt may follow at once. If not, it has no turn any more, and must wait for one.
    pub(super) fn goes_on(&mut self, turns: &Turns) -> bool {
        self.attempt += 1;
        if self.beside == Beside::Anyone {
            return self.seat.is_some();
        }
        let is_free = self.is_free();
        let kept = self.turn.take().filter(|turn| turn.is_kept(is_free));
        self.turn = kept.or_else(|| turns.at_once(is_free));
        self.turn.is_some()
    }
}

/// How a connection is done with a job.
pub(super) enum Answer {
    /// It has run.
    Done(Result<(), Fault>),
    /// It must wait for its turn.
    Waits(Box<Writing>),
}

/// The turns of a process.
pub(super) struct Turns {
    /// Shared by transactions that write beside each other; held by one that runs alone.
    order: Arc<RwLock<()>>,
    /// As many pieces of work as may have or wait for a turn.
    seats: Arc<Semaphore>,
    /// The same for work that needs no turn.
    own_seats: Arc<Semaphore>,
    waiting: AtomicUsize,
}

impl Turns {
    /// Turns for work on so many connections, an eighth of which no such work gets: half of that is for work
    /// that needs no turn, and the other half for all that only reads.
    pub(super) fn new(connections: usize) -> Self {
        let spare = (connections / 16).max(1);
        Self {
            order: Arc::default(),
            seats: Arc::new(Semaphore::new(connections.saturating_sub(2 * spare).max(1))),
            own_seats: Arc::new(Semaphore::new(spare)),
            waiting: AtomicUsize::new(0),
        }
    }

    /// How much work waits for a turn.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.load(SeqCst)
    }

    /// Waits until it is the turn of `writing`.
    pub(super) async fn wait(&self, writing: &mut Writing) -> Result<(), Fault> {
        (writing.turn, writing.seat) = (None, None);
        let _counted = Counted::new(&self.waiting);
        if self.waiting() > WAITING_MAX {
            return Err(unavailable("too many requests wait for the database"));
        }
        let needs_turn = writing.beside != Beside::Anyone;
        let seats = if needs_turn { &self.seats } else { &self.own_seats };
        let is_free = writing.is_free();
        let taken = timeout(WAIT, async {
            let seat = seats.clone().acquire_owned().await.ok();
            let turn = if needs_turn { Some(self.take(is_free).await) } else { None };
            (turn, seat)
        });
        (writing.turn, writing.seat) = taken.await.map_err(|_| waited_in_vain())?;
        Ok(())
    }

    /// Waits for a turn beside others.
    pub(super) async fn beside_others(&self) -> Result<Held, Fault> {
        let taken = timeout(WAIT, async {
            let _seat = self.seats.clone().acquire_owned().await.ok();
            Held { _turn: self.take(true).await, _seat }
        });
        taken.await.map_err(|_| waited_in_vain())
    }

    /// Waits for a turn. Where others run for too long, who wants to be alone runs beside them.
    async fn take(&self, shared: bool) -> Turn {
        if !shared && let Ok(_guard) = timeout(ALONE_WAIT, self.order.clone().write_owned()).await {
            return Turn::Alone { since: Instant::now(), _guard };
        }
        Turn::Shared { _guard: self.order.clone().read_owned().await }
    }

    /// A turn that need not be waited for.
    fn at_once(&self, shared: bool) -> Option<Turn> {
        let order = self.order.clone();
        if shared {
            return order.try_read_owned().ok().map(|_guard| Turn::Shared { _guard });
        }
        order.try_write_owned().ok().map(|_guard| Turn::Alone { since: Instant::now(), _guard })
    }
}

/// What those are told whose turn does not come.
pub(super) fn waited_in_vain() -> Fault {
    unavailable("other changes took too long, so nothing was changed")
}

/// Counted as long as it exists.
struct Counted<'c>(&'c AtomicUsize);

impl<'c> Counted<'c> {
    fn new(count: &'c AtomicUsize) -> Self {
        count.fetch_add(1, SeqCst);
        Self(count)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, SeqCst);
    }
}
