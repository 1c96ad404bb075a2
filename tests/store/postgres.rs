//! What only PostgreSQL can do: several daemons on one store, and queries beside the daemon. These tests
//! need `MFA_TEST_POSTGRES`; `tests/postgres.sh run cargo test` sets it.

use crate::world::{World, mfa, postgres_address};
use mfa_daemon::store::engine::{Change, Commit, Engine, Space};
use mfa_daemon::store::postgres::{Address, Options, Postgres};
use mfa_daemon::{Auth, Check, Clock, Config, Daemon, StartError};
use mfa_shared::time::Timestamp;
use serde_json::json;
use std::collections::BTreeSet;
use std::sync::Arc;
use tokio::runtime::Runtime;
use tokio_postgres::NoTls;

/// The address of a fresh store, or nothing to test against.
fn fresh() -> Option<Address> {
    let address = postgres_address();
    if address.is_none() {
        eprintln!("skipped: MFA_TEST_POSTGRES names no server");
    }
    address
}

/// Asks the database beside the daemon.
fn ask(runtime: &Runtime, address: &Address, sql: &str) -> Vec<String> {
    let server = std::env::var("MFA_TEST_POSTGRES").unwrap();
    let schema = address.to_string().rsplit_once('=').unwrap().1.to_owned();
    runtime.block_on(async {
        let (client, connection) = tokio_postgres::connect(&server, NoTls).await.unwrap();
        tokio::spawn(connection);
        client.batch_execute(&format!("set search_path = {schema}")).await.unwrap();
        let rows = client.query(sql, &[]).await.unwrap();
        rows.iter().map(|row| row.get(0)).collect()
    })
}

fn config(world: &World, address: &Address) -> Config {
    let mut config = Config::new(world.dir.path().join("unused"));
    (config.listen, config.auth) = ("127.0.0.1:0".parse().unwrap(), Auth::Off);
    config.store = Some(address.clone());
    config.store_connections_max = 6;
    // Daemons of one store share the file of keys.
    config.secret_key_file = world.dir.path().join("data.key");
    config
}

