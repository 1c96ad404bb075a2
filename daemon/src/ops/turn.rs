//! Which daemon does a piece of work, where several share a store: one at a time, and another when it falls
//! silent.

use crate::store::Tx;
use crate::store::records::Worker;
use mfa_shared::fault::Fault;

/// Work that one daemon does for all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// Bringing events to their receivers.
    Webhooks,
    /// Making the backups of the schedule.
    Backups,
}

impl Work {
    /// Its name in the store.
    pub fn name(self) -> &'static str {
        match self {
            Self::Webhooks => "deliverer",
            Self::Backups => "backups",
        }
    }
}

/// What came of the wish to work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// The caller does it from now on.
    Mine,
    /// Another daemon does; the count of its signs of life.
    Theirs(u64),
}

/// Makes `daemon` the one who does the work, or has it go on, unless another one does. One who has said
/// nothing since `stale` is taken for dead.
pub fn take(tx: &mut Tx<'_>, work: Work, daemon: &str, stale: Option<u64>) -> Result<Turn, Fault> {
    let stored = tx.get::<Worker>(&[work.name()])?;
    let stored = stored.unwrap_or(Worker { work: work.name().to_owned(), holder: None, beat: 0 });
    if stored.holder.as_ref().is_some_and(|other| other != daemon) && stale != Some(stored.beat) {
        return Ok(Turn::Theirs(stored.beat));
    }
    tx.put(&Worker { holder: Some(daemon.to_owned()), beat: stored.beat + 1, ..stored })?;
    Ok(Turn::Mine)
}

/// Lets another daemon do the work.
pub fn let_go(tx: &mut Tx<'_>, work: Work, daemon: &str) -> Result<(), Fault> {
    let stored = tx.get::<Worker>(&[work.name()])?;
    if let Some(stored) = stored.filter(|stored| stored.holder.as_deref() == Some(daemon)) {
        tx.put(&Worker { holder: None, ..stored })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;
    use crate::store::Store;
    use crate::store::embedded::{Embedded, Options};

    #[test]
    fn one_daemon_works_until_it_lets_go_or_falls_silent() {
        let folder = tempfile::tempdir().unwrap();
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            let engine = Embedded::open(Options::new(folder.path().join("data"))).unwrap();
            let store = Store::new(engine, Clock::system(), false);
            let wish = |daemon: &'static str, stale| {
                store.write("test", move |tx| take(tx, Work::Webhooks, daemon, stale))
            };
            let backups = |tx: &mut Tx<'_>| take(tx, Work::Backups, "three", None);
            assert_eq!(store.write("test", backups).await, Ok(Turn::Mine));
            assert_eq!(wish("one", None).await, Ok(Turn::Mine));
            assert_eq!(wish("two", None).await, Ok(Turn::Theirs(1)));
            assert_eq!(wish("one", None).await, Ok(Turn::Mine));
            // It has said so since the other one began to wait for its silence.
            assert_eq!(wish("two", Some(1)).await, Ok(Turn::Theirs(2)));
            assert_eq!(wish("two", Some(2)).await, Ok(Turn::Mine));
            assert_eq!(wish("one", None).await, Ok(Turn::Theirs(3)));
            store.write("test", |tx| let_go(tx, Work::Webhooks, "one")).await.unwrap();
            assert_eq!(wish("one", None).await, Ok(Turn::Theirs(3)));
            store.write("test", |tx| let_go(tx, Work::Webhooks, "two")).await.unwrap();
            assert_eq!(wish("one", None).await, Ok(Turn::Mine));
            store.close().await;
        });
    }
}
