//! Journal files that go into an archive: without them the journal is consistent, with them it is complete.

use super::super::disk::{Disk, read_small};
use super::super::format;
use super::super::past::mark;
use super::super::segment::{name, segments};
use super::super::{Embedded, Past, Until, archive, journal_begins};
use super::sim::{Failing, Loss, SimDisk};
use super::world::*;
use crate::clock::Clock;
use crate::store::Store;
use crate::store::engine::{Archive, Archived, Engine};
use mfa_shared::fault::Fault;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

const COMMITS: u64 = 60;
const COVERED: u64 = 45;

fn fill(engine: &Embedded) {
    for number in 0..COMMITS {
        let value = vec![b'a' + (number % 26) as u8; 700];
        write(engine, vec![change(format!("k{}", number % 17), Some(value))]).unwrap();
    }
}

fn how(engine: &Embedded, out: &Path) -> Archive {
    let mark = mark(engine.shared.clone(), COVERED).unwrap().unwrap();
    Archive { out: out.to_owned(), covered: COVERED, mark, older_than: None }
}

fn archived(engine: &Embedded, out: &Path) -> Result<Archived, Fault> {
    block_on(engine.archive(how(engine, out)))
}

fn state(engine: &Embedded) -> Vec<(Vec<u8>, Vec<u8>)> {
    all(engine).unwrap()
}

#[test]
fn a_journal_without_its_older_files_is_whole_and_rebuilds_the_index() {
    let home = tempfile::tempdir().unwrap();
    let (dir, out) = (home.path().join("data"), home.path().join("archive"));
    let engine = Embedded::open(options(&dir)).unwrap();
    fill(&engine);
    let expected = state(&engine);
    let before = segments(&*engine.shared.disk).unwrap().len();
    let moved = archived(&engine, &out).unwrap();
    assert!(moved.files > 2 && moved.begins <= COVERED && moved.begins > 20, "{moved:?}");
    assert_eq!(segments(&*engine.shared.disk).unwrap().len(), before - moved.files);
    // Running it again on the open store moves nothing.
    assert_eq!(archived(&engine, &out).unwrap().files, 0);
    let said = engine.journal(0).next().unwrap().unwrap_err();
    assert!(said.detail.contains("the older ones are in its archive"), "{}", said.detail);
    assert_eq!(engine.journal(COVERED - 1).count() as u64, COMMITS - COVERED + 1);
    let seen = journal_begins(&dir).unwrap();
    assert_eq!(seen.sequence, moved.begins);
    block_on(engine.close()).unwrap();
    drop(engine);
    for lost in [&[][..], &["index"], &["index", "clean", "journal/tail"]] {
        for name in lost {
            let path = dir.join(name);
            if path.is_dir() { fs::remove_dir_all(path).unwrap() } else { fs::remove_file(path).unwrap() }
        }
        let engine = Embedded::open(options(&dir)).unwrap();
        assert!(state(&engine) == expected, "{lost:?}");
        write(&engine, vec![change("k3", Some(b"later".to_vec()))]).unwrap();
        write(&engine, vec![change("k3", Some(expected_of(&expected, "k3")))]).unwrap();
        let store = Store::new(engine, Clock::system(), false);
        let runtime = tokio::runtime::Runtime::new().unwrap();
        assert_eq!(runtime.block_on(store.check_journal()).unwrap().len(), 0);
        runtime.block_on(store.close());
    }
    // A restore to a moment has them all, by both folders.
    let past = Past::open(&[dir.clone(), out.clone()], None).unwrap();
    let commits = past.commits(1, COMMITS).unwrap().collect::<Result<Vec<_>, _>>().unwrap();
    assert_eq!(commits.len() as u64, COMMITS - 1);
    drop(past);
    // What is put back is history again.
    for entry in fs::read_dir(out.join("journal")).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, dir.join("journal").join(path.file_name().unwrap())).unwrap();
    }
    let engine = Embedded::open(options(&dir)).unwrap();
    assert!(engine.journal(0).count() as u64 > COMMITS && journal_begins(&dir).is_none());
}

fn expected_of(all: &[(Vec<u8>, Vec<u8>)], key: &str) -> Vec<u8> {
    all.iter().find(|(found, _)| found == key.as_bytes()).unwrap().1.clone()
}

