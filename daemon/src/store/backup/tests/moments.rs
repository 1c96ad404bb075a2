//! Restores to a moment: the backup and the journal behind it, up to a commit.

use super::super::moment::{ToMoment, Way};
use super::super::read::{Facts, Reader, whole};
use super::super::restore::put_back;
use super::{State, gone, keep, picture, put, runtime, state, taken};
use crate::clock::Clock;
use crate::store::Store;
use crate::store::embedded::{Embedded, Lock, Options, Until};
use crate::store::engine::{Change, Commit, Engine};
use crate::store::objects::UsedBy;
use crate::store::record::{key, numbered};
use crate::store::records::{CUSTOMERS, IMAGE_USES, LOCAL, OFFICES, SESSIONS, SYSTEM, StoreFacts};
use mfa_shared::time::Timestamp;
use std::fs;
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::slice::from_ref;
use std::sync::Arc;

const BEGINS: i64 = 1_700_000_000_000;
/// Milliseconds between two commits.
const STEP: i64 = 1_000;

pub(super) fn chance(most: u64) -> u64 {
    u64::from_le_bytes(crate::random::bytes()) % most
}

/// A store that was closed, a backup from the midst of its life, and the whole story.
pub(super) struct Story {
    pub(super) home: tempfile::TempDir,
    pub(super) backup: Vec<u8>,
    pub(super) facts: Facts,
    /// Every commit, from the first.
    pub(super) commits: Vec<Commit>,
}

fn options(dir: &Path, packs: bool) -> Options {
    Options { segment_bytes: 4_000, packs, ..Options::new(dir) }
}

async fn write(engine: &Embedded, number: i64, mut changes: Vec<Change>) {
    changes.sort_by(|a, b| (a.space, &a.key).cmp(&(b.space, &b.key)));
    let time = Timestamp::from_millis(BEGINS + number * STEP);
    let commit = Commit { time, actor: "ada".to_owned(), request: "r".to_owned(), changes };
    engine.write(Box::new(move |_| Some(commit.clone()))).await.unwrap();
}

/// One commit with anything; portraits come and are replaced.
async fn work(engine: &Embedded, number: i64, portrait: &mut Option<String>) {
    let text = |length: u64| vec![b'a' + (chance(26) as u8); length as usize];
    let mut changes = vec![
        put(OFFICES, numbered(&[], chance(40)), &text(chance(900))),
        put(SESSIONS, numbered(&[], chance(9)), b"token"),
    ];
    match chance(3) {
        0 => changes.push(gone(CUSTOMERS, numbered(&[], chance(30)))),
        _ => changes.push(put(CUSTOMERS, numbered(&[], chance(30)), &text(chance(300)))),
    }
    let mut ended = None;
    if chance(6) == 0 {
        let hash = keep(engine, &picture(number as u64)).await;
        changes.push(put(IMAGE_USES, key(&[&hash, "portrait", "c"]), b""));
        ended = portrait.replace(hash);
        changes.extend(ended.iter().map(|hash| gone(IMAGE_USES, key(&[hash, "portrait", "c"]))));
    }
    write(engine, number, changes).await;
    if let Some(hash) = ended {
        let range = crate::store::engine::Range::prefix(hash.as_bytes());
        engine.objects().remove(&hash, UsedBy { space: IMAGE_USES, range, young: true }).await.unwrap();
    }
}

impl Story {
    /// So many commits before the backup, and so many behind it.
    pub(super) async fn new(before: i64, behind: i64) -> Self {
        Self::of(before, behind, true).await
    }

    /// The same, and whether journal files are packed.
    async fn of(before: i64, behind: i64, packs: bool) -> Self {
        let home = tempfile::tempdir().unwrap();
        let engine = Arc::new(Embedded::open(options(&home.path().join("old"), packs)).unwrap());
        let instance = "0".repeat(32);
        let created_on = Timestamp::from_millis(0);
        let form = StoreFacts::FORM;
        let facts = StoreFacts { instance, created_on, form, program: None };
        write(&engine, 0, vec![put(SYSTEM, key(&["store"]), &serde_json::to_vec(&facts).unwrap())]).await;
        let mut portrait = None;
        for number in 1..before {
            work(&engine, number, &mut portrait).await;
        }
        let backup = taken(&Store::over(engine.clone(), Clock::system(), false), async || ()).await;
        for number in before..before + behind {
            work(&engine, number, &mut portrait).await;
        }
        let commits = engine.commits_since(0, usize::MAX).await.unwrap();
        engine.close().await.unwrap();
        let facts = whole(Cursor::new(&backup)).unwrap().facts;
        assert_eq!(facts.trailer.journal_sequence, before as u64);
        Self { home, backup, facts, commits: commits.into_iter().map(|(_, commit)| commit).collect() }
    }

    pub(super) fn old(&self) -> PathBuf {
        self.home.path().join("old")
    }

