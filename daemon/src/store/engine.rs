//! What the store asks of an engine, and nothing more: ordered spaces of keys and values, and one
//! serializable transaction for each request.
//!
//! An engine knows no record types. Work handed to it may run more than once (an engine that detects
//! conflicts asks for a retry), so it has no effect outside the changes it returns.

use super::figures::Figures;
pub use super::keys::{Change, Pair, Pending, Range, Space};
use super::objects::Objects;
use mfa_shared::fault::{Fault, UNAVAILABLE};
use mfa_shared::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::Arc;

/// A state of the store that does not change while it is looked at.
pub trait View {
    /// The value of a key.
    fn get(&mut self, space: Space, key: &[u8]) -> Result<Option<Vec<u8>>, Fault>;
    /// At most `limit` pairs of a range, ascending, or descending if `reverse`.
    fn scan(&mut self, space: Space, range: &Range, reverse: bool, limit: usize) -> Result<Vec<Pair>, Fault>;
    /// Announces the keys that are read next. An engine on another machine is queried once for all of them;
    /// the others have nothing to do.
    fn expect(&mut self, _space: Space, _keys: &[Vec<u8>]) -> Result<(), Fault> {
        Ok(())
    }
    /// The same for keys of several spaces.
    fn expect_places(&mut self, _places: &[(Space, Vec<u8>)]) -> Result<(), Fault> {
        Ok(())
    }
    /// The same for short ranges of keys; false where the engine has nothing to do, so that nobody works out
    /// what else to announce.
    fn expect_ranges(&mut self, _ranges: &[(Space, Range)]) -> Result<bool, Fault> {
        Ok(false)
    }
    /// At most `limit` pairs of a space as commits behind a place in the journal have put them, in their
    /// order. For a space in which none of them is put twice or removed; nothing where the engine cannot say.
    fn put_after(&mut self, _space: Space, _after: u64, _limit: usize) -> Result<Option<Vec<Pair>>, Fault> {
        Ok(None)
    }
    /// The last pair of each of these ranges, which end somewhere; nothing where that is as quick one by one.
    fn lasts(&mut self, _space: Space, _ranges: &[Range]) -> Result<Option<Vec<Option<Pair>>>, Fault> {
        Ok(None)
    }
    /// Holds up nothing from here on: what is read stays that of one moment, but the writer does not wait for
    /// this read. Called before a wait for what another read may have locked.
    fn let_go(&mut self) {}
    /// Version of the watched spaces, if the engine counts it; it changes whenever they do. With it, a caller
    /// can see without another read that a result computed from them is still valid.
    fn version(&mut self) -> Option<u64> {
        None
    }
    /// The spaces that are watched.
    fn watched(&self) -> &'static [Space] {
        &[]
    }
    /// Whether the state is only guessed and nothing will come of the work ([`Engine::write_rehearsed`]):
    /// then it notes nothing outside of its transaction.
    fn is_rehearsal(&self) -> bool {
        false
    }
    /// Whether an object is there, and stays there if this transaction commits. Only where several daemons
    /// share the objects could another one have removed it; elsewhere the store itself sees to that.
    fn holds_object(&mut self, _hash: &str) -> Result<bool, Fault> {
        Ok(true)
    }
}

/// All changes of one transaction, with the words for the audit trail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    /// When the transaction was decided.
    pub time: Timestamp,
    /// Who asked for it.
    pub actor: String,
    /// Identifier of the request.
    pub request: String,
    /// The changes, a key at most once, in key order.
    pub changes: Vec<Change>,
}

/// Ties something outside of a journal, such as a backup, to one commit of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JournalMark {
    /// SHA-256 of the identity of the journal, which itself stays secret.
    pub store: String,
    /// SHA-256 of the stored form of the commit.
    pub commit: String,
}

/// Which files of a journal go into an archive.
#[derive(Debug, Clone)]
pub struct Archive {
    /// The folder.
    pub out: PathBuf,
    /// The last commit of a verified backup; files with later commits stay.
    pub covered: u64,
    /// What the backup says of that commit.
    pub mark: JournalMark,
    /// Only files without any later commit go.
    pub older_than: Option<Timestamp>,
}

/// What went into an archive.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Archived {
    /// How many files.
    pub files: usize,
    /// How many bytes were copied.
    pub bytes: u64,
    /// The first commit that the journal still has.
    pub begins: u64,
}

/// Keys that were changed by commits.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changed {
    /// The keys; a space is known by its number alone.
    pub keys: Vec<(Space, Vec<u8>)>,
    /// How far this reaches, to go on from.
    pub followed: Followed,
    /// Whether more is known to follow.
    pub more: bool,
}

/// How far somebody has followed the journal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Followed {
    /// The place from which on nothing was seen.
    pub next: u64,
    /// Places before it that are still open: of transactions that were under way. In a database these are
    /// those of anybody, so they may be open for hours.
    pub open: Vec<u64>,
}

impl Followed {
    /// Everything up to a place.
    pub fn upto(place: u64) -> Self {
        Self { next: place + 1, open: Vec::new() }
    }

    /// The last place up to which everything was seen.
    pub fn place(&self) -> u64 {
        self.open.iter().min().unwrap_or(&self.next).saturating_sub(1)
    }
}

/// Keys of a space that commits have put, in the order of the commits.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Put {
    /// Each commit with its place in the journal.
    pub commits: Vec<(u64, Vec<Vec<u8>>)>,
    /// Up to where in the journal this reaches, to go on from.
    pub upto: u64,
    /// Whether more is known to follow.
    pub more: bool,
    /// The last commit behind it that is visible and has put such a key; others may still come before it.
    pub unsettled: Option<u64>,
}

