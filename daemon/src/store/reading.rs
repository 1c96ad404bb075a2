//! Transactions that only read: each by itself, or together with those of the same moment.

use super::engine::{Pending, Space, View};
use super::held_up::HeldUp;
use super::{Store, Tx, joint, slot};
use mfa_shared::fault::Fault;

/// How far work has come.
enum Come<T, F> {
    /// To its end.
    Done(Result<T, Fault>),
    /// To where it has to wait for somebody else's; it begins again then.
    HeldUp(F, HeldUp),
}

impl Store {
    /// Runs `work` on one consistent state. Work that looks at many records says that it is `long`. While it
    /// waits for work of others ([`Tx::lock_name`]), it has no transaction, and no place among those that
    /// read.
    pub async fn read<T, F>(&self, long: bool, mut work: F) -> Result<T, Fault>
    where
        T: Send + 'static,
        F: FnMut(&mut Tx<'_>) -> Result<T, Fault> + Send + 'static,
    {
        let mut latest = None;
        loop {
            let (slot, filled) = slot();
            let mut own = Some(work);
            let read: joint::Work = Box::new(move |tx| {
                let Some(mut work) = own.take() else { return };
                tx.limits.latest = latest;
                let done = work(tx);
                if let Some(held_up) = tx.held_up.take() {
                    return filled.fill(Ok(Come::HeldUp(work, held_up)));
                }
                own = Some(work);
                filled.fill(Ok(Come::Done(done)));
            });
            self.look(read, long).await?;
            match slot.take()? {
                Come::Done(done) => return done,
                Come::HeldUp(again, held_up) => {
                    let until = held_up.over().await?;
                    (work, latest) = (again, latest.or(until));
                }
            }
        }
    }

    /// The same for short reads of the same few records, these among them. On an engine on another machine
    /// they go together with what others read at this moment.
    pub async fn read_jointly<T, F>(&self, places: Vec<(Space, Vec<u8>)>, mut work: F) -> Result<T, Fault>
    where
        T: Send + 'static,
        F: FnMut(&mut Tx<'_>) -> Result<T, Fault> + Send + 'static,
    {
        if !self.is_shared() {
            return self.read(false, work).await;
        }
        let (slot, filled) = slot();
        let store = self.clone();
        let run = move |all| store.look(all, false);
        let joined = self.joint.join(places, Box::new(move |tx| filled.fill(work(tx))), run).await;
        // What went wrong behind it takes nothing from what was read.
        match joined {
            Err(fault) if !slot.is_filled() => Err(fault),
            _ => slot.take(),
        }
    }

    /// The same for short reads of which nothing stays but their result: which records they read is found out
    /// by a rehearsal (`Engine::rehearse`).
    pub async fn read_rehearsed<T, F>(&self, long: bool, mut work: F) -> Result<T, Fault>
    where
        T: Send + 'static,
        F: FnMut(&mut Tx<'_>) -> Result<T, Fault> + Send + 'static,
    {
        if !self.is_shared() {
            return self.read(long, work).await;
        }
        // Without the numbers of lists: what is found on a state that never was must not be kept there.
        match self.engine.rehearse(&mut |view| drop(work(&mut self.given.tx(view)))) {
            Some(places) => self.read_jointly(places, work).await,
            // What it asks for one after the other would hold up the others.
            None => self.read(long, work).await,
        }
    }

    /// Runs long `work` that reads only what no one else changes, once it is written. No one has to keep a
    /// moment for it, as for other long reads: then each write looks up what was there before.
    pub async fn read_latest<T, F>(&self, mut work: F) -> Result<T, Fault>
    where
        T: Send + 'static,
        F: FnMut(&mut Tx<'_>) -> Result<T, Fault> + Send + 'static,
    {
        let (slot, filled) = slot();
        let (given, held) = (self.given.clone(), self.engine.clone());
        let read = move |view: &mut dyn View| {
            let _held = &held;
            // Without the numbers of lists, which are those of a moment.
            filled.fill(work(&mut given.tx(view)));
        };
        self.engine.read_latest(Box::new(read)).await?;
        slot.take()
    }

    fn look(&self, mut work: joint::Work, long: bool) -> Pending<()> {
        let given = self.given.clone();
        // A read that takes long goes on where nobody waits for it any more, and its engine stays open.
        let held = long.then(|| self.engine.clone());
        let read = move |view: &mut dyn View| {
            let _held = &held;
            work(&mut given.reading(view));
        };
        self.engine.read(Box::new(read), long)
    }
}

#[cfg(test)]
mod tests {
    use crate::clock::{Clock, Deadline};
    use crate::domain::named_locks::NamedLocks;
    use crate::store::embedded::{Embedded, Options};
    use crate::store::{Store, Tx};
    use mfa_shared::fault::Fault;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
    use std::time::Duration;
    use tokio::task::JoinHandle;

    /// Reads of a store that all do the same work once.
    #[derive(Clone)]
    struct Reads {
        store: Store,
        locks: Arc<NamedLocks<&'static str>>,
        begun: Arc<AtomicUsize>,
    }

    impl Reads {
        fn new(folder: &std::path::Path) -> Self {
            let store = Store::new(Embedded::open(Options::new(folder)).unwrap(), Clock::system(), false);
            Self { store, locks: Arc::default(), begun: Arc::default() }
        }

        /// Waits for the work of others for so long at most.
        fn begin(&self, patience: Duration) -> JoinHandle<Result<(), Fault>> {
            let Self { store, locks, begun } = self.clone();
            tokio::spawn(async move {
                let look = move |tx: &mut Tx<'_>| {
                    begun.fetch_add(1, SeqCst);
                    tx.until(Deadline::after(patience), "too long", |tx| {
                        tx.lock_name(&locks, &"list").map(drop)
                    })
                };
                store.read(true, look).await
            })
        }

        async fn have_begun(&self, count: usize) {
            while self.begun.load(SeqCst) < count {
                tokio::task::yield_now().await;
            }
        }
    }

    /// Far more than there are threads for long reads.
    const MANY: usize = 200;

    #[tokio::test(flavor = "multi_thread")]
    async fn reads_that_wait_for_the_work_of_another_take_no_place_from_the_others() {
        let folder = tempfile::tempdir().unwrap();
        let reads = Reads::new(folder.path());
        let locked = reads.locks.try_lock(&"list").unwrap();
        let waiting: Vec<_> = (0..MANY).map(|_| reads.begin(Duration::from_secs(60))).collect();
        reads.have_begun(MANY).await;
        assert_eq!(reads.store.read(true, |_| Ok(7)).await, Ok(7), "of another list");
        drop(locked);
        for read in waiting {
            assert_eq!(read.await.unwrap(), Ok(()));
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_read_waits_for_the_work_of_others_until_its_first_deadline() {
        let folder = tempfile::tempdir().unwrap();
        let Reads { store, begun, .. } = Reads::new(folder.path());
        let tries = begun.clone();
        // Each time another one comes first, for a while.
        let look = move |tx: &mut Tx<'_>| {
            begun.fetch_add(1, SeqCst);
            let locks: &'static NamedLocks<&'static str> = Box::leak(Box::default());
            let locked = locks.try_lock(&"list").unwrap();
            std::thread::spawn(move || {
                std::thread::sleep(Duration::from_millis(150));
                drop(locked);
            });
            let deadline = Deadline::after(Duration::from_millis(600));
            tx.until(deadline, "too long", |tx| tx.lock_name(locks, &"list").map(drop))
        };
        assert_eq!(store.read(true, look).await.unwrap_err().detail, "too long");
        let tries = tries.load(SeqCst);
        assert!((2..6).contains(&tries), "it waited for {tries} others");
    }
}
