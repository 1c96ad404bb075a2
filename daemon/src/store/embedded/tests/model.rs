//! Work by chance against a plain map, and many writers at once.

use super::super::Embedded;
use super::world::*;
use crate::store::engine::{Change, Engine, Pair, Range, Space, View};
use mfa_shared::fault::{Fault, IDENTIFIER_TAKEN};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

const OTHERS: Space = Space { id: 8, name: "others" };
const FIRST: Space = Space { id: 0, name: "first" };
const LAST: Space = Space { id: 0xfd, name: "last" };

type Model = BTreeMap<(u8, Vec<u8>), Vec<u8>>;

fn space() -> impl Strategy<Value = Space> {
    prop_oneof![Just(THINGS), Just(OTHERS), Just(FIRST), Just(LAST)]
}

fn key() -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(prop_oneof![Just(0u8), Just(b'a'), Just(b'b'), Just(0xff)], 0..4)
}

fn value() -> impl Strategy<Value = Option<Vec<u8>>> {
    let bytes =
        prop_oneof![0usize..30, Just(3_999), Just(4_000), Just(4_001), Just(8_000), 4_000usize..20_000];
    proptest::option::weighted(0.7, (bytes, any::<u8>()).prop_map(|(bytes, byte)| vec![byte; bytes]))
}

fn transaction() -> impl Strategy<Value = Vec<Change>> {
    let change = (space(), key(), value()).prop_map(|(space, key, value)| Change { space, key, value });
    proptest::collection::vec(change, 1..5)
}

#[derive(Debug, Clone)]
enum Act {
    /// Transactions that are queued together.
    Write(Vec<Vec<Change>>),
    Reopen {
        clean: bool,
    },
    Checkpoint,
    WithoutIndex,
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        12 => proptest::collection::vec(transaction(), 1..5).prop_map(Act::Write),
        1 => any::<bool>().prop_map(|clean| Act::Reopen { clean }),
        1 => Just(Act::Checkpoint),
        1 => Just(Act::WithoutIndex),
    ]
}

/// What a scan should return.
fn expected(model: &Model, space: Space, range: &Range, reverse: bool, limit: usize) -> Vec<Pair> {
    let inside = |key: &Vec<u8>| *key >= range.from && range.to.as_ref().is_none_or(|to| key < to);
    let pairs = model.iter().filter(|((id, key), _)| *id == space.id && inside(key));
    let pairs = pairs.map(|((_, key), value)| (key.clone(), value.clone()));
    if reverse { pairs.rev().take(limit).collect() } else { pairs.take(limit).collect() }
}

fn apply(model: &mut Model, changes: &[Change]) {
    for change in changes {
        let key = (change.space.id, change.key.clone());
        match &change.value {
            Some(value) => model.insert(key, value.clone()),
            None => model.remove(&key),
        };
    }
}

