//! Work that costs milliseconds of a processor: passwords and signatures. It runs beside the threads that
//! serve requests, and only so much of it at once that requests and the store's writer go on.

use crate::ops::secret::Judged;
use crate::random;
use crate::store::{Store, Tx};
use mfa_shared::fault::{self, Fault};
use std::fmt;
use std::sync::{Arc, OnceLock};
use std::thread::available_parallelism;
use tokio::sync::Semaphore;

/// A bound on heavy work.
#[derive(Debug)]
pub struct Heavy(Semaphore);

impl Default for Heavy {
    fn default() -> Self {
        // One processor is left to everything else, where there is more than one.
        let processors = available_parallelism().map_or(1, usize::from);
        Self(Semaphore::new(processors.saturating_sub(1).max(1)))
    }
}

impl Heavy {
    /// Runs the work when its turn comes.
    pub async fn run<T, F>(&self, work: F) -> Result<T, Fault>
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static,
    {
        // The semaphore is never closed.
        let _permit = self.0.acquire().await.expect("an open semaphore");
        let done = tokio::task::spawn_blocking(work).await;
        done.map_err(|error| {
            tracing::error!(%error, "heavy work ended by a defect");
            Fault::new(fault::INTERNAL, "the work on a secret ended by a defect")
        })
    }
}

type Present = Box<dyn Fn(&mut Tx<'_>) -> Result<Option<String>, Fault> + Send + Sync>;

/// A password in the body of a request, which is hashed before the transaction begins.
pub struct Secret {
    plain: String,
    present: Arc<Present>,
    is_new: bool,
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
        let (plain, present) = (plain.to_owned(), Arc::new(Box::new(present) as Present));
        Self { plain, present, is_new: true, judged: OnceLock::new() }
    }

    /// A password that is only compared with the stored hash, and never stored itself.
    pub fn compared<F>(plain: &str, present: F) -> Self
    where
        F: Fn(&mut Tx<'_>) -> Result<Option<String>, Fault> + Send + Sync + 'static,
    {
        Self { is_new: false, ..Self::new(plain, present) }
    }

    /// Whether it is to be stored.
    pub fn is_new(&self) -> bool {
        self.is_new
    }

    /// Does the heavy work.
    pub async fn judge(&self, store: &Store, heavy: &Heavy) -> Result<(), Fault> {
        let present = self.present.clone();
        let stored = store.read(false, move |tx| present(tx)).await?;
        let (plain, salt) = (self.plain.clone(), self.is_new.then(random::bytes));
        let judged = heavy.run(move || Judged::new(&plain, stored.as_deref(), salt.as_ref())).await?;
        let _ = self.judged.set(judged);
        Ok(())
    }

    /// What came out of it.
    pub fn judged(&self) -> Judged {
        self.judged.get().cloned().unwrap_or_default()
    }
}
