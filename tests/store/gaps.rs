//! When the database goes away: what clients get meanwhile, that everything recovers by itself, and that a
//! change whose outcome was lost happens once.

use crate::api::metrics::series;
use crate::support::servers::{Mode, PostgresServer, Relay};
use crate::support::stored::{ask, postgres_address};
use crate::support::world::{Seen, World};
use mfa_daemon::Address;
use serde_json::json;
use std::net::{SocketAddr, ToSocketAddrs};
use std::time::{Duration, Instant};

/// Far beyond the time in which a daemon finds its database again.
const AGAIN_SECONDS_MAX: u64 = 60;

/// Two daemons whose database is behind a relay, or nothing to test against.
fn relayed() -> Option<(World, Relay)> {
    let address = postgres_address();
    let Some(address) = address else {
        eprintln!("skipped: MFA_TEST_POSTGRES names no server");
        return None;
    };
    let text = address.to_string();
    let (user, rest) = text.strip_prefix("postgres://").unwrap().split_once('@').unwrap();
    let (host, database) = rest.split_once('/').unwrap();
    let server: SocketAddr = host.to_socket_addrs().unwrap().next().unwrap();
    let relay = Relay::before(server);
    let through = format!("postgres://{user}@127.0.0.1:{}/{database}", relay.port);
    let world = World::with(|config| {
        config.store = Address::parse(&through).unwrap().into();
        config.metrics_public = true;
    });
    Some((world, relay))
}

fn create(world: &World, identifier: &str, key: &str) -> Seen {
    let body = json!({ "identifier": identifier, "type": "PERSON" }).to_string();
    world.send(world.request("POST", "/customers").header("idempotency-key", key).body(body))
}

/// Asserts that a refusal is the temporary one.
#[track_caller]
fn passing(seen: Seen) {
    let seen = seen.refused(503, "unavailable");
    let seconds: u64 = seen.header("retry-after").parse().unwrap();
    assert!((1..=10).contains(&seconds), "{seconds}");
}