#[test]
fn files_go_only_with_a_backup_of_this_store_and_into_its_own_archive() {
    let home = tempfile::tempdir().unwrap();
    let (dir, out) = (home.path().join("data"), home.path().join("archive"));
    let engine = Embedded::open(options(&dir)).unwrap();
    fill(&engine);
    let mut wrong = how(&engine, &out);
    wrong.mark.commit = "0".repeat(64);
    let said = block_on(engine.archive(wrong)).unwrap_err();
    assert!(said.detail.contains("not one of this store"), "{}", said.detail);
    let mut none_is_old = how(&engine, &out);
    none_is_old.older_than = Some(mfa_shared::time::Timestamp::from_millis(0));
    assert_eq!(block_on(engine.archive(none_is_old)).unwrap().files, 0);
    let other = Embedded::open(options(&home.path().join("other"))).unwrap();
    fill(&other);
    archived(&other, &out).unwrap();
    let said = archived(&engine, &out).unwrap_err();
    assert!(said.detail.contains("that of another store"), "{}", said.detail);
    assert_eq!(engine.journal(0).count() as u64, COMMITS);
    // Files that are missing and in no archive are no small matter.
    drop(engine);
    fs::remove_file(dir.join("journal/00000001.log")).unwrap();
    let said = Embedded::open(options(&dir)).unwrap_err().to_string();
    assert!(said.contains("00000001.log is damaged: the file is missing"), "{said}");
}

