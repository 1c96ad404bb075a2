//! Damage by chance to any file of a real data directory.

use super::super::Embedded;
use super::sim::Chance;
use super::world::*;
use crate::store::engine::{Engine, Pair};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

fn files(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files(&path, found) } else { found.push(path) }
    }
}

pub(super) fn copy(from: &Path, to: &Path) {
    let mut found = Vec::new();
    files(from, &mut found);
    for path in found {
        let to = to.join(path.strip_prefix(from).unwrap());
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(&path, &to).unwrap();
    }
}

/// A data directory with several journal files, of which the older ones are packed, and two checkpoints; and
/// what is in it.
fn make(clean: bool) -> (tempfile::TempDir, Vec<Pair>, u64) {
    let (dir, made) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let engine = Embedded::open(options(dir.path())).unwrap();
    for number in 0..60u8 {
        let value = vec![number; 20 + 13 * usize::from(number)];
        let long = (number % 20 == 7).then(|| vec![number; 11_000]);
        write(&engine, vec![change([number], Some(value)), change("long", long)]).unwrap();
        if number % 25 == 20 {
            engine.checkpoint().unwrap();
            engine.pack().unwrap();
        }
    }
    let pairs = all(&engine).unwrap();
    let sequence = engine.sequence();
    if clean {
        block_on(engine.close()).unwrap();
        drop(engine);
        copy(dir.path(), made.path());
    } else {
        // What a killed process leaves is what the system has of its files at some moment.
        std::thread::sleep(std::time::Duration::from_millis(700));
        copy(dir.path(), made.path());
    }
    (made, pairs, sequence)
}

/// Damages a file; says how.
pub(super) fn damage(path: &Path, chance: &mut Chance) -> String {
    let mut content = fs::read(path).unwrap();
    // Much of an index is empty, so every other damage hits the part that is not.
    let used = content.iter().rposition(|byte| *byte != 0).map_or(0, |at| at + 1);
    let bytes = if chance.below(2) == 0 { content.len() } else { used };
    let how = match (chance.below(10), bytes) {
        (0, _) => {
            fs::remove_file(path).unwrap();
            return "removed".to_owned();
        }
        (1 | 2, _) => {
            let left = chance.below(bytes);
            content.truncate(left);
            format!("cut to {left}")
        }
        (3, _) => {
            content.extend(vec![0; 1 + chance.below(3_000)]);
            "zeros behind the end".to_owned()
        }
        (_, 0) => {
            content.push(7);
            "a byte in an empty file".to_owned()
        }
        (4 | 5, _) => {
            let from = chance.below(bytes);
            let length = 1 + chance.below(4_096);
            let to = bytes.min(from + length);
            content[from..to].fill(0);
            format!("zeros from {from} to {to}")
        }
        _ => {
            let (at, bit) = (chance.below(bytes), chance.below(8));
            content[at] ^= 1 << bit;
            format!("bit {bit} of byte {at}")
        }
    };
    fs::write(path, content).unwrap();
    how
}

/// Damages one file of a copy and opens it. Either all is right, or the refusal names a file.
fn try_one(made: &Path, seed: u64, right: &[Pair], sequence: u64) -> (String, bool) {
    let dir = tempfile::tempdir().unwrap();
    copy(made, dir.path());
    let mut chance = Chance(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    chance.below(1);
    let mut found = Vec::new();
    files(dir.path(), &mut found);
    // The index is one big file among many small ones, and the least predictable.
    for _ in 0..3 {
        files(&dir.path().join("index"), &mut found);
    }
    found.sort();
    let path = &found[chance.below(found.len())];
    let name = path.strip_prefix(dir.path()).unwrap().display().to_string();
    let how = damage(path, &mut chance);
    match Embedded::open(options(dir.path())) {
        Ok(engine) => {
            let seen = all(&engine).unwrap_or_else(|fault| panic!("seed {seed}, {name}, {how}: {fault}"));
            assert!(seen == right, "seed {seed}, {name}, {how}: {} of {} pairs", seen.len(), right.len());
            assert_eq!(engine.sequence(), sequence, "seed {seed}, {name}, {how}");
            assert_eq!(
                engine.journal(0).filter(Result::is_ok).count() as u64,
                sequence,
                "{seed} {name} {how}"
            );
            (name, true)
        }
        Err(error) => {
            let text = error.to_string();
            assert!(text.contains(&dir.path().display().to_string()), "seed {seed}: names no file: {text}");
            assert!(
                name.starts_with("journal/"),
                "seed {seed}, {name}, {how}: only the journal is needed: {text}"
            );
            (name, false)
        }
    }
}

fn try_many(clean: bool, count: u64) {
    let (made, right, sequence) = make(clean);
    let next = AtomicU64::new(0);
    let tally = std::sync::Mutex::new(BTreeMap::<String, (u32, u32)>::new());
    let walk = || {
        while let Some(seed) = Some(next.fetch_add(1, SeqCst)).filter(|seed| *seed < count) {
            let (name, opened) =
                try_one(made.path(), seed + if clean { 0 } else { 1 << 20 }, &right, sequence);
            let mut tally = tally.lock().unwrap();
            let entry = tally.entry(name).or_default();
            if opened { entry.0 += 1 } else { entry.1 += 1 }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(walk);
        }
    });
    for (name, (opened, refused)) in tally.into_inner().unwrap() {
        println!("{name}: opened {opened}, refused {refused}");
    }
}

#[test]
fn damage_after_a_clean_stop_is_healed_or_refused() {
    try_many(true, 500);
}

#[test]
fn damage_after_a_kill_is_healed_or_refused() {
    try_many(false, 500);
}
