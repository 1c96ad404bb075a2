//! Long reads beside writers: each sees one moment, neither waits for the other, and memory is limited.

use super::super::Embedded;
use super::super::pins::Bounds;
use super::super::snapshot::Snapshot;
use super::sim::{Chance, SimDisk};
use super::world::*;
use crate::store::engine::{Change, Engine, Range, View};
use crate::store::tx::Tx;
use mfa_shared::fault::{Fault, UNAVAILABLE};
use mfa_shared::time::Timestamp;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const ACCOUNTS: usize = 600;
const BALANCE: u64 = 1_000;

/// A read lets go of the gate after its first look.
const AT_ONCE: Bounds = Bounds { hold: Duration::ZERO, age: Duration::from_secs(60), bytes: 1 << 20 };

fn opened(dir: &std::path::Path, disk: SimDisk, bounds: Bounds) -> Embedded {
    Embedded::open_on(super::super::Options { bounds, ..options(dir) }, Arc::new(disk)).unwrap()
}

fn account(number: usize) -> Vec<u8> {
    format!("account {number:04}").into_bytes()
}

fn amount(value: &[u8]) -> u64 {
    String::from_utf8_lossy(value).parse().unwrap()
}

fn put(key: Vec<u8>, amount: u64) -> Change {
    change(key, Some(amount.to_string().into_bytes()))
}

#[test]
fn a_write_is_acknowledged_during_a_read_which_keeps_its_moment() {
    let dir = tempfile::tempdir().unwrap();
    let engine = Arc::new(Embedded::open(options(dir.path())).unwrap());
    write(&engine, vec![change("a", Some(vec![1])), change("b", Some(vec![1]))]).unwrap();
    let (begun, reading) = mpsc::channel();
    let (acknowledged, written) = mpsc::channel();
    let reader = engine.clone();
    let reader = std::thread::spawn(move || {
        read(&reader, move |view| {
            view.get(THINGS, b"a")?;
            std::thread::sleep(Duration::from_millis(5));
            view.get(THINGS, b"a")?;
            begun.send(()).unwrap();
            let waited: Result<(), RecvTimeoutError> = written.recv_timeout(Duration::from_secs(20));
            let seen = view.scan(THINGS, &Range::prefix(b""), false, usize::MAX)?;
            Ok((waited, view.get(THINGS, b"b")?, view.get(THINGS, b"c")?, seen.len()))
        })
    });
    reading.recv().unwrap();
    write(&engine, vec![change("b", None), change("c", Some(vec![2]))]).unwrap();
    // A read that begins now does not wait either, and sees what was written.
    assert_eq!(all(&engine).unwrap().last(), Some(&(b"c".to_vec(), vec![2])));
    acknowledged.send(()).unwrap();
    assert_eq!(reader.join().unwrap().unwrap(), (Ok(()), Some(vec![1]), None, 2));
    assert_eq!(engine.shared.pins.bytes(), 0, "nothing is kept for a read that is over");
}

/// Moves money between accounts, closes and opens some, settles and makes checkpoints, until asked to stop.
fn teller(engine: &Embedded, stop: &AtomicBool) {
    let mut chance = Chance(7);
    let mut balances: BTreeMap<usize, u64> = (0..ACCOUNTS).map(|number| (number, BALANCE)).collect();
    for round in 0u64.. {
        if stop.load(SeqCst) {
            return;
        }
        let mut changed = Vec::new();
        for _ in 0..4 {
            let (from, to) = (chance.below(ACCOUNTS), chance.below(ACCOUNTS));
            let have = balances.remove(&from).unwrap_or(0);
            let all = chance.below(3) == 0;
            let moved = if all { have } else { have / 2 };
            if have > moved {
                balances.insert(from, have - moved);
            }
            *balances.entry(to).or_default() += moved;
            changed.extend([from, to]);
        }
        let as_it_is = |number: usize| match balances.get(&number) {
            Some(balance) => put(account(number), *balance),
            None => change(account(number), None),
        };
        changed.sort_unstable();
        changed.dedup();
        write(engine, changed.into_iter().map(as_it_is).collect()).unwrap();
        if round % 64 == 63 {
            engine.checkpoint().unwrap();
        }
    }
}

