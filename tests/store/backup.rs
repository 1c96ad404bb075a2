//! Backups of a real daemon, and the way back.

use crate::support::counter::Counter;
use crate::support::images::{form, part, picture};
use crate::support::run::{Ran, run};
use crate::support::stored::{objects, open, postgres_address};
use crate::support::world::{World, mfa};
use mfa_daemon::store::engine::{Engine, Range};
use mfa_daemon::store::records::{LOCAL, SPACES};
use mfa_daemon::store::{embedded, postgres};
use mfa_daemon::{Address, Auth, Check, Clock, Config, check};
use mfa_shared::amount::Amount;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};

/// Records by space and key.
pub type State = BTreeMap<(u8, Vec<u8>), Vec<u8>>;

/// The number of the first space of the audit trail, to which a restore adds its record.
pub const TRAIL: u8 = 150;

pub fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// The settings of a daemon on a store, with the key file of the world.
pub fn on(home: &Path, dir: &Path, store: Option<Address>) -> Config {
    let mut config = Config::new(dir);
    (config.auth, config.listen) = (Auth::Off, "127.0.0.1:0".parse().unwrap());
    config.secret_key_file = home.join("data.key");
    config.store = store.into();
    config
}

/// `mfa` with the key file of the world.
pub fn with_key(home: &Path, arguments: &[&str]) -> Ran {
    let mut command = mfa(home, arguments);
    command.env("MFA_SECRET_KEY_FILE", home.join("data.key"));
    run(command)
}

/// All records of a stopped daemon's store.
pub fn records(world: &World, config: &Config) -> State {
    let store = open(config, Clock::system());
    world.block_on(async move {
        let read = store.read(true, |tx| {
            let mut state = State::new();
            for space in SPACES.iter().filter(|space| !LOCAL.contains(space)) {
                for (key, value) in tx.scan(*space, &Range::prefix(b""), false, usize::MAX)? {
                    state.insert((space.id, key), value);
                }
            }
            Ok(state)
        });
        let state = read.await.unwrap();
        store.close().await;
        state
    })
}

/// What the journal of a stopped daemon's store says of the records after a commit.
pub fn played(world: &World, config: &Config, upto: u64) -> State {
    let engine: Box<dyn Engine> = match config.store.postgres() {
        Some(address) => {
            let options = postgres::Options::new(address.clone(), SPACES);
            Box::new(postgres::Postgres::open(options).unwrap())
        }
        None => Box::new(embedded::Embedded::open(embedded::Options::new(config.data_dir.clone())).unwrap()),
    };
    world.block_on(async move {
        let mut state = State::new();
        for (_, commit) in engine
            .commits_since(0, 1_000_000)
            .await
            .unwrap()
            .into_iter()
            .take_while(|(sequence, _)| *sequence <= upto)
        {
            for change in commit.changes {
                match change.value {
                    _ if LOCAL.contains(&change.space) => {}
                    Some(value) => drop(state.insert((change.space.id, change.key), value)),
                    None => drop(state.remove(&(change.space.id, change.key))),
                }
            }
        }
        engine.close().await.unwrap();
        state
    })
}

pub fn without_trail(state: &State) -> State {
    state.iter().filter(|((space, _), _)| *space < TRAIL).map(|(k, v)| (k.clone(), v.clone())).collect()
}

/// An institution with cash, accounts and portraits.
pub fn institution() -> Counter {
    institution_of(Counter::active("100000"))
}

/// The same in a world of its own.
pub fn institution_of(counter: Counter) -> Counter {
    for name in ["anna", "bela", "cleo"] {
        let body = json!({ "identifier": name, "type": "PERSON", "surname": "Mensah" });
        counter.world.post("/customers", body.to_string()).is(202);
    }
    portrait(&counter.world, "anna", 1);
    portrait(&counter.world, "bela", 2);
    let email = r#"{"identifier":"main","host":"mail.example.org","port":"587","app_password":"word"}"#;
    counter.world.post("/configuration/email", email).is(201);
    counter
}

pub fn portrait(world: &World, customer: &str, seed: u32) {
    let body = form("b", &[part("portrait", Some("image/png"), &picture(9_000, seed))]);
    let request = world.request("POST", &format!("/customers/{customer}/portrait"));
    let request = request.header("content-type", "multipart/form-data; boundary=b");
    world.send(request.body(body)).is(202);
}

