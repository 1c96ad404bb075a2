//! The embedded engine: a checksummed, hash-chained commit journal that is synced before anything is
//! answered, and a tree of sled as the index that serves every read.
//!
//! The journal is the truth. The index, the checkpoints and the marks can be lost or damaged without loss
//! of a record; they also witness how far the journal went, so a journal that has lost its end is noticed.

mod archive;
mod away;
mod begin;
mod blocks;
mod checkpoint;
mod checkpointer;
mod claims;
mod codec;
mod committer;
mod compressed;
mod directory;
mod disk;
mod feed;
mod format;
mod frame;
mod gap;
mod head;
mod index;
mod journal;
mod layout;
mod lock;
mod look;
mod objects;
mod options;
mod owner;
mod packed;
mod packer;
mod pairs;
mod panicked;
mod past;
mod past_commits;
mod past_files;
mod pins;
mod places;
mod reach;
mod reading;
mod recent;
mod recover;
mod refusal;
mod replay;
mod scan;
mod segment;
mod shared;
mod snapshot;
#[cfg(test)]
mod tests;
mod tree;
mod upgrade;
mod verify;
mod writer;

pub use feed::Feed;
pub use format::{earlier_form, this_form};
pub use lock::Lock;
pub use look::{JournalSeen, journal_begins, last_value, look_at_journal};
pub use objects::{ImagesSeen, look_at_images};
pub use options::{OpenError, Options};
pub use owner::check_owner;
pub use past::{Moment, Past, Until};
pub use past_files::PastError;
pub use pins::Bounds;

use crate::store::engine::{
    Archive, Archived, Changed, Commit, Engine, Followed, JournalMark, Pending, ReadWork, Space, Trouble,
    Visit, WriteWork,
};
use crate::store::figures::{Figures, Own};
use crate::store::objects::Objects;
use committer::Committer;
use disk::{Disk, RealDisk, make_missing};
use index::Index;
use journal::Journal;
use mfa_shared::fault::Fault;
use objects::FileObjects;
use pins::Pins;
use reading::{blocking, run_read};
use recover::{Recovered, recover};
use refusal::unavailable;
use shared::{BROKEN, Counts, Packing, Published, Shared};
use snapshot::Snapshot;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};
use std::thread::JoinHandle;
use tokio::sync::{mpsc, oneshot};
use upgrade::Form;
use writer::{Message, Open, Writer};

/// An open data directory. It is locked until this value is dropped, and with it every [`Feed`] and every
/// unfinished read.
#[derive(Debug)]
pub struct Embedded {
    shared: Arc<Shared>,
    objects: Arc<FileObjects>,
    /// Gone once the engine is dropped, which ends the writer.
    inbox: Option<mpsc::UnboundedSender<Message>>,
    writer: Mutex<Option<JoinHandle<()>>>,
    closing: AtomicBool,
    /// What was not right on opening, and was put right.
    healed: Vec<Trouble>,
}

/// What a new data directory may hold already: what one that was killed in the making has left, and what a
/// file system has by itself.
const OWN_NAMES: [&str; 5] = ["lock", "index", "objects", "FORMAT.tmp", "lost+found"];

/// Makes the data directory, and closes it to others. One that is none yet and holds other files is refused:
/// they would be taken for part of the store, and go where it goes.
fn make_private(dir: &Path) -> Result<(), OpenError> {
    let failed = |source| OpenError::Io { file: dir.to_owned(), source };
    make_missing(dir).map_err(failed)?;
    let has = |name| dir.join(name).exists();
    if !has("FORMAT") {
        if has("journal") {
            // Whether it is one is found out from its files.
            return Ok(());
        }
        let mut names = fs::read_dir(dir).map_err(failed)?.flatten().map(|entry| entry.file_name());
        if let Some(name) = names.find(|name| !OWN_NAMES.iter().any(|own| name == own)) {
            return Err(OpenError::Occupied { dir: dir.to_owned(), name });
        }
    }
    fs::set_permissions(dir, fs::Permissions::from_mode(0o700)).map_err(failed)
}

impl Embedded {
    /// Opens a data directory, or makes a new one. This may take long, when the index has to be made anew.
    pub fn open(options: Options) -> Result<Self, OpenError> {
        let disk = Arc::new(RealDisk::new(&options.dir));
        Self::open_on(options, disk)
    }

