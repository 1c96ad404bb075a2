//! What the store asks of an engine, held against the engine of the environment: the embedded one, or with
//! `MFA_TEST_STORE=postgres` PostgreSQL.

use crate::support::stored::postgres;
use mfa_daemon::store::embedded::{self, Embedded};
use mfa_daemon::store::engine::{Change, Commit, Engine, Pair, Range, Space, View, WriteWork};
use mfa_daemon::store::postgres::{Options, Postgres};
use mfa_shared::fault::{Fault, INTERNAL, UNAVAILABLE};
use mfa_shared::time::Timestamp;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use tempfile::TempDir;
use tokio::runtime::Runtime;

pub(super) const BEFORE: Space = Space { id: 7, name: "before" };
pub(super) const THINGS: Space = Space { id: 8, name: "things" };
pub(super) const BEHIND: Space = Space { id: 9, name: "behind" };
pub(super) const SPACES: &[Space] = &[BEFORE, THINGS, BEHIND];
/// Transactions at once.
const WRITERS: usize = 8;

pub(super) struct Store {
    pub(super) runtime: Runtime,
    pub(super) engine: Arc<dyn Engine>,
    _dir: TempDir,
}

pub(super) fn open() -> Store {
    let (runtime, dir) = (Runtime::new().unwrap(), TempDir::new().unwrap());
    let engine: Arc<dyn Engine> = match postgres() {
        Some(address) => Arc::new(Postgres::open(Options::new(address, SPACES)).unwrap()),
        None => Arc::new(Embedded::open(embedded::Options::new(dir.path())).unwrap()),
    };
    Store { runtime, engine, _dir: dir }
}

pub(super) fn change(space: Space, key: impl AsRef<[u8]>, value: Option<&[u8]>) -> Change {
    Change { space, key: key.as_ref().to_vec(), value: value.map(<[u8]>::to_vec) }
}

fn commit(mut changes: Vec<Change>) -> Option<Commit> {
    changes.sort_by(|a, b| (a.space, &a.key).cmp(&(b.space, &b.key)));
    let time = Timestamp::from_millis(1_700_000_000_000);
    Some(Commit { time, actor: "ada".to_owned(), request: "r-1".to_owned(), changes })
}

impl Store {
    fn write(&self, work: impl FnMut(&mut dyn View) -> Option<Commit> + Send + 'static) -> Result<(), Fault> {
        self.runtime.block_on(self.engine.write(Box::new(work)))
    }

    pub(super) fn put(&self, changes: Vec<Change>) {
        self.write(move |_| commit(changes.clone())).unwrap();
    }

    fn read<T: Send + 'static>(
        &self,
        mut work: impl FnMut(&mut dyn View) -> Result<T, Fault> + Send + 'static,
    ) -> T {
        let slot = Arc::new(Mutex::new(None));
        let inner = slot.clone();
        let work = Box::new(move |view: &mut dyn View| *inner.lock().unwrap() = Some(work(view).unwrap()));
        self.runtime.block_on(self.engine.read(work, false)).unwrap();
        slot.lock().unwrap().take().unwrap()
    }

    fn get(&self, space: Space, key: &[u8]) -> Option<Vec<u8>> {
        let key = key.to_vec();
        self.read(move |view| view.get(space, &key))
    }

    fn all(&self, space: Space) -> Vec<Pair> {
        self.read(move |view| view.scan(space, &Range::prefix(b""), false, usize::MAX))
    }

    /// Runs works at the same time, and waits for all.
    fn at_once(&self, works: Vec<WriteWork>) -> Vec<Result<(), Fault>> {
        self.runtime.block_on(async {
            let running: Vec<_> =
                works.into_iter().map(|work| tokio::spawn(self.engine.write(work))).collect();
            let mut outcomes = Vec::new();
            for work in running {
                outcomes.push(work.await.unwrap());
            }
            outcomes
        })
    }
}

