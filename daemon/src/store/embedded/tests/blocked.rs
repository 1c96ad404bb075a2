//! The tree with blocks against a plain map: pairs that come in order, by chance and again, and leave again.

use super::super::head::{Head, Position};
use super::super::layout::{META_BEFORE, chunk_key, main_key, stored};
use super::super::pairs::{Pairs, pair_hash};
use super::super::reach::{Meta, Reach};
use super::super::tree::Tree;
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

fn layer(pairs: &[(u32, Option<u8>)]) -> Layer {
    let mut layer = Layer::default();
    for (number, byte) in pairs {
        let value = byte.map(|byte| vec![byte; 5_000 * usize::from(number % 100 == 0) + 20]);
        layer.put(Change { space: THINGS, key: number.to_be_bytes().to_vec(), value });
    }
    layer
}

/// An index as it was before there were blocks: an item for each pair.
fn as_before(dir: &std::path::Path, layer: &Layer, reach: Reach) {
    let tree = Tree::open(dir, 1 << 20).unwrap();
    let mut digest = 0u128;
    let mut put = |key: Vec<u8>, value: &[u8]| {
        digest = digest.wrapping_add(pair_hash(&key, value));
        tree.insert(key, value).unwrap();
    };
    for (space, key, value) in layer.iter() {
        let (stored, chunks) = stored(value.as_ref().unwrap());
        put(main_key(space.id, key), &stored);
        let numbered = (0..).zip(chunks);
        numbered.for_each(|(number, chunk)| put(chunk_key(space.id, key, number), chunk));
    }
    tree.insert(META_BEFORE, Meta { reach, digest }.to_bytes()).unwrap();
}

#[test]
fn an_index_from_before_there_were_blocks_is_whole_and_one_with_blocks_is_none_to_a_program_of_then() {
    let dir = tempfile::tempdir().unwrap();
    let reach = Reach::exactly(Head { sequence: 3, hash: [0; 32], at: Position { segment: 1, offset: 0 } });
    let before: Vec<_> = (100..400).map(|number| (2 * number, Some(1))).collect();
    as_before(dir.path(), &layer(&before), reach);
    let pairs = Pairs::open(dir.path(), 1 << 20).unwrap();
    assert!(pairs.reach() == Some(reach) && pairs.audit().unwrap());
    let same = |pairs: &Pairs, expected: &Layer| {
        let all = pairs.scan(THINGS, &Range::prefix(&[]), false, 1_000).unwrap();
        let expected: Vec<_> = expected.iter().map(|(_, key, value)| (key, value.as_ref())).collect();
        assert_eq!(all.iter().map(|(key, value)| (key, Some(value))).collect::<Vec<_>>(), expected);
        assert!(all.iter().all(|(key, value)| pairs.get(THINGS, key).unwrap().as_ref() == Some(value)));
    };
    same(&pairs, &layer(&before));
    // Before the first, between two and behind the last of them; one is removed and one is changed.
    let changes = [(1, Some(2)), (301, Some(2)), (300, None), (400, Some(2)), (900, Some(2))];
    pairs.apply(&layer(&changes), Some(reach)).unwrap();
    let mut after: BTreeMap<_, _> = before.into_iter().chain(changes).collect();
    after.retain(|_, value| value.is_some());
    let after = layer(&after.into_iter().collect::<Vec<_>>());
    same(&pairs, &after);
    pairs.close().unwrap();
    drop(pairs);
    let tree = Tree::open(dir.path(), 1 << 20).unwrap();
    assert_eq!(tree.get(META_BEFORE).unwrap(), None);
    drop(tree);
    let pairs = Pairs::open(dir.path(), 1 << 20).unwrap();
    assert!(pairs.reach() == Some(reach) && pairs.audit().unwrap());
    same(&pairs, &after);
}