    fn open_on(options: Options, disk: Arc<dyn Disk>) -> Result<Self, OpenError> {
        let failed = |source| OpenError::Io { file: options.dir.clone(), source };
        if !disk.is_read_only() {
            check_owner(&options.dir)?;
            make_private(&options.dir)?;
        }
        let lock = Lock::take(&options.dir)?;
        tree::try_threads().map_err(|source| OpenError::NoThread { source })?;
        let recovered = recover(&options, &disk)?;
        let objects = FileObjects::open(disk.clone(), &options.dir).map_err(failed)?;
        let Recovered { store, pairs, away, journal, scan, healed, .. } = recovered;
        let shared = Arc::new(Shared {
            disk,
            store,
            index: Index::new(pairs, options.recent_keys),
            gate: RwLock::new(journal.head()),
            write_fault: OnceLock::new(),
            pressing: Mutex::default(),
            read_fault: OnceLock::new(),
            watched: options.watched,
            version: AtomicU64::new(0),
            pins: Pins::default(),
            bounds: options.bounds,
            stopping: AtomicBool::new(false),
            background: Mutex::new(Vec::new()),
            places: Mutex::new(scan.places),
            recent: Mutex::default(),
            begins: Mutex::new(recovered.begins),
            archiving: Mutex::new(()),
            checkpoint: Mutex::new(()),
            checkpoint_due: AtomicBool::new(false),
            grown_bytes: AtomicU64::new(recovered.grown_bytes),
            growth_bytes_max: AtomicU64::new(
                options.checkpoint_bytes.max(checkpoint::growth_after(recovered.checkpoint_bytes)),
            ),
            counts: Counts::default(),
            form: Form::new(recovered.form),
            packer: Packing::new(options.packs),
            _away: away,
            _lock: lock,
        });
        if recovered.index_unverified {
            shared.spawn("verify-index", |shared| verify::index(&shared));
        }
        if scan.start.sequence > recovered.begins.sequence {
            let dir = options.dir.clone();
            let until = scan.start;
            shared.spawn("verify-journal", move |shared| verify::journal(&shared, &dir, until));
        }
        if options.raises {
            shared.raise_form();
        }
        packer::consider(&shared);
        let (sender, inbox) = mpsc::unbounded_channel();
        let writer = Mutex::new(Some(start(&shared, journal, inbox).map_err(failed)?));
        Ok(Self {
            shared,
            objects: Arc::new(objects),
            inbox: Some(sender),
            writer,
            closing: AtomicBool::new(false),
            healed,
        })
    }

    /// The sequence of the last committed transaction; 0 before the first.
    pub fn sequence(&self) -> u64 {
        self.shared.head().sequence
    }

    /// The committed transactions with a sequence above `after`, in order. It ends with the last one that
    /// is committed by then, and goes on from there when it is asked again later. Spaces have no names.
    /// Reading it blocks, so it is nothing for a thread of the runtime.
    pub fn journal(&self, after: u64) -> Feed {
        Feed::new(self.shared.clone(), after)
    }

    /// Makes a checkpoint now, and blocks until it is made: as long as it takes to read the whole store.
    pub fn checkpoint(&self) -> std::io::Result<()> {
        checkpointer::make(&self.shared)
    }

    fn send(&self, message: Message) -> Result<(), Fault> {
        // Unless it was closed, its threads have broken off, which the process must learn.
        let ended = || self.write_fault().unwrap_or_else(|| self.shared.refuse_writes(BROKEN));
        let inbox = self.inbox.as_ref().ok_or_else(ended)?;
        inbox.send(message).map_err(|_| ended())
    }

    /// The job is queued by this call, not by the first poll: jobs keep the order of the calls, and what is
    /// queued is done even if no one waits for it any more.
    fn queue(&self, work: WriteWork, long: bool) -> Pending<()> {
        let (answer, receiver) = oneshot::channel();
        let waits = self.shared.counts.waiting.enter();
        let sent = match self.write_fault() {
            Some(fault) => Err(fault),
            None => self.send(Message::Write(writer::Job { work, long, answer })),
        };
        Box::pin(async move {
            sent?;
            let outcome = answered(receiver).await;
            drop(waits);
            outcome
        })
    }
}

