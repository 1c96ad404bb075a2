//! The packing of closed files: broken off anywhere, refused by the disk, beside readers and writers, killed.

use super::super::disk::{Disk, JOURNAL};
use super::super::packed::Packed;
use super::super::segment::{begin, name, segments};
use super::super::{Embedded, Options};
use super::sim::{Failing, Loss, SimDisk};
use super::world::*;
use crate::store::engine::{Engine, Pair};
use mfa_shared::fault::UNAVAILABLE;
use std::io::{BufRead, BufReader, ErrorKind};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::time::Duration;

/// Three closed files and the one behind them; what is in them, and what is in the files themselves.
fn closed(disk: &SimDisk, dir: &Path) -> (Embedded, Vec<Pair>, Vec<Vec<u8>>) {
    let engine = open_on(dir, Arc::new(disk.clone())).unwrap();
    while engine.shared.head().at.segment < 4 {
        let number = engine.sequence() as u8;
        write(&engine, vec![change([number], Some(vec![number; 1_500]))]).unwrap();
    }
    let right = all(&engine).unwrap();
    (engine, right, (1..4).map(|segment| disk.content(&name(segment))).collect())
}

fn is_packed(disk: &SimDisk, segment: u64) -> bool {
    disk.content(&name(segment)).starts_with(b"MFApack1")
}

/// What a file says when it is read at the offsets of the plain one.
fn plain_content(disk: &SimDisk, segment: u64) -> Vec<u8> {
    if !is_packed(disk, segment) {
        return disk.content(&name(segment));
    }
    let packed: Box<dyn super::super::disk::DiskFile> =
        Box::new(Packed::open(disk.open(&name(segment)).unwrap().unwrap()).unwrap());
    let mut content = vec![0; packed.bytes().unwrap() as usize];
    packed.read_at(0, &mut content).unwrap();
    content
}

/// Every file is the plain or the packed one, and a start finds all and leaves no draft.
fn whole(disk: &SimDisk, dir: &Path, right: &[Pair], files: &[Vec<u8>], what: &str) {
    for (segment, plain) in (1..).zip(files) {
        assert!(plain_content(disk, segment) == *plain, "{what}: file {segment}");
    }
    let engine = open_on(dir, Arc::new(disk.clone())).unwrap();
    assert!(all(&engine).unwrap() == right, "{what}");
    assert_eq!(engine.journal(0).map(Result::unwrap).count() as u64, engine.sequence(), "{what}");
    assert!(!disk.list(JOURNAL).unwrap().contains(&"pack.tmp".to_owned()), "{what}");
    engine.pack().unwrap();
    assert!((1..=files.len() as u64).all(|segment| is_packed(disk, segment)), "{what}");
    write(&engine, vec![change("more", Some(vec![1]))]).unwrap();
}

/// How many operations it takes to pack all of them.
fn operations(reads_count: bool) -> u64 {
    let disk = SimDisk::new(reads_count);
    let dir = tempfile::tempdir().unwrap();
    let (engine, ..) = closed(&disk, dir.path());
    let before = disk.operations();
    engine.pack().unwrap();
    disk.operations() - before
}

#[test]
fn a_crash_at_any_step_of_packing_leaves_the_plain_or_the_packed_file() {
    let count = operations(false);
    assert!(count > 20, "packing has only {count} operations");
    let packed = AtomicU64::new(0);
    for n in 1..=count {
        let disk = SimDisk::new(false);
        let dir = tempfile::tempdir().unwrap();
        let (engine, right, files) = closed(&disk, dir.path());
        disk.fail(Failing::Off(disk.operations() + n));
        engine.pack().unwrap_err();
        drop(engine);
        for loss in [Loss::All, Loss::Nothing, Loss::Some(n), Loss::Some(n + 1_000)] {
            let crashed = disk.crash(loss);
            let place = tempfile::tempdir().unwrap();
            packed.fetch_add((1..4).filter(|segment| is_packed(&crashed, *segment)).count() as u64, SeqCst);
            whole(&crashed, place.path(), &right, &files, &format!("operation {n}, lost {loss:?}"));
        }
    }
    assert!(packed.into_inner() > count, "some were packed before the crash");
}

#[test]
fn a_file_is_not_packed_before_there_is_a_commit_behind_it() {
    let disk = SimDisk::new(false);
    let dir = tempfile::tempdir().unwrap();
    let (engine, right, files) = closed(&disk, dir.path());
    let head = engine.shared.head();
    drop(engine);
    // The process was killed between the making of the next file and the commit for which it was made.
    begin(&disk, &head, 5).unwrap();
    for lost in [false, true] {
        if lost {
            disk.put(&name(5), &[]);
        }
        let dir = tempfile::tempdir().unwrap();
        let engine = open_on(dir.path(), Arc::new(disk.clone())).unwrap();
        assert_eq!(engine.shared.head().at.segment, if lost { 4 } else { 5 });
        engine.pack().unwrap();
        assert!(is_packed(&disk, 3) && !is_packed(&disk, 4));
    }
    whole(&disk, dir.path(), &right, &files, "one more file");
}

