//! Changes on PostgreSQL that share a transaction, each a commit of its own. These tests need `MFA_TEST_POSTGRES`.

use super::postgres::fresh;
use crate::support::stored::{ask, connect};
use mfa_daemon::store::engine::{Change, Commit, Engine, Range, Space, View, WriteWork};
use mfa_daemon::store::postgres::{Address, OpenError, Options, Postgres};
use mfa_shared::time::Timestamp;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

const THINGS: Space = Space { id: 8, name: "things" };
/// Far beyond what a change takes that waits for nobody for long.
const SOON: Duration = Duration::from_secs(3);

fn open(address: &Address) -> Postgres {
    Postgres::open(Options::new(address.clone(), &[THINGS])).unwrap()
}

fn commit(request: &str, changes: Vec<Change>) -> Option<Commit> {
    let (actor, request) = (format!("who asked {request}"), request.to_owned());
    Some(Commit { time: Timestamp::from_millis(0), actor, request, changes })
}

fn change(key: u8, value: Option<Vec<u8>>) -> Change {
    Change { space: THINGS, key: vec![key], value }
}

/// Puts a letter behind the word of a record.
fn append(letter: u8) -> WriteWork {
    Box::new(move |view: &mut dyn View| {
        let word = [view.get(THINGS, b"w").ok()?.unwrap_or_default(), vec![letter]].concat();
        commit(&char::from(letter).to_string(), vec![change(b'w', Some(word))])
    })
}

/// All records.
async fn records(engine: &Postgres) -> BTreeMap<Vec<u8>, Vec<u8>> {
    let (send, receive) = channel();
    let look = move |view: &mut dyn View| {
        send.send(view.scan(THINGS, &Range::prefix(b""), false, 1_000).unwrap()).unwrap();
    };
    engine.read(Box::new(look), false).await.unwrap();
    receive.recv().unwrap().into_iter().collect()
}

/// All commits of the journal.
async fn journal(engine: &Postgres) -> Vec<Commit> {
    let found = Arc::new(Mutex::new(Vec::new()));
    let into = found.clone();
    engine.replay(Box::new(move |commit| into.lock().unwrap().push(commit))).await.unwrap();
    std::mem::take(&mut *found.lock().unwrap())
}

/// The records that the commits of a journal make.
fn made(journal: &[Commit]) -> BTreeMap<Vec<u8>, Vec<u8>> {
    let mut made = BTreeMap::new();
    for Change { key, value, .. } in journal.iter().flat_map(|commit| commit.changes.clone()) {
        match value {
            Some(value) => made.insert(key, value),
            None => made.remove(&key),
        };
    }
    made
}

/// How many transactions have written the journal.
async fn transactions(address: &Address) -> i64 {
    ask(address, "select count(distinct xmin::text) from stored_journal").await[0].get(0)
}

#[test]
fn changes_of_the_same_record_that_come_together_follow_each_other_in_few_transactions() {
    let Some(address) = fresh() else { return };
    let (runtime, engine) = (Runtime::new().unwrap(), open(&address));
    runtime.block_on(async {
        let letters: BTreeSet<u8> = (b'A'..=b'z').collect();
        let works: Vec<_> =
            letters.iter().map(|letter| tokio::spawn(engine.write_rehearsed(append(*letter)))).collect();
        for work in works {
            work.await.unwrap().unwrap();
        }
        let word = records(&engine).await.remove(&b"w"[..]).unwrap();
        assert_eq!(
            (word.len(), word.iter().copied().collect::<BTreeSet<_>>()),
            (letters.len(), letters.clone())
        );
        // Each is a commit of its own, by whoever asked for it, and they are in the order of the letters.
        let journal = journal(&engine).await;
        let of_journal: Vec<u8> = journal.iter().map(|commit| commit.request.as_bytes()[0]).collect();
        assert_eq!(of_journal, word);
        for (commit, end) in journal.iter().zip(1..) {
            assert_eq!(commit.actor, format!("who asked {}", commit.request));
            assert_eq!(commit.changes, [change(b'w', Some(word[..end].to_vec()))]);
        }
        let transactions = transactions(&address).await;
        assert!(transactions <= letters.len() as i64 / 4, "{transactions} transactions");
        engine.close().await.unwrap();
    });
}

/// The first key of the records that have an entry in an index, and that of the entries.
const INDEXED: u8 = 100;
const ENTRIES: u8 = 200;