#[test]
fn a_folder_that_was_there_keeps_its_mode_and_a_full_one_is_no_archive() {
    let home = tempfile::tempdir().unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let folder = |name: &str| {
        let path = home.path().join(name);
        fs::create_dir(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    };
    let engine = Embedded::open(options(&home.path().join("data"))).unwrap();
    let other = Embedded::open(options(&home.path().join("other"))).unwrap();
    [&engine, &other].into_iter().for_each(fill);
    let full = folder("full");
    fs::write(full.join("letter.txt"), "mine").unwrap();
    let said = archived(&engine, &full).unwrap_err();
    assert!(said.detail.contains("name a new or empty folder"), "{}", said.detail);
    assert_eq!((fs::read_dir(&full).unwrap().count(), mode(&full)), (1, 0o755));
    // What a file system has by itself, and what a killed run has left.
    let mounted = folder("mounted");
    fs::create_dir(mounted.join("lost+found")).unwrap();
    fs::write(mounted.join("FORMAT.tmp"), "mfa").unwrap();
    assert!(archived(&engine, &mounted).unwrap().files > 2);
    assert_eq!((mode(&mounted), mode(&mounted.join("journal"))), (0o755, 0o700));
    let said = archived(&other, &mounted).unwrap_err();
    assert!(said.detail.contains("that of another store") && mode(&mounted) == 0o755, "{}", said.detail);
    let new = home.path().join("new");
    archived(&other, &new.join("archive")).unwrap();
    assert_eq!((mode(&new), mode(&new.join("archive"))), (0o700, 0o700));
}

/// Archives while one of the two disks loses its power at an operation; both must be whole afterwards. Says
/// whether it was not done by then.
fn power_off(point: u64, at_archive: bool, loss: Loss) -> bool {
    let (dir, place) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (disk, out) = (SimDisk::new(false), SimDisk::new(false));
    let engine = open_on(dir.path(), Arc::new(disk.clone())).unwrap();
    fill(&engine);
    engine.checkpoint().unwrap();
    let expected = state(&engine);
    let files = segments(&disk).unwrap();
    let bytes = |disk: &SimDisk, segment: u64| read_small(disk, &name(segment), 1 << 20).unwrap();
    let original: Vec<_> = files.iter().map(|segment| bytes(&disk, *segment)).collect();
    let how = how(&engine, Path::new("out"));
    let fails = if at_archive { &out } else { &disk };
    fails.fail(Failing::Off(fails.operations() + point));
    let broken = archive::archive_to(&out, &engine.shared, &how).is_err();
    drop(engine);
    let (disk, out) = (disk.crash(loss), out.crash(loss));
    for (segment, original) in files.iter().zip(&original) {
        let whole = |disk: &SimDisk| bytes(disk, *segment).is_some_and(|b| Some(&b) == original.as_ref());
        assert!(whole(&disk) || whole(&out), "{segment} is lost, {point} {at_archive} {loss:?}");
    }
    let engine = open_on(place.path(), Arc::new(disk)).unwrap();
    assert!(state(&engine) == expected, "{point} {at_archive} {loss:?}");
    // The next run ends what was begun.
    archive::archive_to(&out, &engine.shared, &how).unwrap();
    assert!(engine.shared.begins().sequence > 20 && state(&engine) == expected);
    broken
}

#[test]
fn a_power_cut_while_files_are_archived_leaves_both_folders_whole() {
    let mut cuts = 0;
    for at_archive in [false, true] {
        for point in 1.. {
            let loss = [Loss::All, Loss::Nothing, Loss::Some(point)][point as usize % 3];
            if !power_off(point, at_archive, loss) {
                break;
            }
            cuts += 1;
        }
    }
    assert!(cuts > 30, "{cuts}");
    println!("{cuts} power cuts");
}

/// Archives, is killed at an operation of the archive, and archives again; then both disks lose their power.
/// Says whether the first run was killed. `by_hand` says that others put the files into the archive, and did
/// not sync them.
fn ended_by_a_second_run(point: u64, by_hand: bool) -> bool {
    let dir = tempfile::tempdir().unwrap();
    let (disk, out) = (SimDisk::new(false), SimDisk::new(false));
    let engine = open_on(dir.path(), Arc::new(disk.clone())).unwrap();
    fill(&engine);
    engine.checkpoint().unwrap();
    let files = segments(&disk).unwrap();
    let bytes = |disk: &SimDisk, segment: u64| read_small(disk, &name(segment), 1 << 20).unwrap();
    let original: Vec<_> = files.iter().map(|segment| bytes(&disk, *segment)).collect();
    if by_hand {
        format::write(&out, &engine.shared.store, format::FORM).unwrap();
        out.make_dir("journal").unwrap();
        for (segment, bytes) in files.iter().zip(&original) {
            out.create(&name(*segment)).unwrap().write_at(0, bytes.as_ref().unwrap()).unwrap();
        }
    }
    let how = how(&engine, Path::new("out"));
    out.fail(Failing::Off(out.operations() + point));
    let killed = archive::archive_to(&out, &engine.shared, &how).is_err();
    let out = out.restart();
    archive::archive_to(&out, &engine.shared, &how).unwrap();
    assert!(engine.shared.begins().sequence > 20);
    drop(engine);
    let (disk, out) = (disk.crash(Loss::All), out.crash(Loss::All));
    for (segment, original) in files.iter().zip(&original) {
        let whole = |disk: &SimDisk| bytes(disk, *segment).is_some_and(|b| Some(&b) == original.as_ref());
        assert!(whole(&disk) || whole(&out), "{segment} is lost, {point} {by_hand}");
    }
    killed
}

#[test]
fn a_power_cut_behind_a_second_run_takes_no_file() {
    for by_hand in [false, true] {
        let killed = (1..).take_while(|point| ended_by_a_second_run(*point, by_hand)).count();
        assert!(killed > 3, "{killed} runs were killed");
    }
}

#[test]
fn a_restore_reaches_a_moment_over_the_archive_and_the_journal() {
    let home = tempfile::tempdir().unwrap();
    let (dir, out) = (home.path().join("data"), home.path().join("archive"));
    let engine = Embedded::open(options(&dir)).unwrap();
    fill(&engine);
    let early = mark(engine.shared.clone(), 3).unwrap().unwrap();
    archived(&engine, &out).unwrap();
    block_on(engine.close()).unwrap();
    drop(engine);
    let reach = |folders: &[&Path], until: u64| {
        let folders: Vec<_> = folders.iter().map(|folder| folder.to_path_buf()).collect();
        let past = Past::open(&folders, None).unwrap();
        past.reach(3, &early, Until::Sequence(until), &mut |_| Ok(())).map_err(|error| error.to_string())
    };
    assert_eq!(reach(&[&out, &dir], 50).unwrap().sequence, 50);
    let said = reach(&[&dir], 50).unwrap_err();
    assert!(said.contains("name the archive with the older files as well"), "{said}");
    let said = reach(&[&out], 50).unwrap_err();
    assert!(said.contains("behind the end of the journal") && !said.contains("header"), "{said}");
    // Whether an earlier program was killed then, or commits are missing, nobody knows.
    let files = fs::read_dir(dir.join("journal")).unwrap().map(|file| file.unwrap().path());
    let last = files.filter(|file| file.extension().is_some_and(|end| end == "log")).max().unwrap();
    fs::OpenOptions::new().write(true).open(&last).unwrap().set_len(30).unwrap();
    let said = reach(&[&out, &dir], 1_000).unwrap_err();
    let named = format!("{} ends within its header", last.display());
    assert!(said.contains(&named) && said.contains("--journal DIR"), "{said}");
}
