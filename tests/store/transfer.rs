//! Copies of a whole store from one engine into the other.

use crate::cli::run::run;
use crate::stored::postgres_address;
use crate::world::{World, mfa};
use mfa_daemon::store::embedded::{Embedded, Options};
use mfa_daemon::store::engine::{Change, Commit, Engine};
use mfa_daemon::store::records::SYSTEM;
use mfa_daemon::{Auth, Config};
use mfa_shared::time::Timestamp;
use serde_json::json;
use std::path::Path;
use tokio::runtime::Runtime;

/// A world on the embedded engine with some records.
fn filled() -> World {
    let world = World::with(|config| config.store = None);
    for number in 0..300 {
        let body = json!({ "identifier": format!("c{number}"), "type": "PERSON", "surname": "Mensah" });
        world.post("/customers", body.to_string()).is(202);
    }
    world
}

fn migrate(home: &Path, from: &str, to: &str) -> crate::cli::run::Ran {
    run(mfa(home, &["migrate", "--from", from, "--to", to, "-o", "json"]))
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn a_copy_holds_what_the_store_held_and_says_its_hash() {
    let mut world = filled();
    let before = world.get("/customers?size=1000").is(200).text();
    world.stop();
    let (home, data) = (world.dir.path(), world.dir.path().join("data"));
    let copy = home.join("copy");
    let address = postgres_address().map(|address| address.to_string());
    let middle = address.unwrap_or_else(|| text(&home.join("middle")).to_owned());
    let there = migrate(home, text(&data), &middle).json();
    let back = migrate(home, &middle, text(&copy)).json();
    assert_eq!((&there["sha256"], &there["pairs"]), (&back["sha256"], &back["pairs"]));
    assert!(there["pairs"].as_u64().unwrap() > 300 && there["resumed"] == 0);
    let mut config = Config::new(&copy);
    (config.auth, config.listen) = (Auth::Off, "127.0.0.1:0".parse().unwrap());
    config.secret_key_file = home.join("data.key");
    world.start_on(config);
    assert_eq!(world.get("/customers?size=1000").is(200).text(), before);
}

#[test]
fn an_interrupted_copy_goes_on_and_is_no_store_before_it_is_whole() {
    let mut world = filled();
    world.stop();
    let (home, data) = (world.dir.path(), world.dir.path().join("data"));
    let copy = home.join("copy");
    let whole = migrate(home, text(&data), text(&home.join("whole"))).json();
    // What an interrupted copy leaves: a mark, here one before the first pair.
    let mark = json!({ "source": whole["sha256"], "space": 0, "key": "", "pairs": 0 }).to_string();
    let change = Change { space: SYSTEM, key: b"migration".to_vec(), value: Some(mark.into_bytes()) };
    let time = Timestamp::from_millis(1_700_000_000_000);
    let commit = Commit { time, actor: "ada".into(), request: "r".into(), changes: vec![change] };
    let runtime = Runtime::new().unwrap();
    let engine = Embedded::open(Options::new(&copy)).unwrap();
    runtime.block_on(engine.write(Box::new(move |_| Some(commit.clone())))).unwrap();
    runtime.block_on(engine.close()).unwrap();
    drop(engine);
    let started = run(mfa(home, &["daemon", "run", "--auth", "off", "--data-dir", text(&copy)]));
    assert!(started.exit == 1 && started.err.contains("unfinished copy"), "{}", started.err);
    let done = migrate(home, text(&data), text(&copy)).json();
    assert_eq!(done["sha256"], whole["sha256"]);
}

#[test]
fn a_copy_is_not_made_over_a_store_or_from_nothing() {
    let mut world = filled();
    world.stop();
    let (home, data) = (world.dir.path(), world.dir.path().join("data"));
    let (none, copy) = (home.join("none"), home.join("copy"));
    assert!(migrate(home, text(&none), text(&copy)).err.contains("there is no store in"));
    assert!(!none.exists());
    migrate(home, text(&data), text(&copy)).json();
    assert!(migrate(home, text(&data), text(&copy)).err.contains("holds a store already"));
    let refused = migrate(home, "postgres://ann:s3cret@127.0.0.1:1/bank", text(&home.join("x")));
    assert!(refused.exit == 2 && !refused.err.contains("s3cret"), "{}", refused.err);
}
