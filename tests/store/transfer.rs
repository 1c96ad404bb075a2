//! Copies of a whole store from one engine into the other.

use crate::support::images::{Images, hash, part, picture};
use crate::support::run::{Ran, run};
use crate::support::stored::{at_rest, in_folder, objects, postgres_address};
use crate::support::world::{World, mfa};
use mfa_daemon::store::embedded::{Embedded, Options};
use mfa_daemon::store::engine::Engine;
use mfa_daemon::store::export::export;
use mfa_daemon::store::postgres::{self, Postgres};
use mfa_daemon::store::records::SPACES;
use mfa_daemon::store::transfer::transfer;
use mfa_daemon::{Address, Auth, Clock, Config, Progress};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use tokio::runtime::Runtime;
use tokio::sync::Notify;

/// Customers of the store that is copied.
const CUSTOMERS: usize = 300;

/// A world on the embedded engine with customers, portraits and scans: some of the same picture, one as
/// large as images may be, and one of every length near a limit of ours.
fn filled() -> World {
    let images = Images::with(in_folder);
    for number in 0..CUSTOMERS {
        let body = json!({ "identifier": format!("c{number}"), "type": "PERSON", "surname": "Mensah" });
        images.0.post("/customers", body.to_string()).is(202);
    }
    for (number, bytes) in [1, 100, 32_768, 32_769, 70_000, 524_288, 100, 5_000].into_iter().enumerate() {
        let sent = picture(bytes, bytes as u32);
        let path = format!("/customers/c{number}/portrait");
        images.send(&path, &[part("portrait", Some("image/png"), &sent)]).is(202);
    }
    for number in 0..12u32 {
        images.scan(&format!("s{number}"), &picture(9_000, number)).is(202);
    }
    images.portrait(&picture(60_000, 77)).is(202);
    images.0
}

/// What is in `filled`: different images, since two portraits are the same picture.
const PICTURES: u64 = 7 + 12 + 1;

