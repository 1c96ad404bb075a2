//! One thread with one connection: it connects, takes jobs, and connects again when that is over.

use super::address::Server;
use super::claim::Claim;
use super::commit::{Ended, read, write, write_group};
use super::journal::{Page, read_page};
use super::questions::{self, Errand};
use super::reserve::Reserve;
use super::session::{self, Session};
use super::shared::Shared;
use super::trouble::Trouble;
use super::turns::{Answer, Held, Writing};
use super::unconfirmed::ANY_WAITS;
use crate::store::engine::ReadWork;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::sync::{mpsc, oneshot};

/// The server's limit on one statement.
const STATEMENT_LIMIT: Duration = Duration::from_secs(5);
/// The same for reads that take long.
const LONG_STATEMENT_LIMIT: Duration = Duration::from_secs(60);
/// Pause after all servers have refused.
const PAUSE: Duration = Duration::from_millis(200);

/// What is to be done.
pub(super) enum Work {
    /// Work that only reads.
    Read(ReadWork),
    /// Work that may write, whose turn it is.
    Write(Box<Writing>),
    /// The next group of changes, whose turn it is.
    Group(Held),
    /// A page of the journal.
    Journal(Page),
    /// A question about images.
    Object(Errand),
}

impl Work {
    /// Whether it may end in a commit that lasts.
    fn commits(&self) -> bool {
        match self {
            Self::Write(_) | Self::Group(_) => true,
            Self::Object(errand) => errand.question.commits(),
            Self::Read(_) | Self::Journal(_) => false,
        }
    }
}

/// Work, and the channel to the caller who waits for it.
pub(super) struct Job {
    pub(super) work: Work,
    pub(super) answer: oneshot::Sender<Answer>,
    /// Set by the first of two: the lane that runs it, or the caller who does not wait any longer.
    pub(super) taken: Arc<AtomicBool>,
}

impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Job").finish_non_exhaustive()
    }
}

/// The exit of a queue, for several lanes.
#[derive(Debug, Clone)]
pub(super) struct Queue(Arc<tokio::sync::Mutex<mpsc::Receiver<Job>>>);

impl Queue {
    /// The exit of a channel.
    pub(super) fn new(jobs: mpsc::Receiver<Job>) -> Self {
        Self(Arc::new(tokio::sync::Mutex::new(jobs)))
    }

    async fn next(&self, reserve: &Reserve) -> Option<Job> {
        let free = reserve.free();
        let job = self.0.lock().await.recv().await;
        drop(free);
        if job.is_some() {
            reserve.taken();
        }
        job
    }
}

/// A thread with a connection.
#[derive(Debug)]
pub(super) struct Lane {
    shared: Arc<Shared>,
    jobs: Queue,
    long: bool,
    claim: Claim,
    /// Whether it connects only when it is needed.
    waits: bool,
}

impl Lane {
    /// A lane for the jobs of a queue, which may be that for reads that take long.
    pub(super) fn new(shared: Arc<Shared>, jobs: Queue, long: bool, claim: Claim, waits: bool) -> Self {
        Self { shared, jobs, long, claim, waits }
    }

    /// Runs until the store is closed.
    pub(super) fn run(self) {
        let runtime = match session::runtime() {
            Ok(runtime) => runtime,
            Err(error) => return tracing::error!(%error, "a thread of the store cannot work"),
        };
        let limit = if self.long { LONG_STATEMENT_LIMIT } else { STATEMENT_LIMIT };
        let reserve = self.shared.reserve(self.long);
        while !self.shared.closing.load(SeqCst) {
            // Counted as free until it is connected, or cannot be.
            let called = if self.waits { runtime.block_on(reserve.needed()) } else { None };
            if self.waits && called.is_none() {
                return;
            }
            let open =
                |server: &Server| runtime.block_on(Session::open(&self.shared, server, limit, self.claim));
            let opened = session::first(&self.shared, open);
            drop(called);
            match opened {
                Ok(session) => {
                    self.shared.connected.fetch_add(1, SeqCst);
                    let done = self.serve(&runtime, session);
                    self.shared.connected.fetch_sub(1, SeqCst);
                    if done {
                        return;
                    }
                    if self.claim == Claim::Alone {
                        self.shared.lose_alone();
                    }
                }
                // It is over, and that is in the log.
                Err(Trouble::Lacks(_)) => return,
                Err(trouble) => {
                    self.shared.note(&trouble);
                    std::thread::sleep(PAUSE);
                }
            }
            // The jobs that called this lane may still wait.
            reserve.call();
        }
    }

    /// Whether the connection can go on: the clock may have been set since it was made. And where commits
    /// were not confirmed, it asks now and then whether any of them still waits.
    fn look_around(&self, session: &mut Session, runtime: &Runtime) -> Result<(), Trouble> {
        if let Some(clock) = &self.shared.clock {
            session.compare_clocks(runtime, clock)?;
        }
        let unconfirmed = &self.shared.unconfirmed;
        if unconfirmed.is_to_ask() {
            let row = session.wait(runtime, session.client.query_one(ANY_WAITS, &[]))?;
            if !row.try_get::<_, bool>(0)? {
                unconfirmed.clear();
            }
        }
        Ok(())
    }

    /// Does jobs until the connection is lost, or all is done.
    fn serve(&self, runtime: &Runtime, mut session: Session) -> bool {
        loop {
            let job = runtime.block_on(async {
                tokio::select! {
                    () = session.ended() => None,
                    job = self.jobs.next(self.shared.reserve(self.long)) => Some(job),
                }
            });
            let Some(job) = job else { return false };
            let Some(job) = job else { return true };
            if job.taken.swap(true, SeqCst) {
                continue;
            }
            if let Some(fault) = self.shared.over() {
                let _ = job.answer.send(Answer::Done(Err(fault)));
                continue;
            }
            if let Err(trouble) = self.look_around(&mut session, runtime) {
                let _ = job.answer.send(Answer::Done(Ended::from(trouble).answer));
                return false;
            }
            if let Some(fault) = self.shared.unconfirmed.fault().filter(|_| job.work.commits()) {
                if matches!(job.work, Work::Group(_)) {
                    self.shared.groups.refuse(&fault);
                }
                let _ = job.answer.send(Answer::Done(Err(fault)));
                continue;
            }
            let done = match job.work {
                Work::Read(mut work) => Ok(read(&session, runtime, &self.shared.seen, self.long, &mut work)),
                Work::Write(writing) => write(&session, runtime, &self.shared, writing),
                Work::Group(_held) => Ok(write_group(&session, runtime, &self.shared)),
                Work::Journal(page) => Ok(read_page(&session, runtime, &self.shared, &page)),
                Work::Object(errand) => Ok(questions::run(&session, runtime, &errand)),
            };
            let (answer, usable) = match done {
                Ok(Ended { answer, usable }) => (Answer::Done(answer), usable),
                Err(writing) => (Answer::Waits(writing), true),
            };
            // The caller may have gone away; what was committed stays.
            let _ = job.answer.send(answer);
            if !usable {
                return false;
            }
        }
    }
}
