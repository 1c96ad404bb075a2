//! How many connections to PostgreSQL a store opens. These tests need `MFA_TEST_POSTGRES`.

use super::postgres::fresh;
use super::set_up::terminate;
use mfa_daemon::store::engine::{Engine, Pending, Space, View};
use mfa_daemon::store::figures::Own;
use mfa_daemon::store::postgres::{Address, Options, Postgres};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::thread::sleep;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

const THINGS: Space = Space { id: 8, name: "things" };
/// Connections for requests; two more are for reads that take long.
const MAX: usize = 4;
/// Those that there always are.
const ALWAYS: usize = 2;
/// Far more than a connection takes, and less than a request waits for one.
const SOON: Duration = Duration::from_secs(4);
/// In which more connections would be opened if there were any reason to.
const A_WHILE: Duration = Duration::from_millis(300);

/// A store that was just opened.
fn opened() -> Option<(Postgres, Address)> {
    let address = fresh()?;
    let options = Options { connections_max: MAX, ..Options::new(address.clone(), &[THINGS]) };
    Some((Postgres::open(options).unwrap(), address))
}

/// How many connections it has.
fn connections(engine: &Postgres) -> usize {
    let Own::Postgres { connections, .. } = engine.figures().own else { panic!("it is on PostgreSQL") };
    usize::try_from(connections).unwrap()
}

/// A read that goes on until it may end, and counts those that have begun.
fn held(engine: &Postgres, long: bool, begun: &Arc<AtomicUsize>, ends: &Arc<AtomicBool>) -> Pending<()> {
    let (begun, ends) = (begun.clone(), ends.clone());
    let look = move |view: &mut dyn View| {
        view.get(THINGS, b"word").unwrap();
        begun.fetch_add(1, SeqCst);
        while !ends.load(SeqCst) {
            sleep(Duration::from_millis(5));
        }
    };
    engine.read(Box::new(look), long)
}

/// Waits until so many have begun.
fn wait(begun: &AtomicUsize, all: usize) {
    let from = Instant::now();
    while begun.load(SeqCst) < all {
        assert!(from.elapsed() < SOON, "{} of {all} have begun", begun.load(SeqCst));
        sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_store_that_does_one_thing_after_the_other_holds_two_connections() {
    let Some((engine, _)) = opened() else { return };
    let runtime = Runtime::new().unwrap();
    runtime.block_on(async {
        for _ in 0..50 {
            let look = |view: &mut dyn View| drop(view.get(THINGS, b"word").unwrap());
            engine.read(Box::new(look), false).await.unwrap();
        }
        sleep(A_WHILE);
        assert_eq!(connections(&engine), ALWAYS);
        engine.close().await.unwrap();
    });
}

#[test]
fn work_that_waits_gets_a_connection_until_there_are_as_many_as_there_may_be() {
    let Some((engine, _)) = opened() else { return };
    let (begun, ends) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
    let runtime = Runtime::new().unwrap();
    runtime.block_on(async {
        let mut reads = Vec::new();
        for all in 1..=MAX {
            reads.push(tokio::spawn(held(&engine, false, &begun, &ends)));
            wait(&begun, all);
            assert!(connections(&engine) >= all);
        }
        for _ in 0..3 {
            reads.push(tokio::spawn(held(&engine, false, &begun, &ends)));
        }
        sleep(A_WHILE);
        assert_eq!((begun.load(SeqCst), connections(&engine)), (MAX, MAX));
        // Reads that take long have connections of their own, also while all others are in use.
        reads.push(tokio::spawn(held(&engine, true, &begun, &ends)));
        wait(&begun, MAX + 1);
        assert_eq!(connections(&engine), MAX + 1);
        ends.store(true, SeqCst);
        for read in reads {
            read.await.unwrap().unwrap();
        }
        assert_eq!(begun.load(SeqCst), MAX + 4);
        engine.close().await.unwrap();
    });
}

#[test]
fn connections_that_were_lost_are_opened_again_as_they_are_needed() {
    let Some((engine, address)) = opened() else { return };
    let runtime = Runtime::new().unwrap();
    runtime.block_on(async {
        for _ in 0..2 {
            let (begun, ends) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
            let reads: Vec<_> = (0..MAX).map(|_| tokio::spawn(held(&engine, false, &begun, &ends))).collect();
            wait(&begun, MAX);
            assert_eq!(connections(&engine), MAX);
            ends.store(true, SeqCst);
            for read in reads {
                read.await.unwrap().unwrap();
            }
            terminate(&address, "ShareLock").await;
            let from = Instant::now();
            while connections(&engine) != ALWAYS {
                assert!(from.elapsed() < SOON, "{} connections", connections(&engine));
                sleep(Duration::from_millis(5));
            }
            sleep(A_WHILE);
            assert_eq!(connections(&engine), ALWAYS);
        }
        engine.close().await.unwrap();
    });
}
