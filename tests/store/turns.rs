//! Work on PostgreSQL that runs alone in its process, beside what another process writes. These tests need
//! `MFA_TEST_POSTGRES`.

use super::postgres::fresh;
use mfa_daemon::store::engine::{Change, Commit, Engine, Space, View, WriteWork};
use mfa_daemon::store::postgres::{Options, Postgres};
use mfa_shared::time::Timestamp;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::mpsc::channel;
use std::thread::sleep;
use std::time::Duration;
use tokio::runtime::Runtime;

const THINGS: Space = Space { id: 8, name: "things" };
/// Longer than it takes to hand work over to a connection.
const HANDED_OVER: Duration = Duration::from_millis(100);
/// Far less than a request waits for a connection, and far more than an answer takes.
const AT_ONCE: Duration = Duration::from_secs(3);

/// Two of them on one database.
fn processes() -> Option<[Postgres; 2]> {
    let address = fresh()?;
    let open = || Postgres::open(Options::new(address.clone(), &[THINGS])).unwrap();
    Some([open(), open()])
}

/// Puts `letter` behind what the record holds.
fn append(view: &mut dyn View, letter: u8) -> Option<Commit> {
    let value = [view.get(THINGS, b"word").ok()?.unwrap_or_default(), vec![letter]].concat();
    let changes = vec![Change { space: THINGS, key: b"word".to_vec(), value: Some(value) }];
    Some(Commit { time: Timestamp::from_millis(0), actor: "ada".into(), request: "r-1".into(), changes })
}

/// Looks at the record, which has to be answered at once.
async fn word(engine: &Postgres) -> Vec<u8> {
    let (send, receive) = channel();
    let look = move |view: &mut dyn View| {
        let _ = send.send(view.get(THINGS, b"word").unwrap());
    };
    let read = engine.read(Box::new(look), false);
    tokio::time::timeout(AT_ONCE, read).await.expect("a read waits for writes").unwrap();
    receive.recv().unwrap().unwrap_or_default()
}

/// Work that takes until it may end.
fn long(ends: &Arc<AtomicBool>, letter: u8) -> WriteWork {
    let ends = ends.clone();
    Box::new(move |view: &mut dyn View| {
        while !ends.load(SeqCst) {
            sleep(Duration::from_millis(5));
        }
        append(view, letter)
    })
}

#[test]
fn reads_are_answered_while_work_that_writes_waits_for_a_long_one() {
    let Some(address) = fresh() else { return };
    let (runtime, ends) = (Runtime::new().unwrap(), Arc::new(AtomicBool::new(false)));
    let engine = Postgres::open(Options { connections_max: 4, ..Options::new(address, &[THINGS]) }).unwrap();
    runtime.block_on(async {
        let long = tokio::spawn(engine.write_alone(long(&ends, b'l')));
        sleep(HANDED_OVER);
        let short = |letter| move |view: &mut dyn View| append(view, letter);
        let mut waiting: Vec<_> =
            (0..20).map(|_| tokio::spawn(engine.write(Box::new(short(b's'))))).collect();
        waiting.extend((0..20).map(|_| tokio::spawn(engine.write_alone(Box::new(short(b'a'))))));
        sleep(HANDED_OVER);
        assert_eq!((word(&engine).await, engine.figures().waiting), (Vec::new(), 40));
        ends.store(true, SeqCst);
        long.await.unwrap().unwrap();
        for work in waiting {
            work.await.unwrap().unwrap();
        }
        let word = word(&engine).await;
        assert_eq!((word.len(), word[0], engine.figures().waiting), (41, b'l', 0));
        engine.close().await.unwrap();
    });
}

#[test]
fn reads_and_turns_go_on_beside_many_long_changes_that_need_no_turn() {
    let Some(address) = fresh() else { return };
    let (runtime, ends) = (Runtime::new().unwrap(), Arc::new(AtomicBool::new(false)));
    let engine = Postgres::open(Options { connections_max: 4, ..Options::new(address, &[THINGS]) }).unwrap();
    runtime.block_on(async {
        let many: Vec<_> =
            (0..10).map(|_| tokio::spawn(engine.write_on_snapshot(long(&ends, b'l')))).collect();
        sleep(HANDED_OVER);
        let write = engine.write(Box::new(|view: &mut dyn View| append(view, b's')));
        tokio::time::timeout(AT_ONCE, write).await.expect("a write waits for others").unwrap();
        assert_eq!(word(&engine).await, b"s");
        ends.store(true, SeqCst);
        for work in many {
            work.await.unwrap().unwrap();
        }
        assert_eq!(word(&engine).await.len(), 11);
        engine.close().await.unwrap();
    });
}

#[test]
fn work_alone_that_lost_to_another_process_is_tried_again_before_those_that_wait_for_it() {
    let Some([here, there]) = processes() else { return };
    let runtime = Runtime::new().unwrap();
    let (began, begun) = channel();
    let (go_on, goes_on) = channel::<()>();
    let mut first = true;
    let alone: WriteWork = Box::new(move |view: &mut dyn View| {
        let commit = append(view, b'a');
        if std::mem::take(&mut first) {
            began.send(()).unwrap();
            goes_on.recv().unwrap();
        }
        commit
    });
    runtime.block_on(async {
        let alone = tokio::spawn(here.write_alone(alone));
        begun.recv().unwrap();
        there.write(Box::new(|view: &mut dyn View| append(view, b't'))).await.unwrap();
        let waiting: Vec<_> = (0..4)
            .map(|_| tokio::spawn(here.write(Box::new(|view: &mut dyn View| append(view, b's')))))
            .collect();
        sleep(HANDED_OVER);
        go_on.send(()).unwrap();
        alone.await.unwrap().unwrap();
        for work in waiting {
            work.await.unwrap().unwrap();
        }
        let (send, receive) = channel();
        let look = move |view: &mut dyn View| send.send(view.get(THINGS, b"word").unwrap()).unwrap();
        here.read(Box::new(look), false).await.unwrap();
        assert_eq!(receive.recv().unwrap().unwrap(), b"tassss");
        here.close().await.unwrap();
        there.close().await.unwrap();
    });
}

#[test]
fn work_alone_that_loses_again_and_again_gives_way_to_those_that_wait() {
    let Some([here, there]) = processes() else { return };
    let runtime = Runtime::new().unwrap();
    let (begin, begun) = channel();
    let (write, written) = channel();
    // Until another work of its process was done, the other process is quicker.
    let loses = Arc::new(AtomicBool::new(true));
    let still = loses.clone();
    let alone: WriteWork = Box::new(move |view: &mut dyn View| {
        let commit = append(view, b'a');
        if still.load(SeqCst) {
            begin.send(()).unwrap();
            written.recv().unwrap();
        }
        commit
    });
    std::thread::scope(|scope| {
        let (runtime, there) = (&runtime, &there);
        let (began, has_begun) = channel();
        scope.spawn(move || {
            while begun.recv().is_ok() {
                runtime.block_on(there.write(Box::new(|view: &mut dyn View| append(view, b't')))).unwrap();
                write.send(()).unwrap();
                let _ = began.send(());
            }
        });
        let alone = runtime.spawn(here.write_alone(alone));
        has_begun.recv().unwrap();
        runtime.block_on(here.write(Box::new(|view: &mut dyn View| append(view, b's')))).unwrap();
        loses.store(false, SeqCst);
        runtime.block_on(alone).unwrap().unwrap();
    });
    runtime.block_on(async {
        here.close().await.unwrap();
        there.close().await.unwrap();
    });
}
