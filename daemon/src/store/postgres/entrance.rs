//! Where work is handed over to the connections.

use super::journal::{self, Asked};
use super::lane::{Job, Work};
use super::shared::Shared;
use super::trouble::unavailable;
use super::turns::{self, Answer, Beside, Writing, waited_in_vain};
use crate::store::engine::{Commit, Pending, WriteWork};
use mfa_shared::fault::{Fault, INTERNAL};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

/// How long a request waits for a connection.
const WAIT: Duration = Duration::from_secs(5);
/// A group that takes so long does not hold up those that come after it.
const SLOW: Duration = Duration::from_millis(250);

/// The entrances of the queues; gone once the engine is closed.
#[derive(Debug, Clone)]
pub(super) struct Queues {
    pub(super) short: mpsc::Sender<Job>,
    pub(super) long: mpsc::Sender<Job>,
}

/// Where work is handed over.
#[derive(Debug, Clone)]
pub(super) struct Entrance {
    pub(super) shared: Arc<Shared>,
    pub(super) queues: Arc<Mutex<Option<Queues>>>,
}

impl Entrance {
    /// A page of the journal, up to what is final.
    pub(super) fn page(&self, after: u64, limit: usize) -> Pending<Vec<(u64, Commit)>> {
        self.whole(journal::Page::new(after, limit, false, Asked::Whole), false)
    }

    /// A page of a journal that stands still, for one who reads all of it.
    pub(super) fn page_of_all(&self, after: u64, limit: usize) -> Pending<Vec<(u64, Commit)>> {
        self.whole(journal::Page::new(after, limit, true, Asked::Whole), true)
    }

    fn whole(&self, page: (journal::Slot, journal::Page), long: bool) -> Pending<Vec<(u64, Commit)>> {
        let read = self.read(page, long);
        Box::pin(async move { Ok(read.await?.commits) })
    }

    /// Keys of a page of the journal.
    pub(super) fn keys(&self, after: u64, limit: usize, asked: Asked) -> Pending<journal::Read> {
        self.read(journal::Page::new(after, limit, false, asked), false)
    }

    /// The last visible commit, whatever may still come before it.
    pub(super) fn last(&self) -> Pending<u64> {
        let read = self.read(journal::Page::new(0, 0, true, Asked::Whole), false);
        Box::pin(async move { Ok(read.await?.end) })
    }

    fn read(&self, (slot, page): (journal::Slot, journal::Page), long: bool) -> Pending<journal::Read> {
        let done = self.submit(Work::Journal(page), long);
        Box::pin(async move {
            done.await?;
            Ok(std::mem::take(&mut *slot.lock().unwrap_or_else(PoisonError::into_inner)))
        })
    }

    /// Jobs that no connection has taken yet, and work that waits for its turn.
    pub(super) fn waiting(&self) -> u64 {
        let queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
        let waiting = |queue: &mpsc::Sender<Job>| (queue.max_capacity() - queue.capacity()) as u64;
        let queued = queues.as_ref().map_or(0, |queues| waiting(&queues.short) + waiting(&queues.long));
        queued + (self.shared.turns.waiting() + self.shared.groups.len()) as u64
    }

    /// Hands work over when it is its turn to write, and again if it has to wait for another one.
    pub(super) fn write(&self, work: WriteWork, beside: Beside) -> Pending<()> {
        let entrance = self.clone();
        Box::pin(async move {
            let mut writing = Box::new(Writing::new(work, beside));
            if beside == Beside::OthersRehearsed {
                let work = &mut writing.work;
                writing.foreseen = entrance.shared.seen.rehearse(&mut |view| drop(work(view))).places;
                match entrance.join(writing).await? {
                    Answer::Done(answer) => return answer,
                    Answer::Waits(again) => writing = again,
                }
            }
            loop {
                if let Some(fault) = entrance.shared.fault() {
                    return Err(fault);
                }
                entrance.shared.turns.wait(&mut writing).await?;
                match entrance.hand_over(Work::Write(writing), false).await? {
                    Answer::Done(answer) => return answer,
                    Answer::Waits(again) => writing = again,
                }
            }
        })
    }

    /// Has work run in a group.
    async fn join(&self, writing: Box<Writing>) -> Result<Answer, Fault> {
        let groups = &self.shared.groups;
        let mut added = groups.add(writing)?;
        if added.needs_leader {
            self.clone().lead();
        }
        let answer = match timeout(turns::WAIT, &mut added.answer).await {
            Ok(answer) => answer,
            Err(_) if groups.take_back(added.number) => return Err(waited_in_vain()),
            // It runs.
            Err(_) => added.answer.await,
        };
        answer.map_err(|_| unavailable("the store is closed"))
    }

    /// Runs one group after the other as long as changes wait, and calls another leader where one takes long.
    fn lead(self) {
        tokio::spawn(async move {
            let groups = &self.shared.groups;
            while groups.goes_on() {
                let led = async {
                    let held = self.shared.turns.beside_others().await?;
                    let mut run = self.hand_over(Work::Group(held), false);
                    loop {
                        match timeout(SLOW, &mut run).await {
                            Ok(run) => return run.map(drop),
                            Err(_) if groups.another() => self.clone().lead(),
                            Err(_) => {}
                        }
                    }
                };
                if let Err(fault) = led.await {
                    groups.refuse(&fault);
                }
            }
        });
    }

    /// Hands work over that needs no turn; for work that reads long there are connections of their own.
    pub(super) fn submit(&self, work: Work, long: bool) -> Pending<()> {
        let answer = self.hand_over(work, long);
        Box::pin(async move {
            match answer.await? {
                Answer::Done(answer) => answer,
                Answer::Waits(_) => Err(Fault::new(INTERNAL, "what only reads waits for its turn to write")),
            }
        })
    }

    fn hand_over(&self, work: Work, long: bool) -> Pending<Answer> {
        let queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let refusal = self.shared.fault();
        let (Some(queues), None) = (queues, refusal.clone()) else {
            let fault = refusal.unwrap_or_else(|| unavailable("the store is closed"));
            return Box::pin(std::future::ready(Err(fault)));
        };
        let (answer, answered) = oneshot::channel();
        let taken = Arc::new(AtomicBool::new(false));
        let job = Job { work, answer, taken: taken.clone() };
        let queue = if long { queues.long } else { queues.short };
        // Counted before a lane can take it.
        self.shared.reserve(long).come();
        if queue.try_send(job).is_err() {
            self.shared.reserve(long).taken();
            return Box::pin(std::future::ready(Err(unavailable("too many requests wait for the database"))));
        }
        Box::pin(async move {
            let mut answered = answered;
            let outcome = match timeout(WAIT, &mut answered).await {
                Ok(outcome) => outcome,
                // The first to set the mark decides whether the work is run.
                Err(_) if !taken.swap(true, SeqCst) => {
                    return Err(unavailable("no connection to the database became free in time"));
                }
                Err(_) => answered.await,
            };
            outcome.map_err(|_| unavailable("the store is closed"))
        })
    }
}