#[test]
fn keys_are_in_the_order_of_their_bytes_and_ranges_end_where_they_say() {
    let store = open();
    let keys: Vec<Vec<u8>> = ["", "\0", "a", "a\0", "a\0b", "a b", "aa", "b", "é", "日本"]
        .iter()
        .map(|key| key.as_bytes().to_vec())
        .chain([vec![0xff], vec![0xff, 0], vec![0xff, 0xff]])
        .collect();
    let changes = |space| keys.iter().map(move |key| change(space, key, Some(key)));
    store.put(changes(THINGS).collect());
    store.put(vec![change(BEFORE, [0xff], Some(b"1")), change(BEHIND, [], Some(b"2"))]);
    let model: BTreeMap<_, _> = keys.iter().map(|key| (key.clone(), key.clone())).collect();
    for from in &keys {
        for to in keys.iter().map(Some).chain([None]) {
            let range = Range { from: from.clone(), to: to.cloned() };
            let inside = |key: &&Vec<u8>| **key >= *from && to.is_none_or(|to| **key < *to);
            let expected: Vec<_> = model.keys().filter(inside).cloned().collect();
            for (reverse, limit) in
                [(false, usize::MAX), (true, usize::MAX), (false, 2), (true, 2), (false, 0)]
            {
                let mut expected = expected.clone();
                if reverse {
                    expected.reverse();
                }
                expected.truncate(limit);
                let range = range.clone();
                let found = store.read(move |view| view.scan(THINGS, &range, reverse, limit));
                let found: Vec<_> = found.into_iter().map(|(key, _)| key).collect();
                assert_eq!(found, expected, "{from:?} to {to:?}, reverse {reverse}, limit {limit}");
            }
        }
    }
}

#[test]
fn announced_ranges_are_read_as_if_nothing_had_been_announced() {
    let store = open();
    // Of each letter as many keys as it has: none, one, some, and more than are read at once.
    let lengths = [(b'a', 0u16), (b'b', 1), (b'c', 7), (b'd', 99), (b'e', 100), (b'f', 250)];
    let key = |letter: u8, number: u16| [&[letter][..], &number.to_be_bytes()].concat();
    let keys = lengths.iter().flat_map(|(letter, length)| (0..*length).map(|number| key(*letter, number)));
    let changes: Vec<_> = keys.map(|key| change(THINGS, &key, Some(&key))).collect();
    store.put([changes, vec![change(BEHIND, b"c", Some(b"1"))]].concat());
    let letters: Vec<Range> =
        lengths.iter().map(|(letter, _)| Range::prefix(&[*letter])).chain([Range::prefix(b"")]).collect();
    let announced: Vec<(Space, Range)> = [THINGS, BEHIND]
        .iter()
        .flat_map(|space| letters.iter().map(|range| (*space, range.clone())))
        .collect();
    let scans = |view: &mut dyn View, ranges: &[(Space, Range)]| -> Result<Vec<Vec<Pair>>, Fault> {
        let mut found = Vec::new();
        for (space, range) in ranges {
            for (reverse, limit) in
                [(false, usize::MAX), (true, usize::MAX), (false, 2), (true, 2), (false, 0)]
            {
                found.push(view.scan(*space, range, reverse, limit)?);
            }
        }
        Ok(found)
    };
    let ranges = announced.clone();
    let plain = store.read(move |view| scans(view, &ranges));
    assert_eq!(plain.iter().map(Vec::len).max(), Some(1 + 7 + 99 + 100 + 250));
    let found = store.read(move |view| view.expect_ranges(&announced).and_then(|_| scans(view, &announced)));
    assert_eq!(found, plain);
}

#[test]
fn values_come_back_byte_for_byte() {
    let store = open();
    let values: [&[u8]; 5] =
        [b"", b"{ \"b\":1.50,  \"a\": 12345678901234567890.10 }", &[0, 0xff, 0x80], b"null", b"\\x00"];
    for (number, value) in values.iter().enumerate() {
        store.put(vec![change(THINGS, [number as u8], Some(value))]);
        assert_eq!(store.get(THINGS, &[number as u8]).as_deref(), Some(*value));
    }
    let big: Vec<u8> = (0..1_500_000u32).flat_map(|n| n.to_le_bytes()).collect();
    store.put(vec![change(THINGS, b"big", Some(&big)), change(THINGS, b"beside", Some(b"x"))]);
    assert!(store.get(THINGS, b"big").unwrap() == big);
    let found = store.read(|view| view.scan(THINGS, &Range::prefix(b"b"), false, 9));
    assert!(found.len() == 2 && found[1].1 == big);
}

