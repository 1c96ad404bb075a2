//! What only PostgreSQL can do: queries by others, versions of its tables, set-up by several at once. These
//! tests need `MFA_TEST_POSTGRES`; `tests/postgres.sh run cargo test` sets it.

use crate::support::stored::{ask, postgres_address};
use crate::support::world::{World, mfa};
use mfa_daemon::store::engine::{Change, Commit, Engine, Space, View};
use mfa_daemon::store::postgres::{Address, Options, Postgres};
use mfa_daemon::{Auth, Check, Clock, Config, Daemon, StartError};
use mfa_shared::time::Timestamp;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// The address of a fresh store, or nothing to test against.
pub fn fresh() -> Option<Address> {
    let address = postgres_address();
    if address.is_none() {
        eprintln!("skipped: MFA_TEST_POSTGRES names no server");
    }
    address
}

/// A world of two daemons on a fresh store, or nothing to test against.
pub fn shared() -> Option<World> {
    let address = fresh()?;
    Some(World::with(|config| config.store = address.into()))
}

/// Queries the database of a world directly.
pub fn column(world: &World, sql: &str) -> Vec<String> {
    let rows = world.block_on(ask(world.config().store.postgres().unwrap(), sql));
    rows.iter().map(|row| row.get(0)).collect()
}

fn config(address: &Address, dir: &TempDir) -> Config {
    let mut config = Config::new(dir.path().join("data"));
    (config.listen, config.auth) = ("127.0.0.1:0".parse().unwrap(), Auth::Off);
    (config.store, config.store_connections_max) = (address.clone().into(), 4);
    config
}

#[test]
fn analysts_query_records_as_json_and_the_journal_says_who_changed_what() {
    let Some(world) = shared() else { return };
    let customer = json!({ "identifier": "ann", "type": "PERSON", "surname": "Mensah" }).to_string();
    let request = world.request("POST", "/customers").header("x-request-id", "r-77").body(customer);
    world.send(request.header("content-type", "application/json")).is(202);
    let sql = "select record->>'surname' from customers where record->>'identifier' = 'ann'";
    assert_eq!(column(&world, sql), ["Mensah"]);
    let sql = "select actor from stored_changes where request = 'r-77' and record->>'identifier' = 'ann'";
    assert_eq!(column(&world, sql), ["guest"]);
}

#[test]
fn the_journal_has_every_commit_of_every_daemon_once_and_in_order() {
    const THINGS: Space = Space { id: 8, name: "things" };
    let Some(address) = fresh() else { return };
    let runtime = Runtime::new().unwrap();
    let open = || Arc::new(Postgres::open(Options::new(address.clone(), &[THINGS])).unwrap());
    let engines = [open(), open()];
    let (mut found, mut after, mut writing) = (Vec::new(), 0, Vec::new());
    for number in 0..120u8 {
        let change = Change { space: THINGS, key: vec![number], value: Some(b"1".to_vec()) };
        let time = Timestamp::from_millis(1_700_000_000_000);
        let commit = Commit { time, actor: "ada".into(), request: number.to_string(), changes: vec![change] };
        let write = engines[usize::from(number % 2)].write(Box::new(move |_| Some(commit.clone())));
        writing.push(runtime.spawn(write));
        if number % 10 == 0 {
            found.extend(runtime.block_on(engines[0].journal(after, 7)).unwrap());
            after = found.last().map_or(0, |(sequence, _)| *sequence);
        }
    }
    for write in writing {
        runtime.block_on(write).unwrap().unwrap();
    }
    // Another test on the same server may have an older transaction: what follows is not final until it ends.
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let page = runtime.block_on(engines[1].journal(after, 7)).unwrap();
        match page.last() {
            Some((last, _)) => after = *last,
            None if found.len() < 120 && Instant::now() < deadline => {
                std::thread::sleep(Duration::from_millis(20));
            }
            None => break,
        }
        found.extend(page);
    }
    assert!(found.windows(2).all(|pair| pair[0].0 < pair[1].0));
    let requests: BTreeSet<_> = found.iter().map(|(_, commit)| commit.request.clone()).collect();
    assert_eq!((found.len(), requests.len()), (120, 120));
    assert!(found.iter().all(|(_, c)| c.changes.len() == 1 && c.request == c.changes[0].key[0].to_string()));
}

