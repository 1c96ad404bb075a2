//! What is too large to be verified before opening is verified afterwards; and an index that fails.

use super::super::head::{HEADER_BYTES, Head, Position};
use super::super::pairs::Pairs;
use super::super::reach::Reach;
use super::super::segment::Header;
use super::super::{Embedded, OpenError, Options};
use super::world::*;
use crate::store::engine::{Engine, Pair};
use crate::store::layer::Layer;
use mfa_shared::fault::UNAVAILABLE;
use std::fs;
use std::path::Path;

/// Everything counts as large.
fn large(dir: &Path) -> Options {
    Options { verify_bytes: 0, ..options(dir) }
}

fn fill(dir: &Path) -> Embedded {
    let engine = Embedded::open(options(dir)).unwrap();
    for number in 0..60u8 {
        write(&engine, vec![change([number], Some(vec![number; 400]))]).unwrap();
    }
    engine
}

/// The same after a clean stop: all that is in it.
fn filled(dir: &Path) -> Vec<Pair> {
    let engine = fill(dir);
    let all = all(&engine).unwrap();
    block_on(engine.close()).unwrap();
    all
}

#[test]
fn a_large_store_opens_from_its_checkpoint_and_all_is_there() {
    let dir = tempfile::tempdir().unwrap();
    let engine = fill(dir.path());
    engine.checkpoint().unwrap();
    write(&engine, vec![change("after", Some(vec![1]))]).unwrap();
    let right = all(&engine).unwrap();
    drop(engine);
    for index_lost in [false, true] {
        if index_lost {
            fs::remove_dir_all(dir.path().join("index")).unwrap();
        }
        let engine = Embedded::open(large(dir.path())).unwrap();
        assert!(all(&engine).unwrap() == right);
        for after in [0, 5, 30, 59, 60] {
            let reported: Vec<_> = engine.journal(after).map(|commit| commit.unwrap().0).collect();
            assert_eq!(reported, (after + 1..=engine.sequence()).collect::<Vec<_>>());
        }
        write(&engine, vec![change("after", Some(vec![1]))]).unwrap();
    }
}

#[test]
fn a_large_damaged_index_is_noticed_and_healed_on_the_next_start() {
    let dir = tempfile::tempdir().unwrap();
    let right = filled(dir.path());
    // A program that another test starts may hold the file for a moment.
    let mut opened = None;
    assert!(soon(|| {
        opened = sled::open(dir.path().join("index")).ok();
        opened.is_some()
    }));
    let db = opened.unwrap();
    db.insert([THINGS.id, 33], &[0, 99]).unwrap();
    db.flush().unwrap();
    drop(db);
    let engine = Embedded::open(large(dir.path())).unwrap();
    assert!(soon(|| engine.write_fault().is_some()), "it is noticed");
    assert_eq!(all(&engine).unwrap_err().kind, UNAVAILABLE);
    assert_eq!(write(&engine, vec![change("a", None)]).unwrap_err().kind, UNAVAILABLE);
    drop(engine);
    let engine = Embedded::open(large(dir.path())).unwrap();
    assert!(all(&engine).unwrap() == right);
}

#[test]
fn writes_beside_the_verification_do_not_disturb_it() {
    let dir = tempfile::tempdir().unwrap();
    let engine = fill(dir.path());
    for number in 0..100u32 {
        let keys = (0..60u32).map(|at| change((number * 60 + at).to_be_bytes(), Some(vec![1; 10])));
        write(&engine, keys.collect()).unwrap();
    }
    drop(engine);
    let engine = Embedded::open(large(dir.path())).unwrap();
    for number in 0..300u32 {
        write(&engine, vec![change((number * 19).to_be_bytes(), (number % 2 == 0).then(|| vec![2]))])
            .unwrap();
    }
    assert!(soon(|| engine.shared.background.lock().unwrap().iter().all(|thread| thread.is_finished())));
    assert_eq!(engine.write_fault(), None);
}

#[test]
fn an_old_damage_of_a_large_journal_stops_the_writes() {
    let dir = tempfile::tempdir().unwrap();
    let engine = fill(dir.path());
    engine.checkpoint().unwrap();
    let right = all(&engine).unwrap();
    block_on(engine.close()).unwrap();
    drop(engine);
    let old = dir.path().join("journal/00000002.log");
    let mut content = fs::read(&old).unwrap();
    content[1_000] ^= 1;
    fs::write(&old, content).unwrap();
    let engine = Embedded::open(large(dir.path())).unwrap();
    assert!(soon(|| engine.write_fault().is_some()));
    assert!(all(&engine).unwrap() == right, "reads go on");
    drop(engine);
    let error = Embedded::open(options(dir.path())).unwrap_err();
    let OpenError::Damaged { file, .. } = &error else { panic!("{error}") };
    assert_eq!(*file, old);
}