#[test]
fn changes_replace_removals_remove_and_missing_keys_can_be_removed() {
    let store = open();
    store.put(vec![change(THINGS, "a", Some(b"1")), change(THINGS, "b", Some(b"1"))]);
    store.put(vec![
        change(THINGS, "a", Some(b"2")),
        change(THINGS, "b", None),
        change(THINGS, "never", None),
        change(BEFORE, "a", None),
    ]);
    assert_eq!(store.all(THINGS), [(b"a".to_vec(), b"2".to_vec())]);
    assert_eq!(store.get(THINGS, b"b"), None);
    store.put(vec![change(THINGS, "b", Some(b"3"))]);
    assert_eq!(store.get(THINGS, b"b").unwrap(), b"3");
    assert!(store.all(BEFORE).is_empty());
}

#[test]
fn work_that_fails_or_panics_writes_nothing_and_harms_no_other() {
    let store = open();
    store.put(vec![change(THINGS, "a", Some(b"1"))]);
    store.write(|view| view.get(THINGS, b"a").map(|_| None).unwrap()).unwrap();
    let fault = store.write(|view| {
        view.get(THINGS, b"a").unwrap();
        panic!("a defect")
    });
    assert_eq!(fault.unwrap_err().kind, INTERNAL);
    let fault = store.runtime.block_on(store.engine.read(Box::new(|_| panic!("a defect")), false));
    assert_eq!(fault.unwrap_err().kind, INTERNAL);
    store.put(vec![change(THINGS, "b", Some(b"2"))]);
    assert_eq!(store.all(THINGS).len(), 2);
    assert_eq!(store.engine.write_fault(), None);
}

fn number(bytes: Option<Vec<u8>>) -> u64 {
    bytes.map_or(0, |bytes| String::from_utf8(bytes).unwrap().parse().unwrap())
}

#[test]
fn concurrent_counters_lose_no_count() {
    const ROUNDS: usize = 15;
    let store = open();
    let count = |_| {
        let work = |view: &mut dyn View| {
            let next = number(view.get(THINGS, b"count").ok()?) + 1;
            commit(vec![change(THINGS, "count", Some(next.to_string().as_bytes()))])
        };
        Box::new(work) as WriteWork
    };
    for _ in 0..ROUNDS {
        let outcomes = store.at_once((0..WRITERS).map(count).collect());
        assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
    }
    assert_eq!(number(store.get(THINGS, b"count")), (ROUNDS * WRITERS) as u64);
}

#[test]
fn work_that_runs_alone_runs_once_however_many_change_the_same_records() {
    let store = open();
    let keys: Vec<Vec<u8>> = (0..100u8).map(|key| vec![key]).collect();
    let add = |view: &mut dyn View, keys: &[Vec<u8>]| {
        let mut changes = Vec::new();
        for key in keys {
            let counted = number(view.get(THINGS, key).ok()?) + 1;
            changes.push(change(THINGS, key, Some(counted.to_string().as_bytes())));
        }
        commit(changes)
    };
    let runs = Arc::new(AtomicUsize::new(0));
    const ROUNDS: usize = 20;
    for _ in 0..ROUNDS {
        let (all, counted) = (keys.clone(), runs.clone());
        let long: WriteWork = Box::new(move |view: &mut dyn View| {
            counted.fetch_add(1, SeqCst);
            add(view, &all)
        });
        let short = |writer: usize| {
            let key = vec![keys[writer].clone()];
            Box::new(move |view: &mut dyn View| add(view, &key)) as WriteWork
        };
        store.runtime.block_on(async {
            let alone = tokio::spawn(store.engine.write_alone(long));
            let beside: Vec<_> =
                (0..WRITERS).map(|writer| tokio::spawn(store.engine.write(short(writer)))).collect();
            alone.await.unwrap().unwrap();
            for work in beside {
                work.await.unwrap().unwrap();
            }
        });
    }
    assert_eq!(runs.load(SeqCst), ROUNDS);
    for (place, (_, value)) in store.all(THINGS).into_iter().enumerate() {
        let expected = if place < WRITERS { 2 * ROUNDS } else { ROUNDS };
        assert_eq!(number(Some(value)), expected as u64, "{place}");
    }
}

