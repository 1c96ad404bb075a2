//! Lists and searches, which take as long as many reads of one record. Threads of their own answer them, and
//! give way to those that serve everything else, so that lists do not hold up the counters.

use crate::priority::{give_way, leave_processors};
use mfa_shared::fault::{self, Fault};
use std::future::Future;
use std::io;
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinSet;

/// Threads that read from the store, of which some wait for the disk. Each keeps some megabytes of memory for
/// its next read: one for each of many slow clients would take gigabytes, and the processors from the others.
const READERS_MAX: usize = 16;

/// The threads for lists.
#[derive(Debug)]
pub struct Patient(Option<Runtime>);

impl Drop for Patient {
    fn drop(&mut self) {
        // Lists that are still being read end with the process; waiting for them is not possible here.
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

impl Patient {
    /// Starts the threads; they end with this value.
    pub fn start() -> io::Result<Self> {
        let mut builder = Builder::new_multi_thread();
        let runtime = builder.thread_name("lists").max_blocking_threads(READERS_MAX);
        let runtime = runtime.on_thread_start(|| {
            give_way();
            leave_processors();
        });
        Ok(Self(Some(runtime.enable_all().build()?)))
    }

    /// Answers in one of the threads. If the caller goes away, so does the work.
    pub async fn run<T, F>(&self, work: F) -> Result<T, Fault>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, Fault>> + Send + 'static,
    {
        let Some(runtime) = &self.0 else { return work.await };
        let mut running = JoinSet::new();
        running.spawn_on(work, runtime.handle());
        match running.join_next().await {
            Some(Ok(done)) => done,
            _ => Err(Fault::new(fault::INTERNAL, "the list ended by a defect")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::priority::tests::{leaves_processors, lowered, niceness};
    use std::collections::HashSet;
    use std::sync::{Arc, Mutex};
    use std::thread::ThreadId;
    use std::time::Duration;
    use tokio::sync::Notify;

    #[tokio::test]
    async fn lists_give_way_with_all_that_they_read() {
        let patient = Patient::start().unwrap();
        let hows = async {
            let how = || (niceness(), leaves_processors());
            Ok([how(), tokio::task::spawn_blocking(how).await.unwrap()])
        };
        assert_eq!(patient.run(hows).await.unwrap(), [(lowered(), true); 2]);
    }

    #[tokio::test]
    async fn many_lists_are_read_by_few_threads() {
        let (patient, seen) = (Patient::start().unwrap(), Arc::<Mutex<HashSet<ThreadId>>>::default());
        let lists = (0..20 * READERS_MAX).map(|_| {
            let seen = seen.clone();
            patient.run(async move {
                let read = move || {
                    seen.lock().unwrap().insert(std::thread::current().id());
                    std::thread::sleep(Duration::from_millis(2));
                };
                tokio::task::spawn_blocking(read).await.unwrap();
                Ok(())
            })
        });
        assert!(futures_util::future::join_all(lists).await.into_iter().all(|list| list.is_ok()));
        assert!(seen.lock().unwrap().len() <= READERS_MAX);
    }

    #[tokio::test]
    async fn an_abandoned_list_ends() {
        struct Ended(Arc<Notify>);
        impl Drop for Ended {
            fn drop(&mut self) {
                self.0.notify_one();
            }
        }
        let patient = Patient::start().unwrap();
        let (begun, ended) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let begins = begun.clone();
        let ends = Ended(ended.clone());
        let endless = patient.run::<(), _>(async move {
            let _ends = ends;
            begins.notify_one();
            std::future::pending().await
        });
        tokio::select! {
            _ = endless => panic!("an endless list ended"),
            () = begun.notified() => {}
        }
        tokio::time::timeout(Duration::from_secs(10), ended.notified()).await.unwrap();
    }
}