/// Work of a transaction: it looks at the state and returns what to write, or `None` to write nothing. A key
/// that it puts without having read it is removed by other work only together with a change of a record that
/// both have read, as an entry of an index is: nothing else tells an engine that detects conflicts in which
/// order the two came.
pub type WriteWork = Box<dyn FnMut(&mut dyn View) -> Option<Commit> + Send>;
/// Work that only reads.
pub type ReadWork = Box<dyn FnMut(&mut dyn View) + Send>;
/// What is done with each transaction of a replay.
pub type Visit = Box<dyn FnMut(Commit) + Send>;
/// An engine.
pub trait Engine: Send + Sync + std::fmt::Debug + 'static {
    /// Runs `work` on one consistent state. `long` says that it may take more than moments.
    fn read(&self, work: ReadWork, long: bool) -> Pending<()>;
    /// The same for long work that reads only what, once written, no one else changes. It may see later
    /// records beside earlier ones, and an engine in this process need not keep a moment for it.
    fn read_latest(&self, work: ReadWork) -> Pending<()> {
        self.read(work, true)
    }
    /// Runs `work` as one serializable transaction. When this returns without a fault, the commit is
    /// durable and visible; with a fault, the outcome is either nothing or (connection or disk lost in
    /// the middle) unknown, and the fault is `unavailable`.
    fn write(&self, work: WriteWork) -> Pending<()>;
    /// The same for work that may also run on a state that never was, as long as nothing comes of it: an
    /// engine on another machine runs it on what it has last seen of the records, and then asks for all that
    /// it read at once. Nothing that such work keeps in memory may rest on a record without a look at it.
    fn write_rehearsed(&self, work: WriteWork) -> Pending<()> {
        self.write(work)
    }
    /// The same for work that reads and writes hundreds of records. An engine that detects conflicts runs no
    /// other work of this process beside it: most of it would conflict, and either would run in vain.
    fn write_alone(&self, work: WriteWork) -> Pending<()> {
        self.write(work)
    }
    /// The same for work whose outcome no other work changes, but for what both write: it sees one consistent
    /// state, and conflicts only with work that writes the same records. An engine that detects conflicts of
    /// reads does not look for them.
    fn write_on_snapshot(&self, work: WriteWork) -> Pending<()> {
        self.write(work)
    }
    /// The keys that work which reads will ask for, as far as an engine on another machine can tell from what
    /// it has last seen; nothing where it reads a range. The work runs on a state that never was, and nothing
    /// may come of it.
    fn rehearse(&self, _work: &mut dyn FnMut(&mut dyn View)) -> Option<Vec<(Space, Vec<u8>)>> {
        None
    }
    /// Where the bytes of images lie.
    fn objects(&self) -> Arc<dyn Objects>;
    /// Why writes are refused at present, if they are.
    fn write_fault(&self) -> Option<Fault>;
    /// Why the last write was refused, while that may end by itself and writes are tried meanwhile.
    fn pressing_fault(&self) -> Option<Fault> {
        None
    }
    /// Why writes are refused until a person has looked at the store; then the process should leave.
    fn final_fault(&self) -> Option<Fault> {
        self.write_fault()
    }
    /// The keys of some spaces that were changed by about `limit` commits that were not seen yet: with the
    /// calls that follow while there is more, everything that was acknowledged before the first. Without what
    /// was followed no keys, only where to begin.
    fn changed_since(&self, followed: Option<Followed>, limit: usize, spaces: &[Space]) -> Pending<Changed>;
    /// The keys of a space that were put by at most `limit` commits after a place in the journal. It ends
    /// where a commit that is still under way anywhere could come in between, so the order is final. Only an
    /// engine that others share is asked.
    fn put_since(&self, _space: Space, _after: u64, _limit: usize) -> Pending<Put> {
        Box::pin(std::future::ready(Ok(Put::default())))
    }
    /// At most `limit` commits after a place in the journal, whole and in their order, fewer where they are
    /// large, but at least one. It ends where a commit
    /// that is still under way anywhere could come in between, so none is ever missed.
    fn commits_since(&self, after: u64, limit: usize) -> Pending<Vec<(u64, Commit)>>;
    /// The mark that distinguishes a commit of the journal from that of any other journal; `None` if the
    /// engine does not keep a journal in files.
    fn journal_mark(&self, _sequence: u64) -> Pending<Option<JournalMark>> {
        Box::pin(std::future::ready(Ok(None)))
    }
    /// Moves the older files of the journal into an archive.
    fn archive(&self, _how: Archive) -> Pending<Archived> {
        let why = "the journal of a store in PostgreSQL has no files that could be archived";
        Box::pin(std::future::ready(Err(Fault::new(UNAVAILABLE, why))))
    }
    /// The place in the journal of the last visible commit.
    fn last_commit(&self) -> Pending<u64>;
    /// Whether work goes on for which perhaps nobody waits any more: what the engine holds is not free yet.
    fn is_busy(&self) -> bool {
        false
    }
    /// Whether others may commit to it beside this process.
    fn is_shared(&self) -> bool;
    /// Hands over every committed transaction, from the first to the last.
    fn replay(&self, visit: Visit) -> Pending<()>;
    /// What is not right about the engine's own files, or was not when it opened.
    fn troubles(&self) -> Pending<Vec<Trouble>> {
        Box::pin(std::future::ready(Ok(Vec::new())))
    }
    /// What the engine counts and measures about itself. It may look at files, but never at records.
    fn figures(&self) -> Figures;
    /// Finishes running work and closes; later writes are refused.
    fn close(&self) -> Pending<()>;
}

/// A finding about a file of an engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// The file or folder.
    pub file: String,
    /// What is the case.
    pub why: String,
}