#[test]
fn work_on_a_snapshot_runs_once_beside_changes_of_what_it_reads() {
    const ROUNDS: usize = 20;
    let store = open();
    let runs = Arc::new(AtomicUsize::new(0));
    for round in 0..ROUNDS {
        let counted = runs.clone();
        let sum: WriteWork = Box::new(move |view: &mut dyn View| {
            counted.fetch_add(1, SeqCst);
            let first = number(view.get(BEFORE, b"0").ok()?);
            // Gives the others time to change what was read and what will be.
            std::thread::sleep(std::time::Duration::from_millis(5));
            let last = number(view.get(BEFORE, b"1").ok()?);
            let sum = format!("{first} {last}");
            commit(vec![change(THINGS, format!("sum {round}"), Some(sum.as_bytes()))])
        });
        let both = || {
            Box::new(move |view: &mut dyn View| {
                // Who reads what the sum writes would conflict with it, if it were serializable.
                view.get(THINGS, format!("sum {round}").as_bytes()).ok()?;
                let next = (number(view.get(BEFORE, b"0").ok()?) + 1).to_string();
                commit(["0", "1"].map(|key| change(BEFORE, key, Some(next.as_bytes()))).to_vec())
            }) as WriteWork
        };
        store.runtime.block_on(async {
            let sum = tokio::spawn(store.engine.write_on_snapshot(sum));
            let beside: Vec<_> = (0..WRITERS).map(|_| tokio::spawn(store.engine.write(both()))).collect();
            sum.await.unwrap().unwrap();
            for work in beside {
                work.await.unwrap().unwrap();
            }
        });
    }
    assert_eq!(runs.load(SeqCst), ROUNDS);
    for (key, value) in store.all(THINGS) {
        let sum = String::from_utf8(value).unwrap();
        let (first, last) = sum.split_once(' ').unwrap();
        assert_eq!(first, last, "{}", String::from_utf8_lossy(&key));
    }
}

#[test]
fn counters_on_snapshots_and_beside_them_lose_no_count() {
    const ROUNDS: usize = 15;
    let store = open();
    let count = || {
        let work = |view: &mut dyn View| {
            let next = number(view.get(THINGS, b"count").ok()?) + 1;
            commit(vec![change(THINGS, "count", Some(next.to_string().as_bytes()))])
        };
        Box::new(work) as WriteWork
    };
    for _ in 0..ROUNDS {
        store.runtime.block_on(async {
            let works = (0..WRITERS).map(|writer| match writer % 2 {
                0 => store.engine.write(count()),
                _ => store.engine.write_on_snapshot(count()),
            });
            for work in works.map(tokio::spawn).collect::<Vec<_>>() {
                work.await.unwrap().unwrap();
            }
        });
    }
    assert_eq!(number(store.get(THINGS, b"count")), (ROUNDS * WRITERS) as u64);
}

#[test]
fn of_two_that_read_what_the_other_writes_only_one_finds_nothing() {
    let store = open();
    for round in 0..40u32 {
        let work = |own: &str, other: &str| {
            let (own, other) = (format!("{round} {own}"), format!("{round} {other}"));
            let work = move |view: &mut dyn View| {
                let free = view.get(THINGS, other.as_bytes()).ok()?.is_none();
                // Gives the other one time to read, too.
                std::thread::yield_now();
                free.then(|| commit(vec![change(THINGS, &own, Some(b"x"))])).flatten()
            };
            Box::new(work) as WriteWork
        };
        let outcomes = store.at_once(vec![work("a", "b"), work("b", "a")]);
        assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
        let prefix = format!("{round} ");
        let there = store.read(move |view| view.scan(THINGS, &Range::prefix(prefix.as_bytes()), false, 9));
        assert_eq!(there.len(), 1, "round {round}");
    }
}

