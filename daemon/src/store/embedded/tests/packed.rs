//! The packed form of a journal file: it reads as the plain one, and what is damaged in it is refused.

use super::super::disk::{Disk, RealDisk};
use super::super::head::{HEADER_BYTES, Position};
use super::super::packed::{BLOCK_BYTES, Packed, pack, same};
use super::super::segment::{Reader, Step, name};
use super::super::{Embedded, Options};
use super::damage::{copy, damage};
use super::sim::{Chance, SimDisk};
use super::world::*;
use crate::store::engine::{Engine, Pair};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

/// One frame as far as it is compared: where it begins, its hash, and its commits.
type Seen = (u64, [u8; 32], usize);

/// The frames of the first file from one place on.
fn frames(disk: &dyn Disk, store: &[u8; 32], offset: u64) -> Vec<Seen> {
    let mut reader = Reader::open(disk, store, Position { segment: 1, offset }).unwrap().unwrap();
    let mut seen = Vec::new();
    loop {
        let at = reader.offset();
        match reader.next().unwrap() {
            Step::Frame(frame) => seen.push((at, frame.hash, frame.commits.len())),
            Step::End => return seen,
            Step::Bad { why, .. } => panic!("{why} at byte {at}"),
        }
    }
}

#[test]
fn a_packed_file_reads_as_the_plain_one_from_any_offset() {
    for seed in 0..4 {
        let dir = tempfile::tempdir().unwrap();
        let disk = SimDisk::new(false);
        let mut chance = Chance(seed);
        let options = Options { segment_bytes: 3 << 20, recent_keys: 1_000, ..options(dir.path()) };
        let engine = Embedded::open_on(options, Arc::new(disk.clone())).unwrap();
        let mut noise = chance.clone();
        while engine.shared.head().at.segment == 1 {
            // Some frames are longer than a block, and some values cannot be compressed.
            let bytes = if chance.below(9) == 0 {
                chance.below(BLOCK_BYTES + BLOCK_BYTES / 4)
            } else {
                chance.below(9_000)
            };
            let value = match chance.below(3) {
                0 => (0..bytes).map(|_| noise.below(256) as u8).collect(),
                _ => vec![chance.below(256) as u8; bytes],
            };
            write(&engine, vec![change([chance.below(99) as u8], Some(value))]).unwrap();
        }
        let store = engine.shared.store;
        let plain = disk.content(&name(1));
        let right = frames(&disk, &store, HEADER_BYTES);
        engine.pack().unwrap();
        let packed = disk.content(&name(1));
        assert!(packed.starts_with(b"MFApack1") && packed.len() < plain.len());
        assert!(frames(&disk, &store, HEADER_BYTES) == right);
        for (number, (offset, ..)) in right.iter().enumerate().step_by(7) {
            assert!(frames(&disk, &store, *offset) == right[number..]);
        }
        let file = Packed::open(disk.open(&name(1)).unwrap().unwrap()).unwrap();
        let file: &dyn super::super::disk::DiskFile = &file;
        assert_eq!(file.bytes().unwrap(), plain.len() as u64);
        for _ in 0..60 {
            let offset = chance.below(plain.len() + 99);
            let mut buffer = vec![0; chance.below(2 * BLOCK_BYTES)];
            let read = file.read_at(offset as u64, &mut buffer).unwrap();
            let expected = plain.get(offset..).unwrap_or_default();
            assert_eq!(read, expected.len().min(buffer.len()));
            assert!(buffer[..read] == expected[..read], "{read} bytes at {offset}");
        }
    }
}