/// Sums up all accounts in every possible way, beside a teller, until `enough` agrees, given the time and
/// the number of wrong sums; returns how many sums there were, and how many of them were wrong.
fn sums_beside_a_teller(disk: SimDisk, enough: impl Fn(Duration, u64) -> bool) -> (u64, u64) {
    let dir = tempfile::tempdir().unwrap();
    let engine = opened(dir.path(), disk, AT_ONCE);
    write(&engine, (0..ACCOUNTS).map(|number| put(account(number), BALANCE)).collect()).unwrap();
    let stop = AtomicBool::new(false);
    let sums = AtomicU64::new(0);
    let wrong = AtomicU64::new(0);
    let sum = |reverse: bool, one_by_one: bool| {
        read(&engine, move |view| {
            if one_by_one {
                let values = (0..ACCOUNTS).map(|number| view.get(THINGS, &account(number)));
                return values.map(|value| Ok(value?.map_or(0, |value| amount(&value)))).sum();
            }
            let found = view.scan(THINGS, &Range::prefix(b""), reverse, usize::MAX)?;
            Ok(found.iter().map(|(_, value)| amount(value)).sum::<u64>())
        })
        .unwrap()
    };
    std::thread::scope(|scope| {
        scope.spawn(|| teller(&engine, &stop));
        for reader in 0..3 {
            let (sum, sums, wrong, stop) = (&sum, &sums, &wrong, &stop);
            scope.spawn(move || {
                while !stop.load(SeqCst) {
                    sums.fetch_add(1, SeqCst);
                    if sum(reader == 1, reader == 2) != BALANCE * ACCOUNTS as u64 {
                        wrong.fetch_add(1, SeqCst);
                    }
                }
            });
        }
        let begun = Instant::now();
        while !enough(begun.elapsed(), wrong.load(SeqCst)) {
            std::thread::sleep(Duration::from_millis(20));
        }
        stop.store(true, SeqCst);
    });
    (sums.into_inner(), wrong.into_inner())
}

#[test]
fn sums_read_beside_writes_settling_and_a_checkpoint_never_differ() {
    let (sums, wrong) = sums_beside_a_teller(SimDisk::new(false), |time, _| time > Duration::from_secs(3));
    assert!(sums > 20 && wrong == 0, "{wrong} of {sums} sums are wrong");
}

#[test]
fn without_the_former_values_they_do() {
    let mut disk = SimDisk::new(false);
    disk.flaws.moments_not_kept = true;
    let enough = |time: Duration, wrong: u64| wrong > 0 || time > Duration::from_secs(60);
    let (sums, wrong) = sums_beside_a_teller(disk, enough);
    assert!(wrong > 0, "{sums} sums are right all the same");
}

/// What happens beside reads.
#[derive(Debug, Clone)]
enum Act {
    Begin,
    End,
    Write(Vec<(u8, Option<u8>)>),
    Settle,
    Checkpoint,
}