/// Makes customers, changes one of them and replaces portraits until it is stopped.
async fn work(http: reqwest::Client, url: String, name: String, stop: Arc<AtomicBool>, done: Arc<AtomicU64>) {
    for round in 0u32.. {
        if stop.load(SeqCst) {
            return;
        }
        let id = format!("{name}-{round}");
        let body = json!({ "identifier": id, "type": "PERSON", "surname": "Owusu" }).to_string();
        let status = http.post(format!("{url}/customers")).body(body).send().await.unwrap().status();
        assert_eq!(status, 202);
        let seed = round.wrapping_mul(7) + name.len() as u32 * 1_000;
        let image = form("b", &[part("portrait", Some("image/png"), &picture(5_000, seed))]);
        let request = http.post(format!("{url}/customers/cleo/portrait"));
        let request = request.header("content-type", "multipart/form-data; boundary=b");
        let status = request.body(image).send().await.unwrap().status();
        assert!([202, 503].contains(&status.as_u16()), "{status}");
        done.fetch_add(1, SeqCst);
    }
}

#[test]
fn a_backup_beside_clients_comes_back_record_by_record_on_both_engines() {
    let counter = institution();
    let (anna, bela) = (counter.account("anna"), counter.account("bela"));
    counter.transact("ACCO", &anna, None, "400", "included").is(202);
    counter.transact("ACCO", &bela, None, "500", "excluded").is(202);
    let home = counter.world.dir.path().to_owned();
    let (stop, done) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let workers: Vec<_> = ["x", "yy", "zzz"]
        .map(|name| {
            let (http, url) = (counter.world.http(), counter.world.url());
            counter.world.spawn(work(http, url, name.to_owned(), stop.clone(), done.clone()))
        })
        .into();
    let mut made = Vec::new();
    // Only a backup during writes proves anything.
    for number in 0..30 {
        for _ in 0..10 {
            counter.transact("ACCT", &bela, Some(&anna), "1", "excluded").is(202);
        }
        let file = home.join(format!("b{number}.mfab"));
        let before = done.load(SeqCst);
        let record = run(counter.world.mfa(&["backup", "create", "--out", text(&file), "-o", "json"])).json();
        assert_eq!(record["state"], "verified");
        if done.load(SeqCst) > before {
            made.push((file, record));
        }
        if made.len() == 3 {
            break;
        }
    }
    assert_eq!(made.len(), 3, "no one wrote meanwhile");
    stop.store(true, SeqCst);
    let mut world = counter.world;
    for worker in workers {
        world.wait(worker);
    }
    let origin = world.config().clone();
    world.stop();
    for (number, (file, record)) in made.iter().enumerate() {
        let expected = played(&world, &origin, record["journalSequence"].as_u64().unwrap());
        let dir = home.join(format!("restored{number}"));
        with_key(&home, &["backup", "restore", text(file), "--data-dir", text(&dir), "-o", "json"]).json();
        let config = on(&home, &dir, None);
        let found = records(&world, &config);
        assert!(without_trail(&found) == without_trail(&expected), "backup {number} differs");
        let trail = found.range((TRAIL, Vec::new())..(TRAIL + 1, Vec::new()));
        assert!(trail.clone().count() > 0);
        for (key, value) in expected.range((TRAIL, Vec::new())..(TRAIL + 1, Vec::new())) {
            assert!(found.get(key) == Some(value), "a record of the trail differs");
        }
    }
    let (file, record) = &made[2];
    there_and_back(&mut world, &home, file, record);
}

/// Restores a backup on PostgreSQL, where there is a server, backs that up and restores it again.
fn there_and_back(world: &mut World, home: &Path, file: &Path, record: &Value) {
    let address = postgres_address();
    let place = address.as_ref().map_or(text(&home.join("middle")).to_owned(), Address::to_string);
    let flag = if address.is_some() { "--store" } else { "--data-dir" };
    with_key(home, &["backup", "restore", text(file), flag, &place]).ok();
    let middle = on(home, &home.join("middle"), address);
    let again = home.join("again.mfab");
    let back =
        with_key(home, &["backup", "create", "--out", text(&again), flag, &place, "-o", "json"]).json();
    assert_eq!((&back["instance"], &back["images"]), (&record["instance"], &back["images"]));
    let last = home.join("last");
    with_key(home, &["backup", "restore", text(&again), "--data-dir", text(&last)]).ok();
    let last = on(home, &last, None);
    let (a, b) = (records(world, &middle), records(world, &last));
    assert!(without_trail(&a) == without_trail(&b), "there and back differ");
    for config in [&middle, &last] {
        let found = world.block_on(check(config, &[Check::Store, Check::Ledger], &|_, _| {})).unwrap();
        assert_eq!(found, []);
        world.start_on(config.clone());
        let sheet = world.get("/ledger/trial-balance").is(200).json();
        let total = |side: &str| Amount::parse(&sheet[side].to_string()).unwrap();
        let difference = total("totalDebit").minus(total("totalCredit"));
        assert!(difference.is_zero() && sheet["rows"].as_array().unwrap().len() == 5, "{sheet}");
        assert!(world.get("/customers/anna/portrait").is(200).body == picture(9_000, 1));
        world.get("/configuration/email/main").is(200);
        let trail = world.get("/audit?operation=Restore").is(200).json();
        assert!(trail["totalElements"].as_u64().unwrap() >= 1, "{trail}");
        world.stop();
    }
    let trail_of_first = records(world, &middle);
    assert!(trail_of_first.values().any(|value| value.windows(64).any(|w| w == digest(record).as_bytes())));
}

