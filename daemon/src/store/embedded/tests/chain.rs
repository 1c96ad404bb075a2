//! A frame that was exchanged for another one with a right checksum.

use super::super::frame;
use super::super::head::{HEADER_BYTES, Position};
use super::super::segment::{Reader, Step, name};
use super::sim::SimDisk;
use super::world::*;
use crate::store::engine::Engine;
use std::sync::Arc;

/// Exchanges the frame number `exchanged` of three, and opens without the index. The error is the finding.
fn proof(disk: &SimDisk, exchanged: usize) -> Result<(), String> {
    let dir = tempfile::tempdir().unwrap();
    let engine = open_on(dir.path(), Arc::new(disk.clone())).unwrap();
    for number in 0..3u8 {
        write(&engine, vec![change([number], Some(vec![number]))]).unwrap();
    }
    let right = all(&engine).unwrap();
    let store = engine.shared.store;
    block_on(engine.close()).unwrap();
    drop(engine);

    let start = Position { segment: 1, offset: HEADER_BYTES };
    let mut reader = Reader::open(disk, &store, start).unwrap().unwrap();
    let mut content = disk.content(&name(1));
    for number in 0..=exchanged {
        let offset = reader.offset() as usize;
        let Step::Frame(mut old) = reader.next().unwrap() else { panic!("three frames") };
        if number == exchanged {
            old.commits[0].changes[0].value = Some(vec![99]);
            let mut commit = Vec::new();
            frame::put_commit(&mut commit, old.first, &old.commits[0]);
            let (forged, _) = frame::seal(&store, &old.before, old.first, 1, &commit);
            content[offset..offset + forged.len()].copy_from_slice(&forged);
        }
    }
    disk.put(&name(1), &content);

    let place = tempfile::tempdir().unwrap();
    match open_on(place.path(), Arc::new(disk.clone())) {
        Err(error) if error.to_string().contains("00000001.log is damaged") => Ok(()),
        Err(error) => Err(format!("the refusal does not name the file: {error}")),
        Ok(engine) if all(&engine).unwrap() == right => Ok(()),
        Ok(_) => Err("a record is another one".to_owned()),
    }
}

#[test]
fn an_exchanged_frame_is_noticed_at_the_next_one_or_at_the_marks() {
    for exchanged in 0..3 {
        proof(&SimDisk::new(false), exchanged).unwrap();
    }
}

#[test]
fn without_the_chain_an_exchanged_frame_is_not_noticed() {
    for exchanged in 0..3 {
        let mut disk = SimDisk::new(false);
        disk.flaws.chain_ignored = true;
        assert_eq!(proof(&disk, exchanged).unwrap_err(), "a record is another one");
    }
}

#[test]
fn a_value_that_looks_like_a_frame_does_not_make_a_torn_tail_damaged() {
    let (own, guessed) = ([1; 32], [2; 32]);
    let mut stored = Vec::new();
    frame::put_commit(&mut stored, 1, &commit(vec![change("a", Some(vec![1]))]));
    let (forged, _) = frame::seal(&guessed, &[0; 32], 1, 1, &stored);
    let (right, _) = frame::seal(&own, &[0; 32], 1, 1, &stored);
    let torn = |frame: &[u8]| [b"MFAf torn ", frame, b" and so on"].concat();
    assert_eq!(frame::find(&own, &torn(&forged)), None);
    assert_eq!(frame::find(&own, &torn(&right)), Some(10));
}
