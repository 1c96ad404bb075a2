//! One serializable transaction for each request, over one of several engines.
//!
//! [`Store::read`] and [`Store::write`] run an operation against a [`Tx`]. If it fails, nothing was
//! written; when `write` returns, what was written is durable and visible.

pub mod backup;
pub mod check;
mod clearing;
pub mod embedded;
pub mod engine;
mod expired;
pub mod export;
pub mod figures;
mod given;
mod held_up;
pub mod image_check;
mod image_holds;
pub mod images;
mod joint;
pub mod key_file;
pub mod keys;
pub mod layer;
pub mod limits;
mod locks;
mod named;
pub mod noted;
pub mod objects;
mod overlay;
pub mod postgres;
mod reading;
pub mod record;
pub mod records;
mod references;
pub mod seal;
mod secrets;
pub mod seed;
mod shelved;
pub mod space;
pub mod trail;
pub mod transfer;
pub mod tx;
pub mod unlock;
mod with_images;

use crate::clock::Clock;
use crate::domain::calendar::Calendar;
use crate::domain::numbers::ListNumbers;
use crate::domain::webhook::Receivers;
use engine::{Commit, Engine, Pending, WriteWork};
use expired::Expired;
use given::Given;
use images::{Images, Uses};
use joint::Joint;
use mfa_shared::fault::{self, Fault};
use seal::Keys;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
pub use tx::Tx;