fn digest(record: &Value) -> &str {
    record["digest"].as_str().unwrap()
}

#[test]
fn only_who_may_read_it_gets_a_backup_and_each_one_is_in_the_trail() {
    let world = World::guarded();
    world.user("esi", "clerk").get("/admin/backup").refused(403, "forbidden");
    world.get("/admin/backup").refused(401, "unauthenticated");
    let seen = world.login("olga").get("/admin/backup").is(200);
    assert!(seen.body.starts_with(b"mfab/1\n") && seen.body.ends_with(b"mfab-end"));
    assert_eq!(seen.header("cache-control"), "no-store");
    let reported = world.login("olga").get("/audit?operation=GetBackup&outcome=DONE").is(200).json();
    assert_eq!((&reported["totalElements"], &reported["records"][0]["actor"]), (&json!(1), &json!("olga")));
    // It contains nothing by which a user is logged in.
    let file = world.dir.path().join("b.mfab");
    fs::write(&file, &seen.body).unwrap();
    let shown = run(world.mfa(&["backup", "show", text(&file), "-o", "json"])).json();
    assert_eq!((&shown["format"], &shown["state"]), (&json!("mfab/1"), &json!("not verified")));
    assert!(shown["auditHash"].as_str().unwrap().len() == 64 && shown["pairs"].as_u64().unwrap() > 10);
}

#[test]
fn a_verification_that_is_ended_leaves_no_scratch_store() {
    let counter = institution();
    let (world, home) = (&counter.world, counter.world.dir.path());
    let (file, scratch) = (home.join("b.mfab"), home.join("scratch"));
    fs::create_dir(&scratch).unwrap();
    run(world.mfa(&["backup", "create", "--out", text(&file)])).ok();
    let mut begun = 0;
    for millis in [20, 60, 120, 200, 300, 450] {
        let mut command = world.mfa(&["backup", "verify", text(&file), "-q"]);
        let child = command.env("TMPDIR", &scratch).stdout(std::process::Stdio::null());
        let mut child = child.stderr(std::process::Stdio::null()).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(millis));
        begun += fs::read_dir(&scratch).unwrap().count();
        let _ = std::process::Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
        child.wait().unwrap();
        assert_eq!(fs::read_dir(&scratch).unwrap().count(), 0, "after {millis} ms");
    }
    assert!(begun > 0, "none was ended half-way");
}

