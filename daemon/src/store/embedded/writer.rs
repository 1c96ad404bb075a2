//! The one thread that writes: it decides a group of jobs on the state that the group itself makes, puts
//! it into the journal as one frame, then into the index, and only then answers.

use super::checkpoint;
use super::disk::replace;
use super::frame::{COMMIT_BYTES_MAX, put_commit};
use super::head::{CLEAN, Head};
use super::journal::Journal;
use super::layout::{KEY_BYTES_MAX, SPACES_END};
use super::shared::{Published, Shared, unavailable};
use crate::store::engine::{Change, Commit, Overlay, View, WriteWork};
use mfa_shared::fault::{Fault, INTERNAL};
use std::io::ErrorKind;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, PoisonError};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::oneshot;

const GROUP_JOBS_MAX: usize = 64;
const GROUP_BYTES_MAX: usize = 256 * 1024;

/// Where the outcome goes.
pub(super) type Answer = oneshot::Sender<Result<(), Fault>>;

/// One transaction to decide.
pub(super) struct Job {
    pub(super) work: WriteWork,
    pub(super) answer: Answer,
}

/// What the writer is asked to do.
pub(super) enum Message {
    Write(Job),
    Close(Answer),
}

/// The writer.
pub(super) struct Writer {
    pub(super) shared: Arc<Shared>,
    pub(super) journal: Journal,
    pub(super) inbox: UnboundedReceiver<Message>,
    pub(super) closing: Vec<Answer>,
}

/// The commits of a group in their stored form, and everyone who waits for it.
#[derive(Default)]
struct Group {
    commits: Vec<u8>,
    count: u32,
    answers: Vec<(Answer, Result<(), Fault>)>,
}

impl Group {
    fn answer(self, outcome: Result<(), Fault>) {
        for (answer, decided) in self.answers {
            // Whoever asked may have gone away.
            let _ = answer.send(outcome.clone().and(decided));
        }
    }
}

