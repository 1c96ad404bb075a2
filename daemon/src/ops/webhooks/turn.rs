//! Which daemon delivers, where several share a store: one at a time, and another one when it is silent.

use crate::store::Tx;
use crate::store::records::Deliverer;
use mfa_shared::fault::Fault;

/// What came of the wish to deliver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// The caller delivers from now on.
    Mine,
    /// Another daemon does; how often it has said so.
    Theirs(u64),
}

/// Makes `daemon` the one who delivers, or has it go on, unless another one does. One who has said nothing
/// since `stale` is taken for dead.
pub fn take(tx: &mut Tx<'_>, daemon: &str, stale: Option<u64>) -> Result<Turn, Fault> {
    let stored = tx.get::<Deliverer>(Deliverer::KEY)?.unwrap_or(Deliverer { holder: None, beat: 0 });
    if stored.holder.as_ref().is_some_and(|other| other != daemon) && stale != Some(stored.beat) {
        return Ok(Turn::Theirs(stored.beat));
    }
    tx.put(&Deliverer { holder: Some(daemon.to_owned()), beat: stored.beat + 1 })?;
    Ok(Turn::Mine)
}

/// Lets another daemon deliver.
pub fn let_go(tx: &mut Tx<'_>, daemon: &str) -> Result<(), Fault> {
    let stored = tx.get::<Deliverer>(Deliverer::KEY)?;
    if let Some(stored) = stored.filter(|stored| stored.holder.as_deref() == Some(daemon)) {
        tx.put(&Deliverer { holder: None, ..stored })?;
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
    fn one_daemon_delivers_until_it_lets_go_or_falls_silent() {
        let folder = tempfile::tempdir().unwrap();
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            let engine = Embedded::open(Options::new(folder.path().join("data"))).unwrap();
            let store = Store::new(engine, Clock::system(), false);
            let wish = |daemon: &'static str, stale| store.write("test", move |tx| take(tx, daemon, stale));
            assert_eq!(wish("one", None).await, Ok(Turn::Mine));
            assert_eq!(wish("two", None).await, Ok(Turn::Theirs(1)));
            assert_eq!(wish("one", None).await, Ok(Turn::Mine));
            // It has said so since the other one began to wait for its silence.
            assert_eq!(wish("two", Some(1)).await, Ok(Turn::Theirs(2)));
            assert_eq!(wish("two", Some(2)).await, Ok(Turn::Mine));
            assert_eq!(wish("one", None).await, Ok(Turn::Theirs(3)));
            store.write("test", |tx| let_go(tx, "one")).await.unwrap();
            assert_eq!(wish("one", None).await, Ok(Turn::Theirs(3)));
            store.write("test", |tx| let_go(tx, "two")).await.unwrap();
            assert_eq!(wish("one", None).await, Ok(Turn::Mine));
            store.close().await;
        });
    }
}
