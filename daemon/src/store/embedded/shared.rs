//! What the writer, the readers and the work in the background have in common.

use super::away::Away;
use super::codec::Hash;
use super::disk::Disk;
use super::head::{Head, Position};
use super::index::Index;
use super::lock::Lock;
use super::pins::{Bounds, Pins};
use super::places::Places;
use super::recent::Recent;
use super::refusal::unavailable;
use super::tree::Sick;
use super::upgrade::Form;
use crate::count::{Level, Spread};
use crate::priority::give_way;
use crate::store::engine::{Pair, Range, Space, View};
use crate::store::figures::COMMIT_MICROS;
use mfa_shared::fault::Fault;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock, RwLockReadGuard};
use std::thread::JoinHandle;

/// Why nothing is written after a defect of the store.
pub(super) const BROKEN: &str = "the store has broken off because of a defect, so nothing can be written";

/// Bounds of the number of transactions that become durable together.
const GROUP_SIZES: &[u64] = &[1, 2, 4, 8, 16, 32, 64];

/// What is counted while the engine works.
#[derive(Debug)]
pub(super) struct Counts {
    /// How long groups took from their first byte in the journal until they were published.
    pub(super) commits: Spread,
    /// How many transactions of a group wrote something.
    pub(super) groups: Spread,
    /// Jobs that are not answered yet.
    pub(super) waiting: Level,
    /// Work beside readers and writer that goes on even if no one waits for it any more.
    pub(super) beside: Level,
}

impl Default for Counts {
    fn default() -> Self {
        let (commits, groups) = (Spread::over(COMMIT_MICROS), Spread::over(GROUP_SIZES));
        Self { commits, groups, waiting: Level::default(), beside: Level::default() }
    }
}

/// What is known of the packing of an open engine.
#[derive(Debug, Default)]
pub(super) struct Packing {
    /// Whether files are packed without being asked for.
    pub(super) wanted: bool,
    /// Whether a thread is to look through the files and has not begun.
    pub(super) due: AtomicBool,
    /// The file that was the last one when they were looked through.
    pub(super) seen: AtomicU64,
    /// Held while files are packed.
    working: Mutex<()>,
}

impl Packing {
    pub(super) fn new(wanted: bool) -> Self {
        Self { wanted, ..Self::default() }
    }

    /// No file is packed while this is held.
    pub(super) fn working(&self) -> MutexGuard<'_, ()> {
        self.working.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// State of an open engine.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) disk: Arc<dyn Disk>,
    pub(super) store: Hash,
    pub(super) index: Index,
    /// The last published commit. The write side is held only while a group is published, so that a holder of
    /// the read side sees one state; that is for moments, see [`Pins`].
    pub(super) gate: RwLock<Head>,
    pub(super) write_fault: OnceLock<Fault>,
    /// Why the last write was refused, while others may be taken again.
    pub(super) pressing: Mutex<Option<Fault>>,
    pub(super) read_fault: OnceLock<Fault>,
    /// Spaces whose changes are counted.
    pub(super) watched: &'static [Space],
    /// How often they have changed; it moves only while the gate is closed.
    pub(super) version: AtomicU64,
    /// The earlier moments that are being read.
    pub(super) pins: Pins,
    /// What a read may cost others.
    pub(super) bounds: Bounds,
    /// Work in the background ends soon after this is set.
    pub(super) stopping: AtomicBool,
    pub(super) background: Mutex<Vec<JoinHandle<()>>>,
    /// For readers of the journal.
    pub(super) places: Mutex<Places>,
    /// The keys of recent commits, for followers of the journal.
    pub(super) recent: Mutex<Recent>,
    /// Behind what the journal begins; it moves when older files go into an archive.
    pub(super) begins: Mutex<Head>,
    /// Held while older files go into an archive, or are verified.
    pub(super) archiving: Mutex<()>,
    /// Held while a checkpoint is made.
    pub(super) checkpoint: Mutex<()>,
    /// Whether a checkpoint is to be made in the background, and is not done yet.
    pub(super) checkpoint_due: AtomicBool,
    /// Bytes of the journal since the last checkpoint.
    pub(super) grown_bytes: AtomicU64,
    /// Growth that asks for the next checkpoint.
    pub(super) growth_bytes_max: AtomicU64,
    pub(super) counts: Counts,
    pub(super) form: Form,
    pub(super) packer: Packing,
    /// Where the index is, if the disk had no space for it.
    pub(super) _away: Option<Away>,
    /// The last field, so that the index is closed before another process may open it.
    pub(super) _lock: Lock,
}

impl Shared {
    /// The read side of the gate.
    pub(super) fn hold(&self) -> RwLockReadGuard<'_, Head> {
        self.gate.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The last published commit.
    pub(super) fn head(&self) -> Head {
        *self.hold()
    }

    /// Refuses writes from now on.
    pub(super) fn refuse_writes(&self, detail: &str) -> Fault {
        self.write_fault.get_or_init(|| unavailable(detail)).clone()
    }

