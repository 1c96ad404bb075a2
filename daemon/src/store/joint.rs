//! What many read at the same moment, in one transaction: a thousand listeners wake up at once, each to read
//! little, and a database would be asked a thousand times for the same.

use super::engine::{Pending, Space};
use super::tx::Tx;
use mfa_shared::fault::{self, Fault};
use std::collections::{BTreeSet, VecDeque};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// Most reads of one transaction, so that none of them waits long for the others.
const TOGETHER_MAX: usize = 64;
/// A transaction that takes so long does not hold up the reads that come after it.
const SLOW: Duration = Duration::from_millis(20);
/// Most such transactions at once.
const TRANSACTIONS_MAX: usize = 4;
/// Most reads that wait, and how long one does, as for a connection.
const WAITING_MAX: usize = 4_096;
const WAIT: Duration = Duration::from_secs(5);

/// A read; its result goes to its caller past this.
pub(super) type Work = Box<dyn FnMut(&mut Tx<'_>) + Send>;
/// A record that a read will look at.
pub(super) type Place = (Space, Vec<u8>);

/// A read that waits.
struct Asked {
    places: Vec<Place>,
    work: Work,
    done: oneshot::Sender<Result<(), Fault>>,
}

/// The reads that wait for their transaction.
pub(super) struct Joint {
    waiting: Mutex<Waiting>,
    wait: Duration,
}

impl Default for Joint {
    fn default() -> Self {
        Self { waiting: Mutex::default(), wait: WAIT }
    }
}

#[derive(Default)]
struct Waiting {
    asked: VecDeque<Asked>,
    /// How many tasks go on until none is left.
    tasks: usize,
    /// When the last transaction began.
    begun: Option<Instant>,
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

    /// Notes a read; whether another task is needed for it.
    fn add(&self, asked: Asked) -> Result<bool, Fault> {
        let mut waiting = self.waiting();
        if waiting.asked.len() >= WAITING_MAX {
            return Err(Fault::new(fault::UNAVAILABLE, "too many wait for the store").retry_after(1));
        }
        waiting.asked.push_back(asked);
        let is_needed = match waiting.tasks {
            0 => true,
            tasks => {
                let is_slow = waiting.begun.is_some_and(|begun| begun.elapsed() > SLOW);
                tasks < TRANSACTIONS_MAX && (is_slow || waiting.asked.len() > TOGETHER_MAX)
            }
        };
        waiting.tasks += usize::from(is_needed);
        Ok(is_needed)
    }

    /// The next reads that go together, without those whose callers have gone; none ends a task.
    fn next(&self) -> Option<Vec<Asked>> {
        let mut waiting = self.waiting();
        waiting.asked.retain(|asked| !asked.done.is_closed());
        let count = waiting.asked.len().min(TOGETHER_MAX);
        waiting.begun = Some(Instant::now());
        if count == 0 {
            waiting.tasks -= 1;
            return None;
        }
        Some(waiting.asked.drain(..count).collect())
    }

    /// Has work that looks at some records run together with what others want at the same moment; `run` does
    /// it. Returns when it was run.
    pub(super) async fn join<R>(self: &Arc<Self>, places: Vec<Place>, work: Work, run: R) -> Result<(), Fault>
    where
        R: Fn(Work) -> Pending<()> + Send + Sync + 'static,
    {
        let (done, answer) = oneshot::channel();
        if self.add(Asked { places, work, done })? {
            // A task of its own, so that nobody waits in vain when the one who came first goes away.
            tokio::spawn(self.clone().serve(run));
        }
        match tokio::time::timeout(self.wait, answer).await {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(_)) => Err(Fault::new(fault::UNAVAILABLE, "the daemon is stopping")),
            Err(_) => Err(Fault::new(fault::UNAVAILABLE, "the store does not answer").retry_after(1)),
        }
    }

    /// Runs what waits, until nothing does.
    async fn serve<R>(self: Arc<Self>, run: R)
    where
        R: Fn(Work) -> Pending<()>,
    {
        while let Some(asked) = self.next() {
            let (mut places, mut works, mut done) = (BTreeSet::new(), Vec::new(), Vec::new());
            for asked in asked {
                places.extend(asked.places.into_iter().map(|(space, key)| (space.id, key, space.name)));
                works.push(asked.work);
                done.push(asked.done);
            }
            let places: Vec<Place> =
                places.into_iter().map(|(id, key, name)| (Space { id, name }, key)).collect();
            let works = Arc::new(Mutex::new(works));
            let together = works.clone();
            let all: Work = Box::new(move |tx| {
                // What goes wrong here is found by the first who asks.
                let _ = tx.expect_places(&places);
                for work in together.lock().unwrap_or_else(PoisonError::into_inner).iter_mut() {
                    // A defect that one of them meets is not that of the others; its own result stays empty.
                    let _ = catch_unwind(AssertUnwindSafe(|| work(tx)));
                }
            });
            let outcome = run(all).await;
            let works = std::mem::take(&mut *works.lock().unwrap_or_else(PoisonError::into_inner));
            let is_defect = outcome.as_ref().is_err_and(|fault| fault.kind == fault::INTERNAL);
            let is_of_one = is_defect && works.len() > 1;
            for (work, done) in works.into_iter().zip(done) {
                // A record that the store cannot read takes nothing from those who ask for others.
                let _ = done.send(if is_of_one { run(work).await } else { outcome.clone() });
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
    use tokio::task::JoinHandle;

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

    /// Reads that were asked for, those that were run, and the transactions.
    #[derive(Default)]
    struct Counted {
        joint: Arc<Joint>,
        run: AtomicUsize,
        transactions: AtomicUsize,
    }

    impl Counted {
        fn work(self: &Arc<Self>, how: How) -> Work {
            let own = self.clone();
            Box::new(move |_| {
                own.run.fetch_add(1, SeqCst);
                assert!(how != How::Panics, "a defect");
            })
        }

        fn run(self: &Arc<Self>, how: How) -> impl Fn(Work) -> Pending<()> + Send + Sync + 'static {
            let at = self.clone();
            move |mut all| {
                at.transactions.fetch_add(1, SeqCst);
                all(&mut Tx::new(&mut Empty, Timestamp::from_millis(0), false));
                let fault = Fault::new(fault::UNAVAILABLE, "the database is away");
                Box::pin(std::future::ready(if how == How::Fails { Err(fault) } else { Ok(()) }))
            }
        }

        fn join(self: &Arc<Self>, how: How) -> JoinHandle<Result<(), Fault>> {
            let (joint, work, run) = (self.joint.clone(), self.work(how), self.run(how));
            tokio::spawn(async move { joint.join(Vec::new(), work, run).await })
        }

        fn seen(&self) -> (usize, usize) {
            (self.run.swap(0, SeqCst), self.transactions.swap(0, SeqCst))
        }
    }

    #[derive(Clone, Copy, PartialEq, Eq)]
    enum How {
        Works,
        Panics,
        Fails,
    }

    #[tokio::test]
    async fn reads_of_one_moment_share_a_transaction_and_none_takes_anything_from_the_others() {
        let counted = Arc::new(Counted::default());
        let mut answers = Vec::new();
        for _ in 0..3 * TOGETHER_MAX {
            let (work, (done, answer)) = (counted.work(How::Works), oneshot::channel());
            counted.joint.add(Asked { places: Vec::new(), work, done }).unwrap();
            answers.push(answer);
        }
        // One has gone again.
        drop(answers.remove(0));
        counted.joint.clone().serve(counted.run(How::Works)).await;
        for answer in answers {
            assert_eq!(answer.await.unwrap(), Ok(()));
        }
        assert_eq!(counted.seen(), (3 * TOGETHER_MAX - 1, 3));
        let counted = Arc::new(Counted::default());
        for how in [How::Panics, How::Works, How::Fails, How::Works] {
            let two = [counted.join(how), counted.join(How::Works)];
            for read in two {
                assert_eq!(read.await.unwrap().is_err(), how == How::Fails);
            }
            assert_eq!(counted.seen(), (2, 1));
            assert_eq!(counted.joint.waiting().tasks, 0);
        }
    }

    #[tokio::test]
    async fn a_record_that_cannot_be_read_is_the_fault_of_those_alone_who_ask_for_it() {
        let joint = Arc::new(Joint::default());
        let broken = Arc::new(AtomicUsize::new(0));
        let mut answers = Vec::new();
        for number in 0..4 {
            let at = broken.clone();
            let work: Work = Box::new(move |_| {
                at.fetch_add(usize::from(number == 2), SeqCst);
            });
            let (done, answer) = oneshot::channel();
            joint.add(Asked { places: Vec::new(), work, done }).unwrap();
            answers.push(answer);
        }
        joint
            .serve(move |mut work| {
                broken.store(0, SeqCst);
                work(&mut Tx::new(&mut Empty, Timestamp::from_millis(0), false));
                let fault = Fault::new(fault::INTERNAL, "the database refused a statement");
                Box::pin(std::future::ready(if broken.load(SeqCst) == 1 { Err(fault) } else { Ok(()) }))
            })
            .await;
        for (number, answer) in answers.into_iter().enumerate() {
            assert_eq!(answer.await.unwrap().is_err(), number == 2);
        }
    }

    #[tokio::test]
    async fn what_waits_has_a_bound_and_an_end() {
        let joint = Arc::new(Joint { wait: Duration::from_millis(300), ..Joint::default() });
        let join = || {
            let joint = joint.clone();
            let never = |_: Work| -> Pending<()> { Box::pin(std::future::pending()) };
            tokio::spawn(async move { joint.join(Vec::new(), Box::new(|_| ()), never).await })
        };
        let under_way = TRANSACTIONS_MAX * TOGETHER_MAX;
        let mut reads: Vec<_> = (0..under_way).map(|_| join()).collect();
        tokio::time::sleep(Duration::from_millis(50)).await;
        reads.extend((0..=WAITING_MAX).map(|_| join()));
        let mut details = Vec::new();
        for read in reads {
            details.push(read.await.unwrap().unwrap_err().detail.clone());
        }
        let too_many = details.iter().filter(|detail| detail.starts_with("too many")).count();
        assert!((1..=under_way + 1).contains(&too_many), "{too_many}");
        assert!(details[..under_way].iter().all(|detail| detail == "the store does not answer"));
    }
}
