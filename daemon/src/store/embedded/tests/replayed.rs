//! Records against the journal: what is in the index and was never committed is found, and the reverse.

use super::super::{Embedded, checkpoint};
use super::world::*;
use crate::clock::Clock;
use crate::store::Store;
use crate::store::engine::{Change, Engine};
use crate::store::layer::Layer;
use tokio::runtime::Runtime;

/// What a check finds after these changes were made to the index behind the journal's back.
fn found(changes: &[Change]) -> Vec<String> {
    let dir = tempfile::tempdir().unwrap();
    let engine = Embedded::open(options(dir.path())).unwrap();
    for key in ["a", "b", "c"] {
        write(&engine, vec![change(key, Some(b"old".to_vec()))]).unwrap();
        write(&engine, vec![change(key, Some(vec![b'x'; 9_000])), change("gone", Some(b"1".to_vec()))])
            .unwrap();
    }
    write(&engine, vec![change("gone", None)]).unwrap();
    // The index itself claims to be right, so nothing else would reveal the change.
    engine.shared.settle().unwrap();
    let mut layer = Layer::default();
    changes.iter().for_each(|change| drop(layer.put(change.clone())));
    engine.shared.index.pairs.apply(&layer, engine.shared.index.pairs.reach()).unwrap();
    let store = Store::new(engine, Clock::system(), false);
    let runtime = Runtime::new().unwrap();
    let found = runtime.block_on(store.check_journal()).unwrap();
    runtime.block_on(store.close());
    found.into_iter().map(|finding| format!("{}: {}", finding.subject, finding.detail)).collect()
}

#[test]
fn every_record_is_held_to_the_journal_in_both_directions() {
    let none: [&str; 0] = [];
    assert_eq!(found(&[]), none);
    let there = |key: &str, what: &str| format!("record {key} of an unknown space: {what}");
    assert_eq!(
        found(&[change("b", Some(b"new".to_vec()))]),
        [there("b", "differs from what the journal says")]
    );
    assert_eq!(found(&[change("d", Some(b"1".to_vec()))]), [there("d", "is not in the journal")]);
    assert_eq!(found(&[change("gone", Some(b"1".to_vec()))]), [there("gone", "is not in the journal")]);
    assert_eq!(found(&[change("a", None)]), [there("a", "is in the journal and missing among the records")]);
}

#[test]
fn a_damaged_checkpoint_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    let engine = Embedded::open(options(dir.path())).unwrap();
    for key in ["a", "b"] {
        write(&engine, vec![change(key, Some(b"value".to_vec()))]).unwrap();
        engine.checkpoint().unwrap();
    }
    let runtime = Runtime::new().unwrap();
    assert_eq!(runtime.block_on(engine.troubles()).unwrap(), []);
    let mut files: Vec<_> = std::fs::read_dir(dir.path().join(checkpoint::DIR))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    for (file, place) in files.iter().zip([90, 3]) {
        let mut bytes = std::fs::read(file).unwrap();
        bytes[place] ^= 1;
        std::fs::write(file, bytes).unwrap();
    }
    let found = runtime.block_on(engine.troubles()).unwrap();
    let whys: Vec<_> = found.iter().map(|trouble| trouble.why.as_str()).collect();
    assert!(whys[0].contains("block at byte"), "{found:?}");
    assert_eq!(whys[1], "its beginning or its end is damaged");
}