/// What one of many changes does.
#[derive(Debug, Clone)]
enum Does {
    Puts(u8, u8),
    Removes(u8),
    /// Takes what one record has to another one.
    Moves(u8, u8),
    PutsAndRemoves(u8, u8),
    /// Gives a record another value, and the index the entry of it instead of that of the former one.
    Indexes(u8, u8),
    IsRefused,
    Panics,
}

fn does() -> impl Strategy<Value = Does> {
    let key = || 0u8..4;
    prop_oneof![
        3 => (key(), any::<u8>()).prop_map(|(key, value)| Does::Puts(key, value)),
        2 => key().prop_map(Does::Removes),
        2 => (key(), key()).prop_map(|(from, to)| Does::Moves(from, to)),
        1 => (key(), key()).prop_map(|(put, removed)| Does::PutsAndRemoves(put, removed)),
        2 => (key(), 0u8..3).prop_map(|(key, value)| Does::Indexes(key, value)),
        1 => Just(Does::IsRefused),
        1 => Just(Does::Panics),
    ]
}

/// The work, and whether it commits something.
fn work(number: usize, does: &Does) -> (WriteWork, bool) {
    let (request, does) = (number.to_string(), does.clone());
    let commits = !matches!(does, Does::IsRefused | Does::Panics);
    let work = move |view: &mut dyn View| {
        let seen = |view: &mut dyn View, key: u8| view.get(THINGS, &[key]).ok();
        let changes = match does {
            Does::Puts(key, value) => {
                seen(view, key)?;
                vec![change(key, Some(vec![value]))]
            }
            Does::Removes(key) => vec![change(key, None)],
            Does::Indexes(key, value) => {
                let key = INDEXED + key;
                let before = seen(view, key)?;
                // What is put and removed was not looked at, since the record says what there is.
                let entry = |value: u8, is: bool| Change {
                    space: THINGS,
                    key: vec![ENTRIES, value, key],
                    value: is.then(Vec::new),
                };
                let gone = before.filter(|before| *before != [value]).map(|before| entry(before[0], false));
                let mut changes: Vec<_> = gone.into_iter().chain([entry(value, true)]).collect();
                changes.push(change(key, Some(vec![value])));
                changes.sort_by(|one, other| one.key.cmp(&other.key));
                changes
            }
            Does::Moves(from, to) if from != to => {
                let value = seen(view, from)?;
                seen(view, to)?;
                vec![change(from, None), change(to, value)]
            }
            Does::Moves(key, _) => vec![change(key, seen(view, key)?)],
            Does::PutsAndRemoves(put, removed) if put != removed => {
                seen(view, put)?;
                vec![change(put, Some(vec![put])), change(removed, None)]
            }
            Does::PutsAndRemoves(key, _) => vec![change(key, None)],
            Does::IsRefused => return None,
            Does::Panics => panic!("a defect"),
        };
        commit(&request, changes)
    };
    (Box::new(work), commits)
}

#[test]
fn the_journal_of_groups_makes_the_same_records_whatever_the_changes_do() {
    let Some(address) = fresh() else { return };
    let runtime = Runtime::new().unwrap();
    let engines = [open(&address), open(&address)];
    let changes = proptest::collection::vec(proptest::collection::vec((does(), 0usize..2), 1..40), 1..4);
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(12));
    let count = AtomicUsize::new(0);
    let done = runner.run(&changes, |rounds| {
        let mut expected = BTreeSet::new();
        for round in rounds {
            runtime.block_on(async {
                let mut works = Vec::new();
                for (does, by) in &round {
                    let number = count.fetch_add(1, SeqCst);
                    let (work, commits) = work(number, does);
                    works.push((
                        tokio::spawn(engines[*by].write_rehearsed(work)),
                        matches!(does, Does::Panics),
                    ));
                    if commits {
                        expected.insert(number.to_string());
                    }
                }
                for (work, panics) in works {
                    assert_eq!(work.await.unwrap().is_err(), panics);
                }
            });
        }
        let (journal, records) =
            runtime.block_on(async { (journal(&engines[0]).await, records(&engines[1]).await) });
        prop_assert_eq!(made(&journal), records);
        let asked: Vec<&String> = journal.iter().map(|commit| &commit.request).collect();
        let once: BTreeSet<&String> = asked.iter().copied().collect();
        prop_assert_eq!(asked.len(), once.len());
        prop_assert!(expected.iter().all(|request| once.contains(request)));
        Ok(())
    });
    done.unwrap();
    for engine in engines {
        runtime.block_on(engine.close()).unwrap();
    }
}

