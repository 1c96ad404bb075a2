//! The set-up of a database that others use: other versions, work that is alone, machines that freeze. These tests
//! need `MFA_TEST_POSTGRES`.

use super::postgres::fresh;
use crate::support::servers::{Mode, Relay};
use crate::support::stored::ask;
use crate::support::world::mfa;
use mfa_daemon::store::engine::{Change, Commit, Engine, Space, WriteWork};
use mfa_daemon::store::postgres::{Address, OpenError, Options, Postgres};
use mfa_daemon::{Auth, Clock, Config, Daemon, StartError};
use mfa_shared::time::Timestamp;
use std::net::ToSocketAddrs;
use std::thread::sleep;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tokio_postgres::{Client, NoTls};

const THINGS: Space = Space { id: 8, name: "things" };
const MORE: Space = Space { id: 9, name: "more" };
/// Far beyond the time in which a daemon finds its database again.
const AGAIN: Duration = Duration::from_secs(60);

fn schema(address: &Address) -> String {
    address.to_string().rsplit_once('=').unwrap().1.to_owned()
}

/// Another program that is connected to the same database.
async fn other() -> Client {
    let server = std::env::var("MFA_TEST_POSTGRES").unwrap();
    let (client, connection) = tokio_postgres::connect(&server, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

fn put(key: u8) -> WriteWork {
    put_value(key, vec![1])
}

fn put_value(key: u8, value: Vec<u8>) -> WriteWork {
    Box::new(move |_| {
        let changes = vec![Change { space: THINGS, key: vec![key], value: Some(value.clone()) }];
        Some(Commit { time: Timestamp::from_millis(0), actor: "ada".into(), request: "r".into(), changes })
    })
}

/// Lets the making of a view take a while, after which the transaction goes on.
async fn slow_views(address: &Address) {
    let schema = schema(address);
    for sql in [
        format!(
            "create function slow() returns event_trigger language plpgsql as $$ begin
             if current_schema() = '{schema}' then perform pg_sleep(1.5); end if; end $$"
        ),
        format!(
            "create event trigger {schema} on ddl_command_end when tag in ('CREATE VIEW')
             execute function slow()"
        ),
    ] {
        ask(address, &sql).await;
    }
}

/// Waits until a view is being made.
async fn view_begun(address: &Address) {
    let sql = format!(
        "select 1 from pg_locks join pg_stat_activity using (pid) where locktype = 'advisory' and objsubid = 1
         and (classid::bigint << 32) | objid::bigint = hashtextextended('mfa {}', 0)
         and wait_event = 'PgSleep'",
        schema(address)
    );
    let until = Instant::now() + AGAIN;
    while ask(address, &sql).await.is_empty() {
        assert!(Instant::now() < until, "no view is made");
        sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_set_up_beside_running_daemons_keeps_their_place_in_the_journal() {
    let Some(address) = fresh() else { return };
    let runtime = Runtime::new().unwrap();
    let engine = Postgres::open(Options::new(address.clone(), &[THINGS])).unwrap();
    runtime.block_on(slow_views(&address));
    // A daemon with one more space makes a view for it, and others commit meanwhile.
    let later = address.clone();
    let later = std::thread::spawn(move || Postgres::open(Options::new(later, &[THINGS, MORE])).unwrap());
    runtime.block_on(view_begun(&address));
    for key in 0..3 {
        runtime.block_on(engine.write(put(key))).unwrap();
    }
    let later = later.join().unwrap();
    runtime.block_on(async {
        ask(&address, &format!("drop event trigger {}", schema(&address))).await;
        engine.write(put(3)).await.unwrap();
        let base = ask(&address, "select journal_start::text from stored_form").await;
        assert_eq!(base[0].get::<_, String>(0), "0");
        let until = Instant::now() + AGAIN;
        for engine in [&engine, &later] {
            while engine.journal(0, 10).await.unwrap().len() < 4 {
                assert!(Instant::now() < until, "commits are missing");
                sleep(Duration::from_millis(20));
            }
            engine.close().await.unwrap();
        }
    });
}

#[test]
fn there_is_a_view_of_each_kind_of_record_and_none_of_an_index() {
    let Some(address) = fresh() else { return };
    let runtime = Runtime::new().unwrap();
    let index = Space { id: 10, name: "things_by_owner" };
    let spaces: &'static [Space] = vec![THINGS, index, MORE].leak();
    runtime.block_on(Postgres::open(Options::new(address.clone(), spaces)).unwrap().close()).unwrap();
    let sql =
        format!("select viewname::text from pg_views where schemaname = '{}' order by 1", schema(&address));
    let views: Vec<String> = runtime.block_on(ask(&address, &sql)).iter().map(|row| row.get(0)).collect();
    assert_eq!(views, ["more", "stored_changes", "things"]);
}

#[test]
fn a_machine_that_freezes_in_its_set_up_gives_way_and_others_say_so() {
    let Some(address) = fresh() else { return };
    let runtime = Runtime::new().unwrap();
    runtime.block_on(Postgres::open(Options::new(address.clone(), &[])).unwrap().close()).unwrap();
    runtime.block_on(slow_views(&address));
    let text = address.to_string();
    let (user, rest) = text.strip_prefix("postgres://").unwrap().split_once('@').unwrap();
    let (host, database) = rest.split_once('/').unwrap();
    let relay = Relay::before(host.to_socket_addrs().unwrap().next().unwrap());
    let through = Address::parse(&format!("postgres://{user}@127.0.0.1:{}/{database}", relay.port)).unwrap();
    let freezes = std::thread::spawn(move || Postgres::open(Options::new(through, &[THINGS])).map(drop));
    runtime.block_on(view_begun(&address));
    relay.set(Mode::Frozen);
    runtime.block_on(ask(&address, &format!("drop event trigger {}", schema(&address))));
    let refused = Postgres::open(Options::new(address.clone(), &[THINGS])).unwrap_err().to_string();
    assert!(refused.contains("another daemon is setting it up"), "{refused}");
    let engine = Postgres::open(Options::new(address, &[THINGS])).unwrap();
    runtime.block_on(engine.close()).unwrap();
    relay.set(Mode::Away);
    freezes.join().unwrap().unwrap_err();
}

#[test]
fn another_version_of_the_program_is_kept_away_until_the_last_of_the_others_has_ended() {
    let Some(address) = fresh() else { return };
    let (runtime, dir) = (Runtime::new().unwrap(), TempDir::new().unwrap());
    let mut config = Config::new(dir.path().join("data"));
    (config.listen, config.auth) = ("127.0.0.1:0".parse().unwrap(), Auth::Off);
    (config.store, config.store_connections_max) = (address.clone().into(), 4);
    let _ = rustls::crypto::ring::default_provider().install_default();
    let schema = schema(&address);
    // What a daemon of a later version holds, and what one holds that does not say its version.
    let later = format!("hashtext('mfa {schema} version'), {}", 9 << 20 | 8 << 10 | 7);
    let earlier = format!("hashtextextended('mfa {schema} in use', 0)");
    for (lock, version) in [(later, "mfa 9.8.7"), (earlier, "an earlier version of mfa")] {
        let other = runtime.block_on(other());
        let lock = format!("select pg_advisory_lock_shared({lock})");
        runtime.block_on(other.batch_execute(&lock)).unwrap();
        let refused = runtime.block_on(Daemon::start(config.clone(), Clock::system())).map(drop).unwrap_err();
        let expected = format!("{version} uses the store, and this is mfa {}", env!("CARGO_PKG_VERSION"));
        let named = matches!(&refused, StartError::Locked(why) if why.starts_with(&expected));
        assert!(named, "{refused}");
        let made = format!("select 1 from pg_namespace where nspname = '{schema}'");
        assert!(runtime.block_on(other.query(&made, &[])).unwrap().is_empty(), "it was set up");
        let output = mfa(dir.path(), &["check", "store"]).env("MFA_STORE", address.to_string()).output();
        let output = output.unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(11) && said.contains(&expected), "{said}");
    }
    // Both have ended with their connections.
    for _ in 0..2 {
        let daemon = runtime.block_on(Daemon::start(config.clone(), Clock::system())).unwrap();
        runtime.block_on(daemon.stop());
    }
}

/// Ends the connections that hold a lock for the use of the store, in a mode.
pub async fn terminate(address: &Address, mode: &str) {
    let sql = format!(
        "select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and objsubid = 1
         and (classid::bigint << 32) | objid::bigint = hashtextextended('mfa {} in use', 0) and mode = '{mode}'",
        schema(address)
    );
    assert!(!ask(address, &sql).await.is_empty(), "there is no such lock");
}

#[test]
fn a_daemon_that_lost_its_database_comes_back_only_when_no_other_version_has_it() {
    let Some(address) = fresh() else { return };
    let runtime = Runtime::new().unwrap();
    let engine = Postgres::open(Options::new(address.clone(), &[THINGS])).unwrap();
    runtime.block_on(async {
        let other = other().await;
        let lock = format!("select pg_advisory_lock_shared(hashtext('mfa {} version'), 7)", schema(&address));
        other.batch_execute(&lock).await.unwrap();
        engine.write(put(1)).await.unwrap();
        terminate(&address, "ShareLock").await;
        sleep(Duration::from_secs(1));
        engine.write(put(2)).await.unwrap_err();
        drop(other);
        let until = Instant::now() + AGAIN;
        while engine.write(put(2)).await.is_err() {
            assert!(Instant::now() < until, "it does not come back");
            sleep(Duration::from_millis(20));
        }
        engine.close().await.unwrap();
    });
}

#[test]
fn a_machine_does_not_use_the_store_while_its_clock_is_far_from_that_of_the_database() {
    let Some(address) = fresh() else { return };
    let runtime = Runtime::new().unwrap();
    let clock = |seconds: i64| {
        let clock = Clock::fixed(Clock::system().now());
        clock.advance(seconds);
        Options { clock: Some(clock), ..Options::new(address.clone(), &[THINGS]) }
    };
    let far = [25 * 3600, -120].map(clock).map(|options| std::thread::spawn(|| Postgres::open(options)));
    let [ahead, behind] = far.map(|opened| opened.join().unwrap().unwrap_err().to_string());
    assert!(ahead.contains(" s ahead of that of the database: set it right"), "{ahead}");
    assert!(behind.contains(" s behind that of the database: set it right"), "{behind}");
    let near = clock(30);
    let own = near.clock.clone().unwrap();
    let engine = Postgres::open(near).unwrap();
    runtime.block_on(engine.write(put(1))).unwrap();
    // It is set while the daemon runs: first within the limit, then beyond it, and back.
    own.advance(20);
    runtime.block_on(engine.write(put(2))).unwrap();
    own.advance(3600);
    let until = Instant::now() + Duration::from_secs(20);
    while engine.write_fault().is_none() {
        assert!(runtime.block_on(engine.write(put(3))).is_err(), "it writes with a wrong clock");
        assert!(Instant::now() < until, "it says nothing of it");
        sleep(Duration::from_millis(20));
    }
    own.advance(-3600);
    while runtime.block_on(engine.write(put(3))).is_err() {
        assert!(Instant::now() < until, "it does not go on");
        sleep(Duration::from_millis(20));
    }
    runtime.block_on(engine.close()).unwrap();
}

#[test]
fn a_login_that_may_not_write_the_store_cannot_keep_daemons_out() {
    let Some(address) = fresh() else { return };
    let runtime = Runtime::new().unwrap();
    let open = || Postgres::open(Options::new(address.clone(), &[THINGS]));
    runtime.block_on(open().unwrap().close()).unwrap();
    let role = schema(&address);
    let lock = format!("select pg_advisory_lock_shared(hashtext('mfa {role} version'), 7)");
    runtime.block_on(ask(&address, &format!("create role {role} login")));
    let server = std::env::var("MFA_TEST_POSTGRES").unwrap().replacen("//mfa@", &format!("//{role}@"), 1);
    let stranger = runtime.block_on(async {
        let (client, connection) = tokio_postgres::connect(&server, NoTls).await.unwrap();
        tokio::spawn(connection);
        client.batch_execute(&lock).await.unwrap();
        client
    });
    let engine = open().unwrap();
    runtime.block_on(engine.write(put(1))).unwrap();
    runtime.block_on(engine.close()).unwrap();
    // Whoever may write it may be another version.
    let grant = format!("grant insert on {role}.stored_journal to {role}");
    runtime.block_on(ask(&address, &grant));
    let refused = open().unwrap_err();
    assert!(matches!(&refused, OpenError::InUse(why) if why.contains("uses the store")), "{refused}");
    drop(stranger);
    runtime.block_on(ask(&address, &format!("drop owned by {role}")));
    runtime.block_on(ask(&address, &format!("drop role {role}")));
}

#[test]
fn exclusive_work_that_lost_its_claim_ends_for_good_and_keeps_daemons_away_until_then() {
    let Some(address) = fresh() else { return };
    let runtime = Runtime::new().unwrap();
    let options = |alone| Options { alone, connections_max: 4, ..Options::new(address.clone(), &[THINGS]) };
    let engine = Postgres::open(options(true)).unwrap();
    runtime.block_on(async {
        engine.write(put(1)).await.unwrap();
        terminate(&address, "ExclusiveLock").await;
        let until = Instant::now() + AGAIN;
        while engine.final_fault().is_none() {
            assert!(Instant::now() < until, "the loss is not seen");
            sleep(Duration::from_millis(5));
        }
    });
    let others = [options(false), options(true)];
    let others = others.map(|options| std::thread::spawn(move || Postgres::open(options).unwrap_err()));
    let [shared, alone] = others.map(|other| other.join().unwrap());
    assert!(shared.to_string().contains("the store is being copied or gets a new key"), "{shared}");
    assert!(matches!(alone, OpenError::InUse(_)), "{alone}");
    runtime.block_on(async {
        let refused = engine.write(put(2)).await.unwrap_err();
        assert!(refused.detail.contains("run the command again"), "{}", refused.detail);
        engine.close().await.unwrap();
    });
    runtime.block_on(Postgres::open(options(false)).unwrap().close()).unwrap();
}

#[test]
fn the_table_of_records_is_cleaned_up_sooner_unless_somebody_has_chosen_otherwise() {
    let Some(address) = fresh() else { return };
    let runtime = Runtime::new().unwrap();
    let table = format!("{}.stored_records", schema(&address));
    let chosen = || {
        let engine = Postgres::open(Options::new(address.clone(), &[THINGS])).unwrap();
        let sql =
            format!("select array_to_string(reloptions, ' ') from pg_class where oid = '{table}'::regclass");
        let chosen = runtime.block_on(ask(&address, &sql))[0].get::<_, String>(0);
        runtime.block_on(engine.close()).unwrap();
        chosen
    };
    let sooner = "fillfactor=85 autovacuum_vacuum_scale_factor=0.02 vacuum_index_cleanup=on";
    assert_eq!(chosen(), sooner);
    // A table of before, and one of somebody who knows better.
    let reset = "autovacuum_vacuum_scale_factor, vacuum_index_cleanup";
    runtime.block_on(ask(&address, &format!("alter table {table} reset ({reset})")));
    assert_eq!(chosen(), sooner);
    runtime.block_on(ask(&address, &format!("alter table {table} reset ({reset})")));
    runtime.block_on(ask(&address, &format!("alter table {table} set (autovacuum_enabled = off)")));
    assert_eq!(chosen(), "fillfactor=85 autovacuum_enabled=off");
}

#[test]
fn the_journal_is_compressed_by_lz4_where_the_server_has_it() {
    let Some(address) = fresh() else { return };
    let runtime = Runtime::new().unwrap();
    let engine = Postgres::open(Options::new(address.clone(), &[THINGS])).unwrap();
    runtime.block_on(async {
        let of_server = "select coalesce((select 'lz4' = any(enumvals) from pg_settings \
            where name = 'default_toast_compression'), false)";
        let has_it: bool = ask(&address, of_server).await[0].get(0);
        engine.write(put_value(1, b"mfa ".repeat(2_000))).await.unwrap();
        if has_it {
            let by = ask(&address, "select pg_column_compression(new_values) from stored_journal").await;
            assert_eq!(by[0].get::<_, Option<String>>(0).as_deref(), Some("lz4"));
        }
        engine.close().await.unwrap();
    });
}