#[test]
fn a_disk_that_fails_while_a_file_is_packed_harms_nothing() {
    let count = operations(true);
    let mut refusals = 0;
    for n in 1..=count {
        for failing in [|n| Failing::Once(n), |n| Failing::From(n)] {
            let disk = SimDisk::new(true);
            let dir = tempfile::tempdir().unwrap();
            let (engine, right, files) = closed(&disk, dir.path());
            let failing = failing(disk.operations() + n);
            disk.fail(failing);
            engine.pack().unwrap_err();
            disk.fail(Failing::Never);
            // What a folder that was not synced has of its names is not known, so nothing more is written.
            let written = write(&engine, vec![change("later", Some(vec![1]))]);
            refusals += u64::from(written.is_err());
            assert_eq!(written.is_err(), engine.final_fault().is_some(), "{failing:?}");
            assert!(written.is_ok() || written.unwrap_err().kind == UNAVAILABLE);
            let mut expected = right;
            if engine.final_fault().is_none() {
                expected = all(&engine).unwrap();
                assert!(expected.iter().any(|(key, _)| key == b"later"));
            }
            drop(engine);
            whole(&disk.crash(Loss::All), dir.path(), &expected, &files, &format!("{failing:?}"));
        }
    }
    assert!((3..count).contains(&refusals), "{refusals} of {count} syncs were those of the folder");
}

#[test]
fn a_full_disk_is_not_filled_further_and_is_packed_when_there_is_space() {
    let count = operations(false);
    for n in 0..=count {
        for long in [1, 4, u64::MAX] {
            let disk = SimDisk::new(false);
            let dir = tempfile::tempdir().unwrap();
            let (engine, _, files) = closed(&disk, dir.path());
            let from = disk.operations() + n;
            disk.fail(Failing::Full(from, from.saturating_add(long)));
            if let Err(error) = engine.pack() {
                assert_eq!(error.kind(), ErrorKind::StorageFull, "{n} {long}");
            }
            assert!(!disk.list(JOURNAL).unwrap().contains(&"pack.tmp".to_owned()), "{n} {long}");
            assert_eq!(engine.final_fault(), None);
            disk.fail(Failing::Never);
            write(&engine, vec![change("later", Some(vec![1]))]).unwrap();
            engine.pack().unwrap();
            let right = all(&engine).unwrap();
            drop(engine);
            whole(&disk.crash(Loss::All), dir.path(), &right, &files, &format!("{n} {long}"));
        }
    }
    // What is kept back for the journal is not touched.
    let disk = SimDisk::new(false);
    let dir = tempfile::tempdir().unwrap();
    let (engine, ..) = closed(&disk, dir.path());
    disk.fail(Failing::Reserve);
    let before = disk.operations();
    assert_eq!(engine.pack().unwrap_err().kind(), ErrorKind::StorageFull);
    assert_eq!(disk.operations(), before + 1, "only the draft is looked for");
    assert!(!(1..4).any(|segment| is_packed(&disk, segment)));
}

#[test]
fn closed_files_are_packed_in_the_background_and_after_a_start() {
    let dir = tempfile::tempdir().unwrap();
    let packs = |packs| Options { packs, ..options(dir.path()) };
    let plain = || {
        let begins =
            |file: &u64| !std::fs::read(dir.path().join(name(*file))).unwrap().starts_with(b"MFApack1");
        let files = segments(&super::super::disk::RealDisk::new(dir.path())).unwrap();
        (files.len(), files.into_iter().filter(begins).count())
    };
    let fill = |engine: &Embedded| {
        for number in 0..20u8 {
            write(engine, vec![change([number], Some(vec![number; 2_000]))]).unwrap();
        }
    };
    let engine = Embedded::open(packs(false)).unwrap();
    fill(&engine);
    drop(engine);
    let (files, left) = plain();
    assert!(files > 4 && left == files, "no one asked for it");
    let engine = Embedded::open(packs(true)).unwrap();
    assert!(soon(|| plain().1 == 1), "those that were there");
    fill(&engine);
    assert!(soon(|| plain().1 == 1) && plain().0 > files + 4, "and those that were closed since");
    let right = all(&engine).unwrap();
    block_on(engine.close()).unwrap();
    drop(engine);
    assert!(all(&Embedded::open(packs(true)).unwrap()).unwrap() == right);
}