#[test]
fn a_record_that_is_removed_and_put_at_once_is_in_the_journal_as_it_is_in_the_store() {
    let Some(address) = fresh() else { return };
    let runtime = Runtime::new().unwrap();
    let (putting, removing) = (open(&address), open(&address));
    runtime.block_on(async {
        let both = || vec![change(b'a', Some(vec![1])), change(b'k', Some(vec![1]))];
        putting.write(Box::new(move |_| commit("first", both()))).await.unwrap();
        let locker = connect(&address).await;
        locker
            .batch_execute("begin; select 1 from stored_records where key = 'a'::bytea for update")
            .await
            .unwrap();
        // It has the number of its transaction before it waits, and so a lower one than the removal.
        let put = tokio::spawn(putting.write(Box::new(|view: &mut dyn View| {
            view.get(THINGS, b"k").ok()?;
            commit("put", vec![change(b'a', Some(vec![2])), change(b'k', Some(vec![2]))])
        })));
        let waits = "select count(*) from pg_locks waits join pg_locks has using (pid) where not waits.granted \
            and waits.locktype = 'transactionid' and has.relation = 'stored_records'::regclass";
        while ask(&address, waits).await[0].get::<_, i64>(0) == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        removing.write(Box::new(|_| commit("remove", vec![change(b'k', None)]))).await.unwrap();
        locker.batch_execute("commit").await.unwrap();
        put.await.unwrap().unwrap();
        let records = records(&putting).await;
        assert_eq!(records[&b"k"[..]], [2]);
        assert_eq!(made(&journal(&putting).await), records);
        putting.close().await.unwrap();
        removing.close().await.unwrap();
    });
}

#[test]
fn a_change_that_the_database_refuses_takes_nothing_from_those_that_came_with_it() {
    let Some(address) = fresh() else { return };
    let (runtime, engine) = (Runtime::new().unwrap(), open(&address));
    // No index takes a key of this length that cannot be compressed.
    let long: Vec<u8> = (0..20_000u32).flat_map(|n| (n.wrapping_mul(2_654_435_761)).to_be_bytes()).collect();
    runtime.block_on(async {
        let mut works = Vec::new();
        for letter in b'a'..=b'z' {
            works.push((tokio::spawn(engine.write_rehearsed(append(letter))), false));
            if letter == b'm' {
                let changes = vec![Change { space: THINGS, key: long.clone(), value: Some(vec![1]) }];
                let refused = Box::new(move |_: &mut dyn View| commit("long", changes.clone()));
                works.push((tokio::spawn(engine.write_rehearsed(refused)), true));
            }
        }
        for (work, is_refused) in works {
            assert_eq!(work.await.unwrap().is_err(), is_refused);
        }
        assert_eq!(records(&engine).await[&b"w"[..]].len(), 26);
        engine.close().await.unwrap();
    });
}

#[test]
fn a_change_that_waits_for_a_locked_record_takes_nothing_from_those_that_came_with_it() {
    let Some(address) = fresh() else { return };
    let (runtime, engine) = (Runtime::new().unwrap(), open(&address));
    runtime.block_on(async {
        engine.write_rehearsed(Box::new(|_| commit("l", vec![change(b'l', Some(vec![1]))]))).await.unwrap();
        let locker = connect(&address).await;
        let lock = "begin; select 1 from stored_records where key = 'l'::bytea for update";
        locker.batch_execute(lock).await.unwrap();
        let mut works = Vec::new();
        for letter in b'a'..=b'z' {
            works.push((tokio::spawn(engine.write_rehearsed(append(letter))), false));
            if letter == b'm' {
                let locked = |_: &mut dyn View| commit("l", vec![change(b'l', Some(vec![2]))]);
                works.push((tokio::spawn(engine.write_rehearsed(Box::new(locked))), true));
            }
        }
        for (work, is_refused) in works {
            assert_eq!(work.await.unwrap().is_err(), is_refused);
        }
        assert_eq!(records(&engine).await[&b"w"[..]].len(), 26);
        engine.close().await.unwrap();
    });
}

