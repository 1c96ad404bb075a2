//! Restores to a moment: a backup of a real daemon, and the journal of its store behind it.

use super::backup::{institution_of, on, played, portrait, records, text, with_key, without_trail};
use crate::support::counter::Counter;
use crate::support::images::picture;
use crate::support::run::{Ran, run};
use crate::support::stored::{files, in_folder, postgres_address};
use crate::support::world::{World, mfa};
use mfa_daemon::Address;
use mfa_shared::time::Timestamp;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A store that was backed up and worked on, and what happened after the backup.
struct Since {
    world: World,
    home: PathBuf,
    backup: PathBuf,
    /// The last commit that is to be kept, and when it was there.
    kept: u64,
    moment: Timestamp,
}

/// The last commit that a backup of now has.
fn sequence(world: &World, name: &str) -> u64 {
    let file = world.dir.path().join(name);
    let made = run(world.mfa(&["backup", "create", "--out", text(&file), "-o", "json"])).json();
    made["journalSequence"].as_u64().unwrap()
}

fn customer(world: &World, name: &str) {
    let body = json!({ "identifier": name, "type": "PERSON", "surname": "Owusu" });
    world.post("/customers", body.to_string()).is(202);
}

/// An institution in the embedded store: a backup, good work behind it, and then a mistake.
fn worked_on() -> Since {
    let counter = Counter::with(World::with(in_folder));
    let world = institution_of(counter).world;
    let home = world.dir.path().to_owned();
    let backup = home.join("b.mfab");
    sequence(&world, "b.mfab");
    for number in 0..30 {
        customer(&world, &format!("good-{number}"));
        portrait(&world, &format!("good-{number}"), 50 + number);
    }
    let kept = sequence(&world, "kept.mfab");
    let moment = world.clock.now();
    world.clock.advance(60);
    for number in 0..30 {
        customer(&world, &format!("wrong-{number}"));
    }
    portrait(&world, "good-7", 7_000);
    Since { world, home, backup, kept, moment }
}

impl Since {
    fn restore(&self, target: &str, until: &str, more: &[&str]) -> Ran {
        let (dir, data) = (self.home.join(target), self.home.join("data"));
        let command = ["backup", "restore", text(&self.backup), "--data-dir", text(&dir), "--until", until];
        with_key(&self.home, &[&command[..], &["--journal", text(&data)], more].concat())
    }

    /// The store holds what it held at the moment.
    fn is_right(&self, config: &mfa_daemon::Config, upto: u64) {
        let expected = played(&self.world, &on(&self.home, &self.home.join("data"), None), upto);
        let found = records(&self.world, config);
        assert!(without_trail(&found) == without_trail(&expected), "the records differ");
    }
}

#[test]
fn a_store_goes_back_to_the_moment_before_a_mistake() {
    let mut since = worked_on();
    let held = since.restore("new", &since.kept.to_string(), &[]).fails(11);
    assert!(held.contains("is locked by process") && !since.home.join("new").exists(), "{held}");
    since.world.stop();
    let restored = since.restore("new", &since.moment.to_string(), &["-o", "json"]);
    let (reported, shown) = (restored.err.clone(), restored.json());
    // The trail's record of the last backup may have been there by then.
    let reached = shown["journalSequence"].as_u64().unwrap();
    assert!((since.kept..since.kept + 5).contains(&reached), "{reached} and {}", since.kept);
    // The portrait that was replaced afterwards is in no folder any more.
    assert_eq!(shown["missingImages"].as_array().unwrap().len(), 1, "{shown}");
    assert!(reported.contains("is missing: it was replaced or removed since"), "{reported}");
    let new = on(&since.home, &since.home.join("new"), None);
    since.is_right(&new, reached);
    with_key(&since.home, &["check", "ledger", "--data-dir", text(&since.home.join("new"))]).ok();
    since.world.start_on(new);
    let world = &since.world;
    world.get("/customers/good-29").is(200);
    world.get("/customers/wrong-0").is(404);
    assert!(world.get("/customers/good-3/portrait").is(200).body == picture(9_000, 53));
    assert_eq!(world.get("/configuration/email/main").is(200).json()["app_password"], "word");
    let trail = world.get("/audit?operation=Restore").is(200).json();
    let reported: Vec<&Value> = trail["records"][0]["changes"].as_array().unwrap().iter().collect();
    assert!(reported.iter().any(|change| change["after"] == json!(reached.to_string())), "{trail}");
    run(world.mfa(&["audit", "verify"])).ok();
}

#[test]
fn a_store_takes_its_own_place_as_it_was_at_the_moment() {
    let mut since = worked_on();
    since.world.stop();
    let until = since.kept.to_string();
    let before = files(&since.home.join("data")).len();
    let said = since.restore("data", &until, &[]).fails(2);
    assert!(said.contains("--replace") && files(&since.home.join("data")).len() == before, "{said}");
    let shown = since.restore("data", &until, &["--replace", "--yes", "-o", "json"]).json();
    let aside = PathBuf::from(shown["setAside"].as_str().unwrap());
    let expected = played(&since.world, &on(&since.home, &aside, None), since.kept);
    let found = records(&since.world, &on(&since.home, &since.home.join("data"), None));
    assert!(without_trail(&found) == without_trail(&expected), "the records differ");
}

#[test]
fn postgresql_takes_a_store_as_it_was_at_a_moment() {
    let Some(address) = postgres_address() else {
        println!("SKIPPED: there is no PostgreSQL (MFA_TEST_POSTGRES)");
        return;
    };
    let mut since = worked_on();
    since.world.stop();
    into_postgres(&since, address);
}

fn into_postgres(since: &Since, address: Address) {
    let (data, until) = (since.home.join("data"), since.kept.to_string());
    let place = address.to_string();
    let command = ["backup", "restore", text(&since.backup), "--store", &place, "--until", &until];
    with_key(&since.home, &[&command[..], &["--journal", text(&data)]].concat()).ok();
    since.is_right(&on(&since.home, &since.home.join("unused"), Some(address)), since.kept);
}

#[test]
fn a_killed_restore_to_a_moment_is_finished_by_the_same_command() {
    let mut since = worked_on();
    since.world.stop();
    let (data, until) = (since.home.join("data"), since.kept.to_string());
    let before = journal(&data);
    let mut begun = 0;
    for round in 0..10 {
        let name = format!("killed{round}");
        let dir = since.home.join(&name);
        let command = ["backup", "restore", text(&since.backup), "--data-dir", text(&dir)];
        let command = [&command[..], &["--until", &until, "--journal", text(&data)]].concat();
        let mut command = mfa(&since.home, &command);
        command.env("MFA_SECRET_KEY_FILE", since.home.join("data.key"));
        command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
        let mut child = command.spawn().unwrap();
        while !dir.join("FORMAT").exists() && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_millis(8 * round));
        child.kill().unwrap();
        child.wait().unwrap();
        let checked = with_key(&since.home, &["check", "ledger", "--data-dir", text(&dir)]);
        if checked.exit != 0 {
            let none = checked.err.contains("there is no store in");
            assert!(none || checked.err.contains("unfinished restore"), "{}", checked.err);
            begun += 1;
            since.restore(&name, &until, &[]).ok();
        }
        since.is_right(&on(&since.home, &dir, None), since.kept);
    }
    println!("{begun} of 10 restores were killed half-way");
    assert!(begun > 0 && journal(&data) == before, "the old journal was changed");
}

/// The journal files of a store.
fn journal(data: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files = files(&data.join("journal"));
    files.retain(|(name, _)| name.ends_with(".log"));
    files.sort();
    files
}
