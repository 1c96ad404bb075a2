//! A disk that fails at the n-th operation, for every n, once or from then on.

use super::super::Embedded;
use super::super::disk::Disk;
use super::super::segment;
use super::script::*;
use super::sim::{Failing, Loss, SimDisk};
use super::world::*;
use crate::store::engine::Engine;
use mfa_shared::fault::UNAVAILABLE;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

fn fail(failing: Failing) -> Result<(), String> {
    let dir = tempfile::tempdir().unwrap();
    let disk = SimDisk::new(true);
    disk.fail(failing);
    // The script itself compares what is read after each step, and that writes stay refused.
    let (run, refused) = run(dir.path(), &disk, &script(), || ());
    if let Some(error) = refused {
        let named = error.to_string().contains(&dir.path().display().to_string());
        assert!(named, "a refusal names its file: {error}");
    }
    let found = |found| format!("{failing:?}: {found}");
    // The machine went down at once; or the next process finds what the system still has in memory, goes
    // on with that, and the machine goes down later.
    let crashed = disk.crash(Loss::All);
    let place = tempfile::tempdir().unwrap();
    check(place.path(), &crashed, &run).map_err(found)?;
    let seen = check(dir.path(), &disk.restart(), &run).map_err(found)?;
    let crashed = disk.crash(Loss::All);
    let place = tempfile::tempdir().unwrap();
    check(place.path(), &crashed, &Run { perhaps: seen.clone(), acknowledged: seen, refused: 0 })
        .map(drop)
        .map_err(found)
}

#[test]
fn a_disk_failure_at_any_operation_loses_nothing_and_stops_writes() {
    let dir = tempfile::tempdir().unwrap();
    let disk = SimDisk::new(true);
    assert!(run(dir.path(), &disk, &script(), || ()).1.is_none());
    let end = disk.operations();
    let next = AtomicU64::new(1);
    let walk = || {
        while let Some(n) = Some(next.fetch_add(1, SeqCst)).filter(|n| *n <= end) {
            fail(Failing::Once(n)).unwrap();
            fail(Failing::From(n)).unwrap();
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(walk);
        }
    });
}

/// From one operation on there is no space, for `operations` of them; says how many steps were taken back.
fn fill(from: u64, operations: u64) -> Result<u64, String> {
    let dir = tempfile::tempdir().unwrap();
    let disk = SimDisk::new(false);
    disk.fail(Failing::Full(from, from.saturating_add(operations)));
    let (run, refused) = run(dir.path(), &disk, &script(), || ());
    let found = |found| format!("full from {from} for {operations}: {found}");
    if let Some(error) = refused.filter(|_| !run.acknowledged.is_empty()) {
        return Err(found(format!("a store that is there does not open: {error}")));
    }
    for loss in [Loss::All, Loss::Nothing, Loss::Some(from)] {
        let crashed = disk.crash(loss);
        let place = tempfile::tempdir().unwrap();
        check(place.path(), &crashed, &run).map_err(found)?;
    }
    check(dir.path(), &disk.restart(), &run).map_err(found)?;
    Ok(run.refused)
}

#[test]
fn a_full_disk_takes_writes_back_and_goes_on_when_there_is_space() {
    let dir = tempfile::tempdir().unwrap();
    let disk = SimDisk::new(false);
    assert!(run(dir.path(), &disk, &script(), || ()).1.is_none());
    let end = disk.operations();
    let next = AtomicU64::new(1);
    let refused = AtomicU64::new(0);
    let walk = || {
        while let Some(n) = Some(next.fetch_add(1, SeqCst)).filter(|n| *n <= end) {
            for operations in [1, 5, 40, u64::MAX] {
                refused.fetch_add(fill(n, operations).unwrap(), SeqCst);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(walk);
        }
    });
    assert!(refused.into_inner() > end, "writes were refused");
}

#[test]
fn a_process_without_a_file_to_open_goes_on_writing() {
    let steps: Vec<Step> = script().into_iter().filter(|step| !matches!(step, Step::CleanStop)).collect();
    let dir = tempfile::tempdir().unwrap();
    let disk = SimDisk::new(false);
    drop(open_on(dir.path(), Arc::new(disk.clone())).unwrap());
    let opened = disk.operations();
    assert!(run(dir.path(), &disk, &steps, || ()).1.is_none());
    let end = disk.operations();
    for from in opened..end - opened {
        for operations in [1, 20, u64::MAX] {
            let dir = tempfile::tempdir().unwrap();
            let disk = SimDisk::new(false);
            disk.fail(Failing::NoFiles(from, from.saturating_add(operations)));
            let (run, _) = run(dir.path(), &disk, &steps, || ());
            assert_eq!(run.refused, 0, "no files from {from} for {operations}");
            assert!(run.acknowledged == run.perhaps, "no files from {from} for {operations}");
            check(dir.path(), &disk.crash(Loss::All), &run).unwrap();
        }
    }
}

