//! Journal files that a backup covers go into an archive; the store works without them.

use super::backup::{institution_of, on, text, with_key};
use crate::support::counter::Counter;
use crate::support::run::run;
use crate::support::stored::{close_and_pack, in_folder};
use crate::support::world::World;
use mfa_daemon::BackupSchedule;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

fn customers(world: &World, name: &str) {
    for number in 0..10 {
        let body = json!({ "identifier": format!("{name}-{number}"), "type": "PERSON", "surname": "Owusu" });
        world.post("/customers", body.to_string()).is(202);
    }
}

fn backup(world: &World, name: &str) -> PathBuf {
    let file = world.dir.path().join(name);
    run(world.mfa(&["backup", "create", "--out", text(&file), "-o", "json"])).json();
    file
}

/// An institution whose first journal file is closed, and a backup of before and behind its end.
fn with_closed_file() -> (World, PathBuf, PathBuf) {
    let counter = Counter::with(World::with(in_folder));
    let mut world = institution_of(counter).world;
    let early = backup(&world, "early.mfab");
    customers(&world, "first");
    world.stop();
    close_and_pack(&world.dir.path().join("data"));
    let config = world.config().clone();
    world.start_on(config);
    customers(&world, "second");
    let late = backup(&world, "late.mfab");
    customers(&world, "third");
    (world, early, late)
}

fn files(dir: &Path) -> usize {
    let names = std::fs::read_dir(dir).into_iter().flatten().map(|entry| entry.unwrap().file_name());
    names.filter(|name| name.to_string_lossy().ends_with(".log")).count()
}

#[test]
fn a_store_without_older_journal_files_says_where_its_history_starts() {
    let (mut world, early, late) = with_closed_file();
    world.stop();
    let home = world.dir.path().to_owned();
    let (data, out) = (home.join("data"), home.join("archive"));
    let archive = |more: &[&str]| {
        let command = ["admin", "archive-journal", "--out", text(&out), "--data-dir", text(&data)];
        with_key(&home, &[&command[..], more].concat())
    };
    let before = files(&data.join("journal"));
    let said = archive(&[]).fails(2);
    assert!(said.contains("--backup FILE") && !out.exists(), "{said}");
    // The store itself is no archive of it: its files would be taken for copies, and removed.
    std::os::unix::fs::symlink(&data, home.join("link")).unwrap();
    for inside in [&data, &data.join("journal"), &data.join("new"), &home.join("link")] {
        let command = ["admin", "archive-journal", "--out", text(inside), "--data-dir", text(&data)];
        let said = with_key(&home, &[&command[..], &["--backup", text(&late)]].concat()).fails(2);
        assert!(said.contains("is in the store") && said.contains("elsewhere"), "{said}");
        assert_eq!(files(&data.join("journal")), before);
    }
    // The early backup does not cover the whole file.
    let kept = archive(&["--backup", text(&early), "-o", "json"]).json();
    assert_eq!((&kept["files"], files(&data.join("journal"))), (&json!(0), before));
    let moved = archive(&["--backup", text(&late), "-o", "json"]).json();
    assert!(moved["files"].as_u64().unwrap() > 0, "{moved}");
    let left = files(&data.join("journal"));
    assert_eq!((left + files(&out.join("journal")), files(&out.join("journal")) > 0), (before, true));
    let checked = with_key(&home, &["check", "--data-dir", text(&data)]);
    let begins = format!("the journal begins with commit {}", moved["journalBegins"]);
    assert!(checked.exit == 0 && checked.err.contains(&begins), "{}", checked.err);
    // Without the index as well.
    std::fs::remove_dir_all(data.join("index")).unwrap();
    world.start_on(on(&home, &data, None));
    world.get("/customers/first-3").is(200);
    customers(&world, "fourth");
    let trail = world.get("/audit?operation=CreateCustomer").is(200).json();
    assert!(trail["totalElements"].as_u64().unwrap() >= 40, "{trail}");
    run(world.mfa(&["audit", "verify"])).ok();
    backup(&world, "after.mfab");
    world.stop();
    // To a moment in the archive, and to one behind it.
    let restore = |target: &str, until: u64, journals: &[&Path]| {
        let dir = home.join(target);
        let until = until.to_string();
        let mut command =
            vec!["backup", "restore", text(&early), "--data-dir", text(&dir), "--until", &until];
        journals.iter().for_each(|journal| command.extend(["--journal", text(journal)]));
        with_key(&home, &command)
    };
    let begins = moved["journalBegins"].as_u64().unwrap();
    let said = restore("a", begins + 5, &[&data]).fails(1);
    assert!(said.contains("name the archive with the older files as well"), "{said}");
    restore("a", begins + 5, &[&data, &out]).ok();
    restore("b", begins - 3, &[&out, &data]).ok();
    for target in ["a", "b"] {
        with_key(&home, &["check", "ledger", "--data-dir", text(&home.join(target))]).ok();
    }
}

#[test]
fn the_daemon_archives_after_its_daily_backup_only_if_a_setting_says_so() {
    for keep_days in [None, Some(4_000), Some(0)] {
        let (mut world, ..) = with_closed_file();
        world.stop();
        let dir = world.dir.path().join("backups");
        let data = world.dir.path().join("data");
        let before = files(&data.join("journal"));
        let mut config = world.config().clone();
        let (keep, encrypt_to) = ("7d".parse().unwrap(), Vec::new());
        config.backups = Some(BackupSchedule {
            dir: dir.clone(),
            minute: 0,
            keep,
            encrypt_to,
            journal_keep_days: keep_days,
        });
        world.clock.advance(2 * 86_400);
        world.start_on(config);
        let begun = Instant::now();
        let ended = || begun.elapsed() > Duration::from_secs(20);
        let made = |world: &World| -> Value { world.get("/audit?operation=Backup").is(200).json() };
        while made(&world)["totalElements"] == 0 {
            assert!(!ended(), "no backup was made");
            std::thread::sleep(Duration::from_millis(50));
        }
        while keep_days == Some(0) && files(&data.join("journal")) == before {
            assert!(!ended(), "nothing was archived");
            std::thread::sleep(Duration::from_millis(50));
        }
        std::thread::sleep(Duration::from_millis(200));
        world.get("/customers/first-3").is(200);
        world.stop();
        let archives = std::fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().path());
        let archives: Vec<_> = archives.filter(|path| path.is_dir()).collect();
        match keep_days {
            Some(0) => assert!(files(&archives[0].join("journal")) > 0),
            _ => assert!(archives.is_empty() && files(&data.join("journal")) == before, "{keep_days:?}"),
        }
    }
}