#[test]
fn more_and_longer_jobs_than_a_group_takes_are_all_done_in_order() {
    let dir = tempfile::tempdir().unwrap();
    let engine = Embedded::open(options(dir.path())).unwrap();
    for (jobs, bytes) in [(12u8, 150_000), (200, 10)] {
        let put = move |number| {
            commit(vec![change([number], Some(vec![number; bytes])), change("last", Some(vec![number]))])
        };
        let queued: Vec<_> =
            (0..jobs).map(|number| engine.write(Box::new(move |_| Some(put(number))))).collect();
        queued.into_iter().for_each(|job| block_on(job).unwrap());
        let seen = all(&engine).unwrap();
        assert!((0..jobs).all(|number| seen.contains(&(vec![number], vec![number; bytes]))));
        assert_eq!(seen.iter().find(|(key, _)| key == b"last").unwrap().1, [jobs - 1]);
    }
}

#[test]
fn a_batch_that_the_tree_refuses_is_not_missed_and_stops_the_writes() {
    let dir = tempfile::tempdir().unwrap();
    let engine = fill(dir.path());
    let right = all(&engine).unwrap();
    engine.shared.settle().unwrap();
    engine.shared.index.pairs.breaks.store(true, std::sync::atomic::Ordering::SeqCst);
    let long = Some(vec![5; 9_000]);
    let keys = [b"a", b"b", b"c", b"d"].map(|key| change(key, long.clone()));
    let changes = [change([3], None), change([4], long.clone())].into_iter().chain(keys).collect();
    write(&engine, changes).unwrap();
    assert!(soon(|| engine.write_fault().is_some()), "six keys are more than stay in memory");
    let seen = all(&engine).unwrap();
    assert_eq!(seen.len(), right.len() + 3);
    let get = |key: &'static [u8]| read(&engine, move |view| view.get(THINGS, key)).unwrap();
    assert_eq!((get(&[3]), get(&[4]), get(&[5])), (None, long, Some(vec![5; 400])));
    assert_eq!(write(&engine, vec![change("a", None)]).unwrap_err().kind, UNAVAILABLE);
    drop(engine);
    let engine = Embedded::open(options(dir.path())).unwrap();
    assert!(all(&engine).unwrap() == seen);
}

#[test]
fn a_tree_that_was_on_its_way_knows_how_far_the_journal_went() {
    let dir = tempfile::tempdir().unwrap();
    let engine = fill(dir.path());
    engine.shared.settle().unwrap();
    let before = engine.shared.head();
    engine.shared.index.pairs.breaks.store(true, std::sync::atomic::Ordering::SeqCst);
    write(&engine, (0..6u8).map(|number| change([number], None)).collect()).unwrap();
    assert!(soon(|| engine.write_fault().is_some()));
    drop(engine);
    for mark in ["index/rebuild", "journal/tail", "journal/next"] {
        fs::remove_file(dir.path().join(mark)).unwrap();
    }
    for entry in fs::read_dir(dir.path().join("journal")).unwrap() {
        let path = entry.unwrap().path();
        let segment: u64 = path.file_stem().unwrap().to_str().unwrap().parse().unwrap();
        match segment.cmp(&before.at.segment) {
            std::cmp::Ordering::Less => {}
            std::cmp::Ordering::Equal => {
                fs::File::options().write(true).open(path).unwrap().set_len(before.at.offset).unwrap();
            }
            std::cmp::Ordering::Greater => fs::remove_file(path).unwrap(),
        }
    }
    let error = Embedded::open(options(dir.path())).unwrap_err().to_string();
    assert!(error.contains("index knows commit 61"), "{error}");
}

#[test]
fn a_tree_that_was_on_its_way_is_followed_up_from_where_it_had_everything() {
    let dir = tempfile::tempdir().unwrap();
    let engine = fill(dir.path());
    engine.shared.settle().unwrap();
    engine.shared.index.pairs.breaks.store(true, std::sync::atomic::Ordering::SeqCst);
    // More than one batch, of which the tree gets the first.
    let keys = (0..300u32).map(|number| change(number.to_be_bytes(), Some(vec![3; 40])));
    write(&engine, keys.chain([change([3], None)]).collect()).unwrap();
    assert!(soon(|| engine.write_fault().is_some()));
    let right = all(&engine).unwrap();
    drop(engine);
    // As after a kill: nothing has been found wrong with the index.
    fs::remove_file(dir.path().join("index/rebuild")).unwrap();
    let engine = Embedded::open(options(dir.path())).unwrap();
    assert!(engine.healed.is_empty(), "{:?}", engine.healed);
    assert!(all(&engine).unwrap() == right);
    assert!(engine.shared.index.pairs.audit().unwrap());
}

