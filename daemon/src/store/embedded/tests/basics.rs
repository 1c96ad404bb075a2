//! Opening, writing, reading, closing.

use super::super::{Embedded, OpenError, Options};
use super::world::*;
use crate::store::engine::{Change, Engine, Space, View};
use crate::store::overlay::Overlay;
use mfa_shared::fault::{INTERNAL, UNAVAILABLE};
use std::os::unix::fs::PermissionsExt;
use std::sync::mpsc::channel;
use std::time::Duration;

#[test]
fn what_was_written_is_there_after_a_clean_stop_and_after_a_kill() {
    let dir = tempfile::tempdir().unwrap();
    let big = vec![b'x'; 9_000];
    for clean in [true, false, true] {
        let engine = Embedded::open(options(dir.path())).unwrap();
        let key = format!("key {}", engine.sequence());
        write(&engine, vec![change(&key, Some(b"value".to_vec())), change("big", Some(big.clone()))])
            .unwrap();
        assert!(all(&engine).unwrap().contains(&(key.into_bytes(), b"value".to_vec())));
        if clean {
            block_on(engine.close()).unwrap();
            assert_eq!(write(&engine, vec![change("a", None)]).unwrap_err().kind, UNAVAILABLE);
        }
    }
    let engine = Embedded::open(options(dir.path())).unwrap();
    let keys: Vec<_> =
        all(&engine).unwrap().into_iter().map(|(key, _)| String::from_utf8(key).unwrap()).collect();
    assert_eq!(keys, ["big", "key 0", "key 1", "key 2"]);
    assert_eq!(engine.sequence(), 3);
}

#[test]
fn closing_finishes_what_is_queued_and_refuses_what_comes_later() {
    let dir = tempfile::tempdir().unwrap();
    let engine = Embedded::open(options(dir.path())).unwrap();
    let queue =
        |number: u8| engine.write(Box::new(move |_| Some(commit(vec![change([number], Some(vec![1]))]))));
    let queued: Vec<_> = (0..200).map(queue).collect();
    let closed = engine.close();
    let late = queue(201);
    queued.into_iter().for_each(|written| block_on(written).unwrap());
    block_on(closed).unwrap();
    let fault = block_on(late).unwrap_err();
    assert_eq!((fault.kind, fault.retry_after), (UNAVAILABLE, Some(30)));
    assert_eq!(all(&engine).unwrap().len(), 200);
    assert!(dir.path().join("clean").exists());
}

#[test]
fn what_was_decided_before_long_work_is_answered_before_it() {
    let dir = tempfile::tempdir().unwrap();
    let engine = Embedded::open(options(dir.path())).unwrap();
    let ((go_on, goes_on), (end, ends), (ended, in_time)) = (channel(), channel(), channel());
    let made = |key: &str| Some(commit(vec![change(key, Some(vec![1]))]));
    let first = engine.write(Box::new(move |_| {
        goes_on.recv().unwrap();
        made("first")
    }));
    let short = engine.write(Box::new(move |_| made("short")));
    let long = engine.write_alone(Box::new(move |_| {
        ended.send(ends.recv_timeout(Duration::from_secs(20)).is_ok()).unwrap();
        made("long")
    }));
    go_on.send(()).unwrap();
    block_on(first).unwrap();
    block_on(short).unwrap();
    end.send(()).unwrap();
    block_on(long).unwrap();
    assert_eq!((in_time.recv(), engine.sequence()), (Ok(true), 3));
}

#[test]
fn a_second_process_learns_who_holds_the_data_directory() {
    let dir = tempfile::tempdir().unwrap();
    let _first = Embedded::open(options(dir.path())).unwrap();
    let error = Embedded::open(options(dir.path())).unwrap_err();
    let OpenError::Locked { pid, .. } = &error else { panic!("{error}") };
    assert_eq!(*pid, Some(std::process::id()));
    assert!(error.to_string().contains("lock is locked by process"), "{error}");
}

#[test]
fn what_is_left_of_an_earlier_tree_is_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    let engine = Embedded::open(options(dir.path())).unwrap();
    write(&engine, vec![change("a", Some(vec![1]))]).unwrap();
    block_on(engine.close()).unwrap();
    drop(engine);
    let file = std::fs::File::open(dir.path().join("index/db")).unwrap();
    file.lock().unwrap();
    let holder = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(300));
        file.unlock().unwrap();
    });
    let engine = Embedded::open(options(dir.path())).unwrap();
    assert_eq!(block_on(engine.troubles()).unwrap(), []);
    holder.join().unwrap();
}

#[test]
fn the_data_directory_is_closed_to_other_users() {
    fn visit(path: &std::path::Path) {
        let mode = std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let expected = if path.is_dir() { 0o700 } else { 0o600 };
        // sled makes its own files, so only the folder around them keeps others out.
        assert!(mode == expected || path.parent().unwrap().ends_with("index"), "{path:?} {mode:o}");
        if path.is_dir() {
            std::fs::read_dir(path).unwrap().for_each(|entry| visit(&entry.unwrap().path()));
        }
    }
    let dir = tempfile::tempdir().unwrap();
    let engine = Embedded::open(options(dir.path())).unwrap();
    write(&engine, vec![change("a", Some(vec![1]))]).unwrap();
    engine.checkpoint().unwrap();
    block_on(engine.close()).unwrap();
    visit(dir.path());
}

