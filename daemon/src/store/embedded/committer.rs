//! What makes groups durable: it puts a group into the journal as one frame, publishes it, and only then
//! answers. A thread of its own does so while the writer decides the next group; where changes come alone,
//! one after the other, the writer carries them out itself.

use super::checkpointer;
use super::journal::{Journal, Refused};
use super::packer;
use super::panicked::panic_text;
use super::refusal::unavailable;
use super::shared::{BROKEN, Shared};
use crate::store::layer::Layer;
use crate::store::space;
use mfa_shared::fault::Fault;
use std::io::ErrorKind;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering::SeqCst;
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot;

/// Where the outcome goes.
pub(super) type Answer = oneshot::Sender<Result<(), Fault>>;

/// Jobs that were decided, and everyone who waits for them.
#[derive(Default)]
pub(super) struct Group {
    /// The commits in their stored form.
    pub(super) commits: Vec<u8>,
    pub(super) count: u32,
    /// What they change.
    pub(super) changes: Arc<Layer>,
    pub(super) answers: Vec<(Answer, Result<(), Fault>)>,
}

/// How a group ended, and the last commit by then.
pub(super) type Done = (u64, Result<(), Fault>);

/// What makes groups durable, one after the other.
pub(super) struct Committer {
    pub(super) shared: Arc<Shared>,
    pub(super) journal: Journal,
}

/// Works until the writer has ended; `done` hears of every group.
pub(super) fn run(committer: &Mutex<Committer>, groups: &Receiver<Group>, done: &UnboundedSender<Done>) {
    while let Ok(group) = groups.recv() {
        let mut committer = committer.lock().unwrap_or_else(PoisonError::into_inner);
        // The writer waits for this when it closes, and else has ended.
        committer.carry_out(group, |ended| drop(done.send(ended)));
    }
}

impl Committer {
    /// Makes a group durable, and answers it after `hear` has heard of it.
    pub(super) fn carry_out(&mut self, group: Group, hear: impl FnOnce(Done)) {
        // A panic is a defect, after which nothing is written; all who wait, now and later, learn of it.
        let outcome = catch_unwind(AssertUnwindSafe(|| self.commit(&group))).unwrap_or_else(|panic| {
            tracing::error!(why = panic_text(&*panic), "writing to the journal has panicked");
            Err(self.shared.refuse_writes(BROKEN))
        });
        hear((self.journal.head().sequence, outcome.clone()));
        for (answer, decided) in group.answers {
            // The caller may have gone away.
            let _ = answer.send(outcome.clone().and(decided));
        }
        if self.shared.write_fault.get().is_none() {
            self.consider_settling();
            self.consider_checkpoint();
            packer::consider(&self.shared);
        }
    }

    fn commit(&mut self, group: &Group) -> Result<(), Fault> {
        // What was decided on a group that failed must fail with it.
        if let Some(fault) = self.shared.write_fault.get() {
            return Err(fault.clone());
        }
        if group.count == 0 {
            return Ok(());
        }
        if self.shared.disk.is_read_only() {
            return Err(self.shared.press(space::disk_read_only()));
        }
        // What does not go into the tree stays in memory, which has an end, too.
        if self.shared.is_crammed() {
            return Err(self.shared.press(space::disk_full()));
        }
        let since = Instant::now();
        let first = self.journal.head().sequence + 1;
        let (head, place) = self.journal.append(group.count, &group.commits).map_err(|refused| {
            let error = match refused {
                Refused::TakenBack(error) if space::is_full(&error) => {
                    return self.shared.press(space::disk_full());
                }
                Refused::TakenBack(error) => {
                    tracing::error!(%error, "the disk refused a write to the journal, which was taken back");
                    return unavailable("the disk of the store refused the change, so nothing was changed");
                }
                Refused::ForGood(error) => error,
            };
            tracing::error!(%error, "the journal cannot be written; writes are refused until a restart");
            self.shared.refuse_writes("the disk of the store has failed, so nothing can be written")
        })?;
        self.shared.relieve();
        self.shared.grown_bytes.fetch_add(group.commits.len() as u64, SeqCst);
        self.shared.places.lock().unwrap_or_else(PoisonError::into_inner).note(first, place);
        // Before the group is published, so that the keys of every published commit are there.
        let mut recent = self.shared.recent.lock().unwrap_or_else(PoisonError::into_inner);
        recent.note(first, head.sequence, &group.changes);
        drop(recent);
        self.shared.publish(&group.changes, head);
        self.shared.counts.groups.note(u64::from(group.count));
        self.shared.counts.commits.note_time(since.elapsed());
        Ok(())
    }

    /// Moves published changes into the tree of the index, when there are enough.
    fn consider_settling(&self) {
        let index = &self.shared.index;
        // A tree that is not empty reveals the loss of the whole journal, so the first settling is early.
        if !((index.is_full() || index.is_unused()) && self.shared.can_settle()) {
            return;
        }
        // What the disk had no space for is still on its way.
        if self.shared.send_off() || index.is_stuck() {
            self.shared.spawn("store-settle", |shared| drop(shared.settle_sent()));
        }
        if index.is_overfull() {
            let _ = self.shared.settle_sent();
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
            if let Err(error) = checkpointer::make(&shared) {
                if error.kind() != ErrorKind::Interrupted {
                    tracing::warn!(%error, "no checkpoint could be made; the next try follows later");
                }
                shared.grown_bytes.store(0, SeqCst);
            }
            shared.checkpoint_due.store(false, SeqCst);
        });
    }
}
