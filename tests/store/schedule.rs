//! Scheduled backups, once a day.

use super::backup::{on, text, with_key};
use super::encrypted::Holder;
use crate::api::metrics::series;
use crate::support::run::run;
use crate::support::world::{World, mfa};
use mfa_daemon::{BackupSchedule, PublicKey};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Far beyond the time in which a small backup is made.
const MADE_MAX: Duration = Duration::from_secs(60);
const DAY_SECONDS: i64 = 86_400;

/// A daemon that makes its backup at ten past seven, two minutes after the test begins.
fn scheduled(keep: &str, encrypt_to: &[PublicKey]) -> (World, PathBuf, tempfile::TempDir) {
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join("backups");
    let (keep, encrypt_to) = (keep.parse().ok().unwrap(), encrypt_to.to_vec());
    let schedule =
        BackupSchedule { dir: dir.clone(), minute: 7 * 60 + 10, keep, encrypt_to, journal_keep_days: None };
    let world = World::with(|config| {
        config.backups = Some(schedule);
        config.metrics_public = true;
    });
    (world, dir, home)
}

fn files(dir: &Path) -> Vec<String> {
    let found = fs::read_dir(dir).into_iter().flatten().flatten();
    let mut names: Vec<_> = found.map(|entry| entry.file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[track_caller]
fn wait_for(what: &str, mut is_so: impl FnMut() -> bool) {
    let until = Instant::now() + MADE_MAX;
    while !is_so() {
        assert!(Instant::now() < until, "{what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn trail(world: &World) -> Vec<Value> {
    let page = world.get("/audit?operation=Backup&size=100").is(200).json();
    page["records"].as_array().or(page["elements"].as_array()).unwrap_or_else(|| panic!("{page}")).clone()
}

/// Whether every daemon says that a backup failed, or none does: each of them looks once a second.
fn all_say(world: &World, failed: bool) -> bool {
    let daemons = if world.config().store.postgres().is_some() { 2 } else { 1 };
    (0..daemons).all(|daemon| {
        let version = world.send(world.request_at(daemon, "GET", "/version")).json();
        version["backupFailedOn"].is_string() == failed
    })
}

fn metrics(world: &World) -> String {
    world.send(world.request_at(0, "GET", "/metrics")).is(200).text()
}

#[test]
fn one_backup_a_day_is_made_by_one_daemon_read_back_and_thinned_out() {
    let (world, dir, _home) = scheduled("2d,1w", &[]);
    world.post("/customers", r#"{"identifier":"c-1","type":"PERSON"}"#).is(202);
    std::thread::sleep(Duration::from_millis(2500));
    assert_eq!(files(&dir), [""; 0], "it is not ten past seven");
    world.clock.advance(120);
    wait_for("no backup was made", || files(&dir) == ["mfa-20310506T071009Z.mfab"]);
    let file = dir.join("mfa-20310506T071009Z.mfab");
    let verified = run(mfa(&dir, &["backup", "verify", file.to_str().unwrap(), "-o", "json"])).json();
    wait_for("the trail has no record of it", || trail(&world).len() == 1);
    let listed = &trail(&world)[0];
    assert_eq!((&listed["actor"], &listed["resource"]), (&"system".into(), &"backup/2031-05-06".into()));
    let digest = listed["changes"].as_array().unwrap().iter().find(|change| change["field"] == "/digest");
    assert_eq!(digest.unwrap()["after"], verified["digest"]);
    let page = metrics(&world);
    let (made, failed) =
        (series(&page)["mfa_backup_last_success_timestamp_seconds"], series(&page)["mfa_backup_failed"]);
    assert_eq!((made.parse::<f64>().unwrap() as i64, failed), (world.clock.now().millis() / 1000, "0"));
    // What is not the daemon's own stays, whatever its name.
    fs::write(dir.join("mfa-notes.mfab"), "mine").unwrap();
    fs::copy(&file, dir.join("kept-by-hand.mfab")).unwrap();
    fs::copy(&file, dir.join("mfa-before-merger.mfab")).unwrap();
    symlink(&file, dir.join("mfa-20310506T071009123Z.mfab")).unwrap();
    // What a killed daemon has left goes after a day.
    let (old, young) = (dir.join(".backup-old.part"), dir.join(".backup-young.part"));
    fs::File::create(&young).unwrap();
    let yesterday = std::time::SystemTime::now() - Duration::from_secs(90_000);
    fs::File::create(&old).unwrap().set_modified(yesterday).unwrap();
    for day in 1..=5 {
        world.clock.advance(DAY_SECONDS);
        wait_for("a day has no backup", || trail(&world).len() == day + 1);
    }
    assert!(!old.exists() && fs::remove_file(&young).is_ok());
    let expected = [
        "kept-by-hand.mfab",
        "mfa-20310506T071009123Z.mfab",
        "mfa-20310510T071009Z.mfab",
        "mfa-20310511T071009Z.mfab",
        "mfa-before-merger.mfab",
        "mfa-notes.mfab",
    ];
    wait_for("the old ones stay", || files(&dir) == expected);
    std::thread::sleep(Duration::from_millis(2500));
    assert_eq!(trail(&world).len(), 6, "another daemon made one as well");
}

#[test]
fn encrypted_backups_of_the_schedule_are_thinned_out_by_their_names() {
    let holder = Holder::new();
    let (world, dir, _home) = scheduled("2d", &[holder.public().parse().unwrap()]);
    let stamps = |names: &[String]| names.iter().map(|name| name[4..19].to_owned()).collect::<Vec<_>>();
    world.clock.advance(120);
    wait_for("no backup was made", || files(&dir).len() == 1 && trail(&world).len() == 1);
    let name = files(&dir).remove(0);
    assert!(name.starts_with("mfa-20310506T071009Z-") && name.ends_with(".mfab.age"), "{name}");
    let file = dir.join(&name);
    let identity = ["--identity", holder.file(), "-o", "json"];
    let command = [&["backup", "verify", file.to_str().unwrap()], &identity[..]].concat();
    let verified = run(mfa(&dir, &command)).json();
    let listed = &trail(&world)[0];
    let digest = listed["changes"].as_array().unwrap().iter().find(|change| change["field"] == "/digest");
    assert_eq!(digest.unwrap()["after"], verified["digest"]);
    // One of another store, which cannot be read here.
    let foreign = dir.join("mfa-20310501T071009Z-00000000000000000000000000000000.mfab.age");
    fs::copy(&file, &foreign).unwrap();
    for day in 1..=3 {
        world.clock.advance(DAY_SECONDS);
        wait_for("a day has no backup", || trail(&world).len() == day + 1);
    }
    let expected = ["20310501T071009", "20310508T071009", "20310509T071009"];
    wait_for("the old ones stay", || stamps(&files(&dir)) == expected);
}

#[test]
fn backups_of_a_clock_that_was_a_year_ahead_do_not_push_out_those_of_today() {
    const YEAR_SECONDS: i64 = 365 * DAY_SECONDS;
    let (world, dir, _home) = scheduled("2d", &[]);
    world.clock.advance(120 + YEAR_SECONDS);
    wait_for("no backup was made", || trail(&world).len() == 1);
    world.clock.advance(DAY_SECONDS);
    wait_for("a day has no backup", || trail(&world).len() == 2);
    world.clock.advance(-YEAR_SECONDS - DAY_SECONDS);
    for day in 1..=3 {
        wait_for("a day has no backup", || trail(&world).len() == day + 2);
        if day < 3 {
            world.clock.advance(DAY_SECONDS);
        }
    }
    let expected = ["20310507T071009", "20310508T071009", "20320505T071009", "20320506T071009"];
    wait_for("other ones stay", || files(&dir) == expected.map(|stamp| format!("mfa-{stamp}Z.mfab")));
}

#[test]
fn a_restored_copy_thins_out_none_of_the_backups_of_its_original() {
    let (mut world, dir, home) = scheduled("1d", &[]);
    world.clock.advance(120);
    wait_for("no backup was made", || trail(&world).len() == 1);
    let original = files(&dir);
    assert_eq!(original.len(), 1);
    let restored_from = dir.join(&original[0]);
    world.stop();
    let copy = home.path().join("copy");
    let command = ["backup", "restore", text(&restored_from), "--data-dir", text(&copy)];
    with_key(world.dir.path(), &command).ok();
    let mut config = on(world.dir.path(), &copy, None);
    config.backups.clone_from(&world.config().backups);
    world.start_on(config);
    // It makes its own on the same day, and on the next one thins out that alone.
    wait_for("the copy makes no backup", || trail(&world).len() == 1);
    world.clock.advance(DAY_SECONDS);
    wait_for("a day has no backup", || trail(&world).len() == 2);
    wait_for("its own of the first day stays", || files(&dir).len() == 2);
    assert_eq!(files(&dir)[0], original[0]);
    assert!(files(&dir)[1].starts_with("mfa-20310507T"), "{:?}", files(&dir));
}

#[test]
fn a_backup_that_fails_shows_everywhere_until_one_succeeds() {
    let (mut world, dir, home) = scheduled("7d", &[]);
    fs::write(&dir, "no folder").unwrap();
    world.clock.advance(120);
    wait_for("nothing is reported", || all_say(&world, true) && !trail(&world).is_empty());
    let listed = trail(&world)[0].clone();
    assert_eq!(listed["outcome"], "FAILED");
    assert!(listed["changes"][0]["after"].as_str().unwrap().contains(dir.to_str().unwrap()), "{listed}");
    assert_eq!(series(&metrics(&world))["mfa_backup_failed"], "1");
    let status = run(world.mfa(&["status"]));
    assert!(status.exit == 0 && status.err.contains("the backup of the schedule failed"), "{status:?}");
    let doctor = |world: &World| {
        let mut command = world.mfa(&["doctor", "-o", "json"]);
        command.env("MFA_BACKUP_DIR", &dir);
        let found: Value = serde_json::from_str(&run(command).out).unwrap();
        found.as_array().unwrap().iter().find(|one| one["check"] == "backup").unwrap().clone()
    };
    assert_eq!(doctor(&world)["result"], "fail");
    fs::remove_file(&dir).unwrap();
    // A daemon that starts tries it at once, and not only after its pause.
    world.restart();
    wait_for("it is not tried again", || !files(&dir).is_empty());
    wait_for("it still shows", || all_say(&world, false));
    assert_eq!(series(&metrics(&world))["mfa_backup_failed"], "0");
    // By the clock of this machine it is of another year.
    assert!(doctor(&world)["found"].as_str().unwrap().contains("2031-05-06"), "{}", doctor(&world));
    drop(home);
}

#[test]
fn a_schedule_that_cannot_be_read_is_refused_before_the_start() {
    let home = tempfile::tempdir().unwrap();
    for (name, value, why) in [
        ("MFA_BACKUP_DIR", "backups", "absolute"),
        ("MFA_BACKUP_AT", "2 o'clock", "HH:MM"),
        ("MFA_BACKUP_KEEP", "7x", "7d,4w,12m"),
        ("MFA_BACKUP_ENCRYPT_TO", "age1abc", "public key"),
    ] {
        let mut command = mfa(home.path(), &["daemon", "run", "--listen", "127.0.0.1:0"]);
        command.env("MFA_BACKUP_DIR", "/srv/backups").env(name, value);
        let ran = run(command);
        assert!(ran.exit == 2 && ran.err.contains(why), "{ran:?}");
    }
}
