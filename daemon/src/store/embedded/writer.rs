//! The thread that decides: each job on the state that the jobs before it make, durable or not. No one learns
//! of a decision before it is durable.

use super::committer::{Answer, Committer, Done, Group};
use super::disk::replace;
use super::frame::{COMMIT_BYTES_MAX, put_commit};
use super::head::CLEAN;
use super::layout::{KEY_BYTES_MAX, SPACES_END};
use super::panicked::panic_text;
use super::refusal::unavailable;
use super::shared::{Published, Shared};
use crate::store::engine::{Change, Commit, Pair, Range, Space, View, WriteWork};
use crate::store::layer::Layer;
use crate::store::overlay::Overlay;
use mfa_shared::fault::{Fault, INTERNAL};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use tokio::sync::mpsc::UnboundedReceiver;

const GROUP_JOBS_MAX: usize = 64;
const GROUP_BYTES_MAX: usize = 256 * 1024;
/// So many jobs are worth a sync of their own while others wait: the next ones are decided during it.
const GROUP_JOBS_ENOUGH: usize = 16;

/// After so many groups of one change, the next one is likely to be alone, too. In tests fewer are enough, so
/// that their short stories of writes that fail go both ways.
const ALONE_ENOUGH: u64 = if cfg!(test) { 1 } else { 8 };

/// One transaction to decide.
pub(super) struct Job {
    pub(super) work: WriteWork,
    /// Whether it may take more than moments.
    pub(super) long: bool,
    pub(super) answer: Answer,
}

/// What the writer is asked to do.
pub(super) enum Message {
    Write(Job),
    Close(Answer),
}

pub(super) struct Writer {
    pub(super) shared: Arc<Shared>,
    pub(super) inbox: UnboundedReceiver<Message>,
    pub(super) committer: Arc<Mutex<Committer>>,
    /// To the committer's own thread, which has one group at a time.
    pub(super) groups: Sender<Group>,
    pub(super) done: UnboundedReceiver<Done>,
    pub(super) thread: JoinHandle<()>,
    pub(super) open: Open,
    /// How many groups in a row had one change.
    pub(super) alone: u64,
    pub(super) closing: Vec<Answer>,
}

/// The group that is being decided, and the state it is based on.
pub(super) struct Open {
    /// The last commit that was decided.
    sequence: u64,
    group: Group,
    changes: Layer,
    /// The changes of the group that the committer has.
    flight: Option<Arc<Layer>>,
}

/// The published state, with a group over it that is not published yet, or is by now.
struct Ahead<'a> {
    published: Published<'a>,
    flight: &'a Layer,
}

impl View for Ahead<'_> {
    fn get(&mut self, space: Space, key: &[u8]) -> Result<Option<Vec<u8>>, Fault> {
        match self.flight.get(space, key) {
            Some(value) => Ok(value.clone()),
            None => self.published.get(space, key),
        }
    }

    fn scan(&mut self, space: Space, range: &Range, reverse: bool, limit: usize) -> Result<Vec<Pair>, Fault> {
        let mut below = |range: &Range, limit: usize| self.published.scan(space, range, reverse, limit);
        self.flight.scan(space, range, reverse, limit, &mut below)
    }

    fn watched(&self) -> &'static [Space] {
        self.published.watched()
    }

    fn version(&mut self) -> Option<u64> {
        if self.flight.touches(self.watched()) { None } else { self.published.version() }
    }
}

/// Runs a job. A job that panics is a defect, but only its own caller shall suffer from it.
fn decide(work: &mut WriteWork, view: &mut dyn View) -> Result<Option<Commit>, Fault> {
    let decided = catch_unwind(AssertUnwindSafe(|| work(view))).map_err(|panic| {
        tracing::error!(why = panic_text(&*panic), "a transaction has panicked");
        Fault::new(INTERNAL, "the transaction broke off because of a defect, and nothing was written")
    })?;
    let Some(commit) = decided.filter(|commit| !commit.changes.is_empty()) else { return Ok(None) };
    let storable =
        commit.changes.iter().all(|change| change.space.id < SPACES_END && change.key.len() <= KEY_BYTES_MAX);
    let value_bytes = |c: &Change| c.key.len() + c.value.as_ref().map_or(0, Vec::len) + 16;
    let bytes =
        commit.changes.iter().map(value_bytes).sum::<usize>() + commit.actor.len() + commit.request.len();
    if storable && bytes < COMMIT_BYTES_MAX {
        return Ok(Some(commit));
    }
    tracing::error!(bytes, "a transaction has a key or a size that cannot be stored");
    Err(Fault::new(INTERNAL, "the transaction has a key or a size that cannot be stored"))
}

impl Open {
    /// Nothing decided yet, behind the last commit.
    pub(super) fn after(sequence: u64) -> Self {
        Self { sequence, group: Group::default(), changes: Layer::default(), flight: None }
    }

    fn jobs(&self) -> usize {
        self.group.answers.len()
    }

    fn is_full(&self) -> bool {
        self.jobs() >= GROUP_JOBS_MAX || self.group.commits.len() >= GROUP_BYTES_MAX
    }