fn act() -> impl Strategy<Value = Act> {
    let changes = proptest::collection::vec((0u8..24, proptest::option::weighted(0.7, any::<u8>())), 1..6);
    prop_oneof![
        3 => Just(Act::Begin),
        1 => Just(Act::End),
        6 => changes.prop_map(Act::Write),
        1 => Just(Act::Settle),
        1 => Just(Act::Checkpoint),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]
    #[test]
    fn every_read_sees_the_store_as_it_was_when_it_began(
        acts in proptest::collection::vec(act(), 1..40),
        from in 0u8..24, to in 0u8..24, limit in 0usize..9,
    ) {
        let dir = tempfile::tempdir().unwrap();
        let engine = opened(dir.path(), SimDisk::new(false), AT_ONCE);
        let mut model = BTreeMap::<Vec<u8>, Vec<u8>>::new();
        let mut reads = Vec::new();
        for act in acts {
            match act {
                Act::Begin => {
                    let mut snapshot = Snapshot::new(&engine.shared);
                    // The first look pins the moment.
                    snapshot.get(THINGS, b"").unwrap();
                    reads.push((snapshot, model.clone()));
                }
                Act::End => drop(reads.pop()),
                Act::Write(changes) => {
                    let changes: BTreeMap<_, _> = changes.into_iter().collect();
                    for (key, value) in &changes {
                        match value {
                            Some(value) => model.insert(vec![*key], vec![*value]),
                            None => model.remove(&vec![*key]),
                        };
                    }
                    let to_change = |(key, value): (u8, Option<u8>)| change([key], value.map(|value| vec![value]));
                    write(&engine, changes.into_iter().map(to_change).collect()).unwrap();
                }
                Act::Settle => drop(engine.shared.settle().unwrap()),
                Act::Checkpoint => engine.checkpoint().unwrap(),
            }
            let range = Range { from: vec![from], to: Some(vec![to]) };
            for (snapshot, then) in &mut reads {
                let all: Vec<_> = then.clone().into_iter().collect();
                let seen = snapshot.scan(THINGS, &Range::prefix(b""), false, usize::MAX).unwrap();
                prop_assert_eq!(&seen, &all);
                let inside = all.iter().filter(|(key, _)| *key >= range.from && *key < vec![to]);
                let last: Vec<_> = inside.rev().take(limit).cloned().collect();
                prop_assert_eq!(snapshot.scan(THINGS, &range, true, limit).unwrap(), last);
                prop_assert_eq!(snapshot.get(THINGS, &[from]).unwrap(), then.get(&vec![from]).cloned());
            }
        }
    }
}

/// Work of a read.
type Work = Box<dyn FnMut(&mut dyn View) -> Result<(), Fault> + Send>;

#[test]
fn a_read_that_waits_for_a_lock_of_another_read_holds_up_no_write() {
    let dir = tempfile::tempdir().unwrap();
    let engine = Arc::new(opened(dir.path(), SimDisk::new(false), AT_ONCE));
    let value = Arc::new(Mutex::new(()));
    let (locked, is_locked) = mpsc::channel();
    let (go_on, goes_on) = mpsc::channel();
    let start = |work: Work| {
        let engine = engine.clone();
        std::thread::spawn(move || read(&engine, work))
    };
    let held = value.clone();
    let first = start(Box::new(move |view| {
        let mut tx = Tx::new(view, Timestamp::from_millis(0), false);
        let _locked = tx.lock(&held);
        tx.value(THINGS, b"a")?;
        locked.send(()).unwrap();
        goes_on.recv().unwrap();
        tx.value(THINGS, b"a").map(drop)
    }));
    is_locked.recv().unwrap();
    let (begun, has_begun) = mpsc::channel();
    let waiting = start(Box::new(move |view| {
        begun.send(()).unwrap();
        drop(Tx::new(view, Timestamp::from_millis(0), false).lock(&value));
        Ok(())
    }));
    has_begun.recv().unwrap();
    let (acknowledged, written) = mpsc::channel();
    let writer = engine.clone();
    std::thread::spawn(move || acknowledged.send(write(&writer, vec![put(account(1), 1)])));
    assert_eq!(written.recv_timeout(Duration::from_secs(20)), Ok(Ok(())));
    go_on.send(()).unwrap();
    assert!(first.join().unwrap().is_ok() && waiting.join().unwrap().is_ok());
}