#[test]
fn a_range_read_as_empty_is_still_empty_when_its_change_is_written() {
    let store = open();
    for round in 0..20u8 {
        let works = (0..4u8).map(|writer| {
            let work = move |view: &mut dyn View| {
                let there = view.scan(THINGS, &Range::prefix(&[round]), true, 1).ok()?;
                there.is_empty().then(|| commit(vec![change(THINGS, [round, writer], Some(b"x"))])).flatten()
            };
            Box::new(work) as WriteWork
        });
        let outcomes = store.at_once(works.collect());
        assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
        let there = store.read(move |view| view.scan(THINGS, &Range::prefix(&[round]), false, 9));
        assert_eq!(there.len(), 1, "round {round}");
    }
}

#[test]
fn a_read_sees_one_state_while_others_write() {
    const TOTAL: u64 = 1000;
    let store = open();
    let keys: Vec<Vec<u8>> = (0..10u8).map(|n| vec![n]).collect();
    let each = (TOTAL / 10).to_string();
    store.put(keys.iter().map(|key| change(THINGS, key, Some(each.as_bytes()))).collect());
    let sum = |view: &mut dyn View| {
        let pairs = view.scan(THINGS, &Range::prefix(b""), false, 5)?;
        let rest = Range { from: vec![5], to: None };
        let rest = view.scan(THINGS, &rest, false, 99)?;
        Ok(pairs.into_iter().chain(rest).map(|(_, value)| number(Some(value))).sum::<u64>())
    };
    for round in 0..25u8 {
        let (from, to) = (vec![round % 10], vec![(round * 7 + 3) % 10]);
        let moving = store.engine.write(Box::new(move |view| {
            let (less, more) = (number(view.get(THINGS, &from).ok()?), number(view.get(THINGS, &to).ok()?));
            let (less, more) = (less.checked_sub(3)?.to_string(), (more + 3).to_string());
            let less = change(THINGS, &from, Some(less.as_bytes()));
            commit(vec![less, change(THINGS, &to, Some(more.as_bytes()))])
        }));
        let moving = store.runtime.spawn(moving);
        assert_eq!(store.read(sum), TOTAL);
        store.runtime.block_on(moving).unwrap().unwrap();
    }
    assert_eq!(store.read(sum), TOTAL);
}

#[test]
fn a_closed_engine_refuses_what_comes_later() {
    let store = open();
    store.put(vec![change(THINGS, "a", Some(b"1"))]);
    store.runtime.block_on(store.engine.close()).unwrap();
    let fault = store.write(|_| commit(vec![change(THINGS, "b", Some(b"1"))])).unwrap_err();
    assert_eq!(fault.kind, UNAVAILABLE);
    assert_eq!(store.engine.write_fault().unwrap().kind, UNAVAILABLE);
}

#[test]
fn a_replay_has_every_transaction_from_the_first_to_the_last() {
    let store = open();
    let mut expected = Vec::new();
    for number in 0..1_200_u32 {
        let key = (number % 7).to_be_bytes();
        // Nothing is removed that was never there.
        let value = (number < 7 || number % 3 > 0).then(|| number.to_be_bytes());
        let changes = vec![change(THINGS, key, value.as_ref().map(|value| &value[..]))];
        expected.push(changes.clone());
        store.put(changes);
    }
    let reported = Arc::new(Mutex::new(Vec::new()));
    let heard = reported.clone();
    let visit = Box::new(move |commit: Commit| heard.lock().unwrap().push(commit.changes));
    store.runtime.block_on(store.engine.replay(visit)).unwrap();
    let reported = reported.lock().unwrap();
    let shown = |changes: &Vec<Change>| {
        changes.iter().map(|c| (c.space.id, c.key.clone(), c.value.clone())).collect::<Vec<_>>()
    };
    assert_eq!(
        reported.iter().map(shown).collect::<Vec<_>>(),
        expected.iter().map(shown).collect::<Vec<_>>()
    );
}