#[test]
fn a_file_that_does_not_read_as_the_plain_one_is_noticed() {
    let disk = SimDisk::new(false);
    let plain = disk.create("plain").unwrap();
    let content: Vec<u8> = (0..2_600_000u32).map(|at| (at / 7) as u8).collect();
    plain.write_at(0, &content).unwrap();
    let draft = disk.create("draft").unwrap();
    pack(&*plain, &*draft, &|| Ok(())).unwrap();
    let same = |disk: &SimDisk| {
        let packed = Packed::open(disk.open("draft").unwrap().unwrap()).unwrap();
        same(&*disk.open("plain").unwrap().unwrap(), &packed, &|| Ok(())).unwrap()
    };
    assert!(same(&disk));
    for at in [0, 63, 64, 1_300_000, 2_599_999] {
        let mut other = content.clone();
        other[at] ^= 1;
        disk.put("plain", &other);
        assert!(!same(&disk), "byte {at}");
    }
    disk.put("plain", &content[..2_599_999]);
    assert!(!same(&disk), "it is shorter");
}

#[test]
fn a_packed_file_with_wrong_lengths_is_refused_without_taking_memory() {
    let dir = tempfile::tempdir().unwrap();
    let disk = SimDisk::new(false);
    let engine = open_on(dir.path(), Arc::new(disk.clone())).unwrap();
    for number in 0..9u8 {
        write(&engine, vec![change([number], Some(vec![number; 3_000]))]).unwrap();
    }
    engine.pack().unwrap();
    drop(engine);
    let good = disk.content(&name(2));
    // The table of one block, the length of the plain file, the checksum of both, the magic.
    let table_at = good.len() - 8 - 4 - 8 - 8;
    for (stored, plain) in
        [(u32::MAX, 6_000u64), (9, 6_000), (0, u64::MAX), (0, 1 << 40), (0, 3), (1 << 30, 300_000)]
    {
        let mut content = good.clone();
        if stored > 0 {
            content[table_at..table_at + 4].copy_from_slice(&stored.to_le_bytes());
        }
        content[table_at + 8..table_at + 16].copy_from_slice(&plain.to_le_bytes());
        let checksum = crc32fast::hash(&content[table_at..table_at + 16]);
        content[table_at + 16..table_at + 20].copy_from_slice(&checksum.to_le_bytes());
        disk.put(&name(2), &content);
        let place = tempfile::tempdir().unwrap();
        let error = open_on(place.path(), Arc::new(disk.clone())).unwrap_err().to_string();
        assert!(error.contains("00000002.log is damaged: it"), "{stored} {plain}: {error}");
    }
    disk.put(&name(2), &good);
    drop(open_on(tempfile::tempdir().unwrap().path(), Arc::new(disk)).unwrap());
}

#[test]
fn a_damaged_block_is_reported_with_its_file_and_byte() {
    let dir = tempfile::tempdir().unwrap();
    let engine = Embedded::open(options(dir.path())).unwrap();
    for number in 0..9u8 {
        write(&engine, vec![change([number], Some(vec![number; 3_000]))]).unwrap();
    }
    engine.pack().unwrap();
    let file = dir.path().join(name(2));
    let mut content = fs::read(&file).unwrap();
    content[90] ^= 1;
    fs::write(&file, content).unwrap();
    let found = engine.journal(0).filter_map(Result::err).next().unwrap();
    assert_eq!(found.detail, "the journal cannot be read at present");
    drop(engine);
    let error = Embedded::open(options(dir.path())).unwrap_err().to_string();
    let expected = format!("{} is damaged: the checksum of the block at byte 72 is wrong", file.display());
    assert!(error.starts_with(&expected) && error.contains("from a backup"), "{error}");
}