#[test]
fn two_daemons_on_one_database_create_each_record_once_and_number_without_gaps() {
    const EACH: usize = 25;
    let Some(address) = fresh() else { return };
    let world = World::with(|config| config.store = Some(address.clone()));
    let runtime = Runtime::new().unwrap();
    let second = runtime.block_on(Daemon::start(config(&world, &address), Clock::system())).unwrap();
    let urls = [world.url(), format!("http://{}", second.address())];
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let send = |path: &str, number: usize, body: String| {
        let request = http.post(format!("{}{path}", urls[number % 2])).body(body);
        request.header("content-type", "application/json")
    };
    world.post("/customers", json!({ "identifier": "ann", "type": "PERSON" }).to_string()).is(202);
    // Everybody twice, once at each daemon, and all at the same time.
    let creates: Vec<_> = (0..2 * EACH)
        .map(|i| {
            let body = json!({ "identifier": format!("c{:03}", i / 2), "type": "PERSON" });
            send("/customers", i, body.to_string())
        })
        .collect();
    let seen: Vec<_> = world.send_all(creates).into_iter().map(|seen| seen.status).collect();
    for pair in seen.chunks(2) {
        let pair: BTreeSet<_> = pair.iter().copied().collect();
        assert_eq!(pair, BTreeSet::from([202, 409]), "{seen:?}");
    }
    // A lifecycle in which every step takes the next number of the customer.
    world.post("/customers/ann/commands", r#"{"action":"ACTIVATE"}"#).is(202);
    let mut done = 1;
    for round in 0..6 {
        let action = if round % 2 == 0 { "LOCK" } else { "UNLOCK" };
        let body = json!({ "action": action }).to_string();
        let same: Vec<_> = (0..4).map(|i| send("/customers/ann/commands", i, body.clone())).collect();
        let seen: Vec<_> = world.send_all(same).into_iter().map(|seen| seen.status).collect();
        assert_eq!(seen.iter().filter(|status| **status == 202).count(), 1, "{seen:?}");
        done += 1;
    }
    let commands = world.get("/customers/ann/commands").is(200).json();
    assert_eq!(commands.as_array().unwrap().len(), done);
    runtime.block_on(second.stop());
}

#[test]
fn what_one_daemon_has_answered_the_other_one_sees_at_once() {
    let Some(address) = fresh() else { return };
    let world = World::with(|config| config.store = Some(address.clone()));
    let runtime = Runtime::new().unwrap();
    let second = runtime.block_on(Daemon::start(config(&world, &address), Clock::system())).unwrap();
    for number in 0..20 {
        let office = json!({ "identifier": format!("o{number}"), "name": "North" }).to_string();
        world.post("/offices", office).is(202);
        let url = format!("http://{}/offices/o{number}", second.address());
        assert_eq!(world.send(reqwest::Client::new().get(url)).status, 200);
    }
    runtime.block_on(second.stop());
}

#[test]
fn an_analyst_queries_records_as_json_and_the_journal_says_who_changed_what() {
    let Some(address) = fresh() else { return };
    let world = World::with(|config| config.store = Some(address.clone()));
    let customer = json!({ "identifier": "ann", "type": "PERSON", "surname": "Mensah" }).to_string();
    let request = world.request("POST", "/customers").header("x-request-id", "r-77").body(customer);
    world.send(request.header("content-type", "application/json")).is(202);
    let runtime = Runtime::new().unwrap();
    let sql = "select record->>'surname' from customers where record->>'identifier' = 'ann'";
    assert_eq!(ask(&runtime, &address, sql), ["Mensah"]);
    let sql = "select actor from stored_changes where request = 'r-77' and record->>'identifier' = 'ann'";
    assert_eq!(ask(&runtime, &address, sql), ["guest"]);
}

#[test]
fn the_journal_tells_every_commit_once_and_in_order_whoever_wrote_it() {
    const THINGS: Space = Space { id: 8, name: "things" };
    let Some(address) = fresh() else { return };
    let runtime = Runtime::new().unwrap();
    let open = || Arc::new(Postgres::open(Options::new(address.clone(), &[THINGS])).unwrap());
    let engines = [open(), open()];
    let (mut told, mut after, mut writing) = (Vec::new(), 0, Vec::new());
    for number in 0..120u8 {
        let change = Change { space: THINGS, key: vec![number], value: Some(b"1".to_vec()) };
        let time = Timestamp::from_millis(1_700_000_000_000);
        let commit = Commit { time, actor: "ada".into(), request: number.to_string(), changes: vec![change] };
        let write = engines[usize::from(number % 2)].write(Box::new(move |_| Some(commit.clone())));
        writing.push(runtime.spawn(write));
        if number % 10 == 0 {
            told.extend(runtime.block_on(engines[0].journal(after, 7)).unwrap());
            after = told.last().map_or(0, |(sequence, _)| *sequence);
        }
    }
    for write in writing {
        runtime.block_on(write).unwrap().unwrap();
    }
    loop {
        let page = runtime.block_on(engines[1].journal(after, 7)).unwrap();
        let Some((last, _)) = page.last() else { break };
        after = *last;
        told.extend(page);
    }
    assert!(told.windows(2).all(|pair| pair[0].0 < pair[1].0));
    let requests: BTreeSet<_> = told.iter().map(|(_, commit)| commit.request.clone()).collect();
    assert_eq!((told.len(), requests.len()), (120, 120));
    assert!(told.iter().all(|(_, c)| c.changes.len() == 1 && c.request == c.changes[0].key[0].to_string()));
}

#[test]
fn tables_of_a_later_version_are_refused() {
    let Some(address) = fresh() else { return };
    let world = World::with(|config| config.store = Some(address.clone()));
    let runtime = Runtime::new().unwrap();
    ask(&runtime, &address, "update stored_form set version = 7 returning 'done'");
    let refused = runtime.block_on(Daemon::start(config(&world, &address), Clock::system()));
    let why = refused.map(|_| ()).unwrap_err();
    assert!(matches!(&why, StartError::Store(why) if why.contains("version 7")), "{why}");
}

#[test]
fn a_server_that_is_not_there_is_named_without_the_password() {
    let home = tempfile::TempDir::new().unwrap();
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
    let mut world = World::with(|config| config.store = Some(address.clone()));
    for name in ["ann", "ben"] {
        world.post("/customers", json!({ "identifier": name, "type": "PERSON" }).to_string()).is(202);
    }
    world.stop();
    assert_eq!(world.check(&[Check::Store]), [""; 0]);
    let runtime = Runtime::new().unwrap();
    let update = |sql: &str| drop(ask(&runtime, &address, &format!("{sql} returning space::text")));
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