#[test]
fn packing_ends_when_the_store_closes() {
    let disk = SimDisk::new(false);
    let dir = tempfile::tempdir().unwrap();
    let (engine, right, files) = closed(&disk, dir.path());
    engine.shared.stopping.store(true, SeqCst);
    assert_eq!(engine.pack().unwrap_err().kind(), ErrorKind::Interrupted);
    assert!(!(1..4).any(|segment| is_packed(&disk, segment)));
    drop(engine);
    whole(&disk, dir.path(), &right, &files, "closed");
}

#[test]
fn readers_see_every_commit_while_files_are_packed() {
    let dir = tempfile::tempdir().unwrap();
    let engine = Embedded::open(Options { segment_bytes: 2_000, ..options(dir.path()) }).unwrap();
    let done = AtomicBool::new(false);
    let read = AtomicU64::new(0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(SeqCst) {
                engine.pack().unwrap();
            }
        });
        for reader in 0..2u64 {
            let (engine, done, read) = (&engine, &done, &read);
            scope.spawn(move || {
                let mut feed = engine.journal(0);
                let mut next = 1u64;
                while !done.load(SeqCst) {
                    // One goes on where it was, the other one begins anew.
                    if reader == 0 {
                        (feed, next) = (engine.journal(0), 1);
                    }
                    for found in feed.by_ref() {
                        let (sequence, commit) = found.unwrap();
                        assert_eq!((sequence, &commit.changes[0].key), (next, &next.to_be_bytes().to_vec()));
                        next += 1;
                    }
                    read.fetch_add(1, SeqCst);
                }
            });
        }
        let wait = Duration::from_secs(60);
        let looked = || super::super::look_at_journal(dir.path(), std::time::Instant::now() + wait).unwrap();
        for number in 1..=600u64 {
            let bytes = number as usize % 700;
            write(&engine, vec![change(number.to_be_bytes(), Some(vec![number as u8; bytes]))]).unwrap();
            if number % 50 == 0 {
                assert!(looked().commits >= number, "a look from outside sees them, too");
            }
        }
        done.store(true, SeqCst);
    });
    assert!(read.into_inner() > 4);
    assert!(engine.journal(0).map(|found| found.unwrap().0).eq(1..=600));
}

/// Names the folder to the process that is killed.
const FOLDER: &str = "MFA_TEST_PACKING_FOLDER";

#[test]
#[ignore = "the process that is killed in the next test"]
fn writes_until_it_is_killed() {
    let dir = std::env::var_os(FOLDER).unwrap();
    let engine = Embedded::open(Options { packs: true, ..options(Path::new(&dir)) }).unwrap();
    loop {
        let number = engine.sequence() + 1;
        let value = vec![number as u8; 100 + number as usize % 900];
        write(&engine, vec![change(number.to_be_bytes(), Some(value))]).unwrap();
        if number.is_multiple_of(150) {
            engine.checkpoint().unwrap();
        }
        println!("acknowledged {number}");
    }
}

#[test]
fn nothing_acknowledged_is_lost_by_kills_while_files_are_packed() {
    let dir = tempfile::tempdir().unwrap();
    let (mut acknowledged, mut drafts) = (0, 0);
    for kill in 0..60u64 {
        let own = "store::embedded::tests::packing::writes_until_it_is_killed";
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([own, "--exact", "--ignored", "--nocapture"])
            .env(FOLDER, dir.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let read = std::thread::spawn(move || {
            let numbers = lines.map_while(Result::ok);
            numbers.filter_map(|line| line.strip_prefix("acknowledged ")?.parse::<u64>().ok()).last()
        });
        std::thread::sleep(Duration::from_millis(30 + kill * 7 % 200));
        child.kill().unwrap();
        child.wait().unwrap();
        acknowledged = read.join().unwrap().unwrap_or(acknowledged);
        drafts += u64::from(dir.path().join("journal/pack.tmp").exists());
        let engine = Embedded::open(Options { packs: kill % 2 == 0, ..options(dir.path()) }).unwrap();
        assert!(engine.sequence() >= acknowledged, "{kill}: {acknowledged} is lost");
        assert_eq!(all(&engine).unwrap().len() as u64, engine.sequence(), "{kill}");
        assert!(engine.journal(0).map(|found| found.unwrap().0).eq(1..=engine.sequence()), "{kill}");
    }
    let files = segments(&super::super::disk::RealDisk::new(dir.path())).unwrap().len();
    println!("{acknowledged} acknowledged in {files} files; {drafts} kills met a file that was being packed");
    assert!(acknowledged > 200 && files > 20, "{acknowledged} in {files}");
}
