//! Work that costs milliseconds of a processor: passwords and signatures. Threads of its own do it, one piece
//! after the other. They are fewer than the processors and give way to the threads that serve requests and to
//! the store's writer; and only so much may wait for them as is done within moments (`http/queue.rs`).

use super::queue::{Queue, Refused};
use crate::ops::secret::Judged;
use crate::random;
use crate::store::{Store, Tx};
use mfa_shared::fault::{self, Fault};
use rustix::process::nice;
use std::fmt;
use std::io;
use std::net::IpAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};
use std::thread::{self, available_parallelism};
use tokio::sync::oneshot;

/// Seconds after which refused work may come again.
const RETRY_AFTER_S: u32 = 2;
/// How far the threads give way: in a full machine they still get a tenth of a processor.
const NICE: i32 = 10;

type Job = Box<dyn FnOnce() + Send>;

pub use super::queue::Lane;

/// The threads for heavy work.
pub struct Heavy(Arc<Queue<Job>>);

impl fmt::Debug for Heavy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Heavy").finish_non_exhaustive()
    }
}

impl Drop for Heavy {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl Heavy {
    /// Starts the threads; they end with this value.
    pub fn start() -> io::Result<Self> {
        let heavy = Self(Arc::default());
        // One processor is left to everything else, where there is more than one.
        let processors = available_parallelism().map_or(1, usize::from);
        for _ in 0..processors.saturating_sub(1).max(1) {
            let queue = heavy.0.clone();
            thread::Builder::new().name("heavy".to_owned()).spawn(move || work(&queue))?;
        }
        Ok(heavy)
    }

    /// Runs the work of a client at an address when its turn comes, or refuses it at once where too much
    /// waits already.
    pub async fn run<T, F>(&self, lane: Lane, from: IpAddr, work: F) -> Result<T, Fault>
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static,
    {
        let (answer, done) = oneshot::channel();
        let job = move || {
            // If the caller has gone away, no one needs the result.
            if !answer.is_closed() {
                let _ = answer.send(work());
            }
        };
        self.0.push(lane, from, Box::new(job)).map_err(|refused| {
            let detail = match refused {
                Refused::Full => "too many passwords and signatures wait to be checked",
                Refused::Address => "too many passwords and signatures of your address wait to be checked",
            };
            Fault::new(fault::UNAVAILABLE, detail).retry_after(RETRY_AFTER_S)
        })?;
        done.await.map_err(|_| Fault::new(fault::INTERNAL, "the work on a secret ended by a defect"))
    }
}

fn work(jobs: &Queue<Job>) {
    // On Linux this is about the calling thread alone.
    if cfg!(target_os = "linux")
        && let Err(error) = nice(NICE)
    {
        tracing::warn!(%error, "the threads for passwords do not give way to others");
    }
    while let Some(job) = jobs.next() {
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
    beside: Option<(String, Arc<Present>)>,
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
        let plain = plain.to_owned();
        let present = Arc::new(Box::new(present) as Present);
        Self { plain, present, is_new: true, beside: None, judged: OnceLock::new() }
    }

    /// A password that is only compared with the stored hash, and never stored itself.
    pub fn compared<F>(plain: &str, present: F) -> Self
    where
        F: Fn(&mut Tx<'_>) -> Result<Option<String>, Fault> + Send + Sync + 'static,
    {
        Self { is_new: false, ..Self::new(plain, present) }
    }

    /// The same with the present password beside it, where that was sent, and how its stored hash is found.
    pub fn beside<F>(self, plain: Option<&str>, present: F) -> Self
    where
        F: Fn(&mut Tx<'_>) -> Result<Option<String>, Fault> + Send + Sync + 'static,
    {
        let beside = plain.map(|plain| (plain.to_owned(), Arc::new(Box::new(present) as Present)));
        Self { beside, ..self }
    }

    /// Whether a password is compared whose failures count.
    pub fn compares(&self) -> bool {
        !self.is_new || self.beside.is_some()
    }

    /// Does the heavy work. A password that is only compared unlocks a drawer, and tellers do not wait behind
    /// people who log in.
    pub async fn judge(&self, store: &Store, heavy: &Heavy, from: IpAddr) -> Result<(), Fault> {
        let present = stored(store, &self.present).await?;
        let plain = self.plain.clone();
        let salt = self.is_new.then(random::bytes);
        let lane = if self.is_new { Lane::Passwords } else { Lane::Drawers };
        let judge = move || Judged::new(&plain, present.as_deref(), salt.as_ref());
        let mut judged = heavy.run(lane, from, judge).await?;
        if let Some((plain, present)) = &self.beside {
            let plain = plain.clone();
            let present = stored(store, present).await?;
            let judge = move || Judged::new(&plain, present.as_deref(), None);
            judged.present = heavy.run(lane, from, judge).await?.fits;
        }
        let _ = self.judged.set(judged);
        Ok(())
    }

    /// What came out of it.
    pub fn judged(&self) -> Judged {
        self.judged.get().cloned().unwrap_or_default()
    }
}

/// The stored hash with which a password is compared.
async fn stored(store: &Store, present: &Arc<Present>) -> Result<Option<String>, Fault> {
    let present = present.clone();
    store.read(false, move |tx| present(tx)).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;
    use std::sync::Barrier;
    use std::sync::mpsc::channel;

    const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
    const THERE: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));

    /// Lets all tasks run up to where they wait.
    async fn settle() {
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn work_beyond_the_queue_is_refused_at_once_and_the_rest_is_done() {
        let heavy = Arc::new(Heavy::start().unwrap());
        let spawn = |from: IpAddr, job: Job| {
            let heavy = heavy.clone();
            tokio::spawn(async move { heavy.run(Lane::Logins, from, job).await })
        };
        let threads = available_parallelism().map_or(1, usize::from).saturating_sub(1).max(1);
        let (go_on, (begun, begins)) = (Arc::new(Barrier::new(threads + 1)), channel());
        let mut held = Vec::new();
        for _ in 0..threads {
            let (go_on, begun) = (go_on.clone(), begun.clone());
            held.push(spawn(
                HERE,
                Box::new(move || {
                    begun.send(()).unwrap();
                    go_on.wait();
                }),
            ));
            settle().await;
            begins.recv().unwrap();
        }
        let waiting: Vec<_> =
            (0..Lane::Logins.of_address_max()).map(|_| spawn(HERE, Box::new(|| ()))).collect();
        settle().await;
        let fault = heavy.run(Lane::Logins, HERE, || ()).await.unwrap_err();
        assert_eq!((fault.kind.code, fault.retry_after), ("unavailable", Some(RETRY_AFTER_S)));
        let others = [spawn(THERE, Box::new(|| ()))];
        settle().await;
        go_on.wait();
        for job in held.into_iter().chain(waiting).chain(others) {
            job.await.unwrap().unwrap();
        }
    }

    #[tokio::test]
    async fn a_defect_in_one_piece_of_work_leaves_the_thread_to_the_next() {
        let heavy = Heavy::start().unwrap();
        let fault =
            heavy.run::<(), _>(Lane::Logins, HERE, || panic!("a defect of this test")).await.unwrap_err();
        assert_eq!(fault.kind.code, "internal");
        assert_eq!(heavy.run(Lane::Drawers, HERE, || 7).await.unwrap(), 7);
    }
}
