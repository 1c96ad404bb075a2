//! Changes on PostgreSQL that are run beforehand on what was last seen: they take few messages, and decide on what is
//! there. These tests need `MFA_TEST_POSTGRES`.

use super::postgres::fresh;
use mfa_daemon::store::engine::{Change, Commit, Engine, Space, View, WriteWork};
use mfa_daemon::store::figures::Own;
use mfa_daemon::store::postgres::{Options, Postgres};
use mfa_shared::time::Timestamp;
use proptest::prelude::*;
use std::sync::Arc;
use tokio::runtime::Runtime;

const THINGS: Space = Space { id: 8, name: "things" };

fn commit(changes: Vec<Change>) -> Option<Commit> {
    Some(Commit { time: Timestamp::from_millis(0), actor: "ada".into(), request: "r-1".into(), changes })
}

fn put(key: u8, value: u8) -> Change {
    Change { space: THINGS, key: vec![key], value: Some(vec![value]) }
}

/// Follows the chain that begins with a key, each value being the next key, and then sets a key to its end.
fn follow(from: u8, into: u8) -> WriteWork {
    Box::new(move |view: &mut dyn View| {
        let mut at = from;
        while let Some(next) = view.get(THINGS, &[at]).ok()?.and_then(|value| value.first().copied()) {
            at = next;
        }
        commit(vec![put(into, at)])
    })
}

fn value(runtime: &Runtime, engine: &Postgres, key: u8) -> Option<u8> {
    let (send, receive) = std::sync::mpsc::channel();
    let look = move |view: &mut dyn View| {
        let found = view.get(THINGS, &[key]).unwrap();
        send.send(found.map(|value| value[0])).unwrap();
    };
    let read = engine.read(Box::new(look), false);
    runtime.block_on(read).unwrap();
    receive.recv().unwrap()
}

pub(super) fn round_trips(engine: &Postgres) -> u64 {
    match engine.figures().own {
        Own::Postgres { round_trips, .. } => round_trips,
        Own::Embedded { .. } => 0,
    }
}

#[test]
fn a_change_asks_at_once_for_all_records_that_it_reads() {
    const LENGTH: u8 = 20;
    let Some(address) = fresh() else { return };
    let runtime = Runtime::new().unwrap();
    let engine = Postgres::open(Options::new(address, &[THINGS])).unwrap();
    let chain: Vec<_> = (0..LENGTH).map(|key| put(key, key + 1)).collect();
    runtime.block_on(engine.write(Box::new(move |_| commit(chain.clone())))).unwrap();
    let before = round_trips(&engine);
    runtime.block_on(engine.write_rehearsed(follow(0, 100))).unwrap();
    // One message asks for all, and one writes and commits.
    assert_eq!(round_trips(&engine) - before, 2);
    assert_eq!(value(&runtime, &engine, 100), Some(LENGTH));
    let before = round_trips(&engine);
    runtime.block_on(engine.write(follow(0, 101))).unwrap();
    assert_eq!(round_trips(&engine) - before, u64::from(LENGTH) + 2, "without a rehearsal");
    runtime.block_on(engine.close()).unwrap();
}

#[test]
fn a_change_decides_on_what_others_wrote_after_it_was_last_seen() {
    let Some(address) = fresh() else { return };
    let runtime = Runtime::new().unwrap();
    let open = || Arc::new(Postgres::open(Options::new(address.clone(), &[THINGS])).unwrap());
    let engines = [open(), open()];
    let changes = proptest::collection::vec((0usize..2, 0u8..8, 0u8..8, any::<bool>()), 1..20);
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(12));
    let done = runner.run(&changes, |changes| {
        let clear: Vec<_> = (0..8).map(|key| Change { value: None, ..put(key, 0) }).collect();
        runtime.block_on(engines[0].write(Box::new(move |_| commit(clear.clone())))).unwrap();
        let mut model = [None; 8];
        for (by, key, value_put, removes) in changes {
            // A chain only leads on to larger keys, so it has an end.
            let linked = (!removes && value_put > key).then_some(value_put);
            model[usize::from(key)] = linked;
            let change = Change { value: linked.map(|next| vec![next]), ..put(key, 0) };
            runtime.block_on(engines[by].write(Box::new(move |_| commit(vec![change.clone()])))).unwrap();
            let mut end = 0;
            while let Some(next) = model.get(usize::from(end)).copied().flatten() {
                end = next;
            }
            // The other one has last seen what was there before.
            runtime.block_on(engines[1 - by].write_rehearsed(follow(0, 200))).unwrap();
            prop_assert_eq!(value(&runtime, &engines[by], 200), Some(end));
        }
        Ok(())
    });
    done.unwrap();
    for engine in engines {
        runtime.block_on(engine.close()).unwrap();
    }
}
