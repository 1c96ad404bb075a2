//! Work that one daemon does for all that share a store.

use crate::clock::Deadline;
use crate::ops::turn::{self, Turn, Work};
use crate::random;
use crate::store::seed::SYSTEM_ACTOR;
use crate::store::{Store, Tx};
use std::time::Duration;

/// How often the working daemon gives a sign of life, and after which silence another takes over.
const BEAT: Duration = Duration::from_secs(1);
const SILENCE_MAX: Duration = Duration::from_secs(5);

/// Whether this daemon is the one that does it.
#[derive(Debug)]
pub struct Ours {
    work: Work,
    name: String,
    /// Until when it need not say so again.
    said: Option<Deadline>,
    /// The signs of life of another one, and how long its silence is waited for.
    theirs: Option<(u64, Deadline)>,
}

impl Ours {
    /// No one is known to do it yet.
    pub fn of(work: Work) -> Self {
        Self { work, name: random::hex::<16>(), said: None, theirs: None }
    }

    /// Makes this daemon the one who works, unless another one does.
    pub async fn is_it(&mut self, store: &Store) -> bool {
        if !store.is_shared() || self.said.is_some_and(|said| !said.has_passed()) {
            return true;
        }
        let stale = self.theirs.filter(|(_, patience)| patience.has_passed()).map(|(beat, _)| beat);
        let work = self.work;
        let name = self.name.clone();
        let take = move |tx: &mut Tx<'_>| {
            tx.set_actor(SYSTEM_ACTOR);
            turn::take(tx, work, &name, stale)
        };
        match store.write(self.work.name(), take).await {
            Ok(Turn::Mine) => (self.said, self.theirs) = (Some(Deadline::after(BEAT)), None),
            Ok(Turn::Theirs(beat)) => {
                self.said = None;
                if self.theirs.is_none_or(|(before, _)| before != beat) {
                    self.theirs = Some((beat, Deadline::after(SILENCE_MAX)));
                }
            }
            Err(_) => self.said = None,
        }
        self.said.is_some()
    }

    /// Goes on saying so, for work that takes long. It ends when another daemon has taken over.
    pub async fn stay(&mut self, store: &Store) {
        while self.is_it(store).await {
            tokio::time::sleep(BEAT).await;
        }
    }

    /// Lets another daemon work.
    pub async fn let_go(&mut self, store: &Store) {
        if store.is_shared() && self.said.take().is_some() {
            let work = self.work;
            let name = self.name.clone();
            let let_go = move |tx: &mut Tx<'_>| {
                tx.set_actor(SYSTEM_ACTOR);
                turn::let_go(tx, work, &name)
            };
            // One who falls silent is taken for dead.
            let _ = store.write(self.work.name(), let_go).await;
        }
    }
}
