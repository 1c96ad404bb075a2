//! A disk that fails at the n-th operation, for every n, once or from then on.

use super::script::*;
use super::sim::{Failing, Loss, SimDisk};
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
    let (crashed, place) = (disk.crash(Loss::All), tempfile::tempdir().unwrap());
    check(place.path(), &crashed, &run).map_err(found)?;
    let seen = check(dir.path(), &disk.restart(), &run).map_err(found)?;
    let (crashed, place) = (disk.crash(Loss::All), tempfile::tempdir().unwrap());
    check(place.path(), &crashed, &Run { perhaps: seen.clone(), acknowledged: seen }).map(drop).map_err(found)
}

#[test]
fn a_disk_that_fails_at_any_operation_loses_nothing_acknowledged_and_stops_writes() {
    let dir = tempfile::tempdir().unwrap();
    let disk = SimDisk::new(true);
    assert!(run(dir.path(), &disk, &script(), || ()).1.is_none());
    let (end, next) = (disk.operations(), AtomicU64::new(1));
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
