//! Checkpoints: made beside the writer, used when the index is gone, and replaced by what is older.

use super::super::checkpoint::list;
use super::super::disk::RealDisk;
use super::super::packed::{compress, decompress};
use super::super::{Embedded, Options};
use super::sim::Chance;
use super::world::*;
use crate::store::engine::Engine;
use crate::store::figures::Own;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

const HEADER_BYTES: usize = 80;

fn without_index(options: Options) -> Embedded {
    fs::remove_dir_all(options.dir.join("index")).unwrap();
    Embedded::open(options).unwrap()
}

fn dumps(dir: &Path) -> Vec<PathBuf> {
    let names = list(&RealDisk::new(dir)).unwrap();
    names.into_iter().map(|checkpoint| dir.join(checkpoint.name)).collect()
}

/// Work by chance on few keys, with long values that come and go.
fn churn(engine: &Embedded, chance: &mut Chance, count: usize) {
    for _ in 0..count {
        let key = [chance.below(100) as u8, 1];
        let value = match chance.below(4) {
            0 => None,
            1 => Some(vec![chance.below(256) as u8; 4_000 + chance.below(9_000)]),
            _ => Some(vec![chance.below(256) as u8; chance.below(300)]),
        };
        write(engine, vec![change(key, value), change("last", Some(vec![key[0]]))]).unwrap();
    }
}

#[test]
fn figures_are_of_the_files_and_of_what_was_committed() {
    let dir = tempfile::tempdir().unwrap();
    // Every commit goes into a journal file of its own.
    let engine = Embedded::open(Options { segment_bytes: 1, ..options(dir.path()) }).unwrap();
    let on_disk = || -> u64 {
        let files = fs::read_dir(dir.path().join("journal")).unwrap().map(Result::unwrap);
        let logs = files.filter(|file| file.path().extension().is_some_and(|end| end == "log"));
        logs.map(|file| file.metadata().unwrap().len()).sum()
    };
    let seen = || {
        let figures = engine.figures();
        let Own::Embedded { groups, journal_bytes, index_bytes, grown_bytes, checkpoint, .. } = figures.own
        else {
            panic!("this is the embedded engine")
        };
        assert_eq!(journal_bytes, Some(on_disk()));
        assert_eq!(figures.waiting, 0);
        // Before the tree has written its file out, its size is known and may be nothing.
        (figures.commits.count, groups.sum, grown_bytes, checkpoint, index_bytes.unwrap())
    };
    let before = seen();
    assert_eq!((before.0, before.1, before.3), (0, 0, None));
    for value in 0..3 {
        write(&engine, vec![change("a", Some(vec![value]))]).unwrap();
    }
    // A transaction that changes nothing is no commit.
    write(&engine, Vec::new()).unwrap();
    let after = seen();
    assert_eq!((after.0, after.1, after.3), (3, 3, None));
    assert!(after.2 > before.2);
    engine.checkpoint().unwrap();
    let (.., grown_bytes, checkpoint, _) = seen();
    let age = crate::clock::Clock::system().now().millis() - checkpoint.unwrap().millis();
    assert!(grown_bytes == 0 && (0..60_000).contains(&age), "{grown_bytes} {age}");
    block_on(engine.close()).unwrap();
    let (.., index_bytes) = seen();
    assert!(index_bytes > 0);
}

#[test]
fn a_checkpoint_that_was_made_beside_the_writer_leads_to_the_same_index() {
    let dir = tempfile::tempdir().unwrap();
    let mut engine = Embedded::open(options(dir.path())).unwrap();
    for round in 0..6 {
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(SeqCst) {
                    engine.checkpoint().unwrap();
                }
            });
            churn(&engine, &mut Chance(round), 150);
            done.store(true, SeqCst);
        });
        let right = all(&engine).unwrap();
        assert_eq!(dumps(dir.path()).len(), 2);
        drop(engine);
        engine = without_index(options(dir.path()));
        assert!(all(&engine).unwrap() == right);
        assert!(engine.shared.index.pairs.audit().unwrap());
    }
}

