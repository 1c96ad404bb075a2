//! A store beside its daemon: opened while the daemon is stopped, or read as raw bytes.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use memchr::memmem;
use mfa_daemon::store::Store;
use mfa_daemon::store::embedded::{self, Embedded};
use mfa_daemon::store::engine::{Change, Commit, Engine, Range, View};
use mfa_daemon::store::postgres::{self, Postgres};
use mfa_daemon::store::record::Record;
use mfa_daemon::store::records::{SPACES, StoreFacts};
use mfa_daemon::{Address, Clock, Config, StorePlace};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::{Duration, Instant};
use tokio_postgres::{Client, NoTls, Row};

/// A store of its own on the PostgreSQL server of `MFA_TEST_POSTGRES`, if `MFA_TEST_STORE` asks for one.
pub fn postgres() -> Option<Address> {
    let wanted = std::env::var("MFA_TEST_STORE").is_ok_and(|store| store == "postgres");
    wanted
        .then(|| postgres_address().expect("MFA_TEST_STORE=postgres needs MFA_TEST_POSTGRES=postgres://..."))
}

/// A store of its own on the server of `MFA_TEST_POSTGRES`; `None` if there is no such server.
pub fn postgres_address() -> Option<Address> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let server = std::env::var("MFA_TEST_POSTGRES").ok()?;
    let sign = if server.contains('?') { '&' } else { '?' };
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos();
    let unique = format!("t{since}_{}_{}", std::process::id(), NEXT.fetch_add(1, SeqCst));
    Some(Address::parse(&format!("{server}{sign}schema={unique}")).unwrap())
}

/// Settings for the embedded store, whichever the other tests use.
pub fn in_folder(config: &mut Config) {
    config.store = StorePlace::Embedded;
}

/// Opens the store of a configuration whose daemon is stopped.
pub fn open(config: &Config, clock: Clock) -> Store {
    match config.store.postgres() {
        Some(address) => {
            let options = postgres::Options::new(address.clone(), SPACES);
            Store::new(Postgres::open(options).unwrap(), clock, false)
        }
        None => {
            let options = embedded::Options::new(config.data_dir.clone());
            Store::new(Embedded::open(options).unwrap(), clock, false)
        }
    }
}

/// Closes a store, and waits until the last thread has let go of it: only then its folder can be locked anew.
pub async fn close(store: Store) {
    store.close().await;
    let begun = Instant::now();
    while !store.is_held_once() && begun.elapsed() < Duration::from_secs(5) {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Queries the database of a store directly.
pub async fn ask(address: &Address, sql: &str) -> Vec<Row> {
    connect(address).await.query(sql, &[]).await.unwrap()
}

/// A connection to the database of a store.
pub async fn connect(address: &Address) -> Client {
    let server = std::env::var("MFA_TEST_POSTGRES").unwrap();
    let schema = address.to_string().rsplit_once('=').unwrap().1.to_owned();
    let (client, connection) = tokio_postgres::connect(&server, NoTls).await.unwrap();
    tokio::spawn(connection);
    client.batch_execute(&format!("set search_path = {schema}")).await.unwrap();
    client
}

/// The whole content of the store of a configuration, place by place.
pub async fn at_rest(config: &Config) -> Vec<(String, Vec<u8>)> {
    let Some(address) = config.store.postgres() else { return files(&config.data_dir) };
    let mut found = Vec::new();
    for sql in [
        "select 'record ' || space, key || '\\x00' || value from stored_records",
        "select 'journal ' || sequence, convert_to(actor || ' ' || request, 'UTF8') from stored_journal",
        "select 'journal ' || j.sequence, c.key || '\\x00' || coalesce(c.value, '') \
         from stored_journal j, unnest(j.keys, j.new_values) as c(key, value)",
        "select 'object ' || hash, bytes from stored_objects",
    ] {
        found.extend(ask(address, sql).await.iter().map(|row| (row.get(0), row.get(1))));
    }
    found
}

/// The names of the images in the store of a configuration, drafts included.
pub async fn objects(config: &Config) -> Vec<String> {
    let Some(address) = config.store.postgres() else {
        let names = files(&config.data_dir.join("objects")).into_iter();
        let name = |(path, _): (String, _)| path.rsplit('/').next().unwrap_or_default().to_owned();
        let mut names: Vec<_> = names.map(name).collect();
        names.sort();
        return names;
    };
    let rows = ask(address, "select hash from stored_objects order by hash").await;
    rows.iter().map(|row| row.get(0)).collect()
}

/// Commits a record as it is, so that only the journal grows.
pub async fn write_same(engine: &Embedded) {
    let same = |view: &mut dyn View| {
        let space = StoreFacts::SPACE;
        let (key, value) = view.scan(space, &Range::prefix(b""), false, 1).unwrap().remove(0);
        let changes = vec![Change { space, key, value: Some(value) }];
        let (actor, request) = (String::new(), String::new());
        Some(Commit { time: Clock::system().now(), actor, request, changes })
    };
    engine.write(Box::new(same)).await.unwrap();
}

/// Closes the first journal file of a stopped embedded store, lets it be packed, and makes a checkpoint. The
/// length of the file before and after.
pub fn close_and_pack(data: &Path) -> (u64, u64) {
    let log = data.join("journal/00000001.log");
    let plain = std::fs::metadata(&log).unwrap().len();
    let options = embedded::Options { segment_bytes: 1, ..embedded::Options::new(data) };
    let engine = Embedded::open(options).unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    // The commit goes into the next file.
    runtime.block_on(write_same(&engine));
    let begin = Instant::now();
    while !std::fs::read(&log).unwrap().starts_with(b"MFApack1") {
        assert!(begin.elapsed() < Duration::from_secs(60), "the file is not packed");
        std::thread::sleep(Duration::from_millis(10));
    }
    engine.checkpoint().unwrap();
    runtime.block_on(engine.close()).unwrap();
    (plain, std::fs::metadata(&log).unwrap().len())
}

/// Every file under a folder.
pub fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path)
            } else {
                match std::fs::read(&path) {
                    Ok(bytes) => found.push((path.display().to_string(), bytes)),
                    // A running daemon replaces an old file with a new one.
                    Err(error) => {
                        assert_eq!(error.kind(), std::io::ErrorKind::NotFound, "{}", path.display())
                    }
                }
            }
        }
    }
    found
}

/// The forms in which a secret could be left behind: as it is, in hexadecimal digits, in Base64 from each of
/// the places where a group of three bytes can begin.
pub fn forms(secret: &str) -> Vec<Vec<u8>> {
    let hex: String = secret.bytes().map(|byte| format!("{byte:02x}")).collect();
    let base64 = |from: usize| {
        let rest = &secret.as_bytes()[from..];
        STANDARD_NO_PAD.encode(&rest[..rest.len() / 3 * 3]).into_bytes()
    };
    let plain = vec![secret.as_bytes().to_vec(), hex.to_uppercase().into_bytes(), hex.into_bytes()];
    // Very short forms occur everywhere by chance.
    plain.into_iter().chain((0..3).map(base64)).filter(|form| form.len() >= 7).collect()
}

/// Whether the bytes contain a form.
pub fn holds(bytes: &[u8], form: &[u8]) -> bool {
    memmem::find(bytes, form).is_some()
}
