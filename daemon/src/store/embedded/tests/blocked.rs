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

/// Keys of one batch, and what becomes of them.
#[derive(Debug, Clone)]
struct Batch {
    keys: Vec<u16>,
    /// Of so many keys one is removed; of none, where it is 0.
    removed: usize,
    bytes: usize,
    /// Whether the bytes of a value are alike, so that it gets short.
    alike: bool,
    seed: u32,
}

impl Batch {
    /// The keys with their new values.
    fn changes(&self) -> impl Iterator<Item = (Vec<u8>, Option<Vec<u8>>)> {
        self.keys.iter().enumerate().map(|(at, number)| {
            let is_removed = self.removed > 0 && at.is_multiple_of(self.removed);
            (key(*number), (!is_removed).then(|| self.value(*number)))
        })
    }

    fn value(&self, number: u16) -> Vec<u8> {
        let mut state = self.seed ^ u32::from(number) | 1;
        let mut byte = || {
            for shift in [13, 17, 5] {
                state ^= if shift == 17 { state >> shift } else { state << shift };
            }
            if self.alike { self.seed as u8 } else { state as u8 }
        };
        (0..self.bytes).map(|_| byte()).collect()
    }
}

fn batch() -> impl Strategy<Value = Batch> {
    let in_order = (0u16..2_000, 1u16..100).prop_map(|(first, count)| (first..first + count).collect());
    let by_chance =
        proptest::collection::hash_set(0u16..2_000, 1..40).prop_map(|keys| keys.into_iter().collect());
    let bytes = prop_oneof![4 => 0usize..60, 2 => 200usize..1_200, 1 => 3_900usize..9_000];
    (prop_oneof![in_order, by_chance], 0usize..4, bytes, any::<bool>(), any::<u32>())
        .prop_map(|(keys, removed, bytes, alike, seed)| Batch { keys, removed, bytes, alike, seed })
}

/// A short key or one with a long beginning that many have.
fn key(number: u16) -> Vec<u8> {
    match number % 3 {
        _ if number == 0 => Vec::new(),
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
        for (number, batch) in batches.into_iter().enumerate() {
            let mut layer = Layer::default();
            for (key, value) in batch.changes() {
                layer.put(Change { space: THINGS, key: key.clone(), value: value.clone() });
                match value {
                    Some(value) => drop(model.insert(key, value)),
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

#[test]
fn what_changes_beside_a_verification_is_counted_once() {
    let dir = tempfile::tempdir().unwrap();
    let pairs = Pairs::open(dir.path(), 1 << 20).unwrap();
    let head = Head { sequence: 1, hash: [0; 32], at: Position { segment: 1, offset: 0 } };
    let apply = |keys: &mut dyn Iterator<Item = u16>, value: Option<&[u8]>| {
        let mut layer = Layer::default();
        for number in keys {
            let key = number.to_be_bytes().to_vec();
            layer.put(Change { space: THINGS, key, value: value.map(<[u8]>::to_vec) });
        }
        pairs.apply(&layer, Some(Reach::exactly(head))).unwrap();
    };
    apply(&mut (0..4_000).step_by(2), Some(&[1; 200]));
    let mut pages = 0;
    loop {
        // Blocks are split, emptied and made anew all over the tree: before, behind and at the place of the
        // verification.
        for region in (0..4_000u16).step_by(500) {
            let first = region + pages % 450;
            apply(&mut (first..first + 30), if pages % 3 == 2 { None } else { Some(&[2; 300]) });
        }
        pages += 1;
        if let Some(is_right) = pairs.audit_page().unwrap() {
            assert!(is_right && pages > 20, "{pages} pages");
            break;
        }
    }
}