/// Runs transactions that are queued together; each sees those before it.
fn write_together(engine: &Embedded, model: &mut Model, transactions: &[Vec<Change>]) {
    let mut pending = Vec::new();
    for changes in transactions {
        let (before, changes) = (model.clone(), changes.clone());
        apply(model, &changes);
        pending.push(engine.write(Box::new(move |view| {
            for change in &changes {
                let seen = view.get(change.space, &change.key).unwrap();
                assert_eq!(seen.as_ref(), before.get(&(change.space.id, change.key.clone())));
                let range = Range::prefix(&[]);
                let seen = view.scan(change.space, &range, true, 3).unwrap();
                assert_eq!(seen, expected(&before, change.space, &range, true, 3));
            }
            Some(commit(changes.clone()))
        })));
    }
    pending.into_iter().for_each(|pending| block_on(pending).unwrap());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]
    #[test]
    fn the_engine_is_a_sorted_map_whatever_is_done_to_it(
        acts in proptest::collection::vec(act(), 1..25),
        looks in proptest::collection::vec((space(), key(), key(), any::<bool>(), 0usize..6), 8),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let mut engine = Embedded::open(options(dir.path())).unwrap();
        let mut model = Model::new();
        for act in acts {
            match act {
                Act::Write(transactions) => write_together(&engine, &mut model, &transactions),
                Act::Checkpoint => engine.checkpoint().unwrap(),
                Act::Reopen { clean } => {
                    if clean {
                        block_on(engine.close()).unwrap();
                    }
                    drop(engine);
                    engine = Embedded::open(options(dir.path())).unwrap();
                }
                Act::WithoutIndex => {
                    drop(engine);
                    std::fs::remove_dir_all(dir.path().join("index")).unwrap();
                    engine = Embedded::open(options(dir.path())).unwrap();
                }
            }
            for (space, from, to, reverse, limit) in looks.clone() {
                for range in [Range { from: from.clone(), to: Some(to) }, Range::prefix(&from)] {
                    let should = expected(&model, space, &range, reverse, limit);
                    let seen = read(&engine, move |view| view.scan(space, &range, reverse, limit)).unwrap();
                    prop_assert_eq!(seen, should);
                }
            }
        }
        prop_assert!(engine.shared.index.pairs.audit().unwrap(), "the digest is kept right");
        engine.shared.settle().unwrap();
        let pairs = engine.shared.index.pairs.count().unwrap();
        let long = model.values().filter(|value| value.len() > 4_000);
        let pieces: usize = long.map(|value| value.len().div_ceil(4_000)).sum();
        prop_assert_eq!(pairs, model.len() + pieces + 1, "no piece of a long value is left over");
    }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(4).build().unwrap()
}

#[test]
fn of_twenty_who_create_the_same_key_one_wins() {
    let dir = tempfile::tempdir().unwrap();
    let engine = Arc::new(Embedded::open(options(dir.path())).unwrap());
    let runtime = runtime();
    for round in 0..20u8 {
        let create = |who: u8| {
            let engine = engine.clone();
            let refused = Arc::new(Mutex::new(None));
            let seen = refused.clone();
            let work = move |view: &mut dyn View| {
                *seen.lock().unwrap() = None;
                match view.get(THINGS, &[round]) {
                    Ok(None) => Some(commit(vec![change([round], Some(vec![who]))])),
                    _ => {
                        *seen.lock().unwrap() = Some(Fault::new(IDENTIFIER_TAKEN, "taken"));
                        None
                    }
                }
            };
            runtime.spawn(async move {
                engine.write(Box::new(work)).await.unwrap();
                refused.lock().unwrap().is_none().then_some(who)
            })
        };
        let tasks: Vec<_> = (0..20).map(create).collect();
        let winners: Vec<u8> = tasks.into_iter().filter_map(|task| runtime.block_on(task).unwrap()).collect();
        assert_eq!(winners.len(), 1);
        assert!(all(&engine).unwrap().contains(&(vec![round], winners)));
    }
}

#[test]
fn sums_add_up_for_readers_beside_concurrent_writers() {
    let dir = tempfile::tempdir().unwrap();
    let engine = Arc::new(Embedded::open(options(dir.path())).unwrap());
    let number = |value: Option<Vec<u8>>| i64::from_le_bytes(value.map_or([0; 8], |v| v.try_into().unwrap()));
    let runtime = runtime();
    let writer = |seed: u8| {
        let engine = engine.clone();
        runtime.spawn(async move {
            for turn in 0..40u8 {
                let (from, to) = (seed.wrapping_mul(7).wrapping_add(turn) % 20, turn.wrapping_mul(3) % 20);
                let transfer = move |view: &mut dyn View| {
                    if from == to {
                        return None;
                    }
                    let less = number(view.get(THINGS, &[from]).ok()?) - 1;
                    let more = number(view.get(THINGS, &[to]).ok()?) + 1;
                    let put = |key: u8, value: i64| change([key], Some(value.to_le_bytes().to_vec()));
                    Some(commit(vec![put(from, less), put(to, more)]))
                };
                engine.write(Box::new(transfer)).await.unwrap();
            }
        })
    };
    let writers: Vec<_> = (0..16).map(writer).collect();
    for _ in 0..300 {
        let sum = all(&engine).unwrap().into_iter().map(|(_, value)| number(Some(value))).sum::<i64>();
        assert_eq!(sum, 0);
    }
    writers.into_iter().for_each(|writer| runtime.block_on(writer).unwrap());
}
