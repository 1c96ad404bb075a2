//! Work that costs milliseconds of a processor: passwords and signatures. Threads of its own do it, one piece
//! after the other. They are fewer than the processors and give way to the threads that serve requests and to
//! the store's writer; and only so much may wait for them as is done within moments.

use crate::ops::secret::Judged;
use crate::random;
use crate::store::{Store, Tx};
use mfa_shared::fault::{self, Fault};
use rustix::process::nice;
use std::fmt;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::{self, available_parallelism};
use tokio::sync::oneshot;

/// Work that may wait; what comes on top of it is refused. A password takes tens of milliseconds.
const WAITING_MAX: usize = 64;
/// Seconds after which refused work may come again.
const RETRY_AFTER_S: u32 = 2;
/// How far the threads give way: in a full machine they still get a tenth of a processor.
const NICE: i32 = 10;

type Job = Box<dyn FnOnce() + Send>;

/// The threads for heavy work.
pub struct Heavy(SyncSender<Job>);

impl fmt::Debug for Heavy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Heavy").finish_non_exhaustive()
    }
}

impl Heavy {
    /// Starts the threads; they end with this value.
    pub fn start() -> io::Result<Self> {
        let (sender, receiver) = sync_channel(WAITING_MAX);
        let receiver = Arc::new(Mutex::new(receiver));
        // One processor is left to everything else, where there is more than one.
        let processors = available_parallelism().map_or(1, usize::from);
        for _ in 0..processors.saturating_sub(1).max(1) {
            let receiver = receiver.clone();
            thread::Builder::new().name("heavy".to_owned()).spawn(move || work(&receiver))?;
        }
        Ok(Self(sender))
    }

    /// Runs the work when its turn comes, or refuses it at once where too much waits already.
    pub async fn run<T, F>(&self, work: F) -> Result<T, Fault>
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static,
    {
        let (answer, done) = oneshot::channel();
        let job = move || {
            // Whoever asked may have gone away, and then nobody needs it.
            if !answer.is_closed() {
                let _ = answer.send(work());
            }
        };
        self.0.try_send(Box::new(job)).map_err(|error| match error {
            TrySendError::Full(_) => {
                let detail = "too many passwords and signatures wait to be checked";
                Fault::new(fault::UNAVAILABLE, detail).retry_after(RETRY_AFTER_S)
            }
            TrySendError::Disconnected(_) => defect(),
        })?;
        done.await.map_err(|_| defect())
    }
}

fn defect() -> Fault {
    Fault::new(fault::INTERNAL, "the work on a secret ended by a defect")
}

fn work(jobs: &Mutex<Receiver<Job>>) {
    // On Linux this is about the calling thread alone.
    if cfg!(target_os = "linux")
        && let Err(error) = nice(NICE)
    {
        tracing::warn!(%error, "the threads for passwords do not give way to others");
    }
    loop {
        let next = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(job) = next else { return };
        if catch_unwind(AssertUnwindSafe(job)).is_err() {
            tracing::error!("heavy work ended by a defect");
        }
    }
}

type Present = Box<dyn Fn(&mut Tx<'_>) -> Result<Option<String>, Fault> + Send + Sync>;

/// A password in the body of a request, which is hashed before the transaction begins.
pub struct Secret {
    plain: String,
    present: Arc<Present>,
    is_new: bool,
    judged: OnceLock<Judged>,
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Secret").finish_non_exhaustive()
    }
}

impl Secret {
    /// A password, and how the stored hash is found that it is compared with.
    pub fn new<F>(plain: &str, present: F) -> Self
    where
        F: Fn(&mut Tx<'_>) -> Result<Option<String>, Fault> + Send + Sync + 'static,
    {
        let (plain, present) = (plain.to_owned(), Arc::new(Box::new(present) as Present));
        Self { plain, present, is_new: true, judged: OnceLock::new() }
    }

    /// A password that is only compared with the stored hash, and never stored itself.
    pub fn compared<F>(plain: &str, present: F) -> Self
    where
        F: Fn(&mut Tx<'_>) -> Result<Option<String>, Fault> + Send + Sync + 'static,
    {
        Self { is_new: false, ..Self::new(plain, present) }
    }

    /// Whether it is to be stored.
    pub fn is_new(&self) -> bool {
        self.is_new
    }

    /// Does the heavy work.
    pub async fn judge(&self, store: &Store, heavy: &Heavy) -> Result<(), Fault> {
        let present = self.present.clone();
        let stored = store.read(false, move |tx| present(tx)).await?;
        let (plain, salt) = (self.plain.clone(), self.is_new.then(random::bytes));
        let judged = heavy.run(move || Judged::new(&plain, stored.as_deref(), salt.as_ref())).await?;
        let _ = self.judged.set(judged);
        Ok(())
    }

    /// What came out of it.
    pub fn judged(&self) -> Judged {
        self.judged.get().cloned().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;
    use std::sync::mpsc::channel;

    /// Lets all tasks run up to where they wait.
    async fn settle() {
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn what_does_not_fit_into_the_queue_is_refused_at_once_and_the_rest_is_done() {
        let heavy = Arc::new(Heavy::start().unwrap());
        let spawn = |job: Job| {
            let heavy = heavy.clone();
            tokio::spawn(async move { heavy.run(job).await })
        };
        let threads = available_parallelism().map_or(1, usize::from).saturating_sub(1).max(1);
        let (go_on, (begun, begins)) = (Arc::new(Barrier::new(threads + 1)), channel());
        let hold = |_| {
            let (go_on, begun) = (go_on.clone(), begun.clone());
            spawn(Box::new(move || {
                begun.send(()).unwrap();
                go_on.wait();
            }))
        };
        let held: Vec<_> = (0..threads).map(hold).collect();
        settle().await;
        for _ in 0..threads {
            begins.recv().unwrap();
        }
        let waiting: Vec<_> = (0..WAITING_MAX).map(|_| spawn(Box::new(|| ()))).collect();
        settle().await;
        let fault = heavy.run(|| ()).await.unwrap_err();
        assert_eq!((fault.kind.code, fault.retry_after), ("unavailable", Some(RETRY_AFTER_S)));
        go_on.wait();
        for job in held.into_iter().chain(waiting) {
            job.await.unwrap().unwrap();
        }
    }

    #[tokio::test]
    async fn a_defect_in_one_piece_of_work_leaves_the_thread_to_the_next() {
        let heavy = Heavy::start().unwrap();
        let fault = heavy.run::<(), _>(|| panic!("a defect of this test")).await.unwrap_err();
        assert_eq!(fault.kind.code, "internal");
        assert_eq!(heavy.run(|| 7).await.unwrap(), 7);
    }
}