#[test]
fn the_journal_has_no_removal_of_what_was_not_there() {
    const THINGS: Space = Space { id: 8, name: "things" };
    let Some(address) = fresh() else { return };
    let runtime = Runtime::new().unwrap();
    let engine = Postgres::open(Options::new(address, &[THINGS])).unwrap();
    let commit = |changes: Vec<(u8, Option<u8>)>| {
        let change = |(key, value): (u8, Option<u8>)| {
            let value = value.map(|value| vec![value]);
            Change { space: THINGS, key: vec![key], value }
        };
        let (time, changes) = (Timestamp::from_millis(0), changes.into_iter().map(change).collect());
        Some(Commit { time, actor: "ada".into(), request: "r".into(), changes })
    };
    let (began, begun) = std::sync::mpsc::channel();
    let (go_on, goes_on) = std::sync::mpsc::channel::<()>();
    // As a batch that makes a record and deletes it again, while another request makes one of the same name.
    let batch = engine.write(Box::new(move |view: &mut dyn View| {
        assert_eq!(view.get(THINGS, b"a").unwrap(), None);
        began.send(()).unwrap();
        goes_on.recv().unwrap();
        commit(vec![(b'a', None), (b'b', Some(1)), (b'c', None)])
    }));
    runtime.block_on(async {
        let batch = tokio::spawn(batch);
        begun.recv().unwrap();
        engine.write(Box::new(move |_| commit(vec![(b'a', Some(1))]))).await.unwrap();
        go_on.send(()).unwrap();
        batch.await.unwrap().unwrap();
        engine.write(Box::new(move |_| commit(vec![(b'b', None), (b'd', None)]))).await.unwrap();
        engine.write(Box::new(move |_| commit(vec![(b'e', None)]))).await.unwrap();
        let (send, receive) = std::sync::mpsc::channel();
        let visit = move |commit: Commit| {
            let change = |change: Change| (change.key[0], change.value.is_some());
            let _ = send.send(commit.changes.into_iter().map(change).collect::<Vec<_>>());
        };
        engine.replay(Box::new(visit)).await.unwrap();
        let expected = [vec![(b'a', true)], vec![(b'b', true)], vec![(b'b', false)], vec![]];
        assert_eq!(receive.iter().collect::<Vec<_>>(), expected);
        engine.close().await.unwrap();
    });
}

#[test]
fn tables_of_a_later_version_are_refused() {
    let Some(world) = shared() else { return };
    column(&world, "update stored_form set version = 7 returning 'done'");
    let refused = world.block_on(Daemon::start(world.config().clone(), Clock::system()));
    let why = refused.map(|_| ()).unwrap_err();
    assert!(matches!(&why, StartError::Store(why) if why.contains("version 7")), "{why}");
}

#[test]
fn large_commits_come_in_pages_that_fit_and_all_of_them_come() {
    const THINGS: Space = Space { id: 8, name: "things" };
    const COMMITS: u32 = 7;
    let Some(address) = fresh() else { return };
    let runtime = Runtime::new().unwrap();
    let engine = Postgres::open(Options::new(address, &[THINGS])).unwrap();
    // Two megabytes that nothing compresses.
    let value: Vec<u8> =
        (0..1 << 19u32).flat_map(|n: u32| n.wrapping_mul(2_654_435_761).to_be_bytes()).collect();
    for number in 0..COMMITS {
        let key = number.to_be_bytes().to_vec();
        let changes = vec![Change { space: THINGS, key, value: Some(value.clone()) }];
        let time = Timestamp::from_millis(1_700_000_000_000);
        let commit = Commit { time, actor: "ada".into(), request: number.to_string(), changes };
        runtime.block_on(engine.write(Box::new(move |_| Some(commit.clone())))).unwrap();
    }
    let numbers: Vec<String> = (0..COMMITS).map(|number| number.to_string()).collect();
    let (mut found, mut after) = (Vec::new(), 0);
    let deadline = Instant::now() + Duration::from_secs(60);
    while found.len() < numbers.len() && Instant::now() < deadline {
        let page = runtime.block_on(engine.journal(after, 100)).unwrap();
        assert!(page.len() <= 3, "{} commits in one page", page.len());
        after = page.last().map_or(after, |(sequence, _)| *sequence);
        found.extend(page.into_iter().map(|(_, commit)| commit.request));
    }
    assert_eq!(found, numbers);
    let replayed = Arc::new(Mutex::new(Vec::new()));
    let into = replayed.clone();
    let visit = Box::new(move |commit: Commit| into.lock().unwrap().push(commit.request));
    runtime.block_on(engine.replay(visit)).unwrap();
    assert_eq!(*replayed.lock().unwrap(), numbers);
    runtime.block_on(engine.close()).unwrap();
}

