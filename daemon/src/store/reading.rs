//! Transactions that only read: each by itself, or together with those of the same moment.

use super::engine::{Pending, Space, View};
use super::{Store, Tx, joint, slot};
use mfa_shared::fault::Fault;

impl Store {
    /// Runs `work` on one consistent state. Work that looks at many records says that it is `long`.
    pub async fn read<T, F>(&self, long: bool, mut work: F) -> Result<T, Fault>
    where
        T: Send + 'static,
        F: FnMut(&mut Tx<'_>) -> Result<T, Fault> + Send + 'static,
    {
        let (slot, filled) = slot();
        self.look(Box::new(move |tx| filled.fill(work(tx))), long).await?;
        slot.take()
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