#[test]
fn a_change_that_takes_long_does_not_hold_up_those_that_come_after_it() {
    let Some(address) = fresh() else { return };
    let (runtime, engine) = (Runtime::new().unwrap(), open(&address));
    runtime.block_on(async {
        let (begun, ends) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let (began, end) = (begun.clone(), ends.clone());
        let long = engine.write_rehearsed(Box::new(move |view: &mut dyn View| {
            view.get(THINGS, b"l").ok()?;
            // Not in the rehearsal.
            while !view.is_rehearsal() && !end.load(SeqCst) {
                began.store(true, SeqCst);
                std::thread::sleep(Duration::from_millis(5));
            }
            commit("long", vec![change(b'l', Some(vec![1]))])
        }));
        let long = tokio::spawn(long);
        while !begun.load(SeqCst) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let others: Vec<_> =
            (b'a'..=b'z').map(|letter| tokio::spawn(engine.write_rehearsed(append(letter)))).collect();
        for other in others {
            tokio::time::timeout(SOON, other).await.expect("a change waits for a long one").unwrap().unwrap();
        }
        assert_eq!(records(&engine).await.len(), 1);
        ends.store(true, SeqCst);
        long.await.unwrap().unwrap();
        assert_eq!(records(&engine).await.len(), 2);
        engine.close().await.unwrap();
    });
}

#[test]
fn a_daemon_that_is_frozen_in_its_turn_does_not_hold_up_the_others() {
    let Some(address) = fresh() else { return };
    let (runtime, engine) = (Runtime::new().unwrap(), open(&address));
    let schema = address.to_string().rsplit_once('=').unwrap().1.to_owned();
    let lock = format!("hashtextextended('mfa {schema} in turn', 0)");
    runtime.block_on(async {
        let server = std::env::var("MFA_TEST_POSTGRES").unwrap();
        let (frozen, connection) = tokio_postgres::connect(&server, tokio_postgres::NoTls).await.unwrap();
        tokio::spawn(connection);
        frozen.batch_execute(&format!("select pg_advisory_lock({lock})")).await.unwrap();
        let begun = Instant::now();
        engine.write_rehearsed(append(b'a')).await.unwrap();
        engine.write_alone(append(b'b')).await.unwrap();
        assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
        // Nothing is left of it: the lock is taken again as soon as it is free, and given back.
        frozen.batch_execute(&format!("select pg_advisory_unlock({lock})")).await.unwrap();
        for letter in b'c'..=b'h' {
            engine.write_rehearsed(append(letter)).await.unwrap();
            engine.write_alone(append(letter.to_ascii_uppercase())).await.unwrap();
        }
        assert_eq!(records(&engine).await[&b"w"[..]], b"abcCdDeEfFgGhH");
        engine.close().await.unwrap();
        let free = frozen.query_one(&format!("select pg_try_advisory_lock({lock})"), &[]).await.unwrap();
        assert!(free.get::<_, bool>(0), "the lock is held by nobody");
    });
}

#[test]
fn tables_whose_transactions_had_one_place_each_go_on_in_the_same_journal() {
    let Some(address) = fresh() else { return };
    let (runtime, engine) = (Runtime::new().unwrap(), open(&address));
    runtime.block_on(async {
        for letter in b'a'..=b'e' {
            engine.write_rehearsed(append(letter)).await.unwrap();
        }
        // As the program of before has left it.
        ask(&address, "update stored_journal set sequence = sequence / 64").await;
        ask(&address, "update stored_form set version = 1").await;
        ask(&address, "alter table stored_form rename column journal_start to journal_base").await;
        let refused = tokio::task::spawn_blocking({
            let address = address.clone();
            move || Postgres::open(Options::new(address, &[THINGS]))
        });
        // One that knows only the earlier form may be running.
        let refused = refused.await.unwrap().unwrap_err();
        assert!(matches!(&refused, OpenError::InUse(why) if why.contains("stop every daemon")), "{refused}");
        engine.close().await.unwrap();
    });
    let engine = open(&address);
    runtime.block_on(async {
        let before = engine.last_commit().await.unwrap();
        engine.write_rehearsed(append(b'f')).await.unwrap();
        assert!(engine.last_commit().await.unwrap() > before);
        let requests: Vec<_> = journal(&engine).await.into_iter().map(|commit| commit.request).collect();
        assert_eq!(requests.concat(), "abcdef");
        let form = ask(&address, "select version from stored_form").await;
        assert_eq!(form[0].get::<_, i32>(0), 2);
        engine.close().await.unwrap();
    });
}