#[test]
fn a_packed_file_knows_that_more_was_written_behind_it() {
    let make = || {
        let dir = tempfile::tempdir().unwrap();
        let disk = SimDisk::new(false);
        let engine = open_on(dir.path(), Arc::new(disk.clone())).unwrap();
        while engine.shared.head().at.segment < 3 {
            write(&engine, vec![change("a", Some(vec![7; 3_000]))]).unwrap();
        }
        engine.pack().unwrap();
        drop(engine);
        for mark in ["journal/tail", "clean"] {
            disk.remove(mark).unwrap();
        }
        disk
    };
    let end = |left: Option<usize>| {
        let disk = make();
        let place = tempfile::tempdir().unwrap();
        match left {
            Some(bytes) => disk.put(&name(3), &disk.content(&name(3))[..bytes]),
            None => disk.remove(&name(3)).unwrap(),
        }
        open_on(place.path(), Arc::new(disk)).map(drop).map_err(|error| error.to_string())
    };
    for left in [None, Some(0), Some(30), Some(HEADER_BYTES as usize), Some(200)] {
        let error = end(left).unwrap_err();
        let expected = "00000003.log is damaged: it is missing or empty, but journal/00000002.log was packed";
        assert!(error.contains(expected), "{left:?}: {error}");
    }
    let disk = make();
    let place = tempfile::tempdir().unwrap();
    drop(open_on(place.path(), Arc::new(disk)).unwrap());
}

/// A data directory without an index, so that checkpoints are needed, and nearly all of it packed.
fn made() -> (tempfile::TempDir, Vec<Pair>, u64) {
    let dir = tempfile::tempdir().unwrap();
    let engine = Embedded::open(options(dir.path())).unwrap();
    for number in 0..80u8 {
        let value = vec![number; 20 + 29 * usize::from(number)];
        write(&engine, vec![change([number], Some(value)), change("last", Some(vec![number]))]).unwrap();
        if [30, 60].contains(&number) {
            engine.checkpoint().unwrap();
        }
    }
    engine.pack().unwrap();
    let right = all(&engine).unwrap();
    let sequence = engine.sequence();
    block_on(engine.close()).unwrap();
    drop(engine);
    fs::remove_dir_all(dir.path().join("index")).unwrap();
    (dir, right, sequence)
}

/// Damages one packed file or checkpoint of a copy; says whether it opened.
fn damaged(made: &Path, seed: u64, right: &[Pair], sequence: u64) -> bool {
    let dir = tempfile::tempdir().unwrap();
    copy(made, dir.path());
    let mut chance = Chance(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let disk = RealDisk::new(dir.path());
    let logs = disk.list("journal").unwrap().into_iter().filter(|name| name.ends_with(".log"));
    let mut names: Vec<_> = logs.map(|name| format!("journal/{name}")).collect();
    names.pop();
    names.extend(disk.list("checkpoint").unwrap().into_iter().map(|name| format!("checkpoint/{name}")));
    let name = &names[chance.below(names.len())];
    let how = damage(&dir.path().join(name), &mut chance);
    match Embedded::open(options(dir.path())) {
        Ok(engine) => {
            assert!(name.starts_with("checkpoint/") || how.contains("zeros from"), "{seed} {name} {how}");
            assert!(all(&engine).unwrap() == right, "seed {seed}, {name}, {how}");
            let found = engine.journal(0).map(|commit| commit.unwrap().0);
            assert!(found.eq(1..=sequence), "seed {seed}, {name}, {how}");
            true
        }
        Err(error) => {
            let text = error.to_string();
            let file = dir.path().join(name).display().to_string();
            assert!(
                name.starts_with("journal/") && text.contains(&file),
                "seed {seed}, {name}, {how}: {text}"
            );
            false
        }
    }
}

#[test]
fn damage_to_packed_files_and_checkpoints_is_healed_or_refused() {
    let (made, right, sequence) = made();
    let (next, opened) = (AtomicU64::new(0), AtomicU64::new(0));
    let walk = || {
        while let Some(seed) = Some(next.fetch_add(1, SeqCst)).filter(|seed| *seed < 1_000) {
            opened.fetch_add(u64::from(damaged(made.path(), seed, &right, sequence)), SeqCst);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(walk);
        }
    });
    let opened = opened.into_inner();
    assert!((20..500).contains(&opened), "{opened} of 1,000 opened");
}