#[test]
fn a_moment_that_costs_too_much_ends_and_says_so_and_younger_ones_go_on() {
    let dir = tempfile::tempdir().unwrap();
    let engine = opened(dir.path(), SimDisk::new(false), Bounds { bytes: 20_000, ..AT_ONCE });
    let big = |value| write(&engine, vec![change("big", Some(vec![value; 9_000]))]).unwrap();
    big(0);
    let begin = |value| {
        big(value);
        Snapshot::pinned(&engine.shared)
    };
    let mut reads: Vec<_> = (0..3).map(begin).collect();
    (3..30).for_each(big);
    let seen: Vec<_> = reads.iter_mut().map(|read| read.get(THINGS, b"big")).collect();
    let fault = seen[0].clone().unwrap_err();
    assert!(fault.kind == UNAVAILABLE && fault.detail.contains("so much is written"), "{fault:?}");
    for (value, seen) in [(1, &seen[1]), (2, &seen[2])] {
        assert!(seen == &Ok(Some(vec![value; 9_000])), "the value of moment {value} is another one");
    }
    assert!(engine.shared.pins.bytes() <= 20_000);
    assert!(Snapshot::new(&engine.shared).get(THINGS, b"big") == Ok(Some(vec![29; 9_000])));
}

#[test]
fn what_was_changed_is_kept_once_for_all_who_read_and_until_the_last_of_them_is_done() {
    let dir = tempfile::tempdir().unwrap();
    let engine = opened(dir.path(), SimDisk::new(false), Bounds::default());
    let put = |value| write(&engine, vec![change("a", Some(vec![value; 1_000]))]).unwrap();
    put(0);
    let mut oldest = Snapshot::pinned(&engine.shared);
    let others: Vec<_> = (0..50).map(|_| Snapshot::pinned(&engine.shared)).collect();
    put(1);
    let bytes = engine.shared.pins.bytes();
    assert!((1_000..2_000).contains(&bytes), "{bytes}");
    let mut younger = Snapshot::pinned(&engine.shared);
    put(2);
    let seen = [&mut oldest, &mut younger].map(|read| read.get(THINGS, b"a").unwrap());
    assert!(seen == [Some(vec![0; 1_000]), Some(vec![1; 1_000])]);
    drop(others);
    assert!(oldest.get(THINGS, b"a").unwrap() == Some(vec![0; 1_000]), "those who kept it are done");
    drop(oldest);
    assert!(younger.get(THINGS, b"a").unwrap() == Some(vec![1; 1_000]));
    drop(younger);
    assert_eq!(engine.shared.pins.bytes(), 0);
}

#[test]
fn nothing_that_is_published_waits_for_a_list() {
    let dir = tempfile::tempdir().unwrap();
    let engine = Arc::new(Embedded::open(options(dir.path())).unwrap());
    write(&engine, vec![change("a", Some(vec![1]))]).unwrap();
    let (seen, closed) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(true)));
    let (is_seen, is_closed, inner) = (seen.clone(), closed.clone(), engine.clone());
    let work = Box::new(move |view: &mut dyn View| {
        is_seen.store(view.get(THINGS, b"a") == Ok(Some(vec![1])), SeqCst);
        is_closed.store(inner.shared.gate.try_write().is_err(), SeqCst);
    });
    tokio::runtime::Runtime::new().unwrap().block_on(engine.read(work, true)).unwrap();
    assert!(seen.load(SeqCst) && !closed.load(SeqCst));
}

#[test]
fn a_moment_ends_when_it_is_too_old_and_others_write_and_not_before() {
    let dir = tempfile::tempdir().unwrap();
    let age = Duration::from_millis(300);
    let engine = opened(dir.path(), SimDisk::new(false), Bounds { age, ..AT_ONCE });
    write(&engine, vec![change("a", Some(vec![1]))]).unwrap();
    let mut snapshot = Snapshot::new(&engine.shared);
    snapshot.get(THINGS, b"a").unwrap();
    let begun = Instant::now();
    while begun.elapsed() <= age {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(snapshot.get(THINGS, b"a").unwrap(), Some(vec![1]), "no one has written");
    write(&engine, vec![change("b", Some(vec![1]))]).unwrap();
    let fault = snapshot.scan(THINGS, &Range::prefix(b""), false, 5).unwrap_err();
    assert!(fault.kind == UNAVAILABLE && fault.detail.contains("while others write"), "{fault:?}");
}
