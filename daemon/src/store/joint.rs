//! What many read at the same moment, in one transaction: a thousand listeners wake up at once, each to read
//! little, and a database would be asked a thousand times for the same.

use super::engine::Pending;
use super::tx::Tx;
use mfa_shared::fault::{self, Fault};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;

/// Most reads of one transaction, so that none of them waits long for the others.
const TOGETHER_MAX: usize = 256;

/// A read; its result goes to its caller past this.
pub(super) type Work = Box<dyn FnMut(&mut Tx<'_>) + Send>;

/// A read that waits.
struct Asked {
    work: Work,
    done: oneshot::Sender<Result<(), Fault>>,
}

/// The reads that wait for their transaction.
#[derive(Default)]
pub(super) struct Joint {
    waiting: Mutex<Waiting>,
}

#[derive(Default)]
struct Waiting {
    asked: Vec<Asked>,
    /// Whether a task goes on until none is left.
    served: bool,
}

impl fmt::Debug for Joint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Joint").field("waiting", &self.waiting().asked.len()).finish()
    }
}

impl Joint {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next reads that go together; none ends the task that serves them.
    fn next(&self) -> Option<Vec<Asked>> {
        let mut waiting = self.waiting();
        let count = waiting.asked.len().min(TOGETHER_MAX);
        waiting.served = count > 0;
        waiting.served.then(|| waiting.asked.drain(..count).collect())
    }
}

impl Joint {
    /// Has work run together with what others want at the same moment; `run` does it. Returns when it was
    /// run.
    pub(super) async fn join<R>(self: &Arc<Self>, work: Work, run: R) -> Result<(), Fault>
    where
        R: Fn(Work) -> Pending<()> + Send + Sync + 'static,
    {
        let (done, answer) = oneshot::channel();
        let served = {
            let mut waiting = self.waiting();
            waiting.asked.push(Asked { work, done });
            std::mem::replace(&mut waiting.served, true)
        };
        if !served {
            // A task of its own, so that nobody waits in vain when the one who came first goes away.
            tokio::spawn(self.clone().serve(run));
        }
        let stopping = |_| Err(Fault::new(fault::UNAVAILABLE, "the daemon is stopping"));
        answer.await.unwrap_or_else(stopping)
    }

    /// Runs what waits, until nothing does.
    async fn serve<R>(self: Arc<Self>, run: R)
    where
        R: Fn(Work) -> Pending<()>,
    {
        while let Some(asked) = self.next() {
            let (mut works, done): (Vec<_>, Vec<_>) =
                asked.into_iter().map(|Asked { work, done }| (work, done)).unzip();
            let outcome = run(Box::new(move |tx| works.iter_mut().for_each(|work| work(tx)))).await;
            for done in done {
                let _ = done.send(outcome.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::engine::{Pair, Range, Space, View};
    use mfa_shared::time::Timestamp;
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

    /// A store with nothing in it.
    struct Empty;

    impl View for Empty {
        fn get(&mut self, _: Space, _: &[u8]) -> Result<Option<Vec<u8>>, Fault> {
            Ok(None)
        }

        fn scan(&mut self, _: Space, _: &Range, _: bool, _: usize) -> Result<Vec<Pair>, Fault> {
            Ok(Vec::new())
        }
    }

    #[tokio::test]
    async fn reads_of_one_moment_share_a_transaction_and_who_goes_away_takes_nothing_from_the_others() {
        let (joint, transactions) = (Arc::new(Joint::default()), Arc::new(AtomicUsize::new(0)));
        let run = Arc::new(AtomicUsize::new(0));
        let join = |fails: bool| {
            let (joint, transactions, run) = (joint.clone(), transactions.clone(), run.clone());
            let work: Work = Box::new(move |_| {
                run.fetch_add(1, SeqCst);
            });
            let all = move |mut all: Work| -> Pending<()> {
                transactions.fetch_add(1, SeqCst);
                all(&mut Tx::new(&mut Empty, Timestamp::from_millis(0), false));
                let fault = Fault::new(fault::UNAVAILABLE, "the database is away");
                Box::pin(std::future::ready(if fails { Err(fault) } else { Ok(()) }))
            };
            tokio::spawn(async move { joint.join(work, all).await })
        };
        let mut reads: Vec<_> = (0..3 * TOGETHER_MAX).map(|_| join(false)).collect();
        tokio::task::yield_now().await;
        reads.remove(0).abort();
        for read in reads {
            assert_eq!(read.await.unwrap(), Ok(()));
        }
        assert_eq!((run.load(SeqCst), transactions.load(SeqCst)), (3 * TOGETHER_MAX, 3));
        // What goes wrong is told to all of them, and the next ones begin anew.
        for fails in [true, false] {
            for read in [join(fails), join(fails)] {
                assert_eq!(read.await.unwrap().is_err(), fails);
            }
        }
        assert_eq!(transactions.load(SeqCst), 5);
    }
}