#[test]
fn two_backups_are_made_at_once_and_a_third_waits_for_its_turn() {
    let world = World::start();
    for number in 0..12 {
        world
            .post("/customers", json!({ "identifier": format!("c-{number}"), "type": "PERSON" }).to_string());
        let body = form("b", &[part("portrait", Some("image/png"), &picture(500_000, number))]);
        let request = world.request("POST", &format!("/customers/c-{number}/portrait"));
        let request = request.header("content-type", "multipart/form-data; boundary=b");
        world.send(request.body(body)).is(202);
    }
    let ask = || world.block_on(world.request_at(0, "GET", "/admin/backup").send()).unwrap();
    // A client that does not read what is sent keeps its place.
    let held = [ask(), ask()];
    assert_eq!(held.each_ref().map(|answer| answer.status().as_u16()), [200, 200]);
    let seen = world.send(world.request_at(0, "GET", "/admin/backup")).refused(503, "unavailable");
    assert_eq!(seen.header("retry-after"), "30");
    portrait(&world, "c-0", 99);
    drop(held);
    let until = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while world.send(world.request_at(0, "GET", "/admin/backup")).status != 200 {
        assert!(std::time::Instant::now() < until, "the places are still taken");
    }
    // An image that was replaced meanwhile goes once it is no longer needed.
    while world.block_on(objects(world.config())).len() > 12 {
        assert!(std::time::Instant::now() < until, "an image without a record stays");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}

#[test]
fn a_backup_is_private_never_overwrites_and_is_listed_verified_and_piped() {
    let counter = institution();
    let (world, home) = (&counter.world, counter.world.dir.path());
    let dir = home.join("backups");
    fs::create_dir(&dir).unwrap();
    let made = run(world.mfa(&["backup", "create", "--out", text(&dir), "-o", "json"])).json();
    let file = PathBuf::from(made["file"].as_str().unwrap());
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(file.file_name().unwrap().to_str().unwrap().starts_with("mfa-20"), "{file:?}");
    assert_eq!(fs::read_dir(&dir).unwrap().count(), 1, "nothing is left beside it");
    let said = run(world.mfa(&["backup", "create", "--out", text(&file)])).fails(6);
    assert!(said.contains("is there already"), "{said}");
    // Another one of the same second has a name of its own.
    let other = run(world.mfa(&["backup", "create", "--out", text(&dir), "-o", "json"])).json();
    let other = PathBuf::from(other["file"].as_str().unwrap());
    let listed = run(world.mfa(&["backup", "list", text(&dir), "-o", "json"])).json();
    assert!(other != file && listed.as_array().unwrap().len() == 2, "{listed}");
    fs::remove_file(&other).unwrap();
    let piped = world.mfa(&["backup", "create", "--out", "-"]).output().unwrap();
    assert!(piped.status.success() && piped.stdout.ends_with(b"mfab-end"));
    let verified = run(world.mfa(&["backup", "verify", text(&file), "-o", "json"])).json();
    assert_eq!((&verified["state"], &verified["digest"]), (&json!("whole"), &made["digest"]));
    // One byte changed, and one truncated.
    let mut bytes = fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(dir.join("flipped.mfab"), &bytes).unwrap();
    fs::write(dir.join("cut.mfab"), &bytes[..middle]).unwrap();
    for name in ["flipped.mfab", "cut.mfab"] {
        let said = run(world.mfa(&["backup", "verify", text(&dir.join(name))])).fails(1);
        assert!(said.contains(name) && said.contains("damaged"), "{said}");
        let target = home.join("never");
        let bad = dir.join(name);
        let command = ["backup", "restore", text(&bad), "--data-dir", text(&target)];
        let said = with_key(home, &command).fails(1);
        assert!(said.contains("damaged") && !target.exists(), "{said}");
    }
    let listed = run(world.mfa(&["backup", "list", text(&dir), "-o", "json"])).json();
    let states: Vec<_> = listed.as_array().unwrap().iter().map(|b| b["state"].as_str().unwrap()).collect();
    assert_eq!(states.len(), 3);
    assert!(states[0].contains("damaged") && states[1..] == ["not verified", "not verified"], "{states:?}");
    let said = run(world.mfa(&["backup", "show", "nothing.mfab"])).fails(3);
    assert!(said.contains("there is no file nothing.mfab"), "{said}");
    let text_file = home.join("word.txt");
    fs::write(&text_file, "no backup").unwrap();
    let said = run(world.mfa(&["backup", "verify", text(&text_file)])).fails(1);
    assert!(said.contains("this is not a backup"), "{said}");
}

#[test]
fn a_backup_is_not_made_where_its_folder_is_missing_or_its_passphrase() {
    let counter = institution();
    let (world, home) = (&counter.world, counter.world.dir.path());
    // A folder that is not mounted does not become a file.
    for out in ["gone/", "gone/b.mfab"] {
        let out = home.join(out);
        let said = run(world.mfa(&["backup", "create", "--out", text(&out)])).fails(1);
        assert!(said.contains("there is no folder") && said.contains("mkdir -p"), "{said}");
        assert!(!home.join("gone").exists());
    }
    // A variable without a value does not mean the store of this machine.
    run(world.mfa(&["admin", "recover-user", "olga", "--yes", "--data-dir", ""])).fails(2);
    // Nor does it leave the backup open to all.
    let file = home.join("b.mfab.age");
    let command = ["backup", "create", "--out", text(&file), "--passphrase-file", ""];
    let said = run(world.mfa(&command)).fails(2);
    assert!(said.contains("--passphrase-file") && !file.exists(), "{said}");
    // Files of any name may be beside the backups.
    let (phrase, odd) = (home.join("phrase"), home.join("mfa-aaa\u{e9}aaaTxxxxxx-a.mfab.age"));
    fs::write(&phrase, "a long sentence that nobody guesses").unwrap();
    let command = ["backup", "create", "--out", text(&odd), "--passphrase-file", text(&phrase)];
    run(world.mfa(&command)).ok();
    // So may a pipe, which is not waited for.
    assert!(std::process::Command::new("mkfifo").arg(home.join("pipe.mfab")).status().unwrap().success());
    let listed = run(world.mfa(&["backup", "list", text(home), "-o", "json"])).json();
    let states: Vec<_> = listed.as_array().unwrap().iter().map(|backup| &backup["state"]).collect();
    assert_eq!(states, ["encrypted", "it is no regular file"], "{listed}");
}
