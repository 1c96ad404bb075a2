//! A database whose standby is away, so that its commits wait. These tests need `MFA_TEST_POSTGRES`.

use crate::support::servers::PostgresServer;
use mfa_daemon::store::engine::{Change, Commit, Engine, Space, View, WriteWork};
use mfa_daemon::store::postgres::{Options, Postgres};
use mfa_shared::time::Timestamp;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;
use tokio_postgres::{Client, NoTls};

const THINGS: Space = Space { id: 8, name: "things" };
/// Longer than three times the time after which a commit is given up.
const AWAY: Duration = Duration::from_secs(20);
/// Far beyond the time in which a read finds a connection, and work goes on by itself.
const SOON: Duration = Duration::from_secs(4);
const GOES_ON: Duration = Duration::from_secs(20);
const WRITERS: u32 = 32;
const CONNECTIONS: usize = 8;
/// All connections of the daemon, those that waited in vain, and that of the test.
const PROCESSES_MAX: i64 = (2 * CONNECTIONS + 4 + 1) as i64;

fn put(number: u32) -> WriteWork {
    Box::new(move |view: &mut dyn View| {
        let key = number.to_be_bytes().to_vec();
        view.get(THINGS, &key).ok()?;
        let changes = vec![Change { space: THINGS, key, value: Some(vec![1]) }];
        let time = Timestamp::from_millis(1_700_000_000_000);
        Some(Commit { time, actor: "ada".into(), request: number.to_string(), changes })
    })
}

async fn connect(server: &PostgresServer) -> Client {
    let (client, connection) = tokio_postgres::connect(server.url(), NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

async fn set(client: &Client, setting: &str) {
    client.batch_execute(&format!("alter system set {setting}")).await.unwrap();
    client.batch_execute("select pg_reload_conf()").await.unwrap();
}

/// Writes until the time is over; what those were told that were refused at once.
async fn write(engine: Arc<Postgres>, writer: u32, until: Instant) -> Vec<String> {
    let mut details = Vec::new();
    for number in 0.. {
        let (work, begun) = (put(writer * 100_000 + number), Instant::now());
        let written = match writer % 4 {
            0 => engine.write(work).await,
            1 => engine.write_on_snapshot(work).await,
            _ => engine.write_rehearsed(work).await,
        };
        let fault = written.unwrap_err();
        assert_eq!(fault.kind, mfa_shared::fault::UNAVAILABLE, "{fault}");
        if begun.elapsed() < SOON {
            details.push(fault.detail.clone());
        }
        if Instant::now() > until {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    details
}

#[test]
fn commits_that_wait_for_a_standby_do_not_take_all_connections() {
    let Some(server) = PostgresServer::start(None) else { return };
    let runtime = Runtime::new().unwrap();
    runtime.block_on(async {
        let client = connect(&server).await;
        set(&client, "wal_level = 'replica'").await;
        set(&client, "max_wal_senders = 4").await;
    });
    server.halt();
    server.resume();
    let options = Options::new(server.address("schema=mfa"), &[THINGS]);
    let options = Options { connections_max: CONNECTIONS, ..options };
    let engine = Arc::new(Postgres::open(options).unwrap());
    runtime.block_on(async {
        engine.write(put(0)).await.unwrap();
        let client = connect(&server).await;
        set(&client, "synchronous_standby_names = 'away'").await;
        tokio::time::sleep(Duration::from_secs(1)).await;
        let until = Instant::now() + AWAY;
        let writers: Vec<_> =
            (1..=WRITERS).map(|writer| tokio::spawn(write(engine.clone(), writer, until))).collect();
        while Instant::now() < until {
            let read = engine.read(Box::new(|view| drop(view.get(THINGS, b"k").unwrap())), false);
            tokio::time::timeout(SOON, read).await.expect("a read waits").unwrap();
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        for writer in writers {
            let details = writer.await.unwrap();
            let is_said = |detail: &&String| detail.starts_with("the database does not confirm commits");
            assert!(details.iter().any(|detail| is_said(&detail)), "{details:?}");
        }
        let sql = "select count(*) from pg_stat_activity where backend_type = 'client backend'";
        let processes: i64 = client.query_one(sql, &[]).await.unwrap().get(0);
        assert!(processes <= PROCESSES_MAX, "{processes} processes");
        assert!(engine.pressing_fault().is_some());
        assert_eq!(engine.final_fault(), None);

        set(&client, "synchronous_standby_names = ''").await;
        let until = Instant::now() + GOES_ON;
        while engine.write_rehearsed(put(1)).await.is_err() {
            assert!(Instant::now() < until, "it does not go on");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        assert_eq!(engine.pressing_fault(), None);
        engine.close().await.unwrap();
    });
}
