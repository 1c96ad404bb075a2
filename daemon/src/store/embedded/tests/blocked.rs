//! The tree with blocks against a plain map: pairs that come in order, by chance and again, and leave again.

use super::super::head::{Head, Position};
use super::super::pairs::Pairs;
use super::super::reach::Reach;
use super::world::*;
use crate::store::engine::{Change, Pair, Range};
use crate::store::layer::Layer;
use proptest::prelude::*;
use std::collections::BTreeMap;

type Model = BTreeMap<Vec<u8>, Vec<u8>>;

/// Keys of one batch, and the value that each of them gets.
#[derive(Debug, Clone)]
struct Batch {
    keys: Vec<u16>,
    value: Option<Vec<u8>>,
}

fn batch() -> impl Strategy<Value = Batch> {
    let in_order = (0u16..2_000, 1u16..100).prop_map(|(first, count)| (first..first + count).collect());
    let by_chance = proptest::collection::vec(0u16..2_000, 1..40);
    let bytes = prop_oneof![4 => 0usize..60, 2 => 200usize..1_200, 1 => 3_900usize..9_000];
    // Of some values only a few bytes are alike, so that they stay as long as they are.
    let value = (bytes, any::<u32>(), any::<bool>()).prop_map(|(bytes, seed, alike)| {
        let byte = |at: usize| if alike { seed as u8 } else { (seed.wrapping_mul(at as u32 + 7) >> 9) as u8 };
        (0..bytes).map(byte).collect()
    });
    (prop_oneof![in_order, by_chance], proptest::option::weighted(0.7, value))
        .prop_map(|(keys, value)| Batch { keys, value })
}

/// A short key or one with a long beginning that many have.
fn key(number: u16) -> Vec<u8> {
    match number % 3 {
        0 => number.to_be_bytes().to_vec(),
        1 => [&b"a beginning that many keys have in common, "[..], &number.to_be_bytes()].concat(),
        _ => format!("{number}").into_bytes(),
    }
}

fn expected(model: &Model, range: &Range, reverse: bool, limit: usize) -> Vec<Pair> {
    let inside = model.iter().filter(|(key, _)| range.has(key));
    let inside = inside.map(|(key, value)| (key.clone(), value.clone()));
    if reverse { inside.rev().take(limit).collect() } else { inside.take(limit).collect() }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]
    #[test]
    fn pairs_in_blocks_are_a_sorted_map_whatever_comes_and_goes(
        batches in proptest::collection::vec(batch(), 1..60),
        looks in proptest::collection::vec((0u16..2_100, 0u16..2_100, any::<bool>(), 0usize..90), 20),
        reopened_after in 0usize..60,
    ) {
        let dir = tempfile::tempdir().unwrap();
        let mut pairs = Pairs::open(dir.path(), 1 << 20).unwrap();
        let head = Head { sequence: 1, hash: [0; 32], at: Position { segment: 1, offset: 0 } };
        let mut model = Model::new();
        for (number, Batch { keys, value }) in batches.into_iter().enumerate() {
            let mut layer = Layer::default();
            for key in keys.into_iter().map(key) {
                layer.put(Change { space: THINGS, key: key.clone(), value: value.clone() });
                match &value {
                    Some(value) => drop(model.insert(key, value.clone())),
                    None => drop(model.remove(&key)),
                }
            }
            pairs.apply(&layer, Some(Reach::exactly(head))).unwrap();
            if number == reopened_after {
                pairs.close().unwrap();
                drop(pairs);
                pairs = Pairs::open(dir.path(), 1 << 20).unwrap();
            }
        }
        prop_assert_eq!(pairs.scan(THINGS, &Range::prefix(&[]), false, 5_000).unwrap(),
            expected(&model, &Range::prefix(&[]), false, 5_000));
        for (from, to, reverse, limit) in looks {
            let range = Range { from: key(from), to: Some(key(to)) };
            let seen = pairs.scan(THINGS, &range, reverse, limit).unwrap();
            prop_assert_eq!(seen, expected(&model, &range, reverse, limit));
            prop_assert_eq!(pairs.get(THINGS, &range.from).unwrap(), model.get(&range.from).cloned());
        }
        prop_assert!(pairs.audit().unwrap(), "the digest is kept right");
        let long = model.values().filter(|value| value.len() > 4_000);
        let pieces: usize = long.map(|value| value.len().div_ceil(4_000)).sum();
        prop_assert_eq!(pairs.count().unwrap(), model.len() + pieces + 1, "no piece is left over");
    }
}