#[test]
fn a_checkpoint_that_cannot_bring_the_tree_up_to_date_stops_the_writes() {
    let dir = tempfile::tempdir().unwrap();
    let engine = fill(dir.path());
    engine.shared.settle().unwrap();
    write(&engine, vec![change("a", Some(vec![1]))]).unwrap();
    let right = all(&engine).unwrap();
    engine.shared.index.pairs.breaks.store(true, std::sync::atomic::Ordering::SeqCst);
    engine.checkpoint().unwrap_err();
    // What the tree says of itself is not known any more.
    assert_eq!(write(&engine, vec![change("b", None)]).unwrap_err().kind, UNAVAILABLE);
    assert!(all(&engine).unwrap() == right);
    block_on(engine.close()).unwrap();
    drop(engine);
    let engine = Embedded::open(large(dir.path())).unwrap();
    assert!(engine.healed.iter().any(|trouble| trouble.file == "index"), "it was made anew");
    assert!(all(&engine).unwrap() == right);
}

#[test]
fn a_stop_that_cannot_update_the_tree_has_it_rebuilt() {
    let dir = tempfile::tempdir().unwrap();
    let engine = fill(dir.path());
    engine.shared.settle().unwrap();
    write(&engine, vec![change("a", Some(vec![1]))]).unwrap();
    let right = all(&engine).unwrap();
    engine.shared.index.pairs.breaks.store(true, std::sync::atomic::Ordering::SeqCst);
    block_on(engine.close()).unwrap_err();
    drop(engine);
    let engine = Embedded::open(large(dir.path())).unwrap();
    assert!(engine.healed.iter().any(|trouble| trouble.file == "index"), "it was made anew");
    assert!(all(&engine).unwrap() == right);
}

#[test]
fn a_long_journal_is_verified_from_where_the_index_ends_before_opening_and_the_rest_afterwards() {
    let dir = tempfile::tempdir().unwrap();
    let right = filled(dir.path());
    // There is no checkpoint, so without the index all of the journal is needed.
    let old = dir.path().join("journal/00000002.log");
    let mut content = fs::read(&old).unwrap();
    content[1_000] ^= 1;
    fs::write(&old, &content).unwrap();
    let engine = Embedded::open(large(dir.path())).unwrap();
    assert!(soon(|| engine.write_fault().is_some()), "the damage is found");
    assert!(all(&engine).unwrap() == right, "reads go on");
    drop(engine);
    fs::remove_dir_all(dir.path().join("index")).unwrap();
    let error = Embedded::open(large(dir.path())).unwrap_err();
    let OpenError::Damaged { file, .. } = &error else { panic!("{error}") };
    assert_eq!(*file, old);
    content[1_000] ^= 1;
    fs::write(&old, content).unwrap();
    let engine = Embedded::open(large(dir.path())).unwrap();
    assert!(all(&engine).unwrap() == right);
}

#[test]
fn a_long_journal_without_the_file_that_follows_a_packed_one_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let engine = Embedded::open(options(dir.path())).unwrap();
    while engine.shared.head().at.segment < 3 {
        write(&engine, vec![change("a", Some(vec![7; 3_000]))]).unwrap();
    }
    engine.pack().unwrap();
    block_on(engine.close()).unwrap();
    let disk = engine.shared.disk.clone();
    drop(engine);
    // As after a start that found no frame in the last file: the index ends where that file begins.
    let header = Header::read(&*disk, 3).unwrap().unwrap();
    let at = Position { segment: 3, offset: HEADER_BYTES };
    let head = Head { sequence: header.first - 1, hash: header.before, at };
    let pairs = Pairs::open(&dir.path().join("index"), 1024 * 1024).unwrap();
    pairs.apply(&Layer::default(), Some(Reach::exactly(head))).unwrap();
    drop(pairs);
    for mark in ["journal/tail", "clean"] {
        fs::remove_file(dir.path().join(mark)).unwrap();
    }
    let last = fs::File::options().write(true).open(dir.path().join("journal/00000003.log")).unwrap();
    last.set_len(HEADER_BYTES).unwrap();
    let error = Embedded::open(large(dir.path())).unwrap_err().to_string();
    assert!(error.contains("it is missing or empty, but journal/00000002.log was packed"), "{error}");
}

#[test]
fn the_index_of_another_long_journal_is_made_anew() {
    let [own, other] = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let [right, _] = [&own, &other].map(|dir| {
        let engine = fill(dir.path());
        write(&engine, vec![change("where", Some(dir.path().to_str().unwrap().into()))]).unwrap();
        let all = all(&engine).unwrap();
        block_on(engine.close()).unwrap();
        all
    });
    fs::remove_dir_all(own.path().join("index")).unwrap();
    fs::rename(other.path().join("index"), own.path().join("index")).unwrap();
    let engine = Embedded::open(large(own.path())).unwrap();
    assert!(engine.healed.iter().any(|trouble| trouble.file == "index"), "{:?}", engine.healed);
    assert!(all(&engine).unwrap() == right);
}
