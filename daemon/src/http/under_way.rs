//! Work that waits for other work of the same name: a repeated errand for the first one, the batches of a
//! caller for each other.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// What a daemon has under way, by name.
#[derive(Debug)]
pub struct UnderWay<N> {
    places: u32,
    all: Mutex<HashMap<N, Weak<Semaphore>>>,
}

/// The turn of a piece of work, until it is dropped.
pub type Turn = OwnedSemaphorePermit;

impl<N: Eq + Hash> UnderWay<N> {
    /// Nothing under way yet; each name has so many places.
    pub fn new(places: u32) -> Self {
        Self { places, all: Mutex::default() }
    }

    /// Waits until so many places of a name are free, or all of them where more are wanted. Work comes in the
    /// order in which it asks, and what is not waited for any more loses its turn.
    #[expect(clippy::expect_used, reason = "the semaphore is never closed")]
    pub async fn enter(&self, name: N, places: usize) -> Turn {
        let places = u32::try_from(places).unwrap_or(u32::MAX).min(self.places);
        self.of(name).acquire_many_owned(places).await.expect("an open semaphore")
    }

    fn of(&self, name: N) -> Arc<Semaphore> {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|_, places| places.strong_count() > 0);
        let found = all.get(&name).and_then(Weak::upgrade);
        let places = found.unwrap_or_else(|| Arc::new(Semaphore::new(self.places as usize)));
        all.insert(name, Arc::downgrade(&places));
        places
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;

    #[test]
    fn work_of_one_name_takes_turns_and_other_work_does_not_wait() {
        let under_way = UnderWay::new(4);
        let enter = |name: &'static str, places: usize| Box::pin(under_way.enter(name, places));
        let first = enter("ama", 3).now_or_never().unwrap();
        let mut long = enter("ama", 1_000);
        assert!(long.as_mut().now_or_never().is_none());
        let mut abandoned = enter("ama", 4);
        assert!(abandoned.as_mut().now_or_never().is_none());
        let mut short = enter("ama", 1);
        assert!(short.as_mut().now_or_never().is_none(), "a short one does not overtake");
        assert!(enter("esi", 1_000).now_or_never().is_some());
        drop((first, abandoned));
        let alone = long.now_or_never().unwrap();
        assert!(short.as_mut().now_or_never().is_none());
        drop(alone);
        drop(short.now_or_never().unwrap());
        assert!(enter("kofi", 1).now_or_never().is_some());
        assert_eq!(under_way.all.lock().unwrap().len(), 1, "names without work are forgotten");
    }
}