    /// Notes a refusal that may pass.
    pub(super) fn press(&self, fault: Fault) -> Fault {
        let mut pressing = self.pressing.lock().unwrap_or_else(PoisonError::into_inner);
        if pressing.replace(fault.clone()).is_none() {
            tracing::error!(why = fault.detail, "writes are refused until the disk takes them again");
        }
        fault
    }

    /// Notes that a write was taken.
    pub(super) fn relieve(&self) {
        if self.pressing.lock().unwrap_or_else(PoisonError::into_inner).take().is_some() {
            tracing::info!("there is space on the disk of the store again, and writes are taken");
        }
    }

    /// Whether there is space for something that is not the journal.
    pub(super) fn has_room(&self) -> bool {
        self.disk.above_reserve() > 0
    }

    /// Whether what is in memory can go into the tree of the index.
    pub(super) fn can_settle(&self) -> bool {
        self.index.can_settle(self.disk.above_reserve())
    }

    /// Whether memory has so much that writes have to wait for space on the disk.
    pub(super) fn is_crammed(&self) -> bool {
        self.index.is_overfull() && !self.can_settle()
    }

    /// Has the index rebuilt on the next start, and returns the fault for the caller.
    pub(super) fn index_failed(&self, why: &Sick) -> Fault {
        tracing::error!(why, "the index cannot be used; it is made anew from the journal on the next start");
        self.index.pairs.condemn();
        unavailable("the index of the store is damaged; it is made anew when the daemon is started again")
    }

    /// Sends what was published on its way into the tree of the index.
    pub(super) fn send_off(&self) -> bool {
        let head = self.hold();
        self.index.send_off(*head)
    }

    /// Brings what was sent off into the tree of the index, as far as the disk has space for it, and says
    /// whether all of it is there. After a failure readers still see everything that was acknowledged, and
    /// the tree is made anew on the next start.
    pub(super) fn settle_sent(&self) -> Result<bool, Sick> {
        self.index.settle(|| self.disk.above_reserve()).inspect_err(|why| {
            self.index_failed(why);
            self.refuse_writes("the index of the store cannot be written");
        })
    }

    /// Brings everything that is published by now into the tree of the index, and says whether all of it
    /// is there.
    pub(super) fn settle(&self) -> Result<bool, Sick> {
        if !self.settle_sent()? {
            return Ok(false);
        }
        self.send_off();
        self.settle_sent()
    }

    /// The last known place in the journal at or before a sequence.
    pub(super) fn place_before(&self, sequence: u64) -> Position {
        let places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        let begins = self.begins().at;
        places.before(sequence).filter(|place| *place >= begins).unwrap_or(begins)
    }

    /// Behind what the journal begins.
    pub(super) fn begins(&self) -> Head {
        *self.begins.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Brings the directory up to this program on opening. Where the disk takes nothing now, that is made up
    /// for before the first file of the new form is written.
    pub(super) fn raise_form(&self) {
        if self.disk.is_read_only() {
            return;
        }
        if let Err(error) = self.form.raise(&*self.disk, &self.store) {
            tracing::warn!(%error, "the data directory keeps its earlier form for now");
        }
    }

    /// Runs something beside readers and writer until it is done or the engine closes; it gives way to them.
    pub(super) fn spawn(self: &Arc<Self>, name: &str, work: impl FnOnce(Arc<Self>) + Send + 'static) {
        let shared = self.clone();
        let run = move || {
            give_way();
            work(shared);
        };
        match std::thread::Builder::new().name(name.to_owned()).spawn(run) {
            Ok(handle) => {
                let mut background = self.background.lock().unwrap_or_else(PoisonError::into_inner);
                background.retain(|earlier| !earlier.is_finished());
                background.push(handle);
            }
            Err(error) => tracing::warn!(name, %error, "a thread cannot be started"),
        }
    }

    /// Ends the work in the background.
    pub(super) fn stop_background(&self) {
        self.stopping.store(true, SeqCst);
        self.index.begin_closing();
        let handles = std::mem::take(&mut *self.background.lock().unwrap_or_else(PoisonError::into_inner));
        for handle in handles {
            if handle.join().is_err() {
                tracing::error!("work of the store in the background has panicked");
            }
        }
    }
}

/// The published state. Its user holds the gate, or is the writer, or does not mind what is published between
/// two looks.
#[derive(Debug)]
pub(super) struct Published<'a>(pub(super) &'a Shared);

impl View for Published<'_> {
    fn get(&mut self, space: Space, key: &[u8]) -> Result<Option<Vec<u8>>, Fault> {
        self.0.index.get(space, key).map_err(|why| self.0.index_failed(&why))
    }

    fn scan(&mut self, space: Space, range: &Range, reverse: bool, limit: usize) -> Result<Vec<Pair>, Fault> {
        if range.is_empty() || limit == 0 {
            return Ok(Vec::new());
        }
        let pairs = self.0.index.scan(space, range, reverse, limit);
        pairs.map_err(|why| self.0.index_failed(&why))
    }

    fn watched(&self) -> &'static [Space] {
        self.0.watched
    }

    fn version(&mut self) -> Option<u64> {
        (!self.0.watched.is_empty()).then(|| self.0.version.load(SeqCst))
    }
}