#[test]
fn a_panicking_job_changes_nothing_and_harms_no_other() {
    let dir = tempfile::tempdir().unwrap();
    let engine = Embedded::open(options(dir.path())).unwrap();
    let fault = block_on(engine.write(Box::new(|_| panic!("a defect")))).unwrap_err();
    assert_eq!(fault.kind, INTERNAL);
    let fault = block_on(engine.read(Box::new(|_| panic!("a defect")), false)).unwrap_err();
    assert_eq!(fault.kind, INTERNAL);
    write(&engine, vec![change("a", Some(vec![1]))]).unwrap();
    assert_eq!(all(&engine).unwrap().len(), 1);
    assert_eq!(engine.write_fault(), None);
}

#[test]
fn a_later_version_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    drop(Embedded::open(options(dir.path())).unwrap());
    let refused = |line: &str| {
        let text = format!("mfa data directory\nversion 3\nwhatever\n{line}");
        let text = format!("{text}checksum {:08x}\n", crc32fast::hash(text.as_bytes()));
        std::fs::write(dir.path().join("FORMAT"), text).unwrap();
        let error = Embedded::open(options(dir.path())).unwrap_err();
        assert!(matches!(error, OpenError::TooNew { found: 3, known: 2, .. }), "{error}");
        error.to_string()
    };
    assert!(refused("").ends_with("use the version of mfa that wrote it, or a newer one"));
    assert!(refused("program 7.8.9\n").ends_with("use mfa 7.8.9 or a later version"));
}

#[test]
fn the_journal_has_every_commit_once_and_in_order() {
    let dir = tempfile::tempdir().unwrap();
    let engine = Embedded::open(options(dir.path())).unwrap();
    let mut feed = engine.journal(0);
    assert!(feed.next().is_none());
    for number in 0..40u8 {
        write(&engine, vec![change([number], Some(vec![number; 500])), change("gone", None)]).unwrap();
    }
    for after in [0u64, 1, 17, 39, 40, 41] {
        let reported: Vec<_> = engine.journal(after).map(Result::unwrap).collect();
        assert_eq!(
            reported.iter().map(|(sequence, _)| *sequence).collect::<Vec<_>>(),
            (after + 1..=40).collect::<Vec<_>>()
        );
        for (sequence, commit) in reported {
            assert_eq!(commit.actor, "ada");
            assert_eq!(commit.changes[0].key, [sequence as u8 - 1]);
            assert_eq!(commit.changes[1].value, None);
        }
    }
    assert_eq!(feed.by_ref().count(), 40);
    write(&engine, vec![change("one more", None)]).unwrap();
    assert_eq!(feed.next().unwrap().unwrap().0, 41);
}

#[test]
fn a_reader_beside_the_writer_never_reads_past_the_end_of_the_journal() {
    let dir = tempfile::tempdir().unwrap();
    let engine = Embedded::open(options(dir.path())).unwrap();
    write(&engine, vec![change("a", Some(vec![1; 100]))]).unwrap();
    // The frame that is being written has grown half-way when the file is opened.
    let log = dir.path().join("journal/00000001.log");
    let mut half = std::fs::File::options().append(true).open(log).unwrap();
    std::io::Write::write_all(&mut half, b"MFAf and more").unwrap();
    let mut feed = engine.journal(0);
    assert_eq!(feed.next().unwrap().unwrap().0, 1);
    write(&engine, vec![change("b", Some(vec![2; 100]))]).unwrap();
    assert_eq!(feed.next().unwrap().unwrap().0, 2);
}

#[test]
fn a_journal_that_is_gone_is_refused_unless_nothing_was_ever_in_it() {
    let dir = tempfile::tempdir().unwrap();
    drop(Embedded::open(options(dir.path())).unwrap());
    std::fs::remove_dir_all(dir.path().join("journal")).unwrap();
    let engine = Embedded::open(options(dir.path())).unwrap();
    write(&engine, vec![change("a", Some(vec![1]))]).unwrap();
    drop(engine);
    std::fs::remove_dir_all(dir.path().join("journal")).unwrap();
    for _ in 0..2 {
        let error = Embedded::open(options(dir.path())).unwrap_err().to_string();
        assert!(error.contains("journal/00000001.log is damaged: it is missing or empty"), "{error}");
    }
}

#[test]
fn only_changes_of_watched_spaces_are_counted_together_with_the_state() {
    const OTHER: Space = Space { id: 8, name: "others" };
    let dir = tempfile::tempdir().unwrap();
    let version = |engine: &Embedded| read(engine, |view| Ok(view.version())).unwrap();
    let put = |key: &str| change(key, Some(b"value".to_vec()));
    let engine = Embedded::open(options(dir.path())).unwrap();
    assert_eq!(version(&engine), None, "without a space to watch no count is reliable");
    drop(engine);
    let engine = Embedded::open(Options { watched: &[THINGS], ..options(dir.path()) }).unwrap();
    let first = version(&engine);
    write(&engine, vec![Change { space: OTHER, ..put("a") }]).unwrap();
    assert_eq!(version(&engine), first);
    write(&engine, vec![Change { space: OTHER, ..put("b") }, put("b")]).unwrap();
    let second = version(&engine);
    assert!(second.is_some() && second != first);
    write(&engine, vec![change("b", None)]).unwrap();
    assert!(![first, second].contains(&version(&engine)), "a removal is a change");
    // A transaction that follows another one in the same group has no version yet.
    let staged = |view: &mut dyn View| {
        let mut staged = Overlay::new(view);
        let before = staged.version();
        staged.stage(change("c", None));
        Ok((before.is_some(), staged.version()))
    };
    assert_eq!(read(&engine, staged).unwrap(), (true, None));
}