    pub(super) fn way(&self, until: Until, journal: &[PathBuf]) -> Result<Way, String> {
        let to = ToMoment { until, journal: journal.to_vec() };
        Way::find(&self.facts, &to, None).map_err(|error| error.to_string())
    }

    /// The records after a commit.
    pub(super) fn played(&self, upto: u64) -> State {
        let mut state = State::new();
        for change in self.commits[..upto as usize].iter().flat_map(|commit| &commit.changes) {
            let place = (change.space.id, change.key.clone());
            match &change.value {
                _ if LOCAL.contains(&change.space) => {}
                Some(value) => drop(state.insert(place, value.clone())),
                None => drop(state.remove(&place)),
            }
        }
        state
    }

    /// Restores to a moment; the images that are missing.
    pub(super) async fn restore(&self, way: &Way, target: &Embedded) -> Vec<String> {
        let mut reader = Reader::begin(Cursor::new(&self.backup)).unwrap();
        let now = Clock::system().now();
        let name = format!("{}@{}", self.facts.digest, way.reached.sequence);
        put_back(&mut reader, target, &name, now, &|_| {}).await.unwrap();
        way.follow(target, now, &|_| {}).await.unwrap();
        way.bring_images(target).await.unwrap()
    }
}

#[test]
fn at_any_commit_the_restored_store_equals_the_replayed_history() {
    runtime().block_on(async {
        let story = Story::new(30, 150).await;
        let files = fs::read_dir(story.old().join("journal")).unwrap().count();
        assert!(files > 10, "{files}");
        let journals = [story.old(), story.old().join("journal")];
        let mut lacking = 0;
        for round in 0..50_u64 {
            let sequence = 30 + chance(151);
            // A moment is anywhere between its commit and the next one.
            let time = BEGINS + (sequence as i64 - 1) * STEP + chance(STEP as u64) as i64;
            let until = match round % 2 {
                1 if sequence < 180 => Until::Moment(Timestamp::from_millis(time)),
                _ => Until::Sequence(sequence),
            };
            let way = story.way(until, &journals[(round % 4 / 2) as usize..][..1]).unwrap();
            assert_eq!(way.reached.sequence, sequence, "{until:?}");
            let dir = story.home.path().join(format!("new{round}"));
            let target = Embedded::open(Options::new(&dir)).unwrap();
            let missing = story.restore(&way, &target).await;
            let found = state(&target).await;
            let expected = story.played(sequence);
            assert!(found == expected, "commit {sequence}: {} and {}", found.len(), expected.len());
            for (_, entry) in found.keys().filter(|(space, _)| *space == IMAGE_USES.id) {
                let hash = String::from_utf8_lossy(&entry[..64]).into_owned();
                let there = target.objects().open(&hash).await.unwrap().is_some();
                assert!(there != missing.contains(&hash), "{hash}");
            }
            lacking += missing.len();
            target.close().await.unwrap();
            fs::remove_dir_all(&dir).unwrap();
        }
        assert!(lacking > 0, "no image was ever replaced behind a moment");
    });
}

/// A copy of a store that went on by itself from its first commits.
async fn fork(old: &Path, place: &Path) -> PathBuf {
    copy(old, place);
    let journal = || fs::read_dir(place.join("journal")).unwrap().map(|entry| entry.unwrap().path());
    journal().filter(|file| !file.ends_with("00000001.log")).for_each(|file| fs::remove_file(file).unwrap());
    fs::remove_dir_all(place.join("index")).unwrap();
    fs::remove_file(place.join("clean")).unwrap();
    let engine = Embedded::open(options(place, false)).unwrap();
    for number in 0..80 {
        work(&engine, number, &mut None).await;
    }
    engine.close().await.unwrap();
    place.to_owned()
}

#[test]
fn a_journal_that_does_not_lead_from_the_backup_to_the_moment_is_refused() {
    runtime().block_on(async {
        let story = Story::of(25, 45, false).await;
        let other = Story::new(25, 45).await;
        let old = [story.old()];
        let refuses = |until: Until, journal: &[PathBuf], words: &[&str]| {
            let said = story.way(until, journal).map(|way| way.reached).unwrap_err();
            assert!(words.iter().all(|word| said.contains(word)), "{said}");
        };
        let at = |number: i64| Until::Moment(Timestamp::from_millis(BEGINS + number * STEP));
        refuses(Until::Sequence(24), &old, &["before the backup", "commit 25", "mfa backup list"]);
        refuses(at(23), &old, &["before the backup", "commit 25", "mfa backup list"]);
        refuses(Until::Sequence(71), &old, &["behind the end", "commit 70", "--until 70"]);
        refuses(at(70), &old, &["behind the end", "commit 70", "--until 70"]);
        assert_eq!(story.way(at(69), &old).unwrap().reached.sequence, 70);
        refuses(Until::Sequence(40), &[other.old()], &["of another store"]);
        refuses(Until::Sequence(40), &[story.old(), other.old()], &["of another store"]);
        refuses(Until::Sequence(40), &[story.home.path().to_owned()], &["no journal in"]);
        refuses(Until::Sequence(40), &[story.home.path().join("nowhere")], &["cannot be read"]);
        let held = Lock::take(&story.old()).unwrap();
        refuses(Until::Sequence(40), &old, &["is locked by process"]);
        refuses(Until::Sequence(40), &[story.old().join("journal")], &["is locked by process"]);
        drop(held);
        let fork = fork(&story.old(), &story.home.path().join("fork")).await;
        refuses(Until::Sequence(40), &[fork], &["another copy of the store"]);
    });
}

