//! `mfa admin archive-journal` that is killed at any moment: each file is whole in the store or in the archive,
//! and the same command ends what was begun.

use super::backup::{institution_of, on, played, records, text, with_key, without_trail};
use crate::support::counter::Counter;
use crate::support::run::run;
use crate::support::stored::{files, in_folder, write_same};
use crate::support::template::copy_folder;
use crate::support::world::{World, mfa};
use mfa_daemon::store::embedded::{Embedded, Options};
use mfa_daemon::store::engine::Engine;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

const KILLS: u32 = 16;
/// Commits that each close a journal file.
const COMMITS: usize = 60;

/// Closes a journal file with each commit of a stopped store, and makes a checkpoint behind them.
fn close_many(world: &World, data: &Path) {
    let engine = Embedded::open(Options { segment_bytes: 1, ..Options::new(data) }).unwrap();
    for _ in 0..COMMITS {
        world.block_on(write_same(&engine));
    }
    engine.checkpoint().unwrap();
    // What is packed later reads the same, and has other bytes than those that are to be found again.
    let plain = |(_, bytes): &(String, Vec<u8>)| !bytes.starts_with(b"MFApack1");
    let begun = Instant::now();
    while journal(data).into_iter().rev().skip(1).any(|file| plain(&file)) {
        assert!(begun.elapsed() < Duration::from_secs(60), "the files are not packed");
        std::thread::sleep(Duration::from_millis(10));
    }
    world.block_on(engine.close()).unwrap();
}

/// The journal files of a folder.
fn journal(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let dir = folder.join("journal");
    let found = if dir.exists() { files(&dir) } else { Vec::new() };
    let name = |path: String| path.rsplit('/').next().unwrap_or_default().to_owned();
    found.into_iter().map(|(path, bytes)| (name(path), bytes)).filter(|(n, _)| n.ends_with(".log")).collect()
}

/// A stopped store with many closed journal files, an early backup of it and one that covers them.
fn with_many_files() -> (World, PathBuf, PathBuf) {
    let mut world = institution_of(Counter::with(World::with(in_folder))).world;
    let home = world.dir.path().to_owned();
    let data = home.join("data");
    let backup = |name: &str| {
        let file = home.join(name);
        with_key(&home, &["backup", "create", "--out", text(&file), "--data-dir", text(&data)]).ok();
        file
    };
    world.stop();
    let early = backup("early.mfab");
    close_many(&world, &data);
    let late = backup("late.mfab");
    (world, early, late)
}

#[test]
fn a_killed_archiving_loses_no_file_and_the_same_command_ends_it() {
    let (world, early, late) = with_many_files();
    let home = world.dir.path();
    let origin = home.join("data");
    let all = journal(&origin);
    assert!(all.len() > COMMITS, "{}", all.len());
    let places = |round: u32| (home.join(format!("d{round}")), home.join(format!("a{round}")));
    let archiving = |data: &Path, out: &Path| {
        let command = ["admin", "archive-journal", "--out", text(out), "--data-dir", text(data)];
        let mut command = mfa(home, &[&command[..], &["--backup", text(&late)]].concat());
        command.env("MFA_SECRET_KEY_FILE", home.join("data.key"));
        command
    };
    let (data, out) = places(KILLS);
    copy_folder(&origin, &data);
    let begun = Instant::now();
    run(archiving(&data, &out)).ok();
    let whole = begun.elapsed();
    let moved = journal(&out).len();
    assert!(moved >= COMMITS, "{moved} files were moved");
    let mut half = 0;
    let mut kills = 0;
    // Some of them have to be half-way; where the machine is busy, that takes more of them.
    while kills < KILLS || half <= KILLS / 6 && kills < 4 * KILLS {
        let round = kills % KILLS;
        kills += 1;
        let (data, out) = places(round);
        copy_folder(&origin, &data);
        let mut child = archiving(&data, &out).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        if round.is_multiple_of(2) {
            std::thread::sleep(whole * round / KILLS);
        } else {
            // While it copies or removes.
            while !out.join("journal").exists() && child.try_wait().unwrap().is_none() {
                std::thread::sleep(Duration::from_millis(1));
            }
            std::thread::sleep(whole * round / (4 * KILLS));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let (here, there) = (journal(&data), journal(&out));
        for (name, bytes) in &all {
            let kept = here.get(name) == Some(bytes) || there.get(name) == Some(bytes);
            assert!(kept, "round {round}: {name} is lost");
        }
        half += u32::from(!there.is_empty() && (here.len() + there.len() > all.len() || there.len() < moved));
        with_key(home, &["check", "store", "--data-dir", text(&data)]).ok();
        run(archiving(&data, &out)).ok();
        let (here, there) = (journal(&data), journal(&out));
        assert_eq!((here.len(), there.len()), (all.len() - moved, moved), "round {round}");
        if round % 6 == 5 {
            is_whole(&world, home, &early, &data, &out, round);
        }
        std::fs::remove_dir_all(&data).unwrap();
        std::fs::remove_dir_all(&out).unwrap();
    }
    println!("{half} of {kills} were killed half-way, {moved} files each");
    assert!(half > KILLS / 6, "{half} were killed half-way");
}

/// The store and its archive lead from the early backup to the end.
fn is_whole(world: &World, home: &Path, early: &Path, data: &Path, out: &Path, round: u32) {
    with_key(home, &["check", "ledger", "--data-dir", text(data)]).ok();
    let back = home.join(format!("back{round}"));
    let last = u64::MAX >> 1;
    let origin = on(home, &home.join("data"), None);
    let command = ["backup", "show", text(early), "-o", "json"];
    let from = with_key(home, &command).json()["journalSequence"].as_u64().unwrap();
    let until = (from + COMMITS as u64 / 2).to_string();
    let command = ["backup", "restore", text(early), "--data-dir", text(&back), "--until", &until];
    with_key(home, &[&command[..], &["--journal", text(data), "--journal", text(out)]].concat()).ok();
    let (found, expected) = (records(world, &on(home, &back, None)), played(world, &origin, last));
    assert!(without_trail(&found) == without_trail(&expected), "round {round}: the records differ");
    std::fs::remove_dir_all(&back).unwrap();
}