#[test]
fn daemons_that_start_at_once_on_an_empty_database_set_it_up_once() {
    const DAEMONS: usize = 5;
    let Some(address) = fresh() else { return };
    let _ = rustls::crypto::ring::default_provider().install_default();
    let (runtime, dir) = (Runtime::new().unwrap(), TempDir::new().unwrap());
    let starting: Vec<_> =
        (0..DAEMONS).map(|_| runtime.spawn(Daemon::start(config(&address, &dir), Clock::system()))).collect();
    runtime.block_on(async {
        let (mut daemons, mut instances) = (Vec::new(), BTreeSet::new());
        for daemon in starting {
            daemons.push(daemon.await.unwrap().unwrap());
        }
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        for daemon in &daemons {
            let url = format!("http://{}/version", daemon.address());
            let version: Value =
                serde_json::from_str(&http.get(url).send().await.unwrap().text().await.unwrap()).unwrap();
            instances.insert(version["instance"].as_str().unwrap().to_owned());
        }
        assert_eq!(instances.len(), 1, "they are daemons of one store: {instances:?}");
        for daemon in daemons {
            daemon.stop().await;
        }
        let made =
            ask(&address, "select count(*)::text from system where record->>'instance' is not null").await;
        assert_eq!(made[0].get::<_, String>(0), "1");
    });
}

#[test]
fn who_changes_the_whole_store_works_alone() {
    let Some(address) = fresh() else { return };
    let (runtime, dir) = (Runtime::new().unwrap(), TempDir::new().unwrap());
    let daemon = runtime.block_on(Daemon::start(config(&address, &dir), Clock::system())).unwrap();
    let mut alone = Options::new(address.clone(), &[]);
    alone.alone = true;
    let refused = Postgres::open(alone.clone()).unwrap_err().to_string();
    assert_eq!(refused, "a daemon uses the store: stop every daemon of it first");
    runtime.block_on(daemon.stop());
    let engine = Postgres::open(alone).unwrap();
    let refused =
        runtime.block_on(Daemon::start(config(&address, &dir), Clock::system())).map(drop).unwrap_err();
    assert!(refused.to_string().contains("the store is being copied or gets a new key"), "{refused}");
    runtime.block_on(engine.close()).unwrap();
    let daemon = runtime.block_on(Daemon::start(config(&address, &dir), Clock::system())).unwrap();
    runtime.block_on(daemon.stop());
}

#[test]
fn a_server_that_is_not_there_is_named_without_the_password() {
    let home = TempDir::new().unwrap();
    let start = |arguments: &[&str], store: Option<&str>| {
        let mut command = mfa(home.path(), arguments);
        store.map(|store| command.env("MFA_STORE", store));
        let output = command.output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        (output.status.code().unwrap(), String::from_utf8(text).unwrap())
    };
    let url = "postgres://ann:s3cret@127.0.0.1:1/bank";
    let (exit, text) = start(&["daemon", "run", "--auth", "off"], Some(url));
    assert!(exit == 1 && text.contains("postgres://ann@127.0.0.1:1/bank cannot be reached"), "{text}");
    assert!(!text.contains("s3cret"), "{text}");
    let (exit, text) = start(&["config", "view", "-o", "json"], Some(url));
    assert!(
        exit == 0 && text.contains("postgres://ann@127.0.0.1:1/bank") && !text.contains("s3cret"),
        "{text}"
    );
    let (exit, text) = start(&["daemon", "run", "--store", url], None);
    assert!(exit == 2 && text.contains("PGPASSWORD") && !text.contains("s3cret"), "{text}");
}

#[test]
fn a_record_that_was_changed_in_the_database_is_found_by_a_check() {
    let Some(address) = fresh() else { return };
    let mut world = World::with(|config| config.store = address.clone().into());
    for name in ["ann", "ben"] {
        world.post("/customers", json!({ "identifier": name, "type": "PERSON" }).to_string()).is(202);
    }
    world.stop();
    assert_eq!(world.check(&[Check::Store]), [""; 0]);
    let update = |sql: &str| drop(world.block_on(ask(&address, &format!("{sql} returning space::text"))));
    update("update stored_records set value = '{}' where space = 20 and key = 'ann'");
    update("delete from stored_records where space = 20 and key = 'ben'");
    update("insert into stored_records (spread, space, key, value) values (1, 20, 'eve', '{}')");
    let expected = [
        "record ann of customers - differs from what the journal says",
        "record eve of customers - is not in the journal",
        "record ben of customers - is in the journal and missing among the records",
    ];
    assert_eq!(world.check(&[Check::Store]), expected);
}