#[test]
fn a_moment_is_refused_where_the_clock_was_set_back_behind_it() {
    runtime().block_on(async {
        let story = Story::new(25, 45).await;
        let old = [story.old()];
        let on = |number: i64| Timestamp::from_millis(BEGINS + number * STEP);
        let at = |number: i64| Until::Moment(on(number));
        let go_on = async |numbers: std::ops::Range<i64>| {
            let engine = Embedded::open(options(&story.old(), true)).unwrap();
            for number in numbers {
                work(&engine, number, &mut None).await;
            }
            engine.close().await.unwrap();
        };
        assert_eq!(story.way(at(55), &old).unwrap().reached.sequence, 56);
        go_on(50..60).await;
        let said = story.way(at(55), &old).map(|way| way.reached).unwrap_err();
        let (later, earlier) = (format!("commit 57 ({})", on(56)), format!("commit 71 ({})", on(50)));
        for word in ["the clock was set back", &later, &earlier, "--until 56 ", "--until 76 "] {
            assert!(said.contains(word), "{word}: {said}");
        }
        for sequence in [56, 76] {
            let way = story.way(Until::Sequence(sequence), &old).unwrap();
            assert_eq!(way.reached.sequence, sequence);
        }
        assert_eq!(story.way(at(49), &old).unwrap().reached.sequence, 50);
        // The backup itself is of the wrong clock.
        go_on(10..11).await;
        let said = story.way(at(12), &old).map(|way| way.reached).unwrap_err();
        let (later, earlier) = (format!("commit 25 ({})", on(24)), format!("commit 81 ({})", on(10)));
        for word in ["the clock was set back", &later, &earlier, "name a commit: --until 81 "] {
            assert!(said.contains(word), "{word}: {said}");
        }
    });
}

#[test]
fn missing_journal_files_are_found_in_another_folder_or_named() {
    runtime().block_on(async {
        let story = Story::new(25, 45).await;
        let part = story.home.path().join("part");
        copy(&story.old(), &part);
        let file = |number: u64| part.join(format!("journal/{number:08}.log"));
        let last = || Until::Sequence(70);
        fs::remove_file(file(8)).unwrap();
        let said = story.way(last(), from_ref(&part)).unwrap_err();
        assert!(said.contains("00000008.log") && said.contains("restore that with --until"), "{said}");
        assert_eq!(story.way(last(), &[part.clone(), story.old()]).unwrap().reached.sequence, 70);
        (1..8).for_each(|number| fs::remove_file(file(number)).unwrap());
        let said = story.way(last(), from_ref(&part)).unwrap_err();
        assert!(said.contains("begins with commit") && said.contains("--journal DIR"), "{said}");
        assert_eq!(story.way(last(), &[part, story.old()]).unwrap().reached.sequence, 70);
    });
}

#[test]
fn a_backup_without_a_mark_of_its_journal_is_restored_without_until_only() {
    runtime().block_on(async {
        let mut story = Story::new(4, 4).await;
        story.facts.trailer.journal = None;
        let said = story.way(Until::Sequence(5), &[story.old()]).unwrap_err();
        assert!(said.contains("without --until"), "{said}");
        story.facts.head.engine = "postgres".to_owned();
        let said = story.way(Until::Sequence(5), &[story.old()]).unwrap_err();
        assert!(said.contains("PostgreSQL") && said.contains("mfa help"), "{said}");
    });
}

#[test]
fn an_unfinished_restore_to_another_moment_is_another_restore() {
    runtime().block_on(async {
        let story = Story::new(5, 20).await;
        let target = Embedded::open(Options::new(story.home.path().join("new"))).unwrap();
        let way = story.way(Until::Sequence(12), &[story.old()]).unwrap();
        story.restore(&way, &target).await;
        // The mark is still there, so the same restore may be begun again, and no other one.
        story.restore(&way, &target).await;
        assert!(state(&target).await == story.played(12));
        let mut reader = Reader::begin(Cursor::new(&story.backup)).unwrap();
        let name = format!("{}@11", story.facts.digest);
        let now = Clock::system().now();
        let said = put_back(&mut reader, &target, &name, now, &|_| {}).await.unwrap_err().to_string();
        assert!(said.contains("unfinished restore of another backup"), "{said}");
        target.close().await.unwrap();
    });
}

/// Copies a folder with everything in it.
pub(super) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() { copy(&path, &target) } else { assert!(fs::copy(&path, &target).is_ok()) }
    }
}