#[test]
fn a_damaged_checkpoint_falls_back_to_the_one_before_then_the_journal() {
    let dir = tempfile::tempdir().unwrap();
    let mut engine = Embedded::open(options(dir.path())).unwrap();
    for round in 0..3 {
        churn(&engine, &mut Chance(round), 30);
        engine.checkpoint().unwrap();
    }
    churn(&engine, &mut Chance(9), 30);
    let right = all(&engine).unwrap();
    let dumps = dumps(dir.path());
    drop(engine);
    for dump in dumps {
        let mut content = fs::read(&dump).unwrap();
        let middle = content.len() / 2;
        content[middle] ^= 1;
        fs::write(&dump, content).unwrap();
        engine = without_index(options(dir.path()));
        assert!(all(&engine).unwrap() == right);
        drop(engine);
    }
}

/// Writes the first block of a checkpoint anew, with what `change` makes of its pairs and their length.
fn with_first_block(dump: &Path, change: impl FnOnce(Vec<u8>, usize) -> (usize, Vec<u8>)) {
    let content = fs::read(dump).unwrap();
    let number = |at: usize| u32::from_le_bytes(content[at..at + 4].try_into().unwrap()) as usize;
    let (begin, end) = (HEADER_BYTES + 8, HEADER_BYTES + 8 + number(HEADER_BYTES));
    let bytes = number(begin);
    let (bytes, pairs) = change(decompress(&content[begin + 4..end], bytes).unwrap(), bytes);
    let payload = [&(bytes as u32).to_le_bytes()[..], &compress(&pairs).unwrap()].concat();
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&0u64.to_le_bytes());
    hasher.update(&payload);
    let mut forged = content[..HEADER_BYTES].to_vec();
    forged.extend_from_slice(&(payload.len() as u32).to_le_bytes());
    forged.extend_from_slice(&hasher.finalize().to_le_bytes());
    forged.extend_from_slice(&payload);
    forged.extend_from_slice(&content[end..]);
    fs::write(dump, forged).unwrap();
}

#[test]
fn a_checkpoint_with_a_wrong_block_length_is_not_used() {
    for lie in [0, 3, u32::MAX as usize, 65 << 20] {
        let dir = tempfile::tempdir().unwrap();
        let engine = Embedded::open(options(dir.path())).unwrap();
        write(&engine, vec![change("a", Some(vec![7; 9_000]))]).unwrap();
        engine.checkpoint().unwrap();
        let right = all(&engine).unwrap();
        block_on(engine.close()).unwrap();
        drop(engine);
        with_first_block(&dumps(dir.path())[0], |pairs, _| (lie, pairs));
        let engine = without_index(options(dir.path()));
        let found = block_on(engine.troubles()).unwrap();
        assert!(found.iter().any(|trouble| trouble.why.contains("cannot be read")), "{lie}: {found:?}");
        assert!(all(&engine).unwrap() == right);
    }
}

#[test]
fn the_newest_checkpoint_serves_when_the_index_is_gone() {
    let dir = tempfile::tempdir().unwrap();
    close_with_checkpoint(dir.path());
    // There is no other way to see where a value came from, so one is forged.
    let dump = &dumps(dir.path())[0];
    let forge = |mut pairs: Vec<u8>, _| {
        let at = pairs.len() - 16;
        pairs[at..].copy_from_slice(b"from a dump here");
        (pairs.len(), pairs)
    };
    with_first_block(dump, forge);
    let engine = without_index(options(dir.path()));
    assert_eq!(all(&engine).unwrap()[0].1, b"from a dump here");
}

#[test]
fn a_checkpoint_is_made_when_the_journal_has_grown() {
    let dir = tempfile::tempdir().unwrap();
    let options = Options { checkpoint_bytes: 20_000, ..options(dir.path()) };
    let engine = Embedded::open(options).unwrap();
    let grow = |bytes: usize| {
        for number in 0..bytes / 1_000 {
            write(&engine, vec![change("a", Some(vec![number as u8; 1_000]))]).unwrap();
        }
    };
    grow(15_000);
    assert!(!engine.shared.checkpoint_due.load(SeqCst) && dumps(dir.path()).is_empty());
    // A checkpoint is made beside the writer, which does not wait for it.
    assert!(soon(|| {
        grow(10_000);
        dumps(dir.path()).len() == 2
    }));
    block_on(engine.close()).unwrap();
    assert_eq!(dumps(dir.path()).len(), 2);
    assert!(!dir.path().join("checkpoint/tmp").exists());
}