/// Work that writes; its result goes to its caller past the store, so that the store is one piece of code for
/// all kinds of results.
type Work = Box<dyn FnMut(&mut Tx<'_>) -> Result<(), Fault> + Send>;

/// How an engine runs work that writes: one of its methods.
type Way = fn(&dyn Engine, WriteWork) -> Pending<()>;

/// The store of a daemon.
#[derive(Debug, Clone)]
pub struct Store {
    engine: Arc<dyn Engine>,
    images: Arc<Images>,
    given: Given,
    expired: Arc<Expired>,
    joint: Arc<Joint>,
}

impl Store {
    /// Whether this is the last handle, with which the engine ends. A read that takes long has one, and the
    /// engine may be reading its journal for someone who has gone.
    pub fn is_held_once(&self) -> bool {
        Arc::strong_count(&self.engine) == 1 && !self.engine.is_busy()
    }

    /// Puts transactions on top of an engine; `strict` makes every descriptive reference a checked one.
    pub fn new(engine: impl Engine, clock: Clock, strict: bool) -> Self {
        Self::over(Arc::new(engine), clock, strict)
    }

    /// A store over an engine of any kind.
    pub fn over(engine: Arc<dyn Engine>, clock: Clock, strict: bool) -> Self {
        let images = Arc::new(Images::new(engine.objects()));
        let (given, expired, joint) = (Given::new(clock, strict), Arc::default(), Arc::default());
        Self { engine, images, given, expired, joint }
    }

    /// The same store with the keys of its secrets.
    pub fn with_keys(mut self, keys: Keys) -> Self {
        self.given.keys = Some(Arc::new(keys));
        self
    }

    /// The same store where events may be delivered to these receivers.
    pub fn with_receivers(mut self, receivers: Receivers) -> Self {
        self.given.receivers = Arc::new(receivers);
        self
    }

    /// What came and went on each day, for reports.
    pub fn calendar(&self) -> &Arc<RwLock<Calendar>> {
        &self.given.calendar
    }

    /// What is known of long lists and of the trail.
    pub fn numbers(&self) -> &ListNumbers {
        &self.given.numbers
    }

    /// The clock of the store's transactions.
    pub fn clock(&self) -> &Clock {
        &self.given.clock
    }

    /// Runs `work` as one serializable transaction; `request` names the request in the audit trail. Work
    /// may run more than once, so it takes everything by reference and has no effect outside the `Tx`.
    pub async fn write<T, F>(&self, request: &str, work: F) -> Result<T, Fault>
    where
        T: Send + 'static,
        F: FnMut(&mut Tx<'_>) -> Result<T, Fault> + Send + 'static,
    {
        self.run(request, work, Engine::write).await
    }

    /// The same for work of which nothing stays but what it writes (see [`Engine::write_rehearsed`]).
    pub async fn write_rehearsed<T, F>(&self, request: &str, work: F) -> Result<T, Fault>
    where
        T: Send + 'static,
        F: FnMut(&mut Tx<'_>) -> Result<T, Fault> + Send + 'static,
    {
        self.run(request, work, Engine::write_rehearsed).await
    }

    /// The same for work that reads and writes hundreds of records (see [`Engine::write_alone`]).
    pub async fn write_alone<T, F>(&self, request: &str, work: F) -> Result<T, Fault>
    where
        T: Send + 'static,
        F: FnMut(&mut Tx<'_>) -> Result<T, Fault> + Send + 'static,
    {
        self.run(request, work, Engine::write_alone).await
    }

    /// As [`Store::write_alone`] where it is `long`, else as [`Store::write`], for work that is not begun
    /// once its caller has gone away. All other work is carried out nevertheless.
    pub async fn write_awaited<T, F>(&self, request: &str, long: bool, mut work: F) -> Result<T, Fault>
    where
        T: Send + 'static,
        F: FnMut(&mut Tx<'_>) -> Result<T, Fault> + Send + 'static,
    {
        let caller = Arc::new(());
        let waits = Arc::downgrade(&caller);
        let work = move |tx: &mut Tx<'_>| match waits.strong_count() {
            0 => Err(Fault::new(fault::UNAVAILABLE, "nobody waits for this change any more")),
            _ => work(tx),
        };
        let way = if long { Engine::write_alone } else { Engine::write };
        let done = self.run(request, work, way).await;
        drop(caller);
        done
    }

    /// The same for work that no other work can lead astray, but for what both write (see
    /// [`Engine::write_on_snapshot`]).
    pub async fn write_on_snapshot<T, F>(&self, request: &str, work: F) -> Result<T, Fault>
    where
        T: Send + 'static,
        F: FnMut(&mut Tx<'_>) -> Result<T, Fault> + Send + 'static,
    {
        self.run(request, work, Engine::write_on_snapshot).await
    }

    async fn run<T, F>(&self, request: &str, work: F, way: Way) -> Result<T, Fault>
    where
        T: Send + 'static,
        F: FnMut(&mut Tx<'_>) -> Result<T, Fault> + Send + 'static,
    {
        let (work, slot) = apart(work);
        self.carry_out(request, work, way).await?;
        slot.take()
    }

    fn carry_out(&self, request: &str, work: Work, way: Way) -> Pending<()> {
        let store = self.clone();
        let request = request.to_owned();
        finished(Box::pin(async move {
            let (outcome, uses) = store.decide(request, work, way).await?;
            store.remove_unused(&uses).await;
            outcome
        }))
    }

    /// Runs `work` and says what it did to the uses of images. The outer fault is the engine's.
    async fn decide(
        &self,
        request: String,
        mut work: Work,
        way: Way,
    ) -> Result<(Result<(), Fault>, Uses), Fault> {
        let (given, expired, shared) = (self.given.clone(), self.expired.clone(), self.is_shared());
        let (slot, filled) = slot();
        let write = move |view: &mut dyn engine::View| {
            let mut tx = given.tx(view).with_expired(expired.clone());
            let mut outcome = work(&mut tx);
            let mut keep = tx.writes_after(outcome.is_ok());
            if keep && let Err(fault) = trail::write(&mut tx, outcome.is_ok(), shared) {
                (outcome, keep) = (Err(fault), false);
            }
            let time = tx.now();
            let actor = tx.actor().to_owned();
            let changes = if keep { tx.into_changes() } else { Vec::new() };
            let uses = Uses::of(&changes);
            if !matches!(uses.are_there(view), Ok(true)) {
                filled.fill(Err(removed_meanwhile()));
                return None;
            }
            filled.fill(Ok((outcome, uses)));
            (!changes.is_empty()).then(|| Commit { time, actor, request: request.clone(), changes })
        };
        way(&*self.engine, Box::new(write)).await?;
        slot.take()
    }

    /// Why writes are refused at present, if they are.
    pub fn write_fault(&self) -> Option<Fault> {
        self.engine.write_fault()
    }

    /// Why the last write was refused, if the next one may be taken: a full disk.
    pub fn pressing_fault(&self) -> Option<Fault> {
        self.engine.pressing_fault()
    }

    /// Why the store will take no writes until a person has looked at it, if that is so.
    pub fn final_fault(&self) -> Option<Fault> {
        self.engine.final_fault()
    }

    /// The place in the journal from which to follow what is committed from now on; see
    /// [`Engine::changed_since`].
    pub async fn place(&self) -> Result<engine::Followed, Fault> {
        Ok(self.engine.changed_since(None, 0, &[]).await?.followed)
    }

    /// The keys of some spaces that were changed by about `limit` commits that were not seen yet; see
    /// [`Engine::changed_since`].
    pub async fn changed_since(
        &self,
        followed: engine::Followed,
        limit: usize,
        spaces: &[engine::Space],
    ) -> Result<engine::Changed, Fault> {
        self.engine.changed_since(Some(followed), limit, spaces).await
    }

    /// The keys of a space that were put by commits after a place in the journal, in the order of the
    /// commits; see [`Engine::put_since`].
    pub async fn put_since(
        &self,
        space: engine::Space,
        after: u64,
        limit: usize,
    ) -> Result<engine::Put, Fault> {
        self.engine.put_since(space, after, limit).await
    }

    /// Whether other daemons may commit to it, too.
    pub fn is_shared(&self) -> bool {
        self.engine.is_shared()
    }

    /// What the engine counts and measures about itself.
    pub async fn figures(&self) -> Result<figures::Figures, Fault> {
        let engine = self.engine.clone();
        let stopping = |_| Fault::new(fault::UNAVAILABLE, "the daemon is stopping");
        // Sizes and dates of files are asked of the disk.
        tokio::task::spawn_blocking(move || engine.figures()).await.map_err(stopping)
    }

    /// What is not right about the files of the engine, or was not when it opened.
    pub async fn troubles(&self) -> Result<Vec<engine::Trouble>, Fault> {
        self.engine.troubles().await
    }

    /// Finishes running work and closes the engine.
    pub async fn close(&self) {
        if let Err(fault) = self.engine.close().await {
            tracing::error!(%fault, "the store did not close cleanly");
        }
    }
}

/// Another daemon has removed the image after this one had kept it, since no record named it yet.
fn removed_meanwhile() -> Fault {
    Fault::new(fault::UNAVAILABLE, "the same image was removed at this moment; send it again").retry_after(1)
}

/// Finishes what was begun even if no one waits for it any more: a client that goes away in the middle of a
/// write must not separate a record from its image.
fn finished(work: Pending<()>) -> Pending<()> {
    let stopping = |_| Fault::new(fault::UNAVAILABLE, "the daemon is stopping");
    Box::pin(async move { tokio::spawn(work).await.map_err(stopping)? })
}

/// Work, and where its result is found once it was carried out.
fn apart<T, F>(mut work: F) -> (Work, Slot<T>)
where
    T: Send + 'static,
    F: FnMut(&mut Tx<'_>) -> Result<T, Fault> + Send + 'static,
{
    let (slot, filled) = slot();
    (Box::new(move |tx| work(tx).map(|done| filled.fill(Ok(done)))), slot)
}

/// The result of work, for the waiting caller.
struct Slot<T>(Arc<Mutex<Option<Result<T, Fault>>>>);

fn slot<T>() -> (Slot<T>, Slot<T>) {
    let place = Arc::new(Mutex::new(None));
    (Slot(place.clone()), Slot(place))
}

impl<T> Slot<T> {
    fn fill(&self, outcome: Result<T, Fault>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome);
    }

    fn is_filled(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    fn take(&self) -> Result<T, Fault> {
        let outcome = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        // An engine that reports success has run the work.
        outcome.unwrap_or_else(|| Err(Fault::new(fault::INTERNAL, "the work of a transaction was not run")))
    }
}

#[cfg(test)]
mod tests {
    use super::embedded::{Embedded, Options};
    use super::*;
    use std::sync::mpsc::{Receiver, Sender, channel};
    use std::time::Duration;

    /// Once nobody waits for work that has begun, it holds the store until it ends.
    fn holds_the_store_until_it_ends<F>(work: impl FnOnce(Store, Sender<()>, Receiver<()>) -> F)
    where
        F: Future<Output: Send> + Send + 'static,
    {
        let folder = tempfile::tempdir().unwrap();
        let open = || Embedded::open(Options::new(folder.path()));
        let store = Store::new(open().unwrap(), Clock::system(), false);
        let (begun, begins) = channel();
        let (end, ends) = channel();
        tokio::runtime::Runtime::new().unwrap().block_on(async {
            let works = tokio::spawn(work(store.clone(), begun, ends));
            begins.recv().unwrap();
            works.abort();
            assert!(works.await.is_err());
            store.close().await;
            assert!(!store.is_held_once());
            end.send(()).unwrap();
            while !store.is_held_once() {
                tokio::task::yield_now().await;
            }
        });
        drop(store);
        open().unwrap();
    }

    #[test]
    fn a_read_that_nobody_waits_for_holds_the_store_until_it_ends() {
        holds_the_store_until_it_ends(|store, begun, ends| async move {
            let work = move |_: &mut Tx<'_>| {
                begun.send(()).unwrap();
                ends.recv().unwrap();
                Ok(())
            };
            store.read(true, work).await
        });
    }

    #[test]
    fn work_that_nobody_awaits_is_not_begun_and_the_next_is() {
        let folder = tempfile::tempdir().unwrap();
        let embedded = Embedded::open(Options::new(folder.path())).unwrap();
        let store = Store::new(embedded, Clock::system(), false);
        let ((begun, begins), (end, ends), (did, done)) = (channel(), channel(), channel());
        let holds = move |_: &mut Tx<'_>| {
            begun.send(()).unwrap();
            ends.recv().map_err(|_| Fault::new(fault::INTERNAL, "the test has ended"))
        };
        let step = |name: &'static str| {
            let did = did.clone();
            move |_: &mut Tx<'_>| {
                did.send(name).map_err(|_| Fault::new(fault::INTERNAL, "the test has ended"))
            }
        };
        tokio::runtime::Runtime::new().unwrap().block_on(async {
            let first = store.clone();
            let first = tokio::spawn(async move { first.write_awaited("test", true, holds).await });
            begins.recv().unwrap();
            let mut gone = Box::pin(store.write_awaited("test", false, step("gone")));
            tokio::select! {
                biased;
                _ = &mut gone => panic!("two changes at once"),
                () = tokio::time::sleep(Duration::from_millis(20)) => drop(gone),
            }
            // What was begun is carried out to its end.
            first.abort();
            end.send(()).unwrap();
            store.write_awaited("test", false, step("awaited")).await.unwrap();
        });
        drop(store);
        drop(did);
        assert_eq!(done.iter().collect::<Vec<_>>(), ["awaited"]);
    }

    #[test]
    fn work_on_the_journal_that_nobody_waits_for_holds_the_store_until_it_ends() {
        holds_the_store_until_it_ends(|store, begun, ends| async move {
            let changes = |tx: &mut Tx<'_>| {
                let (instance, created_on) = ("0".repeat(32), tx.now());
                tx.put(&records::StoreFacts { instance, created_on, form: 0, program: None })
            };
            store.write("test", changes).await.unwrap();
            let visit = move |_| {
                begun.send(()).unwrap();
                ends.recv().unwrap();
            };
            store.engine.replay(Box::new(visit)).await
        });
    }
}