fn migrate(home: &Path, from: &str, to: &str) -> Ran {
    run(mfa(home, &["migrate", "--from", from, "--to", to, "-o", "json"]))
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Everything that reads of the world show, images by their hash.
fn shown(world: &World) -> Vec<String> {
    let mut shown = vec![hash(&world.get("/customers?size=1000").is(200).body)];
    for number in 0..8 {
        let portrait = world.get(&format!("/customers/c{number}/portrait"));
        shown.push(format!("{} {}", portrait.status, hash(&portrait.body)));
    }
    let scans = "/customers/c-1/identifications/A-1/scans";
    shown.push(world.get(scans).is(200).text());
    for number in 0..12 {
        let scan = world.get(&format!("{scans}/s{number}/image")).is(200);
        shown.push(format!("{} {}", scan.header("content-type"), hash(&scan.body)));
    }
    shown.push(hash(&world.get("/customers/c-1/portrait").is(200).body));
    shown
}

/// The settings of a daemon on a copy.
fn on(home: &Path, dir: &Path, store: Option<Address>) -> Config {
    let mut config = Config::new(dir);
    (config.auth, config.listen) = (Auth::Off, "127.0.0.1:0".parse().unwrap());
    config.secret_key_file = home.join("data.key");
    config.store = store.into();
    config
}

#[test]
fn a_copy_holds_what_the_store_held_with_every_image_and_says_its_hash() {
    let mut world = filled();
    let before = shown(&world);
    let pictures = world.block_on(objects(world.config()));
    world.stop();
    let home = world.dir.path().to_owned();
    let (data, copy) = (home.join("data"), home.join("copy"));
    // Without a server the way goes over a second folder.
    let address = postgres_address();
    let middle = address.as_ref().map_or(text(&home.join("middle")).to_owned(), Address::to_string);
    let there = migrate(&home, text(&data), &middle).json();
    assert_eq!((&there["images"], &there["resumed"]), (&json!(PICTURES), &json!(0)));
    assert!(there["pairs"].as_u64().unwrap() > CUSTOMERS as u64);
    let back = migrate(&home, &middle, text(&copy)).json();
    assert_eq!((&there["sha256"], &there["pairs"]), (&back["sha256"], &back["pairs"]));
    world.start_on(on(&home, &home.join("middle"), address.clone()));
    assert_eq!(shown(&world), before);
    assert_eq!(world.block_on(objects(world.config())), pictures);
    // The audit trail goes on where it was, and says that the store has moved.
    let trail = world.get("/audit?operation=Migrate").is(200).json();
    assert_eq!((&trail["totalElements"], &trail["records"][0]["origin"]), (&json!(1), &json!("local")));
    world.stop();
    world.start_on(on(&home, &copy, None));
    assert_eq!(shown(&world), before);
    assert_eq!(world.block_on(objects(world.config())), pictures);
}

/// Opens one more engine to copy into, empty: the other kind where there is a server.
fn target(home: &Path, address: Option<&Address>) -> Box<dyn Engine> {
    match address {
        Some(address) => Box::new(Postgres::open(postgres::Options::new(address.clone(), SPACES)).unwrap()),
        None => Box::new(Embedded::open(Options::new(home.join("target"))).unwrap()),
    }
}

#[test]
fn a_broken_copy_is_resumed_and_does_not_open_before_it_is_whole() {
    let mut world = filled();
    world.stop();
    let (home, address) = (world.dir.path().to_owned(), postgres_address());
    let data = home.join("data");
    let place = address.as_ref().map_or(text(&home.join("target")).to_owned(), Address::to_string);
    // Where the copy is broken off.
    let ends: [fn(Progress) -> bool; 6] = [
        |found| found == Progress::Reading,
        |found| matches!(found, Progress::Pairs(1.., _)),
        |found| matches!(found, Progress::Pairs(300.., _)),
        |found| matches!(found, Progress::Images(1.., _)),
        |found| matches!(found, Progress::Images(9.., _)),
        |found| found == Progress::Comparing,
    ];
    for (round, ends) in ends.into_iter().enumerate() {
        let runtime = Runtime::new().unwrap();
        let from = Embedded::open(Options::new(&data)).unwrap();
        let to = target(&home, address.as_ref());
        let enough = Notify::new();
        let watch = |found: Progress| {
            if ends(found) {
                enough.notify_one();
            }
        };
        let now = Clock::system().now();
        runtime.block_on(async {
            tokio::select! {
                biased;
                () = enough.notified() => {}
                done = transfer(&from, &*to, now, &watch) => panic!("not interrupted: {done:?}"),
            }
            from.close().await.unwrap();
            to.close().await.unwrap();
        });
        drop((from, to));
        // A read that nobody waits for any more keeps the folder locked; the runtime waits until it has ended.
        drop(runtime);
        if round > 0 {
            let refused = Runtime::new()
                .unwrap()
                .block_on(mfa_daemon::Daemon::start(
                    on(&home, &home.join("target"), address.clone()),
                    world.clock.clone(),
                ))
                .map(drop)
                .unwrap_err();
            assert!(refused.to_string().contains("unfinished copy"), "{refused}");
        }
    }
    let done = migrate(&home, text(&data), &place);
    assert!(done.err.contains("comparing the copy"), "{}", done.err);
    let done: Value = done.json();
    assert!(done["resumed"].as_u64().unwrap() > 256 && done["images"] == PICTURES, "{done}");
    assert_eq!(done["result"], "copied, going on from before");
    let whole = migrate(&home, text(&data), text(&home.join("whole"))).json();
    assert_eq!(done["sha256"], whole["sha256"]);
}

#[test]
fn a_store_whose_image_is_missing_or_damaged_is_not_copied() {
    let mut world = filled();
    world.stop();
    let home = world.dir.path().to_owned();
    let name = hash(&picture(60_000, 77));
    let file = home.join("data/objects").join(&name[..2]).join(&name);
    std::fs::write(&file, b"other bytes").unwrap();
    let refused = migrate(&home, text(&home.join("data")), text(&home.join("copy")));
    assert!(
        refused.exit == 1 && refused.err.contains(&format!("image {name} is damaged")),
        "{}",
        refused.err
    );
    std::fs::remove_file(&file).unwrap();
    let refused = migrate(&home, text(&home.join("data")), text(&home.join("copy")));
    assert!(
        refused.exit == 1 && refused.err.contains(&format!("image {name} is missing")),
        "{}",
        refused.err
    );
}

#[test]
fn a_copy_is_not_made_over_a_store_or_from_nothing() {
    let mut world = filled();
    world.stop();
    let home = world.dir.path();
    let (data, none, copy) = (home.join("data"), home.join("none"), home.join("copy"));
    assert!(migrate(home, text(&none), text(&copy)).err.contains("there is no store in"));
    assert!(!none.exists());
    migrate(home, text(&data), text(&copy)).json();
    assert!(migrate(home, text(&data), text(&copy)).err.contains("holds a store already"));
    let refused = migrate(home, text(&data), text(&home.join("copy/../data/")));
    assert!(
        refused.exit == 2 && refused.err.contains("is the store that is to be copied"),
        "{}",
        refused.err
    );
    let refused = migrate(home, "postgres://ann:s3cret@127.0.0.1:1/bank", text(&home.join("x")));
    assert!(refused.exit == 2 && !refused.err.contains("s3cret"), "{}", refused.err);
}

#[test]
fn a_store_that_a_daemon_uses_is_not_copied() {
    let world = World::start();
    world.post("/customers", r#"{"identifier":"ann","type":"PERSON"}"#).is(202);
    let home = world.dir.path();
    let (place, copy): (String, PathBuf) = match world.config().store.postgres() {
        Some(address) => (address.to_string(), home.join("copy")),
        None => (text(&home.join("data")).to_owned(), home.join("copy")),
    };
    let refused = migrate(home, &place, text(&copy));
    assert_eq!(refused.exit, 11, "{}", refused.err);
    assert!(!world.block_on(at_rest(world.config())).is_empty());
    world.get("/customers/ann").is(200);
}

/// Spaces with their keys, and images by hash with their lengths.
type Contents = (Vec<(u8, Vec<u8>)>, Vec<(String, usize)>);

/// Reads a stream by its description alone.
fn parse(stream: &[u8]) -> Contents {
    let mut rest = stream.strip_prefix(b"mfa export 1\n").unwrap();
    let mut take = |count: usize| -> &[u8] {
        let (taken, left) = rest.split_at(count);
        rest = left;
        taken
    };
    fn number(bytes: &[u8]) -> usize {
        bytes.iter().rev().fold(0, |number, byte| number << 8 | usize::from(*byte))
    }
    let (mut pairs, mut images) = (Vec::new(), Vec::new());
    loop {
        let space = take(1)[0];
        if space == 0 {
            break;
        }
        let (key, value) = (number(take(4)), number(take(4)));
        pairs.push((space, take(key).to_vec()));
        take(value);
    }
    assert_eq!(number(take(8)), pairs.len());
    while take(1)[0] == 1 {
        let (name, length) = (take(32).to_vec(), number(take(4)));
        let bytes = take(length);
        assert_eq!(*Sha256::digest(bytes), *name);
        images.push((hash(bytes), length));
    }
    assert_eq!(number(take(8)), images.len());
    assert_eq!(*take(32), *Sha256::digest(&stream[..stream.len() - 32]));
    assert!(rest.is_empty());
    (pairs, images)
}

#[test]
fn the_stream_of_a_store_follows_its_description() {
    let mut world = filled();
    world.stop();
    let engine = Embedded::open(Options::new(world.dir.path().join("data"))).unwrap();
    let mut stream = Vec::new();
    let summary = world.block_on(export(&engine, &mut stream)).unwrap();
    let (pairs, images) = parse(&stream);
    assert_eq!((summary.pairs, summary.images), (pairs.len() as u64, images.len() as u64));
    assert_eq!(summary.sha256, hash(&stream[..stream.len() - 32]));
    assert!(pairs.is_sorted() && images.is_sorted());
    assert_eq!(pairs.iter().filter(|(space, _)| *space == 20).count(), CUSTOMERS + 2);
    assert_eq!(images.iter().map(|(_, length)| length).max(), Some(&524_288));
    world.block_on(engine.close()).unwrap();
}
