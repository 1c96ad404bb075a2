//! A database that has lost commits which were acknowledged, as after a failover to a server that did not have them.
//! These tests need `MFA_TEST_POSTGRES`.

use super::postgres::fresh;
use super::set_up::terminate;
use crate::support::stored::ask;
use mfa_daemon::store::engine::{Change, Commit, Engine, Space, View, WriteWork};
use mfa_daemon::store::postgres::{Options, Postgres};
use mfa_daemon::{Auth, Clock, Config, Daemon};
use mfa_shared::time::Timestamp;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio::runtime::Runtime;

const THINGS: Space = Space { id: 8, name: "things" };
/// Far beyond the time in which a daemon finds its database again.
const SOON: Duration = Duration::from_secs(20);

fn put(request: &str) -> WriteWork {
    let request = request.to_owned();
    Box::new(move |view: &mut dyn View| {
        view.get(THINGS, request.as_bytes()).ok()?;
        let changes = vec![Change { space: THINGS, key: request.clone().into_bytes(), value: Some(vec![1]) }];
        let time = Timestamp::from_millis(1_700_000_000_000);
        Some(Commit { time, actor: "ada".into(), request: request.clone(), changes })
    })
}

async fn until(what: &str, mut is: impl AsyncFnMut() -> bool) {
    let until = Instant::now() + SOON;
    while !is().await {
        assert!(Instant::now() < until, "{what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[test]
fn a_daemon_that_finds_its_database_without_what_was_acknowledged_stops_for_good_and_says_what_is_lost() {
    let Some(address) = fresh() else { return };
    let (runtime, open) =
        (Runtime::new().unwrap(), || Postgres::open(Options::new(address.clone(), &[THINGS])));
    let (engine, other) = (open().unwrap(), open().unwrap());
    runtime.block_on(async {
        engine.write_rehearsed(put("first")).await.unwrap();
        engine.write_alone(put("last")).await.unwrap();
        // A mere failover: everything is there.
        terminate(&address, "ShareLock").await;
        for daemon in [&engine, &other] {
            until("no connection", async || daemon.write_rehearsed(put("later")).await.is_ok()).await;
            assert_eq!(daemon.final_fault(), None);
        }
        // What another daemon commits is known to one that follows the journal.
        engine.changed_since(None, 0, &[]).await.unwrap();
        // The server that takes over did not have the last commit, and gives its number to another one.
        ask(&address, "update stored_journal set request = 'another' where sequence = (select max(sequence) from stored_journal)")
            .await;
        terminate(&address, "ShareLock").await;
        for daemon in [&engine, &other] {
            until("it goes on", async || daemon.final_fault().is_some()).await;
            let why = daemon.final_fault().unwrap().detail.clone();
            assert!(why.contains("that of request later at 2023-11-14T22:13:20.000Z"), "{why}");
            let refused = daemon.write_rehearsed(put("refused")).await.unwrap_err();
            assert_eq!(refused.detail, why);
        }
        // One that starts anew knows of nothing else.
        let again = open().unwrap();
        again.write_rehearsed(put("again")).await.unwrap();
        for daemon in [engine, other, again] {
            daemon.close().await.unwrap();
        }
    });
}

#[test]
fn a_change_that_is_lost_is_noticed_also_where_one_with_a_higher_number_is_there() {
    let Some(address) = fresh() else { return };
    let (runtime, engine) =
        (Runtime::new().unwrap(), Postgres::open(Options::new(address.clone(), &[THINGS])));
    let engine = engine.unwrap();
    runtime.block_on(async {
        for request in ["one", "two", "three"] {
            engine.write_rehearsed(put(request)).await.unwrap();
        }
        ask(&address, "delete from stored_journal where request = 'two'").await;
        terminate(&address, "ShareLock").await;
        until("it goes on", async || engine.final_fault().is_some()).await;
        let why = engine.final_fault().unwrap().detail.clone();
        assert!(why.contains("that of request two at "), "{why}");
        engine.close().await.unwrap();
    });
}

#[test]
fn a_daemon_that_finds_its_database_on_a_server_that_counts_anew_ends_and_then_continues_the_journal() {
    let Some(address) = fresh() else { return };
    let (runtime, open) =
        (Runtime::new().unwrap(), || Postgres::open(Options::new(address.clone(), &[THINGS])).unwrap());
    let engine = open();
    runtime.block_on(async {
        engine.write_rehearsed(put("before")).await.unwrap();
        // As if this server had given a million transactions less than the one before it.
        ask(&address, "update stored_form set journal_start = journal_start - 64 * 1000000").await;
        terminate(&address, "ShareLock").await;
        until("it goes on", async || engine.final_fault().is_some()).await;
        let why = engine.final_fault().unwrap().detail.clone();
        assert!(why.starts_with("the database was moved to a server whose transactions"), "{why}");
        let last = engine.last_commit().await.unwrap_err();
        assert_eq!(last.detail, why);
        engine.close().await.unwrap();
        let again = tokio::task::block_in_place(open);
        let end = again.last_commit().await.unwrap();
        again.write_rehearsed(put("again")).await.unwrap();
        assert!(again.last_commit().await.unwrap() > end);
        terminate(&address, "ShareLock").await;
        until("no connection", async || again.write_rehearsed(put("later")).await.is_ok()).await;
        assert_eq!(again.final_fault(), None);
        again.close().await.unwrap();
    });
}

#[test]
fn a_daemon_whose_lists_are_wrong_after_a_lossy_failover_leaves() {
    let Some(address) = fresh() else { return };
    let _ = rustls::crypto::ring::default_provider().install_default();
    let (runtime, dir) = (Runtime::new().unwrap(), TempDir::new().unwrap());
    let mut config = Config::new(dir.path().join("data"));
    (config.listen, config.auth) = ("127.0.0.1:0".parse().unwrap(), Auth::Off);
    config.store = address.clone().into();
    runtime.block_on(async {
        let daemon = Daemon::start(config, Clock::system()).await.unwrap();
        let office = |name: &str| {
            let body = format!("{{\"identifier\":\"{name}\",\"name\":\"{name}\"}}");
            let url = format!("{}/offices", daemon.url());
            async move {
                let client = reqwest::Client::new();
                client
                    .post(url)
                    .header("content-type", "application/json")
                    .body(body)
                    .send()
                    .await
                    .unwrap()
                    .status()
            }
        };
        assert!(office("north").await.is_success());
        terminate(&address, "ShareLock").await;
        until("no connection", async || office("south").await.is_success()).await;
        ask(
            &address,
            "delete from stored_journal where sequence >= (select max(sequence) - 10 from stored_journal)",
        )
        .await;
        terminate(&address, "ShareLock").await;
        let why = tokio::time::timeout(SOON, daemon.failed()).await.expect("it goes on");
        assert!(why.starts_with("the database has lost changes that were acknowledged"), "{why}");
        daemon.stop().await;
    });
}