/// Starts the writer, and the committer which ends before it.
fn start(
    shared: &Arc<Shared>,
    journal: Journal,
    inbox: mpsc::UnboundedReceiver<Message>,
) -> std::io::Result<JoinHandle<()>> {
    let (groups, taken) = std::sync::mpsc::channel();
    let (done, heard) = mpsc::unbounded_channel();
    let open = Open::after(journal.head().sequence);
    let committer = Arc::new(Mutex::new(Committer { shared: shared.clone(), journal }));
    let theirs = committer.clone();
    let committing = thread("store-commit").spawn(move || committer::run(&theirs, &taken, &done))?;
    let shared = shared.clone();
    let writer = Writer {
        shared,
        inbox,
        committer,
        groups,
        done: heard,
        thread: committing,
        open,
        alone: 0,
        closing: Vec::new(),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    thread("store-writer").spawn(move || runtime.block_on(writer.run()))
}

fn thread(name: &str) -> std::thread::Builder {
    std::thread::Builder::new().name(name.to_owned())
}

fn unreadable(error: &std::io::Error) -> Fault {
    unavailable(&format!("the disk of the store cannot be read: {error}"))
}

async fn answered(receiver: oneshot::Receiver<Result<(), Fault>>) -> Result<(), Fault> {
    // The writer answers everything it has taken; without an answer it is gone.
    receiver.await.unwrap_or_else(|_| Err(unavailable("the store is closed")))
}

impl Engine for Embedded {
    fn read(&self, mut work: ReadWork, long: bool) -> Pending<()> {
        let shared = self.shared.clone();
        Box::pin(async move {
            if !long {
                return run_read(&shared, |shared| work(&mut Snapshot::new(shared)));
            }
            let read = move |shared: &Shared| work(&mut Snapshot::pinned(shared));
            blocking(shared, move |shared| run_read(&shared, read)).await
        })
    }

    fn read_latest(&self, mut work: ReadWork) -> Pending<()> {
        let read = move |shared: &Shared| work(&mut Published(shared));
        Box::pin(blocking(self.shared.clone(), move |shared| run_read(&shared, read)))
    }

    fn write(&self, work: WriteWork) -> Pending<()> {
        self.queue(work, false)
    }

    fn write_alone(&self, work: WriteWork) -> Pending<()> {
        self.queue(work, true)
    }

    fn objects(&self) -> Arc<dyn Objects> {
        self.objects.clone()
    }

    fn write_fault(&self) -> Option<Fault> {
        let closing = || self.closing.load(SeqCst).then(|| unavailable("the store is closed"));
        self.shared.write_fault.get().cloned().or_else(closing)
    }

    fn changed_since(&self, followed: Option<Followed>, limit: usize, spaces: &[Space]) -> Pending<Changed> {
        let now = self.shared.head().sequence;
        let Some(after) = followed.map(|followed| followed.place()).filter(|after| *after < now) else {
            let followed = Followed::upto(now);
            return Box::pin(std::future::ready(Ok(Changed { followed, ..Changed::default() })));
        };
        let mut recent = self.shared.recent.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(changed) = recent.since(after, now, limit, spaces) {
            return Box::pin(std::future::ready(Ok(changed)));
        }
        let spaces = spaces.to_vec();
        Box::pin(blocking(self.shared.clone(), move |shared| {
            let mut changed = Changed::default();
            let mut upto = after;
            for next in Feed::new(shared, after).take(limit) {
                let (sequence, commit) = next?;
                let changes = commit.changes.into_iter().filter(|change| spaces.contains(&change.space));
                changed.keys.extend(changes.map(|change| (change.space, change.key)));
                upto = sequence;
            }
            Ok(Changed { followed: Followed::upto(upto), more: upto < now, ..changed })
        }))
    }

    fn commits_since(&self, after: u64, limit: usize) -> Pending<Vec<(u64, Commit)>> {
        Box::pin(blocking(self.shared.clone(), move |shared| Feed::new(shared, after).take(limit).collect()))
    }

    fn journal_mark(&self, sequence: u64) -> Pending<Option<JournalMark>> {
        Box::pin(blocking(self.shared.clone(), move |shared| past::mark(shared, sequence)))
    }

    fn archive(&self, how: Archive) -> Pending<Archived> {
        Box::pin(blocking(self.shared.clone(), move |shared| archive::archive(&shared, &how)))
    }

    fn last_commit(&self) -> Pending<u64> {
        Box::pin(std::future::ready(Ok(self.sequence())))
    }

    fn is_shared(&self) -> bool {
        false
    }

    fn is_busy(&self) -> bool {
        self.shared.counts.beside.get() > 0
    }

    fn pressing_fault(&self) -> Option<Fault> {
        let pressing = self.shared.pressing.lock().unwrap_or_else(PoisonError::into_inner).clone();
        pressing.filter(|_| !self.shared.has_room() || self.shared.is_crammed())
    }

    fn replay(&self, mut visit: Visit) -> Pending<()> {
        Box::pin(blocking(self.shared.clone(), move |shared| archive::replay(&shared, &mut visit)))
    }

    fn troubles(&self) -> Pending<Vec<Trouble>> {
        let mut found = self.healed.clone();
        Box::pin(blocking(self.shared.clone(), move |shared| {
            found.extend(checkpoint::damaged(&*shared.disk).map_err(|error| unreadable(&error))?);
            Ok(found)
        }))
    }

    fn figures(&self) -> Figures {
        let counts = &self.shared.counts;
        let own = Own::Embedded {
            groups: counts.groups.counted(),
            journal_bytes: segment::bytes(&*self.shared.disk).ok(),
            index_bytes: self.shared.index.pairs.bytes().ok(),
            grown_bytes: self.shared.grown_bytes.load(SeqCst),
            growth_bytes_max: self.shared.growth_bytes_max.load(SeqCst),
            checkpoint: checkpoint::last_made(&*self.shared.disk),
        };
        Figures { commits: counts.commits.counted(), waiting: counts.waiting.get(), own }
    }

    fn close(&self) -> Pending<()> {
        if self.closing.swap(true, SeqCst) {
            return Box::pin(std::future::ready(Ok(())));
        }
        let (answer, receiver) = oneshot::channel();
        match self.send(Message::Close(answer)) {
            Ok(()) => Box::pin(answered(receiver)),
            Err(_) => Box::pin(std::future::ready(Ok(()))),
        }
    }
}

impl Drop for Embedded {
    /// Ends the threads, so that the data directory can be opened again at once. What is queued is done;
    /// only the mark of a clean stop is missing.
    fn drop(&mut self) {
        self.inbox = None;
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner).take();
        if writer.is_some_and(|writer| writer.join().is_err()) {
            tracing::error!("the writer of the store has panicked");
        }
        self.shared.stop_background();
    }
}