/// Waits until both daemons are ready.
fn again(world: &World) {
    let until = Instant::now() + Duration::from_secs(AGAIN_SECONDS_MAX);
    while (0..2).any(|daemon| world.send(world.request_at(daemon, "GET", "/ready")).status != 200) {
        assert!(Instant::now() < until, "the daemons did not find their database again");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn customers(world: &World) -> u64 {
    world.get("/customers").is(200).json()["totalElements"].as_u64().unwrap()
}

#[test]
fn a_change_that_was_lost_before_its_commit_is_made_when_it_is_sent_again() {
    let Some((world, relay)) = relayed() else { return };
    for (marker, key) in [("lost-1", "k1"), ("lost-2", "k2"), ("lost-3", "k3")] {
        relay.set(Mode::Cut { marker, answered: false });
        passing(create(&world, marker, key));
        world.get(&format!("/customers/{marker}")).refused(404, "customer_not_found");
        let seen = create(&world, marker, key).is(202);
        assert_eq!(seen.header("idempotency-replayed"), "");
    }
    assert_eq!(customers(&world), 3);
}

#[test]
fn a_change_whose_answer_was_lost_is_there_and_sending_it_again_says_so() {
    let Some((world, relay)) = relayed() else { return };
    for (marker, key) in [("done-1", "k1"), ("done-2", "k2"), ("done-3", "k3")] {
        relay.set(Mode::Cut { marker, answered: true });
        passing(create(&world, marker, key));
        let seen = create(&world, marker, key).is(202);
        assert_eq!(seen.header("idempotency-replayed"), "true");
        create(&world, marker, "another").refused(409, "identifier_taken");
    }
    assert_eq!(customers(&world), 3);
}

#[test]
fn while_the_database_is_away_clients_are_asked_to_retry_later() {
    let Some((world, relay)) = relayed() else { return };
    create(&world, "before", "k1").is(202);
    relay.set(Mode::Away);
    for daemon in [0, 1] {
        for (method, path) in [("POST", "/customers"), ("GET", "/customers/before"), ("GET", "/ready")] {
            let request = world.request_at(daemon, method, path).body(r#"{"identifier":"x"}"#);
            passing(world.send(request));
        }
        world.send(world.request_at(daemon, "GET", "/live")).is(200);
    }
    relay.set(Mode::Pass);
    again(&world);
    create(&world, "after", "k2").is(202);
    assert_eq!(customers(&world), 2);
}

#[test]
fn a_database_that_falls_silent_holds_no_request_for_ever() {
    let Some((world, relay)) = relayed() else { return };
    create(&world, "before", "k1").is(202);
    relay.set(Mode::Frozen);
    passing(create(&world, "silent", "k2"));
    relay.set(Mode::Pass);
    again(&world);
    // It may have arrived after all; sent again, it is there once.
    create(&world, "silent", "k2").is(202);
    assert_eq!(customers(&world), 2);
}

#[test]
fn metrics_are_served_while_the_database_is_away_or_silent() {
    let Some((world, relay)) = relayed() else { return };
    for (mode, connected) in [(Mode::Away, "0"), (Mode::Frozen, "1")] {
        world.send(world.request_at(0, "GET", "/offices")).is(200);
        relay.set(mode);
        // Some connections may hear later than others that the database is away.
        let page = (0..5).find_map(|_| {
            let asked = Instant::now();
            let page = world.send(world.request_at(0, "GET", "/metrics")).is(200).text();
            // Prometheus gives up after ten seconds.
            assert!(asked.elapsed() < Duration::from_secs(8), "{:?}", asked.elapsed());
            let all = series(&page);
            let found = (all["mfa_store_readable"], all["mfa_store_writable"]) == ("0", connected);
            found.then_some(page)
        });
        let page = page.expect("the metrics of the database are wrong");
        // Unknown values are left out.
        assert!(!page.contains("mfa_sessions") && !page.contains("mfa_tellers"), "{page}");
        relay.set(Mode::Pass);
        again(&world);
    }
    let page = world.send(world.request_at(0, "GET", "/metrics")).is(200).text();
    assert_eq!((series(&page)["mfa_store_readable"], series(&page)["mfa_sessions"]), ("1", "0"));
}

#[test]
fn a_statement_that_waits_too_long_is_given_up_and_leaves_nothing() {
    let Some((world, _relay)) = relayed() else { return };
    create(&world, "before", "k1").is(202);
    let address = world.config().store.postgres().unwrap().clone();
    let schema = address.to_string().rsplit_once('=').unwrap().1.to_owned();
    let server = std::env::var("MFA_TEST_POSTGRES").unwrap();
    let lock = format!("begin; lock table {schema}.stored_records in access exclusive mode");
    let client = world.block_on(async {
        let (client, connection) = tokio_postgres::connect(&server, tokio_postgres::NoTls).await.unwrap();
        tokio::spawn(connection);
        client.batch_execute(&lock).await.unwrap();
        client
    });
    // Tests beside this one use the same server: only transactions that touched this schema count.
    let open = format!(
        "select count(distinct pid)::text from pg_stat_activity join pg_locks using (pid) \
        join pg_class on pg_class.oid = relation where relnamespace = '{schema}'::regnamespace \
        and state like 'idle in transaction%' and state_change < now() - interval '2 seconds'"
    );
    let open = || world.block_on(ask(&address, &open))[0].get::<_, String>(0);
    passing(create(&world, "waiting", "k2"));
    assert_eq!(open(), "1", "the transaction that holds the lock");
    world.block_on(client.batch_execute("rollback")).unwrap();
    again(&world);
    world.get("/customers/waiting").refused(404, "customer_not_found");
    create(&world, "waiting", "k2").is(202);
    // Between two questions of its own every transaction is idle for a moment, and no longer.
    std::thread::sleep(Duration::from_millis(2_500));
    assert_eq!(open(), "0");
}

#[test]
fn a_server_that_crashes_and_starts_again_has_all_that_was_acknowledged() {
    let Some(server) = PostgresServer::start(None) else { return };
    let world = World::with(|config| config.store = server.address("schema=crash").into());
    let mut acknowledged = Vec::new();
    for round in 0..3 {
        for number in 0..20 {
            let identifier = format!("c-{round}-{number}");
            create(&world, &identifier, &identifier).is(202);
            acknowledged.push(identifier);
        }
        server.halt();
        passing(create(&world, "gap", "gap"));
        server.resume();
        again(&world);
    }
    for identifier in &acknowledged {
        world.get(&format!("/customers/{identifier}")).is(200);
    }
    assert_eq!(customers(&world), acknowledged.len() as u64);
}