#[test]
fn the_next_journal_file_is_begun_without_a_file_to_open() {
    let dir = tempfile::tempdir().unwrap();
    let disk = SimDisk::new(false);
    let engine = open_on(dir.path(), Arc::new(disk.clone())).unwrap();
    let fill = |files: usize| {
        for number in 0..200u8 {
            write(&engine, vec![change([number], Some(vec![number; 1_000]))]).unwrap();
            if segment::segments(&disk).unwrap().len() > files {
                return;
            }
        }
    };
    disk.fail(Failing::NoFiles(disk.operations(), u64::MAX));
    fill(1);
    assert_eq!(segment::segments(&disk).unwrap(), [1, 2], "the file that was open beforehand");
    fill(2);
    assert_eq!(segment::segments(&disk).unwrap(), [1, 2], "the last file goes on");
    disk.fail(Failing::Never);
    fill(2);
    assert_eq!(segment::segments(&disk).unwrap(), [1, 2, 3], "files can be opened again");
    let before = all(&engine).unwrap();
    drop(engine);
    let engine = open_on(dir.path(), Arc::new(disk.restart())).unwrap();
    assert_eq!(all(&engine).unwrap(), before);
}

#[test]
fn a_checkpoint_that_was_not_finished_takes_no_space() {
    let dir = tempfile::tempdir().unwrap();
    let disk = SimDisk::new(false);
    let draft = |disk: &SimDisk| disk.list("checkpoint").unwrap().contains(&"tmp".to_owned());
    let engine = open_on(dir.path(), Arc::new(disk.clone())).unwrap();
    for number in 0..40u8 {
        write(&engine, vec![change([number], Some(vec![number; 400]))]).unwrap();
    }
    let mut failed = 0;
    loop {
        disk.fail(Failing::Once(disk.operations() + failed + 1));
        if engine.checkpoint().is_ok() {
            break;
        }
        assert!(!draft(&disk), "operation {failed} of a checkpoint has failed");
        failed += 1;
    }
    assert!(failed > 6, "a checkpoint has only {failed} operations");
    drop(engine);
    disk.fail(Failing::Never);
    // The process was killed in the middle of one.
    disk.create("checkpoint/tmp").unwrap();
    let engine = open_on(dir.path(), Arc::new(disk.clone())).unwrap();
    assert!(!draft(&disk));
    assert_eq!(all(&engine).unwrap().len(), 40);
}

#[test]
fn a_broken_thread_leaves_no_one_waiting_and_notifies_the_process() {
    // One change is made durable by the thread that decides it, many by the other one.
    for changes in [1, 200] {
        let dir = tempfile::tempdir().unwrap();
        let disk = SimDisk::new(false);
        let engine = open_on(dir.path(), Arc::new(disk.clone())).unwrap();
        (0..3).for_each(|value| write(&engine, vec![change("a", Some(vec![value]))]).unwrap());
        engine.shared.settle().unwrap();
        disk.break_down();
        let queue = |number: u8| {
            engine.write(Box::new(move |_| Some(commit(vec![change([number], Some(vec![number]))]))))
        };
        let queued: Vec<_> = (0..changes).map(queue).collect();
        queued.into_iter().for_each(|job| assert_eq!(block_on(job).unwrap_err().kind, UNAVAILABLE));
        // A later caller may be the first to find out.
        assert_eq!(write(&engine, vec![change("b", None)]).unwrap_err().kind, UNAVAILABLE);
        assert!(engine.final_fault().is_some(), "the process leaves");
        assert_eq!(all(&engine).unwrap(), [(b"a".to_vec(), vec![2])]);
        block_on(engine.close()).unwrap();
    }
}

#[test]
fn changes_without_disk_space_stay_in_memory_and_settle_later() {
    for killed in [false, true] {
        let dir = tempfile::tempdir().unwrap();
        let disk = SimDisk::new(false);
        let mut options = options(dir.path());
        (options.recent_keys, options.segment_bytes) = (100_000, 64 << 20);
        let engine = Embedded::open_on(options.clone(), Arc::new(disk.clone())).unwrap();
        // By chance, so that they take as much space in the tree.
        let put = |number: u32| {
            let mut value = vec![0; 2_000];
            getrandom::fill(&mut value).unwrap();
            change(number.to_be_bytes(), Some(value))
        };
        write(&engine, (0..2_000).map(put).collect()).unwrap();
        assert_eq!(engine.shared.settle(), Ok(true));
        disk.fail(Failing::Reserve);
        write(&engine, (1_000..11_000).map(put).collect()).unwrap();
        let right = all(&engine).unwrap();
        let index = &engine.shared.index;
        let looks = AtomicU64::new(0);
        engine.shared.send_off();
        // There is space for some of it, which is taken before the first part goes into the tree.
        let room = || if looks.fetch_add(1, SeqCst) == 0 { 12 << 20 } else { 0 };
        assert_eq!(index.settle(room), Ok(false));
        assert!(looks.load(SeqCst) > 1 && index.is_stuck() && !index.can_settle(0), "it is half-way");
        assert_eq!(engine.shared.settle(), Ok(false));
        assert!(all(&engine).unwrap() == right);
        if killed {
            drop(engine);
            let engine = Embedded::open_on(options, Arc::new(disk.restart())).unwrap();
            assert!(all(&engine).unwrap() == right);
            continue;
        }
        // Meanwhile others write, and then there is space again.
        write(&engine, vec![change(1_000u32.to_be_bytes(), None)]).unwrap();
        disk.fail(Failing::Never);
        assert_eq!(engine.shared.settle(), Ok(true));
        assert!(!index.is_stuck() && index.pairs.audit().unwrap());
        assert_eq!(all(&engine).unwrap().len(), right.len() - 1);
    }
}
