//! A data directory of an earlier form: it opens, and gets the form of this program before anything of it is
//! written that an earlier program could not read.

use super::super::disk::Disk;
use super::super::segment::name;
use super::super::{Embedded, Options};
use super::sim::{Failing, Loss, SimDisk};
use super::world::*;
use crate::store::engine::{Engine, Pair};
use std::sync::Arc;

/// Makes the directory one of the first form, of which the checkpoints are gone.
fn to_form_1(disk: &SimDisk) {
    let text = String::from_utf8(disk.content("FORMAT")).unwrap();
    let store = text.lines().find(|line| line.starts_with("store ")).unwrap();
    let text = format!("mfa data directory\nversion 1\n{store}\n");
    disk.put("FORMAT", format!("{text}checksum {:08x}\n", crc32fast::hash(text.as_bytes())).as_bytes());
    for name in disk.list("checkpoint").unwrap() {
        disk.remove(&format!("checkpoint/{name}")).unwrap();
    }
}

fn form(disk: &SimDisk) -> String {
    let text = String::from_utf8(disk.content("FORMAT")).unwrap();
    text.lines().find_map(|line| line.strip_prefix("version ")).unwrap().to_owned()
}

fn of_form_1() -> (SimDisk, Vec<Pair>) {
    let disk = SimDisk::new(false);
    let dir = tempfile::tempdir().unwrap();
    let engine = open_on(dir.path(), Arc::new(disk.clone())).unwrap();
    for number in 0..12u8 {
        write(&engine, vec![change([number], Some(vec![number; 2_000]))]).unwrap();
    }
    let right = all(&engine).unwrap();
    drop(engine);
    to_form_1(&disk);
    (disk, right)
}

/// Whether anything on the disk is of the second form.
fn has_later_files(disk: &SimDisk) -> bool {
    let names = disk.list("journal").unwrap().into_iter().filter(|name| name.ends_with(".log"));
    let mut contents = names.map(|name| disk.content(&format!("journal/{name}")));
    contents.any(|content| content.starts_with(b"MFApack1")) || !disk.list("checkpoint").unwrap().is_empty()
}

#[test]
fn a_store_of_the_first_form_is_upgraded_by_its_first_start_and_packed() {
    let (disk, right) = of_form_1();
    let dir = tempfile::tempdir().unwrap();
    let engine = open_on(dir.path(), Arc::new(disk.clone())).unwrap();
    assert_eq!(form(&disk), "2");
    assert!(all(&engine).unwrap() == right);
    engine.pack().unwrap();
    engine.checkpoint().unwrap();
    drop(engine);
    assert!(disk.content(&name(1)).starts_with(b"MFApack1"));
    let dir = tempfile::tempdir().unwrap();
    assert!(all(&open_on(dir.path(), Arc::new(disk)).unwrap()).unwrap() == right);
}

#[test]
fn a_crash_on_the_way_never_leaves_later_files_in_an_earlier_form() {
    let (disk, right) = of_form_1();
    let run = |disk: &SimDisk| {
        let dir = tempfile::tempdir().unwrap();
        if let Ok(engine) = open_on(dir.path(), Arc::new(disk.clone())) {
            let _ = (engine.pack(), engine.checkpoint());
        }
    };
    let counted = disk.crash(Loss::Nothing);
    run(&counted);
    let count = counted.operations();
    let mut raised = 0;
    assert!(count > 30, "there are only {count} operations");
    for n in 1..=count {
        let disk = disk.crash(Loss::Nothing);
        disk.fail(Failing::Off(n));
        run(&disk);
        for loss in [Loss::All, Loss::Nothing, Loss::Some(n), Loss::Some(n + 1_000)] {
            let crashed = disk.crash(loss);
            let raised_here = form(&crashed) == "2";
            raised += u64::from(raised_here);
            assert!(raised_here || !has_later_files(&crashed), "operation {n}, lost {loss:?}");
            let dir = tempfile::tempdir().unwrap();
            let engine = open_on(dir.path(), Arc::new(crashed.clone())).unwrap();
            assert!(all(&engine).unwrap() == right && form(&crashed) == "2", "operation {n}, lost {loss:?}");
        }
    }
    assert!((count..4 * count).contains(&raised), "{raised} of {count}");
}

#[test]
fn a_store_that_cannot_be_upgraded_now_serves_and_is_upgraded_later() {
    let (disk, right) = of_form_1();
    let dir = tempfile::tempdir().unwrap();
    disk.fail(Failing::Full(0, u64::MAX));
    let engine = open_on(dir.path(), Arc::new(disk.clone())).unwrap();
    assert!(all(&engine).unwrap() == right);
    engine.pack().unwrap_err();
    engine.checkpoint().unwrap_err();
    assert!(form(&disk) == "1" && !has_later_files(&disk));
    disk.fail(Failing::Never);
    engine.checkpoint().unwrap();
    assert!(form(&disk) == "2" && has_later_files(&disk));
}

#[test]
fn checkpoints_of_the_first_form_are_still_read() {
    let dir = tempfile::tempdir().unwrap();
    close_with_checkpoint(dir.path());
    let dump = std::fs::read_dir(dir.path().join("checkpoint")).unwrap().next().unwrap().unwrap().path();
    let made = std::fs::read(&dump).unwrap();
    // The header and the trailer of the first form, and a block that only this checkpoint has.
    let sealed = |bytes: &[u8]| [bytes, &crc32fast::hash(bytes).to_le_bytes()].concat();
    let header = sealed(&[b"MFAdump1", &1u32.to_le_bytes()[..], &made[12..76]].concat());
    let (key, value) = (b"a", b"from a dump here");
    let counted = |bytes: &[u8]| [&(bytes.len() as u32).to_le_bytes()[..], bytes].concat();
    let block = [&[THINGS.id], &counted(key)[..], &counted(value)].concat();
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&0u64.to_le_bytes());
    hasher.update(&block);
    let trailer = sealed(&[b"MFAdone1", &1u64.to_le_bytes()[..], &1u64.to_le_bytes()].concat());
    let (bytes, checksum) = ((block.len() as u32).to_le_bytes(), hasher.finalize().to_le_bytes());
    std::fs::write(&dump, [&header[..], &bytes, &checksum, &block, &[0; 4], &trailer].concat()).unwrap();
    std::fs::remove_dir_all(dir.path().join("index")).unwrap();
    let engine = Embedded::open(Options { packs: true, ..options(dir.path()) }).unwrap();
    assert_eq!(all(&engine).unwrap(), [(b"a".to_vec(), value.to_vec())]);
    let found = block_on(engine.troubles()).unwrap();
    assert!(found.iter().all(|trouble| trouble.file == "index"), "{found:?}");
}