/// Runs a job. A job that panics is a defect, but only its own caller shall suffer from it.
fn decide(work: &mut WriteWork, view: &mut dyn View) -> Result<Option<Commit>, Fault> {
    let decided = catch_unwind(AssertUnwindSafe(|| work(view))).map_err(|panic| {
        tracing::error!(why = super::panic_text(&*panic), "a transaction has panicked");
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

/// Brings what was sent off into the tree of the index. After a failure readers still see everything that
/// was acknowledged, and the tree is made anew on the next start.
fn settle(shared: &Shared) {
    if let Err(why) = shared.index.settle() {
        shared.index_failed(&why);
        shared.refuse_writes("the index of the store cannot be written");
    }
}

impl Writer {
    /// Works until the engine closes.
    pub(super) fn run(mut self) {
        while let Some(message) = self.inbox.blocking_recv() {
            match message {
                Message::Write(job) => self.write(job),
                Message::Close(answer) => self.begin_close(answer),
            }
        }
        if !self.closing.is_empty() {
            let outcome = self.close();
            for answer in std::mem::take(&mut self.closing) {
                let _ = answer.send(outcome.clone());
            }
        }
    }

    /// Takes no new messages; those that wait are still worked on.
    fn begin_close(&mut self, answer: Answer) {
        self.inbox.close();
        self.closing.push(answer);
    }

    fn next_job(&mut self) -> Option<Job> {
        loop {
            match self.inbox.try_recv().ok()? {
                Message::Write(job) => return Some(job),
                Message::Close(answer) => self.begin_close(answer),
            }
        }
    }

    /// One group.
    fn write(&mut self, first: Job) {
        if let Some(fault) = self.shared.write_fault.get() {
            let _ = first.answer.send(Err(fault.clone()));
            return;
        }
        let shared = self.shared.clone();
        let mut published = Published(&shared);
        let mut staged = Overlay::new(&mut published);
        let mut group = Group::default();
        let sequence = self.journal.head().sequence;
        let mut next = Some(first);
        while let Some(mut job) = next {
            let decided = decide(&mut job.work, &mut staged).map(|commit| {
                let Some(commit) = commit else { return };
                group.count += 1;
                put_commit(&mut group.commits, sequence + u64::from(group.count), &commit);
                commit.changes.into_iter().for_each(|change| staged.stage(change));
            });
            group.answers.push((job.answer, decided));
            let full = group.answers.len() >= GROUP_JOBS_MAX || group.commits.len() >= GROUP_BYTES_MAX;
            next = if full { None } else { self.next_job() };
        }
        let changes = staged.into_changes();
        let outcome = if group.count == 0 { Ok(()) } else { self.commit(&group, changes) };
        group.answer(outcome);
        self.consider_settling();
        self.consider_checkpoint();
    }

    fn commit(&mut self, group: &Group, changes: Vec<Change>) -> Result<(), Fault> {
        let first = self.journal.head().sequence + 1;
        let (head, place) = self.journal.append(group.count, &group.commits).map_err(|error| {
            tracing::error!(%error, "the journal cannot be written; writes are refused until a restart");
            self.shared.refuse_writes("the disk of the store has failed, so nothing can be written")
        })?;
        self.shared.grown_bytes.fetch_add(group.commits.len() as u64, SeqCst);
        self.shared.places.lock().unwrap_or_else(PoisonError::into_inner).note(first, place);
        self.publish(head, changes);
        Ok(())
    }

    /// Shows a durable group to readers.
    fn publish(&self, head: Head, changes: Vec<Change>) {
        let watched = changes.iter().any(|change| self.shared.watched.contains(&change.space));
        let mut gate = self.shared.gate.write().unwrap_or_else(PoisonError::into_inner);
        self.shared.index.publish(changes);
        if watched {
            self.shared.version.fetch_add(1, SeqCst);
        }
        *gate = head;
    }

    /// Has what is published brought into the tree of the index, when there is enough of it.
    fn consider_settling(&self) {
        let index = &self.shared.index;
        // A tree that knows of something tells when the whole journal is gone.
        let first = self.shared.index.pairs.reach().is_some_and(|reach| reach.head.sequence == 0);
        if (first || index.is_full()) && self.shared.send_off() {
            self.shared.spawn("store-settle", |shared| settle(&shared));
        }
        if index.is_overfull() {
            settle(&self.shared);
        }
    }

    fn consider_checkpoint(&self) {
        let grown_bytes = self.shared.grown_bytes.load(SeqCst);
        if grown_bytes <= self.shared.growth_bytes_max.load(SeqCst)
            || self.shared.checkpoint_due.swap(true, SeqCst)
        {
            return;
        }
        self.shared.spawn("store-checkpoint", |shared| {
            if let Err(error) = checkpoint::make(&shared) {
                if error.kind() != ErrorKind::Interrupted {
                    tracing::warn!(%error, "no checkpoint could be made; the next try follows later");
                }
                shared.grown_bytes.store(0, SeqCst);
            }
            shared.checkpoint_due.store(false, SeqCst);
        });
    }

    /// Leaves everything so that the next start finds it at once.
    fn close(&mut self) -> Result<(), Fault> {
        self.shared.stop_background();
        if self.shared.write_fault.get().is_some() {
            // The next start shall look at everything again.
            return Ok(());
        }
        self.shared.refuse_writes("the store is closed");
        let failed = |why: String| {
            tracing::error!(why, "the store cannot be closed cleanly; nothing that was acknowledged is lost");
            unavailable("the store could not be closed cleanly")
        };
        self.shared.settle().and_then(|()| self.shared.index.pairs.close()).map_err(failed)?;
        let marked = replace(&*self.shared.disk, "", CLEAN, &self.journal.head().to_mark());
        marked.map_err(|error| failed(error.to_string()))
    }
}