    fn add(&mut self, shared: &Shared, mut job: Job) {
        let nothing = Layer::default();
        let flight = self.flight.as_deref().unwrap_or(&nothing);
        let mut ahead = Ahead { published: Published(shared), flight };
        let mut staged = Overlay::over(&mut ahead, std::mem::take(&mut self.changes));
        let decided = decide(&mut job.work, &mut staged).map(|commit| {
            let Some(commit) = commit else { return };
            self.sequence += 1;
            self.group.count += 1;
            put_commit(&mut self.group.commits, self.sequence, &commit);
            commit.changes.into_iter().for_each(|change| staged.stage(change));
        });
        self.changes = staged.into_layer();
        self.group.answers.push((job.answer, decided));
    }

    /// Hears how the group in flight ended. What was decided on a group that failed fails with it.
    fn landed(&mut self, (sequence, outcome): Done) {
        self.flight = None;
        let Err(fault) = outcome else { return };
        self.changes = Layer::default();
        for (answer, _) in std::mem::take(&mut self.group).answers {
            let _ = answer.send(Err(fault.clone()));
        }
        self.sequence = sequence;
    }

    /// The group as it is, which is in flight from now on.
    fn take(&mut self) -> Group {
        let changes = Arc::new(std::mem::take(&mut self.changes));
        self.flight = Some(changes.clone());
        Group { changes, ..std::mem::take(&mut self.group) }
    }
}

impl Writer {
    /// Works until the engine closes.
    pub(super) async fn run(mut self) {
        loop {
            let idle = self.open.flight.is_none();
            let enough = self.open.jobs() >= GROUP_JOBS_ENOUGH || self.open.is_full();
            let enough = enough || self.inbox.is_empty();
            if idle && enough && self.open.jobs() > 0 {
                self.commit();
                continue;
            }
            tokio::select! {
                biased;
                done = self.done.recv(), if !idle => match done {
                    Some(done) => self.open.landed(done),
                    // Only a defect ends the committer before the writer.
                    None => break,
                },
                message = self.inbox.recv(), if !self.open.is_full() => match message {
                    Some(Message::Write(job)) => {
                        if job.long {
                            self.answer_first().await;
                        }
                        self.write(job);
                    }
                    Some(Message::Close(answer)) => {
                        // Takes no new messages; those that wait are still worked on.
                        self.inbox.close();
                        self.closing.push(answer);
                    }
                    None => break,
                },
            }
        }
        self.finish().await;
    }

    /// Hands the group over to be made durable. When changes come alone, one after the other, there is
    /// nothing to decide meanwhile, and waking another thread can take as long as a sync: then it is done
    /// here.
    fn commit(&mut self) {
        let group = self.open.take();
        self.alone = if group.answers.len() == 1 { self.alone + 1 } else { 0 };
        if self.alone > ALONE_ENOUGH
            && let Ok(mut committer) = self.committer.try_lock()
        {
            return committer.carry_out(group, |done| self.open.landed(done));
        }
        // Without a committer, the waiting callers learn that the store is closed.
        let _ = self.groups.send(group);
    }

    /// Hands over what was decided before a long job: its callers shall not wait for that one, too.
    async fn answer_first(&mut self) {
        if self.open.jobs() == 0 {
            return;
        }
        if self.open.flight.is_some()
            && let Some(done) = self.done.recv().await
        {
            self.open.landed(done);
        }
        if self.open.jobs() > 0 {
            self.commit();
        }
    }

    fn write(&mut self, job: Job) {
        match self.shared.write_fault.get() {
            Some(fault) => drop(job.answer.send(Err(fault.clone()))),
            None => self.open.add(&self.shared, job),
        }
    }

    /// Hands the rest over, and ends when it is done.
    async fn finish(mut self) {
        if self.open.flight.is_some()
            && let Some(done) = self.done.recv().await
        {
            self.open.landed(done);
        }
        if self.open.jobs() > 0 {
            let _ = self.groups.send(self.open.take());
        }
        drop(self.groups);
        if self.thread.join().is_err() {
            tracing::error!("the committer of the store has panicked");
        }
        if !self.closing.is_empty() {
            let outcome = close(&self.shared);
            for answer in self.closing {
                let _ = answer.send(outcome.clone());
            }
        }
    }
}

/// Leaves everything so that the next start finds it at once.
fn close(shared: &Shared) -> Result<(), Fault> {
    shared.stop_background();
    if shared.write_fault.get().is_some() {
        // The next start shall look at everything again.
        return Ok(());
    }
    shared.refuse_writes("the store is closed");
    let failed = |why: String| {
        tracing::error!(why, "the store cannot be closed cleanly; nothing that was acknowledged is lost");
        unavailable("the store could not be closed cleanly")
    };
    if !shared.has_room() || !shared.settle().map_err(failed)? {
        tracing::warn!("the disk takes nothing, so the next start takes longer");
        return Ok(());
    }
    shared.index.pairs.close().map_err(failed)?;
    let marked = replace(&*shared.disk, "", CLEAN, &shared.head().to_mark());
    marked.map_err(|error| failed(error.to_string()))
}
