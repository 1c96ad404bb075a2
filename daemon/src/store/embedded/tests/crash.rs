//! A crash at every operation of a script, with several kinds of loss.

use super::script::*;
use super::sim::{Failing, Loss, SimDisk};
use super::world::*;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

/// What the crash left of the index.
#[derive(Debug, Clone, Copy)]
enum Left {
    Kept,
    Lost,
    Older,
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let to = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &to);
        } else {
            fs::copy(&path, &to).unwrap();
        }
    }
}

/// Crashes at operation `point`, and compares for several kinds of loss.
fn crash_at(point: u64, fresh: &dyn Fn() -> SimDisk) -> Result<(), String> {
    let (dir, older) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let disk = fresh();
    disk.fail(Failing::Off(point));
    let index = dir.path().join("index");
    let keep = || copy(&index, &older.path().join("index"));
    let (run, _) = run(dir.path(), &disk, &script(), keep);
    let cases = [
        (Loss::All, Left::Kept),
        (Loss::Nothing, Left::Lost),
        (Loss::All, Left::Lost),
        (Loss::Some(point), Left::Older),
        (Loss::Some(point + 2_000_000), Left::Lost),
        (Loss::Some(point + 1_000_000), if point.is_multiple_of(2) { Left::Kept } else { Left::Lost }),
    ];
    for (loss, left) in cases {
        let place = tempfile::tempdir().unwrap();
        match left {
            Left::Kept if index.exists() => copy(&index, &place.path().join("index")),
            Left::Older => copy(older.path(), place.path()),
            _ => {}
        }
        let crashed = disk.crash(loss);
        let again = crash_while_opening(point, &crashed, place.path());
        let found = check(place.path(), &again.crash(loss), &run);
        found
            .map(drop)
            .map_err(|found| format!("operation {point}, lost {loss:?}, index {left:?}: {found}"))?;
    }
    Ok(())
}

/// Every crash is followed by another one while the engine opens, at one operation or another.
fn crash_while_opening(point: u64, disk: &SimDisk, dir: &Path) -> SimDisk {
    disk.fail(Failing::Off(1 + point % 11));
    drop(open_on(dir, Arc::new(disk.clone())));
    disk.crash(Loss::Nothing)
}

/// The proof. The error is the first finding.
pub(super) fn proof(fresh: &(dyn Fn() -> SimDisk + Sync)) -> Result<(), String> {
    let dir = tempfile::tempdir().unwrap();
    let disk = fresh();
    run(dir.path(), &disk, &script(), || ()).1.map_or(Ok(()), |error| Err(error.to_string()))?;
    let end = disk.operations();
    let next = AtomicU64::new(1);
    assert!(end > 100, "the script has only {end} operations");
    let walk = || -> Result<(), String> {
        while let Some(point) = Some(next.fetch_add(1, SeqCst)).filter(|point| *point <= end + 1) {
            crash_at(point, fresh).inspect_err(|_| next.store(end + 2, SeqCst))?;
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(walk)).collect();
        threads.into_iter().try_for_each(|thread| thread.join().unwrap())
    })
}

#[test]
fn a_crash_at_any_operation_loses_nothing_acknowledged_or_half_written() {
    proof(&|| SimDisk::new(false)).unwrap();
}

#[test]
fn without_the_sync_the_crash_test_finds_losses() {
    let lying = || {
        let mut disk = SimDisk::new(false);
        disk.syncs_lie = true;
        disk
    };
    let found = proof(&lying).unwrap_err();
    assert!(found.contains("neither before nor after") || found.contains("refused"), "{found}");
}

#[test]
fn without_the_checksum_the_crash_test_finds_half_written_frames() {
    let ignored = || {
        let mut disk = SimDisk::new(false);
        disk.flaws.checksum_ignored = true;
        disk
    };
    let found = proof(&ignored).unwrap_err();
    assert!(found.contains("neither before nor after") || found.contains("cannot be read"), "{found}");
}
