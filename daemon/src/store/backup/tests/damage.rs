//! Damages by chance, of a backup and of the journal behind it: refused with a sentence, or restored rightly.
//!
//! `MFA_TEST_DAMAGES` says how many; `tests/run fuzz` does ten thousand.

use super::super::BackupError;
use super::super::read::whole;
use super::moments::{Story, chance, copy};
use super::runtime;
use crate::store::embedded::Until;
use std::fs;
use std::io::Cursor;
use std::slice::from_ref;

/// How many damages, if nothing else is said.
const DAMAGES: u64 = 400;

fn damages() -> u64 {
    std::env::var("MFA_TEST_DAMAGES").ok().and_then(|count| count.parse().ok()).unwrap_or(DAMAGES)
}

/// Bytes that were damaged in some way, and how.
fn damaged(good: &[u8]) -> (Vec<u8>, String) {
    let at = chance(good.len() as u64) as usize;
    let long = (1 + chance(64) as usize).min(good.len() - at);
    let (front, rest) = good.split_at(at);
    let other = chance(good.len() as u64 - long as u64 + 1) as usize;
    let mut bytes = good.to_vec();
    let how = match chance(8) {
        0 => {
            bytes[at] ^= 1 << chance(8);
            "a bit"
        }
        1 => {
            bytes[at..at + long].fill_with(|| chance(256) as u8);
            "other bytes"
        }
        2 => {
            bytes[at..at + long].fill(0);
            "zeros"
        }
        3 => {
            bytes.truncate(at);
            "a cut"
        }
        4 => {
            bytes = [front, &rest[long..]].concat();
            "a hole"
        }
        5 => {
            bytes = [front, &good[other..other + long], rest].concat();
            "bytes put in"
        }
        6 => {
            bytes.copy_within(other..other + long, at);
            "bytes from another place"
        }
        _ => {
            bytes.extend_from_slice(&good[at..]);
            "its end twice"
        }
    };
    (bytes, format!("{how} at {at}, {long} bytes"))
}

#[test]
fn a_backup_with_any_damage_is_refused_or_is_what_it_was() {
    let story = runtime().block_on(Story::new(40, 1));
    let mut same = 0;
    for _ in 0..damages() {
        let (bytes, how) = damaged(&story.backup);
        match whole(Cursor::new(&bytes)) {
            Ok(read) => {
                assert!(bytes == story.backup, "{how}: {read:?}");
                same += 1;
            }
            Err(error @ BackupError::Damaged(_)) => assert!(error.to_string().contains(' '), "{how}"),
            Err(error) => panic!("{how}: {error:?}"),
        }
    }
    println!("{} damages, {same} of which changed nothing", damages());
}

#[test]
fn a_journal_with_any_damage_is_refused_or_leads_to_the_moment() {
    let story = runtime().block_on(Story::new(30, 90));
    let place = story.home.path().join("damaged");
    copy(&story.old(), &place);
    let mut files: Vec<_> = fs::read_dir(place.join("journal")).unwrap().map(|e| e.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|end| end == "log"));
    let (mut right, mut refused) = (0, 0);
    for _ in 0..damages() {
        let file = &files[chance(files.len() as u64) as usize];
        let good = fs::read(file).unwrap();
        let (bytes, how) = damaged(&good);
        fs::write(file, &bytes).unwrap();
        let until = 30 + chance(91);
        let how = format!("{} of {}, to {until}", how, file.display());
        match story.way(Until::Sequence(until), from_ref(&place)) {
            Ok(way) => {
                assert_eq!(way.reached.sequence, until, "{how}");
                let commits = way.commits().unwrap().collect::<Result<Vec<_>, _>>().unwrap();
                let expected =
                    (31..=until).map(|number| (number, story.commits[number as usize - 1].clone()));
                assert!(commits == expected.collect::<Vec<_>>(), "{how}");
                right += 1;
            }
            Err(said) => {
                assert!(
                    bytes != good && said.contains("--journal") && said.contains(".log"),
                    "{how}: {said}"
                );
                refused += 1;
            }
        }
        fs::write(file, &good).unwrap();
    }
    println!("{refused} damages were refused, {right} had no part in the way");
    assert!(refused > 0 && right > 0);
}
